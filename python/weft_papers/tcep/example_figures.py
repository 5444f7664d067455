"""Draws Figs. 5 and 6, worked examples of `weft.analysis.examples`: a removed link; inner and outer links."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from weft.analysis import examples
from weft.plot import style
from weft_papers.common.line_figures import Series, curves

if TYPE_CHECKING:
    from weft.plot.style import Picture as Drawing
    from weft_papers.common.measured import Measured

_WORDS = {
    "before": "as it is",
    "naive": "without R0-R1,\nthe least used link",
    "type_aware": "without R0-R2, the link with\nthe least minimal traffic",
}


def utilisations() -> dict[str, float]:
    """Return Fig. 5's numbers: total load of all channels [flits/cycle], before and after a link is removed."""
    return {name: float(loads.sum()) for name, loads in examples.dropped_link().items()}


def fig5(measured: Measured) -> Drawing:  # noqa: ARG001 # as all figures
    """Draw Fig. 5: total load of all channels, before and after one of two links is switched off."""
    sums = utilisations()
    drawing = style.canvas("Fig. 5: choice between two links to switch off", [], width=style.COLUMN, height=2.0)
    axes = drawing.add_subplot()
    for place, (name, total) in enumerate(sums.items()):
        axes.barh(place, total, height=0.6, label=f"_{name}", **style.fill(0))
        axes.text(total + 0.01, place, f"{total:.2f}", va="center", fontsize=7.5)
    axes.set_yticks(range(len(sums)), [_WORDS[name] for name in sums])
    axes.invert_yaxis()
    axes.set_xlabel("Total utilisation of\nall channels [flits/cycle]")
    axes.set_xlim(0, 1.15 * max(sums.values()))
    axes.grid(visible=False, axis="y")
    drawing.numbers = pl.DataFrame({"choice": list(sums), "utilisation_flits_per_cycle": list(sums.values())})
    return drawing


def fig6(measured: Measured) -> Drawing:  # noqa: ARG001 # as all figures
    """Draw Fig. 6: free capacity of inner links, and load of outer links, over the number of inner links."""
    used = examples.FIG6
    inner = list(range(1, len(used) + 1))
    series = [
        Series("inner budget", inner, [sum(1 - each for each in used[:count]) for count in inner]),
        Series("outer utilisation", inner, [sum(used[count:]) for count in inner]),
    ]
    title = "Fig. 6: links become inner until they can carry the load of the outer links"
    drawing, axes = curves(title, "Inner links", "Flits/cycle", series)
    axes.axvline(examples.partition(used).boundary, color=style.GREY, linewidth=0.8, linestyle="--", label="_boundary")
    axes.set_xlim(0.8, len(used) + 0.2)
    axes.set_xticks(inner)
    return drawing
