"""Draws curves over load: a row of panels per traffic pattern, and a column of panels per quantity.

Saturated points have hollow markers. The latency of a saturated point depends on the length of the run. Therefore a
line of latencies ends before the saturated points, whose markers are on the upper edge of the panel. A cross marks a
point with another flaw, for example a run that had not settled when its window began. Vertical bars are 95 % confidence
intervals over the seeds. If a curve has saturated points, the axis of latencies can end below the highest latencies of
the curve.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, nan
from typing import TYPE_CHECKING, Any

import polars as pl
from matplotlib.lines import Line2D

from weft.errors import ResultsError
from weft.plot import numbers, style
from weft.results import batch_table
from weft.results import quantities as q
from weft.text import shell

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
# The upper end of the horizontal axis is the highest load times this factor.
ROOM = 1.04
# Height of a panel [inches].
_HEIGHT = 2.3
# Label of the axis of load for results in which some loads change in phases during a run.
LOADS_OF_PHASES = q.SET_LOAD.axis.replace(" [", ", or loads of the measured phases [")
# The quantities of offered load, in flits and in Gb/s.
_OFFERED = (q.OFFERED, q.OFFERED_GBPS)
# If a curve has saturated points, the axis of latencies ends at most at this multiple of the lowest latency.
_CUT = 6.0
# Maximum number of loads of phases that are written at a point.
_NAMED = 2
# Flaws for which a point gets a cross: the column of a curve's frame that is true for such points, and the words in the
# legend.
_CROSSED = {
    "unsettled": "not settled",
    "unjudged": "not judged",
    "dropping": "packets dropped",
    "few": "few packets",
    "partial": "part of a period",
}


@dataclass(frozen=True)
class View:
    """Content of a panel: the quantities of its axes, and additions.

    Attributes
    ----------
    y, x : Quantity
        Quantities of the two axes.
    log : bool
        Whether the vertical axis is logarithmic.
    extra : callable, optional
        Function that draws additional content into a panel, below the curves.
    title : str
        Title of the panel, if the labels of its axes do not name its content.
    beside : tuple of Quantity
        Quantities that `extra` draws in addition to `y`; the numbers of the figure include them.
    spread : bool
        Whether `extra` draws the confidence intervals, including those of single runs. Otherwise error bars show the
        interval if there are several seeds.
    """

    y: Quantity
    x: Quantity = q.OFFERED
    log: bool = False
    extra: Callable[[Axes, Panel, dict[str, Look]], None] | None = None
    title: str = ""
    beside: tuple[Quantity, ...] = ()
    spread: bool = False


def figure(choice: Choice, views: Sequence[View], *, handles: Sequence[Artist] = ()) -> Figure:
    """Draws a panel for each pattern and view.

    Views whose quantities were not measured are left out.

    Raises
    ------
    ResultsError
        If none of the quantities was measured, or if the points have no load.
    """
    if batch_table.have_no_load(choice.summaries):
        what = f"{choice.title}: every job sends a batch as fast as possible, so there is no load for an axis"
        remedy = f"`{shell.command('plot', 'jobs', choice.parts[0].results.root)}` draws the completion times"
        raise ResultsError.saying(what, remedy)
    rows = choice.panels()
    in_units = choice.appearance.shown
    views = [
        replace(view, x=in_units(view.x), y=in_units(view.y), beside=tuple(map(in_units, view.beside)))
        for view in views
    ]
    rows, views = choice.appearance.chosen(rows, views, title=_words, beside=lambda panel: panel.title)
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
        [*style.entries(looks, saturated=over), *crosses, *_bars_entry(rows, shown), *handles],
        width=width,
        height=_HEIGHT * -(-len(places) // columns),
    )
    drawing.panels_chosen = True
    for axes, (panel, view) in zip(style.grid(drawing, len(places), columns), places, strict=True):
        _panel(axes, panel, view, looks, beside=columns)
    quantities = [in_units(q.OFFERED), *(each for view in shown for each in (view.x, view.y, *view.beside))]
    several = any(_has_seeds(curve) for panel in rows for curve in panel.curves)
    spread = [each for view in shown if view.spread or several for each in (view.y, view.x)]
    drawing.numbers = numbers.of_curves(rows, quantities, spread=[each for each in spread if each not in _OFFERED])
    return drawing


def _words(view: View) -> str:
    """Words by which users can name a panel: the label of its vertical axis, and its title."""
    return f"{view.y.label} {view.title}"


def _has_seeds(curve: Curve) -> bool:
    """Whether some load of a curve was run with several seeds, so that it has a confidence interval."""
    return any(len(points) > 1 for points in curve.frame["points"])


def _bars_entry(rows: Sequence[Panel], views: Sequence[View]) -> list[Artist]:
    """The legend entry for the bars of `_error_bars`; empty if no curve has bars."""
    curves = [curve for panel in rows for curve in panel.curves if _has_seeds(curve)]
    if not curves or all(view.spread for view in views):
        return []
    seeds = max(len(points) for curve in curves for points in curve.frame["points"])
    bar = Line2D(
        [], [], label=f"95 % confidence, {seeds} seeds", marker="|", linestyle="", markersize=7, color="#222222"
    )
    return [bar]


def known(rows: Sequence[Panel], quantity: Quantity, *, above: float = -inf) -> bool:
    """Whether any point has a value of a quantity above `above`, for example above 0 for a logarithmic axis."""
    frames = [curve.frame for panel in rows for curve in panel.curves if quantity.column in curve.frame.columns]
    return any((frame[quantity.column] > above).any() for frame in frames)


def steady(curve: Curve) -> pl.DataFrame:
    """The rows of a curve whose points are neither saturated nor stuck."""
    return calm(curve.frame)


def calm(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows of a frame whose points are neither saturated nor stuck."""
    return frame.filter(~_over(frame))


