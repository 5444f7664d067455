"""Groups measured points into series over load, for bills (yearly costs).

A series gives the power at a load or in a phase, or the reason why this power is not known.

A profile must name loads that were measured. Weft does not interpolate between measured loads: a policy switches whole
links, so the power over load has steps.
"""

from __future__ import annotations

from bisect import bisect
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from weft.results import closed_loop, equal_work, soundness
from weft.results import quantities as q
from weft.results.choose import LOAD, NAMED, SEED
from weft.results.set_times import faults
from weft.text.labels import at, label

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from weft._engine import Point
    from weft.results.bill_keys import Part
    from weft.results.result_set import ResultSet

    Summary = Mapping[str, Any]

# Loads that differ by at most this value count as the same load [flits/terminal/cycle].
_SAME_LOAD = 1e-9
# Maximum number of loads that a remedy lists.
_LISTED = 12
_LONGER = soundness.EMPTY.help


class UnbillableError(Exception):
    """Raised if the power in a part of a bill's profile is unknown or not reliable.

    Attributes
    ----------
    what, help : str
        The reason and the remedy.
    """

    def __init__(self, what: str, help: str) -> None:  # these are the names of the fields of a diagnostic
        super().__init__(what)
        self.what, self.help = what, help


@dataclass(frozen=True)
class Reading:
    """The measured values of a series at a load or in a phase, as means over seeds.

    Attributes
    ----------
    power_w : float
        Mean power of links and routers [W].
    always_on_w : float
        Mean power that the same flits would need if links never slept [W].
    delivered : float
        Accepted load [flits/terminal/cycle].
    packets : int
        Number of packets in the window of the run with the fewest packets.
    runs : tuple
        Summaries of the runs, one per seed.
    dropped_share : float
        Share of the packets of the runs that were lost because a link or router had failed.
    latency_cycles : float or None
        Mean packet latency [cycles].
    short : closed_loop.Short or None
        The job that delivers the smallest share of its load, if terminals wait for replies and therefore send less.
    unknown_load : str
        Reason why the scenario's mean load of terminals that wait for replies is unknown; empty if it is known.
    """

    power_w: float
    always_on_w: float
    delivered: float
    packets: int
    runs: tuple[Summary, ...]
    dropped_share: float
    latency_cycles: float | None
    short: closed_loop.Short | None = None
    unknown_load: str = ""

    def power_at_w(self, delivered: float) -> float:
        """Mean power [W] if the network delivered the load `delivered` [flits/terminal/cycle]."""
        return fmean(equal_work.power_w(run, delivered) for run in self.runs)

    def chance_w(self, other: Reading) -> float:
        """Difference of power [W] that random variation can cause between two readings that deliver the same flits."""
        return equal_work.chance_w(equal_work.mean(self.runs), equal_work.mean(other.runs))

    def same_work(self, other: Reading) -> bool:
        """Whether two readings deliver the same load, within 3 % and random variation (three standard deviations)."""
        return soundness.same_work((self.delivered, other.delivered), (self.packets, other.packets))


class Lost(NamedTuple):
    """A run without results: its load (``None``: any load), its seed if the sweep varies seeds, and the reason."""

    load: float | None
    seed: Any
    reason: str


