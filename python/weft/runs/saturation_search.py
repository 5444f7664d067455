"""Searches the load at which a network saturates, for each curve of a sweep.

A load is too much for a point if its results say ``saturated`` (the network accepts less than 97 % of what is offered,
or does not deliver the packets of the window in time), if more than 3 % of the packets are dropped at faults, or if the
network gets stuck. With several seeds, half of the
runs decide. If as many may be too much, because windows are too short for their bursts, or because less than 97 % of
what was offered was accepted before they had settled, the load is open. Where the paths of all packets are known
beforehand, a load above what their channels can carry is too much, whatever a run shows. A load at which a run had not
settled does not count as carried: the search looks for the highest one that has. Where terminals wait for replies the
load follows the network, and there is nothing to search.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_left
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.errors import ScenarioError
from weft.results import of_sweep, soundness
from weft.results import quantities as q
from weft.results.choose import LOAD, SEED
from weft.results.quantities import TOLERANCE
from weft.results.rows import frame_of
from weft.results.store import Store
from weft.runs import memory
from weft.runs.beacon import Beacon
from weft.runs.bisection import Search, Verdict
from weft.runs.execute import Status, execute
from weft.text import given
from weft.text.labels import at

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl

    from weft._engine import Point
    from weft.scenario.scenario import Scenario

_DIGITS = 12
_ROUNDING = 1e-6


@dataclass
class _Curve:
    """The search of one curve, with the points of every load and seed that it has asked for."""

    coordinates: dict[str, Any]
    search: Search
    points: dict[float, list[Point]] = field(default_factory=dict)

    def expand(self, scenario: Scenario, sets: Sequence[tuple[str, str]], load: float, seeds: Sequence[int]) -> None:
        """Make the points of a load."""
        fixed = self.coordinates | {LOAD: load}
        placed = [fixed | {SEED: seed} for seed in seeds] if len(seeds) > 1 else [fixed]
        self.points[load] = [point for at in placed for point in scenario.points([*sets, *_sets(at)])]

    def wanted(self, loads: Sequence[float], store: Store) -> list[float]:
        """Loads whose verdicts are needed next: those of the search, and then between settled and unsettled points."""
        if (asked := self.search.wanted()) or self.search.bracket()[2] is not Verdict.FOUND:
            return asked
        low, late = self.carried(store), [load for load in sorted(self.points) if self.is_late(load, store)]
        begin = -1 if low is None else loads.index(low)
        end = next((place for load in late if (place := loads.index(load)) > begin), begin)
        return [loads[(begin + end) // 2]] if end - begin > 1 else []

    def carried(self, store: Store) -> float | None:
        """The highest load below the edge at which the runs had settled; ``None`` if there is none."""
        low = self.search.bracket()[0]
        known = [load for load in self.points if low is not None and load <= low and not self.is_late(load, store)]
        return max(known, default=None)

    def is_late(self, load: float, store: Store) -> bool:
        """Whether a load seems to be carried, although at least half of its runs had not settled."""
        summaries = [store.summary(point.hash) for point in self.points[load]]
        return _over(self.points[load], store) is False and 2 * sum(map(soundness.is_unsettled, summaries)) >= len(
            summaries
        )

    def mean(self, load: float | None, column: str, store: Store) -> float | None:
        """Mean over the seeds of a load; ``None`` where nothing was measured."""
        if load is None:
            return None
        values = [value for point in self.points[load] if (value := store.summary(point.hash)[column]) is not None]
        return sum(values) / len(values) if values else None


def find(
    scenario: Scenario,
    sets: Sequence[tuple[str, str]] = (),
    out: str | Path | None = None,
    *,
    tolerance: float = TOLERANCE,
    lower: float | None = None,
    upper: float | None = None,
    seeds: int = 1,
    jobs: int | None = None,
    threads: int = 1,
    blocks: int = 0,
    force_memory: bool = False,
    watch: Callable[[Status], None] | None = None,
    tell: Callable[[Sequence[Point]], None] | None = None,
) -> tuple[pl.DataFrame, Store]:
    """Search the saturation load of every curve; `weft.Sweep.saturation` says what the parameters are.

    Before anything runs, `tell` gets the points of all curves at both ends of the range.

    Returns
    -------
    tuple of polars.DataFrame and Store
        The row of each curve, and the folder of all points that were run on the way.
    """
    given.execution(jobs, threads, blocks, watch)
    given.whole(seeds, "seeds")
    lower = tolerance if lower is None else lower
    upper = _most_load(scenario, sets, lower) if upper is None else upper
    for name, value in (("tolerance", tolerance), ("lower", lower), ("upper", upper)):
        given.number(value, name, 0.5)
    loads = steps(lower, upper, tolerance)
    first = scenario.points([*sets, (LOAD, json.dumps(loads[0]))])
    curves = _curves(first, loads)
    if not force_memory:  # a round runs both ends of each curve, or two loads, with all seeds
        memory.refuse_too_much(2 * seeds * first, jobs=jobs, threads=threads, blocks=blocks)
    for point in first:
        _check(point)
        point.check_network()
    _check_loads(scenario, sets, loads)
    if tell is not None:
        tell([*first, *scenario.points([*sets, (LOAD, json.dumps(loads[-1]))])])
    named = scenario.named(first[0], sets).search()
    store = Store(out if out is not None else Path("results") / named.folder)
    search = ["--tolerance", f"{tolerance:g}", "--from", f"{loads[0]:g}", "--to", f"{upper:g}", "--seeds", f"{seeds}"]
    command = scenario.command("saturation", sets, *search)
    known: set[str] = set()
    with Beacon(store, watch) as beacon:
        while wanted := [(curve, load) for curve in curves for load in curve.wanted(loads, store)]:
            for curve, load in wanted:
                own = curve.coordinates.get(SEED, first[0].resolved["seed"])
                curve.expand(scenario, sets, load, range(own, own + seeds))
            points = [point for curve in curves for load in sorted(curve.points) for point in curve.points[load]]
            store.write_manifest(named, points, command)
            fresh = {point.hash: point for curve, load in wanted for point in curve.points[load]}
            missing = [point for key, point in fresh.items() if key not in known and not store.sound(key)]
            left = seeds * sum(curve.search.left() for curve in curves)
            execute(
                missing,
                lambda place, finished, run, missing=missing: store.save(missing[place], finished, run),  # type: ignore[misc]
                jobs=jobs,
                threads=threads,
                blocks=blocks,
                reused=len(fresh) - len(missing),
                watch=_of_all(beacon, len(known), len(known) + left),
            )
            known |= fresh.keys()
            for curve, load in wanted:
                curve.search.learn(load, over=_over(curve.points[load], store))
        beacon(Status(len(known), len(known), 0, 0.0))
    frame = frame_of([_row(curve, store, tolerance) for curve in curves])
    store.replace(of_sweep.FILE, frame.write_csv())
    return frame, store


def steps(lower: float, upper: float, tolerance: float) -> list[float]:
    """Loads from `lower` to `upper`, at most `tolerance` apart.

    Raises
    ------
    ScenarioError
        If there is no such range.
    """
    if not tolerance >= 1e-6:
        what = f"a tolerance of {tolerance:g} asks for more than a simulation can tell"
        raise ScenarioError.saying(what, f"write at least 0.000001, such as {TOLERANCE}")
    if not 0 < lower < upper <= 1:
        what = f"there is no load to search from {lower:g} up to {upper:g}"
        raise ScenarioError.saying(what, "a search goes upwards, from above 0 to at most 1")
    if tolerance > (upper - lower) * (1 + 1e-9):
        what = f"a tolerance of {tolerance:g} does not fit between the loads {lower:g} and {upper:g}"
        raise ScenarioError.saying(what, f"write at most {upper - lower:g}, such as {TOLERANCE}")
    count = math.ceil((upper - lower) / tolerance - 1e-6)
    return [round(lower + step * tolerance, _DIGITS) for step in range(count)] + [upper]


def _most_load(scenario: Scenario, sets: Sequence[tuple[str, str]], load: float) -> float:
    """What the terminals of all points can send [flits/terminal/cycle], told by their networks at some load."""
    given.number(load, "lower", 0.5)
    return min(point.most_load() for point in scenario.points([*sets, (LOAD, json.dumps(load))]))


def _check(point: Point) -> None:
    """Refuse a scenario in which `traffic.load` does not set the load, or does not set it for the whole run."""
    traffic = point.resolved["traffic"]
    if at(point.resolved, "measure.stop.complete") is not None:
        what = "a run that ends with its batches has no load that lasts"
        remedy = "leave out measure.stop and the batches, or compare completion times with `weft run`"
        raise ScenarioError.saying(what, remedy, "measure.stop")
    jobs = {f"traffic.jobs.{number}": job for number, job in enumerate(traffic.get("jobs", []))}
    if limit := _closed_loop(jobs, traffic):
        what = "terminals wait for replies: they offer what the network lets them, and the load follows the network"
        remedy = "leave out `outstanding` (requests then wait for no reply), or compare accepted loads with `weft run`"
        raise ScenarioError.saying(what, remedy, limit)
    own = [_own_load(job, path, traffic) for path, job in jobs.items()] or [_own_load({}, "traffic", traffic)]
    if all(own) and (first := own[0]):
        raise ScenarioError.saying(*first)
    given = {t for each in traffic.get("loads", []) for t in range(each["terminals"][0], each["terminals"][1] + 1)}
    if given and len(given) == point.imply()["terminals"]:
        what = f"all {len(given)} terminals have loads of their own: traffic.load changes nothing"
        raise ScenarioError.saying(what, "leave out those that are to saturate", "traffic.loads")


def _closed_loop(jobs: dict[str, dict[str, Any]], traffic: dict[str, Any]) -> str | None:
    """The key by which the terminals of all jobs wait for replies; ``None`` if some do not."""
    waits = [
        f"{path}.reply.outstanding" if job.get("reply") else "traffic.reply.outstanding"
        for path, job in (jobs or {"traffic": traffic}).items()
        if (job.get("reply") or traffic.get("reply") or {}).get("outstanding") is not None
    ]
    return waits[0] if len(waits) == max(len(jobs), 1) else None


def _own_load(job: dict[str, Any], path: str, traffic: dict[str, Any]) -> tuple[str, str, str] | None:
    """Why `traffic.load` is not the load of a job (an empty job stands for all traffic): what, remedy and path."""
    if "load" in job:
        what = "this job has a load of its own, as all others: traffic.load changes nothing"
        return what, "leave out the load of the jobs that are to saturate", f"{path}.load"
    if any("load" in phase for phase in job.get("phases") or traffic.get("phases", [])):
        return "phases have loads of their own: traffic.load does not last", "leave out these loads", f"{path}.phases"
    if job.get("batch") or traffic.get("batch"):
        what = "sources that stop after a batch have no load that lasts"
        return what, "leave out the batch, or compare completion times with `weft run`", f"{path}.batch"
    return None


def _check_loads(scenario: Scenario, sets: Sequence[tuple[str, str]], loads: Sequence[float]) -> None:
    """Refuse loads that can't run, such as one above the peak of bursts, before anything has run."""

    def refused(load: float) -> bool:
        return _refusal(scenario, sets, load) is not None

    if (problem := _refusal(scenario, sets, loads[-1])) is not None:
        most = loads[bisect_left(loads, True, key=refused) - 1]
        what = f"the highest load of the search, {loads[-1]:g}, can't run: {problem.what}"
        remedy = f"search up to {most:g} (--to {most:g}, in Python upper={most:g})"
        raise ScenarioError.saying(what, remedy, problem.path) from problem


