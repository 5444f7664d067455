"""Curves over load: a row of panels per traffic pattern, a column per quantity.

Saturated points are hollow. Their latency grows with the length of the run; so a line of latencies ends before them,
and they stand at the upper edge. A cross marks points that were measured before they had settled.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, nan
from typing import TYPE_CHECKING, Any

import polars as pl
from matplotlib.lines import Line2D

from weft.errors import ResultsError
from weft.plot import numbers, style
from weft.results import quantities as q

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice
    from weft.plot.style import Look
    from weft.results.curves import Curve, Panel
    from weft.results.quantities import Quantity

_CROSS: dict[str, Any] = {"marker": "x", "linestyle": "", "color": "#000000", "markersize": 6, "markeredgewidth": 0.9}
# Height of a panel [inches].
_HEIGHT = 2.3
# The axis or the legend where loads change while a point runs.
LOADS_OF_PHASES = q.SET_LOAD.axis.replace(" [", ", or those of the measured phases [")
# Loads of phases that are named at a point.
_NAMED = 2
# What has a cross: columns of curves, and words of the legend.
_CROSSED = {
    "unsettled": "not settled",
    "unjudged": "not judged",
    "dropping": "packets dropped",
    "few": "few packets",
    "partial": "part of a period",
}


@dataclass(frozen=True)
class View:
    """What a panel shows.

    Attributes
    ----------
    y, x : Quantity
        The axes.
    log : bool
        Whether the vertical axis is logarithmic.
    extra : callable, optional
        Draws more into a panel, below the curves.
    title : str
        Title of the panel, if its axes do not say what it shows.
    beside : tuple of Quantity
        What `extra` draws.
    spread : bool
        Whether `extra` draws the confidence interval.
    """

    y: Quantity
    x: Quantity = q.OFFERED
    log: bool = False
    extra: Callable[[Axes, Panel, dict[str, Look]], None] | None = None
    title: str = ""
    beside: tuple[Quantity, ...] = ()
    spread: bool = False


def figure(choice: Choice, views: Sequence[View], *, handles: Sequence[Artist] = ()) -> Figure:
    """Panels of all patterns and views, except views of quantities that were not measured.

    Raises
    ------
    ResultsError
        If none of the quantities was measured.
    """
    rows = choice.panels()
    shown = [view for view in views if known(rows, view.y, above=0 if view.log else -inf)]
    if not shown:
        missing = ", ".join(view.y.column for view in views)
        what = f"{choice.title}: no point has {missing}"
        raise ResultsError.saying(what, "choose points in which packets were delivered")
    looks = style.looks([curve.label for panel in rows for curve in panel.curves])
    width, columns = choice.appearance.layout(len(shown) if len(shown) > 1 else min(2, len(rows)))
    places = [(panel, view) for panel in rows for view in shown]
    over = any(_over(curve.frame).any() for panel in rows for curve in panel.curves)
    crosses = cross_entries(steady(curve) for panel in rows for curve in panel.curves)
    drawing = style.canvas(
        choice.title,
        [*style.entries(looks, saturated=over), *crosses, *handles],
        width=width,
        height=_HEIGHT * -(-len(places) // columns),
    )
    for axes, (panel, view) in zip(style.grid(drawing, len(places), columns), places, strict=True):
        _panel(axes, panel, view, looks, beside=columns)
    quantities = [q.OFFERED, *(each for view in shown for each in (view.x, view.y, *view.beside))]
    drawing.numbers = numbers.of_curves(rows, quantities, spread=[view.y for view in shown if view.spread])
    return drawing


def known(rows: Sequence[Panel], quantity: Quantity, *, above: float = -inf) -> bool:
    """Whether any point has a value that its axis can show."""
    frames = [curve.frame for panel in rows for curve in panel.curves if quantity.column in curve.frame.columns]
    return any((frame[quantity.column] > above).any() for frame in frames)


def steady(curve: Curve) -> pl.DataFrame:
    """Points that are neither saturated nor stuck."""
    return calm(curve.frame)


def calm(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows of a curve that are neither saturated nor stuck."""
    return frame.filter(~_over(frame))


def loads(frame: pl.DataFrame) -> list[str | float]:
    """The load of each point as set, or as words those of the phases that it measured."""
    return [words or load for words, load in zip(frame["phase_loads"], frame["load"], strict=True)]


