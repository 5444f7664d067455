"""Saturation of a network in the experiments of the paper, as a reader would see it in a curve of latency over load.

Saturation is the highest accepted load, up to the lowest offered load of which less than 95 % is accepted. If the
latency reaches three times its minimum at a lower load, saturation is that load. The windows of quick runs are too
short to judge saturation. If a point below the saturation had not settled, the saturation is between the last load that
had settled and that value.
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
    """Bounds of the load at which a network saturates [flits per active terminal and cycle].

    Attributes
    ----------
    low, high : float
        The two bounds. They are equal if all points below them had settled.
    late : str
        Text on the point that had not settled; empty if all had.
    """

    low: float
    high: float
    late: str = ""

    def __str__(self) -> str:
        return f"{self.low:.3f} to {self.high:.3f}" if self.late else f"{self.high:.3f}"

    def above(self, other: Saturation) -> bool | None:
        """Whether this saturation is higher than another one; `None` if the bounds do not decide this."""
        if self.low > other.high:
            return True
        return False if self.high <= other.low else None

    def beside(self, other: Saturation) -> tuple[float, float]:
        """The smallest and the greatest possible ratio to another saturation."""
        return self.low / other.high, self.high / other.low if other.low else inf


def saturation(measured: Measured, pattern: str, network: str, routing: str) -> Saturation:
    """Saturation of a network.

    Raises
    ------
    LackingError
        If the run was a quick run, whose windows are too short, or if no load was too much.
    """
    refuse_short(measured)
    return bounds(measured[pattern], mechanism(network, routing))


def refuse_short(measured: Measured) -> None:
    """Refuse to judge a saturation in a quick run."""
    if measured.quick:
        raise LackingError("the windows of a quick run are too short for a saturation load: run the claim with --full")


def knee(rows: pl.DataFrame, curve: str) -> float:
    """The saturation of a curve. All points below it must have settled.

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
    """The highest accepted load up to the lowest load that saturates, and at most the load where latency becomes steep.

    Beyond saturation some networks accept less than before. Then the saturation is the load that they accepted at the
    next lower load. A point that had not settled may be saturated. Then the lower bound is the accepted load of the
    last point before it.

    Raises
    ------
    LackingError
        If no load was too much.
    """
    # `of` sorts by load. A claim needs hundreds of curves, so the code makes one query per curve, which returns few
    # rows.
    columns = ("load", "accepted_load", q.LATENCY.column, UNSETTLED)
    points = of(rows, curve).select(columns).drop_nulls(["load", "accepted_load"]).rows()
    if not points:
        raise LackingError(f"all accepted loads of {curve} are unknown")
    over = next((load for load, accepted, *_ in points if accepted < ACCEPTED * load or load >= 1), None)
    if over is None:
        raise LackingError(f"{curve} accepted the whole offered load up to load {points[-1][0]:g}")
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
    """The result of `knee`; ``None`` if it is not known."""
    with suppress(LackingError):
        return knee(rows, curve)
    return None


def _steep(points: list[tuple[float, float]]) -> float:
    """The load at which the latency is `STEEP` times its minimum, interpolated between two loads; infinite if never."""
    limit = STEEP * min((latency for _, latency in points), default=inf)
    for (low, before), (high, after) in pairwise(points):
        if after > limit:
            return low + (high - low) * (limit - before) / (after - before)
    return inf
