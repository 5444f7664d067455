"""Whether the numbers of a point are sound. All code that names a best point, a saving or a winner uses this module.

The engine decides (`weft._engine.Verdict`, from the numbers of a summary), and writes flaws and remedies as sentences.
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
        Name of the flaw, the same in every version.
    words : str
        The flaw as a predicate, as in "2 points are saturated".
    help : str
        General remedy, used if the numbers of the point give no better one (`remedy`). `in_folder` completes it.
    group : str
        Name of the group of flaws that are treated in the same way.
    """

    rank: int
    code: str
    words: str
    help: str
    group: str


# All flaws, the worst first.
FLAWS = tuple(Flaw(rank, **kind) for rank, kind in enumerate(_engine.flaw_kinds()))
_BY_CODE = {flaw.code: flaw for flaw in FLAWS}
SATURATED, DROPPING, EMPTY = (_BY_CODE[code] for code in ("saturated", "packets_dropped", "no_packet"))
UNJUDGED, PART_OF_PERIOD = (_BY_CODE[code] for code in ("not_judged", "part_of_period"))
LEFT_OVER, FELL_BEHIND, QUEUES_UNSETTLED = (
    _BY_CODE[code] for code in ("began_with_backlog", "fell_behind", "queues_unsettled")
)
# Flaws of points that accept as much as the network carries.
OVERLOADED = {flaw for flaw in FLAWS if flaw.group == "overloaded"}
# Flaws of points that accept less than the offered load, so that only accepted loads can be compared.
LESS_ACCEPTED = {*OVERLOADED, DROPPING}
WARMUP = "measure.warmup"

# Signs with their meanings. A sign follows a number of a point that is not sound, though not overloaded. It replaces a
# latency without a limit, or a time that a run did not reach.
MARKS, ENDED = _engine.marks()
SATURATED_SIGN, STALLED_SIGN, CUT_SIGN = ENDED
DROPPING_MARK, UNSETTLED_MARK, UNJUDGED_MARK, FEW_MARK, PERIOD_MARK = MARKS
# The mark after the energy of points and phases that accept less than the offered load.
OVERLOADED_MARK = "!"
OVERLOADED_MEANING = "per accepted bit, with an accepted load below the offered load"
# Columns whose numbers have a mark, in addition to those of latencies.
_MARKED = {q.ACCEPTED.column, q.ACCEPTED_GBPS.column, q.ENERGY.column, q.POWER.column}
LATENCIES = ("packet_latency_", "network_latency_")
# Facts that a phase inherits from its point.
_OF_POINT = (
    *(q.ENDING.column, "warnings", "warmup_settled", "warmup_cycles", "power_settled"),
    *("hash", "packet_flits", "cycle_seconds", "flit_bits"),
)


def verdict(summary: Mapping[str, Any]) -> _engine.Verdict:
    """The verdict of the engine on a point, or on a phase of `in_phases`."""
    return _engine.Verdict(summary)


def flaws(summary: Mapping[str, Any]) -> list[Flaw]:
    """Flaws of a point, the worst first; empty for a sound point."""
    return [FLAWS[rank] for rank in verdict(summary).flaws]


