"""The exceptions of Weft: one family, each with the place and the remedy."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Iterator

_ELSEWHERE = "name another place (with --out; in Python by its path)"
_ALLOWED = f"{_ELSEWHERE}, or change its permissions"
# Why the system refuses a file, and the remedy: by the number of its error.
_REASONS = {
    errno.ENOSPC: ("the disk is full", "free some space and give the same command again: finished points stay"),
    errno.EDQUOT: ("your share of the disk is used up", "free some space and give the same command again"),
    errno.EFBIG: ("the file is larger than the system allows", "raise the limit (`ulimit -f`) and try again"),
    errno.EACCES: ("you may not write there", _ALLOWED),
    errno.EPERM: ("you may not write there", _ALLOWED),
    errno.EROFS: ("the disk is read-only", _ELSEWHERE),
    errno.ENAMETOOLONG: ("the name is too long", "choose a shorter one"),
    errno.EISDIR: ("it is a folder", "name a file, such as one in this folder"),
}


class WeftError(Exception):
    """A refusal of Weft: the base class of its errors.

    Attributes
    ----------
    text : str
        The message as a person should read it, with the snippet where there is one.
    path : str
        Dotted path of the scenario key in question; empty if there is none.
    line, column : int or None
        Place in the scenario file, counted from 1; ``None`` if it is not in the file.
    what : str
        What is wrong, with the arithmetic.
    help : str
        What to do instead.
    """

    def __init__(
        self,
        text: str,
        path: str = "",
        line: int | None = None,
        column: int | None = None,
        what: str = "",
        help: str = "",  # the name of the field of a diagnostic
    ) -> None:
        super().__init__(text)
        self.text = text
        self.path = path
        self.line = line
        self.column = column
        self.what = what or text
        self.help = help

    @classmethod
    def saying(cls, what: str, help: str, path: str = "") -> Self:
        """An error that names no place in a file, in the format of the engine's errors."""
        place = f"{path}: " if path else ""
        return cls(f"error: {place}{what}\n  = help: {help}", path, what=what, help=help)


class WeftWarning(UserWarning):
    """Warnings about a run that continues: the command line prints them."""


class ScenarioError(WeftError):
    """A scenario that can't be read or can't run."""


class ResultsError(WeftError):
    """A folder that does not hold the results of a sweep."""


class PeerError(WeftError):
    """A file of peer results that can't be read."""


class ProgramError(WeftError):
    """A program of messages that can't be read or can't run."""


class StuckError(ProgramError):
    """A program of messages whose ranks wait for ever.

    Attributes
    ----------
    stuck : dict
        ``stuck_ranks``, and ``waiting``: the first of them. Each has ``rank`` and the ``finished`` operations ``of``
        all. Its ``receives`` have no message (``operation``, ``source``, ``tag``; ``None``: any source or tag). Its
        ``messages`` have no receive (``source``, ``tag``, ``bytes``).
    """

    stuck: dict[str, Any]

    @classmethod
    def of(cls, what: str, help: str, stuck: dict[str, Any], place: str = "the program") -> Self:
        """The error of a program, with its ranks that wait as words and as data."""
        found = cls.saying(what, help, place)
        found.stuck = stuck
        return found


class WriteError(WeftError):
    """A file that can't be written."""

    @classmethod
    def of(cls, path: str | Path, problem: OSError) -> Self:
        """The error for a file or folder that can't be written, with the reason of the system and the remedy."""
        why, remedy = reason(path, problem)
        return cls.saying(f"{path} can't be written: {why}", remedy)


def reason(path: str | Path, problem: OSError) -> tuple[str, str]:
    """Why the system refuses a file or folder, and the remedy."""
    place = next((each for each in (Path(path), *Path(path).parents) if os.path.lexists(each)), Path(path))
    number = problem.errno
    if number in (errno.EEXIST, errno.ENOTDIR, errno.ENOENT) and not place.is_dir():
        return f"{place} is no folder", f"{_ELSEWHERE}, or move that file away"
    folder = place if place.is_dir() else place.parent
    if number in (errno.ENOENT, errno.EACCES, errno.EPERM) and _has_no_disk(folder):
        return f"{folder} belongs to the system, which lets nobody make files there", _ELSEWHERE
    return _REASONS.get(number or 0, (problem.strerror or str(problem), _ELSEWHERE))


def _has_no_disk(folder: Path) -> bool:
    """Whether a folder is only shown by the system, as /proc and /sys are: no permission lets files be made there."""
    with suppress(OSError, AttributeError):  # some systems can't say
        return os.statvfs(folder).f_blocks == 0
    return False


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Raise `WriteError` in place of an error of the system while a file or folder is written."""
    if "\0" in str(path):
        what = f"{str(path)!r} is no name of a file: it holds a null character"
        raise WriteError.saying(what, "leave that character out")
    try:
        yield
    except OSError as problem:
        raise WriteError.of(path, problem) from problem
