"""Runs the sweeps of one or several papers in parallel.

Near the end of a sweep, fewer points are left than there are cores. The idle cores then run points of the next sweeps.
Each sweep has a thread that waits for its points. All sweeps share one set of workers, which run the points.

A sweep has rounds. The first round is the sweep itself. Further rounds run more loads near the knees of its curves of
latency over load.
"""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from threading import Condition, Event
from typing import TYPE_CHECKING

from weft.errors import WriteError
from weft.results.store import Store
from weft.runs import memory
from weft.runs.workers import Workers
from weft_papers.common.standing import Standings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future
    from pathlib import Path

    from weft._engine import Point
    from weft.api.sweep import Sweep
    from weft.results.result_set import ResultSet
    from weft.runs.execute import Status
    from weft_papers.common.standing import Standing

    # Type of a function that takes the list of results of earlier rounds. It yields the rounds, each with its folder
    # name.
    Rounds = Callable[[Sequence[ResultSet]], Iterator[tuple[str, Sweep]]]
    # Type of a function that takes the index of a finished sweep, and the results of its rounds.
    OnEnd = Callable[[int, list[ResultSet]], None]

# Seconds between two checks of the progress; short, so that Ctrl-C takes effect soon.
_LOOK_SECONDS = 0.1
# Seconds between two checks whether a waiting sweep fits into memory.
_ROOM_SECONDS = 1.0


@dataclass(frozen=True)
class PlannedSweep:
    """A sweep that runs in parallel with others.

    Attributes
    ----------
    rounds : callable
        Function that yields the rounds of the sweep.
    folder : Path
        Folder that contains a folder for each round.
    label : str
        Text that the progress display shows before the name of a round, such as the name of a paper; empty for no text.
    """

    rounds: Rounds
    folder: Path
    label: str = ""


class _CalledOffError(Exception):
    """Ends the thread of a sweep if another sweep has failed, or if the user has interrupted the program."""


def run(
    sweeps: Sequence[PlannedSweep],
    *,
    jobs: int | None,
    force_memory: bool,
    show: Callable[[Standing], None] | None,
    on_end: OnEnd | None = None,
) -> list[list[ResultSet]]:
    """Run several sweeps with all their rounds in parallel, and return the results in the order of the sweeps.

    Parameters
    ----------
    sweeps : sequence of PlannedSweep
        The sweeps, in the order in which they begin.
    jobs : int or None
        Number of points of all sweeps that run at the same time; by default the number of cores. With one job the
        sweeps run one after the other.
    force_memory : bool
        Whether sweeps run even if memory has too little space for their points.
    show : callable or None
        Function that the calling thread calls with the current `Standing` at short intervals.
    on_end : callable or None
        Function that the calling thread calls when a sweep has ended without an error. The other sweeps continue
        meanwhile, but the thread does not call `show` before `on_end` returns. If `on_end` raises an error, the running
        points stop.

    Raises
    ------
    ResultsError
        Before any point runs, if a folder holds the results of another sweep.
    WeftError
        If sweeps failed: the error of the first of them in the order of `sweeps`, raised after all sweeps that had
        begun have ended. If a file cannot be written, the error is raised as soon as the running points have stopped.
    KeyboardInterrupt
        After the running points have stopped; finished points are kept.
    """
    _check_folders(sweeps)
    with Workers(jobs) as workers:
        standings = Standings(len(sweeps), workers.count)
        sides = _Sides(sweeps, workers, standings, force_memory=force_memory)

        def tell() -> None:
            if show and (standing := standings.standing()):
                show(standing)

        try:
            # If only as many sweeps as workers were active, workers could be idle during the last points of the sweeps.
            # Therefore one more sweep than workers can be active.
            with ThreadPoolExecutor(workers.count + 1 if workers.count > 1 else 1) as threads:
                try:
                    futures = [threads.submit(sides.run, number) for number in range(len(sweeps))]
                    _follow(futures, tell, on_end)
                except BaseException:
                    sides.stop()
                    raise
        finally:
            tell()
    return [future.result() for future in futures]


