"""Errors for searches in which no design meets the limits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from weft.design.families import FAMILIES
from weft.design.wanted import AT_LEAST, LIMITS, MOST_PORTS
from weft.errors import WeftError

if TYPE_CHECKING:
    import numpy.typing as npt
    import polars as pl

    from weft.design.wanted import Wanted


def refuse_radix(wanted: Wanted, room: int | None) -> NoReturn:
    """Raise an error that proposes the smallest radix (ports per router) with which a design exists."""
    families = wanted.families or tuple(FAMILIES)

    def is_enough(radix: int) -> bool:
        plans = (
            FAMILIES[name].plan(parameters)
            for name in families
            for parameters in FAMILIES[name].candidates(wanted.terminals, radix)
        )
        return any(room is None or plan.most_terminals <= room for plan in plans)

    asked = f"{wanted.terminals:,} terminals with {wanted.radix_ports} ports per router"
    in_racks = "" if room is None else f" and {_count(room, 'terminals')} in a rack"
    what = f"no design of {', '.join(families)} has {asked}{in_racks}"
    if not is_enough(MOST_PORTS):
        more = "" if room is None else ", or allow more terminals per rack"
        raise WeftError.saying(what, f"more ports, up to {MOST_PORTS:,}, do not suffice; use fewer terminals{more}")
    # a design that is possible with few ports per router is also possible with more, so a binary search finds the
    # smallest radix
    low, high = wanted.radix_ports, MOST_PORTS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    most = f"use a radix of at least {high}, which is {_count(high - wanted.radix_ports, 'ports')} more"
    raise WeftError.saying(what, f"{most}; or use fewer terminals")


def _count(value: float, unit: str) -> str:
    """An amount with its unit. The unit is in the singular for an amount of 1."""
    number = f"{value:,.0f}"
    return f"{number} {unit.removesuffix('s') if number == '1' else unit}".rstrip()


def _excess(wanted: Wanted, frame: pl.DataFrame) -> npt.NDArray[np.float64]:
    """Largest relative excess of each design over any limit; 0 or less if the design meets all limits."""
    excess = np.full(len(frame), -np.inf)
    for limit, (column, sign, *_) in LIMITS.items():
        if (bound := getattr(wanted, limit)) is not None:
            values = frame[column].to_numpy().astype(float)
            excess = np.maximum(excess, sign * (values - bound) / max(bound, 1))
    return excess


def nearest(wanted: Wanted, frame: pl.DataFrame) -> int:
    """Row of the design with the smallest `_excess`."""
    return int(np.argmin(_excess(wanted, frame)))


def refuse_limits(wanted: Wanted, frame: pl.DataFrame) -> NoReturn:
    """Raise an error that says how far designs miss the limits, and with which limits the nearest design is allowed."""
    shown: list[str] = []
    for limit, (column, sign, words, unit) in LIMITS.items():
        if (bound := getattr(wanted, limit)) is None:
            continue
        values = frame[column].to_numpy().astype(float)
        best = int(np.argmin(sign * values))
        if (missed := sign * (values[best] - bound)) > 0:
            most = "lowest" if sign > 0 else "highest"
            about = "at least " if limit == "budget_usd" and frame["cost_is"][best] == AT_LEAST else ""
            shown.append(
                f"the {most} {words} of any design is {about}{_count(values[best], unit)} ({frame['topology'][best]}), "
                f"which misses {_count(bound, unit)} by {_count(missed, unit)} ({missed / max(bound, 1):.1%})"
            )
    place = nearest(wanted, frame)
    misses, needs = _missed(wanted, frame, place)
    topology = frame["topology"][place]
    if not shown:
        shown = [
            f"each limit can be met alone, but not all limits together: the nearest design, {topology}, misses {misses}"
        ]
    what = f"none of {len(frame):,} designs for {wanted.terminals:,} terminals meets the limits: {'; '.join(shown)}"
    raise WeftError.saying(what, f"allow {needs} ({topology})")


def _missed(wanted: Wanted, frame: pl.DataFrame, place: int) -> tuple[str, str]:
    """Two strings about a design: how far it misses each limit, and the values of these limits that would allow it."""
    misses, needs = [], []
    for limit, (column, sign, words, unit) in LIMITS.items():
        bound, value = getattr(wanted, limit), frame[column][place]
        if bound is not None and (missed := sign * (value - bound)) > 0:
            misses.append(f"{words} by {_count(missed, unit)} ({missed / max(bound, 1):.1%})")
            needs.append(f"a {words} of {_count(math.ceil(value) if sign > 0 else value, unit)}")
    return " and ".join(misses), " and ".join(needs)
