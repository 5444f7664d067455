"""Whether the numbers of a point may be called good: everything that names a best, a saving or a winner asks here."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weft.results import backlog
from weft.results import quantities as q

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# Accepted loads that differ by no more than this share, and what chance explains, are the same delivered work.
_SAME_WORK = 0.03
# A network carries a load of which it accepts at least this share, as the engine judges it.
_CARRIED = 0.97
# A warm-up of so many times the run so far, and so many times the window, show whether what is accepted falls behind,
# and whether queues settle.
_LONGER = 4
# No run is proposed that is so many times as long: queues that seem to need it may be those of a run that began badly.
_PATIENCE = 50
# Standard deviations that are taken for chance.
_CHANCE = 3
# A share of the bandwidth that is 1 up to rounding.
_ROUNDING = 1e-9
# A load below the bound of its paths by this share settles in a run of usual length.
_BELOW_BOUND = 0.95
# Fewer packets than this tell nothing about a mean or a percentile; the engine warns of windows with fewer.
_FEWEST_PACKETS = 30


@dataclass(frozen=True, order=True)
class Flaw:
    """A reason why a point is no example of anything good.

    Attributes
    ----------
    rank : int
        The lower, the worse.
    words : str
        What the point is, as in "2 points are saturated".
    help : str
        What to do about it where no numbers of the point say more (`remedy`); ``{root}`` is the folder of the results,
        ``{again}`` the command that runs them.
    """

    rank: int
    words: str
    help: str


_NEAR = "near the capacity queues hardly ever drain"
_LIGHTER = "take a load that the network carries, or another network or routing"
STALLED = Flaw(0, q.STALLED, "`weft explain stall {root}` shows what waits for what; write more VCs or another routing")
INTERRUPTED = Flaw(1, "interrupted", "run it to its end: {again} --force")
SATURATED = Flaw(2, q.SATURATED, _LIGHTER)
SATURATED_FOR_A_WHILE = Flaw(3, "saturated in a phase of the load", _LIGHTER)
DROPPING = Flaw(
    4,
    "dropping packets (a link or router has failed)",
    "measure it without `faults` and `fault_model.random`, or compare delivered shares and not only latencies",
)
EMPTY = Flaw(5, "without a measured packet", "write a longer `measure.window`, in which packets are delivered")
UNJUDGED = Flaw(6, "not judged (too short to tell whether it is saturated)", "write a longer `measure.window`")
FEW = Flaw(7, f"with fewer than {_FEWEST_PACKETS} packets", "write a longer `measure.window`")
FULL = Flaw(8, "not settled (offered what its paths can just carry, or more)", _LIGHTER)
POWER_UNSETTLED = Flaw(9, "not settled (power states)", "write `measure.warmup: auto`")
LATENCY_UNSETTLED = Flaw(10, "not settled (latencies)", "write a longer `measure.warmup_limit`")
QUEUES_UNSETTLED = Flaw(11, "not settled (queues)", "write a longer warm-up and window")
FELL_BEHIND = Flaw(12, "not settled (fell behind at first)", "let the phase last longer")
LEFT_OVER = Flaw(13, "not settled (began with a backlog)", "write a longer `measure.warmup`")
BACKLOG = Flaw(
    14,
    "not settled (the backlog of a saturated phase)",
    "lower the load of the phase before until it is not saturated",
)
PART_OF_PERIOD = Flaw(
    15,
    "measured over a part of a period of the policy",
    "write a `measure.window` that is a multiple of the period",
)

# The keys that warnings are about: of a short warm-up, of one that came to its limit, and of what is too short for its
# bursts, or no whole number of periods of the policy.
_WARMUP = "measure.warmup"
_LIMIT = "measure.warmup_limit"
_TOO_SHORT = ("measure.window", "traffic.phases", "measure.stop.complete")
# What may go wrong with the parameters of a power policy is told of a key below this one.
_OF_POLICY = "power.policy."
# What accepts all that it can.
OVERLOADED = {SATURATED, SATURATED_FOR_A_WHILE}
# What accepts less than it is offered, so that only accepted loads can be compared.
LESS_ACCEPTED = {*OVERLOADED, DROPPING}
_OVER = {STALLED, *OVERLOADED}
_UNSETTLED = {FULL, POWER_UNSETTLED, LATENCY_UNSETTLED, QUEUES_UNSETTLED, FELL_BEHIND, LEFT_OVER, BACKLOG}
# Stands in place of a latency that has no limit: the word, and why there is none.
ENDED = {"sat": "saturated, the latency has no limit", "stall": "packets wait for each other for ever"}
# Stands behind a number of a point that is not sound, though not overloaded: the sign, and what it means.
UNSETTLED_MARK, UNJUDGED_MARK, DROPPING_MARK, FEW_MARK, PERIOD_MARK = "~", "?", "#", "*", "^"
MARKS = {
    DROPPING_MARK: "packets were dropped, and the number is of the others",
    UNSETTLED_MARK: "measured before it had settled",
    UNJUDGED_MARK: "too short to tell whether it is saturated",
    FEW_MARK: f"fewer than {_FEWEST_PACKETS} packets",
    PERIOD_MARK: PART_OF_PERIOD.words,
}
# Stands behind the energy of points and phases that accept less than they are offered.
OVERLOADED_MARK = "!"
OVERLOADED_MEANING = "per bit of what is accepted, which is less than was offered"
# Columns whose numbers have a mark, beside those of latencies.
_MARKED = {q.ACCEPTED.column, q.ENERGY.column, q.POWER.column}
_LATENCIES = ("packet_latency_", "network_latency_")
# Keys of what `in_phases` gives: whether the phase before is saturated, and what waits at the begin and at the end.
_AFTER_SATURATED = "after_saturated"
_BACKLOG = "backlog"


def flaws(summary: Mapping[str, Any]) -> list[Flaw]:
    """All that keeps a point from being praised, the worst first; empty for a sound point."""
    ending = summary[q.ENDING.column]
    found = {
        STALLED: ending == q.STALLED,
        INTERRUPTED: ending == INTERRUPTED.words,
        SATURATED: bool(summary["saturated"]),
        SATURATED_FOR_A_WHILE: any(phase.get("saturated") for phase in summary.get("phases") or []),
        DROPPING: is_dropping(summary),
        EMPTY: summary.get("packets") == 0,
        UNJUDGED: summary["saturated"] is None,
        FEW: 0 < (summary.get("packets") or 0) < _FEWEST_PACKETS,
        FULL: summary.get("below_path_bound") is False,
        POWER_UNSETTLED: summary.get("power_settled") is False or short_warmup(summary) is not None,
        LATENCY_UNSETTLED: summary.get("warmup_settled") is False,
        QUEUES_UNSETTLED: _has_long_queues(summary),
        FELL_BEHIND: fell_behind(summary) is not None,
        LEFT_OVER: began_behind(summary) is not None,
        BACKLOG: bool(summary.get(_AFTER_SATURATED)),
        PART_OF_PERIOD: summary.get("whole_periods") is False,
    }
    return sorted(flaw for flaw, is_there in found.items() if is_there)


def _has_long_queues(span: Mapping[str, Any]) -> bool:
    """Whether the queues of a point, or of a phase of its load, remember how they began.

    Where a backlog says why, that is said, and not this.
    """
    if span.get("queues_settled") is False:
        behind = fell_behind(span) or began_behind(span)
        return behind is None and not (span.get(_AFTER_SATURATED) or span["saturated"])
    if drains(span):
        return True
    # one that goes on from phase to phase spoils the means of the whole point
    return any(QUEUES_UNSETTLED in flaws(phase) for phase in in_phases(span))


def drains(summary: Mapping[str, Any]) -> bool:
    """Whether the queues of a point shrink in its window, for no reason that is told otherwise."""
    shrinks = summary.get("queues_settled") is True and not summary["saturated"] and backlog.drains(summary)
    return shrinks and not (began_behind(summary) or is_dropping(summary))


def fell_behind(phase: Mapping[str, Any]) -> backlog.Backlog | None:
    """What a phase of `in_phases` has left although it carries its load in the end; ``None`` if that is nothing.

    Of a saturated phase, or one that is not judged, that is said, and not this.
    """
    known: backlog.Backlog | None = phase.get(_BACKLOG)
    return known if known and known.falls_behind and phase["saturated"] is False else None


def began_behind(phase: Mapping[str, Any]) -> backlog.Backlog | None:
    """What earlier phases have left a phase of `in_phases`; ``None`` if that is nothing to speak of.

    After a saturated phase, or in one, that is said, and not this.
    """
    if _BACKLOG not in phase:  # of a point it is that of the phase in which its window begins
        begun = [each for each in in_phases(phase) if each.get("from_cycle") is not None]
        return began_behind(begun[0]) if begun else _of_window(phase)
    known: backlog.Backlog | None = phase[_BACKLOG]
    return known if known and known.began_behind and not (phase[_AFTER_SATURATED] or phase["saturated"]) else None


def _of_window(summary: Mapping[str, Any]) -> backlog.Backlog | None:
    """What the warm-up has left a point whose load never changes, if the window delivers that."""
    known = backlog.at_begin(summary, summary.get("window_cycles") or 0)
    return known if known and known.began_behind and not summary["saturated"] else None


def short_warmup(summary: Mapping[str, Any]) -> str | None:
    """What the engine said of a fixed warm-up in which the power states can't settle; ``None`` if it said nothing."""
    return next((warning["what"] for warning in _warnings(summary, _WARMUP)), None)


