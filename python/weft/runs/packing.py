"""Assigns points to jobs of a batch system, so that all jobs take about the same time."""

from __future__ import annotations

import heapq
from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def packed(seconds: Sequence[float | None], *, job_seconds: float, at_once: int, most: int) -> list[list[int]]:
    """Assigns each point to a job.

    The points are assigned one by one, the longest first, each to the job with the least run time so far.

    Parameters
    ----------
    seconds : sequence of float or None
        Run time of each point [s]; ``None`` if unknown. A point with unknown run time gets a separate job while the
        number of jobs is below `most`.
    job_seconds : float
        Intended run time of a job [s]. A point that takes longer gets a separate job.
    at_once : int
        Number of points that run at the same time in a job.
    most : int
        Maximum number of jobs. With many points, each job takes longer than intended.

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
    """Run time of the longest job [s]; ``None`` if the time of one of its points is unknown."""
    if any(each is None for each in seconds):
        return None
    times = [each or 0.0 for each in seconds]
    of_jobs = [[times[place] for place in job] for job in jobs]
    return max(max(sum(job) / at_once, *job) for job in of_jobs)
