"""Draws a heat map of channel utilisation: rows are the sending routers, and columns are the receiving routers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from weft.plot import channels, style
from weft.results.router_places import places

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice

# Maximum number of rows that are visible in a column of a printed paper. With more routers, several routers share a
# cell, which shows their mean.
_CELLS = 256
# Maximum number of router names next to an axis.
_NAMED = 8
_ENDS = ("from_router", "to_router")


def figure(choice: Choice) -> Figure:
    """Draws the heat map of one point. The cell of parallel channels shows the mean of their utilisations."""
    spot = choice.spot()
    frame = channels.between_routers(spot)
    names = spot.results.network(spot.point)["names"]
    sender, receiver = (places(frame[column], names) for column in _ENDS)
    together = -(-(int(max(sender.max(), receiver.max())) + 1) // _CELLS)
    cells = channels.mean_map(sender // together, receiver // together, frame["utilisation"].to_numpy())
    drawing = style.canvas(choice.title, [], width=style.COLUMN, height=2.9)
    axes = drawing.add_subplot()
    last = together * len(cells) - 0.5
    image = channels.show(axes, cells, float(frame["utilisation"].max() or 0))  # type: ignore[arg-type] # a float
    image.set_extent((-0.5, last, last, -0.5))
    what = "router" if together == 1 else f"router, each cell a mean over {together} x {together}"
    axes.set_xlabel(f"To {what}")
    axes.set_ylabel(f"From {what}")
    channels.bar(drawing, image, [axes])
    numbers = channels.numbers(cells, _ENDS, together)
    if names is not None:
        _name(axes, names)
        ids = pl.Series(names, dtype=pl.String)
        numbers = numbers.with_columns(ids.gather(numbers[column]).alias(column) for column in _ENDS)
    drawing.numbers = numbers
    return drawing


def _name(axes: Axes, names: Sequence[str]) -> None:
    """Write the names of routers from a graph file at some positions of both axes."""
    some = range(0, len(names), -(-len(names) // _NAMED))
    shown = [names[place] for place in some]
    axes.set_xticks(some, shown, rotation=90)
    axes.set_yticks(some, shown)
