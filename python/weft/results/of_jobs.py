"""Whether the numbers of one job of a point hold: a job may be sound next to one that the network does not carry.

A point in which any job is saturated ends with its window and is not drained. A job that accepts its load
has a latency all the same. Only its packets in flight at the end of the window are missing.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from weft.results import quantities as q
from weft.results import soundness

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Summary = Mapping[str, Any]

# Behind numbers of a sound job of a saturated point.
NEXT_TO_MARK = "+"
NEXT_TO = "another job is saturated, so packets that were on their way at the end of the window are not in it"
_NEXT_TO = "sound, next to a saturated job"
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
    whole, several = soundness.sign(summary), len(of(summary)) > 1
    return [_sign(whole, job, several=several) for job in of(summary)]


def reasons(summary: Summary) -> list[str | None]:
    """Why each job is no example of anything good, in words; ``None`` for a sound one."""
    verdict = soundness.verdict(summary)
    is_saturated = verdict.flaws == [soundness.SATURATED.rank]
    whole, several = verdict.sign, len(of(summary)) > 1
    is_next_to = [is_saturated and _sign(whole, job, several=several) not in soundness.ENDED for job in of(summary)]
    why = verdict.reason
    return [_NEXT_TO if each else why for each in is_next_to]


def _sign(whole: str, job: Mapping[str, Any], *, several: bool) -> str:
    """The sign of a job of a point with the sign `whole`, which has `several` jobs or not."""
    if whole != "sat" or not several or not _is_carried(job):
        return whole
    return NEXT_TO_MARK if job.get("missing_packets") else ""


def marks_of(column: str) -> list[str]:
    """Possible marks behind the numbers of a column of jobs."""
    marks = soundness.marks_of(column)
    return [*marks, NEXT_TO_MARK] if NEXT_TO_MARK not in marks and soundness.UNSETTLED_MARK in marks else marks


def latencies(summary: Summary, job: Mapping[str, Any]) -> list[list[int]] | None:
    """Latencies of a job [cycles], each with its packets; ``None`` where an older Weft kept none."""
    found = summary.get("latency_histogram") if len(of(summary)) == 1 else job.get("latency_histogram")
    return None if found is None else list(found)


def _is_carried(job: Mapping[str, Any]) -> bool:
    """Whether the network carries a job: a complete batch, or a load of which 97 % is accepted, up to chance."""
    if is_batch(job):
        return job.get("completion_cycles") is not None
    offered, accepted, packets = job.get(q.OFFERED.column), job.get(q.ACCEPTED.column), job.get("packets")
    if not offered or accepted is None or not packets:
        return False
    return bool(accepted >= (soundness.CARRIED - soundness.CHANCE / math.sqrt(packets)) * offered)
