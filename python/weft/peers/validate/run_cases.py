"""Runs the cases: every row with several seeds, all rows side by side."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from weft.errors import ScenarioError
from weft.peers.validate.case import Numbers
from weft.peers.validate.judge import Ours, Verdict, judge
from weft.results import quantities as q
from weft.runs import memory
from weft.runs.execute import execute
from weft.scenario.scenario import Scenario
from weft.text.labels import at

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weft._engine import Finished, Point
    from weft.peers.validate.case import Case
    from weft.runs.execute import Status


def validate(
    cases: Sequence[Case],
    *,
    seeds: int,
    jobs: int | None,
    force_memory: bool = False,
    watch: Callable[[Status], None] | None = None,
) -> list[Verdict]:
    """Run every case that Weft can express and judge all.

    Parameters
    ----------
    cases : sequence of Case
        Rows, of any peers.
    seeds : int
        Runs of each case; 5 or more for a meaningful standard deviation.
    jobs : int, optional
        Runs at a time, by default as many as there are cores.
    force_memory : bool
        Run even if the runs at a time need more memory than there is left.
    watch : callable, optional
        Told the `Status` now and then.

    Raises
    ------
    ScenarioError
        If the runs need too much memory.
    """
    cases = list(cases)
    owners: list[int] = []
    points: list[Point] = []
    bounds: dict[int, float | None] = {}
    for place, case in enumerate(cases):
        try:
            expanded, bounds[place] = _expand(case, seeds)
        except ScenarioError as refused:
            cases[place] = replace(case, scenario=None, refusal=refused.what)
            continue
        owners += [place] * len(expanded)
        points += expanded
    if not force_memory:
        memory.refuse_too_much(points, jobs=jobs, threads=1, blocks=0)
    summaries: dict[int, list[dict[str, Any]]] = defaultdict(list)

    def collect(place: int, finished: Finished, _: dict[str, Any]) -> None:
        summaries[owners[place]].append(finished.summary)

    execute(points, collect, jobs=jobs, watch=watch)
    return [
        judge(case, _ours(summaries[place], bounds[place]) if place in bounds else None)
        for place, case in enumerate(cases)
    ]


def _expand(case: Case, seeds: int) -> tuple[list[Point], float | None]:
    """Points of a case, one per seed, and the highest value that the channel-load bound of its routing may have."""
    if case.scenario is None:
        raise ScenarioError.saying(case.refusal, "")
    swept = case.scenario | {"sweep": {"seed": list(range(1, seeds + 1))}}
    points = Scenario.from_dict(swept, name=case.name).points()
    facts = points[0].imply()
    sampled = facts["sampled"]
    return points, sampled["channel_load_bound_interval"][1] if sampled else facts["channel_load_bound"]


def _ours(summaries: Sequence[dict[str, Any]], bound: float | None) -> Ours:
    runs = [
        Numbers(at(summary, q.LATENCY.column), at(summary, q.HOPS.column), at(summary, q.ACCEPTED.column))
        for summary in summaries
    ]
    stalled = sum(at(summary, q.ENDING.column) == q.STALLED for summary in summaries)
    return Ours(runs, bound, stalled)
