"""Writes numbers with SI prefixes, and reads quantities with units.

`report/assets/numbers.js` has the same function `si` in JavaScript, and the tests check the two with the same numbers.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_PREFIXES = ("a", "f", "p", "n", "\N{MICRO SIGN}", "m", "", "k", "M", "G", "T", "P", "E")
_NONE = _PREFIXES.index("")
# The units of times in a resolved scenario, each with its length in femtoseconds.
TIME = {"fs": 1.0, "ps": 1e3, "ns": 1e6, "us": 1e9, "ms": 1e12, "s": 1e15}


def si(value: float | None, unit: str, digits: int = 3) -> str:
    """A number as a string with `digits` significant digits and a suitable SI prefix of its unit.

    Parameters
    ----------
    value : float or None
        The number in the unit `unit`. ``None`` and NaN give a dash.
    unit : str
        The unit without a prefix: ``W``, ``J``, ``s``.
    digits : int
        Number of significant digits; zeros at the end are left out.

    Examples
    --------
    >>> si(28365.18, "W"), si(3.172e-05, "J", 4), si(0.0, "J"), si(None, "W")
    ('28.4 kW', '31.72 µJ', '0 J', '-')
    """
    if value is None or math.isnan(value):
        return "-"
    if value == 0 or math.isinf(value):
        return f"{value:g} {unit}".replace("-0 ", "0 ")
    # the exponent after rounding, because 999.9 is rounded to 1000
    exponent = int(f"{value:.{digits - 1}e}".partition("e")[2])
    place = min(max(exponent // 3, -_NONE), len(_PREFIXES) - 1 - _NONE)
    rounded = float(f"{value / 10.0 ** (3 * place):.{digits}g}")
    return f"{rounded:.15g} {_PREFIXES[_NONE + place]}{unit}"


def number(text: str, units: Mapping[str, float]) -> float:
    """Reads a quantity such as ``2ns`` of a resolved scenario.

    The result is in the unit whose factor in `units` is 1.

    Raises
    ------
    ValueError
        If the unit of the quantity is none of `units`.
    """
    found = re.fullmatch(r"([0-9.]+) ?(\D+)", text)
    if not found or found[2] not in units:
        raise ValueError(f"{text!r} is in none of {', '.join(units)}")
    return float(found[1]) * units[found[2]]
