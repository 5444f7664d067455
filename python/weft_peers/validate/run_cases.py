"""Runs the cases of ``weft validate``: each row of peer results with several seeds, and all rows in parallel."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import polars as pl

from weft.errors import ScenarioError
from weft.results import quantities as q
from weft.results.response import merged
from weft.runs import memory
from weft.runs.execute import execute
from weft.scenario.scenario import Scenario
from weft.text.labels import at
from weft_peers.validate.case import Numbers
from weft_peers.validate.judge import Ours, Verdict, chance_of_draws, judge
from weft_peers.validate.settling_order import in_order

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weft._engine import Finished, Point
    from weft.results.response import Response
    from weft.runs.execute import Status
    from weft_peers.validate.case import Case, Change


def validate(
    cases: Sequence[Case],
    *,
    seeds: int,
    jobs: int | None,
    force_memory: bool = False,
    watch: Callable[[Status], None] | None = None,
) -> list[Verdict]:
    """Run every case that Weft can express, and judge all cases.

    Parameters
    ----------
    cases : sequence of Case
        Rows with results of one or several peers (other simulators).
    seeds : int
        Number of runs of each case; 5 or more for a meaningful standard deviation.
    jobs : int, optional
        Number of runs at the same time; by default the number of cores.
    force_memory : bool
        Whether to run even if the runs at the same time need more memory than is free.
    watch : callable, optional
        Function that is called with the current `Status` at short intervals.

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
    sent: dict[int, pl.DataFrame] = {}

    def collect(place: int, finished: Finished, _: dict[str, Any]) -> None:
        summaries[owners[place]].append(finished.summary)
        if cases[owners[place]].change:
            sent[place] = _sent(finished)

    execute(points, collect, jobs=jobs, watch=watch)
    verdicts = []
    for place, case in enumerate(cases):
        ours = _ours(case, summaries[place], bounds[place]) if place in bounds else None
        if ours and case.change:
            of_case = [sent[point] for point in sorted(sent) if owners[point] == place]
            ours = replace(ours, response=_response(case.change, of_case, summaries[place]))
        verdicts.append(judge(case, ours))
    return in_order(verdicts)


def _expand(case: Case, seeds: int) -> tuple[list[Point], float | None]:
    """Return the points of a case, one per seed, and the highest load that the channels can carry under its routing."""
    if case.scenario is None:
        raise ScenarioError.saying(case.refusal, "")
    swept = case.scenario | {"sweep": {"seed": list(range(1, seeds + 1))}}
    points = Scenario.from_dict(swept, name=case.name).points()
    facts = points[0].imply()
    sampled = facts["sampled"]
    return points, sampled["channel_load_bound_interval"][1] if sampled else facts["channel_load_bound"]


def _ours(case: Case, summaries: Sequence[dict[str, Any]], bound: float | None) -> Ours:
    runs = [
        Numbers(at(summary, q.LATENCY.column), at(summary, q.HOPS.column), at(summary, q.ACCEPTED.column))
        for summary in summaries
    ]
    least = [found for summary in summaries if (found := summary["source_load_min"]) is not None]
    stalled = sum(at(summary, q.ENDING.column) == q.STALLED for summary in summaries)
    return Ours(runs, bound, least, stalled, _chance(case, summaries))


def _chance(case: Case, summaries: Sequence[dict[str, Any]]) -> float:
    """Return the standard deviation of the accepted load that random creation of packets causes.

    It is 0 if a run saturated, or if the traffic is a burst.
    """
    is_burst = case.scenario is not None and "batch" in case.scenario["traffic"]
    if is_burst or not summaries or any(summary["saturated"] for summary in summaries):
        return 0.0
    accepted, packets, flits = (
        fmean(at(summary, name) for summary in summaries) for name in (q.ACCEPTED.column, "packets", "packet_flits")
    )
    return chance_of_draws(accepted, packets, case.load / flits)


def _sent(finished: Finished) -> pl.DataFrame:
    """Return the latency by time of sending in one run."""
    with tempfile.TemporaryDirectory() as folder:
        finished.save(Path(folder) / "point")
        return pl.read_parquet(Path(folder) / "point" / "transient.parquet")


def _response(change: Change, sent: Sequence[pl.DataFrame], summaries: Sequence[dict[str, Any]]) -> Response | None:
    """Return the latency by time of sending, over all seeds, in the peer's bins; ``None`` if packets did not arrive."""
    middle = pl.col("from_cycle") + pl.col("bin_cycles") / 2
    bins = pl.concat(sent).select("packets", time=middle - change.cycle, latency=q.LATENCY.column)
    found = merged(bins, change.theirs.times[0], change.theirs.times[-1])
    drained = all(at(summary, q.ENDING.column) == q.DRAINED for summary in summaries)
    return found if drained and found.is_complete else None
