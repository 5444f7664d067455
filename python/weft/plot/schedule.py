"""Draws a Gantt chart of a queue of programs: a row per terminal, with a box for each program that ran there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
from matplotlib.collections import PatchCollection
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import MaxNLocator

from weft.plot import over_time, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice

# Sizes [inches]: height of a row; smallest and greatest height of all rows together.
_ROW, _LEAST, _MOST = 0.12, 2.0, 6.0
# Maximum number of programs whose boxes show their numbers; maximum number of traces (different programs), because more
# have no separate colour and hatching.
_NUMBERED, _NAMES = 60, len(style.HATCHES)


def figure(choice: Choice) -> Figure:
    """Draws the programs of one point. The boxes of all programs with the same trace have the same colour.

    The box of a program that did not end is pale.
    """
    spot = choice.spot()
    table = spot.results.schedule(spot.point)
    started = table.filter(pl.col("start_cycles").is_not_null())
    end = float(spot.summary["warmup_cycles"] + spot.summary["window_cycles"])
    looks = _looks(started)
    handles = [Patch(label=name, **look) for name, look in looks.items() if name]
    terminals = int(spot.summary["terminals"])
    height = min(_MOST, max(_LEAST, _ROW * terminals))
    drawing = style.canvas(choice.title, [*handles, *over_time.entries([spot])], width=style.PAGE, height=height)
    axes = drawing.add_subplot()
    _boxes(axes, started, looks, end)
    axes.set_ylabel("Terminals")
    axes.set_ylim(terminals - 0.5, -0.5)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(visible=False, axis="y")
    over_time.axis(axes, spot, max(end, 1.0))
    drawing.numbers = table
    return drawing


def _looks(started: pl.DataFrame) -> dict[str, dict[str, Any]]:
    names = started["trace"].unique(maintain_order=True).to_list()
    several = len(names) <= _NAMES
    return {name: style.fill(place if several else 0) for place, name in enumerate(names)}


def _boxes(axes: Axes, started: pl.DataFrame, looks: dict[str, dict[str, Any]], end: float) -> None:
    for name, look in looks.items():
        rows = started.filter(pl.col("trace") == name)
        for is_whole in (True, False):
            part = rows.filter(pl.col("end_cycles").is_not_null() == is_whole)
            boxes = [
                Rectangle((row["start_cycles"], first - 0.5), (row["end_cycles"] or end) - row["start_cycles"], count)
                for row in part.iter_rows(named=True)
                for first, count in spans(row["allocated_terminals"])
            ]
            how = look | {"linewidth": 0.8, "edgecolor": "white"} | ({} if is_whole else {"alpha": 0.4})
            axes.add_collection(PatchCollection(boxes, match_original=False, **how))
    if started.height > _NUMBERED:
        return
    for row in started.iter_rows(named=True):
        first, count = max(spans(row["allocated_terminals"]), key=lambda span: span[1])
        middle = (row["start_cycles"] + (row["end_cycles"] or end)) / 2
        box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.7}
        words: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 5.5, "bbox": box, "clip_on": True}
        axes.text(middle, first + count / 2 - 0.5, str(row["number"]), **words)


def spans(allocated: str) -> list[tuple[int, int]]:
    """First number and length of each range in a string such as ``0-3 7``, which gives (0, 4) and (7, 1)."""
    found = []
    for part in allocated.split():
        first, _, last = part.partition("-")
        found.append((int(first), int(last or first) - int(first) + 1))
    return found
