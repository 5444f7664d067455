"""Measured points as series over load, which give the power at a load or in a phase, or say why there is none.

A profile names loads that were measured. Between two of them nothing is interpolated: a policy switches whole links, so
that its power over load has steps.
"""

from __future__ import annotations

from bisect import bisect
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Any

from weft.results import quantities as q
from weft.results import soundness
from weft.results.choose import LOAD, NAMED, SEED
from weft.text.labels import at, label

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from weft._engine import Point
    from weft.results.bill_keys import Part
    from weft.results.result_set import ResultSet

    Summary = Mapping[str, Any]

# Two numbers in floating point that mean the same load.
_SAME_LOAD = 1e-9
# A remedy lists at most so many loads.
_LISTED = 12
_LONGER = "write a longer `measure.window`, in which packets are delivered"
_LIGHTER = "a load that the network carries, or write another network or routing"
# What to do about a point that is not sound; where its warm-up is the reason, `_unsettled` knows more.
_REMEDIES = {
    soundness.STALLED: "`weft explain stall {root}` shows what waits for what; write more VCs or another routing",
    soundness.INTERRUPTED: "run it to its end: {again} --force",
    soundness.SATURATED: f"name {_LIGHTER}",
    soundness.SATURATED_FOR_A_WHILE: f"name {_LIGHTER}",
    soundness.EMPTY: _LONGER,
}
_UNSETTLED = {soundness.POWER_UNSETTLED, soundness.LATENCY_UNSETTLED}


class UnbillableError(Exception):
    """There is no power that could be billed.

    Attributes
    ----------
    what, help : str
        Why, and what to do about it.
    """

    def __init__(self, what: str, help: str) -> None:  # the names of the fields of a diagnostic
        super().__init__(what)
        self.what, self.help = what, help


@dataclass(frozen=True)
class Reading:
    """What a series measured at a load or in a phase, as a mean over seeds.

    Attributes
    ----------
    power_w : float
        Mean power of links and routers [W].
    always_on_w : float
        The same with links that never sleep, for the same flits [W].
    delivered : float
        Accepted load [flits/terminal/cycle].
    packets : int
        Packets of the window, of the run that had the fewest.
    """

    power_w: float
    always_on_w: float
    delivered: float
    packets: int

    def same_work(self, other: Reading) -> bool:
        """Whether both deliver the same, up to 3 % and what chance explains (three standard deviations)."""
        return soundness.same_work((self.delivered, other.delivered), (self.packets, other.packets))