def _refusal(scenario: Scenario, sets: Sequence[tuple[str, str]], load: float) -> ScenarioError | None:
    """Why a load can't run."""
    try:
        for point in scenario.points([*sets, (LOAD, json.dumps(load))]):
            point.check_network()
    except ScenarioError as problem:
        return problem
    return None


def _curves(points: Sequence[Point], loads: Sequence[float]) -> list[_Curve]:
    """A curve for each combination of what is swept besides the load."""
    coordinates = {json.dumps(point.coordinates): point.coordinates for point in points}
    return [_Curve(each, Search(loads)) for each in coordinates.values()]


def _sets(coordinates: dict[str, Any]) -> list[tuple[str, str]]:
    """Overrides that make these coordinates the only point: each is a value, and a sweep over this one value."""
    return [
        pair
        for path, value in coordinates.items()
        for pair in ((path, json.dumps(value)), (f"sweep.{path}", json.dumps([value])))
    ]


def _over(points: Sequence[Point], store: Store) -> bool | None:
    """Whether at least half of the seeds say that the load is too much; ``None`` if those decide that do not know."""
    summaries = [store.summary(point.hash) for point in points]
    too_much = (soundness.is_over, soundness.is_lossy, soundness.is_above_bound)
    votes = sum(any(each(summary) for each in too_much) for summary in summaries)
    if 2 * votes >= len(summaries):
        return True
    open_ = sum(soundness.is_unjudged(summary) or soundness.is_behind(summary) for summary in summaries)
    return None if 2 * (votes + open_) >= len(summaries) else False


