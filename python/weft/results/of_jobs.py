"""Marks the numbers of the jobs of a point that are not reliable.

A job can be sound (its numbers are reliable) although the network does not carry the load of another job.

If any job of a point is saturated or cut off, the run ends with the window, without a drain. In such a run, a job that
accepts its load, or is complete, still has a latency. The latency lacks only the packets that were in flight at the end
of the window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft import _engine
from weft.results import soundness

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Summary = Mapping[str, Any]

# Mark after the numbers of a sound job if its point is saturated or cut off, and the meaning of the mark.
NEXT_TO_MARK, NEXT_TO = _engine.NEXT_TO_MARK
# Signs of jobs with their meanings: words that replace a latency, and marks after a number.
MEANINGS = soundness.ENDED | soundness.MARKS | {NEXT_TO_MARK: NEXT_TO}


def of(summary: Summary) -> Sequence[Mapping[str, Any]]:
    """The jobs of a point, each with its measured numbers."""
    return summary.get("jobs") or []


def is_batch(job: Mapping[str, Any]) -> bool:
    """Whether a job sends a fixed number of packets (a batch) instead of a load."""
    return job.get("batch_packets") is not None


def are_batches(summary: Summary) -> bool:
    """Whether every job of a point sends a batch, so that the main result is the completion time.

    A point of batches has no load.
    """
    return bool(of(summary)) and all(map(is_batch, of(summary)))


def signs(summary: Summary) -> list[str]:
    """For each job, the word that replaces its latency if it grows without limit, or the mark after its numbers.

    The string is empty for a sound job.
    """
    return soundness.verdict(summary).job_signs


def reasons(summary: Summary) -> list[str | None]:
    """For each job, the reason why it is not sound, as a string; ``None`` for a sound job."""
    return soundness.verdict(summary).job_reasons


def marks_of(column: str) -> list[str]:
    """Marks that can follow a number in a column of the table of jobs."""
    marks = soundness.marks_of(column)
    return [*marks, NEXT_TO_MARK] if NEXT_TO_MARK not in marks and soundness.UNSETTLED_MARK in marks else marks


def latencies(summary: Summary, job: Mapping[str, Any]) -> list[list[int]] | None:
    """Latencies of a job [cycles], each with its number of packets.

    The result is ``None`` if an older version of Weft stored none.
    """
    found = summary.get("latency_histogram") if len(of(summary)) == 1 else job.get("latency_histogram")
    return None if found is None else list(found)