def diagnoses(summary: Mapping[str, Any], root: object, again: str | None) -> list[dict[str, Any]]:
    """The flaws of a point, those of each phase of its load, and the warnings about it.

    Each diagnosis has ``code``, ``severity``, ``what``, ``numbers`` and ``remedy``; a diagnosis of a phase also has
    ``phase``. A remedy has ``text`` and ``settings``: values by dotted path, in the form of ``--set``. The settings are
    empty if they alone are not the remedy. They are always empty for a warning of the engine.

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
    """A remedy of a flaw with the folder of the results (`root`) and the command that runs them (`again`), if known."""
    return remedy.replace("{root}", shell.word(root)).replace("{again}", again or "weft run")


def obstacles(summary: Mapping[str, Any]) -> list[Flaw]:
    """Flaws that make a comparison with a point that delivers the same unfair, the worst first.

    Lost packets do so only if they are more than 3 %. A smaller loss is within the tolerance for equal work.
    """
    return [FLAWS[rank] for rank in verdict(summary).obstacles]


def remedy(summary: Mapping[str, Any], flaw: Flaw | None = None, *, in_profile: bool = False) -> str:
    """Remedy for a flaw of a point (by default the worst), with its numbers; empty for a sound point.

    If a profile names the load (`in_profile`), the remedy is not another load alone, because the profile would lack it.
    """
    return verdict(summary).remedy(None if flaw is None else flaw.rank, in_profile)


def to_settle(summary: Mapping[str, Any], least_limit: int = 0) -> list[str]:
    """Settings with which an unsettled point settles, with numbers; empty for a settled one.

    Parameters
    ----------
    summary : mapping
        Summary of a point, or of a phase of `in_phases`.
    least_limit : int
        The longest `measure.warmup_limit` of all points of the sweep [cycles]: if one limit is set for all points, no
        point gets a shorter limit than it had.
    """
    return verdict(summary).to_settle(least_limit)


def to_judge(summary: Mapping[str, Any]) -> str:
    """Settings that show whether the network carries the load of a point for which `is_behind` is true."""
    return verdict(summary).to_judge()


def risk(summary: Mapping[str, Any]) -> str | None:
    """The parameter of the power policy about which the engine warned, as a dotted path; ``None`` without warning.

    A network with such a policy may collapse at a load that this run carries. The start of the run decides this.
    """
    return verdict(summary).risk


def is_warned(summary: Mapping[str, Any]) -> bool:
    """Whether the engine warned that the results of this point may not apply to other runs with its power policy."""
    return risk(summary) is not None


def is_sound(summary: Mapping[str, Any]) -> bool:
    """Whether a point may be named as the best of anything, and compared with others."""
    return not verdict(summary).flaws


def is_over(summary: Mapping[str, Any]) -> bool:
    """Whether the load is too much for a point, all the time or in a phase: its latency has no limit."""
    return verdict(summary).is_over


def is_unsettled(summary: Mapping[str, Any]) -> bool:
    """Whether a point that is not overloaded was measured before it had settled."""
    return verdict(summary).is_unsettled


def is_unjudged(summary: Mapping[str, Any]) -> bool:
    """Whether it is unknown if the network carries the load of a point. No phase of the point is overloaded."""
    return verdict(summary).is_unjudged


def is_few(summary: Mapping[str, Any]) -> bool:
    """Whether a point that is not overloaded has too few packets for a mean or a percentile."""
    return verdict(summary).is_few


def is_above_bound(summary: Mapping[str, Any]) -> bool:
    """Whether the offered load of a point exceeds what its paths can carry. A longer run does not change this."""
    return verdict(summary).is_above_bound


def is_behind(summary: Mapping[str, Any]) -> bool:
    """Whether an unsettled point accepted less than 97 % of its offered load, beyond random variation."""
    return verdict(summary).is_behind


def is_dropping(summary: Mapping[str, Any]) -> bool:
    """Whether packets of a point were lost because a link or router had failed."""
    return bool(summary.get("dropped_packets"))


def dropped_share(summary: Mapping[str, Any]) -> float:
    """Share of dropped packets among those delivered or dropped."""
    return verdict(summary).dropped_share


def is_lossy(summary: Mapping[str, Any]) -> bool:
    """Whether more than 3 % of the packets are dropped: the load is not carried."""
    return verdict(summary).is_lossy


def is_failing(summary: Mapping[str, Any]) -> bool:
    """Whether links or routers fail during a run. Failed links draw no power although they do not sleep."""
    return verdict(summary).is_failing


def mark(summary: Mapping[str, Any]) -> str:
    """The sign of `MARKS` after numbers of a point; empty if the point is sound or overloaded."""
    return verdict(summary).mark


def mark_without_drops(summary: Mapping[str, Any]) -> str:
    """As `mark`, for a number from a time in which no packet was dropped."""
    return verdict(summary).mark_without_drops


def marks_of(column: str) -> list[str]:
    """The marks that may follow the numbers of a column."""
    marked = column in _MARKED or column.startswith(LATENCIES)
    return [*(MARKS if marked else ()), *([OVERLOADED_MARK] if column == q.ENERGY.column else ())]


def sign(summary: Mapping[str, Any]) -> str:
    """The word that replaces a latency without a limit (``stall``, ``sat``), or otherwise the mark of the point.

    It is ``cut`` if a run was cut off before its batches or programs were complete. The latency of a point that is
    saturated in a phase also has no limit.
    """
    return verdict(summary).sign


def worst(summaries: Iterable[Mapping[str, Any]]) -> Flaw | None:
    """The worst flaw of some runs of one point; ``None`` if all are sound."""
    return min((flaw for summary in summaries for flaw in flaws(summary)), default=None)


def reason(summary: Mapping[str, Any]) -> str | None:
    """The reason why a point is never called best, as a string; ``None`` for a sound point."""
    return verdict(summary).reason


def counted(summaries: Iterable[Mapping[str, Any]]) -> dict[Flaw, int]:
    """Number of points by their worst flaw."""
    counts: dict[Flaw, int] = {}
    for summary in summaries:
        if found := flaws(summary):
            counts[found[0]] = counts.get(found[0], 0) + 1
    return dict(sorted(counts.items()))


def same_work(accepted: Iterable[float | None], packets: Iterable[float | None]) -> bool:
    """Whether points deliver the same load, up to 3 % and random variation (three standard deviations).

    This is the only criterion of equal work. Sentences on savings, comparisons, bills and reports use it.

    Parameters
    ----------
    accepted : iterable of float or None
        Accepted load of each point [flits/terminal/cycle]; if a load is unknown, the result is false.
    packets : iterable of float or None
        Packets that each point measured (over several seeds, their mean); if a number is unknown, only the 3 % are
        tolerated.
    """
    return _engine.same_work(list(accepted), list(packets))


def in_phases(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The numbers of a point in each phase of its load, in the form of a summary; empty if its load does not change.

    A phase is judged separately, and may be sound although another phase of the point is saturated. The phase after a
    saturated one is not sound, because it delivers the packets that were left. A phase that falls behind at first and
    then carries its load has not settled. If bursts leave the whole run without a verdict, its phases have none.
    """
    phases = summary.get("phases") or []
    return [
        {key: summary.get(key) for key in _OF_POINT}
        | phase
        | judged
        | {
            # failed links would also draw power, so this is not the power of links that are always on
            **({"power_always_on_mean_w": None} if is_failing(summary) else {}),
            "links_on_mean": None if phase.get("links_off_share") is None else 1 - phase["links_off_share"],
        }
        for phase, judged in zip(phases, verdict(summary).phases if phases else [], strict=True)
    ]