def _check_folders(sweeps: Sequence[PlannedSweep]) -> None:
    """Refuse folders that hold the results of other sweeps, before any sweep runs for hours."""
    used = {folder for folder in {each.folder for each in sweeps} if any(folder.glob("*/sweep.json"))}
    for each in sweeps:
        if each.folder in used:
            stem, sweep = next(each.rounds([]))
            Store(each.folder / stem).check_owner(sweep.named, sweep.points)


def _follow(futures: Sequence[Future[list[ResultSet]]], tell: Callable[[], None], on_end: OnEnd | None) -> None:
    """Wait for all sweeps, report the progress at short intervals, and call `on_end` for each sweep that has ended.

    Then raise the error of the failed sweep that is first in the order of the sweeps.
    """
    waiting = set(futures)
    while waiting:
        ended, waiting = wait(waiting, _LOOK_SECONDS, FIRST_COMPLETED)
        tell()
        for future in ended:
            if isinstance(problem := future.exception(), WriteError):
                raise problem  # if the disk is full, the next sweep fails also
        for future in ended:
            if on_end and future.exception() is None:
                on_end(futures.index(future), future.result())
    problems = [problem for future in futures if (problem := future.exception())]
    for problem in problems:
        if not isinstance(problem, _CalledOffError):
            raise problem


class _Sides:
    """Runs the rounds of sweeps. A round waits until its points fit into memory."""

    def __init__(
        self, sweeps: Sequence[PlannedSweep], workers: Workers, standings: Standings, *, force_memory: bool
    ) -> None:
        self._sweeps, self._workers, self._standings = sweeps, workers, standings
        self._force_memory = force_memory
        self._held: list[Sequence[Point]] = []
        # indices of the sweeps that wait for memory
        self._queue: set[int] = set()
        self._room = Condition()
        self._stopped = Event()
        # index of the first sweep that has failed; the number of sweeps if none has
        self._failed = len(sweeps)

    def stop(self) -> None:
        """Stop all running points, and prevent further rounds from beginning."""
        self._stopped.set()

    def run(self, number: int) -> list[ResultSet]:
        """Run all rounds of a sweep. This method runs in the sweep's own thread.

        If the sweep fails, later sweeps do not begin. Later sweeps that have begun do not begin further rounds.
        """
        try:
            return self._rounds(number)
        except BaseException:
            with self._room:
                self._failed = min(self._failed, number)
            raise

    def _rounds(self, number: int) -> list[ResultSet]:
        done: list[ResultSet] = []
        self._check(number)
        planned = self._sweeps[number]
        for stem, sweep in planned.rounds(done):
            name = " ".join(filter(None, [planned.label, stem, f"({number + 1} of {len(self._sweeps)})"]))

            def watch(status: Status, name: str = name) -> None:
                self._standings.tell(number, name, status)
                if self._stopped.is_set():
                    raise _CalledOffError

            with self._place(number, sweep.points):
                try:
                    done.append(sweep.run(planned.folder / stem, watch=watch, executor=self._workers))
                finally:
                    self._standings.end(name)
        self._standings.done()
        return done

    def _check(self, number: int) -> None:
        if self._stopped.is_set() or number > self._failed:
            raise _CalledOffError

    @contextmanager
    def _place(self, number: int, points: Sequence[Point]) -> Iterator[None]:
        """Wait until the points of a round fit into memory together with the points of other running sweeps.

        Waiting sweeps get memory in the order of their indices. Points that do not fit even without other sweeps are
        refused.
        """
        jobs = self._workers.count
        with self._room:
            self._queue.add(number)
            try:
                while not self._force_memory and (min(self._queue) < number or not self._fits(points)):
                    self._check(number)
                    self._room.wait(_ROOM_SECONDS)
                self._check(number)
                if not (self._held or self._force_memory):
                    memory.refuse_too_much(points, jobs=jobs, threads=1, blocks=0)
                self._held.append(points)
            finally:
                self._queue.remove(number)
                self._room.notify_all()
        try:
            yield
        finally:
            with self._room:
                self._held = [each for each in self._held if each is not points]
                self._room.notify_all()

    def _fits(self, points: Sequence[Point]) -> bool:
        """Return whether these points fit into memory together with the running points; true if none run."""
        return not self._held or memory.fit(list(chain(*self._held, points)), at_once=self._workers.count)