def unsettled_latencies(summary: Mapping[str, Any]) -> str | None:
    """Why the latencies had not settled at the limit of a warm-up; ``None`` if they had. `remedies` says what to do."""
    return next((warning["what"] for warning in _warnings(summary, _LIMIT)), None)


def unjudged(summary: Mapping[str, Any]) -> str | None:
    """Why it is not known whether the network carries the load, and what to do; ``None`` if it is known."""
    if UNJUDGED not in flaws(summary):
        return None
    return next(map(_told, _warnings(summary, *_TOO_SHORT)), UNJUDGED.words)


def remedy(summary: Mapping[str, Any], of: Flaw | None = None) -> str:
    """What to do about a flaw of a point (by default the worst), with its numbers where they are known.

    It is empty for a sound point.

    A point has one remedy for each flaw: what the engine said of it, what its numbers say, or else that of the flaw.
    """
    worst_of_it = of or next(iter(flaws(summary)), None)
    if worst_of_it is None:
        return ""
    told: list[str] = []
    if worst_of_it in _UNSETTLED:
        told = remedies(summary)
    elif worst_of_it in OVERLOADED and (warning := _of_policy(summary)):
        told = [f"{warning['path']} may be why: {warning['help']}; else {worst_of_it.help}"]
    elif worst_of_it in (UNJUDGED, PART_OF_PERIOD):
        told = [warning["help"] for warning in _warnings(summary, *_TOO_SHORT)]
    elif worst_of_it is FEW:
        told = [_more_packets(summary)]
    elif worst_of_it is EMPTY and is_silent(summary):
        told = [_any_packet(summary)]
    return next(iter(told), worst_of_it.help)


