"""Draws bar charts of a paper in the style of `weft.plot`: groups of bars, with a bar for each series."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
from matplotlib.patches import Patch

from weft.plot import style

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from weft.plot.style import Picture as Drawing

_HEIGHT = 2.3
# The bars of a group fill this share of the group's width.
_FILLED = 0.8


def grouped(
    title: str,
    groups: Sequence[str],
    bars: Mapping[str, Sequence[float | None]],
    y: str,
    *,
    looks: Sequence[str] = (),
    wide: bool = False,
) -> tuple[Drawing, Axes]:
    """Draw a figure with one panel. Each group has one bar for each series.

    Parameters
    ----------
    title, y : str
        Title of the figure, and label of its vertical axis with the unit.
    groups : sequence of str
        Names below the groups.
    bars : mapping of str to sequence of float
        For each series, heights in the order of the groups; ``None`` for a missing bar.
    looks : sequence of str
        Labels of series in a fixed order that figures share. Their order gives a series the same colour in all figures.
    wide : bool
        Whether the figure is as wide as a page, with slanted group names (for many groups). Otherwise it is as wide as
        a column of text.
    """
    order = list(dict.fromkeys([*looks, *bars]))
    fills = {name: style.fill(order.index(name)) for name in bars}
    entries = [Patch(label=name, **fills[name]) for name in bars]
    drawing = style.canvas(title, entries, width=style.PAGE if wide else style.COLUMN, height=_HEIGHT)
    axes = drawing.add_subplot()
    width = _FILLED / len(bars)
    for number, (name, heights) in enumerate(bars.items()):
        places = [place + (number - (len(bars) - 1) / 2) * width for place in range(len(groups))]
        shown = [(place, height) for place, height in zip(places, heights, strict=True) if height is not None]
        axes.bar([place for place, _ in shown], [height for _, height in shown], width, label=f"_{name}", **fills[name])
    slant: dict[str, Any] = {"rotation": 30, "ha": "right"} if wide else {}
    axes.set_xticks(range(len(groups)), groups, **slant)
    axes.set_ylabel(y)
    axes.set_ylim(bottom=0)
    axes.grid(visible=False, axis="x")
    drawing.numbers = pl.DataFrame(
        [
            {"group": group, "series": name, y: height}
            for name, heights in bars.items()
            for group, height in zip(groups, heights, strict=True)
        ],
        schema={"group": pl.String, "series": pl.String, y: pl.Float64},
    )
    return drawing, axes