def short(load: str | float, digits: int = 3) -> str:
    """One of `loads` in figures: of many phases the first ones."""
    if not isinstance(load, str):
        return f"{load:.{digits}g}"
    each = load.split(", ")
    return ", ".join([*each[:_NAMED], "..."]) if len(each) > _NAMED + 1 else load


def saturated(curve: Curve) -> pl.DataFrame:
    """Points that are saturated or stuck."""
    return curve.frame.filter(_over(curve.frame))


def _over(frame: pl.DataFrame) -> pl.Series:
    return frame["saturated"] | frame["stalled"]


def _panel(axes: Axes, panel: Panel, view: View, looks: dict[str, Look], *, beside: int) -> None:
    axes.set_title(", ".join(word for word in (panel.title, view.title) if word), loc="left")
    # Where there is little room, the unit has a line of its own.
    axes.set_xlabel(view.x.axis.replace(" [", "\n[") if beside > 2 else view.x.axis)
    axes.set_ylabel(view.y.axis.replace(" [", "\n[") if beside > 1 else view.y.axis)
    axes.set_xlim(0, 1.04 * panel.end)
    if view.extra:
        view.extra(axes, panel, looks)
    for curve in panel.curves:
        draw(axes, curve, view, looks[curve.label])
    if view.log:
        axes.set_yscale("log")
        style.plain_log(axes.yaxis)
    elif view.y not in numbers.LATENCIES:
        axes.set_ylim(bottom=0)
    if view.y in numbers.LATENCIES:
        _over_the_top(axes, panel, view, looks)


def draw(axes: Axes, curve: Curve, view: View, look: Look) -> None:
    """A line through all points; for a latency only through the steady ones, since `_over_the_top` draws the others."""
    x, y = view.x.column, view.y.column
    frame, calm = (each.drop_nulls([x, y]) for each in (curve.frame, steady(curve)))
    line = _with_gaps(frame, y) if view.y in numbers.LATENCIES else frame
    axes.plot(line[x], line[y], label=curve.label, zorder=3, **look.line)
    axes.plot(calm[x], calm[y], label="_steady", zorder=3, **look.full)
    cross_out(axes, calm, x, y)
    if view.y not in numbers.LATENCIES:
        over = saturated(curve).drop_nulls([x, y])
        axes.plot(over[x], over[y], label="_saturated", zorder=4, **look.hollow)


def _with_gaps(frame: pl.DataFrame, y: str) -> pl.DataFrame:
    """From the first steady point to the last one, without a value where a point between them is not steady."""
    calm = (~_over(frame)).arg_true()
    if calm.is_empty():
        return frame.clear()
    between = frame[int(calm[0]) : int(calm[-1]) + 1]
    return between.with_columns(pl.when(~_over(between)).then(pl.col(y)).cast(pl.Float64).fill_null(nan).alias(y))


def cross_entries(frames: Iterable[pl.DataFrame]) -> list[Artist]:
    """The entry of the legend for `cross_out`; none if no point has a cross."""
    shown = list(frames)
    kinds = [words for column, words in _CROSSED.items() if any(frame[column].any() for frame in shown)]
    return [Line2D([], [], label=" or ".join(kinds), **_CROSS)] if kinds else []


def cross_out(axes: Axes, frame: pl.DataFrame, x: str, y: str, *, on_edge: bool = False) -> None:
    """Mark points that had not settled, were too short to be judged, dropped packets, or have too few.

    A mark `on_edge` sticks out of the panel, as those of saturated points do there.
    """
    late = frame.filter(pl.any_horizontal(*_CROSSED))
    if late.height:
        outside: dict[str, Any] = {"clip_on": False, "in_layout": False} if on_edge else {}
        axes.plot(late[x], late[y], label="_unsettled", zorder=5, **_CROSS, **outside)


def _over_the_top(axes: Axes, panel: Panel, view: View, looks: dict[str, Look]) -> None:
    values = [float(value) for curve in panel.curves for value in steady(curve)[view.y.column].drop_nulls()]
    top = 1.15 * max(values, default=1.0)
    if view.log:
        axes.set_ylim(top=2 * top)
    else:
        axes.set_ylim(0, top)
    top = axes.get_ylim()[1]
    for curve in panel.curves:
        places = saturated(curve)[view.x.column].drop_nulls()
        # Markers on the edge stick out of the panel; the layout ignores them.
        options: dict[str, Any] = {"label": "_saturated", "clip_on": False, "in_layout": False, "zorder": 4}
        axes.plot(places, [top] * len(places), **options, **looks[curve.label].hollow)
