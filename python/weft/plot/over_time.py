"""Code that the figures over time share: the axis of time, and lines made of samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.plot import style
from weft.results import quantities as q

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes

    from weft.plot.choice import Spot


def axis(axes: Axes, spot: Spot, end: float) -> None:
    """An axis of time on which the measured window is framed."""
    axes.set_xlabel(q.TIME.axis)
    axes.set_xlim(0, end)
    style.mark_window(axes, spot.summary["warmup_cycles"], spot.summary["window_cycles"])


def steps(frame: pl.DataFrame, column: str) -> tuple[list[float], list[float]]:
    """Corners of a line that keeps each sample's value for its interval, with ``steps-post``."""
    times = [float(cycle) for cycle in frame["from_cycle"]]
    values = [float(value) for value in frame[column]]
    return [*times, times[-1] + float(frame["interval_cycles"][-1])], [*values, values[-1]]
