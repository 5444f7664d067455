"""Power of a network if it delivered as much as another one, and the part of a difference that is chance.

Two runs of the same traffic deliver a little more or less by chance, and the energy of flits follows that. So the
power of a reference is scaled to the work of the compared point. Its static part stays, and the rest grows with the
delivered load. A run that ends when its work is done delivers less per second where it takes longer: there all of its
energy belongs to the work.
"""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING, Any

from weft.results import quantities as q
from weft.results import soundness

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Summary = Mapping[str, Any]

# Of a phase: the static power of its run [W], which phases do not measure.
_STATIC = "static_power_w"
# The runs that a mean is over.
_RUNS = "runs"
# A run whose batches are complete after this share of its cycles ended because they were: the engine looks for that
# after some cycles only.
_ENDED = 0.97
# The standard deviation of the energy of a packet as a share of its mean (packets of the network take between none and
# twice the mean number of hops).
_OF_A_PACKET = 0.5


def phases(run: Summary) -> list[dict[str, Any]]:
    """The phases of a run (`soundness.in_phases`), with its static power."""
    kept = {key: run.get(key) for key in ("warmup_cycles", "window_cycles", "fault_parts", _RUNS)}
    return [kept | phase | {_STATIC: static_w(run)} for phase in soundness.in_phases(run)]


def static_w(measured: Summary) -> float:
    """Mean power that does not grow with the work [W]; 0 of a run that ends when its work is done."""
    if _ends_with_its_work(measured):
        return 0.0
    if (known := measured.get(_STATIC)) is not None:
        return min(float(known), float(measured["power_mean_w"]))
    seconds, of_flits = measured.get("window_seconds") or 0.0, measured.get("energy_dynamic_j") or 0.0
    return float(measured["power_mean_w"]) - (of_flits / seconds if seconds else 0.0)


def _ends_with_its_work(measured: Summary) -> bool:
    """Whether a run ends when its batches are complete, and not after a set time in which they happen to be."""
    completed = measured.get("completion_cycles")
    cycles = (measured.get("warmup_cycles") or 0) + (measured.get("window_cycles") or 0)
    return completed is not None and completed >= _ENDED * cycles


def power_w(reference: Summary, accepted: float) -> float:
    """Mean power of a reference if it accepted this load [flits/terminal/cycle], in W."""
    static = static_w(reference)
    return float(static + (reference["power_mean_w"] - static) * accepted / reference[q.ACCEPTED.column])


def chance_w(measured: Summary, reference: Summary) -> float:
    """How much more or less power the same flits may take by chance [W]: three standard deviations."""
    sides = (measured, reference)
    counts = [(side.get("packets") or 0) * len(_runs([side])) for side in sides]
    if not all(counts):
        return 0.0
    of_flits = max(side["power_mean_w"] - static_w(side) for side in sides)
    return float(soundness.CHANCE * _OF_A_PACKET * of_flits * math.sqrt(sum(1 / count for count in counts)))


def faults_differ(measured: Sequence[Summary], reference: Sequence[Summary]) -> bool:
    """Whether something fails in runs whose windows lie in other cycles than those of the reference."""
    both = (_runs(measured), _runs(reference))
    return _windows(both[0]) != _windows(both[1]) and any(soundness.is_failing(run) for runs in both for run in runs)


def common_warmup(runs: Iterable[Summary]) -> str:
    """The settings with which the windows of runs with faults are in the same cycles."""
    return f"{_fixed_warmup(_runs(runs))}, and faults that begin after it: then all windows have the same faults"


def _fixed_warmup(runs: Sequence[Summary]) -> str:
    """The setting that begins the windows of runs in the same cycle."""
    longest = max(runs, key=lambda run: run.get("warmup_cycles") or 0)
    cycles = longest.get("warmup_cycles") or 0
    # the results of a scenario with a grain count longer cycles than it writes
    is_coarse = any(warning.get("code") == "coarse_grain" for warning in longest.get("warnings") or [])
    written = f"{round(cycles * longest['cycle_seconds'] * 1e15)}fs" if is_coarse else f"{cycles}cycles"
    return f"write a fixed `measure.warmup` for all, such as `{written}`"


def other_cycles(pairs: Iterable[tuple[Summary, Summary]]) -> str:
    """Say that windows in other cycles were offered other loads, and how to make them equal; empty if they were not."""
    every = [
        (_runs([a]), _runs([b]))
        for a, b in pairs
        if None not in (a.get(q.OFFERED.column), b.get(q.OFFERED.column))
        and not any(map(_has_its_packets, _runs([a, b])))
    ]
    apart = [(a, b) for a, b in every if _windows(a) != _windows(b)]
    loads = [[fmean(run[q.OFFERED.column] for run in side) for side in pair] for pair in apart]
    if not apart or all(a == b for a, b in loads):
        return ""
    first = max(range(len(apart)), key=lambda place: abs(loads[place][0] - loads[place][1]))
    a, b = loads[first]
    # a warm-up that ends by itself ends sooner or later, and then the sources have drawn other packets
    starts = " and ".join(f"{fmean(run.get('warmup_cycles') or 0 for run in side):.0f}" for side in apart[first])
    count = f"{len(apart)} of {len(every)} pairs" if len(every) > 1 else "this pair"
    return (
        f"The windows of {count} begin or end in other cycles (warm-up {starts} cycles), so by chance other loads were "
        f"offered ({a:.4g} and {b:.4g} flits/terminal/cycle). For the same packets "
        f"{_fixed_warmup([run for pair in apart for side in pair for run in side])}, and no `measure.stop`."
    )


def _has_its_packets(run: Summary) -> bool:
    """Whether a run sends the same packets however long its window is: batches and programs."""
    return _ends_with_its_work(run) or bool(run.get("closed_loop"))


def _windows(runs: Sequence[Summary]) -> list[tuple[int, int]]:
    return sorted((run.get("warmup_cycles") or 0, run.get("window_cycles") or 0) for run in runs)


def mean(runs: Sequence[Summary]) -> Summary:
    """The means over runs of different seeds; of runs that can't be used the first of these."""
    if len(runs) == 1:
        return runs[0]
    bad = next((run for run in runs if soundness.obstacles(run)), None)
    return bad if bad is not None else _means(runs) | {_RUNS: runs}


def _runs(sides: Iterable[Summary]) -> list[Summary]:
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
