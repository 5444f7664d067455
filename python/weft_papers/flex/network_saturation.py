"""Finds the load at which a network saturates, as a reader of the paper would see it in a curve of latency over load.

A load is too high if the network accepts less than 95 % of it; load 1 always counts as too high. Among the lowest load
that is too high and all lower loads, saturation is the highest accepted load. If the latency reaches three times its
minimum at a lower load, this lower load is the saturation. The windows of quick runs are too short to judge saturation.
If a point below the saturation had not settled, only bounds are known. The upper bound is the saturation as defined
above. The lower bound is the highest load that was accepted at loads below the unsettled point.
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
        Lower and upper bound of the saturation. They are equal if all points below the saturation had settled.
    late : str
        Text that names the point that had not settled; empty if all points had settled.
    """

    low: float
    high: float
    late: str = ""

    def __str__(self) -> str:
        return f"{self.low:.3f} to {self.high:.3f}" if self.late else f"{self.high:.3f}"

    def above(self, other: Saturation) -> bool | None:
        """Return whether this saturation is higher than another saturation; `None` if the bounds do not decide."""
        if self.low > other.high:
            return True
        return False if self.high <= other.low else None

    def beside(self, other: Saturation) -> tuple[float, float]:
        """Return the smallest and the greatest possible ratio of this saturation to another saturation."""
        return self.low / other.high, self.high / other.low if other.low else inf


def saturation(measured: Measured, pattern: str, network: str, routing: str) -> Saturation:
    """Return the saturation of a network under a pattern and a routing.

    Raises
    ------
    LackingError
        If the run was a quick run, whose windows are too short, or if no load saturated the network.
    """
    refuse_short(measured)
    return bounds(measured[pattern], mechanism(network, routing))


def refuse_short(measured: Measured) -> None:
    """Refuse to judge a saturation in a quick run, whose windows are too short."""
    if measured.quick:
        raise LackingError("the windows of a quick run are too short for a saturation load: run the claim with --full")


def knee(rows: pl.DataFrame, curve: str) -> float:
    """Return the saturation of a curve whose points below saturation have all settled.

    Raises
    ------
    LackingError
        If no load saturated the network, or if points below the saturation had not settled.
    """
    found = bounds(rows, curve)
    if found.late:
        raise LackingError(found.late)
    return found.high


def bounds(rows: pl.DataFrame, curve: str) -> Saturation:
    """Return bounds of the saturation of a curve, as the docstring of this module defines it.

    Beyond saturation some networks accept less than at lower loads. Therefore the saturation is the highest load that
    was accepted at any of these points. A point that had not settled is possibly saturated. Therefore the lower bound
    is the highest accepted load of the points below it.

    Raises
    ------
    LackingError
        If no load saturated the network.
    """
    # `of` sorts by load. A claim needs hundreds of curves. To save time, the code makes only one query of the frame per
    # curve.
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
    """Return the saturation of a curve; ``None`` if it is unknown."""
    with suppress(LackingError):
        return knee(rows, curve)
    return None


def _steep(points: list[tuple[float, float]]) -> float:
    """Return the load at which the latency reaches `STEEP` times its minimum, interpolated between two points.

    The result is infinite if the latency stays below this limit.
    """
    limit = STEEP * min((latency for _, latency in points), default=inf)
    for (low, before), (high, after) in pairwise(points):
        if after > limit:
            return low + (high - low) * (limit - before) / (after - before)
    return inf
