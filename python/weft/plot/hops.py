"""How many links between routers packets cross: a bar per number of hops and point."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from weft.plot import distribution, numbers, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice, Spot

_MOST = len(style.HATCHES)


def figure(choice: Choice) -> Figure:
    """A bar per number of hops and point; each point has a colour and a hatching."""
    every = choice.spots(_MOST)
    spots = [spot for spot in every if any(spot.summary["hop_histogram"])]
    absent = distribution.without_packets([spot for spot in every if spot not in spots], "hops", of=len(every))
    handles = [Patch(label=spot.label, **style.fill(number)) for number, spot in enumerate(spots) if spot.label]
    drawing = style.canvas(choice.title, [*handles, *absent], width=style.COLUMN, height=2.2)
    axes = drawing.add_subplot()
    for number, spot in enumerate(spots):
        _bars(axes, spot, number, 0.8 / len(spots), (number - (len(spots) - 1) / 2) * 0.8 / len(spots))
    axes.set_xlabel("Hops [links]")
    axes.set_ylabel("Packets [%]")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(visible=False, axis="x")
    drawing.numbers = numbers.of_series((spot.label, _numbers(spot)) for spot in spots)
    return drawing


def _numbers(spot: Spot) -> pl.DataFrame:
    packets = pl.Series("packets", spot.summary["hop_histogram"])
    shares = (100 * packets / packets.sum()).alias("packets_percent")
    return pl.DataFrame([pl.Series("hops_links", range(len(packets))), packets, shares])


def _bars(axes: Axes, spot: Spot, number: int, width: float, shift: float) -> None:
    packets = np.asarray(spot.summary["hop_histogram"], dtype=float)
    places = np.arange(len(packets)) + shift
    axes.bar(places, 100 * packets / packets.sum(), width=width, label=spot.label, **style.fill(number))
