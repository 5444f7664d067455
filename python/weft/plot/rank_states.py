"""Draws a Gantt chart of a program: a row per rank with its states over the run, and a line for the critical path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import to_rgba
from matplotlib.lines import Line2D

from weft.errors import ResultsError
from weft.plot import link_states, over_time, style
from weft.results import critical_path, rank_grid

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice, Spot

LOOKS: dict[str, style.StateLook] = {
    critical_path.COMPUTE: ("#0072B2", ""),
    critical_path.OVERHEAD: ("#E69F00", "////"),
    critical_path.TRANSFER: ("#D55E00", "...."),
    critical_path.WAIT: ("#DDDDDD", ""),
}
# A span is the time of a rank in one state. If a chart has more spans than this number, it is drawn as a picture with
# cells. Each cell has the colour of the state that occupies most of the cell's time.
_MANY = 5_000
# Sizes [inches]: greatest height of a row; smallest and greatest height of all rows together.
_ROW, _LEAST, _MOST = 0.2, 1.5, 6.5
PATH: dict[str, Any] = {"color": "#000000", "linewidth": 0.6, "alpha": 0.8}


def figure(choice: Choice) -> Figure:
    """Draws the states of the ranks of one point."""
    spot = choice.spot()
    states = spans_of(spot)
    table, pairs = rank_grid.numbered(states)
    many = states.height > _MANY
    there = states["state"].unique()
    shown = {state: (colour, "" if many else hatch) for state, (colour, hatch) in LOOKS.items() if state in there}
    complete = spot.summary["rank_states_complete"]
    title = choice.title if complete else f"{choice.title} (cut off at measure.rank_states.max_spans)"
    found = [] if critical_path.flaw(spot.summary, states) else critical_path.paths(states)
    entries = [*style.state_entries(shown), *([Line2D([], [], label="critical path", **PATH)] if found else [])]
    height = min(_MOST, max(_LEAST, _ROW * len(pairs)))
    drawing = style.canvas(title, [*entries, *over_time.entries([spot])], width=style.PAGE, height=height)
    axes = drawing.add_subplot()
    if many:
        _cells(axes, states)
    else:
        link_states.gantt(axes, table.rename({"row": "channel"}), shown)
    for path in found:
        axes.plot(
            *line(path, {rank: row for row, (job, rank) in enumerate(pairs) if job == path.job}),
            label="critical path",
            **PATH,
        )
    axes.set_ylabel("Rank" if states["job"].n_unique() == 1 else "Ranks of the jobs, one job after the other")
    over_time.axis(axes, spot, float(states["to_cycle"].max()))  # type: ignore[arg-type] # a number
    drawing.numbers = states
    return drawing


def line(path: critical_path.Path, rows: dict[int, int]) -> tuple[list[int], list[int]]:
    """Coordinates of the corners of the line that shows a critical path: cycles and rows."""
    first = path.steps[0]
    cycles, places = [first.from_cycle], [rows[first.origin]]
    for step in path.steps:
        cycles.append(step.to_cycle)
        places.append(rows[step.rank])
    return cycles, places


def _cells(axes: Axes, states: pl.DataFrame) -> None:
    made = rank_grid.grid(states)
    colours = np.array([*(to_rgba(LOOKS[state][0]) for state in critical_path.STATES), (1, 1, 1, 0)])
    height = made.cells.shape[0] * made.ranks_per_row
    axes.imshow(
        colours[made.cells],
        extent=(0, made.end, height - 0.5, -0.5),
        aspect="auto",
        interpolation="nearest",
    )
    axes.set_ylim(made.ranks - 0.5, -0.5)
    axes.grid(visible=False)


def spans_of(spot: Spot) -> pl.DataFrame:
    """The spans of the states of all ranks of a point.

    Raises
    ------
    ResultsError
        If the spans were not recorded, or no job runs a program.
    """
    states = spot.results.recorded(spot.point, "rank_states")
    if states.is_empty():
        what = f"{spot.name} of {spot.results.root}: no job runs a program, so there are no ranks"
        raise ResultsError.saying(what, "give a job a workload `programs`, and run the point again")
    return states
