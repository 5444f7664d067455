"""Phases of a load that changes: loads, latency and power of each, over time.

A saturated phase has no latency: a hollow marker stands at the upper edge in its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
from matplotlib.lines import Line2D

from weft.errors import ResultsError
from weft.plot import style
from weft.plot.kinds import KINDS
from weft.results import quantities as q

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from weft.plot.choice import Choice
    from weft.plot.style import Picture

_ALWAYS_ON = q.POWERS[0].always_on
# For each panel, label of its axis, then its lines: column, name in the legend, and look.
_PANELS: tuple[tuple[str, tuple[tuple[str, str, dict[str, Any]], ...]], ...] = (
    (
        "Load [flits/terminal/cycle]",
        (
            (q.SET_LOAD.column, "as set", {"color": "#777777", "linestyle": ":"}),
            (q.OFFERED.column, "offered", {"color": "#D55E00", "linestyle": "--"}),
            (q.ACCEPTED.column, "accepted, measured", {"color": "#0072B2", "linestyle": "-"}),
        ),
    ),
    (q.LATENCY.axis, ((q.LATENCY.column, "", {"color": "#0072B2", "linestyle": "-"}),)),
    (
        q.POWER.axis,
        (
            (q.POWER.column, "", {"color": "#0072B2", "linestyle": "-"}),
            (_ALWAYS_ON.column, "always on", {"color": "#777777", "linestyle": "-."}),
        ),
    ),
)
_HEIGHT = 1.6


def figure(choice: Choice) -> Picture:
    """Three panels below each other with one axis of time; a step per phase that the window reaches.

    Raises
    ------
    ResultsError
        If the load does not change.
    """
    spot = choice.spot()
    phases = [phase for phase in spot.summary.get("phases", []) if phase.get("from_cycle") is not None]
    if not phases:
        what = f"{choice.title}: the load does not change in phases"
        raise ResultsError.saying(what, f"set {KINDS['phases'].needs} and run the point")
    over = [phase for phase in phases if phase["saturated"]]
    handles = [Line2D([], [], label=name, **look) for _, lines in _PANELS for _, name, look in lines if name]
    drawing = style.canvas(
        choice.title,
        [*handles, *style.entries({}, saturated=bool(over))],
        width=style.COLUMN,
        height=_HEIGHT * len(_PANELS),
    )
    panels = style.grid(drawing, len(_PANELS), 1)
    for axes, (label, lines) in zip(panels, _PANELS, strict=True):
        axes.sharex(panels[0]) if axes is not panels[0] else None
        axes.set_ylabel(label.replace(" [", "\n["))
        for column, name, look in lines:
            _steps(axes, phases, column, name or column, look)
        axes.set_ylim(bottom=0)
    top = panels[1].get_ylim()[1]
    middles = [(phase["from_cycle"] + phase["to_cycle"]) / 2 for phase in over]
    panels[1].set_ylim(0, top)
    panels[1].plot(middles, [top] * len(over), **style.SATURATED_ON_EDGE)
    panels[-1].set_xlabel(q.TIME.axis)
    drawing.numbers = _numbers(phases)
    return drawing


def _numbers(phases: list[dict[str, Any]]) -> pl.DataFrame:
    """A row per phase; a latency is null where the phase is saturated."""
    columns = [column for _, lines in _PANELS for column, _, _ in lines]
    rows = [{key: phase.get(key) for key in ("from_cycle", "to_cycle", "saturated", *columns)} for phase in phases]
    frame = pl.DataFrame(rows, schema_overrides={"saturated": pl.Boolean})
    over = pl.col("saturated").fill_null(value=False)
    return frame.with_columns(pl.when(~over).then(pl.col(q.LATENCY.column)))


def _steps(axes: Axes, phases: list[dict[str, Any]], column: str, name: str, look: dict[str, Any]) -> None:
    """A level line per phase; none where a number is not known, nor for the latency of a saturated phase."""
    for phase in phases:
        value = phase.get(column)
        if value is not None and not (phase["saturated"] and column == q.LATENCY.column):
            axes.plot([phase["from_cycle"], phase["to_cycle"]], [value, value], label=name, **look)