def remedy_in_profile(summary: Mapping[str, Any], of: Flaw) -> str:
    """What to do about a flaw of a point whose load a profile names: another load alone would be one that it lacks.

    Profiles name phases by their number, which keeps the profile as it is.
    """
    told = remedy(summary, of)
    names_load = "load" in told and "phase" not in summary
    return f"{told}; another load must be named in the profile, too" if names_load else told


def part_of_period(summary: Mapping[str, Any]) -> str | None:
    """Why the numbers depend on which part of a period the window, or a phase in it, sees; ``None`` if they do not."""
    spans = [summary, *(summary.get("phases") or [])]
    if all(span.get("whole_periods") is not False for span in spans):
        return None
    return next(map(_told, _warnings(summary, *_TOO_SHORT)), PART_OF_PERIOD.words)


def _warnings(summary: Mapping[str, Any], *paths: str) -> list[Mapping[str, str]]:
    return [warning for warning in summary.get("warnings") or [] if warning["path"] in paths]


def risk(summary: Mapping[str, Any]) -> str | None:
    """The parameter of the power policy of which the engine warned, as a dotted path; ``None`` if of none.

    Such a network may collapse at a load that this run carries: it depends on how the run began.
    """
    warning = _of_policy(summary)
    return warning["path"] if warning else None


