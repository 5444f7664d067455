"""Saturation of a network in the experiments of the paper, as a reader takes it from a curve of latency over load.

It is the highest accepted load, up to the lowest load of which less than 95 % is accepted. If the latency is three
times the least at a lower load, it is that load. The windows of quick runs are too short for it. Where a point below
had not settled, saturation is between the last load that had settled and that value.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING

from weft.results import quantities as q
from weft_papers.common.frames import UNSETTLED
from weft_papers.common.knees import ACCEPTED, STEEP
from weft_papers.common.measured import LackingError
from weft_papers.common.questions import of
from weft_papers.flex.performance_frame import mechanism

if TYPE_CHECKING:
    import polars as pl

    from weft_papers.common.measured import Measured


@dataclass(frozen=True)
class Saturation:
    """Between which loads a network saturates [flits per active terminal and cycle].

    Attributes
    ----------
    low, high : float
        The bounds. They are the same if all points below had settled.
    late : str
        Which point had not settled; empty if all had.
    """

    low: float
    high: float
    late: str = ""

    def __str__(self) -> str:
        return f"{self.low:.3f} to {self.high:.3f}" if self.late else f"{self.high:.3f}"

    def above(self, other: Saturation) -> bool | None:
        """Whether it is higher than another one; `None` if the bounds don't decide it."""
        if self.low > other.high:
            return True
        return False if self.high <= other.low else None

    def beside(self, other: Saturation) -> tuple[float, float]:
        """The least and the greatest ratio to another one."""
        return self.low / other.high, self.high / other.low if other.low else inf


def saturation(measured: Measured, pattern: str, network: str, routing: str) -> Saturation:
    """Saturation of a network.

    Raises
    ------
    LackingError
        If the windows were those of a quick run, or if no load was too much.
    """
    refuse_short(measured)
    return bounds(measured[pattern], mechanism(network, routing))


def refuse_short(measured: Measured) -> None:
    """Refuse to judge a saturation in a quick run."""
    if measured.quick:
        raise LackingError("the windows of a quick run are too short for a saturation: run it with --full")


def knee(rows: pl.DataFrame, curve: str) -> float:
    """The saturation of a curve of which all points below had settled.

    Raises
    ------
    LackingError
        If no load was too much, or if points below had not settled.
    """
    found = bounds(rows, curve)
    if found.late:
        raise LackingError(found.late)
    return found.high


def bounds(rows: pl.DataFrame, curve: str) -> Saturation:
    """The highest accepted load up to the lowest load that saturates; at most the load where latency becomes steep.

    Beyond saturation some networks accept less than before: then it is what they carried of the load below. A point
    that had not settled may be saturated. Then the lower bound is what was accepted at the last load before it.

    Raises
    ------
    LackingError
        If no load was too much.
    """
    # `of` sorts by load. A claim needs hundreds of curves, so a curve is one query with few rows.
    columns = ("load", "accepted_load", q.LATENCY.column, UNSETTLED)
    points = of(rows, curve).select(columns).drop_nulls(["load", "accepted_load"]).rows()
    if not points:
        raise LackingError(f"no accepted load of {curve} is known")
    over = next((load for load, accepted, *_ in points if accepted < ACCEPTED * load or load >= 1), None)
    if over is None:
        raise LackingError(f"{curve} accepted all that was offered up to load {points[-1][0]:g}")
    found = max(accepted for load, accepted, *_ in points if load <= over)
    if found <= 0:
        raise LackingError(f"{curve} accepted nothing")
    below = [(load, latency, late) for load, _, latency, late in points if load < over]
    most = min(found, _steep([(load, latency) for load, latency, _ in below if latency is not None]))
    late = next((load for load, _, unsettled in below if unsettled and load < most), None)
    if late is None:
        return Saturation(most, most)
    least = max((accepted for load, accepted, *_ in points if load < late), default=0.0)
    return Saturation(min(least, most), most, f"{curve} had not settled at load {late:g}")


def known(rows: pl.DataFrame, curve: str) -> float | None:
    """The same; ``None`` if it is not known."""
    with suppress(LackingError):
        return knee(rows, curve)
    return None


def _steep(points: list[tuple[float, float]]) -> float:
    """The load at which the latency is `STEEP` times the least, on the line between two loads; else infinite."""
    limit = STEEP * min((latency for _, latency in points), default=inf)
    for (low, before), (high, after) in pairwise(points):
        if after > limit:
            return low + (high - low) * (limit - before) / (after - before)
    return inf
