"""Draws active links over latency for our policy `fewest_links` and the paper's mechanisms (beyond the paper).

The figure has a panel for each load. Each point is a run. A curve connects the runs of a policy with different
high-water marks. Two horizontal lines show shares that do not depend on latency: the lower bound of Fig. 12, applied to
each line of routers, and the fewest links that `weft.analysis.oracle` finds for the known traffic matrix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from weft.analysis import bound, oracle
from weft.results import quantities as q
from weft_papers.common import line_figures
from weft_papers.common.frames import BASELINE
from weft_papers.common.line_figures import Series
from weft_papers.common.measured import LackingError
from weft_papers.common.questions import greatest, of, steady
from weft_papers.tcep.mechanisms import DVFS, OWN, SLAC, TCEP

if TYPE_CHECKING:
    from weft.plot.style import Picture as Drawing
    from weft_papers.common.measured import Measured

EXPERIMENT = "own_policy"
_SHARE = "Share of active links"
# DVFS only slows links down and keeps all links on, so the point of the baseline is also the point of DVFS.
_LABELS = {BASELINE: f"{BASELINE}, {DVFS}", SLAC: SLAC, TCEP: TCEP, OWN: OWN}
_LINES = ("oracle", "bound")
# The latency axis extends beyond the first and the last point by this share of the distance between the two.
_ROOM = 0.06


def figure(measured: Measured) -> Drawing:
    """Draw the figure, with a panel for each load and a curve for each mechanism."""
    frame = measured[EXPERIMENT].filter(~pl.col("derived"))
    points = steady(frame).drop_nulls(["links_on_mean", q.LATENCY.column])
    if points.is_empty():
        raise LackingError("the number of links that were on is unknown at all points below saturation")
    # the network has R x R routers with R terminals each, so R is the cube root of the number of terminals
    side = round(float(greatest(points, "terminals") ** (1 / 3)))
    panels = {f"load {load:g}": _panel(points, load, side) for load in sorted(points["load"].unique())}
    drawing = line_figures.panels(
        "Active links over latency (not in the paper)",
        panels,
        q.LATENCY.axis,
        _SHARE,
        looks=[*_LABELS.values(), *_LINES],
    )
    for axes, series in zip(drawing.axes, panels.values(), strict=True):
        ends = [x for each in series for x in each.x]
        room = _ROOM * (max(ends) - min(ends))
        axes.set_xlim(min(ends) - room, max(ends) + room)
        axes.set_ylim(0, 1.05)
    return drawing


def _panel(points: pl.DataFrame, load: float, side: int) -> list[Series]:
    """Return the series of a panel: for each mechanism a curve by latency, and the lines of bound and oracle."""
    here = points.filter(pl.col("load") == load)
    series = []
    for mechanism, label in _LABELS.items():
        if (here["mechanism"] == mechanism).any():
            means = of(here, mechanism).group_by("policy").agg(pl.col(q.LATENCY.column, "links_on_mean").mean())
            means = means.sort(q.LATENCY.column)
            series.append(Series(label, means[q.LATENCY.column].to_list(), means["links_on_mean"].to_list()))
    ends = [x for each in series for x in each.x]
    across = [min(ends), max(ends)]
    for name, share in zip(_LINES, (_oracle(load, side), bound.active_share(load, side, side**2)), strict=True):
        series.append(Series(name, across, [share, share], theory_of=name))
    return series


def _oracle(load: float, side: int) -> float:
    """Return the oracle's share of active links, for uniform traffic on `side` x `side` routers of `side` terminals."""
    terminals = side**3
    sent = np.full((side**2, side**2), load * side * side / (terminals - 1))
    np.fill_diagonal(sent, 0.0)
    return oracle.find([side, side], sent).share


def remark(measured: Measured) -> str:
    """Return text on the active links of our policy in the run whose latency is nearest to TCEP's latency."""
    points = steady(measured[EXPERIMENT].filter(~pl.col("derived"))).drop_nulls(["links_on_mean", q.LATENCY.column])
    values = []
    for load in sorted(points["load"].unique()):
        here = points.filter(pl.col("load") == load)
        if not {TCEP, OWN} <= {*here["mechanism"]}:
            continue
        theirs = of(here, TCEP).sort("links_on_mean").row(0, named=True)
        near = of(here, OWN).sort((pl.col(q.LATENCY.column) - theirs[q.LATENCY.column]).abs()).row(0, named=True)
        both = (near, theirs)
        words = (f"{each['links_on_mean']:.1%} of the links, {each[q.LATENCY.column]:.1f} cycles" for each in both)
        values.append(f"at load {load:g} {' (TCEP '.join(words)})")
    return f"{OWN}: {'; '.join(values)}." if values else ""
