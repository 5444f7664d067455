"""What imports and validation have in common: values as scenarios write them, and the answer that there is none."""

from __future__ import annotations


class NotExpressible(Exception):  # noqa: N818 - it is no error, it is an answer
    """What a configuration of another simulator asks for that Weft has not got."""


def amount(value: float | str, unit: str) -> str:
    """A quantity as scenarios write it.

    Examples
    --------
    >>> amount(10, "cycle"), amount("1", "flit")
    ('10cycles', '1flit')
    """
    whole = int(value)
    return f"{whole}{unit}" if whole == 1 else f"{whole}{unit}s"