def loads(frame: pl.DataFrame) -> list[str | float]:
    """The load of each point; if the load changes during a run, the loads of the measured phases as a string."""
    return [words or load for words, load in zip(frame["phase_loads"], frame["load"], strict=True)]


def short(load: str | float, digits: int = 3) -> str:
    """A load, or the loads of phases (an entry of `loads`), as a short string.

    If the load has many phases, only the first ones are included.
    """
    if not isinstance(load, str):
        return f"{load:.{digits}g}"
    each = load.split(", ")
    return ", ".join([*each[:_NAMED], "..."]) if len(each) > _NAMED + 1 else load


def saturated(curve: Curve) -> pl.DataFrame:
    """The rows of a curve whose points are saturated or stuck."""
    return curve.frame.filter(_over(curve.frame))


def _over(frame: pl.DataFrame) -> pl.Series:
    return frame["saturated"] | frame["stalled"]


def _panel(axes: Axes, panel: Panel, view: View, looks: dict[str, Look], *, beside: int) -> None:
    axes.set_title(", ".join(word for word in (panel.title, view.title) if word), loc="left")
    # with little room, the unit is on a separate line
    axes.set_xlabel(view.x.axis.replace(" [", "\n[") if beside > 2 else view.x.axis)
    axes.set_ylabel(view.y.axis.replace(" [", "\n[") if beside > 1 else view.y.axis)
    ends = [curve.frame[view.x.column].max() for curve in panel.curves if view.x.column in curve.frame.columns]
    end = panel.end if view.x in (q.OFFERED, q.ACCEPTED) else max((float(each) for each in ends if each), default=1.0)  # type: ignore[arg-type] # numbers
    axes.set_xlim(0, ROOM * end)
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
    """Draw a line through all points of a curve.

    If the quantity is a latency, the line has only steady points (neither saturated nor stuck). `_over_the_top` draws
    the others.
    """
    x, y = view.x.column, view.y.column
    frame, calm = (each.drop_nulls([x, y]) for each in (curve.frame, steady(curve)))
    line = _with_gaps(frame, y) if view.y in numbers.LATENCIES else frame
    axes.plot(line[x], line[y], label=curve.label, zorder=3, **look.line)
    axes.plot(calm[x], calm[y], label="_steady", zorder=3, **look.full)
    cross_out(axes, calm, x, y)
    if view.y not in numbers.LATENCIES:
        over = saturated(curve).drop_nulls([x, y])
        axes.plot(over[x], over[y], label="_saturated", zorder=4, **look.hollow)
    if not view.spread and _has_seeds(curve):
        _error_bars(axes, curve, view)


