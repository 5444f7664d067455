"""Draws line charts of a paper in the style of `weft.plot`: a curve per series.

Saturated points have hollow markers.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Any

import polars as pl
from matplotlib.lines import Line2D

from weft.plot import numbers, sheet, style
from weft.plot.draw import save, save_numbers
from weft.plot.finish import finish
from weft.results.quantities import LATENCY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from weft.plot.style import Picture as Drawing
    from weft_papers.common.measured import Measured
    from weft_papers.common.paper import Figure

_HEIGHT, _PANELS = 2.3, 2.0
# If a load axis ends below this value, its tick labels are long, so a narrow panel has space for few of them.
_TINY = 0.01
# File formats of figures. The report contains the first format; the others are for papers and slides.
FORMATS = ("svg", "pdf", "png")
_DASHED: dict[str, Any] = {"linestyle": "--", "linewidth": 1.2}


@dataclass(frozen=True)
class Series:
    """A curve of a figure: its points, legend entry and look.

    Attributes
    ----------
    label : str
        Legend entry of the curve.
    x, y : sequence of float
        Coordinates of the curve's points.
    over : sequence of bool
        Whether each point is saturated; empty if no point is.
    theory_of : str
        Label of the measured series, if this curve shows the values that theory predicts for it. The curve is then
        dashed, without markers, in the colour of the measured series.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    over: Sequence[bool] = field(default=())
    theory_of: str = ""


def over_load(points: pl.DataFrame, label: str, column: str) -> Series:
    """Make a curve that shows a column of a frame over load.

    Each value is a mean over seeds. Unknown values are omitted.
    """
    means = (
        points.drop_nulls(column).group_by("load").agg(pl.col(column).mean(), pl.col("saturated").any()).sort("load")
    )
    return Series(label, means["load"].to_list(), means[column].to_list(), means["saturated"].to_list())


def latency_over_load(points: pl.DataFrame, label: str) -> Series:
    """Make a curve of the mean packet latency over load.

    A saturated point counts as infinite, even if some of its packets were delivered. Figures show it at their upper
    edge.
    """
    column = pl.col(LATENCY.column)
    known = pl.when(pl.col("saturated")).then(inf).when(column > 0).then(column)
    return over_load(points.with_columns(known.alias(LATENCY.column)), label, LATENCY.column)


def curves(
    title: str,
    x: str,
    y: str,
    series: Sequence[Series],
    *,
    at_top: bool = False,
    most: float = inf,
    looks: Sequence[str] = (),
) -> tuple[Drawing, Axes]:
    """Draw a figure with one panel, as wide as a column of a paper.

    Parameters
    ----------
    title, x, y : str
        Title, and labels of the axes with units.
    series : sequence of Series
        The curves.
    at_top : bool
        Whether saturated points have no value. The figure then shows saturated points at its upper edge, and lines end
        before them.
    most : float
        Maximum upper end of the vertical axis; the figure omits higher points.
    looks : sequence of str
        Labels of series in a fixed order that figures share. Their order gives a series the same look in all figures.
    """
    known = style.looks([*looks, *(each.theory_of or each.label for each in series)])
    shown = {each.label: known[each.theory_of or each.label] for each in series}
    drawing = style.canvas(title, legend(series, shown), width=style.COLUMN, height=_HEIGHT)
    axes = drawing.add_subplot()
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    for each in series:
        line(axes, each, shown[each.label], at_top=at_top)
    values = _heights(series, at_top=at_top)
    ends = [end for each in series for end in each.x]
    axes.set_xlim(0, 1.04 * max(ends, default=1.0))
    axes.set_ylim(0, min(most, 1.15 * max(values, default=1.0) or 1.0))
    if at_top:
        _over_the_top(axes, series, shown)
    drawing.numbers = numbers_of(x, y, series, at_top=at_top)
    return drawing, axes


