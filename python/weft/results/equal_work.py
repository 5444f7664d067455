"""Power of a network if it delivered as much as another one, and the part of a difference that is chance.

Two runs of the same traffic deliver a little more or less by chance, and the energy of flits follows that. So the
power of a reference is scaled to the work of the compared point. Its static part stays, and the rest grows with the
delivered load. A run that ends when its work is done delivers less per second where it takes longer: there all of its
energy belongs to the work.
"""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Any

from weft import _engine
from weft.results import quantities as q
from weft.results import soundness

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Summary = Mapping[str, Any]

# Of a phase: the static power of its run [W], which phases do not measure.
_STATIC = "static_power_w"
# The runs that a mean is over.
_RUNS = "runs"


def phases(run: Summary) -> list[dict[str, Any]]:
    """The phases of a run (`soundness.in_phases`), with its static power."""
    kept = {key: run.get(key) for key in ("warmup_cycles", "window_cycles", "fault_parts", _RUNS)}
    return [kept | phase | {_STATIC: static_w(run)} for phase in soundness.in_phases(run)]


def static_w(measured: Summary) -> float:
    """Mean power that does not grow with the work [W]; 0 of a run that ends when its work is done."""
    if soundness.verdict(measured).ends_with_its_work:
        return 0.0
    if (known := measured.get(_STATIC)) is not None:
        return min(float(known), float(measured["power_mean_w"]))
    seconds, of_flits = measured.get("window_seconds") or 0.0, measured.get("energy_dynamic_j") or 0.0
    return float(measured["power_mean_w"]) - (of_flits / seconds if seconds else 0.0)


def power_w(reference: Summary, accepted: float) -> float:
    """Mean power of a reference if it accepted this load [flits/terminal/cycle], in W."""
    return _engine.power_at_w(_power(reference), accepted)


def chance_w(measured: Summary, reference: Summary) -> float:
    """How much more or less power the same flits may take by chance [W]."""
    return _engine.chance_w(_power(measured), _power(reference))


def saved_w(measured: Summary, reference: Summary) -> float:
    """Power that a point draws less than a reference at the same work [W]; 0 if chance explains it."""
    return _engine.saved_w(_power(measured), _power(reference))


def _power(measured: Summary) -> tuple[float, float, float, float]:
    """Mean power and its static part [W], accepted load [flits/terminal/cycle], and packets of all runs."""
    packets = (measured.get("packets") or 0) * len(runs([measured]))
    return measured["power_mean_w"], static_w(measured), measured[q.ACCEPTED.column], packets


def _verdicts(sides: Iterable[Summary]) -> list[_engine.Verdict]:
    return [soundness.verdict(run) for run in runs(sides)]


def obstacles(measured: Summary, reference: Summary) -> list[tuple[str, str]]:
    """Why two points can't be compared by power and latency: codes and predicates; empty if they can."""

    def side(of: Summary) -> tuple[_engine.Verdict, list[_engine.Verdict], bool]:
        known = of.get(q.LATENCY.column) is not None and of.get("links_on_mean") is not None
        return soundness.verdict(of), _verdicts([of]), known and bool(of[q.ACCEPTED.column])

    return _engine.obstacles(side(measured), side(reference))


def faults_differ(measured: Sequence[Summary], reference: Sequence[Summary]) -> bool:
    """Whether something fails in runs whose windows are in other cycles than the windows of the reference."""
    return _engine.faults_differ(_verdicts(measured), _verdicts(reference))


def common_warmup(runs: Iterable[Summary]) -> str:
    """The settings with which the windows of runs with faults are in the same cycles."""
    return _engine.common_warmup(_verdicts(runs))


def other_windows(pairs: Iterable[tuple[Summary, Summary]]) -> list[dict[str, Any]]:
    """The diagnosis of windows in other cycles that were offered other loads; none if they were not."""
    found = _engine.other_windows([(_verdicts([a]), _verdicts([b])) for a, b in pairs])
    return [] if found is None else [found]


def not_compared(code: str, pairs: Sequence[tuple[Summary, Summary]], of: int) -> dict[str, Any] | None:
    """The diagnosis of pairs that one reason keeps from being compared; ``None`` if it is a flaw of a point of them."""
    return _engine.not_compared(code, len(pairs), of, _verdicts(side for pair in pairs for side in pair))


def mean(runs: Sequence[Summary]) -> Summary:
    """The means over runs of different seeds; of runs that can't be used the first of these."""
    if len(runs) == 1:
        return runs[0]
    bad = next((run for run in runs if soundness.obstacles(run)), None)
    return bad if bad is not None else _means(runs) | {_RUNS: runs}


def runs(sides: Iterable[Summary]) -> list[Summary]:
    """The runs of which some of these are means, and the others."""
    return [run for side in sides for run in side.get(_RUNS) or [side]]


def _means(runs: Sequence[Summary]) -> dict[str, Any]:
    return {key: _mean([run.get(key) for run in runs]) for key in runs[0]}


def _mean(values: Sequence[Any]) -> Any:
    if all(value == values[0] for value in values):  # the number of a phase stays whole
        return values[0]
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return fmean(values)
    if all(isinstance(value, list) and len(value) == len(values[0]) for value in values):
        parts = list(zip(*values, strict=True))
        if all(isinstance(each, dict) for part in parts for each in part):
            return [_means(part) for part in parts]
    return values[0]
