"""Draws a heat map of a program's messages: rows are the sending ranks, and columns are the receiving ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from matplotlib.colors import LogNorm, Normalize

from weft.plot import sheet, style
from weft.plot.finish import finish
from weft.text.si import si

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft.plot.style import Picture

# Maximum number of rows that are visible in a column of a printed paper. With more ranks, several ranks share a cell,
# which shows the sum of their messages.
_CELLS = 256


def picture(ranks: int, pairs: Sequence[tuple[int, int, int, int]], title: str) -> Picture:
    """Draws the messages of a program.

    Parameters
    ----------
    ranks : int
        Number of ranks of the program.
    pairs : sequence of tuple
        Sender, receiver, bytes and messages of each pair of ranks that exchange messages.
    title : str
        Title of the figure.

    Returns
    -------
    Picture
        The figure, whose numbers have a row per pair of ranks.
    """
    together = -(-ranks // _CELLS)
    count = -(-ranks // together)
    cells = np.zeros((count, count))
    for sender, receiver, size, _ in pairs:
        cells[sender // together, receiver // together] += size
    shown = np.ma.masked_equal(cells, 0)
    with sheet.applied(style.RC):
        drawing = style.canvas(title, [], width=style.COLUMN, height=2.9)
        axes = drawing.add_subplot()
        axes.grid(visible=False)
        least, most = (float(shown.min()), float(shown.max())) if shown.count() else (1.0, 1.0)
        norm = LogNorm(least, most) if most > 10 * least else Normalize(0, most)
        image = axes.imshow(shown, cmap=style.HEAT, norm=norm, interpolation="nearest", aspect="equal")
        last = together * count - 0.5
        image.set_extent((-0.5, last, last, -0.5))
        what = "rank" if together == 1 else f"rank, each cell a sum over {together} x {together}"
        axes.set_xlabel(f"To {what}")
        axes.set_ylabel(f"From {what}")
        bar = drawing.colorbar(image, ax=axes, label="Bytes sent", shrink=0.9, pad=0.02)
        if most > 10 * least:
            style.plain_log(bar.ax.yaxis)
        bar.ax.yaxis.set_major_formatter(lambda value, _: si(value, "B"))
        finish(drawing)
    drawing.numbers = pl.DataFrame(list(pairs), schema=["from_rank", "to_rank", "bytes", "messages"], orient="row")
    return drawing