def panels(
    title: str,
    shown: Mapping[str, Sequence[Series]],
    x: str,
    y: str,
    *,
    looks: Sequence[str] = (),
    at_top: bool = False,
    most: float = inf,
) -> Drawing:
    """Draw a figure as wide as a page, with a panel for each name in `shown`, such as the name of a traffic pattern.

    `looks`, `at_top` and `most` are as in `curves`.
    """
    labels = dict.fromkeys([*looks, *(each.label for series in shown.values() for each in series)])
    known = style.looks(list(labels))
    # the legend has an entry for each curve, and an entry for saturated points if any panel has saturated points
    named = {each.label: each for series in shown.values() for each in series}
    over = [any(any(each.over) for series in shown.values() for each in series)]
    entries = legend([replace(named[each], over=over) for each in labels if each in named], known)
    drawing = style.canvas(title, entries, width=style.PAGE, height=_PANELS)
    for axes, (name, series) in zip(style.grid(drawing, len(shown), len(shown)), shown.items(), strict=True):
        axes.set_title(name.replace("_", " "), loc="left")
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        for each in series:
            line(axes, each, known[each.label], at_top=at_top)
        last = max((end for each in series for end in each.x), default=1.0)
        axes.set_xlim(0, 1.04 * last)
        if last < _TINY:
            axes.locator_params(axis="x", nbins=2)
        axes.set_ylim(0, min(most, 1.1 * max(_heights(series, at_top=at_top), default=1.0) or 1.0))
        if at_top:
            _over_the_top(axes, series, known)
    tables = {name: numbers_of(x, y, series, at_top=at_top) for name, series in shown.items()}
    labelled = [table.select(pl.lit(name).alias("pattern"), pl.all()) for name, table in tables.items()]
    drawing.numbers = pl.concat(labelled, how="diagonal")  # a panel without points has no column that names the series
    return drawing


def _heights(series: Iterable[Series], *, at_top: bool) -> list[float]:
    """Return the values of all points. If `at_top`, omit saturated points, which the figure shows at its upper edge."""
    return [y for each in series for y, full in zip(each.y, _steady(each), strict=True) if full or not at_top]


def numbers_of(x: str, y: str, series: Iterable[Series], *, at_top: bool = False) -> pl.DataFrame:
    """Make the table of a figure: the points of its curves, in columns named after the axes.

    Saturated points without a value are null.
    """
    frames = []
    for each in series:
        steady = _steady(each)
        known = [value if full or not at_top else None for value, full in zip(each.y, steady, strict=True)]
        points = {x: each.x, y: known, "saturated": [not full for full in steady]}
        kinds = {x: pl.Float64, y: pl.Float64, "saturated": pl.Boolean}
        frames.append((each.label, pl.DataFrame(points, schema=kinds, strict=False)))
    return numbers.of_series(frames)


def legend(series: Sequence[Series], looks: dict[str, style.Look]) -> list[Artist]:
    """Make the legend entries of a figure: one for each curve, and one for saturated points if the figure has any."""
    lines = [
        Line2D([], [], label=each.label, **(looks[each.label].line | _DASHED))
        if each.theory_of
        else style.entries({each.label: looks[each.label]}, saturated=False)[0]
        for each in series
    ]
    over = [Line2D([], [], label="saturated", **style.SATURATED)] if any(any(each.over) for each in series) else []
    return [*lines, *over]


def _steady(series: Series) -> list[bool]:
    return [not over for over in series.over] or [True] * len(series.x)


def line(axes: Axes, series: Series, look: style.Look, *, at_top: bool = False) -> None:
    """Draw a series as a curve in a panel."""
    if series.theory_of:
        axes.plot(series.x, series.y, label=series.label, zorder=2, **(look.line | _DASHED))
        return
    points = list(zip(series.x, series.y, _steady(series), strict=True))
    shown = [(x, y) for x, y, full in points if full or not at_top]
    axes.plot(*_columns(shown), label=series.label, zorder=3, **look.line)
    axes.plot(*_columns([(x, y) for x, y, full in points if full]), label="_steady", zorder=3, **look.full)
    if not at_top:
        hollow = [(x, y) for x, y, full in points if not full]
        axes.plot(*_columns(hollow), label="_saturated", zorder=4, **look.hollow)


def _over_the_top(axes: Axes, series: Sequence[Series], looks: dict[str, style.Look]) -> None:
    top = axes.get_ylim()[1]
    options: dict[str, Any] = {"label": "_saturated", "clip_on": False, "in_layout": False, "zorder": 4}
    for each in series:
        places = [x for x, full in zip(each.x, _steady(each), strict=True) if not full]
        axes.plot(places, [top] * len(places), **options, **looks[each.label].hollow)


def _columns(points: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]


def drawn(figure: Figure, measured: Measured) -> Drawing:
    """Draw a figure of a paper in the style that all figures share."""
    assert figure.draw
    with sheet.applied(style.RC):
        drawing = figure.draw(measured)
        finish(drawing)
    return drawing


def saved(drawing: Drawing, folder: Path, name: str) -> list[Path]:
    """Write a drawing to files in all formats, and its numbers to a CSV file."""
    written = [save(drawing, folder / f"{name}.{form}") for form in FORMATS]
    return [*written, save_numbers(drawing, written[0].with_suffix(""))]
