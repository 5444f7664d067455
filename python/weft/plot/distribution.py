"""The distribution of the latencies of a point: code that three figures of it share."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl
from matplotlib.lines import Line2D

from weft.errors import ResultsError
from weft.plot import numbers, style
from weft.results import of_jobs, soundness
from weft.results import quantities as q

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice, Spot

    Floats = npt.NDArray[np.float64]
    # Coordinates of the corners of a line, and how matplotlib joins them.
    Line = tuple[Floats, Floats, Literal["steps-pre", "steps-post"]]

# Most steps that a printed line can show, across and up; greatest ratio of latencies on a linear axis.
_ACROSS, _UP = 1500, 1500
_WIDE = 30


def latencies(choice: Choice) -> tuple[list[tuple[Spot, Floats, Floats]], list[Artist]]:
    """For each curve its latencies [cycles] in ascending order, and their packets; and the curves without any.

    A curve is a point, or a job of a point where the choice names jobs.

    Raises
    ------
    ResultsError
        If there is no such job, if its latencies were not kept, or if no curve has packets.
    """
    spots = choice.spots()
    curves = (
        [curve for spot in spots for curve in _of_jobs(spot, choice.jobs)]
        if choice.jobs
        else [(spot, spot.summary.get("latency_histogram", [])) for spot in spots]
    )
    pairs = [(spot, np.asarray(kept, dtype=np.float64).reshape(-1, 2)) for spot, kept in curves]
    absent = without_packets([spot for spot, seen in pairs if not seen.size], "latencies", of=len(pairs))
    return [(spot, seen[:, 0], seen[:, 1]) for spot, seen in pairs if seen.size], absent


def _of_jobs(spot: Spot, wanted: Sequence[str]) -> list[tuple[Spot, list[list[int]]]]:
    """The jobs of a point that are wanted, as curves with names of their own, each with its latencies."""
    jobs = {job["job"]: job for job in of_jobs.of(spot.summary)}
    names = list(jobs) if "all" in wanted else list(dict.fromkeys(wanted))
    if absent := [name for name in names if name not in jobs]:
        what = f"{spot.name} of {spot.results.root} has no job {absent[0]!r}"
        raise ResultsError.saying(what, f"its jobs are {', '.join(jobs)}; `all` stands for all of them")
    curves = []
    for name in names:
        kept = of_jobs.latencies(spot.summary, jobs[name])
        if kept is None:
            what = f"{spot.name} of {spot.results.root}: an older Weft kept no latencies by job"
            raise ResultsError.saying(what, f"run it again: {spot.results.command or 'its scenario'} --force")
        ending = " (saturated)" if of_jobs.sign(spot.summary, jobs[name]) in soundness.ENDED else ""
        label = ", ".join(filter(None, [spot.place, name]))
        curves.append((replace(spot, label=label + ending), kept))
    return curves


def without_packets(spots: Sequence[Spot], what: str, *, of: int) -> list[Artist]:
    """Entries of the legend for points that have nothing to draw.

    Raises
    ------
    ResultsError
        If these are all `of` the points of the figure.
    """
    if len(spots) == of:
        first = f"{spots[0].name} of {spots[0].results.root}"
        told = f"{first}{f' and {of - 1} more' if of > 1 else ''} has no {what}: no packet of the window was delivered"
        raise ResultsError.saying(told, "choose another point")
    return [Line2D([], [], linestyle="", label=f"{spot.label}: no packet delivered") for spot in spots]


def figure(choice: Choice, label: str, column: str, line: Callable[[Floats, Floats], Line]) -> Figure:
    """A panel with a line per point over latency; `line` gives its corners from latencies and packets.

    `label` stands at the vertical axis, `column` is the name of its values in the numbers of the figure.
    """
    seen, absent = latencies(choice)
    looks = style.looks([spot.label for spot, _, _ in seen])
    handles = [*style.entries(looks, saturated=False), *absent]
    mixed = not choice.jobs and any(len(of_jobs.of(summary)) > 1 for summary in choice.summaries)
    title = f"{choice.title} (all jobs together)" if mixed else choice.title
    drawing = style.canvas(title, handles, width=style.COLUMN, height=2.3)
    axes = drawing.add_subplot()
    axes.set_xlabel(q.PACKET_LATENCY.axis)
    axes.set_ylabel(label)
    if wide(min(values[0] for _, values, _ in seen), max(values[-1] for _, values, _ in seen)):
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter("")
    frames = []
    for spot, values, packets in seen:
        x, y, steps = line(values, packets)
        frames.append((spot.label, pl.DataFrame({"latency_cycles": x, column: y})))
        axes.plot(x, y, drawstyle=steps, label=spot.label, **looks[spot.label].dense)
    drawing.numbers = numbers.of_series(frames)
    return drawing


def wide(low: float, high: float) -> bool:
    """Whether the latencies span too wide a range for a linear axis."""
    return high > _WIDE * max(1.0, low)


def thin(values: Floats, heights: Floats) -> npt.NDArray[np.intp]:
    """Which of very many steps to draw: of those that fall on the same place the first, and the very last."""
    if len(values) <= 2 * _ACROSS:
        return np.arange(len(values))
    places = [
        np.floor(steps * (each - each[0]) / ((each[-1] - each[0]) or 1))
        for each, steps in ((np.log(np.maximum(values, 1)), _ACROSS), (heights, _UP))
    ]
    new = np.any([np.diff(place, prepend=-1) != 0 for place in places], axis=0)
    new[-1] = True
    return np.flatnonzero(new)
