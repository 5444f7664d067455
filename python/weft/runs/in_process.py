"""Runs points (simulations) in threads of this process, and saves their results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.runs.checkpoints import Checkpoints
from weft.runs.execute import execute

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weft._engine import Finished, Point
    from weft.results.store import Store
    from weft.runs.execute import Status
    from weft.runs.how import How
    from weft.runs.pinning import Cores
    from weft.runs.workers import Workers


def run(
    store: Store,
    points: Sequence[Point],
    *,
    jobs: int | None,
    how: How,
    reused: int,
    watch: Callable[[Status], None],
    pinned: Cores | None = None,
    workers: Workers | None = None,
) -> None:
    """Run points, and save the results of each point as soon as it is finished.

    Points that have checkpoints continue from these.

    Parameters
    ----------
    store : Store
        Folder of the results.
    points : sequence of Point
        Points to run.
    jobs : int or None
        As for `weft.Sweep.run`.
    how : How
        Threads, blocks and checkpoints of each point.
    reused : int
        Number of further points that were already finished; `Status` counts them as done.
    watch : callable
        Function that is called with the `Status` from time to time.
    pinned : Cores, optional
        Cores to which threads are pinned.
    workers : Workers, optional
        As for `execute`.

    Raises
    ------
    WeftError
        The error of the first point that failed, after all other points have finished.
    KeyboardInterrupt
        After Ctrl-C, when the running points have stopped. Finished points are kept.
    """
    checkpoints = Checkpoints(store, how.every)

    def finish(place: int, finished: Finished, run: dict[str, Any]) -> None:
        store.save(points[place], finished, run)
        checkpoints.remove(points[place].hash)

    execute(
        points,
        finish,
        jobs=jobs,
        threads=how.threads,
        blocks=how.blocks,
        plain=how.plain,
        reused=reused,
        watch=watch,
        checkpoints=checkpoints,
        pinned=pinned,
        workers=workers,
    )
