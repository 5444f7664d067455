"""Threads that run the points of several sweeps: each idle one takes the next point of any of them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from weft.runs.provenance import cores


class Workers(ThreadPoolExecutor):
    """What sweeps that run side by side share, as `executor` of `weft.Sweep.run`. The first points come first.

    They do not check memory: `weft.runs.memory.fit` tells whether the points of several sweeps fit.

    Parameters
    ----------
    jobs : int, optional
        Points at a time, by default as many as there are cores.

    Attributes
    ----------
    count : int
        Points at a time.
    """

    def __init__(self, jobs: int | None = None) -> None:
        self.count = jobs or cores()
        super().__init__(max_workers=self.count)
