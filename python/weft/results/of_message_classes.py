"""Marks the numbers of the message classes of a point that are not reliable.

The numbers of a class are reliable (sound) if those of all jobs of the class are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.results import of_jobs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Summary = Mapping[str, Any]


def of(summary: Summary) -> Sequence[Mapping[str, Any]]:
    """The message classes of a point.

    The result is empty if all packets are of one class, and in results of an older version of Weft.
    """
    return summary.get("message_classes") or []


def signs(summary: Summary) -> list[str]:
    """For each class, the word that replaces its latency if it grows without limit, or the mark after its numbers.

    The string is empty for a sound class.
    """
    return [found or "" for found in _of_jobs(summary, of_jobs.signs(summary))]


def reasons(summary: Summary) -> list[str | None]:
    """For each class, the reason why it is not sound, as a string; ``None`` for a sound class."""
    return _of_jobs(summary, of_jobs.reasons(summary))


def _of_jobs(summary: Summary, lines: Sequence[str | None]) -> list[str | None]:
    """For each class, the entry of `lines` for the first job of the class that is not sound."""
    of_job = {job["job"]: each for job, each in zip(of_jobs.of(summary), lines, strict=True) if each}
    return [next((each for job, each in of_job.items() if job in one["jobs"]), None) for one in of(summary)]
