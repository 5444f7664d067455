"""Draws completion times of jobs: a bar per point and per job that sends a batch (a fixed number of packets).

With several seeds, a bar shows the mean of the times over the seeds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl
from matplotlib.patches import Patch

from weft.errors import ResultsError
from weft.plot import numbers, style
from weft.plot.kinds import KINDS
from weft.results import batch_table, of_jobs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice

# Maximum number of series (each for points that differ only in seed), because more have no separate colour and
# hatching. Then the maximum number of bars on a page, and of points, in which each seed counts as a point.
_SERIES, _BARS, _POINTS = len(style.HATCHES) * 2, 60, 600
# Height of a bar and the space around it, and smallest height of a row [inches].
_BAR, _ROW = 0.16, 0.26


@dataclass(frozen=True)
class _Bar:
    """The runs of a job from which a bar is drawn: they differ only in their seed."""

    series: str
    job: str
    runs: Sequence[Mapping[str, Any]]


def figure(choice: Choice) -> Figure:
    """Draws a bar for each job of each series of points.

    The bar of a job that was not complete when a run ended shows the progress of the job instead of a time.
    """
    bars = _bars(choice)
    names, series = (list(dict.fromkeys(words)) for words in zip(*((bar.job, bar.series) for bar in bars), strict=True))
    names.sort(key=choice.appearance.rank)
    # with a single job, the names of the series are next to its bars, and the figure needs no legend
    alone = len(names) == 1
    if len(bars) > _BARS or (not alone and len(series) > _SERIES):
        what = f"{choice.title}: {len(bars)} bars of {len(series)} series do not fit into one figure"
        raise ResultsError.saying(what, "choose some points with --point, in Python with point=")
    handles = [Patch(label=each, **_fill(k)) for k, each in enumerate(series) if each and not alone]
    rows = series if alone else names
    beside = 1 if alone else len(series)
    height = 0.6 + len(rows) * max(_ROW, _BAR * beside)
    drawing = style.canvas(choice.title, handles, width=style.COLUMN, height=height)
    axes = drawing.add_subplot()
    thick = 0.8 / beside
    for bar in bars:
        number = series.index(bar.series)
        row = number if alone else names.index(bar.job) + (number - (len(series) - 1) / 2) * thick
        _draw(axes, bar, row, thick, _fill(0 if alone else number))
    axes.set_yticks(range(len(rows)), [row or names[0] for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(left=0)
    axes.set_xlabel("Completion [cycles]")
    axes.grid(visible=False, axis="y")
    drawing.numbers = numbers.of_series((name, _numbers(bars, name)) for name in series)
    return drawing


def _bars(choice: Choice) -> list[_Bar]:
    """The bars of the figure, one for each job that sends a batch, in each group of points that differ only in seed."""
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for spots in choice.seeds(_POINTS).values():
        for spot in spots:
            for job in filter(of_jobs.is_batch, of_jobs.of(spot.summary)):
                found.setdefault((spot.place, job["job"]), []).append(job)
    if not found:
        what = f"{choice.title}: no job sends a batch"
        raise ResultsError.saying(what, f"set {KINDS['jobs'].needs} and run the point again")
    return [_Bar(series, job, runs) for (series, job), runs in found.items()]


def _draw(axes: Axes, bar: _Bar, row: float, thick: float, fill: dict[str, Any]) -> None:
    mean = batch_table.mean(bar.runs)
    if mean is None:
        axes.text(0, row, f" {batch_table.delivered(bar.runs)} packets delivered", va="center", fontsize=6.5)
        return
    axes.barh(row, mean.value, height=thick, label=bar.series, **fill)
    if mean.half_width is not None:
        axes.errorbar(mean.value, row, xerr=mean.half_width, **style.ERROR_BAR)
    if any(job.get("batch_dropped_packets") for job in bar.runs):
        axes.text(0, row, f" {batch_table.delivered(bar.runs)}", va="center", fontsize=6.5)


def _numbers(bars: Sequence[_Bar], series: str) -> pl.DataFrame:
    kept = ("batch_packets", "batch_delivered_packets")
    rows = []
    for bar in bars:
        if bar.series != series:
            continue
        mean = batch_table.mean(bar.runs)
        sums = {key: sum(job[key] for job in bar.runs) for key in kept}
        half = {"completion_cycles_ci95_half_width": mean and mean.half_width}
        rows.append({"job": bar.job, "completion_cycles": mean and mean.value, **half, "runs": len(bar.runs), **sums})
    kinds = dict.fromkeys(("completion_cycles", "completion_cycles_ci95_half_width"), pl.Float64)
    return pl.DataFrame(rows, schema_overrides=kinds)


def _fill(series: int) -> dict[str, Any]:
    """Colour and hatching of the bars of a series.

    Colour and hatching together distinguish twice as many series as there are kinds of hatching.
    """
    turn, place = divmod(series, len(style.HATCHES))
    return style.fill(place) | {"hatch": style.HATCHES[(place + turn) % len(style.HATCHES)] * (1 + turn)}
