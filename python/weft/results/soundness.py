"""Whether the numbers of a point may be called good: everything that names a best, a saving or a winner asks here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weft.results import quantities as q

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# Accepted loads that differ by no more than this share are the same delivered work.
SAME_WORK = 0.03


@dataclass(frozen=True, order=True)
class Flaw:
    """A reason why a point is no example of anything good.

    Attributes
    ----------
    rank : int
        The lower, the worse.
    words : str
        What the point is, as in "2 points are saturated".
    """

    rank: int
    words: str


STALLED = Flaw(0, q.STALLED)
INTERRUPTED = Flaw(1, "interrupted")
SATURATED = Flaw(2, q.SATURATED)
SATURATED_FOR_A_WHILE = Flaw(3, "saturated in a phase of the load")
EMPTY = Flaw(4, "without a measured packet")
UNJUDGED = Flaw(5, "not judged (too short for its bursts)")
POWER_UNSETTLED = Flaw(6, "not settled (power states)")
LATENCY_UNSETTLED = Flaw(7, "not settled (latencies)")

# The keys that warnings are about: of a short warm-up, of one that came to its limit, and of what is too short for its
# bursts.
_WARMUP = "measure.warmup"
_LIMIT = "measure.warmup_limit"
_TOO_SHORT = ("measure.window", "traffic.phases")
# What accepts all that it can.
OVERLOADED = {SATURATED, SATURATED_FOR_A_WHILE}
_OVER = {STALLED, *OVERLOADED}
_UNSETTLED = {POWER_UNSETTLED, LATENCY_UNSETTLED}


def flaws(summary: Mapping[str, Any]) -> list[Flaw]:
    """All that keeps a point from being praised, the worst first; empty for a sound point."""
    ending = summary[q.ENDING.column]
    found = {
        STALLED: ending == q.STALLED,
        INTERRUPTED: ending == INTERRUPTED.words,
        SATURATED: bool(summary["saturated"]),
        SATURATED_FOR_A_WHILE: any(phase.get("saturated") for phase in summary.get("phases") or []),
        EMPTY: summary.get("packets") == 0,
        UNJUDGED: summary["saturated"] is None,
        POWER_UNSETTLED: summary.get("power_settled") is False or short_warmup(summary) is not None,
        LATENCY_UNSETTLED: summary.get("warmup_settled") is False,
    }
    return sorted(flaw for flaw, is_there in found.items() if is_there)


def short_warmup(summary: Mapping[str, Any]) -> str | None:
    """What the engine said of a fixed warm-up in which the power states can't settle; ``None`` if it said nothing."""
    return next((warning["what"] for warning in _warnings(summary, _WARMUP)), None)


def unsettled_latencies(summary: Mapping[str, Any]) -> str | None:
    """Why the latencies had not settled at the limit of a warm-up, and what to do; ``None`` if they had."""
    return next(map(_told, _warnings(summary, _LIMIT)), None)


def unjudged(summary: Mapping[str, Any]) -> str | None:
    """Why it is not known whether the network carries the load, and what to do; ``None`` if it is known."""
    if UNJUDGED not in flaws(summary):
        return None
    return next(map(_told, _warnings(summary, *_TOO_SHORT)), UNJUDGED.words)


def _warnings(summary: Mapping[str, Any], *paths: str) -> list[Mapping[str, str]]:
    return [warning for warning in summary.get("warnings") or [] if warning["path"] in paths]


def _told(warning: Mapping[str, str]) -> str:
    return f"{warning['what']}; {warning['help']}"


def is_sound(summary: Mapping[str, Any]) -> bool:
    """Whether a point may be named as the best of anything, and compared with others."""
    return not flaws(summary)


def is_over(summary: Mapping[str, Any]) -> bool:
    """Whether the load is too much for a point, all the time or in a phase: its latency has no limit."""
    return bool(_OVER & set(flaws(summary)))


def is_unsettled(summary: Mapping[str, Any]) -> bool:
    """Whether a point that is not overloaded was measured before it had settled."""
    return not is_over(summary) and bool(_UNSETTLED & set(flaws(summary)))


def is_unjudged(summary: Mapping[str, Any]) -> bool:
    """Whether it is not known of a point that is not overloaded in a phase whether the network carries its load."""
    return not is_over(summary) and UNJUDGED in flaws(summary)


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


def same_work(accepted: Iterable[float | None]) -> bool:
    """Whether points deliver the same: accepted loads [flits/terminal/cycle] that differ by `SAME_WORK` at most."""
    loads = list(accepted)
    known = [load for load in loads if load is not None]
    return len(known) == len(loads) > 0 and max(known) - min(known) <= SAME_WORK * max(known)
