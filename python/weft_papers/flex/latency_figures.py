"""Draws latency over load (Figs. 8 to 10, 12 to 14 and 17) and hops of packets (Figs. 1, 11 and 16).

LBR is a routing that draws one of several candidate paths: paths with shorter queues in the last snapshot are more
likely.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from weft.results import quantities as q
from weft_papers.common import bar_figures, line_figures
from weft_papers.common.line_figures import latency_over_load
from weft_papers.common.measured import LackingError
from weft_papers.common.questions import least, near, of
from weft_papers.flex.networks import FLEX, NETWORKS
from weft_papers.flex.performance_frame import (
    BALANCED,
    HYPERX_2D,
    HYPERX_3D,
    LARGER,
    LBR,
    LBR_ON_TIE,
    MINIMAL,
    ROUTINGS,
    mechanism,
    of_layers,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weft.plot.style import Picture as Drawing
    from weft_papers.common.line_figures import Series
    from weft_papers.common.measured import Measured

UNIFORM, COMPLEMENT = "uniform", "bit_complement"
NEXT_GROUP, LARGER_RUNS, PERIODS, LAYERS = "next_group", "larger", "periods", "layers"
STRUCTURES = (*(of_layers(layers) for layers in range(3, 8)), HYPERX_2D, HYPERX_3D)
ALL_PATHS = "FleX, all minimal paths"
_LOAD = "Load [flits/terminal/cycle]"
# The latency axis of a figure ends at this multiple of the figure's smallest latency.
_MOST = 5.0
# Load at which Fig. 16 shows hops [flits/terminal/cycle].
HALF = 0.5


def latency(title: str, *experiments: str) -> Callable[[Measured], Drawing]:
    """Make the function that draws latency over load, with a panel for each routing that was run."""
    return partial(_panels, title, experiments)


def _panels(title: str, experiments: Sequence[str], measured: Measured) -> Drawing:
    rows = pl.concat([measured[name] for name in experiments])
    shown: dict[str, list[Series]] = {}
    for routing in ROUTINGS:
        points = rows.filter(pl.col("routing") == routing)
        names = [name for name in (*NETWORKS, LARGER) if (points["network"] == name).any()]
        if names:
            shown[routing] = [latency_over_load(of(points, mechanism(name, routing)), name) for name in names]
    both = rows.filter(pl.col("routing") == BALANCED)
    if MINIMAL in shown and not both.is_empty():
        name = both["network"][0]
        shown[MINIMAL].append(latency_over_load(of(both, mechanism(name, BALANCED)), ALL_PATHS))
    heights = [y for series in shown.values() for each in series for y in each.y]
    if not heights:
        raise LackingError("all latencies are unknown")
    most = _MOST * min(heights)
    return line_figures.panels(
        title, shown, _LOAD, q.LATENCY.axis, looks=(*NETWORKS, LARGER, ALL_PATHS), at_top=True, most=most
    )


def periods(measured: Measured) -> Drawing:
    """Draw Fig. 14: latency over load under LBR, with a curve for each period of LBR's snapshots of queues."""
    rows = measured[PERIODS]
    series = [
        latency_over_load(of(rows.filter(pl.col("period") == period), mechanism(FLEX, LBR)), f"T = {period}")
        for period in sorted(rows.filter(pl.col("routing") == LBR)["period"].drop_nulls().unique())
    ]
    if not series:
        raise LackingError("LBR was not run")
    if (rows["routing"] == LBR_ON_TIE).any():
        ties = of(rows, mechanism(FLEX, LBR_ON_TIE))
        label = f"T = {ties['period'][0]}, minimal on ties"
        series.append(latency_over_load(ties, label))
    most = _MOST * min((y for each in series for y in each.y), default=1.0)
    title = "Fig. 14: LBR over the period T of its snapshots [cycles]"
    return line_figures.curves(title, _LOAD, q.LATENCY.axis, series, at_top=True, most=most)[0]


def layers(measured: Measured) -> Drawing:
    """Draw Fig. 17: latency over load, with a curve for each number of layers."""
    series = [latency_over_load(structure(measured, name), name) for name in STRUCTURES]
    title = "Fig. 17: latency by number of layers"
    return line_figures.curves(title, _LOAD, q.LATENCY.axis, series, at_top=True, looks=STRUCTURES)[0]


def structure(measured: Measured, name: str) -> pl.DataFrame:
    """Return the points of a network in Figs. 16 and 17, under uniform traffic and minimal routing."""
    return of(measured[LAYERS], mechanism(name, MINIMAL if name.startswith("HyperX") else BALANCED))


def routers_visited(measured: Measured, network: str) -> float:
    """Return the mean number of routers that a packet visits, at the lowest load of uniform traffic."""
    _, (row,) = least(measured[UNIFORM], q.HOPS.column, mechanism(network, MINIMAL))
    return 1 + float(row[q.HOPS.column])


def hops_by_network(measured: Measured) -> Drawing:
    """Draw Fig. 1: the mean number of routers that packets visit, with a bar for each network."""
    bars = {"minimal routing": [routers_visited(measured, name) for name in NETWORKS]}
    words = "Fig. 1: mean hops, uniform traffic", NETWORKS, bars, "Routers visited [count]"
    return bar_figures.grouped(*words)[0]


def visited(measured: Measured, load: float | None = None) -> list[int]:
    """Count the packets that visit 1, 2, ... routers, in FleX under minimal routing and uniform traffic."""
    points = of(measured[UNIFORM], mechanism(FLEX, MINIMAL)).drop_nulls("hop_packets")
    if points.is_empty():
        raise LackingError("no packets were delivered")
    row = points.row(0, named=True) if load is None else near(points, load)
    return list(row["hop_packets"])


def histogram(measured: Measured) -> Drawing:
    """Draw Fig. 11: the share of packets by number of visited routers."""
    counts = visited(measured)
    shares = [100 * count / sum(counts) for count in counts]
    groups = [str(number) for number in range(1, len(counts) + 1)]
    title = "Fig. 11: hops of packets in FleX"
    drawing, axes = bar_figures.grouped(title, groups, {"minimal routing": shares}, "Packets [%]")
    axes.set_xlabel("Routers visited [count]")
    return drawing


def at_half(points: pl.DataFrame, column: str) -> float:
    """Return the value of a column at load 0.5, or at the nearest load that was run."""
    return float(near(points.drop_nulls(column), HALF)[column])


def hops_at_half(measured: Measured, name: str) -> float:
    """Return the mean hops [links] of packets in a network of Fig. 16 at load 0.5."""
    return at_half(structure(measured, name), q.HOPS.column)


def hops_by_layers(measured: Measured) -> Drawing:
    """Draw Fig. 16: mean hops at load 0.5 for each number of layers."""
    bars = {"minimal routing": [1 + hops_at_half(measured, name) for name in STRUCTURES]}
    title = "Fig. 16: mean hops by layers"
    return bar_figures.grouped(title, STRUCTURES, bars, "Routers visited [count]", wide=True)[0]
