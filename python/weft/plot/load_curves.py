"""Latency, accepted load and energy per bit over offered load: a row per traffic pattern.

Latency never stands alone: beside it is what the network accepted (the two together are the Chaos Normal Form).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

from weft import quantities as q
from weft.curves import Curve, Panel, panels
from weft.plot.style import RC, SATURATED, Look, look

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl
    from matplotlib.axes import Axes

    from weft.quantities import Quantity
    from weft.results import Results

# Inches: a panel; a letter and the line of an entry of the legend.
_WIDTH, _HEIGHT = 3.6, 2.7
_LETTER, _HANDLE = 0.075, 0.6


def draw(results: Results, path: Path) -> None:
    """Write the figure; the ending of `path` chooses the format."""
    with mpl.rc_context(RC):  # type: ignore[arg-type] # its keys are a closed list of literals
        canvas = FigureCanvasAgg(figure(results))
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.name}")
        canvas.figure.savefig(partial, format=path.suffix[1:] or "png")
        partial.replace(path)


def figure(results: Results) -> Figure:
    """The figure of a sweep.

    Saturated points are hollow; a latency line ends before them, since their latency grows with the run.
    """
    rows = panels(results)
    shown = [quantity for quantity in (q.LATENCY, q.ACCEPTED, q.ENERGY) if _known(rows, quantity)]
    labels = list(dict.fromkeys(curve.label for panel in rows for curve in panel.curves))
    looks = {label: look(number, len(labels)) for number, label in enumerate(labels)}
    width = _WIDTH * max(1, len(shown))
    entries = max(map(len, labels), default=0) * _LETTER + _HANDLE  # width of one in the legend
    legend_columns = max(1, min(len(labels) + 1, int(width / entries)))
    head = 0.5 + 0.2 * -(-(len(labels) + 1) // legend_columns)
    drawing = Figure(figsize=(width, _HEIGHT * max(1, len(rows)) + head), layout="constrained")
    places = [(panel, quantity) for panel in rows for quantity in shown]
    for number, (panel, quantity) in enumerate(places, start=1):
        _panel(drawing.add_subplot(len(rows), len(shown), number), panel, quantity, looks)
    drawing.legend(
        handles=_legend(looks),
        loc="outside upper left",
        ncols=legend_columns,
        title=results.title,
        title_fontproperties={"weight": "bold", "size": 11},
        alignment="left",
    )
    return drawing


def _known(rows: Sequence[Panel], quantity: Quantity) -> bool:
    frames = [curve.frame for panel in rows for curve in panel.curves]
    return any(frame[quantity.column].null_count() < len(frame) for frame in frames)


def _panel(axes: Axes, panel: Panel, quantity: Quantity, looks: dict[str, Look]) -> None:
    end = max(load for curve in panel.curves for load in curve.frame["load"])
    for curve in panel.curves:
        _curve(axes, curve, quantity, looks[curve.label])
    axes.set_title(panel.title, loc="left")
    axes.set_xlabel(q.OFFERED.axis)
    axes.set_ylabel(quantity.axis)
    axes.set_xlim(0, 1.04 * end)
    if quantity is q.LATENCY:
        _over_the_top(axes, panel, looks)
    elif quantity is q.ACCEPTED:
        axes.plot([0, end], [0, end], color="#999999", linewidth=0.8, zorder=1, label="_accepted = offered")
        axes.set_ylim(0, 1.04 * end)
    else:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter(NullFormatter())


def _curve(axes: Axes, curve: Curve, quantity: Quantity, style: Look) -> None:
    """Line through all points; for latency through the steady ones only, the others are `_over_the_top`."""
    frame = curve.frame.drop_nulls(quantity.column)
    steady = frame.filter(~_over(frame))
    line = steady if quantity is q.LATENCY else frame
    axes.plot(line["load"], line[quantity.column], label=curve.label, zorder=3, **style.line)
    axes.plot(steady["load"], steady[quantity.column], label="_steady", zorder=3, **style.full)
    if quantity is not q.LATENCY:
        over = frame.filter(_over(frame))
        axes.plot(over["load"], over[quantity.column], label="_saturated", zorder=4, **style.hollow)


def _over_the_top(axes: Axes, panel: Panel, looks: dict[str, Look]) -> None:
    """Saturated points stand at the upper edge of a latency panel: their latency has no limit."""
    steady = [
        float(value)
        for curve in panel.curves
        for value in curve.frame.filter(~_over(curve.frame))[q.LATENCY.column].drop_nulls()
    ]
    top = 1.15 * max(steady, default=1.0)
    axes.set_ylim(0, top)
    for curve in panel.curves:
        loads = curve.frame.filter(_over(curve.frame))["load"]
        marks = looks[curve.label].hollow
        # Markers on the edge stick out of the panel: that is no reason to lay it out anew.
        axes.plot(loads, [top] * len(loads), label="_saturated", clip_on=False, in_layout=False, zorder=4, **marks)


def _over(frame: pl.DataFrame) -> pl.Series:
    return frame["saturated"] | frame["stalled"]


def _legend(looks: dict[str, Look]) -> list[Line2D]:
    handles = [Line2D([], [], label=label, **(style.full | style.line)) for label, style in looks.items() if label]
    return [*handles, Line2D([], [], label="saturated", **SATURATED)]
