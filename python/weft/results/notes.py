"""Notes below a table: whether the warm-up settled, whether means are as sure as was asked, what was lost, fairness."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.text.labels import setting

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from weft.results.result_set import ResultSet

# A line names at most so many points.
_NAMED = 3


def lines(results: ResultSet) -> list[str]:
    """The notes of a sweep, a line each."""
    warmup = _answers(results, "warmup_settled", "warm-up settled")
    if warmup:
        ended = [row for row in results.summaries if row["warmup_settled"] and row.get("power_settled") is not False]
        cycles = [summary["warmup_cycles"] for summary in ended]
        taken = f" after {_range(cycles)} cycles" if cycles else ""
        warmup = [f"{warmup[0]}{taken}", *warmup[1:]]
    power = _answers(results, "power_settled", "power state settled")
    confidence = _answers(results, "confidence_reached", "wanted confidence reached")
    return [*warmup, *power, *confidence, *dropped(results.summaries), *_fairness(results), *damage(results)]


def dropped(summaries: Iterable[Mapping[str, Any]]) -> list[str]:
    """How many packets were lost because a router failed; no line if none was."""
    counts = [count for summary in summaries if (count := summary.get("dropped_packets"))]
    if not counts:
        return []
    packets, points = sum(counts), len(counts)
    lost = f"{packets} {'packet' if packets == 1 else 'packets'} dropped"
    where = f"{points} {'point' if points == 1 else 'points'}"
    return [f"{lost} at {where} (a router had failed): latencies are of the others"]


def damage(results: ResultSet) -> list[str]:
    """Which points can't be used, why, and how to run them again; no line if all can be used."""
    if not results.damaged:
        return []
    named = [f"  {setting(point.coordinates) or point.hash}: {point.reason}" for point in results.damaged[:_NAMED]]
    more = [f"  and {len(results.damaged) - _NAMED} more"] if len(results.damaged) > _NAMED else []
    count = f"{len(results.damaged)} damaged point{'s are' if len(results.damaged) > 1 else ' is'} left out"
    again = results.command or "run the sweep again into this folder"
    return [count, *named, *more, f"  to run what is damaged or missing: {again}"]


def _answers(results: ResultSet, column: str, words: str) -> list[str]:
    """How many points have yes in a column, and which have no; no line if the column is empty."""
    asked = {row: answer for row, answer in enumerate(_values(results, column)) if answer is not None}
    if not asked:
        return []
    no = [row for row, answer in asked.items() if not answer]
    line = f"{words} in {len(asked) - len(no)} of {len(asked)} points"
    if not no:
        return [line]
    more = [f"  nor in {len(no) - _NAMED} more"] if len(no) > _NAMED else []
    return [line, *(f"  not in {results.describe(row)}" for row in no[:_NAMED]), *more]


def _fairness(results: ResultSet) -> list[str]:
    """Jain's index of the flits that each source injected: 1 if all injected the same."""
    known = [(value, row) for row, value in enumerate(_values(results, "source_fairness_jain")) if value is not None]
    if not known:
        return []
    least, row = min(known)
    where = f" ({results.describe(row)})" if len(known) > 1 else ""
    return [f"Jain index of the sources: {'at least ' if len(known) > 1 else ''}{least:.4g}{where}"]


def _values(results: ResultSet, column: str) -> list[Any]:
    return [summary.get(column) for summary in results.summaries]


def _range(values: list[int]) -> str:
    return f"{min(values)}" if min(values) == max(values) else f"{min(values)} to {max(values)}"
