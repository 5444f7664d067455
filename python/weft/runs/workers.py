"""A pool of threads that run the points of several sweeps.

A thread without a point takes the next point of any of the sweeps.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from weft.runs.provenance import cores


class Workers(ThreadPoolExecutor):
    """A pool of threads for several sweeps that run in parallel.

    Pass this object as `executor` to each `weft.Sweep.run`.

    Points run in the order in which sweeps submit them.

    The pool does not check the memory that concurrent points need. `weft.runs.memory.fit` says whether points of
    several sweeps fit into the memory.

    Parameters
    ----------
    jobs : int, optional
        Number of points that run at the same time; by default the number of cores.

    Attributes
    ----------
    count : int
        Number of points that run at the same time.
    """

    def __init__(self, jobs: int | None = None) -> None:
        self.count = jobs or cores()
        super().__init__(max_workers=self.count)
