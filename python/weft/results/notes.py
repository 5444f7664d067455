"""Writes the notes below a table: on points with flaws, uncertain means, lost packets, faults and missing points.

The engine decides which notes a point has, and writes their text. This module prints a note once for all points to
which it applies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.results import codes, price_source, soundness, sweep_diagnoses
from weft.text.labels import setting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from weft.results.result_set import ResultSet

# Maximum number of points that a note names.
_NAMED = 3


def lines(results: ResultSet) -> list[str]:
    """The notes of a sweep, one per line."""
    warmup = _answers(results, "warmup_settled", "warm-up settled")
    if warmup:
        ended = [
            row
            for row in results.summaries
            if row["warmup_settled"] and row.get("power_settled") is not False and row.get("packets") != 0
        ]
        cycles = [summary["warmup_cycles"] for summary in ended]
        taken = f" after {_range(cycles)} cycles" if cycles else ""
        warmup = [f"{warmup[0]}{taken}", *warmup[1:], *_late(results)]
    power = _answers(results, "power_settled", "power state settled")
    confidence = _answers(results, "confidence_reached", "requested confidence reached")
    lost = dropped(results.summaries)
    shown = [
        *codes.sentences(sweep_diagnoses.of_loads(results)),
        *unjudged(results),
        *_of(results, "part_of_period"),
        *unmeasured(results),
        *starved(results),
        *too_early(results),
        *warmup,
        *_of(results, "warmup"),
        *power,
        *confidence,
    ]
    return [
        *shown,
        *to_settle(results),
        *lost,
        *_fairness(results),
        *unlisted(results),
        *damage(results),
        *price_source.lines(results.summaries),
    ]


def _of(results: ResultSet, *topics: str) -> list[str]:
    """Notes of the engine about the points, on the given topics."""
    longest, verdicts = longest_limit(results), list(map(soundness.verdict, results.summaries))

    def lines_of(topic: str) -> list[list[str]]:
        return [[codes.coded(text, code) for code, text in verdict.notes(topic, longest)] for verdict in verdicts]

    return [line for topic in topics for line in _once(results, lines_of(topic), "more like these")]


def unmeasured(results: ResultSet) -> list[str]:
    """Notes on points whose run was cut off, and on points, jobs and phases without packets in the window."""
    topics = (
        "not_complete",
        "no_packet",
        "short_window",
        "silent_jobs",
        "silent_phases",
        "overloaded_phases",
        "late_phases",
    )
    return _of(results, *topics)


def too_early(results: ResultSet) -> list[str]:
    """Notes on points with a fixed warm-up that is too short, or with queues that still grew in the window.

    A warm-up can end before the first packets or replies arrive, or before power states have settled.
    """
    return _of(results, "filling", "too_early", "at_path_bound", "queues", "backlog")


def to_settle(results: ResultSet) -> list[str]:
    """Notes that name settings with which points would settle (reach a steady state) before their window.

    Points with a fixed warm-up are left out, because the engine warns about them before the run.
    """
    return _of(results, "to_settle")


def unjudged(results: ResultSet) -> list[str]:
    """Notes on points for which Weft cannot decide if the network carries their load, with the reason."""
    return _of(results, "not_judged")


def behind(results: ResultSet) -> list[str]:
    """Notes on points that accepted less than the offered load, and had not settled before the window.

    The notes name settings with which Weft can decide if the network carries the load.
    """
    return _of(results, "behind")


def starved(results: ResultSet) -> list[str]:
    """Notes on saturated points whose buffers are too short for their load, with the remedy."""
    return _of(results, "buffers")


def warnings(results: ResultSet) -> list[str]:
    """Warnings of the engine, in the order of the points, without those that `unjudged` and `too_early` print."""
    return _each_once(results, lambda summary: soundness.verdict(summary).unreported())


def longest_limit(results: ResultSet) -> int:
    """The longest `measure.warmup_limit` of all points [cycles]; 0 if no point has a limit."""
    return max((summary.get("warmup_limit_cycles") or 0 for summary in results.summaries), default=0)


def _late(results: ResultSet) -> list[str]:
    """Notes on points whose warm-up ended only at its limit (`measure.warmup_limit`), with the reason."""

    def texts(summary: Mapping[str, Any]) -> list[str]:
        why = soundness.verdict(summary).at_limit
        return [] if why is None else [f"  {why}"]

    return _each_once(results, texts)


def _each_once(
    results: ResultSet, lines: Callable[[Mapping[str, Any]], list[str]], rest: str = "more like these"
) -> list[str]:
    """Lines that `lines` returns for the points, each once, with its first point and the number of other points."""
    return _once(results, list(map(lines, results.summaries)), rest)


def _once(results: ResultSet, shown: Sequence[list[str]], rest: str) -> list[str]:
    found: dict[str, list[int]] = {}
    for row, texts in enumerate(shown):
        for text in texts:
            found.setdefault(text, []).append(row)
    several = len(results) > 1
    more = {text: f" and {len(rows) - 1} more" if len(rows) > 1 else "" for text, rows in found.items()}
    where = {text: f" ({results.describe(rows[0])}{more[text]})" if several else "" for text, rows in found.items()}
    lines = [f"{text}{where[text]}" for text in found]
    return [*lines[:_NAMED], f"and {len(lines) - _NAMED} {rest}"] if len(lines) > _NAMED + 1 else lines


def dropped(summaries: Iterable[Mapping[str, Any]]) -> list[str]:
    """A line with the number of packets that were lost because a link or router had failed.

    The result is empty if no packet was lost.
    """
    losing = [summary for summary in summaries if soundness.is_dropping(summary)]
    if not losing:
        return []
    counts = [summary["dropped_packets"] for summary in losing]
    delivered = 100 * (1 - max(map(soundness.dropped_share, losing)))
    packets, points = sum(counts), len(counts)
    lost = f"{packets} {'packet' if packets == 1 else 'packets'} dropped"
    where = f"{points} {'point' if points == 1 else 'points'}"
    # as many digits as are needed to show a share below 100 %
    digits = next(digits for digits in range(3, 18) if float(f"{delivered:.{digits}g}") < 100)
    share = f"{delivered:.{digits}g} % were delivered{' at the worst point' if points > 1 else ''}"
    return [f"{lost} at {where} (a link or router had failed): {share}; latencies include only delivered packets"]


def faults(results: ResultSet) -> list[str]:
    """Lines with the reasons why a number about faults is unknown: a latency, a delivered share, or a recovery time."""

    def texts(summary: Mapping[str, Any]) -> list[str]:
        parts = [(f"{part['part']} the faults", part["unknown"]) for part in summary.get("fault_parts") or []]
        times = [("recovery", summary.get("recovery_unknown")), ("return", summary.get("return_recovery_unknown"))]
        if times[0][1] == times[1][1]:
            times = [("recovery and return", times[0][1])]
        return [f"- {what}: {why}" for what, why in [*parts, *times] if why]

    return _each_once(results, texts, "more, which `weft analyse recovery` lists")


def unlisted(results: ResultSet) -> list[str]:
    """A line on points that are stored in the folder but are no longer part of the sweep.

    The result is empty if the folder has no such points.
    """
    if not results.unlisted:
        return []
    count = (
        f"{results.unlisted} other point{' is' if results.unlisted == 1 else 's are'} stored in"
        f" {results.root / 'points'}"
    )
    return [f"{count}: the scenario had other points when they ran; a sweep that has these points again reuses them"]


def damage(results: ResultSet) -> list[str]:
    """Lines on damaged points, with the fault and the command that runs them again; empty if no point is damaged."""
    if not results.damaged:
        return []
    named = [f"  {setting(point.coordinates) or point.hash}: {point.reason}" for point in results.damaged[:_NAMED]]
    more = [f"  and {len(results.damaged) - _NAMED} more"] if len(results.damaged) > _NAMED else []
    count = f"{len(results.damaged)} damaged point{'s are' if len(results.damaged) > 1 else ' is'} left out"
    again = results.command or "run the sweep again into this folder"
    return [count, *named, *more, f"  to run damaged or missing points: {again}"]


def unfinished(results: ResultSet) -> list[str]:
    """A line with the number of unfinished points, and the command that runs them; empty if all are finished."""
    if not results.missing:
        return []
    whole = len(results) + results.missing + len(results.damaged)
    count = f"{results.missing} of {whole} points {'is' if results.missing == 1 else 'are'} not finished"
    again = results.command or "the same run, into this folder"
    return [f"{results.root}: {count}, and left out; continue with: {again}"]


def _answers(results: ResultSet, column: str, words: str) -> list[str]:
    """A line on a boolean column: the number of points at which it is true, and the points at which it is false.

    The result is empty if no point has a value in the column.
    """
    # points without measured packets are not counted, because no quantity could settle
    empty = {row for row, summary in enumerate(results.summaries) if summary.get("packets") == 0}
    answers = enumerate(_values(results, column))
    asked = {row: answer for row, answer in answers if answer is not None and row not in empty}
    if not asked:
        return []
    no = [row for row, answer in asked.items() if not answer]
    line = f"{words} in {len(asked) - len(no)} of {len(asked)} points"
    if not no:
        return [line]
    more = [f"  and not in {len(no) - _NAMED} more"] if len(no) > _NAMED else []
    return [line, *(f"  not in {results.describe(row)}" for row in no[:_NAMED]), *more]


def _fairness(results: ResultSet) -> list[str]:
    """Note with Jain's fairness index of the flits that the sources injected. It is 1 if all injected equal numbers."""
    known = [(value, row) for row, value in enumerate(_values(results, "source_fairness_jain")) if value is not None]
    if not known:
        return []
    least, row = min(known)
    if len(known) > 1 and f"{least:.4g}" == "1":
        return ["Jain index of the sources: 1 at all points"]
    where = f" ({results.describe(row)})" if len(known) > 1 else ""
    return [f"Jain index of the sources: {'at least ' if len(known) > 1 else ''}{least:.4g}{where}"]


def _values(results: ResultSet, column: str) -> list[Any]:
    return [summary.get(column) for summary in results.summaries]


def _range(values: list[int]) -> str:
    return f"{min(values)}" if min(values) == max(values) else f"{min(values)} to {max(values)}"
