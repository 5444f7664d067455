"""Draws busy terminals, running programs and waiting programs over time, for a queue of programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from weft.plot import over_time, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice

_LABELS = {"running": "programs that run", "waiting": "programs that wait"}


def figure(choice: Choice) -> Figure:
    """Draws the two panels for one point: busy terminals, and numbers of running and waiting programs."""
    spot = choice.spot()
    table = spot.results.utilisation(spot.point)
    end = float(spot.summary["warmup_cycles"] + spot.summary["window_cycles"])
    jobs = table["job"].unique(maintain_order=True).to_list()
    names = [
        f"{job}: {words}" if len(jobs) > 1 else words for job in jobs for words in ("busy terminals", *_LABELS.values())
    ]
    looks = style.looks(names)
    handles = [Line2D([], [], label=name, **_line(look)) for name, look in looks.items()]
    drawing = style.canvas(
        choice.title,
        [*handles, *over_time.entries([spot])],
        width=style.PAGE,
        height=3.4,
    )
    upper, lower = style.grid(drawing, 2, 1)
    shown = iter(names)
    for job in jobs:
        own = table.filter(pl.col("job") == job)
        x = [0.0, *(float(cycle) for cycle in own["cycle"]), max(end, float(own["cycle"][-1]))]
        for axes, column in ((upper, "utilisation"), (lower, "running"), (lower, "waiting")):
            factor = 100.0 if column == "utilisation" else 1.0
            values = [factor * float(value) for value in own[column]]
            name = next(shown)
            axes.plot(x, [0.0, *values, values[-1]], drawstyle="steps-post", label=name, **_line(looks[name]))
    upper.set_ylabel("Busy terminals\n[% of the job]")
    upper.set_ylim(0, 105)
    lower.set_ylabel("Programs\n[count]")
    lower.set_ylim(bottom=0)
    lower.yaxis.set_major_locator(MaxNLocator(integer=True))
    for axes in (upper, lower):
        over_time.axis(axes, spot, max(end, 1.0))
    drawing.numbers = table
    return drawing


def _line(look: style.Look) -> dict[str, Any]:
    """The line of a series, without its markers."""
    return {key: value for key, value in look.line.items() if key != "marker"} | {"linewidth": 1.3}
