"""Compares the power of two runs as if they had delivered the same load, and computes the random part of differences.

Two runs of the same traffic deliver slightly different loads by chance, and the energy of flits grows with the load.
Therefore the power of the reference is converted to the load that the compared point delivers (equal work). The static
part of the power is constant, and the rest is proportional to the delivered load. Some runs end when their work is
done, such as those of batches. If such a run takes longer, it delivers fewer flits per second. For these runs the whole
power counts as proportional to the load.
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

# Key for the static power of a run [W]. It is also stored in each phase of the run, because phases do not measure it.
_STATIC = "static_power_w"
# Key that a mean over several runs has for the list of these runs.
_RUNS = "runs"


def phases(run: Summary) -> list[dict[str, Any]]:
    """The phases of a run (`soundness.in_phases`), each with the static power of the run."""
    kept = {key: run.get(key) for key in ("warmup_cycles", "window_cycles", "fault_parts", _RUNS)}
    return [kept | phase | {_STATIC: static_w(run)} for phase in soundness.in_phases(run)]


def static_w(measured: Summary) -> float:
    """Mean power that does not grow with the delivered load [W]; 0 for a run that ends when its work is done."""
    if soundness.verdict(measured).ends_with_its_work:
        return 0.0
    if (known := measured.get(_STATIC)) is not None:
        return min(float(known), float(measured["power_mean_w"]))
    seconds, of_flits = measured.get("window_seconds") or 0.0, measured.get("energy_dynamic_j") or 0.0
    return float(measured["power_mean_w"]) - (of_flits / seconds if seconds else 0.0)


def power_w(reference: Summary, accepted: float) -> float:
    """Mean power [W] that a reference would have if it accepted the load `accepted` [flits/terminal/cycle]."""
    return _engine.power_at_w(_power(reference), accepted)


def chance_w(measured: Summary, reference: Summary) -> float:
    """Difference of power [W] between two points that random variation can cause if both deliver the same flits."""
    return _engine.chance_w(_power(measured), _power(reference))


def saved_w(measured: Summary, reference: Summary) -> float:
    """Power that a point saves compared with a reference that delivers the same load [W].

    The result is 0 if random variation explains the difference.
    """
    return _engine.saved_w(_power(measured), _power(reference))


def _power(measured: Summary) -> tuple[float, float, float, float]:
    """The power and its static part [W], the accepted load [flits/terminal/cycle], and the packets of all runs."""
    packets = (measured.get("packets") or 0) * len(runs([measured]))
    return measured["power_mean_w"], static_w(measured), measured[q.ACCEPTED.column], packets


def _verdicts(sides: Iterable[Summary]) -> list[_engine.Verdict]:
    return [soundness.verdict(run) for run in runs(sides)]


def obstacles(measured: Summary, reference: Summary) -> list[tuple[str, str]]:
    """Reasons why the power and latency of two points cannot be compared, each as code and text; empty if they can."""

    def side(of: Summary) -> tuple[_engine.Verdict, list[_engine.Verdict], bool]:
        known = of.get(q.LATENCY.column) is not None and of.get("links_on_mean") is not None
        return soundness.verdict(of), _verdicts([of]), known and bool(of[q.ACCEPTED.column])

    return _engine.obstacles(side(measured), side(reference))


def faults_differ(measured: Sequence[Summary], reference: Sequence[Summary]) -> bool:
    """Whether parts of the network fail, and the windows of the runs cover other cycles than those of the reference."""
    return _engine.faults_differ(_verdicts(measured), _verdicts(reference))


def common_warmup(runs: Iterable[Summary]) -> str:
    """The settings with which the windows of these runs cover the same cycles, so that they contain the same faults."""
    return _engine.common_warmup(_verdicts(runs))


def other_windows(pairs: Iterable[tuple[Summary, Summary]]) -> list[dict[str, Any]]:
    """The diagnosis for pairs whose windows cover different cycles and have different offered loads.

    The result is empty if there are no such pairs.
    """
    found = _engine.other_windows([(_verdicts([a]), _verdicts([b])) for a, b in pairs])
    return [] if found is None else [found]


def not_compared(code: str, pairs: Sequence[tuple[Summary, Summary]], of: int) -> dict[str, Any] | None:
    """The diagnosis for the pairs `pairs`, which cannot be compared for the reason `code`; `of` counts all pairs.

    The result is ``None`` if the reason is a flaw of a single point.
    """
    return _engine.not_compared(code, len(pairs), of, _verdicts(side for pair in pairs for side in pair))


def mean(runs: Sequence[Summary]) -> Summary:
    """The means over runs with different seeds, in the form of a summary.

    If a run has a flaw that forbids a comparison, the result is the summary of the first such run.
    """
    if len(runs) == 1:
        return runs[0]
    bad = next((run for run in runs if soundness.obstacles(run)), None)
    return bad if bad is not None else _means(runs) | {_RUNS: runs}


def runs(sides: Iterable[Summary]) -> list[Summary]:
    """All runs from which some summaries were computed.

    A summary that is a mean over runs is replaced by these runs.
    """
    return [run for side in sides for run in side.get(_RUNS) or [side]]


def _means(runs: Sequence[Summary]) -> dict[str, Any]:
    return {key: _mean([run.get(key) for run in runs]) for key in runs[0]}


def _mean(values: Sequence[Any]) -> Any:
    if all(value == values[0] for value in values):  # equal values are kept, such as the number of a phase
        return values[0]
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return fmean(values)
    if all(isinstance(value, list) and len(value) == len(values[0]) for value in values):
        parts = list(zip(*values, strict=True))
        if all(isinstance(each, dict) for part in parts for each in part):
            return [_means(part) for part in parts]
    return values[0]
