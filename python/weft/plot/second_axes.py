"""Adds axes in microseconds or Gb/s next to axes in cycles or flits.

This is possible if all points have the same length of a cycle and the same size of a flit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.errors import ResultsError
from weft.results import quantities as q
from weft.results import si_units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from matplotlib.axes import Axes

# Unit of the second axis, by the unit of the first axis, in which the simulator counts.
_BESIDE = {q.LATENCY.unit: q.LATENCY_US.unit, q.OFFERED.unit: q.OFFERED_GBPS.unit}


def add(panels: Iterable[Axes], summaries: Sequence[Mapping[str, Any]]) -> None:
    """Add a second axis to each axis whose unit can be converted.

    Raises
    ------
    ResultsError
        If points differ in the length of a cycle or the size of a flit, because one second axis then cannot fit all
        points.
    """
    for axes in panels:
        if unit := _unit(axes.get_xlabel()):
            above = axes.secondary_xaxis("top", functions=_functions(summaries, unit))
            above.set_xlabel(f"[{_BESIDE[unit]}]")
        if unit := _unit(axes.get_ylabel()):
            right = axes.secondary_yaxis("right", functions=_functions(summaries, unit))
            right.set_ylabel(f"[{_BESIDE[unit]}]")


def _unit(label: str) -> str:
    """The unit of the simulator in the label of an axis; empty if the label has no such unit."""
    return next((unit for unit in _BESIDE if f"[{unit}]" in label.replace("\n", " ")), "")


def _functions(summaries: Sequence[Mapping[str, Any]], unit: str) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """Two functions that convert values from the unit of the simulator to the unit of the second axis, and back."""
    by = _factor(summaries, unit)
    return (lambda value: value * by), (lambda value: value / by)


def _factor(summaries: Sequence[Mapping[str, Any]], unit: str) -> float:
    factors = {si_units.factor(summary, unit) for summary in summaries}
    (by,) = factors if len(factors) == 1 else (None,)
    if by is None:
        what = "--units si: the points of this figure differ in the length of their cycle or flit"
        raise ResultsError.saying(what, "choose points with the same cycle and flit, or a figure over load")
    return by
