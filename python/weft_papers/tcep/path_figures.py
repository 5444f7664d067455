"""Draws Figs. 3 and 4: number of paths with concentrated and with distributed links, from `weft.analysis.paths`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from weft.analysis import paths
from weft.plot import style
from weft_papers.common.line_figures import Series, curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from weft.analysis.paths import Active
    from weft.plot.style import Picture as Drawing
    from weft_papers.common.measured import Measured

# Number of routers in Figs. 3 and 4, and number of active links in Fig. 3 in addition to the star.
SMALL, MORE, LARGE = 8, 6, 32
# Number of paths that Fig. 3b prints, and the way of counting paths that gives the printed numbers of Figs. 3a and 3b.
FIG3B, FIG3_COUNT = 40, "at_most_two"
# The way of counting for Fig. 4: all paths, as the paper says.
FIG4_COUNT = "all"
SAMPLES = {True: 1000, False: 10000}
_SEED = 1


@dataclass(frozen=True)
class Placements:
    """Two placements of the active links of Fig. 3.

    Attributes
    ----------
    concentrated : ndarray
        The placement with all links at one router.
    distributed : ndarray or None
        Of the placements with the number of paths that the paper prints, the most even one; ``None`` if there is none.
    fits : int
        Number of placements with the printed number of paths.
    least, most : int
        Smallest and largest number of paths of any placement.
    """

    concentrated: Active
    distributed: Active | None
    fits: int
    least: int
    most: int


@cache
def placements() -> Placements:
    """Count the paths of every placement of the active links of Fig. 3, and select two placements."""
    ways = paths.every_placement(SMALL, MORE)
    counts = paths.count(paths.with_links(SMALL, ways))[FIG3_COUNT]
    fits = counts == FIG3B
    spread = paths.with_links(SMALL, paths.most_even(ways[fits], SMALL)) if fits.any() else None
    dense = paths.concentrated(SMALL, MORE)
    return Placements(dense, spread, int(fits.sum()), int(counts.min()), int(counts.max()))


@cache
def ratios(samples: int) -> pl.DataFrame:
    """Return the numbers of Fig. 4, which `weft.analysis.paths.over_fraction` computes for its network."""
    return paths.over_fraction(LARGE, samples, _SEED)


def fig3(measured: Measured) -> Drawing:  # noqa: ARG001 # as all figures
    """Draw Fig. 3: the two placements as graphs, with their numbers of paths."""
    found = placements()
    drawing = style.canvas("Fig. 3: paths in a star with six additional links", [], width=style.PAGE, height=3.2)
    both = (("concentrated", found.concentrated), ("distributed", found.distributed))
    panels = [(name, active) for name, active in both if active is not None]
    for axes, (name, active) in zip(style.grid(drawing, len(panels), 2), panels, strict=True):
        counts = paths.count(active)
        axes.set_title(f"{name}: {int(counts[FIG3_COUNT])} paths, at most two per pair", loc="left")
        _graph(axes, active)
        words = [f"{paths.COUNTS[count]}: {int(number)}" for count, number in counts.items()]
        axes.text(0.5, -0.02, "\n".join(words), transform=axes.transAxes, ha="center", va="top", fontsize=7)
    drawing.numbers = pl.DataFrame(
        [
            {"placement": name, "count": paths.COUNTS[count], "paths": int(number)}
            for name, active in panels
            for count, number in paths.count(active).items()
        ]
    )
    return drawing


def _graph(axes: Axes, active: Active) -> None:
    """Draw a placement: routers on a circle, the links of the star's hub, and the other active links."""
    angles = np.pi / 2 - 2 * np.pi * np.arange(len(active)) / len(active)
    x, y = np.cos(angles), np.sin(angles)
    for low, high in np.argwhere(np.triu(active)):
        root: dict[str, Any] = {"color": style.GREY, "linewidth": 0.9, "linestyle": "--"}
        more: dict[str, Any] = {"color": style.COLOURS[0], "linewidth": 1.8}
        axes.plot(x[[low, high]], y[[low, high]], zorder=1, **(more if low else root))
    axes.scatter(x, y, s=190, color="white", edgecolor="black", linewidth=0.9, zorder=2)
    for router, (across, up) in enumerate(zip(x, y, strict=True)):
        axes.text(across, up, f"R{router}", ha="center", va="center", fontsize=7, zorder=3)
    axes.set_aspect("equal")
    axes.set_axis_off()


def fig4(measured: Measured) -> Drawing:
    """Draw Fig. 4: paths with concentrated links divided by paths with random links, over the share of active links.

    Each way of counting paths has a curve. The band of the curve "all paths" is the range over the random samples.
    """
    frame = ratios(SAMPLES[measured.quick])
    series = [
        Series(words, rows["active_share"].to_list(), rows["ratio"].to_list())
        for name, words in paths.COUNTS.items()
        for rows in [frame.filter(pl.col("count") == name).drop_nulls("ratio")]
    ]
    title = f"Fig. 4: paths with concentrated links, compared with random links, {LARGE} routers"
    drawing, axes = curves(title, "Share of active links", "Paths, concentrated / random", series)
    total = frame.filter(pl.col("count") == FIG4_COUNT)
    low, high = (total[name].to_list() for name in ("ratio_to_max", "ratio_to_min"))
    axes.fill_between(total["active_share"].to_list(), low, high, color=style.COLOURS[0], alpha=0.25, label="_samples")
    drawing.numbers = frame  # including the spread of the samples
    axes.set_ylim(0.8, 2.2)
    axes.axhline(1.93, color=style.GREY, linewidth=0.8, linestyle=(0, (4, 2)), label="_printed")
    axes.text(1.0, 1.95, "maximum, as printed: 1.93", ha="right", va="bottom", fontsize=7, color="#444444")
    return drawing
