"""Says whether a point is sound: without flaws, so that its numbers are reliable and comparable.

All code that names a best point, a saving or a winner uses this module.

The engine decides (`weft._engine.Verdict`, from the numbers of a summary), and writes the texts of flaws and remedies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weft import _engine
from weft.results import quantities as q
from weft.text import shell

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, order=True)
class Flaw:
    """A flaw: a reason why a point is not sound.

    Attributes
    ----------
    rank : int
        Rank of the flaw; a lower rank is worse.
    code : str
        Name of the flaw, which never changes between versions.
    words : str
        The flaw as text for a sentence such as "2 points are saturated", after "are".
    help : str
        General remedy, used if `remedy` cannot compute a better one from the numbers of the point. `in_folder`
        completes the text.
    group : str
        Name of the group of flaws that are treated in the same way.
    """

    rank: int
    code: str
    words: str
    help: str
    group: str


# All kinds of flaws, the worst first.
FLAWS = tuple(Flaw(rank, **kind) for rank, kind in enumerate(_engine.flaw_kinds()))
_BY_CODE = {flaw.code: flaw for flaw in FLAWS}
SATURATED, DROPPING, EMPTY = (_BY_CODE[code] for code in ("saturated", "packets_dropped", "no_packet"))
UNJUDGED, PART_OF_PERIOD = (_BY_CODE[code] for code in ("not_judged", "part_of_period"))
LEFT_OVER, FELL_BEHIND, QUEUES_UNSETTLED = (
    _BY_CODE[code] for code in ("began_with_backlog", "fell_behind", "queues_unsettled")
)
# Flaws of overloaded points: the network limits the accepted load.
OVERLOADED = {flaw for flaw in FLAWS if flaw.group == "overloaded"}
# Flaws of points that accept less than the offered load, so that only their accepted loads can be compared.
LESS_ACCEPTED = {*OVERLOADED, DROPPING}
WARMUP = "measure.warmup"

# Signs for numbers in tables, with the meanings of the signs. `MARKS` follow the numbers of a point that has a flaw but
# is not overloaded. `ENDED` are words that replace a latency that grows without limit, or the completion time of a run
# that was cut off.
MARKS, ENDED = _engine.marks()
SATURATED_SIGN, STALLED_SIGN, CUT_SIGN = ENDED
DROPPING_MARK, UNSETTLED_MARK, UNJUDGED_MARK, FEW_MARK, PERIOD_MARK = MARKS
# The mark after the energy of overloaded points and phases, which accept less than the offered load.
OVERLOADED_MARK = "!"
OVERLOADED_MEANING = "per accepted bit, with an accepted load below the offered load"
# Columns whose numbers get marks; the columns of latencies get marks as well.
_MARKED = {
    *(q.ACCEPTED.column, q.ACCEPTED_GBPS.column, q.ENERGY.column, q.POWER.column),
    *("energy_total_j", "energy_network_j"),
}
LATENCIES = ("packet_latency_", "network_latency_")
# Keys that the summary of a phase copies from that of its point.
_OF_POINT = (
    *(q.ENDING.column, "warnings", "warmup_settled", "warmup_cycles", "power_settled"),
    "fault_episodes",
    *("hash", "packet_flits", "cycle_seconds", "flit_bits"),
)


def verdict(summary: Mapping[str, Any]) -> _engine.Verdict:
    """The verdict of the engine on a point (or a phase of `in_phases`): its flaws, and texts about them."""
    return _engine.Verdict(summary)


def flaws(summary: Mapping[str, Any]) -> list[Flaw]:
    """All flaws of a point, the worst first; empty for a sound point."""
    return [FLAWS[rank] for rank in verdict(summary).flaws]


def diagnoses(summary: Mapping[str, Any], root: object, again: str | None) -> list[dict[str, Any]]:
    """The flaws of a point, those of each phase of its load, and the warnings about it.

    Each diagnosis has ``code``, ``severity``, ``what``, ``numbers`` and ``remedy``; a diagnosis of a phase also has
    ``phase``. A remedy has ``text`` and ``settings``: values by dotted path, in the form of ``--set``. The settings are
    empty if settings alone are no remedy, and for every warning of the engine.

    Parameters
    ----------
    summary : mapping
        Summary of a point.
    root, again : path and str
        As for `in_folder`.
    """
    of_engine = [
        {"severity": "warning"} | dict(warning) | {"remedy": {"text": warning["help"], "settings": {}}}
        for warning in summary.get("warnings") or []
    ]
    found = [*verdict(summary).diagnoses(), *of_engine]
    for each in found:
        each["remedy"]["text"] = in_folder(each["remedy"]["text"], root, again)
    return found


def in_folder(remedy: str, root: object, again: str | None) -> str:
    """Replaces placeholders in a remedy: the folder of the results (`root`), and the command that runs the points.

    That command is `again`, or `weft run` if `again` is unknown.
    """
    return remedy.replace("{root}", shell.word(root)).replace("{again}", again or "weft run")


def obstacles(summary: Mapping[str, Any]) -> list[Flaw]:
    """Flaws that forbid a comparison of a point with others that deliver the same load, the worst first.

    Lost packets are such a flaw only if they are more than 3 %. A smaller loss is within the tolerance for equal work.
    """
    return [FLAWS[rank] for rank in verdict(summary).obstacles]


def remedy(summary: Mapping[str, Any], flaw: Flaw | None = None, *, in_profile: bool = False) -> str:
    """Remedy for a flaw of a point (by default the worst), with its numbers; empty for a sound point.

    If the profile of a bill names the load (`in_profile`), the remedy is never another load, because the bill would
    lack it.
    """
    return verdict(summary).remedy(None if flaw is None else flaw.rank, in_profile)


def to_settle(summary: Mapping[str, Any], least_limit: int = 0) -> list[str]:
    """Settings with which a point would settle (reach a steady state before its window); empty for a settled point.

    Parameters
    ----------
    summary : mapping
        Summary of a point, or of a phase of `in_phases`.
    least_limit : int
        The longest `measure.warmup_limit` of all points of the sweep [cycles]. A proposed limit for all points is at
        least as long, so that no point gets a shorter limit than before.
    """
    return verdict(summary).to_settle(least_limit)


def to_judge(summary: Mapping[str, Any]) -> str:
    """Settings with which Weft can decide if the network carries the load of a point for which `is_behind` is true."""
    return verdict(summary).to_judge()


def risk(summary: Mapping[str, Any]) -> str | None:
    """Dotted path of the parameter of the power policy about which the engine warned; ``None`` without a warning.

    With such a policy, the network can collapse (carry far less) at a load that it carried in this run. It depends on
    the state of the network at the start whether this happens.
    """
    return verdict(summary).risk


def is_warned(summary: Mapping[str, Any]) -> bool:
    """Whether the engine warned that other runs with this power policy can have very different results."""
    return risk(summary) is not None


def is_sound(summary: Mapping[str, Any]) -> bool:
    """Whether a point has no flaws, so that Weft can call it the best in a quantity, and compare it with others."""
    return not verdict(summary).flaws


def is_over(summary: Mapping[str, Any]) -> bool:
    """Whether a point is overloaded, all the time or in a phase, so that its latency grows without limit."""
    return verdict(summary).is_over


def is_unsettled(summary: Mapping[str, Any]) -> bool:
    """Whether a point that is not overloaded was measured before its run had settled."""
    return verdict(summary).is_unsettled


def is_unjudged(summary: Mapping[str, Any]) -> bool:
    """Whether Weft cannot decide if the network carries the load of a point (which is not overloaded in any phase)."""
    return verdict(summary).is_unjudged


def is_few(summary: Mapping[str, Any]) -> bool:
    """Whether a point that is not overloaded has too few packets for a reliable mean or percentile."""
    return verdict(summary).is_few


def is_above_bound(summary: Mapping[str, Any]) -> bool:
    """Whether the offered load of a point exceeds the load that its paths can carry.

    If this is the case, a longer run does not help.
    """
    return verdict(summary).is_above_bound


def is_behind(summary: Mapping[str, Any]) -> bool:
    """Whether an unsettled point accepted less than 97 % of its offered load, beyond random variation."""
    return verdict(summary).is_behind


def is_dropping(summary: Mapping[str, Any]) -> bool:
    """Whether packets of a point were lost because a link or router had failed."""
    return bool(summary.get("dropped_packets"))


def dropped_share(summary: Mapping[str, Any]) -> float:
    """Dropped packets as a share of all packets that were delivered or dropped."""
    return verdict(summary).dropped_share


def is_lossy(summary: Mapping[str, Any]) -> bool:
    """Whether more than 3 % of the packets of a point are dropped, so that the network does not carry its load."""
    return verdict(summary).is_lossy


def is_failing(summary: Mapping[str, Any]) -> bool:
    """Whether links or routers fail during the run of a point.

    Failed links draw no power although they do not sleep.
    """
    return verdict(summary).is_failing


def mark(summary: Mapping[str, Any]) -> str:
    """The mark (of `MARKS`) after numbers of a point; empty if the point is sound or overloaded."""
    return verdict(summary).mark


def mark_without_drops(summary: Mapping[str, Any]) -> str:
    """Like `mark`, but for a number that was measured while no packet was dropped."""
    return verdict(summary).mark_without_drops


def marks_of(column: str) -> list[str]:
    """The marks that can follow the numbers of a column."""
    marked = column in _MARKED or column.startswith(LATENCIES)
    return [*(MARKS if marked else ()), *([OVERLOADED_MARK] if column == q.ENERGY.column else ())]


def sign(summary: Mapping[str, Any]) -> str:
    """The word that replaces the latency of a stalled or saturated point (``stall``, ``sat``), or else its mark.

    The word is ``cut`` if a run was cut off before its batches or programs were complete. A point that is saturated
    only in a phase also has the word ``sat``.
    """
    return verdict(summary).sign


def worst(summaries: Iterable[Mapping[str, Any]]) -> Flaw | None:
    """The worst flaw of some runs of one point; ``None`` if all are sound."""
    return min((flaw for summary in summaries for flaw in flaws(summary)), default=None)


def reason(summary: Mapping[str, Any]) -> str | None:
    """The reason why a point is never called best, as a string; ``None`` for a sound point."""
    return verdict(summary).reason


def counted(summaries: Iterable[Mapping[str, Any]]) -> dict[Flaw, int]:
    """Number of points by the worst flaw of the point."""
    counts: dict[Flaw, int] = {}
    for summary in summaries:
        if found := flaws(summary):
            counts[found[0]] = counts.get(found[0], 0) + 1
    return dict(sorted(counts.items()))


def same_work(accepted: Iterable[float | None], packets: Iterable[float | None]) -> bool:
    """Whether points deliver the same load, within 3 % and random variation (three standard deviations).

    `same_work` is the only criterion of equal work. The texts on savings, comparisons, bills and reports use this
    criterion.

    Parameters
    ----------
    accepted : iterable of float or None
        Accepted load of each point [flits/terminal/cycle]; if a load is unknown, the result is false.
    packets : iterable of float or None
        Number of packets that each point measured (over several seeds, their mean). If a number is unknown, the loads
        must be equal within 3 %, without random variation.
    """
    return _engine.same_work(list(accepted), list(packets))


def in_phases(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The numbers of a point in each phase of its load, in the form of summaries; empty if its load does not change.

    A phase is judged separately, and can be sound although another phase of the point is saturated. The phase after a
    saturated phase is not sound, because it also delivers packets left over from the saturated phase. A phase in which
    the network falls behind at first and then carries the load counts as not settled. If Weft cannot judge the whole
    run because of bursts, it does not judge the phases either.
    """
    phases = summary.get("phases") or []
    return [
        {key: summary.get(key) for key in _OF_POINT}
        | phase
        | judged
        | {
            # null if links fail, because the engine's value does not include the power of failed links
            **({"power_always_on_mean_w": None} if is_failing(summary) else {}),
            "links_on_mean": None if phase.get("links_off_share") is None else 1 - phase["links_off_share"],
        }
        for phase, judged in zip(phases, verdict(summary).phases if phases else [], strict=True)
    ]
