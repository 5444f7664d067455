"""Code for all figures over time: the time axis with marks at special cycles, and lines made from samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.plot import style
from weft.results import quantities as q

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from weft.plot.choice import Spot


def axis(axes: Axes, spot: Spot, end: float) -> None:
    """Label a time axis, set its end, and draw the marks of `mark`."""
    axes.set_xlabel(q.TIME.axis)
    axes.set_xlim(0, end)
    mark(axes, spot)


def mark(axes: Axes, spot: Spot) -> None:
    """Mark the two ends of the measured window of a point, and the cycles that `changes` returns."""
    style.mark_window(axes, spot.summary["warmup_cycles"], spot.summary["window_cycles"])
    style.mark_changes(axes, changes(spot))


def entries(spots: Iterable[Spot]) -> list[Artist]:
    """Entries of the legend for the marks of `mark`."""
    return [style.window_entry(), *([style.change_entry()] if any(map(changes, spots)) else [])]


def changes(spot: Spot) -> list[int]:
    """Cycles in which a later phase of the load begins, or in which a part of the network fails or works again."""
    episodes = spot.summary.get("fault_episodes") or []
    cycles = {phase["start_cycle"] for phase in spot.summary.get("phases") or []}
    cycles |= {cycle for each in episodes for cycle in (each["from_cycle"], each.get("to_cycle"))} - {None}
    return sorted(cycles - {0})


def steps(frame: pl.DataFrame, column: str) -> tuple[list[float], list[float]]:
    """Corners of a step line (``steps-post``) that shows the value of each sample over its interval."""
    times = [float(cycle) for cycle in frame["from_cycle"]]
    values = [float(value) for value in frame[column]]
    return [*times, times[-1] + float(frame["interval_cycles"][-1])], [*values, values[-1]]
