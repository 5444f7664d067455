"""Draws heat maps of channel utilisation, one per dimension of a grid topology.

A cell is the mean utilisation of all channels that lead from one coordinate to another in this dimension.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from matplotlib.ticker import MaxNLocator

from weft.errors import ResultsError
from weft.plot import channels, style

if TYPE_CHECKING:
    import numpy.typing as npt
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice, Spot


def figure(choice: Choice) -> Figure:
    """Draws the heat maps of a point, with a panel per dimension that has channels."""
    spot = choice.spot()
    widths = _widths(spot)
    frame = channels.between_routers(spot)
    sender, receiver = (_digits(frame[column].cast(int).to_numpy(), widths) for column in ("from_router", "to_router"))
    utilisation = frame["utilisation"].to_numpy()
    maps = [
        (d, channels.mean_map(sender[along, d], receiver[along, d], utilisation[along]))
        for d in range(len(widths))
        for along in [sender[:, d] != receiver[:, d]]
        if along.any()
    ]
    width, columns = choice.appearance.layout(min(3, len(maps)))
    rows = -(-len(maps) // columns)
    drawing = style.canvas(choice.title, [], width=width, height=2.6 * rows)
    panels = style.grid(drawing, len(maps), columns)
    high = max(float(np.nanmax(cells)) for _, cells in maps)
    for axes, (number, cells) in zip(panels, maps, strict=True):
        image = channels.show(axes, cells, high)
        axes.set_title(f"dimension {number}", loc="left")
        axes.set_xlabel("To position")
        axes.set_ylabel("From position")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(integer=True))
    channels.bar(drawing, image, panels)
    named = ("from_position", "to_position")
    drawing.numbers = pl.concat(
        channels.numbers(cells, named).select(pl.lit(number).alias("dimension"), pl.all()) for number, cells in maps
    )
    return drawing


def _widths(spot: Spot) -> list[int]:
    """Number of positions in each dimension, the lowest dimension first."""
    network = spot.results.network(spot.point)
    if not network["widths"]:
        what = f"the routers of a {network['topology']} do not form a grid"
        raise ResultsError.saying(what, "draw channel_heatmap, which shows channels from router to router")
    return list(network["widths"])


def _digits(routers: npt.NDArray[np.int64], widths: list[int]) -> npt.NDArray[np.int64]:
    """Coordinates of routers, the lowest dimension first."""
    steps = np.cumprod([1, *widths[:-1]])
    return routers[:, None] // steps % widths
