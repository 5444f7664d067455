"""Draws energy to solution (from start to end) over run time of programs, with the Pareto front.

A line connects the points on the Pareto front: no other point is better in one quantity and at least as good in the
other.

A marker is the mean over seeds, with the 95 % confidence intervals of energy and run time. Points whose programs did
not end are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl
from matplotlib.lines import Line2D

from weft.errors import ResultsError
from weft.plot import style
from weft.plot.kinds import KINDS, PROGRAMS
from weft.results import of_programs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from weft.plot.choice import Choice
    from weft.results.confidence import Mean

# Upper ends of the axes, as a multiple of the largest mean.
_ROOM = 1.12
# Maximum number of points that the figure can show, including points that differ only in their seed.
_POINTS = 600
_FRONT: dict[str, Any] = {
    "color": style.GREY,
    "linewidth": 1,
    "linestyle": "--",
    "drawstyle": "steps-post",
    "zorder": 1,
}
# Units of the axes. Each has the value [us or uJ] up to which the unit is used, its name, and the factor from us or uJ.
_TIMES = ((1e3, "us", 1.0), (1e6, "ms", 1e-3), (float("inf"), "s", 1e-6))
_ENERGIES = ((1e3, "uJ", 1.0), (1e6, "mJ", 1e-3), (float("inf"), "J", 1e-6))


@dataclass(frozen=True)
class _Spot:
    """Points that differ only in their seed, with their mean run time [us] and mean energy [uJ]."""

    name: str
    time: Mean
    energy: Mean


def figure(choice: Choice) -> Figure:
    """Draws a marker for each group of points that differ only in seed, and a line along the Pareto front."""
    spots = _spots(choice)
    looks = style.looks([spot.name for spot in spots])
    best = front(spots)
    entries = style.entries(looks, saturated=False) if len(spots) > 1 else []
    if len(best) > 1:
        entries.append(Line2D([], [], label="no other point is better in both", **_FRONT))
    drawing = style.canvas(choice.title, entries, width=style.COLUMN, height=2.4)
    axes = drawing.add_subplot()
    time, by_time = _unit([spot.time.value for spot in spots], _TIMES)
    energy, by_energy = _unit([spot.energy.value for spot in spots], _ENERGIES)
    for spot in spots:
        x, y = spot.time.value * by_time, spot.energy.value * by_energy
        axes.plot([x], [y], label=spot.name, **looks[spot.name].full)
        halves = [(mean.half_width or 0.0) * by for mean, by in ((spot.time, by_time), (spot.energy, by_energy))]
        if any(halves):
            axes.errorbar(x, y, xerr=halves[0], yerr=halves[1], **style.ERROR_BAR)
    axes.plot(
        [spot.time.value * by_time for spot in best],
        [spot.energy.value * by_energy for spot in best],
        label="_front",
        **_FRONT,
    )
    axes.set_xlabel(f"{of_programs.RUN_TIME.label} [{time}]")
    axes.set_ylabel(f"{of_programs.ENERGY.label} [{energy}]")
    axes.set_xlim(0, _ROOM * max(spot.time.value for spot in spots) * by_time)
    axes.set_ylim(0, _ROOM * max(spot.energy.value for spot in spots) * by_energy)
    drawing.numbers = _numbers(spots, best)
    return drawing


def front(spots: Sequence[_Spot]) -> list[_Spot]:
    """The Pareto front, fastest point first: no other point is better in one quantity and as good in the other."""
    best: list[_Spot] = []
    for spot in sorted(spots, key=lambda each: (each.time.value, each.energy.value)):
        if not best or spot.energy.value < best[-1].energy.value:
            best.append(spot)
    return best


def _spots(choice: Choice) -> list[_Spot]:
    found = []
    for spots in choice.seeds(_POINTS).values():
        runs = [spot.summary for spot in spots]
        time, energy = (of_programs.mean_of(runs, each) for each in (of_programs.RUN_TIME, of_programs.ENERGY))
        if time is not None and energy is not None:
            found.append(_Spot(spots[0].place or choice.title, time, energy))
    if not found:
        what = f"{choice.title}: there is no point in which every job runs a program that ended"
        raise ResultsError.saying(what, f"set {KINDS[PROGRAMS].needs} and run the point again")
    return found


def _unit(values: Sequence[float], units: Sequence[tuple[float, str, float]]) -> tuple[str, float]:
    most = max(values)
    return next((unit, by) for limit, unit, by in units if most < limit)


def _numbers(spots: Sequence[_Spot], best: Sequence[_Spot]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "series": [spot.name for spot in spots],
            of_programs.RUN_TIME.column: [spot.time.value for spot in spots],
            "solution_ci95_us": [spot.time.half_width for spot in spots],
            of_programs.ENERGY.column: [spot.energy.value for spot in spots],
            "solution_energy_ci95_uj": [spot.energy.half_width for spot in spots],
            "best": [spot in best for spot in spots],
        }
    )