@dataclass
class Series:
    """Points that differ only in load and seed. They are measured, or will be measured by a sweep.

    Attributes
    ----------
    coordinates : dict
        Values that the sweep set, except load and seed.
    names : dict
        Names of models by scenario key (dotted path), including models that were not swept.
    runs : dict
        Summaries of the runs by load, one per seed. If the profile names phases, the only load is ``None``. The dict is
        empty before the first run.
    lost : list of Lost
        Runs without measured values.
    swept : bool
        Whether the sweep varies `LOAD`, so that the user can add more loads to the sweep.
    faults : str
        Parts that fail during the runs, as a string; empty if no part fails.
    root, again : str
        Folder of the results, and the command that runs missing points there; empty before a run.
    waiting : dict
        For each run, by its hash, the jobs whose terminals wait for replies.
    """

    coordinates: dict[str, Any]
    names: dict[str, Any] = field(default_factory=dict)
    runs: dict[float | None, list[Summary]] = field(default_factory=dict)
    lost: list[Lost] = field(default_factory=list)
    swept: bool = True
    faults: str = ""
    root: str = ""
    again: str = ""
    waiting: dict[str, list[closed_loop.Waiting]] = field(default_factory=dict)

    def value(self, path: str) -> Any:
        """The value of a scenario key (dotted path) in the series; the name of a model if the sweep does not set it."""
        return self.coordinates[path] if path in self.coordinates else self.names.get(path)

    @property
    def loads(self) -> list[float]:
        """All loads of the series, whether already measured or not, in ascending order."""
        return sorted({load for load in (*self.runs, *(each.load for each in self.lost)) if load is not None})

    @property
    def never_sleeps(self) -> bool:
        """Whether all runs of the series drew the power of links that are always on, except for failed links."""
        runs = [run for several in self.runs.values() for run in several]
        known = [run for run in runs if run.get("power_mean_w") is not None]
        return bool(known) and all(
            run.get("links_stay_on") or run["power_mean_w"] == _always_on_w(run) for run in known
        )

    @property
    def stays_on(self) -> bool:
        """Whether the power policy of all runs keeps all links on, whatever the traffic is."""
        runs = [run for several in self.runs.values() for run in several]
        return bool(runs) and all(run.get("links_stay_on") for run in runs)

    def find(self, load: float) -> float:
        """The load of the sweep that equals the load `load` of a profile, apart from rounding errors.

        Raises
        ------
        UnbillableError
            If the series does not have this load. The error names the nearest measured loads.
        """
        loads = self.loads
        for known in loads:
            if abs(known - load) <= _SAME_LOAD:
                return known
        place = bisect(loads, load)
        near = " and ".join(f"{each:.12g}" for each in loads[max(place - 1, 0) : place + 1])
        are = "the nearest are" if 0 < place < len(loads) else "the nearest is"
        what = f"load {load:.12g} is not measured: {are} {near}" if near else f"load {load:.12g} is not measured"
        raise UnbillableError(what, self._how_to_measure(load))

    def _how_to_measure(self, load: float) -> str:
        """Text on how to measure another load: the key to change, if changing one key is enough."""
        if not self.swept or len(self.loads) >= _LISTED:
            return "name a measured load, or also measure this load (finished points stay)"
        wanted = ", ".join(f"{each:.12g}" for each in sorted([*self.loads, load]))
        return f"sweep `{LOAD}: [{wanted}]` (finished points stay), or name a measured load"

    def at(self, part: Part) -> Reading:
        """The measured values at the load, or in the phase, that a part of a bill's profile names.

        Raises
        ------
        UnbillableError
            If this load or phase was not measured, or has a flaw. The error names the reason.
        """
        again = f"run it: {self.again}" if self.again else "run the sweep again: it runs the missing points"
        if nowhere := [each for each in self.lost if each.load is None]:
            raise UnbillableError(f"the point{self._lost(nowhere)}", again)
        load = None if part.load is None else self.find(part.load)
        if lost := [each for each in self.lost if each.load == load]:
            raise UnbillableError(f"{_place(load)}{self._lost(lost)}", again)
        runs = whole = self.runs[load]
        if part.phase is not None:
            runs = [self._phase(run, part.phase) for run in runs]
        else:
            for run in runs:
                refuse_changes(_load(run), len(run.get("phases") or [1]))
                self._check(run, _place(load))
        # if the engine counted the lost packets of each phase, the share is that of the phase, otherwise that of the
        # whole run
        losing = runs if all("dropped_packets" in run for run in runs) else self.runs[load]
        mean = _mean(runs, fmean(map(soundness.dropped_share, losing)))
        phases = runs if part.phase is not None else [None] * len(runs)
        found = [
            closed_loop.deliveries(run, self.waiting.get(run["hash"], []), phase)
            for run, phase in zip(whole, phases, strict=True)
        ]
        return replace(mean, short=closed_loop.short(found), unknown_load=closed_loop.unknown(found))

    def _lost(self, lost: Sequence[Lost]) -> str:
        """Text on the runs of one load for which numbers are missing.

        If runs with other seeds have results, the text names the seeds of the missing runs.
        """
        first, *more = lost
        others = self.runs.get(first.load) if first.load is not None else any(self.runs.values())
        several = f" and {len(more)} more" if more else ""
        return f"{f' (seed {first.seed}{several})' if others and first.seed is not None else ''} {first.reason}"

    def _check(self, judged: Summary, place: str) -> None:
        """Refuse a run, or a phase of a run, that must not be billed because of a flaw."""
        if flaws := _refused(judged):
            remedy = soundness.remedy(judged, flaws[0], in_profile=True)
            shown = soundness.in_folder(remedy, self.root, self.again)
            raise UnbillableError(f"{place} is {flaws[0].words}", shown)
        if not judged.get(q.ACCEPTED.column):
            raise UnbillableError(f"{place} delivered nothing", _LONGER)
        if judged.get("power_mean_w") is None:
            raise UnbillableError(f"{place} has no measured power", _LONGER)

    def _phase(self, run: Summary, number: int) -> Summary:
        """The measured values of a run in one phase. The flaws are those of the phase, not of the whole run."""
        phases: dict[int, Summary] = {each["phase"]: each for each in equal_work.phases(run)}
        check_phase(number, len(phases or [1]))
        phase = phases[number]
        # if the worst flaw of the phase is also a flaw of the whole run, the error names the point and not the phase
        worst, of_run = next(iter(_refused(phase)), None), _refused(run)
        if phase.get(q.ACCEPTED.column) is None and worst in (None, soundness.EMPTY):
            begin = phase.get("start_cycle")
            since = "" if begin is None else f", which begins in cycle {begin}"
            remedy = "write `measure.warmup` and `measure.window` so that the window contains a part of it"
            raise UnbillableError(f"the window does not reach phase {number}{since}", remedy)
        self._check(phase, "the point" if worst in of_run else f"phase {number}")
        return phase


