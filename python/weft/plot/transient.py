"""Draws latency over the time at which packets are created, which shows how a network reacts to its start or a change.

Lines are mean latencies, and dots are maximum latencies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from matplotlib.lines import Line2D

from weft.plot import distribution, numbers, over_time, style
from weft.results import quantities as q

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice, Spot


def figure(choice: Choice) -> Figure:
    """Draws the mean latency as a line and the maxima as dots, for each point.

    The line has a gap in each interval in which no packet was created.
    """
    every = [(spot, _frame(spot)) for spot in choice.spots()]
    seen = [(spot, frame) for spot, frame in every if not frame.is_empty()]
    empty = [spot for spot, frame in every if frame.is_empty()]
    absent = distribution.without_packets(empty, "latencies over time", of=len(every))
    spots, frames = [spot for spot, _ in seen], [frame for _, frame in seen]
    looks = style.looks([spot.label for spot in spots])
    dots = Line2D([], [], label="slowest packet", color=style.GREY, marker=".", markersize=3, linestyle="")
    handles = [*style.entries(looks, saturated=False), dots, *over_time.entries(spots), *absent]
    drawing = style.canvas(choice.title, handles, width=style.PAGE, height=2.4)
    axes = drawing.add_subplot()
    for spot, frame in zip(spots, frames, strict=True):
        look, middle = looks[spot.label], frame["from_cycle"] + frame["bin_cycles"] / 2
        axes.plot(middle, frame[q.LATENCY.column], label=spot.label, **(look.dense | {"marker": "", "linewidth": 1.2}))
        colour = look.line["color"]
        slowest = frame["packet_latency_max_cycles"]
        axes.plot(middle, slowest, linestyle="", marker=".", markersize=2.5, alpha=0.6, color=colour, label="_slowest")
    for spot in spots:
        over_time.axis(axes, spot, max(float((frame["from_cycle"] + frame["bin_cycles"]).max()) for frame in frames))  # type: ignore[arg-type] # numbers
    axes.set_xlabel("Time of creation [cycles]")
    axes.set_ylabel(q.PACKET_LATENCY.axis)
    axes.set_ylim(bottom=0)
    drawing.numbers = numbers.of_series(zip([spot.label for spot in spots], frames, strict=True))
    return drawing


def _frame(spot: Spot) -> pl.DataFrame:
    frame = spot.results.transient(spot.point)
    seen = pl.col("packets") > 0
    return frame.with_columns(pl.when(seen).then(pl.col(q.LATENCY.column, "packet_latency_max_cycles")))
