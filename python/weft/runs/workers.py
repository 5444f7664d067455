"""Threads that run the points of several sweeps. A thread without a point takes the next point of any sweep."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from weft.runs.provenance import cores


class Workers(ThreadPoolExecutor):
    """The threads of sweeps that run side by side: the `executor` of each `weft.Sweep.run`.

    Points run in the order in which sweeps submit them.

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