def series_of(results: ResultSet, *, by_phase: bool) -> list[Series]:
    """The series of all points, in the order of the sweep. The points without results are in `Series.lost`.

    If a profile names phases, points with different loads belong to different series.
    """
    found: dict[str, Series] = {}
    again = results.command or ""

    def series(coordinates: Mapping[str, Any]) -> Series:
        known = _of(found, coordinates, by_phase=by_phase)
        known.root, known.again, known.swept = str(results.root), again, LOAD in coordinates
        return known

    known = zip(results.points, results.summaries, faults(results), closed_loop.of_points(results), strict=True)
    for point, summary, failing, waiting in known:
        of = series(point["coordinates"])
        of.waiting[summary["hash"]] = waiting
        of.faults = failing or of.faults
        of.names = {path: summary.get(column) for path, column in NAMED.items()}
        load = None if by_phase else _load(summary)
        if summary["hash"] not in {run["hash"] for run in of.runs.setdefault(load, [])}:
            of.runs[load].append(summary)
    for coordinates, reason in _lost(results):
        lost = Lost(None if by_phase else coordinates.get(LOAD), coordinates.get(SEED), reason)
        series(coordinates).lost.append(lost)
    return _zipped(found)


def planned(points: Sequence[Point], *, by_phase: bool) -> list[Series] | None:
    """The series that a sweep will measure; ``None`` if the loads of the series are known only after the runs."""
    found: dict[str, Series] = {}
    for point in points:
        of = _of(found, point.coordinates, by_phase=by_phase)
        of.names = {path: label(at(point.resolved, path)).partition("(")[0] for path in NAMED}
        of.swept = LOAD in point.coordinates or at(point.resolved, LOAD) is not None
        load = None if by_phase else point.load()
        if load is None and not by_phase:
            return None
        of.runs.setdefault(load, [])
    return _zipped(found)


