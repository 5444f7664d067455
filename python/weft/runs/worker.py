"""Runs points of an order, in a job of a batch system or in a task of an executor."""

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

# Seconds between two checks of whether the order is still valid, and whether other workers have finished the points
# that they run.
_LOOK_SECONDS = 1.0
# Many workers may write beacons into the same folder, so each writes its own only this seldom [s].
_BEACON_SECONDS = 5.0


@dataclass
class Done:
    """The work that a worker has done. This object is small, because it is sent to the owner of the order.

    Attributes
    ----------
    host : str
        Host name of the worker's machine.
    ran : list of str
        Points that the worker has run.
    left : list of str
        Points that other workers are running.
    withdrawn : bool
        Whether the worker has stopped because the order was withdrawn.
    """

    host: str = field(default_factory=socket.gethostname)
    ran: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    withdrawn: bool = False


class _WithdrawnError(Exception):
    """The order was withdrawn."""


def work(
    order: Order,
    hashes: Sequence[str],
    *,
    jobs: int = 1,
    job: str | None = None,
    patience_seconds: float | None = None,
    done: Done | None = None,
) -> Done:
    """Run the points of an order that have no results yet, except points that other workers are running.

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
        Time to wait at the end for points that other workers run, in case these die; by default there is no limit.
    done : Done, optional
        Object that is updated as points finish, for a reader that does not wait until the end.

    Raises
    ------
    WeftError
        If this machine does not see the order. Also if a point fails; then the error is raised after the other points
        have finished.
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
    """A worker of an order, for as long as the order is valid. The context ends early if the order is withdrawn."""
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
    """Claims points and runs them. `worker` creates it."""

    order: Order
    store: Store
    claims: Claims
    beacon: Beacon
    done: Done
    jobs: int
    looked: float = -math.inf  # so that short points also check before they run

    def run(self, points: Sequence[Point], patience_seconds: float | None = None) -> None:
        """Run the missing points, and wait for those that other workers run."""
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
        """Points that this worker has not run and that have no results, unless all points must be run again."""
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
            if not how.force and self.store.sound(point):  # another worker finished the point before this claim
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
        """The checksums of existing results; ``None`` if there are none, or if they are damaged."""
        return self.store.run_info(hash).get("file_crc32") if self.store.sound(hash) else None
