"""Helpers of imports and validation: quantities of scenarios, and an exception for models that Weft lacks."""

from __future__ import annotations


class NotExpressible(Exception):  # noqa: N818 - it is no error, it is an answer
    """A configuration of another simulator needs something that Weft does not have."""


def amount(value: float | str, unit: str) -> str:
    """Return a quantity in the form of scenarios, with its unit.

    Examples
    --------
    >>> amount(10, "cycle"), amount("1", "flit")
    ('10cycles', '1flit')
    """
    whole = int(value)
    return f"{whole}{unit}" if whole == 1 else f"{whole}{unit}s"