def _lost(curve: _Curve, load: float | None, store: Store) -> float | None:
    """Of the packets at a load the share that was dropped, where that is why it is not carried; else ``None``."""
    summaries = [] if load is None else [store.summary(point.hash) for point in curve.points[load]]
    if not summaries or 2 * sum(map(soundness.is_over, summaries)) >= len(summaries):
        return None
    share = sum(map(soundness.dropped_share, summaries)) / len(summaries)
    return share or None


def _unsettled(curve: _Curve, store: Store) -> int:
    """At how many loads that count as carried a run had not settled."""
    return sum(
        any(soundness.is_unsettled(store.summary(point.hash)) for point in points)
        for points in curve.points.values()
        if _over(points, store) is False
    )


def _stuck(points: Sequence[Point], store: Store) -> bool:
    return any(store.summary(point.hash)[q.ENDING.column] == q.STALLED for point in points)


def _flaw(points: Sequence[Point], store: Store) -> str | None:
    """What is wrong with the points at the highest load that is carried, by which its latency is no good number."""
    found = soundness.worst(store.summary(point.hash) for point in points)
    return found.words if found else None


def _risk(curve: _Curve, store: Store) -> str | None:
    """The parameter of the power policy by whose warning other loads may not be carried; ``None`` if there is none."""
    found = (soundness.risk(store.summary(point.hash)) for points in curve.points.values() for point in points)
    return next(filter(None, found), None)


