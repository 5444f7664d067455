"""Runs points in a worker: a job of a batch system, or a task of an executor.

An order (`weft.runs.orders`) is a file with the data that the worker needs.
"""

from __future__ import annotations

import math
import socket
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.results.store import Store
from weft.runs import memory
from weft.runs.beacon import Beacon
from weft.runs.checkpoints import Checkpoints
from weft.runs.execute import Status, execute
from weft.runs.point_claims import Claims

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weft._engine import Finished, Point
    from weft.runs.orders import Order

# Time between two checks [s]. In each check the worker finds out if its order (the file that describes its work) is
# still valid, and if other workers have finished their points.
_LOOK_SECONDS = 1.0
# Minimum interval between two writes of a worker's beacon [s]. The interval is long, because many workers can write
# their beacons (files that show that they are alive) into the same folder.
_BEACON_SECONDS = 5.0


@dataclass
class Done:
    """The points that a worker has run or left to others.

    The object is small, because the worker sends it to the process that waits for the worker.

    Attributes
    ----------
    host : str
        Host name of the machine of the worker.
    ran : list of str
        Points that the worker has run.
    left : list of str
        Points that other workers are running.
    withdrawn : bool
        Whether the worker has stopped because its order was withdrawn or removed.
    """

    host: str = field(default_factory=socket.gethostname)
    ran: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    withdrawn: bool = False


class _WithdrawnError(Exception):
    """Raised in a worker when its order is no longer valid, because the order was withdrawn or removed."""


def work(
    order: Order,
    hashes: Sequence[str],
    *,
    jobs: int = 1,
    job: str | None = None,
    patience_seconds: float | None = None,
    done: Done | None = None,
) -> Done:
    """Run the points of an order without results, except points that other workers are running.

    Parameters
    ----------
    order : Order
        Order that defines the points and the settings of the runs.
    hashes : sequence of str
        Hashes of the points.
    jobs : int
        Number of points that run at the same time.
    job : str, optional
        Job of a batch system in which this process runs.
    patience_seconds : float, optional
        Time to wait at the end for points that other workers run [s]. If such a worker dies, this worker runs its
        points. By default there is no limit.
    done : Done, optional
        Object that is updated whenever a point finishes, for callers that do not wait until the end.

    Raises
    ------
    WeftError
        If this machine does not see the order. Also if a point fails; this error is raised after the other points have
        finished.
    """
    done = done or Done()
    points = order.points(hashes)
    if not order.how.force_memory:
        memory.refuse_too_much(points, jobs=jobs, threads=order.how.threads, blocks=order.how.blocks)
    with worker(order, jobs=jobs, job=job, done=done) as one:
        one.run(points, patience_seconds)
    return done


@contextmanager
def worker(order: Order, *, jobs: int, job: str | None, done: Done) -> Iterator[Worker]:
    """Yields an object that runs points of an order, while the order is valid.

    If the order is withdrawn or removed, the ``with`` block ends early.
    """
    store = Store(Path(order.root))
    with Beacon(store, job=job, every_seconds=_BEACON_SECONDS) as beacon:
        claims = Claims(store.root, beacon.name, job)
        try:
            yield Worker(order, store, claims, beacon, done, jobs)
        except _WithdrawnError:
            done.withdrawn = True
        finally:
            claims.free_all()


@dataclass
class Worker:
    """Claims points of an order and runs them. `worker` creates it."""

    order: Order
    store: Store
    claims: Claims
    beacon: Beacon
    done: Done
    jobs: int
    looked: float = -math.inf  # the first check is due at once

    def run(self, points: Sequence[Point], patience_seconds: float | None = None) -> None:
        """Run the missing points, and wait for the points that other workers run."""
        self.beacon(Status(total=len(points), done=0, reused=0, running=0.0))
        waits_since: float | None = None
        missing = self._missing(points)
        while missing:
            before = len(self.done.ran)
            self._run_unclaimed(missing, len(points))
            missing = self._missing(missing)
            if len(self.done.ran) > before or waits_since is None:
                waits_since = time.monotonic()
            if missing and patience_seconds is not None and time.monotonic() - waits_since > patience_seconds:
                self.done.left = [point.hash for point in missing]
                return
            if missing:
                time.sleep(_LOOK_SECONDS)

    def _missing(self, points: Sequence[Point]) -> list[Point]:
        """Points without results that this worker has not run.

        If finished points must be run again, these are included.
        """
        ran = set(self.done.ran)
        left = [point for point in points if point.hash not in ran]
        return [point for point in left if self.order.how.force or not self.store.sound(point.hash)]

    def _run_unclaimed(self, points: Sequence[Point], total: int) -> None:
        how = self.order.how
        checkpoints = Checkpoints(self.store, how.every)

        def admit(place: int) -> bool:
            point = points[place].hash
            if not self.claims.take(point):
                return False
            if not how.force and self.store.sound(point):  # another worker has just finished it
                self.claims.free(point)
                return False
            return True

        def finish(place: int, finished: Finished, run: dict[str, Any]) -> None:
            point = points[place]
            before = None if how.force else self._sums(point.hash)
            self.store.save(point, finished, run)
            same = None if before is None else before == self._sums(point.hash)
            self.claims.finished(point.hash, same=same)
            self.done.ran.append(point.hash)
            checkpoints.remove(point.hash)

        execute(
            points,
            finish,
            jobs=self.jobs,
            threads=how.threads,
            blocks=how.blocks,
            plain=how.plain,
            reused=total - len(points),
            watch=self._watch,
            admit=admit,
            checkpoints=checkpoints,
        )

    def _watch(self, status: Status) -> None:
        self.beacon(status)
        if (now := time.monotonic()) - self.looked >= _LOOK_SECONDS:
            self.looked = now
            if not self.order.stands:
                raise _WithdrawnError

    def _sums(self, hash: str) -> Any:
        """The checksums of existing results of a point; ``None`` if it has no results or damaged ones."""
        return self.store.run_info(hash).get("file_crc32") if self.store.sound(hash) else None
