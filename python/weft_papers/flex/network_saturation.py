"""Saturation of a network in the experiments of the paper, as a reader takes it from a curve of latency over load.

It is the highest accepted load, up to the lowest load of which less than 95 % is accepted. If the latency is three
times the least at a lower load, it is that load. The windows of quick runs are too short for it.
"""

from __future__ import annotations

from contextlib import suppress
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


def saturation(measured: Measured, pattern: str, network: str, routing: str) -> float:
    """Saturation of a network [flits per active terminal and cycle].

    Raises
    ------
    LackingError
        If the windows were those of a quick run, if no load was too much, or if points below had not settled.
    """
    refuse_short(measured)
    return knee(measured[pattern], mechanism(network, routing))


def refuse_short(measured: Measured) -> None:
    """Refuse to judge a saturation in a quick run."""
    if measured.quick:
        raise LackingError("the windows of a quick run are too short for a saturation: run it with --full")


def knee(rows: pl.DataFrame, curve: str) -> float:
    """The highest accepted load up to the lowest load that saturates; at most the load where latency becomes steep.

    Beyond saturation some networks accept less than before: then it is what they carried of the load below.

    Raises
    ------
    LackingError
        If no load was too much, or if points below had not settled.
    """
    # `of` sorts by load. A claim asks for hundreds of curves, so a curve is one query, and its rows are few.
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
    if late is not None:
        raise LackingError(f"{curve} had not settled at load {late:g}")
    return float(most)


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
