"""Assigns cores to points that run in parallel. Each thread of these points is pinned to a separate core."""

from __future__ import annotations

import os
from contextlib import contextmanager
from queue import SimpleQueue
from typing import TYPE_CHECKING, Self

from weft.errors import WeftError

if TYPE_CHECKING:
    from collections.abc import Iterator


def allowed() -> list[int]:
    """Numbers of the cores (of the operating system) that this process can use.

    Raises
    ------
    WeftError
        If the system does not number its cores.
    """
    if not hasattr(os, "sched_getaffinity"):
        what = "threads can't be pinned: on this system a process can't choose its cores (on Linux it can)"
        raise WeftError.saying(what, "remove --pin (pin=True)")
    return sorted(os.sched_getaffinity(0))


class Cores:
    """Assigns a core to each thread of a point that begins, and releases the cores when the point has ended.

    Parameters
    ----------
    points, threads : int
        Number of points that run at the same time, and threads per point.

    Raises
    ------
    WeftError
        If the threads need more cores than this process can use, or if the system cannot pin threads.
    """

    def __init__(self, points: int, threads: int) -> None:
        cores = allowed()
        if points * threads > len(cores):
            each = f"{points} point{'s' * (points > 1)} at a time with {threads} thread{'s' * (threads > 1)} each"
            what = f"{each} can't be pinned: they need {points * threads} cores, but this process may use {len(cores)}"
            fitting = len(cores) // threads
            remedy = (
                f"run {fitting} at a time (--jobs {fitting})"
                if fitting
                else f"use fewer threads (--threads {len(cores)})"
            )
            raise WeftError.saying(what, f"{remedy}, or remove --pin (pin=True)")
        self._free: SimpleQueue[list[int]] = SimpleQueue()
        for first in range(0, points * threads, threads):
            self._free.put(cores[first : first + threads])

    @classmethod
    def of(cls, jobs: int | None, threads: int, points: int) -> Self:
        """Reserves cores for a sweep of `points` points, of which `jobs` run at the same time.

        If `jobs` is ``None``, as many points run at the same time as the cores allow.
        """
        return cls(min(jobs or max(1, len(allowed()) // threads), points), threads)

    @contextmanager
    def lent(self) -> Iterator[list[int]]:
        """Yields the cores of one point, one core per thread, while the point runs."""
        cores = self._free.get()
        try:
            yield cores
        finally:
            self._free.put(cores)