@dataclass
class Series:
    """Points that differ in load and seed only, measured or to be measured.

    Attributes
    ----------
    coordinates : dict
        What the sweep set, but for load and seed.
    names : dict
        Names of models by path, also of those that were not swept.
    runs : dict
        Summaries of each load, one per seed; of phases those of the only load, ``None``. Empty where nothing ran yet.
    lost : list of tuple
        Loads (``None``: any) whose runs have no numbers, each with the reason.
    swept : bool
        Whether the sweep sets `LOAD`, and so can be given more loads.
    root, again : str
        Folder of the results, and how to run what is missing there; empty before a run.
    """

    coordinates: dict[str, Any]
    names: dict[str, Any] = field(default_factory=dict)
    runs: dict[float | None, list[Summary]] = field(default_factory=dict)
    lost: list[tuple[float | None, str]] = field(default_factory=list)
    swept: bool = True
    root: str = ""
    again: str = ""

    def value(self, path: str) -> Any:
        """The value at a path, also of a model that was not swept."""
        return self.coordinates[path] if path in self.coordinates else self.names.get(path)

    @property
    def loads(self) -> list[float]:
        """All loads that were measured or are to be, in their order."""
        return sorted({load for load in (*self.runs, *(load for load, _ in self.lost)) if load is not None})

    def find(self, load: float) -> float:
        """The load of the sweep that a profile means.

        Raises
        ------
        UnbillableError
            If it is not among them, with the nearest ones.
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
        """A sweep that has the load, too, where that is one key."""
        if not self.swept or len(self.loads) >= _LISTED:
            return "name a measured load, or measure this one, too (finished points stay)"
        wanted = ", ".join(f"{each:.12g}" for each in sorted([*self.loads, load]))
        return f"sweep `{LOAD}: [{wanted}]` (finished points stay), or name a measured load"

    def at(self, part: Part) -> Reading:
        """What was measured at the load or in the phase of a part of a profile.

        Raises
        ------
        UnbillableError
            With the reason.
        """
        again = f"run it: {self.again}" if self.again else "run the sweep again: it runs what is missing"
        for known, reason in self.lost:
            if known is None:
                raise UnbillableError(f"it {reason}", again)
        load = None if part.load is None else self.find(part.load)
        for known, reason in self.lost:
            if known == load:
                raise UnbillableError(f"load {load:.12g} {reason}", again)
        runs = self.runs[load]
        for run in runs:
            self._check(run, "it " if load is None else f"load {load:.12g} ", by_phase=part.phase is not None)
        return _mean(runs if part.phase is None else [_phase(run, part.phase) for run in runs])

    def _check(self, run: Summary, place: str, *, by_phase: bool) -> None:
        """Refuse a run that must not be billed."""
        if not by_phase:
            refuse_changes(_load(run), len(run.get("phases") or [1]))
        flaws = soundness.flaws(run)
        if by_phase:  # each phase says for itself whether it is saturated, and made of whole periods
            of_phases = (soundness.SATURATED_FOR_A_WHILE, soundness.PART_OF_PERIOD)
            flaws = [flaw for flaw in flaws if flaw not in of_phases]
        if flaws:
            raise UnbillableError(f"{place}is {flaws[0].words}", self._remedy(flaws[0], run))
        if not run.get(q.ACCEPTED.column):
            raise UnbillableError(f"{place}delivered nothing", _LONGER)
        if run.get("power_mean_w") is None:
            raise UnbillableError(f"{place}has no measured power", _LONGER)

    def _remedy(self, flaw: soundness.Flaw, run: Summary) -> str:
        if flaw in _UNSETTLED:
            return _unsettled(run)
        if flaw not in _REMEDIES:
            known = (soundness.unjudged(run), soundness.part_of_period(run), *soundness.remedies(run), _LONGER)
            return next(words for words in known if words)
        return _REMEDIES[flaw].format(root=self.root, again=self.again or "weft run")


def series_of(results: ResultSet, *, by_phase: bool) -> list[Series]:
    """The series of all points, in the order of the sweep; points without results say why they have none.

    Where a profile names phases, points of different loads are different series.
    """
    found: dict[str, Series] = {}
    again = results.command or ""

    def series(coordinates: Mapping[str, Any]) -> Series:
        known = _of(found, coordinates, by_phase=by_phase)
        known.root, known.again, known.swept = str(results.root), again, LOAD in coordinates
        return known

    for point, summary in zip(results.points, results.summaries, strict=True):
        of = series(point["coordinates"])
        of.names = {path: summary.get(column) for path, column in NAMED.items()}
        load = None if by_phase else _load(summary)
        if summary["hash"] not in {run["hash"] for run in of.runs.setdefault(load, [])}:
            of.runs[load].append(summary)
    for coordinates, reason in _lost(results):
        series(coordinates).lost.append((None if by_phase else coordinates.get(LOAD), reason))
    return _zipped(found)


def planned(points: Sequence[Point], *, by_phase: bool) -> list[Series] | None:
    """The series that a sweep will measure; ``None`` if only its runs can say at which loads."""
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
    """The series of a point, made when it is first met."""
    apart = (SEED,) if by_phase else (SEED, LOAD)
    kept = {path: value for path, value in coordinates.items() if path not in apart}
    return found.setdefault("\n".join(label(value, path) for path, value in kept.items()), Series(kept))


def _zipped(found: Mapping[str, Series]) -> list[Series]:
    """The series; where each has its own loads, `zip` sets these together with something else."""
    if len({tuple(each.loads) for each in found.values()}) > 1:
        for each in found.values():
            each.swept = False
    return list(found.values())


def _lost(results: ResultSet) -> Iterator[tuple[dict[str, Any], str]]:
    """Coordinates of the points without numbers, and why they have none."""
    yield from ((point["coordinates"], "was not run yet") for point in results.absent)
    yield from ((point.coordinates, f"is damaged ({point.reason})") for point in results.damaged)


def _load(summary: Summary) -> float:
    """The load as it was set; where each job has its own, what all of them offered."""
    named = summary.get("load")
    return round(summary[q.OFFERED.column] or 0.0, 4) if named is None else float(named)


def _unsettled(run: Summary) -> str:
    """What to do about a warm-up that was too short: what the engine said of it, or by the kind of warm-up."""
    for warning in run.get("warnings") or []:
        if warning["path"] == "measure.warmup" and warning["help"]:
            return str(warning["help"])
    fixed = run.get("warmup_settled") is None
    return "write `measure.warmup: auto`" if fixed else "write a longer `measure.warmup_limit`"


def _phase(summary: Summary, number: int) -> Summary:
    """What a run measured in a phase."""
    phases: dict[int, Summary] = {each["phase"]: each for each in summary.get("phases") or []}
    check_phase(number, len(phases or [1]))
    phase = phases[number]
    if phase.get(q.ACCEPTED.column) is None:
        begin = phase.get("start_cycle")
        since = "" if begin is None else f", which begins in cycle {begin}"
        remedy = "write `measure.warmup` and `measure.window` so that a part of it lies in the window"
        raise UnbillableError(f"the window does not reach phase {number}{since}", remedy)
    if phase["saturated"]:
        raise UnbillableError(f"it is saturated in phase {number}", f"write for this phase {_LIGHTER}")
    if phase.get("whole_periods") is False:
        words = soundness.PART_OF_PERIOD.words
        raise UnbillableError(f"phase {number} is {words}", soundness.part_of_period(summary) or words)
    if not phase[q.ACCEPTED.column]:
        raise UnbillableError(f"nothing was delivered in phase {number}", _LONGER)
    return phase


def check_phase(number: int, count: int) -> None:
    """Refuse a phase that a load of so many phases does not have."""
    if count == 1:
        remedy = "name loads in the profile (`load: 0.1`), or write `traffic.phases`"
        raise UnbillableError("the load never changes: it has no phases", remedy)
    if number > count:
        raise UnbillableError(f"there is no phase {number}: the last is {count}", f"name a phase from 1 to {count}")


def refuse_changes(load: float, count: int) -> None:
    """Refuse a load that changes in phases, where a profile names loads."""
    if count > 1:
        what = f"load {load:.12g} changes in {count} phases"
        raise UnbillableError(what, "name phases in all parts of the profile, such as `phase: 1`")


def _mean(runs: Sequence[Summary]) -> Reading:
    """The means over the runs of one load; a run without the reference has none of its links managed."""
    own, always_on = "power_mean_w", "power_always_on_mean_w"
    return Reading(
        fmean(run[own] for run in runs),
        fmean(run[own] if run.get(always_on) is None else run[always_on] for run in runs),
        fmean(run[q.ACCEPTED.column] for run in runs),
        min(run["packets"] for run in runs),
    )
