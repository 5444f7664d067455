"""Checks arguments of public functions.

A value of a wrong type raises an error that names the argument and the right type.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite, nan
from operator import index
from typing import Any, SupportsFloat

from weft.errors import WeftError

# Maximum of some arguments, because the engine counts threads, blocks and seeds in 32 bits.
_MOST = (1 << 32) - 1


def refused(value: object, name: str, what: str, help: str, kind: type[WeftError] = WeftError) -> WeftError:
    """The error for an argument whose value is not valid."""
    shown = repr(value)
    return kind.saying(f"{name}: {shown if len(shown) <= 60 else f'{shown[:57]}...'} is no {what}", help)


def instance(  # noqa: PLR0917 - one word each
    value: object, of: type, name: str, what: str, help: str, kind: type[WeftError] = WeftError
) -> None:
    """Refuse a value that is not of the type `of`.

    Raises
    ------
    WeftError
        If the value is not of the type `of`. The class of the error is `kind`.
    """
    if not isinstance(value, of):
        raise refused(value, name, what, help, kind)


def whole(value: object, name: str, least: int = 1) -> int:
    """Check that a value is an integer of at least `least`, and return it.

    Raises
    ------
    WeftError
        If the value is not an integer, or is too small.
    """
    try:
        read = -1 if isinstance(value, bool) else index(value)  # type: ignore[arg-type] # wrong types raise TypeError
    except TypeError:
        read = -1
    if not least <= read <= _MOST:
        raise refused(value, name, f"whole number from {least} to {_MOST}", f"write e.g. {name}={max(least, 2)}")
    return read


def number(value: object, name: str, example: float) -> float:
    """Check that a value is a finite number, and return it.

    Raises
    ------
    WeftError
        If the value is not a finite number.
    """
    read = float(value) if isinstance(value, SupportsFloat) and not isinstance(value, bool | str | bytes) else nan
    if not isfinite(read):
        raise refused(value, name, "number", f"write e.g. {name}={example:g}")
    return read


def listed(value: object, name: str, example: str) -> list[Any]:
    """Check that a value is a list or another object with items (but not a string), and return it as a list.

    Raises
    ------
    WeftError
        If the value is not an object with items, or is a string or a mapping.
    """
    if not isinstance(value, Iterable) or isinstance(value, str | bytes | Mapping):
        raise refused(value, name, "list", f"write e.g. {name}=[{example}]")
    return list(value)


def words(value: object, name: str, example: str) -> list[str]:
    """Check that a value is a list of strings, and return it.

    Raises
    ------
    WeftError
        If the value is not a list of strings. A single string is also refused.
    """
    found = listed(value, name, repr(example))
    if not all(isinstance(each, str) for each in found):
        raise refused(value, name, "list of texts", f"write e.g. {name}=[{example!r}]")
    return found


def keyed(value: object, name: str, example: str) -> dict[str, Any]:
    """Check that a value is a mapping whose keys are strings, and return it.

    Raises
    ------
    WeftError
        If the value is not a mapping whose keys are strings.
    """
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise refused(value, name, "mapping with texts as keys", f"write e.g. {name}={example}")
    return dict(value)


def execution(jobs: object, threads: object, blocks: object, watch: object) -> None:
    """Check the arguments that control the execution of points.

    Raises
    ------
    WeftError
        If a value is not a number or is too small, or `watch` cannot be called.
    """
    if jobs is not None:
        whole(jobs, "jobs")
    whole(threads, "threads")
    whole(blocks, "blocks", least=0)
    if watch is not None and watch is not False and not callable(watch):
        remedy = "pass a function that takes a weft.Status, or False for no output, or omit it"
        raise refused(watch, "watch", "function", remedy)