def _of_all(watch: Callable[[Status], None], before: int, total: int) -> Callable[[Status], None]:
    """Turn the status of one round of runs into that of the whole search."""
    return lambda status: watch(
        replace(status, total=total, done=before + status.done, left_seconds=None, most_left_seconds=None)
    )


def _row(curve: _Curve, store: Store, tolerance: float) -> dict[str, Any]:
    low, high, verdict = curve.search.bracket()
    if verdict is Verdict.FOUND:
        low = curve.carried(store)
        verdict = Verdict.OPEN if low is None else verdict
    wide = low is not None and high is not None and high - low > tolerance * (1 + _ROUNDING)
    unsettled = _unsettled(curve, store)
    return curve.coordinates | {
        "verdict": verdict.value,
        "steady_load": low,
        "saturated_load": high,
        q.ACCEPTED.column: curve.mean(high, q.ACCEPTED.column, store),
        q.LATENCY.column: curve.mean(low, q.LATENCY.column, store),
        "stuck": high is not None and _stuck(curve.points[high], store),
        "dropped_share": _lost(curve, high, store),
        "runs": sum(map(len, curve.points.values())),
        "unsettled_loads": unsettled,
        "wider_than_tolerance": verdict is Verdict.FOUND and wide and unsettled > 0,
        "flaw": None if low is None else _flaw(curve.points[low], store),
        "loads_run": " ".join(f"{load:g}" for load in sorted(curve.points)),
        "warned_of": _risk(curve, store),
    }