def _of_policy(summary: Mapping[str, Any]) -> Mapping[str, str] | None:
    """What the engine warned of a parameter of the power policy."""
    known: Sequence[Mapping[str, str]] = summary.get("warnings") or []
    return next((warning for warning in known if warning["path"].startswith(_OF_POLICY)), None)


def is_warned(summary: Mapping[str, Any]) -> bool:
    """Whether the engine warned that what this point shows may not hold for other runs with its power policy."""
    return risk(summary) is not None


def _told(warning: Mapping[str, str]) -> str:
    return f"{warning['what']}; {warning['help']}"


def obstacles(summary: Mapping[str, Any]) -> list[Flaw]:
    """What keeps a point from being compared with another one that delivers the same, the worst first.

    Lost packets do so only where they are more than 3 %: else they are within what counts as the same work.
    """
    return [flaw for flaw in flaws(summary) if flaw is not DROPPING or is_lossy(summary)]


def is_sound(summary: Mapping[str, Any]) -> bool:
    """Whether a point may be named as the best of anything, and compared with others."""
    return not flaws(summary)


def is_silent(summary: Mapping[str, Any]) -> bool:
    """Whether no packet was created in the window of a point, which then has nothing to settle."""
    return summary.get("packets") == 0 and not summary.get(q.OFFERED.column)


def is_over(summary: Mapping[str, Any]) -> bool:
    """Whether the load is too much for a point, all the time or in a phase: its latency has no limit."""
    return bool(_OVER & set(flaws(summary)))


def is_unsettled(summary: Mapping[str, Any]) -> bool:
    """Whether a point that is not overloaded was measured before it had settled."""
    return not is_over(summary) and bool(_UNSETTLED & set(flaws(summary)))


def is_unjudged(summary: Mapping[str, Any]) -> bool:
    """Whether it is not known of a point that is not overloaded in a phase whether the network carries its load."""
    return not is_over(summary) and UNJUDGED in flaws(summary)


def is_few(summary: Mapping[str, Any]) -> bool:
    """Whether a point that is not overloaded has too few packets for a mean or a percentile."""
    return not is_over(summary) and FEW in flaws(summary)


def is_above_bound(summary: Mapping[str, Any]) -> bool:
    """Whether a point is offered more than its paths can carry, however long it runs."""
    share = summary.get("path_bound_share")
    return share is not None and share > 1 + _ROUNDING


def is_behind(summary: Mapping[str, Any]) -> bool:
    """Whether a point that had not settled accepted less than 97 % of what it was offered in the window, and chance.

    It may be overloaded: the engine judges the second half of the window, in which chance explains more.
    """
    offered, accepted = summary.get(q.OFFERED.column), summary.get(q.ACCEPTED.column)
    if offered is None or accepted is None or not is_unsettled(summary):
        return False
    packets = summary.get("packets")
    chance = _CHANCE / math.sqrt(packets) if packets else 0.0
    return bool(accepted < (_CARRIED - chance) * offered)


def long_enough(summary: Mapping[str, Any]) -> str:
    """What to write so that a point that `is_behind` tells whether the network carries its load.

    After the longer warm-up the gap is one that lasts, and in half of the longer window chance explains less of it.
    """
    if FULL in flaws(summary):  # no time is long enough
        return f"write {_below_bound(summary)}"
    warmup, window = (summary.get(f"{key}_cycles") or 0 for key in ("warmup", "window"))
    longer = max(_rounded_up(_LONGER * (warmup + window)), summary.get("warmup_limit_cycles") or 0)
    by_limit = False in (summary.get("warmup_settled"), summary.get("power_settled"))
    key = "measure.warmup_limit" if by_limit and summary.get("warmup_settled") is not None else "measure.warmup"
    return f"write `{key}: {longer}cycles` and `measure.window: {_rounded_up(_LONGER * window)}cycles`, or more"


def is_dropping(summary: Mapping[str, Any]) -> bool:
    """Whether packets of a point were lost because a link or router had failed."""
    return bool(summary.get("dropped_packets"))


