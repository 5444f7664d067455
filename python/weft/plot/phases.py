"""Draws load, latency and power of each phase over time, for a load that changes in phases.

The panels can show several points.

The latency of a saturated phase is not drawn, because it depends on the length of the run. Instead, the phase has a
hollow marker at the upper edge. A cross marks a latency that is not reliable: the phase had not settled, Weft cannot
judge it, or packets were dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
from matplotlib.lines import Line2D

from weft.errors import ResultsError
from weft.plot import numbers, over_load, style
from weft.plot.kinds import KINDS
from weft.results import quantities as q
from weft.results import soundness

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from weft.plot.choice import Choice, Spot
    from weft.plot.kinds import KindName
    from weft.plot.style import Look, Picture

_ALWAYS_ON = q.POWERS[0].always_on
_DOTTED: dict[str, Any] = {"color": style.GREY, "linestyle": ":", "linewidth": 1}
# Lines in each panel if the figure shows a single point: column of the values, name in the legend, and look of the
# line.
_OF_ONE: tuple[tuple[tuple[str, str, dict[str, Any]], ...], ...] = (
    (
        (q.SET_LOAD.column, "configured", _DOTTED),
        (q.OFFERED.column, "offered", {"color": "#D55E00", "linestyle": "--"}),
        (q.ACCEPTED.column, "accepted, measured", {"color": "#0072B2", "linestyle": "-"}),
    ),
    ((q.LATENCY.column, "", {"color": "#0072B2", "linestyle": "-"}),),
    (
        (q.POWER.column, "", {"color": "#0072B2", "linestyle": "-"}),
        (_ALWAYS_ON.column, "always on", {"color": style.GREY, "linestyle": "-."}),
    ),
)
_LABELS = ("Load [flits/terminal/cycle]", q.LATENCY.axis, q.POWER.axis)
_COLUMNS = (q.SET_LOAD, q.OFFERED, q.ACCEPTED, q.LATENCY, q.POWER, _ALWAYS_ON)
_HEIGHT = 1.6
KIND: KindName = "phases"


def figure(choice: Choice) -> Picture:
    """Draws three panels, one below the other, with a common time axis.

    Each phase that overlaps the measured window is a horizontal piece of each line.

    Raises
    ------
    ResultsError
        If the load of a point does not change.
    """
    spots = choice.spots()
    measured = [_measured(choice, spot) for spot in spots]
    over = [[phase for phase in phases if phase["saturated"]] for phases in measured]
    late = list(map(_late, measured))
    looks = style.looks([spot.label for spot in spots])
    handles = (
        [Line2D([], [], label=name, **look) for lines in _OF_ONE for _, name, look in lines if name]
        if len(spots) == 1
        else [Line2D([], [], label="configured load", **_DOTTED), *style.entries(looks, saturated=False)]
    )
    drawing = style.canvas(
        choice.title,
        [*handles, *style.entries({}, saturated=any(over)), *over_load.cross_entries(late)],
        width=style.COLUMN,
        height=_HEIGHT * len(_LABELS),
    )
    panels = style.grid(drawing, len(_LABELS), 1)
    for axes, label in zip(panels, _LABELS, strict=True):
        axes.sharex(panels[0]) if axes is not panels[0] else None
        axes.set_ylabel(label.replace(" [", "\n["))
    if len(spots) == 1:
        for axes, lines in zip(panels, _OF_ONE, strict=True):
            for column, name, look in lines:
                _steps(axes, measured[0], column, name or column, look)
    else:
        _beside(panels, measured, looks)
    for axes in panels:
        axes.set_ylim(bottom=0)
    _marks(panels[1], over, late, [looks[spot.label].line["color"] for spot in spots])
    panels[-1].set_xlabel(q.TIME.axis)
    drawing.numbers = numbers.of_series(
        zip([spot.label for spot in spots if len(spots) > 1] or [""], map(_numbers, measured), strict=True)
    )
    return drawing


def reached(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """The phases of a point that overlap the window, each with its flaws; empty if the load does not change."""
    return [phase for phase in soundness.in_phases(summary) if phase.get("from_cycle") is not None]


def _measured(choice: Choice, spot: Spot) -> list[dict[str, Any]]:
    """The phases of a point that overlap the window, each with its flaws.

    Raises a `ResultsError` if the point has no such phases.
    """
    phases = reached(spot.summary)
    if not phases:
        what = f"{spot.name or choice.title}: the load does not change in phases"
        raise ResultsError.saying(what, f"set {KINDS[KIND].needs} and run the point")
    return phases


def _beside(panels: Sequence[Axes], measured: Sequence[list[dict[str, Any]]], looks: dict[str, Look]) -> None:
    """Draw a line per point in each panel, and the loads that the scenarios set.

    The lines of these loads all have the same look, because several points often have the same loads.
    """
    for phases in measured:
        _steps(panels[0], phases, q.SET_LOAD.column, "configured load", _DOTTED)
    for axes, quantity in zip(panels, (q.ACCEPTED, q.LATENCY, q.POWER), strict=True):
        for phases, (label, look) in zip(measured, looks.items(), strict=True):
            _steps(axes, phases, quantity.column, label, look.line)


def _marks(
    axes: Axes, over: Sequence[list[dict[str, Any]]], late: Sequence[pl.DataFrame], colours: Sequence[str]
) -> None:
    """Draw hollow markers on the upper edge for saturated phases, and crosses on latencies that are not reliable."""
    top = axes.get_ylim()[1]
    axes.set_ylim(0, top)
    for phases, frame, colour in zip(over, late, colours, strict=True):
        look = style.SATURATED_ON_EDGE | ({"color": colour} if len(over) > 1 else {})
        axes.plot(list(map(_middle, phases)), [top] * len(phases), **look)
        over_load.cross_out(axes, frame, "middle", q.LATENCY.column)


def _middle(phase: dict[str, Any]) -> float:
    return float(phase["from_cycle"] + phase["to_cycle"]) / 2


def _late(phases: list[dict[str, Any]]) -> pl.DataFrame:
    """The phases with a latency, as rows from which `over_load.cross_out` selects those that get a cross."""
    rows = [
        {
            "middle": _middle(phase),
            q.LATENCY.column: phase[q.LATENCY.column],
            "unsettled": soundness.mark(phase) == soundness.UNSETTLED_MARK,
            "unjudged": soundness.mark(phase) == soundness.UNJUDGED_MARK,
            "few": soundness.mark(phase) == soundness.FEW_MARK,
            "partial": soundness.mark(phase) == soundness.PERIOD_MARK,
            "dropping": soundness.mark(phase) == soundness.DROPPING_MARK,
        }
        for phase in phases
        if phase.get(q.LATENCY.column) is not None
    ]
    kinds: dict[str, Any] = dict.fromkeys(("unsettled", "unjudged", "dropping", "few", "partial"), pl.Boolean)
    return pl.DataFrame(rows, schema={"middle": pl.Float64, q.LATENCY.column: pl.Float64, **kinds})


def _numbers(phases: list[dict[str, Any]]) -> pl.DataFrame:
    """Numbers of the figure for a point: a row per phase, in which the latency of a saturated phase is null."""
    keys = ("from_cycle", "to_cycle", "saturated", *(quantity.column for quantity in _COLUMNS))
    rows = [{key: phase.get(key) for key in keys} | {"flaw": soundness.reason(phase)} for phase in phases]
    kinds = {"saturated": pl.Boolean, "flaw": pl.String}
    frame = pl.DataFrame(rows, schema_overrides=kinds)
    over = pl.col("saturated").fill_null(value=False)
    return frame.with_columns(pl.when(~over).then(pl.col(q.LATENCY.column)))


def _steps(axes: Axes, phases: list[dict[str, Any]], column: str, name: str, look: dict[str, Any]) -> None:
    """Draw the values of a column as a horizontal line per phase.

    A phase has no line if its value is unknown, or if the value is the latency of a saturated phase.
    """
    for phase in phases:
        value = phase.get(column)
        if value is not None and not (phase["saturated"] and column == q.LATENCY.column):
            axes.plot([phase["from_cycle"], phase["to_cycle"]], [value, value], label=name, **look)
