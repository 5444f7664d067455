"""Measured points as series over load, which give the power at a load or in a phase, or say why there is none."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Any

from weft.results import quantities as q
from weft.results import soundness
from weft.results.choose import LOAD, NAMED, SEED
from weft.text.labels import label

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weft.results.result_set import ResultSet

# Two numbers in floating point that mean the same load.
_SAME_LOAD = 1e-9


class UnbillableError(Exception):
    """There is no power that could be billed; the text says why."""


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
    between : tuple
        The measured loads between which it was interpolated; equal if it was measured, ``None`` for a phase.
    """

    power_w: float
    always_on_w: float
    delivered: float
    between: tuple[float | None, float | None]
    packets: int
    """Packets of the window, of the run that had the fewest."""

    def same_work(self, other: Reading) -> bool:
        """Whether both deliver the same, up to 3 % and what chance explains (three standard deviations)."""
        return soundness.same_work((self.delivered, other.delivered), (self.packets, other.packets))


def unusable(summary: Mapping[str, Any], *, by_phase: bool = False) -> str:
    """Why a point must not be billed; empty if it may. `by_phase`: whether its phases are billed one by one."""
    flaws = soundness.flaws(summary)
    if by_phase:  # each phase says for itself whether it is saturated
        flaws = [flaw for flaw in flaws if flaw != soundness.SATURATED_FOR_A_WHILE]
    if flaws:
        return f"it is {flaws[0].words} there"
    if not summary.get(q.ACCEPTED.column):
        return "it delivered nothing there"
    if not by_phase and summary.get("phases"):
        return "the load changes in phases there, so that a profile has to name them (`phase: 1`)"
    return ""


@dataclass
class Series:
    """Points that differ in load and seed only.

    Attributes
    ----------
    coordinates : dict
        What the sweep set, but for load and seed.
    points : dict
        Summaries of each load, one per seed; of phases those of the only load.
    """

    coordinates: dict[str, Any]
    points: dict[float, list[Mapping[str, Any]]] = field(default_factory=dict)

    def value(self, path: str) -> Any:
        """The value at a path, also of a model that was not swept."""
        if path in self.coordinates or path not in NAMED:
            return self.coordinates.get(path)
        return next(iter(self.points.values()))[0].get(NAMED[path])

    def at(self, load: float | None, phase: int | None) -> Reading:
        """What was measured at a load, or in a phase.

        Raises
        ------
        UnbillableError
            With the reason.
        """
        return self._over_load(load) if load is not None else self._in_phase(phase or 0)

    def _over_load(self, load: float) -> Reading:
        why = {at: next(filter(None, map(unusable, runs)), "") for at, runs in sorted(self.points.items())}
        used = [at for at, reason in why.items() if not reason]
        below = max((at for at in used if at <= load + _SAME_LOAD), default=None)
        above = min((at for at in used if at >= load - _SAME_LOAD), default=None)
        if below is None or above is None:
            raise UnbillableError(_outside(load, used, why))
        between = [at for at in why if below < at < above and any(map(soundness.is_over, self.points[at]))]
        if between:
            raise UnbillableError(f"load {load:g} lies beside load {between[0]:g}, and {why[between[0]]}")
        low, high = (_mean(self.points[at]) for at in (below, above))
        weight = (load - below) / (above - below) if above > below else 0.0

        def mixed(a: float, b: float) -> float:
            return a + weight * (b - a)

        return Reading(
            mixed(low.power_w, high.power_w),
            mixed(low.always_on_w, high.always_on_w),
            mixed(low.delivered, high.delivered),
            (below, above),
            min(low.packets, high.packets),
        )

    def _in_phase(self, phase: int) -> Reading:
        (runs,) = self.points.values()
        for run in runs:
            if reason := unusable(run, by_phase=True):
                raise UnbillableError(reason.removesuffix(" there"))
        phases = [_phase(run, phase) for run in runs]
        return _mean(phases, of_phase=True)


def series_of(results: ResultSet, *, by_phase: bool) -> list[Series]:
    """The series of all finished points, in the order of the sweep.

    Where a profile names phases, points of different loads are different series.
    """
    found: dict[str, Series] = {}
    for point, summary in zip(results.points, results.summaries, strict=True):
        apart = (SEED,) if by_phase else (SEED, LOAD)
        coordinates = {path: value for path, value in point["coordinates"].items() if path not in apart}
        key = "\n".join(label(value, path) for path, value in coordinates.items())
        series = found.setdefault(key, Series(coordinates))
        load = 0.0 if by_phase else _load(summary)
        if summary["hash"] not in {run["hash"] for run in series.points.setdefault(load, [])}:
            series.points[load].append(summary)
    return list(found.values())


def _load(summary: Mapping[str, Any]) -> float:
    """The load as it was set; where each job has its own, what all of them offered."""
    named = summary.get("load")
    return round(summary[q.OFFERED.column] or 0.0, 4) if named is None else float(named)


def _outside(load: float, used: Sequence[float], why: Mapping[float, str]) -> str:
    """Why no usable points enclose a load."""
    if not used:
        return f"no point can be used: at load {min(why):g} {why[min(why)]}"
    if load > used[-1]:
        beyond = next((f": at load {at:g} {why[at]}" for at in why if at > used[-1]), "; none above it was measured")
        return f"load {load:g} is beyond load {used[-1]:g}, the last that can be billed{beyond}"
    below = next((f": at load {at:g} {why[at]}" for at in why if at < used[0]), "; none below it was measured")
    return f"load {load:g} is below load {used[0]:g}, the first that can be billed{below}"


def _phase(summary: Mapping[str, Any], phase: int) -> Mapping[str, Any]:
    """What a run measured in a phase."""
    phases: dict[int, Mapping[str, Any]] = {each["phase"]: each for each in summary.get("phases") or []}
    if not phases:
        raise UnbillableError("the run has no phases: the load of its scenario does not change")
    if phase not in phases:
        raise UnbillableError(f"there is no phase {phase}: the phases are {', '.join(map(str, phases))}")
    if phases[phase].get(q.ACCEPTED.column) is None:
        raise UnbillableError(f"the window does not reach phase {phase}")
    if phases[phase]["saturated"]:
        raise UnbillableError(f"it is saturated in phase {phase}")
    if not phases[phase][q.ACCEPTED.column]:
        raise UnbillableError(f"nothing was delivered in phase {phase}")
    return phases[phase]


def _mean(runs: Sequence[Mapping[str, Any]], *, of_phase: bool = False) -> Reading:
    """The means over the runs of one load; a run without the reference has none of its links managed."""
    own, always_on = (column for column in ("power_mean_w", "power_always_on_mean_w"))
    if any(run.get(own) is None for run in runs):
        raise UnbillableError("no power was measured there")
    load = None if of_phase else _load(runs[0])
    return Reading(
        fmean(run[own] for run in runs),
        fmean(run[own] if run.get(always_on) is None else run[always_on] for run in runs),
        fmean(run[q.ACCEPTED.column] for run in runs),
        (load, load),
        min(run["packets"] for run in runs),
    )