def _of(found: dict[str, Series], coordinates: Mapping[str, Any], *, by_phase: bool) -> Series:
    """The series to which a point with these coordinates belongs.

    The series is created when its first point is found.
    """
    apart = (SEED,) if by_phase else (SEED, LOAD)
    kept = {path: value for path, value in coordinates.items() if path not in apart}
    return found.setdefault("\n".join(label(value, path) for path, value in kept.items()), Series(kept))


def _zipped(found: Mapping[str, Series]) -> list[Series]:
    """The series. `swept` is set to false if the scenario varies the load together with another key (`zip`).

    This is the case if the series have different loads. The user can then not simply add a load.
    """
    if len({tuple(each.loads) for each in found.values()}) > 1:
        for each in found.values():
            each.swept = False
    return list(found.values())


def _lost(results: ResultSet) -> Iterator[tuple[dict[str, Any], str]]:
    """Coordinates of the points without numbers, each with the reason."""
    yield from ((point["coordinates"], "was not run yet") for point in results.absent)
    yield from ((point.coordinates, f"is damaged ({point.reason})") for point in results.damaged)


def _refused(judged: Summary) -> list[soundness.Flaw]:
    """Flaws of a run or a phase that exclude it from a bill.

    Dropped packets do not exclude a run, because the bill reports them.
    """
    return [flaw for flaw in soundness.flaws(judged) if flaw is not soundness.DROPPING]


def _load(summary: Summary) -> float:
    """The load in the scenario of a run.

    If each job has a separate load, the result is the offered load of all jobs.
    """
    named = summary.get("load")
    return round(summary[q.OFFERED.column] or 0.0, 4) if named is None else float(named)


def _place(load: float | None) -> str:
    """Text that names a load for messages; ``the point`` if `load` is ``None``, because the profile names phases."""
    return "the point" if load is None else f"load {load:.12g}"


def check_phase(number: int, count: int) -> None:
    """Refuse a phase that the load of a scenario does not have."""
    if count == 1:
        remedy = "name loads in the profile (`load: 0.1`), or write `traffic.phases`"
        raise UnbillableError("the load never changes, so it has no phases", remedy)
    if number > count:
        what = f"there is no phase {number}: the last phase is {count}"
        raise UnbillableError(what, f"name a phase from 1 to {count}")


def refuse_changes(load: float, count: int) -> None:
    """Refuse a load that changes in phases, because the profile names loads."""
    if count > 1:
        what = f"load {load:.12g} changes in {count} phases"
        raise UnbillableError(what, "name phases in all parts of the profile, such as `phase: 1`")


def _mean(runs: Sequence[Summary], dropped_share: float) -> Reading:
    """The means over the runs (seeds) of one load."""
    latencies = [run.get(q.LATENCY.column) for run in runs]
    known = [latency for latency in latencies if latency is not None]
    return Reading(
        fmean(run["power_mean_w"] for run in runs),
        fmean(map(_always_on_w, runs)),
        fmean(run[q.ACCEPTED.column] for run in runs),
        min(run["packets"] for run in runs),
        tuple(runs),
        dropped_share,
        fmean(known) if len(known) == len(runs) else None,
    )


def _always_on_w(run: Summary) -> float:
    """Power [W] that the same flits would need on links that never sleep.

    If a run has no links that a policy manages, its summary lacks this number, and the result is its mean power.
    """
    shown = run.get("power_always_on_mean_w")
    return float(run["power_mean_w"] if shown is None else shown)