def dropped_share(summary: Mapping[str, Any]) -> float:
    """Of the packets that were delivered or dropped, those that were dropped."""
    dropped = summary.get("dropped_packets") or 0
    return dropped / (dropped + (summary.get("packets") or 0)) if dropped else 0.0


def is_lossy(summary: Mapping[str, Any]) -> bool:
    """Whether so many packets are dropped that what is delivered is less than 97 %: the load is not carried."""
    return dropped_share(summary) > 1 - _CARRIED


def is_failing(summary: Mapping[str, Any]) -> bool:
    """Whether links or routers fail during a run: then links draw no power that do not sleep."""
    return bool(summary.get("fault_parts")) or is_dropping(summary)


def mark(summary: Mapping[str, Any]) -> str:
    """The sign of `MARKS` behind numbers of a point; empty if it is sound or overloaded."""
    if is_dropping(summary) and not is_over(summary):
        return DROPPING_MARK
    if is_unjudged(summary):
        return UNJUDGED_MARK
    if is_unsettled(summary):
        return UNSETTLED_MARK
    if is_few(summary):
        return FEW_MARK
    return PERIOD_MARK if worst([summary]) is PART_OF_PERIOD else ""


def marks_of(column: str) -> list[str]:
    """The marks that may stand behind the numbers of a column."""
    marked = column in _MARKED or column.startswith(_LATENCIES)
    return [*(MARKS if marked else ()), *([OVERLOADED_MARK] if column == q.ENERGY.column else ())]


def sign(summary: Mapping[str, Any]) -> str:
    """What stands in place of a latency that has no limit (``stall``, ``sat``), or else the mark of the point.

    A point that is saturated in a phase of its load has no limit, either.
    """
    if summary[q.ENDING.column] == q.STALLED:
        return "stall"
    return "sat" if is_over(summary) else mark(summary)


def worst(summaries: Iterable[Mapping[str, Any]]) -> Flaw | None:
    """The worst flaw of some runs of one point; ``None`` if all are sound."""
    return min((flaw for summary in summaries for flaw in flaws(summary)), default=None)


def reason(summary: Mapping[str, Any]) -> str | None:
    """Why a point may not be praised, in words; ``None`` for a sound one."""
    found = flaws(summary)
    return ", ".join(flaw.words for flaw in found) or None


def counted(summaries: Iterable[Mapping[str, Any]]) -> dict[Flaw, int]:
    """How many points have which flaw as their worst one."""
    counts: dict[Flaw, int] = {}
    for summary in summaries:
        if found := flaws(summary):
            counts[found[0]] = counts.get(found[0], 0) + 1
    return dict(sorted(counts.items()))


def same_work(accepted: Iterable[float | None], packets: Iterable[float | None]) -> bool:
    """Whether points deliver the same, up to 3 % and what chance explains (three standard deviations).

    This is the one criterion of equal work: of sentences on savings, comparisons, bills and reports.

    Parameters
    ----------
    accepted : iterable of float or None
        Accepted load of each point [flits/terminal/cycle]; points of which one is unknown do not deliver the same.
    packets : iterable of float or None
        Packets that each point measured (over several seeds, their mean); nothing is put down to chance where one is
        unknown.
    """
    loads, counts = list(accepted), list(packets)
    known = [load for load in loads if load is not None]
    if not known or len(known) < len(loads):
        return False
    chance = _CHANCE * math.sqrt(sum(1 / count for count in counts if count)) if all(counts) else 0.0
    return max(known) - min(known) <= (_SAME_WORK + chance) * max(known)


