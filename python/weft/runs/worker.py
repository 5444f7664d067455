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

# Seconds between two looks whether the order stands, and whether others have finished the points that they run.
_LOOK_SECONDS = 1.0
# Many workers may write beacons into one folder: each does it so seldom.
_BEACON_SECONDS = 5.0


@dataclass
class Done:
    """The work of a worker; small, since it is sent to the owner of the order.

    Attributes
    ----------
    host : str
        Where.
    ran : list of str
        Points that it has run.
    left : list of str
        Points that other workers are running.
    withdrawn : bool
        Whether it has stopped because the order was withdrawn.
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
    """Run the points of an order that have no results yet, each unless another worker runs it.

    Parameters
    ----------
    order : Order
        Says what the points are and how they are run.
    hashes : sequence of str
        Which points.
    jobs : int
        Points at a time.
    job : str, optional
        The job of a batch system that this process is.
    patience_seconds : float, optional
        How long to wait at the end for points that others run, in case these die; without end by default.
    done : Done, optional
        Filled in as points are finished, for a reader that does not wait until the end.

    Raises
    ------
    WeftError
        If this machine does not see the order, or a point fails; after the others have finished.
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
    """A worker of an order, for as long as it stands: the context ends early when it is withdrawn."""
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
    """Claims points and runs them; made by `worker`."""

    order: Order
    store: Store
    claims: Claims
    beacon: Beacon
    done: Done
    jobs: int
    looked: float = -math.inf  # short points, too, look before they run

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
        """Points that this worker has not run and that have no results, unless all are to be run again."""
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
            if not how.force and self.store.sound(point):  # finished by another before the claim
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
        """The checksums of the results that are there; ``None`` if there are none, or if they are damaged."""
        return self.store.run_info(hash).get("file_crc32") if self.store.sound(hash) else None
