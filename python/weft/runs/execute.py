"""Runs points in parallel, each in a separate thread of this process.

The threads run in parallel, because the engine releases the GIL.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any

from weft._engine import Control
from weft.errors import WeftError, WriteError
from weft.runs.endings import endings
from weft.runs.estimate import Estimate, offered
from weft.runs.pace import Pace
from weft.runs.provenance import Clock, cores
from weft.text.labels import label

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from weft._engine import Finished, Point
    from weft.runs.checkpoints import Checkpoints
    from weft.runs.pinning import Cores
    from weft.runs.workers import Workers

# A check of the running points takes up to 1 ms on a busy machine, so long runs are checked less often. The time until
# the next check is the share `_PART` of the run time so far, but from `_SHORTEST` to `_LONGEST` [s].
_PART, _SHORTEST, _LONGEST = 0.05, 0.1, 1.0


@dataclass(frozen=True)
class Flight:
    """Progress of a running point.

    Attributes
    ----------
    hash, words : str
        Hash of the point (the name of its folder), and the coordinates that distinguish it from the other points.
    fraction : float
        Share of warm-up and window that is done; 1 while the last packets are delivered. The fraction is 0 if a point
        runs until its programs or batches are done.
    cycles : int
        Number of finished cycles of warm-up and window.
    seconds : float
        Run time so far [s].
    left_seconds : float or None
        Estimated remaining time [s]; ``None`` while there is no estimate.
    most_left_seconds : float or None
        Remaining time if the automatic warm-up of the point lasts until its limit [s]; ``None`` if that is not much
        more than `left_seconds`.
    """

    hash: str
    words: str
    fraction: float
    cycles: int
    seconds: float
    left_seconds: float | None
    most_left_seconds: float | None = None


@dataclass(frozen=True)
class Status:
    """Progress of a sweep.

    Attributes
    ----------
    total, done, reused : int
        Number of all points, of finished points, and of points that were already complete at the start (which count as
        finished).
    running : float
        Sum of `Flight.fraction` over the running points.
    flying : list of Flight
        The running points.
    left_seconds : float or None
        Estimated remaining time [s]; ``None`` while there is no estimate, or if no point is left.
    most_left_seconds : float or None
        Remaining time if the warm-ups of the running points last until their limits [s]; ``None`` if that is not much
        more than `left_seconds`.
    """

    total: int
    done: int
    reused: int
    running: float
    flying: list[Flight] = field(default_factory=list)
    left_seconds: float | None = None
    most_left_seconds: float | None = None


class _Board:
    """Records the running points and the finished points.

    The threads of the points write to it, and the main thread reads the status.
    """

    def __init__(
        self, points: Sequence[Point], reused: int, workers: int, checkpoints: Checkpoints | None = None
    ) -> None:
        self.controls = [self._control(place, checkpoints, point) for place, point in enumerate(points)]
        self._points, self._reused, self._workers = points, reused, workers
        self._words = _words(points)
        self._estimate = Estimate(points)
        self._clocks: dict[int, Clock] = {}
        self._paces: dict[int, Pace] = {}
        self._done = 0
        self._lock = Lock()

    def _control(self, place: int, checkpoints: Checkpoints | None, point: Point) -> Control:
        return checkpoints.control(point, lambda: self._clocks[place]) if checkpoints else Control()

    def running(self) -> list[tuple[str, Control, Clock]]:
        """Hash, control object and clock of each running point."""
        with self._lock:
            return [(self._points[place].hash, self.controls[place], clock) for place, clock in self._clocks.items()]

    def begin(self, place: int, clock: Clock) -> None:
        """Record that a point begins to run."""
        with self._lock:
            self._clocks[place], self._paces[place] = clock, Pace()
            self._estimate.begin(place)

    def end(self, place: int, *, done: bool) -> None:
        """Record that a point has ended, and whether it has finished."""
        with self._lock:
            clock = self._clocks.pop(place)
            if done:
                self._done += 1
                self._estimate.learn(place, clock.seconds)

    def status(self) -> Status:
        """The `Status` of all points."""
        with self._lock:
            # read the cycle only once, because the run continues in the meantime
            cycles = {place: self.controls[place].cycle for place in self._clocks}
            of = {place: self.controls[place].cycles for place in cycles}
            running = [
                (place, self._estimate.fraction(place, cycle, of[place]), self._clocks[place].seconds)
                for place, cycle in cycles.items()
            ]
            for place, _, seconds in running:
                self._paces[place].look(seconds, cycles[place])
                self._estimate.pace(place, self._paces[place].total(of[place]))
            flying = [
                Flight(
                    self._points[place].hash,
                    self._words[place],
                    fraction,
                    cycles[place],
                    seconds,
                    self._estimate.left(place, fraction, seconds),
                    self._estimate.most_left(place, cycles[place], of[place], seconds),
                )
                for place, fraction, seconds in running
            ]
            left = self._estimate.all_left(running, self._workers)
            # the points that wait for a thread have warm-ups of unknown length as well, so the time until they end is
            # the sum
            most = [flight.most_left_seconds for flight in flying if flight.most_left_seconds is not None]
            # if the time of waiting points is unknown, so is the maximum
            waits = self._done + len(running) < len(self._points)
            known = most and not (left is None and waits)
            slow = max((left or 0.0) + sum(most) / self._workers, *most) if known else None
            return Status(
                total=len(self._points) + self._reused,
                done=self._done + self._reused,
                reused=self._reused,
                running=sum(flight.fraction for flight in flying),
                flying=flying,
                left_seconds=left,
                most_left_seconds=slow,
            )


def execute(
    points: Sequence[Point],
    finish: Callable[[int, Finished, dict[str, Any]], None],
    *,
    jobs: int | None = None,
    threads: int = 1,
    blocks: int = 0,
    plain: bool = False,
    reused: int = 0,
    watch: Callable[[Status], None] | None = None,
    admit: Callable[[int], bool] | None = None,
    checkpoints: Checkpoints | None = None,
    pinned: Cores | None = None,
    workers: Workers | None = None,
) -> None:
    """Run points in parallel, in threads of this process.

    Points with a higher load run before those with a lower load, because they take longer.

    Parameters
    ----------
    points : sequence of Point
        Points to run.
    finish : callable
        Function that is called for each finished point, in the thread of the point, with its index in `points`, its
        result and the content of `run.json`.
    jobs : int, optional
        Number of points that run at the same time; by default as many as the cores allow.
    threads, blocks : int
        Threads and blocks of routers inside each point. With 0 blocks, the engine chooses the number.
    plain : bool
        Whether the shortcuts of the engine are disabled.
    reused : int
        Number of further points that were already finished; `Status` counts them as done.
    watch : callable, optional
        Function that is called with the `Status` from time to time.
    admit : callable, optional
        Function that is called with the index of a point before the point runs, in the thread of its run. If the result
        is false, the point is skipped.
    checkpoints : Checkpoints, optional
        Checkpoints of the sweep: points continue from them, and running points write new ones. `finish` removes the
        checkpoints of its point.
    pinned : Cores, optional
        Cores to which the threads are pinned. Without this argument, the system can move threads between cores.
    workers : Workers, optional
        A pool of threads that runs these points, and that other sweeps can use at the same time. If it is given, `jobs`
        has no effect.

    Raises
    ------
    WeftError
        The error of the first point that failed, after all other points have finished.
    KeyboardInterrupt
        After Ctrl-C, when the running points have stopped without results.
    """
    count = workers.count if workers else jobs or max(1, cores() // threads)
    board = _Board(points, reused, count, checkpoints)
    for control in board.controls:
        control.plain = plain
    runner = _Runner(points, board, finish, admit or _all, checkpoints, threads, blocks, pinned)

    def tell() -> None:
        if checkpoints:
            checkpoints.look(board.running())
        if watch:
            watch(board.status())

    places = sorted(range(len(points)), key=runner.priority)
    with nullcontext(workers) if workers else ThreadPoolExecutor(max_workers=count) as pool:
        _run_all(runner, places, pool, tell)


def _run_all(runner: _Runner, places: Sequence[int], pool: ThreadPoolExecutor, tell: Callable[[], None]) -> None:
    """Run the points with these indices, in this order, in the threads of a pool that other sweeps can use as well."""
    futures: list[Future[None]] = []
    try:
        tell()
        futures.extend(pool.submit(runner.run, place) for place in places)
        _follow(futures, tell)
    except BaseException:
        runner.stop()
        wait([future for future in futures if not future.cancel()])
        raise
    _raise_first(futures)


def _all(_: int) -> bool:
    """Admit every point."""
    return True


@dataclass(frozen=True)
class _Runner:
    """Runs points in the threads of a pool, and records their progress on a board."""

    points: Sequence[Point]
    board: _Board
    finish: Callable[[int, Finished, dict[str, Any]], None]
    admit: Callable[[int], bool]
    checkpoints: Checkpoints | None
    threads: int
    blocks: int
    pinned: Cores | None

    def priority(self, place: int) -> float:
        """Sorting key of a point, by which the highest load comes first."""
        return -offered(self.points[place])

    def run(self, place: int) -> None:
        """Run a point if `admit` allows it, and pass its result to `finish`."""
        control = self.board.controls[place]
        clock = Clock(self.threads, self.blocks, plain=control.plain)
        self.board.begin(place, clock)
        done = False
        try:
            if not self.admit(place):
                return
            point = self.points[place]
            begin = partial(self.checkpoints.run, point, clock) if self.checkpoints else point.run
            with ExitStack() as held:
                if self.pinned:
                    control.pin(held.enter_context(self.pinned.lent()))
                finished = begin(self.threads, self.blocks, control)
            if not control.stopped:  # a stopped run has no complete results
                self.finish(place, finished, clock.record(finished.summary))
                done = True
        finally:
            self.board.end(place, done=done)

    def stop(self) -> None:
        """Stop all running points."""
        for control in self.board.controls:
            control.stop()


def _words(points: Sequence[Point]) -> list[str]:
    """For each point, a short string with the coordinates in which it differs from the other points."""
    labels = [{path: label(value, path) for path, value in point.coordinates.items()} for point in points]
    varied = [path for path in (labels[0] if labels else ()) if len({each.get(path) for each in labels}) > 1]
    return [", ".join(each.get(path, "-") for path in varied) or "the point" for each in labels]


def _follow(futures: Sequence[Future[None]], tell: Callable[[], None]) -> None:
    """Wait for all futures, and call `tell` from time to time."""
    for finished in endings(futures, _waits()):
        tell()
        for future in finished:
            if isinstance(problem := future.exception(), WriteError):
                raise problem  # later points would fail as well, for example if the disk is full


def _waits() -> Iterator[float]:
    """Times between two checks of the running points [s], which grow with the run time."""
    begun = monotonic()
    while True:
        yield min(max(_PART * (monotonic() - begun), _SHORTEST), _LONGEST)


def _raise_first(futures: list[Future[None]]) -> None:
    """Raise the first error of the futures, if any; errors of Weft have priority."""
    problems = [problem for future in futures if (problem := future.exception())]
    for problem in sorted(problems, key=lambda problem: not isinstance(problem, WeftError)):
        raise problem
