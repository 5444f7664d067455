"""Helpers for imports and validation: a function that writes quantities, and an exception for lacking models."""

from __future__ import annotations


class NotExpressible(Exception):  # noqa: N818 - it is no error, it is an answer
    """A configuration of another simulator needs something that Weft does not have."""


def amount(value: float | str, unit: str) -> str:
    """Return a quantity as scenarios write it: a number with its unit.

    Examples
    --------
    >>> amount(10, "cycle"), amount("1", "flit")
    ('10cycles', '1flit')
    """
    whole = int(value)
    return f"{whole}{unit}" if whole == 1 else f"{whole}{unit}s"
