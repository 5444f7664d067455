"""Cores for points that run side by side: each of their threads stays on a core of its own."""

from __future__ import annotations

import os
from contextlib import contextmanager
from queue import SimpleQueue
from typing import TYPE_CHECKING, Self

from weft.errors import WeftError

if TYPE_CHECKING:
    from collections.abc import Iterator


def allowed() -> list[int]:
    """Numbers of the cores that this process may use.

    Raises
    ------
    WeftError
        If the system does not number its cores.
    """
    if not hasattr(os, "sched_getaffinity"):
        what = "threads can't be pinned: this system does not let a process choose its cores (Linux does)"
        raise WeftError.saying(what, "leave --pin (pin=True) out")
    return sorted(os.sched_getaffinity(0))


class Cores:
    """Hands a core to each thread of a point that begins, and takes them back when the point ends.

    Parameters
    ----------
    points, threads : int
        Points at a time, and threads of each.

    Raises
    ------
    WeftError
        If that needs more cores than this process may use, or the system can't pin threads.
    """

    def __init__(self, points: int, threads: int) -> None:
        cores = allowed()
        if points * threads > len(cores):
            each = f"{points} point{'s' * (points > 1)} at a time with {threads} thread{'s' * (threads > 1)} each"
            what = f"{each} can't be pinned: they need {points * threads} cores, and this process may use {len(cores)}"
            fitting = len(cores) // threads
            remedy = (
                f"run {fitting} at a time (--jobs {fitting})"
                if fitting
                else f"take fewer threads (--threads {len(cores)})"
            )
            raise WeftError.saying(what, f"{remedy}, or leave --pin (pin=True) out")
        self._free: SimpleQueue[list[int]] = SimpleQueue()
        for first in range(0, points * threads, threads):
            self._free.put(cores[first : first + threads])

    @classmethod
    def of(cls, jobs: int | None, threads: int, points: int) -> Self:
        """Cores for a sweep of some points, `jobs` at a time (``None``: as many as there are cores for)."""
        return cls(min(jobs or max(1, len(allowed()) // threads), points), threads)

    @contextmanager
    def lent(self) -> Iterator[list[int]]:
        """The cores of one point, by thread, while it runs."""
        cores = self._free.get()
        try:
            yield cores
        finally:
            self._free.put(cores)
