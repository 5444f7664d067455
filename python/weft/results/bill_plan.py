"""Refuses a bill (yearly cost) before the runs if it names loads, phases or a baseline that no point measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.errors import ResultsError
from weft.results.bill_baseline import Baseline
from weft.results.bill_keys import Bill
from weft.results.bill_points import UnbillableError, check_phase, planned, refuse_changes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft._engine import Point
    from weft.results.bill_keys import Part
    from weft.results.bill_points import Series

_OTHERWISE = ", or add `--set bill=null` for a run without a bill"


def check(points: Sequence[Point]) -> None:
    """Refuse, before the runs, a bill that cannot be computed, whatever the results of the points are.

    Raises
    ------
    ScenarioError
        If the scenario has such a bill. The error names the place of the wrong part of the profile, or of the baseline.
    """
    keys = points[0].resolved.get("bill")
    if not keys:
        return
    bill = Bill.of(keys)
    all_series = planned(points, by_phase=bill.by_phase)
    if all_series is None:
        return
    phases = max(point.phases() for point in (points if bill.by_phase else points[:1]))
    try:
        Baseline(bill, all_series)
    except ResultsError as problem:
        raise points[0].refusal(problem.path, problem.what, problem.help + _OTHERWISE) from problem
    problems = [_problem(bill, each, phases) for each in all_series]
    if problems and (first := problems[0]) and all(problems):
        part, why = first
        raise points[0].refusal(part.path, why.what, why.help + _OTHERWISE) from why


def _problem(bill: Bill, series: Series, phases: int) -> tuple[Part, UnbillableError] | None:
    """The first part of a bill's profile that a series will not measure, and the reason; ``None`` if there is none."""
    for part in bill.parts:
        try:
            if part.phase is not None:
                check_phase(part.phase, phases)
            elif part.load is not None:
                series.find(part.load)
                refuse_changes(part.load, phases)
        except UnbillableError as why:
            return part, why
    return None
