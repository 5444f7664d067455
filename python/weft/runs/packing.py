"""Packs points into jobs that take about the same time."""

from __future__ import annotations

import heapq
from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def packed(seconds: Sequence[float | None], *, job_seconds: float, at_once: int, most: int) -> list[list[int]]:
    """Points of each job: the longest first, each into the job that has least to do so far.

    Parameters
    ----------
    seconds : sequence of float or None
        How long each point takes; ``None`` if nothing is known: such a point has a job of its own, as long as there
        are enough.
    job_seconds : float
        How long a job is to take; a longer point has a job of its own.
    at_once : int
        Points that run at the same time in a job.
    most : int
        Most jobs; with many points each takes longer.

    Examples
    --------
    >>> packed([1, 5, 2, 2], job_seconds=5, at_once=1, most=10)
    [[1], [2, 3, 0]]
    """
    times = [job_seconds * at_once if each is None else each for each in seconds]
    count = min(most, len(times), max(1, ceil(sum(times) / (job_seconds * at_once))))
    jobs: list[list[int]] = [[] for _ in range(count)]
    loads = [(0.0, job) for job in range(count)]
    for place in sorted(range(len(times)), key=lambda place: -times[place]):
        load, job = heapq.heappop(loads)
        jobs[job].append(place)
        heapq.heappush(loads, (load + times[place], job))
    return jobs


def longest(jobs: Sequence[Sequence[int]], seconds: Sequence[float | None], at_once: int) -> float | None:
    """Seconds of the job that takes longest; ``None`` if nothing is known of one of its points."""
    if any(each is None for each in seconds):
        return None
    times = [each or 0.0 for each in seconds]
    of_jobs = [[times[place] for place in job] for job in jobs]
    return max(max(sum(job) / at_once, *job) for job in of_jobs)
