"""Whether the numbers of a point may be called good: everything that names a best, a saving or a winner asks here."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weft.results import backlog
from weft.results import quantities as q

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# Accepted loads that differ by no more than this share, and what chance explains, are the same delivered work.
_SAME_WORK = 0.03
# A network carries a load of which it accepts at least this share, as the engine judges it.
CARRIED = 0.97
# Standard deviations that are taken for chance.
CHANCE = 3
# A share of the bandwidth that is 1 up to rounding.
_ROUNDING = 1e-9
# Fewer packets than this tell nothing about a mean or a percentile; the engine warns of windows with fewer.
FEWEST_PACKETS = 30


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
        What to do about it where no numbers of the point say more (`weft.results.remedies`); ``{root}`` is the folder
        of the results, ``{again}`` the command that runs them.
    """

    rank: int
    words: str
    help: str


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
FEW = Flaw(7, f"with fewer than {FEWEST_PACKETS} packets", "write a longer `measure.window`")
FULL = Flaw(8, "not settled (offered what its paths can just carry, or more)", _LIGHTER)
POWER_UNSETTLED = Flaw(9, "not settled (power states)", "write `measure.warmup: auto`")
REPLIES_UNSETTLED = Flaw(10, "not settled (replies)", "write a `measure.warmup` longer than the turnaround of replies")
LATENCY_UNSETTLED = Flaw(11, "not settled (latencies)", "write a longer `measure.warmup_limit`")
QUEUES_UNSETTLED = Flaw(12, "not settled (queues)", "write a longer warm-up and window")
FELL_BEHIND = Flaw(13, "not settled (fell behind at first)", "let the phase last longer")
LEFT_OVER = Flaw(14, "not settled (began with a backlog)", "write a longer `measure.warmup`")
BACKLOG = Flaw(
    15,
    "not settled (the backlog of a saturated phase)",
    "lower the load of the phase before until it is not saturated",
)
PART_OF_PERIOD = Flaw(
    16,
    "measured over a part of a period of the policy",
    "write a `measure.window` that is a multiple of the period",
)

# The keys that warnings are about: of a short warm-up, of one that came to its limit, and of what is too short for its
# bursts, or no whole number of periods of the policy.
WARMUP = "measure.warmup"
# The code of the warning of a warm-up that ends before the first replies leave.
_WITHOUT_REPLIES = "warmup_without_replies"
LIMIT = "measure.warmup_limit"
TOO_SHORT = ("measure.window", "traffic.phases", "measure.stop.complete")
# What may go wrong with the parameters of a power policy is told of a key below this one.
_OF_POLICY = "power.policy."
# What accepts all that it can.
OVERLOADED = {SATURATED, SATURATED_FOR_A_WHILE}
# What accepts less than it is offered, so that only accepted loads can be compared.
LESS_ACCEPTED = {*OVERLOADED, DROPPING}
_OVER = {STALLED, *OVERLOADED}
UNSETTLED = {
    FULL,
    POWER_UNSETTLED,
    REPLIES_UNSETTLED,
    LATENCY_UNSETTLED,
    QUEUES_UNSETTLED,
    FELL_BEHIND,
    LEFT_OVER,
    BACKLOG,
}
# Stands in place of a latency that has no limit: the word, and why there is none.
ENDED = {"sat": "saturated, the latency has no limit", "stall": "packets wait for each other for ever"}
# Stands behind a number of a point that is not sound, though not overloaded: the sign, and what it means.
UNSETTLED_MARK, UNJUDGED_MARK, DROPPING_MARK, FEW_MARK, PERIOD_MARK = "~", "?", "#", "*", "^"
MARKS = {
    DROPPING_MARK: "packets were dropped, and the number is of the others",
    UNSETTLED_MARK: "measured before it had settled",
    UNJUDGED_MARK: "too short to tell whether it is saturated",
    FEW_MARK: f"fewer than {FEWEST_PACKETS} packets",
    PERIOD_MARK: PART_OF_PERIOD.words,
}
# Stands behind the energy of points and phases that accept less than they are offered.
OVERLOADED_MARK = "!"
OVERLOADED_MEANING = "per bit of what is accepted, which is less than was offered"
# Columns whose numbers have a mark, beside those of latencies.
_MARKED = {q.ACCEPTED.column, q.ACCEPTED_GBPS.column, q.ENERGY.column, q.POWER.column}
_LATENCIES = ("packet_latency_", "network_latency_")
# Keys of what `in_phases` gives: whether the phase before is saturated, and what waits at the begin and at the end.
_AFTER_SATURATED = "after_saturated"
_BACKLOG = "backlog"


