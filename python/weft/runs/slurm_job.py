"""Runs points in a Slurm job. If Slurm ends the job early, the job queues itself again for the remaining points."""

from __future__ import annotations

import os
import signal
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from weft.results.store import Store
from weft.runs import slurm_queue
from weft.runs.checkpoints import pending
from weft.runs.worker import Done, work

if TYPE_CHECKING:
    from types import FrameType

    from weft.runs.orders import Order
    from weft.runs.search_job import SearchJob

# Time that a job waits at its end for points that other jobs run [s]. If another job dies in this time, this job runs
# the points of that job.
_PATIENCE_SECONDS = 120.0
# If Slurm has ended a job this number of times in a row, and the job has made no progress, it does not queue itself
# again.
_FRUITLESS = 10
# If the signal of Slurm arrives after this share of the time limit, the job was ended by the limit, and not preempted.
# Slurm sends the signal 90 s before the limit, or for short jobs when a fifth of the limit is left, but may do so a
# minute earlier.
_LATE = 0.5


@dataclass
class SlurmJob:
    """A Slurm job that runs some points of a sweep.

    In the job, submitit calls this object to run the points. When Slurm is about to end the job, submitit calls the
    method `checkpoint`.

    Attributes
    ----------
    order : Order
        Order that defines the points and the settings of their runs.
    hashes : list of str
        Hashes of the points.
    at_once : int
        Number of points that run at the same time.
    limit_seconds : float
        Time limit of the job [s].
    search : SearchJob, optional
        Search for saturation that the job makes, instead of running these points.
    fruitless : int
        Number of consecutive times that Slurm ended the job without any progress in its points.
    reached : dict of str to int
        Cycles of the checkpoints of the points, by hash, at the time when Slurm last ended the job.
    """

    order: Order
    hashes: list[str]
    at_once: int
    limit_seconds: float
    search: SearchJob | None = None
    fruitless: int = 0
    reached: dict[str, int] = field(default_factory=dict)
    _done: Done = field(default_factory=Done)
    _begun: float = 0.0
    _ending: bool = False
    _preempted: bool = False

    def __call__(self) -> Done:
        """Run the points without results, and return the work that was done."""
        self._done, self._begun, self._ending, self._preempted = Done(), time.monotonic(), False, False
        again = signal.getsignal(_signal_of_slurm())

        def asked_to_end(number: int, frame: FrameType | None) -> None:
            if self._ending:  # a second signal, while the job cleans up
                return
            self._ending = True
            state = slurm_queue.state(os.environ.get("SLURM_JOB_ID", ""))
            if state == slurm_queue.RUNNING and callable(again) and self.order.stands:
                self._preempted = True
                again(number, frame)  # not cancelled but preempted: it queues itself again
            sys.exit(128 + number)

        for each in (signal.SIGTERM, signal.SIGUSR1):
            if each != _signal_of_slurm():
                signal.signal(each, asked_to_end)
        try:
            self._work()
        finally:
            of = "" if self.search else f"of {len(self.hashes)} "
            said = f"weft: finished {len(self._done.ran)} {of}points"
            others = f", {len(self._done.left)} points run in other jobs" if self._done.left else ""
            print(f"{said}{others}{', the run was cancelled' if self._done.withdrawn else ''}", file=sys.stderr)
        return self._done

    def _work(self) -> None:
        job, done = _job(self.order), self._done
        if self.search:
            self.search.work(self.order, jobs=self.at_once, job=job, done=done)
        else:
            patience = _PATIENCE_SECONDS
            work(self.order, self.hashes, jobs=self.at_once, job=job, patience_seconds=patience, done=done)

    def checkpoint(self) -> Any:
        """The job to queue after this one: the same job, which then runs only the points without results.

        The result is ``None`` if another try would be useless, because the job makes no progress.
        """
        from submitit.helpers import DelayedSubmission

        self._ending = True
        before, self.reached = self.reached, self._checkpoints()
        further = any(cycle > before.get(point, 0) for point, cycle in self.reached.items())
        self.fruitless = 0 if self._done.ran or further else self.fruitless + 1
        late = not self._preempted and time.monotonic() - self._begun > _LATE * self.limit_seconds
        # a job with checkpoints gets one more try, because the checkpoints that it is writing now count as progress
        # only at its next end
        first = 2 if self.order.how.checkpoint_every else 1
        if self.fruitless >= (first if late else _FRUITLESS):
            why = "its time limit is too short for a point" if late else f"this happened {self.fruitless} times"
            print(f"weft: job ended without progress, and is not queued again: {why}", file=sys.stderr)
            return None
        return DelayedSubmission(self)

    def _checkpoints(self) -> dict[str, int]:
        """The cycle of the last checkpoint of each point of the job, by the hash of the point."""
        found = pending(Store(self.order.root))
        return {kept.hash: kept.cycle for kept in found if self.search or kept.hash in self.hashes}


def _signal_of_slurm() -> signal.Signals:
    """The signal that Slurm sends before the time limit, as chosen by submitit."""
    from submitit import JobEnvironment

    return signal.Signals[f"SIG{JobEnvironment.USR_SIG}"]


def _job(order: Order) -> str:
    """A name of this job, unique among all jobs that work in the folder at any time."""
    array, number = os.environ.get("SLURM_ARRAY_JOB_ID"), os.environ.get("SLURM_ARRAY_TASK_ID")
    return f"{order.id}/{array}_{number}" if array else f"{order.id}/{os.environ.get('SLURM_JOB_ID')}"
