"""Remedies that let Weft rank a flawed point: one for each flaw of `soundness`, with numbers."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from weft.results import soundness

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weft.results.backlog import Backlog
    from weft.results.soundness import Flaw

# A warm-up of so many times the run so far, and so many times the window, show whether what is accepted falls behind,
# and whether queues settle.
_LONGER = 4
# No run is proposed that is so many times as long: queues that seem to need it may be those of a run that began badly.
_PATIENCE = 50
# A load below the bound of its paths by this share settles in a run of usual length.
_BELOW_BOUND = 0.95
# The longest window that a scenario may have [cycles].
_LONGEST = 2**48
_NEAR = "near the capacity queues hardly ever drain"


def of_flaw(summary: Mapping[str, Any], of: Flaw | None = None) -> str:
    """Remedy for a flaw of a point (by default the worst), with its numbers where they are known.

    It is empty for a sound point.

    A point has one remedy for each flaw: that of the engine, that of its numbers, or else that of the flaw.
    """
    worst_of_it = of or next(iter(soundness.flaws(summary)), None)
    if worst_of_it is None:
        return ""
    told: list[str] = []
    if worst_of_it in soundness.UNSETTLED:
        told = to_settle(summary)
    elif worst_of_it in soundness.OVERLOADED and (warning := soundness.policy_warning(summary)):
        told = [f"{warning['path']} may be why: {warning['help']}; else {worst_of_it.help}"]
    elif worst_of_it in (soundness.UNJUDGED, soundness.PART_OF_PERIOD):
        told = [warning["help"] for warning in soundness.warnings_of(summary, *soundness.TOO_SHORT)]
    elif worst_of_it is soundness.FEW:
        told = [_more_packets(summary)]
    elif worst_of_it is soundness.EMPTY and soundness.is_silent(summary):
        told = [_any_packet(summary)]
    return next(iter(told), worst_of_it.help)


def in_profile(summary: Mapping[str, Any], of: Flaw) -> str:
    """Remedy for a flaw of a point whose load a profile names: another load alone would be one that it lacks.

    Profiles name phases by their number, which keeps the profile as it is.
    """
    told = of_flaw(summary, of)
    names_load = "load" in told and "phase" not in summary
    return f"{told}; another load must be named in the profile, too" if names_load else told


def to_judge(summary: Mapping[str, Any]) -> str:
    """Settings with which a point that `is_behind` shows if the network carries its load.

    After the longer warm-up the gap is one that lasts, and in half of the longer window chance explains less of it.
    """
    if soundness.FULL in soundness.flaws(summary):  # no time is long enough
        return f"write {below_bound(summary)}"
    warmup, window = (summary.get(f"{key}_cycles") or 0 for key in ("warmup", "window"))
    longer = max(_rounded_up(_LONGER * (warmup + window)), summary.get("warmup_limit_cycles") or 0)
    key = "measure.warmup_limit" if _by_limit(summary) else "measure.warmup"
    return f"write `{key}: {longer}cycles` and `measure.window: {_rounded_up(_LONGER * window)}cycles`, or more"


def to_settle(summary: Mapping[str, Any], least_limit: int = 0) -> list[str]:
    """Settings with which an unsettled point settles, with numbers; empty for a settled one.

    Parameters
    ----------
    summary : mapping
        Of a point, or of a phase of `in_phases`.
    least_limit : int
        The longest `measure.warmup_limit` of all points of the sweep [cycles]: where one is written for all of them, no
        point gets less than it had.
    """
    found = set(soundness.flaws(summary)) & soundness.UNSETTLED
    if not found or soundness.is_over(summary):
        return []
    if soundness.FULL in found:  # no time is long enough
        return [f"write {below_bound(summary)}"]
    if soundness.is_silent(summary):
        return [_any_packet(summary)]
    told = [each["help"] for each in soundness.warnings_of(summary, soundness.WARMUP)]
    if soundness.QUEUES_UNSETTLED in found:
        told.append(_for_queues(summary, least_limit))
    elif _by_limit(summary):
        limit = max(_longer_limit(summary), least_limit)
        # power states settle no sooner under a lower load
        lighter = f"; {_else_lighter(summary)}" if summary["warmup_settled"] is False else ""
        longer = f"write `measure.warmup_limit: {limit}cycles` or more{lighter}"
        told.append(f"`measure.warmup: auto` reached its limit: {longer}")
    if late := soundness.fell_behind(summary) or soundness.began_behind(summary):
        told.append(after_backlog(summary, late))
    if soundness.BACKLOG in found:
        told.append(soundness.BACKLOG.help)
    return told


def _longer_limit(summary: Mapping[str, Any]) -> int:
    """A limit of a warm-up that came to its own: the one that the engine names [cycles], or else twice as much."""
    told = (warning["help"] for warning in soundness.warnings_of(summary, soundness.LIMIT))
    named = (re.search(r"`measure\.warmup_limit: (\d+)cycles`", each) for each in told)
    reached = max(summary.get("warmup_cycles") or 0, summary.get("warmup_limit_cycles") or 0)
    return max([_rounded_up(2 * reached), *(int(found[1]) for found in named if found)])


def _for_queues(summary: Mapping[str, Any], least_limit: int) -> str:
    """A run long enough for queues of this length; near the capacity, a lower load first."""
    if "phase" in summary or summary.get("phases"):
        phases = soundness.in_phases(summary) or [dict(summary)]
        return "; ".join(_for_phase(each) for each in phases if soundness.QUEUES_UNSETTLED in soundness.flaws(each))
    return _lighter(summary, least_limit) if _is_near_capacity(summary) else _longer_run(summary, least_limit)


def _for_phase(phase: Mapping[str, Any]) -> str:
    """The same for a phase of `in_phases`."""
    number = phase["phase"]
    lower = f"the load of phase {number} by 5 % or more"
    if _is_near_capacity(phase):
        return f"lower {lower}: {_NEAR}"
    longer = _enough_for(phase, phase["to_cycle"] - phase["start_cycle"])
    end = "before the next one begins or the window ends"
    near = "if that is not enough, it may be near the capacity: lower"
    return f"let phase {number} last for {_rounded_up(longer)} cycles or more {end}; {near} {lower}"


def _enough_for(span: Mapping[str, Any], lasted: int) -> int:
    """How long a run or a phase must last that was too short for its queues [cycles]."""
    return _LONGER * math.ceil(max(_memory(span, lasted), lasted))


def _memory(span: Mapping[str, Any], lasted: int) -> float:
    """How long queues remember how they began, or 0 if no run could be proposed that is as long [cycles]."""
    memory = span.get("queue_memory_cycles") or 0
    return memory if memory <= _PATIENCE * lasted else 0


def _is_near_capacity(summary: Mapping[str, Any]) -> bool:
    """Whether the load of a point is near the capacity, so that no time may be long enough.

    Its paths carry hardly more, it accepts less than it is offered, or packets wait in the source queues that it does
    not deliver. Queues that are long for another reason (a routing that fills queues before it leaves the shortest
    paths, links that sleep) are as long at a load 5 % lower.
    """
    if (summary.get("path_bound_share") or 0) > _BELOW_BOUND or soundness.is_behind(summary):
        return True
    begin, end = ((summary.get(key) or 0) for key in ("backlog_before_packets", "backlog_packets"))
    chance = soundness.CHANCE * math.sqrt(summary.get("packets") or 0)
    return bool(end > chance and begin - end <= chance)


def _by_limit(summary: Mapping[str, Any]) -> bool:
    """Whether a warm-up that may end by itself came to its limit."""
    settled = (summary.get("warmup_settled"), summary.get("power_settled"))
    return settled[0] is not None and False in settled


def _after_a_backlog(summary: Mapping[str, Any]) -> float:
    """Cycles after which what waits is gone [cycles].

    At a load that leaves 5 % of the capacity a backlog is gone after 20 times the wait in it, and a warm-up that ends
    by itself has to see twice that time and more.
    """
    return 100 * float(summary["queueing_mean_cycles"])


def _longer_run(summary: Mapping[str, Any], least_limit: int) -> str:
    """A warm-up and a window that are longer than queues of this length need to forget how they began."""
    warmup, window = (summary.get(f"{key}_cycles") or 0 for key in ("warmup", "window"))
    cycles = _rounded_up(max(_enough_for(summary, warmup + window), _after_a_backlog(summary)))
    fixed = ""
    if _by_limit(summary):
        limit = max(cycles, 2 * (summary.get("warmup_limit_cycles") or 0), least_limit)
        begin = f"`measure.warmup_limit: {limit}cycles`"
    else:
        begin = f"`measure.warmup: {cycles}cycles`"
        if summary.get("warmup_settled") is not None:  # a longer limit changes nothing, and is refused beside this
            fixed = " (in place of `auto` and of any `measure.warmup_limit`)"
    # a multiple, so that it still holds whole periods of the policy; and longer than queues take to swing, as one that
    # begins or ends in the middle of a swing accepts more or less than it is offered
    times = _LONGER * max(1, math.ceil(_memory(summary, warmup + window) / window)) if window else 0
    longer = f" and `measure.window: {times * window}cycles`" if window else ""
    return f"write {begin}{longer}, or more{fixed}; {_else_lighter(summary)}"


def _lighter(summary: Mapping[str, Any], least_limit: int) -> str:
    """A lower load, and a warm-up that is long enough for it.

    A limit changes nothing where it was not what ended the warm-up.
    """
    enough = _rounded_up(max(2 * (summary.get("warmup_cycles") or 0), _after_a_backlog(summary)))
    cycles = max(enough, 2 * (summary.get("warmup_limit_cycles") or 0), least_limit)
    if summary.get("warmup_settled") is None:
        warmup = f" and `measure.warmup: {cycles}cycles`"
    else:
        warmup = f" and `measure.warmup_limit: {cycles}cycles`" if _by_limit(summary) else ""
    return f"write {_lower_load(summary)}{warmup}: {_NEAR}, however long the warm-up is"


def below_bound(summary: Mapping[str, Any]) -> str:
    """A load that the paths can carry, as `traffic.load` if this is known, or longer buffers."""
    share, load = summary["path_bound_share"], summary.get("load")
    buffer, needed = (summary.get(f"path_bound_buffer{key}") for key in ("", "_needed_flits"))
    longer = (
        "" if buffer is None else f"; or `{buffer}: {needed}flits`, with which the links are never idle for credits"
    )
    if load is None:
        return f"loads that are {100 * (1 - _BELOW_BOUND / share):.2g} % lower{longer}"
    lower, bound = f"{_BELOW_BOUND * load / share:.3g}", f"{load / share:.4g}"
    return f"a load of {lower} or less: its paths carry {bound}, and near that queues hardly ever drain{longer}"


def after_backlog(summary: Mapping[str, Any], late: Backlog) -> str:
    """Settings with which a backlog is gone before the window, or is small against the load of a phase."""
    begin = summary.get("warmup_cycles") or 0
    if not late.at_begin:
        return longer_phase(summary, late)
    in_phase = bool(summary.get("phases")) or "phase" in summary
    if late.drained_in is None:
        return f"lower the load{' of the phase before' if in_phase else ''}: the network hardly delivers what was left"
    later = _rounded_up(begin + 2 * late.drained_in)
    shifted = f", and let all phases that begin later begin {later - begin} cycles later" if in_phase else ""
    return f"write `measure.warmup: {later}cycles` or more{shifted}"


def longer_phase(phase: Mapping[str, Any], late: Backlog) -> str:
    """Length of a phase with which the flits that wait at its begin or end are less than 3 % of its load."""
    return f"let phase {phase['phase']} last for {_rounded_up(late.long_enough)} cycles or more in the window"


def _more_packets(summary: Mapping[str, Any]) -> str:
    """How long to measure for twice the packets that a mean needs, so that chance does not leave too few again."""
    times = math.ceil(2 * soundness.FEWEST_PACKETS / summary["packets"])
    if (window := summary.get("window_cycles")) and "phase" not in summary:
        if times * window > _LONGEST:
            return f"write loads that are {times} times as high or higher: no window is long enough"
        return f"write `measure.window: {times * window}cycles` or more"
    return f"let {'this phase' if 'phase' in summary else 'the window'} be measured for {times} times as long or more"


def _else_lighter(summary: Mapping[str, Any]) -> str:
    """Remedy where a longer run does not settle."""
    return f"if that is not enough, the load may be near the capacity: write {_lower_load(summary)}"


def _any_packet(summary: Mapping[str, Any]) -> str:
    """A window with twice the packets that a mean needs, or a load that gives them."""
    load, terminals, flits = (summary.get(key) for key in ("load", "terminals", "packet_flits"))
    window = summary.get("window_cycles")
    if not (load and terminals and flits and window) or "phase" in summary or summary.get("phases"):
        return "write a longer `measure.window` or a higher load, so that packets are created in the window"
    needed = 2 * soundness.FEWEST_PACKETS * flits / terminals
    longer, higher = _rounded_up(needed / load), needed / window
    if longer > _LONGEST:
        return f"write a load of {higher:.2g} or more: no packet was created, and no window is long enough"
    return f"write `measure.window: {longer}cycles` or more, or a load of {higher:.2g} or more: no packet was created"


def _lower_load(summary: Mapping[str, Any]) -> str:
    load = summary.get("load")
    return "lower loads" if load is None else f"a load 5 % lower ({0.95 * load:.3g} in place of {load:g})"


def _rounded_up(cycles: float) -> int:
    """A number of cycles with two digits."""
    unit = int("1".ljust(len(str(math.ceil(cycles))) - 1, "0"))
    return math.ceil(cycles / unit) * unit
