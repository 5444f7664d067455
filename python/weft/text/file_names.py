"""Checks paths that users pass, and makes folder names from scenario names."""

from __future__ import annotations

import os
import re
from hashlib import sha256
from pathlib import Path

from weft.errors import WeftError

# Maximum length of a folder name; a longer name is cut, and ends with a hash of the whole name.
_LONGEST = 80


def as_path(given: object, what: str, kind: type[WeftError] = WeftError) -> Path:
    """Checks that a value is a path, and returns the path.

    Parameters
    ----------
    given : object
        A string, or any object with ``__fspath__``.
    what : str
        Meaning of the path, for the message of the error: ``"a folder of results"``.
    kind : type
        The class of the error.

    Raises
    ------
    WeftError
        If the value is not a path.
    """
    path = os.fspath(given) if isinstance(given, str | os.PathLike) else None
    if not isinstance(path, str) or not path or "\0" in path:
        raise kind.saying(f"{given!r} is not a path of {what}", "give the path as text or as a pathlib.Path")
    return Path(path)


def slug(name: str) -> str:
    """Makes a safe folder name from a name: letters, digits, ``_``, ``.``, ``+`` and ``-``, with limited length."""
    safe = re.sub(r"[^\w.+-]+", "-", name).strip(".-")
    if len(safe.encode()) > _LONGEST:
        kept = safe.encode()[: _LONGEST - 9].decode(errors="ignore")
        safe = f"{kept.rstrip('.-')}-{sha256(name.encode(errors='surrogateescape')).hexdigest()[:8]}"
    return safe or "scenario"


def one_line(name: str) -> str:
    """A name in one line, without control characters."""
    return " ".join("".join(each if each.isprintable() else " " for each in name).split())