def flaws(summary: Mapping[str, Any]) -> list[Flaw]:
    """All that keeps a point from being praised, the worst first; empty for a sound point."""
    ending = summary[q.ENDING.column]
    # a program is measured as a whole, however few packets it sends
    is_program = summary.get("solution_seconds") is not None
    found = {
        STALLED: ending == q.STALLED,
        INTERRUPTED: ending == INTERRUPTED.words,
        SATURATED: bool(summary["saturated"]),
        SATURATED_FOR_A_WHILE: any(phase.get("saturated") for phase in summary.get("phases") or []),
        DROPPING: is_dropping(summary),
        EMPTY: summary.get("packets") == 0 and not is_program,
        UNJUDGED: summary["saturated"] is None,
        FEW: 0 < (summary.get("packets") or 0) < FEWEST_PACKETS and not is_program,
        FULL: summary.get("below_path_bound") is False,
        POWER_UNSETTLED: summary.get("power_settled") is False or short_warmup(summary) is not None,
        REPLIES_UNSETTLED: without_replies(summary) is not None,
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
    told = (warning for warning in warnings_of(summary, WARMUP) if warning.get("code") != _WITHOUT_REPLIES)
    return next((warning["what"] for warning in told), None)


def without_replies(summary: Mapping[str, Any]) -> str | None:
    """What the engine said of a warm-up that ends before the first replies leave; ``None`` if it said nothing."""
    told = (warning for warning in warnings_of(summary, WARMUP) if warning.get("code") == _WITHOUT_REPLIES)
    return next((warning["what"] for warning in told), None)


def unsettled_latencies(summary: Mapping[str, Any]) -> str | None:
    """Why the latencies had not settled at the limit of a warm-up; ``None`` if they had. `remedies` says what to do."""
    return next((warning["what"] for warning in warnings_of(summary, LIMIT)), None)


def unjudged(summary: Mapping[str, Any]) -> str | None:
    """Why it is not known whether the network carries the load, and what to do; ``None`` if it is known."""
    if UNJUDGED not in flaws(summary):
        return None
    return next(map(_told, warnings_of(summary, *TOO_SHORT)), UNJUDGED.words)


def part_of_period(summary: Mapping[str, Any]) -> str | None:
    """Why the numbers depend on which part of a period the window, or a phase in it, sees; ``None`` if they do not."""
    spans = [summary, *(summary.get("phases") or [])]
    if all(span.get("whole_periods") is not False for span in spans):
        return None
    return next(map(_told, warnings_of(summary, *TOO_SHORT)), PART_OF_PERIOD.words)


def warnings_of(summary: Mapping[str, Any], *paths: str) -> list[Mapping[str, str]]:
    """What the engine warned of at these keys: ``path``, ``what`` and ``help`` of each warning."""
    return [warning for warning in summary.get("warnings") or [] if warning["path"] in paths]


def risk(summary: Mapping[str, Any]) -> str | None:
    """The parameter of the power policy of which the engine warned, as a dotted path; ``None`` if of none.

    Such a network may collapse at a load that this run carries: it depends on how the run began.
    """
    warning = policy_warning(summary)
    return warning["path"] if warning else None


def policy_warning(summary: Mapping[str, Any]) -> Mapping[str, str] | None:
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
    return not is_over(summary) and bool(UNSETTLED & set(flaws(summary)))


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
    chance = CHANCE / math.sqrt(packets) if packets else 0.0
    return bool(accepted < (CARRIED - chance) * offered)


def is_dropping(summary: Mapping[str, Any]) -> bool:
    """Whether packets of a point were lost because a link or router had failed."""
    return bool(summary.get("dropped_packets"))


def dropped_share(summary: Mapping[str, Any]) -> float:
    """Of the packets that were delivered or dropped, those that were dropped."""
    dropped = summary.get("dropped_packets") or 0
    return dropped / (dropped + (summary.get("packets") or 0)) if dropped else 0.0


def is_lossy(summary: Mapping[str, Any]) -> bool:
    """Whether so many packets are dropped that what is delivered is less than 97 %: the load is not carried."""
    return dropped_share(summary) > 1 - CARRIED


def is_failing(summary: Mapping[str, Any]) -> bool:
    """Whether links or routers fail during a run: then links draw no power that do not sleep."""
    return bool(summary.get("fault_parts")) or is_dropping(summary)


def mark(summary: Mapping[str, Any]) -> str:
    """The sign of `MARKS` behind numbers of a point; empty if it is sound or overloaded."""
    if is_dropping(summary) and not is_over(summary):
        return DROPPING_MARK
    return mark_without_drops(summary)


def mark_without_drops(summary: Mapping[str, Any]) -> str:
    """As `mark`, for a number of a time in which no packet was dropped."""
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
    chance = CHANCE * math.sqrt(sum(1 / count for count in counts if count)) if all(counts) else 0.0
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
                *("hash", "packet_flits", "cycle_seconds", "flit_bits"),
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