def _error_bars(axes: Axes, curve: Curve, view: View) -> None:
    """Draw bars for the 95 % confidence intervals over the seeds.

    Points on the upper edge have no bars, because they are not drawn at their measured values.
    """
    halves = {quantity: curve.half_width(quantity).alias(f"half {quantity.column}") for quantity in (view.x, view.y)}
    frame = curve.frame.with_columns(halves.values())
    frame = frame.filter(pl.col("points").list.len() > 1)
    if view.y in numbers.LATENCIES:
        frame = calm(frame)
    frame = frame.drop_nulls([view.x.column, view.y.column, f"half {view.y.column}"])
    # no bars for the offered load: its random variation is not a result
    across = None if view.x in _OFFERED else frame[f"half {view.x.column}"].fill_null(0)
    places = frame[view.x.column], frame[view.y.column]
    up = frame[f"half {view.y.column}"]
    axes.errorbar(*places, yerr=up, xerr=across, label="_bars", zorder=3.5, **style.ERROR_BAR)


def _with_gaps(frame: pl.DataFrame, y: str) -> pl.DataFrame:
    """The rows from the first to the last steady point (neither saturated nor stuck).

    Rows between them that are not steady get a null value, so that the line has a gap.
    """
    calm = (~_over(frame)).arg_true()
    if calm.is_empty():
        return frame.clear()
    between = frame[int(calm[0]) : int(calm[-1]) + 1]
    return between.with_columns(pl.when(~_over(between)).then(pl.col(y)).cast(pl.Float64).fill_null(nan).alias(y))


def cross_entries(frames: Iterable[pl.DataFrame]) -> list[Artist]:
    """The legend entry for the crosses of `cross_out`; empty if no point has a cross."""
    shown = list(frames)
    kinds = [words for column, words in _CROSSED.items() if any(frame[column].any() for frame in shown)]
    return [Line2D([], [], label=" or ".join(kinds), **_CROSS)] if kinds else []


def cross_out(axes: Axes, frame: pl.DataFrame, x: str, y: str, *, on_edge: bool = False) -> None:
    """Draw crosses on points that had not settled, are too short to judge, dropped packets, or have too few packets.

    With `on_edge` the crosses are drawn beyond the edge of the panel as well, like the markers of saturated points.
    """
    late = frame.filter(pl.any_horizontal(*_CROSSED))
    if late.height:
        outside: dict[str, Any] = {"clip_on": False, "in_layout": False} if on_edge else {}
        axes.plot(late[x], late[y], label="_unsettled", zorder=5, **_CROSS, **outside)


def _highest(curve: Curve, view: View) -> float:
    """The highest latency of a curve that the axis must include; 1 if the curve has no latency.

    If the curve has saturated points, a point with a flaw, or the last point before saturation, can have a very high
    latency. The axis includes the latency of such a point only up to `_CUT` times the lowest latency of the curve. The
    line can therefore leave the panel.
    """
    over = _over(curve.frame)
    rises = over.shift(-1, fill_value=False) | pl.any_horizontal(*_CROSSED)
    frame = curve.frame.with_columns(rises=rises).filter(~over).drop_nulls(view.y.column)
    if frame.is_empty():
        return 1.0
    values = frame[view.y.column]
    limit = _CUT * float(values.min())  # type: ignore[arg-type] # a number
    return max(min(float(y), limit) if rising else float(y) for y, rising in zip(values, frame["rises"], strict=True))


def _over_the_top(axes: Axes, panel: Panel, view: View, looks: dict[str, Look]) -> None:
    top = 1.15 * max((_highest(curve, view) for curve in panel.curves), default=1.0)
    if view.log:
        axes.set_ylim(top=2 * top)
    else:
        axes.set_ylim(0, top)
    top = axes.get_ylim()[1]
    for curve in panel.curves:
        places = saturated(curve)[view.x.column].drop_nulls()
        # markers on the edge extend beyond the panel, and the layout ignores them
        options: dict[str, Any] = {"label": "_saturated", "clip_on": False, "in_layout": False, "zorder": 4}
        axes.plot(places, [top] * len(places), **options, **looks[curve.label].hollow)
