"""Whether the numbers of one job of a point hold: a job may be sound next to one that the network does not carry.

A point in which any job is saturated or cut off ends with its window and is not drained. A job that accepts its load,
or is complete, has a latency all the same. Only its packets in flight at the end of the window are missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft import _engine
from weft.results import soundness

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Summary = Mapping[str, Any]

# Behind numbers of a sound job of a point that is saturated or cut off.
NEXT_TO_MARK, NEXT_TO = _engine.NEXT_TO_MARK
# Signs of jobs: words in place of a latency, and marks behind a number.
MEANINGS = soundness.ENDED | soundness.MARKS | {NEXT_TO_MARK: NEXT_TO}


def of(summary: Summary) -> Sequence[Mapping[str, Any]]:
    """The jobs of a point."""
    return summary.get("jobs") or []


def is_batch(job: Mapping[str, Any]) -> bool:
    """Whether a job sends a number of packets, and not a load."""
    return job.get("batch_packets") is not None


def are_batches(summary: Summary) -> bool:
    """Whether every job of a point sends a batch: its answer is the time of completion, and it has no load."""
    return bool(of(summary)) and all(map(is_batch, of(summary)))


def signs(summary: Summary) -> list[str]:
    """Of each job the word in place of a latency without a limit, or the mark behind numbers; empty for a sound job."""
    return soundness.verdict(summary).job_signs


def reasons(summary: Summary) -> list[str | None]:
    """The reason why each job is not sound, in words; ``None`` for a sound one."""
    return soundness.verdict(summary).job_reasons


def marks_of(column: str) -> list[str]:
    """Possible marks behind the numbers of a column of jobs."""
    marks = soundness.marks_of(column)
    return [*marks, NEXT_TO_MARK] if NEXT_TO_MARK not in marks and soundness.UNSETTLED_MARK in marks else marks


def latencies(summary: Summary, job: Mapping[str, Any]) -> list[list[int]] | None:
    """Latencies of a job [cycles], each with its packets; ``None`` where an older Weft kept none."""
    found = summary.get("latency_histogram") if len(of(summary)) == 1 else job.get("latency_histogram")
    return None if found is None else list(found)
