"""Refuses searches for saturation if `traffic.load` does not decide whether the network saturates, or cannot run."""

from __future__ import annotations

import json
import warnings
from bisect import bisect_left
from typing import TYPE_CHECKING, Any

from weft.errors import ScenarioError, WeftWarning
from weft.results.choose import LOAD
from weft.runs import overload
from weft.text.labels import at, setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft._engine import Point
    from weft.scenario.scenario import Scenario


def check(point: Point) -> None:
    """Refuse a scenario in which `traffic.load` does not set the load, or does not set it for the whole run."""
    traffic = point.resolved["traffic"]
    jobs = _jobs(traffic)
    if at(point.resolved, "measure.stop.complete") is not None:
        what = "a run that ends with its batches has no lasting load"
        remedy = "remove measure.stop and the batches, or compare completion times with `weft run`"
        raise ScenarioError.saying(what, remedy, "measure.stop")
    if limit := _closed_loop(jobs, traffic):
        what = "terminals wait for replies: the network limits the offered load, so a search can't set the load"
        remedy = "remove `outstanding` (requests then wait for no reply), or compare accepted loads with `weft run`"
        raise ScenarioError.saying(what, remedy, limit)
    own = [_own_load(job, path, traffic) for path, job in jobs.items()] or [_own_load({}, "traffic", traffic)]
    if all(own) and (first := own[0]):
        raise ScenarioError.saying(*first)
    given = {t for each in traffic.get("loads", []) for t in range(each["terminals"][0], each["terminals"][1] + 1)}
    if given and len(given) == point.imply()["terminals"]:
        what = f"all {len(given)} terminals have their own loads: traffic.load changes nothing"
        raise ScenarioError.saying(what, "remove the loads of the terminals to saturate", "traffic.loads")


def check_own_loads(scenario: Scenario, sets: Sequence[tuple[str, str]], points: Sequence[Point]) -> None:
    """Refuse a scenario whose loads saturate all curves although `traffic.load`, which the search varies, is 0.

    `points` are those of the search at one of its loads. If only some curves are saturated, a warning names each of
    these curves.
    """
    if not any(overload.own_loads(point.resolved, at_start=True) for point in points):
        return
    try:
        idle = scenario.points([*sets, (LOAD, json.dumps(0))])
    except ScenarioError:
        return  # the rest of the traffic can't have load 0
    found = []
    for point in idle:
        own = overload.own_loads(point.resolved, at_start=True)
        if own and (why := overload.reasons(point, point.imply())):
            where = setting({path: value for path, value in point.coordinates.items() if path != LOAD})
            what = f"loads that the search does not change ({overload.listed(own)}) saturate the network"
            reason = f"{what}: terminals send {', and '.join(why)}"
            found.append((f"at {where}, {reason}" if where else reason, next(iter(own))))
    if found and len(found) == len(idle):
        remedy = "write lower loads there, or remove them, so that the search also changes the loads of these terminals"
        raise ScenarioError.saying(found[0][0], remedy, found[0][1])
    for reason, _ in found:
        warnings.warn(f"{reason}; no load of the search is carried there", WeftWarning, stacklevel=2)


def check_demand(scenario: Scenario, sets: Sequence[tuple[str, str]]) -> None:
    """Refuse a scenario in which a workload alone determines the packets of its terminals.

    The traffic of such a workload has no load.
    """
    try:
        traffics = [point.resolved["traffic"] for point in scenario.points(sets)]
    except ScenarioError:
        return  # the scenario has no load yet, or a fault that the search reports later
    for traffic in traffics:
        if own := _own_demand(_jobs(traffic), traffic):
            what = "this workload itself determines the packets of its terminals: there is no load to search"
            raise ScenarioError.saying(
                what, "replace it by a pattern and a load, or compare run times with `weft run`", own
            )


def _jobs(traffic: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {f"traffic.jobs.{number}": job for number, job in enumerate(traffic.get("jobs", []))}


def _own_demand(jobs: dict[str, dict[str, Any]], traffic: dict[str, Any]) -> str | None:
    """The key of a workload that determines its traffic without a pattern and a load; ``None`` if no job has one."""
    for path, job in (jobs or {"traffic": traffic}).items():
        if "workload" in job and not (job.get("pattern") or traffic.get("pattern")):
            return f"{path}.workload"
        inherits = "workload" not in job and "reply" not in job
        if inherits and "workload" in traffic and not (job.get("pattern") or traffic.get("pattern")):
            return "traffic.workload"
    return None


def _closed_loop(jobs: dict[str, dict[str, Any]], traffic: dict[str, Any]) -> str | None:
    """The key by which the terminals of all jobs wait for replies; ``None`` if some job does not wait for replies."""
    waits = [
        f"{path}.reply.outstanding" if job.get("reply") else "traffic.reply.outstanding"
        for path, job in (jobs or {"traffic": traffic}).items()
        if (job.get("reply") or traffic.get("reply") or {}).get("outstanding") is not None
    ]
    return waits[0] if len(waits) == max(len(jobs), 1) else None


def _own_load(job: dict[str, Any], path: str, traffic: dict[str, Any]) -> tuple[str, str, str] | None:
    """The reason why `traffic.load` is not the load of a job, as fault, remedy and path; ``None`` if it is.

    If the scenario has no list of jobs, `job` is empty.
    """
    if "load" in job:
        what = "this job has its own load, as all other jobs: traffic.load changes nothing"
        return what, "remove the load of the jobs to saturate", f"{path}.load"
    if any("load" in phase for phase in job.get("phases") or traffic.get("phases", [])):
        return "phases have their own loads: traffic.load does not last", "remove these loads", f"{path}.phases"
    if job.get("batch") or traffic.get("batch"):
        what = "sources that stop after a batch have no lasting load"
        return what, "remove the batch, or compare completion times with `weft run`", f"{path}.batch"
    return None


def check_loads(scenario: Scenario, sets: Sequence[tuple[str, str]], loads: Sequence[float]) -> None:
    """Refuse loads that cannot run, before the first run. For example, bursty traffic has a peak load as maximum."""

    def refused(load: float) -> bool:
        return _refusal(scenario, sets, load) is not None

    if (problem := _refusal(scenario, sets, loads[-1])) is not None:
        most = loads[bisect_left(loads, True, key=refused) - 1]
        what = f"the highest load of the search, {loads[-1]:g}, can't run: {problem.what}"
        remedy = f"search up to {most:g} (--to {most:g}, in Python upper={most:g})"
        raise ScenarioError.saying(what, remedy, problem.path) from problem


def _refusal(scenario: Scenario, sets: Sequence[tuple[str, str]], load: float) -> ScenarioError | None:
    """The error that says why a load cannot run; ``None`` if it can run."""
    try:
        for point in scenario.points([*sets, (LOAD, json.dumps(load))]):
            point.check_network()
    except ScenarioError as problem:
        return problem
    return None
