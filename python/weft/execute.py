"""Running points side by side: threads of this process, each in the engine with the GIL released."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weft._engine import Control
from weft.errors import WeftError
from weft.labels import at
from weft.provenance import Clock, cores

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weft._engine import Finished, Point

_LOOK_SECONDS = 0.1


@dataclass(frozen=True)
class Status:
    """How far a sweep is.

    Attributes
    ----------
    total, done, reused : int
        Points in all, finished (the reused ones included), and found complete at the start.
    running : float
        Sum of the fractions done of the points in flight.
    """

    total: int
    done: int
    reused: int
    running: float


def execute(
    points: Sequence[Point],
    finish: Callable[[int, Finished, dict[str, Any]], None],
    *,
    jobs: int | None = None,
    threads: int = 1,
    blocks: int = 0,
    reused: int = 0,
    watch: Callable[[Status], None] | None = None,
) -> None:
    """Run points, the ones with the highest load first: they take longest.

    Parameters
    ----------
    points : sequence of Point
        What to run.
    finish : callable
        Given the place of a point in `points`, its result and what `run.json` says, in the thread that ran it.
    jobs, threads, blocks : int
        Points at a time (``None``: as many as there are cores for); threads and blocks of routers inside each
        (blocks 0: chosen by the engine).
    reused : int
        Points besides these that need no run, for `watch`.
    watch : callable, optional
        Told the `Status` now and then.

    Raises
    ------
    WeftError
        The first point's that failed, after all others have finished.
    KeyboardInterrupt
        After the points in flight have stopped; they are not finished.
    """
    controls = [Control() for _ in points]
    order = sorted(range(len(points)), key=lambda place: -_offered(points[place]))

    def run(place: int) -> None:
        clock = Clock(threads, blocks)
        finished = points[place].run(threads, blocks, controls[place])
        if not controls[place].stopped:  # a stopped run measured nothing whole
            finish(place, finished, clock.record(finished.summary))

    def tell(done: int, running: float) -> None:
        if watch:
            watch(Status(len(points) + reused, done + reused, reused, running))

    tell(0, 0.0)
    with ThreadPoolExecutor(max_workers=jobs or max(1, cores() // threads)) as pool:
        futures = {pool.submit(run, place): controls[place] for place in order}
        try:
            _follow(futures, tell)
        except BaseException:
            for control in controls:
                control.stop()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    _raise_first(list(futures))


def _offered(point: Point) -> float:
    load = at(point.resolved, "traffic.load")
    return float(load) if isinstance(load, int | float) else 0.0


def _follow(futures: dict[Future[None], Control], tell: Callable[[int, float], None]) -> None:
    """Wait for all, and tell now and then; short waits keep Ctrl-C alive."""
    pending = set(futures)
    while pending:
        finished, pending = wait(pending, timeout=_LOOK_SECONDS, return_when=FIRST_COMPLETED)
        tell(len(futures) - len(pending), sum(futures[future].fraction for future in pending))
        for future in finished:
            if isinstance(problem := future.exception(), OSError):
                raise problem  # a full disk does not get better with the next point


def _raise_first(futures: list[Future[None]]) -> None:
    """Raise what went wrong, a refusal of Weft before anything else."""
    problems = [problem for future in futures if (problem := future.exception())]
    for problem in sorted(problems, key=lambda problem: not isinstance(problem, WeftError)):
        raise problem
