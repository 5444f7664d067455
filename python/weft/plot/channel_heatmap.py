"""Heat map of channel utilisation: rows are the routers that send, columns those that receive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.plot import channels, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice

# Most rows that a printed column can show; with more routers, several share a cell, which shows their mean.
_CELLS = 256


def figure(choice: Choice) -> Figure:
    """One point. The cell of parallel channels shows their mean."""
    spot = choice.spot()
    frame = channels.between_routers(spot)
    sender, receiver = (frame[column].cast(int).to_numpy() for column in ("from_router", "to_router"))
    together = -(-(int(max(sender.max(), receiver.max())) + 1) // _CELLS)
    cells = channels.mean_map(sender // together, receiver // together, frame["utilisation"].to_numpy())
    drawing = style.canvas(choice.title, [], width=style.COLUMN, height=2.9)
    axes = drawing.add_subplot()
    last = together * len(cells) - 0.5
    image = channels.show(axes, cells, float(frame["utilisation"].max() or 0))  # type: ignore[arg-type] # a float
    image.set_extent((-0.5, last, last, -0.5))
    what = "router" if together == 1 else f"router, means over {together} x {together}"
    axes.set_xlabel(f"To {what}")
    axes.set_ylabel(f"From {what}")
    channels.bar(drawing, image, [axes])
    drawing.numbers = channels.numbers(cells, ("from_router", "to_router"), together)
    return drawing
