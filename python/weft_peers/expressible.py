"""Shared by imports and validation: quantities as scenarios write them, and an error for models that Weft lacks."""

from __future__ import annotations


class NotExpressible(Exception):  # noqa: N818 - it is no error, it is an answer
    """A configuration of another simulator asks for something that Weft does not have."""


def amount(value: float | str, unit: str) -> str:
    """A quantity as scenarios write it.

    Examples
    --------
    >>> amount(10, "cycle"), amount("1", "flit")
    ('10cycles', '1flit')
    """
    whole = int(value)
    return f"{whole}{unit}" if whole == 1 else f"{whole}{unit}s"