def in_phases(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a point measured in each phase of its load, in the form of a summary; empty if its load does not change.

    A phase is judged by itself: it may be sound where another phase of the point is saturated, but not right after it,
    when it delivers what that one has left. One that falls behind at first and then carries its load has not settled.
    Bursts that leave the whole run open leave open the phases that nobody judged, too.
    """
    phases: Sequence[Mapping[str, Any]] = summary.get("phases") or []
    # what is missing where packets are dropped is lost, and waits nowhere
    waiting = [None] * len(phases) if is_dropping(summary) else backlog.of_phases(phases)
    after = [False, *(bool(phase.get("saturated")) for phase in phases)]
    return [
        {
            key: summary.get(key)
            for key in (
                *(q.ENDING.column, "warnings", "warmup_settled", "warmup_cycles", "power_settled"),
                *("hash", "packet_flits"),
            )
        }
        | dict(phase)
        | {
            "saturated": _in_phase(summary["saturated"], phase.get("saturated")),
            _AFTER_SATURATED: late,
            _BACKLOG: waits,
            "dropped_packets": _dropped_in(summary, phase),
            # what failed would draw power, too: these are no links that are always on
            **({"power_always_on_mean_w": None} if is_failing(summary) else {}),
            "links_on_mean": None if phase.get("links_off_share") is None else 1 - phase["links_off_share"],
        }
        for phase, late, waits in zip(phases, after, waiting, strict=False)
    ]


def _dropped_in(summary: Mapping[str, Any], phase: Mapping[str, Any]) -> int:
    """How many packets the faults dropped that last into a phase, before or in it."""
    if not is_dropping(summary) or phase.get("from_cycle") is None:
        return 0
    known = summary.get("fault_episodes") or []
    if len(known) < (summary.get("fault_episodes_count") or 0) or not any(each["dropped_packets"] for each in known):
        return int(summary["dropped_packets"])
    begin, end = phase["from_cycle"], phase["to_cycle"]
    return sum(
        each["dropped_packets"]
        for each in known
        if each["from_cycle"] < end and (each.get("to_cycle") is None or each["to_cycle"] > begin)
    )


def _in_phase(point: bool | None, phase: bool | None) -> bool | None:
    """Whether a phase is saturated; ``None`` if that is not known.

    A phase of which nothing is said has nothing to judge (batches alone), unless the whole point is open, too.
    """
    if point or phase:
        return True
    return None if point is None and phase is None else False


def remedies(summary: Mapping[str, Any], least_limit: int = 0) -> list[str]:
    """What to write so that a point that has not settled does, with numbers; empty for one that has.

    Parameters
    ----------
    summary : mapping
        Of a point, or of a phase of `in_phases`.
    least_limit : int
        The longest `measure.warmup_limit` of all points of the sweep [cycles]: where one is written for all of them, no
        point gets less than it had.
    """
    found = set(flaws(summary)) & _UNSETTLED
    if not found or is_over(summary):
        return []
    if FULL in found:  # no time is long enough
        return [f"write {_below_bound(summary)}"]
    if is_silent(summary):
        return [_any_packet(summary)]
    told = []
    if short_warmup(summary) is not None:
        told.append(next(each["help"] for each in summary["warnings"] if each["path"] == _WARMUP))
    settled = (summary.get("warmup_settled"), summary.get("power_settled"))
    if QUEUES_UNSETTLED in found:
        told.append(_for_queues(summary, least_limit))
    elif summary.get("warmup_settled") is not None and False in settled:
        limit = max(_longer_limit(summary), least_limit)
        # power states settle no sooner under a lower load
        lighter = f"; {_else_lighter(summary)}" if summary["warmup_settled"] is False else ""
        longer = f"write `measure.warmup_limit: {limit}cycles` or more{lighter}"
        told.append(f"`measure.warmup: auto` reached its limit: {longer}")
    if late := fell_behind(summary) or began_behind(summary):
        told.append(after_backlog(summary, late))
    if BACKLOG in found:
        told.append(BACKLOG.help)
    return told


def _longer_limit(summary: Mapping[str, Any]) -> int:
    """A limit of a warm-up that came to its own: the one that the engine names [cycles], or else twice as much."""
    named = (re.search(r"`measure\.warmup_limit: (\d+)cycles`", each["help"]) for each in _warnings(summary, _LIMIT))
    reached = max(summary.get("warmup_cycles") or 0, summary.get("warmup_limit_cycles") or 0)
    return max([_rounded_up(2 * reached), *(int(found[1]) for found in named if found)])


def _for_queues(summary: Mapping[str, Any], least_limit: int) -> str:
    """A run that is long enough for queues of this length; a lower load first where that is near the capacity."""
    if "phase" in summary or summary.get("phases"):
        phases = [each for each in in_phases(summary) or [dict(summary)] if QUEUES_UNSETTLED in flaws(each)]
        return "; ".join(map(_for_phase, phases))
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
    """Whether a point says that its load is near what the network carries, so that no time may be long enough.

    Its paths carry hardly more, it accepts less than it is offered, or packets wait in the source queues that it does
    not deliver. Queues that are long for another reason (a routing that fills queues before it leaves the shortest
    paths, links that sleep) are as long at a load 5 % lower.
    """
    if (summary.get("path_bound_share") or 0) > _BELOW_BOUND or is_behind(summary):
        return True
    begin, end = ((summary.get(key) or 0) for key in ("backlog_before_packets", "backlog_packets"))
    chance = _CHANCE * math.sqrt(summary.get("packets") or 0)
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


def _below_bound(summary: Mapping[str, Any]) -> str:
    """A load that the paths can carry, in the terms of `traffic.load` where that is known."""
    share, load = summary["path_bound_share"], summary.get("load")
    if load is None:
        return f"loads that are {100 * (1 - _BELOW_BOUND / share):.2g} % lower"
    lower, bound = f"{_BELOW_BOUND * load / share:.3g}", f"{load / share:.4g}"
    return f"a load of {lower} or less: its paths carry {bound}, and near that queues hardly ever drain"


def after_backlog(summary: Mapping[str, Any], late: backlog.Backlog) -> str:
    """What to write so that a backlog is gone before the window, or is small against what a phase is offered."""
    begin = summary.get("warmup_cycles") or 0
    if not late.at_begin:
        return longer_phase(summary, late)
    in_phase = bool(summary.get("phases")) or "phase" in summary
    if late.drained_in is None:
        return f"lower the load{' of the phase before' if in_phase else ''}: the network hardly delivers what was left"
    later = _rounded_up(begin + 2 * late.drained_in)
    shifted = f", and let all phases that begin later begin {later - begin} cycles later" if in_phase else ""
    return f"write `measure.warmup: {later}cycles` or more{shifted}"


def longer_phase(phase: Mapping[str, Any], late: backlog.Backlog) -> str:
    """How long a phase must last so that what waits at its begin or end is less than 3 % of what it is offered."""
    return f"let phase {phase['phase']} last for {_rounded_up(late.long_enough)} cycles or more in the window"


def _more_packets(summary: Mapping[str, Any]) -> str:
    """How long to measure for twice the packets that a mean needs, so that chance does not leave too few again."""
    times = math.ceil(2 * _FEWEST_PACKETS / summary["packets"])
    if (window := summary.get("window_cycles")) and "phase" not in summary:
        return f"write `measure.window: {times * window}cycles` or more"
    return f"let {'this phase' if 'phase' in summary else 'the window'} be measured for {times} times as long or more"


def _else_lighter(summary: Mapping[str, Any]) -> str:
    """What to do where a longer run does not settle."""
    return f"if that is not enough, the load may be near the capacity: write {_lower_load(summary)}"


def _any_packet(summary: Mapping[str, Any]) -> str:
    """A window in which twice the packets are created that a mean needs, or a load at which they are."""
    load, terminals, flits = (summary.get(key) for key in ("load", "terminals", "packet_flits"))
    window = summary.get("window_cycles")
    if not (load and terminals and flits and window) or "phase" in summary or summary.get("phases"):
        return "write a longer `measure.window` or a higher load, so that packets are created in the window"
    needed = 2 * _FEWEST_PACKETS * flits / terminals
    longer, higher = _rounded_up(needed / load), needed / window
    return f"write `measure.window: {longer}cycles` or more, or a load of {higher:.2g} or more: no packet was created"


def _lower_load(summary: Mapping[str, Any]) -> str:
    load = summary.get("load")
    return "lower loads" if load is None else f"a load 5 % lower ({0.95 * load:.3g} in place of {load:g})"


def _rounded_up(cycles: float) -> int:
    """A number of cycles with two digits."""
    unit = int("1".ljust(len(str(math.ceil(cycles))) - 1, "0"))
    return math.ceil(cycles / unit) * unit
