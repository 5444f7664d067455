"""Draws the distribution of the latencies of points. Three kinds of figures use this code: PDF, CDF and CCDF."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from weft.errors import ResultsError
from weft.plot import numbers, style
from weft.results import of_jobs, soundness
from weft.results import quantities as q

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice, Spot

    Floats = npt.NDArray[np.float64]
    # A line over latency: the latencies, a function that computes the heights of the line from the number of packets of
    # each latency, and the style in which matplotlib joins these heights.
    Line = tuple[Floats, Callable[[Floats], Floats], Literal["steps-pre", "steps-post"]]

# Maximum number of horizontal and vertical steps of a line that are visible on paper. Then the greatest ratio of
# highest to lowest latency for a linear axis.
_ACROSS, _UP = 1500, 1500
_WIDE = 30
_PALE = 0.25


@dataclass(frozen=True)
class Seen:
    """The latencies of packets that a curve shows.

    Attributes
    ----------
    label : str
        Name of the curve.
    values : array
        Latencies [cycles] in ascending order.
    runs : list of array
        Number of packets with each latency, for each seed.
    """

    label: str
    values: Floats
    runs: list[Floats]

    @property
    def packets(self) -> Floats:
        """Number of packets with each latency, over all seeds."""
        packets: Floats = np.sum(self.runs, axis=0)
        return packets


def latencies(choice: Choice) -> tuple[list[Seen], list[Artist]]:
    """The latencies of each curve, and legend entries for the curves without latencies.

    A curve shows a point, or a job of a point if the user names jobs. Points that differ only in their seed share one
    curve.

    Raises
    ------
    ResultsError
        If a named job does not exist, if its latencies were not recorded, or if no curve has packets.
    """
    curves: list[list[tuple[Spot, list[list[int]]]]] = []
    for spots in choice.over_seeds():
        by_run = [
            _of_jobs(spot, choice.jobs) if choice.jobs else [(spot, spot.summary.get("latency_histogram", []))]
            for spot in spots
        ]
        curves += map(list, zip(*by_run, strict=True))
    seen = [_together(runs) for runs in curves]
    empty = [runs[0][0] for runs, each in zip(curves, seen, strict=True) if not each.values.size]
    absent = without_packets(empty, "latencies", of=len(curves))
    return [each for each in seen if each.values.size], absent


def _together(runs: Sequence[tuple[Spot, list[list[int]]]]) -> Seen:
    """The combined latencies of runs that differ only in their seed."""
    pairs = [np.asarray(kept, dtype=np.float64).reshape(-1, 2) for _, kept in runs]
    values = np.unique(np.concatenate([pair[:, 0] for pair in pairs]))
    packets = []
    for pair in pairs:
        packets.append(np.zeros(len(values)))
        packets[-1][np.searchsorted(values, pair[:, 0])] = pair[:, 1]
    labels = {spot.label for spot, _ in runs}
    # the longest label, because only the labels of some runs may contain a state such as `(saturated)`
    label = max(labels, key=len)
    return Seen(label if len(labels) == 1 else f"{label.removesuffix(')')}, some seeds)", values, packets)


def _of_jobs(spot: Spot, wanted: Sequence[str]) -> list[tuple[Spot, list[list[int]]]]:
    """The requested jobs of a point, each with the name of its curve and its latencies."""
    jobs = {job["job"]: job for job in of_jobs.of(spot.summary)}
    names = list(jobs) if "all" in wanted else list(dict.fromkeys(wanted))
    if absent := [name for name in names if name not in jobs]:
        what = f"{spot.name} of {spot.results.root} has no job {absent[0]!r}"
        raise ResultsError.saying(what, f"its jobs are {', '.join(jobs)}; `all` means all jobs")
    signs = dict(zip(jobs, of_jobs.signs(spot.summary), strict=True))
    curves = []
    for name in names:
        kept = of_jobs.latencies(spot.summary, jobs[name])
        if kept is None:
            what = f"{spot.name} of {spot.results.root}: an older Weft did not store latencies by job"
            raise ResultsError.saying(what, f"run it again: {spot.results.command or 'its scenario'} --force")
        words = "cut off" if signs[name] == soundness.CUT_SIGN else "saturated"
        ending = f" ({words})" if signs[name] in soundness.ENDED else ""
        label = ", ".join(filter(None, [spot.place, name]))
        curves.append((replace(spot, label=label + ending), kept))
    return curves


def without_packets(spots: Sequence[Spot], what: str, *, of: int) -> list[Artist]:
    """Entries of the legend for points that have no packets to draw.

    Raises
    ------
    ResultsError
        If none of the points of the figure, whose number is `of`, has packets to draw.
    """
    if len(spots) == of:
        first = f"{spots[0].name} of {spots[0].results.root}"
        text = f"{first}{f' and {of - 1} more' if of > 1 else ''} has no {what}: no packet of the window was delivered"
        raise ResultsError.saying(text, "choose another point")
    return [Line2D([], [], linestyle="", label=f"{spot.label}: no packet delivered") for spot in spots]


def figure(choice: Choice, label: str, column: str, line: Callable[[Floats, Floats], Line]) -> Figure:
    """Draws a panel with a line over latency for each curve. The range over the seeds is shaded around the line.

    `line` makes a line from latencies and their numbers of packets. `label` is the label of the vertical axis, and
    `column` is the name of its values in the numbers of the figure.
    """
    seen, absent = latencies(choice)
    looks = style.looks([each.label for each in seen])
    handles = [*style.entries(looks, saturated=False), *absent]
    if seeds := max((len(each.runs) for each in seen if len(each.runs) > 1), default=0):
        handles.append(Patch(facecolor=style.GREY, alpha=_PALE, label=f"{seeds} seeds combined, and their range"))
    mixed = not choice.jobs and any(len(of_jobs.of(summary)) > 1 for summary in choice.summaries)
    title = f"{choice.title} (all jobs together)" if mixed else choice.title
    drawing = style.canvas(title, handles, width=style.COLUMN, height=2.3)
    axes = drawing.add_subplot()
    axes.set_xlabel(q.PACKET_LATENCY.axis)
    axes.set_ylabel(label)
    if wide(min(each.values[0] for each in seen), max(each.values[-1] for each in seen)):
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter("")
    drawing.numbers = numbers.of_series(
        (each.label, _drawn(axes, each, column, line(each.values, each.packets), looks[each.label])) for each in seen
    )
    return drawing


def _drawn(axes: Axes, seen: Seen, column: str, line: Line, look: style.Look) -> pl.DataFrame:
    """Draw a curve and the range over its seeds, and return the numbers of the curve."""
    x, heights, steps = line
    y = heights(seen.packets)
    axes.plot(x, y, drawstyle=steps, label=seen.label, **look.dense)
    found = {"latency_cycles": x, column: y}
    runs = [heights(packets) for packets in seen.runs if packets.any()]
    if len(seen.runs) > 1:
        low, high = np.min(runs, axis=0), np.max(runs, axis=0)
        step: Any = steps.removeprefix("steps-")
        colour = look.line["color"]
        axes.fill_between(x, low, high, step=step, color=colour, alpha=_PALE, linewidth=0, label=f"_range {seen.label}")
        found |= {f"{column}_least_seed": low, f"{column}_most_seed": high}
    return pl.DataFrame(found)


def wide(low: float, high: float) -> bool:
    """Whether the latencies span a range that is too wide for a linear axis."""
    return high > _WIDE * max(1.0, low)


def thin(values: Floats, heights: Floats) -> npt.NDArray[np.intp]:
    """Indices of the steps of a line to draw, if it has more steps than are visible.

    If several steps have the same place on paper, only the first is drawn. The last step is always drawn.
    """
    if len(values) <= 2 * _ACROSS:
        return np.arange(len(values))
    places = [
        np.floor(steps * (each - each[0]) / ((each[-1] - each[0]) or 1))
        for each, steps in ((np.log(np.maximum(values, 1)), _ACROSS), (heights, _UP))
    ]
    new = np.any([np.diff(place, prepend=-1) != 0 for place in places], axis=0)
    new[-1] = True
    return np.flatnonzero(new)
