"""Runs points on an executor of `concurrent.futures`, such as a process pool, or an executor of Dask or MPI."""

from __future__ import annotations

import time
from concurrent.futures import Executor, wait
from itertools import repeat
from typing import TYPE_CHECKING
from uuid import uuid4

from weft.errors import WeftError, WriteError
from weft.runs import orders
from weft.runs.endings import endings
from weft.runs.estimate import offered
from weft.runs.execute import Status
from weft.runs.orders import Order
from weft.runs.worker import work
from weft.text import given

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Future

    from weft._engine import Point
    from weft.results.store import Store
    from weft.runs.how import How
    from weft.runs.worker import Done
    from weft.scenario.scenario import Scenario

# Time between two reports of the progress of the sweep [s]. The time is short, so that Ctrl-C has an effect soon.
_LOOK_SECONDS = 0.2
# Maximum time to wait for workers after Ctrl-C [s]. Usually they end soon, because they check every second if their
# order was withdrawn. But the workers of a broken executor never return.
_LAST_SECONDS = 10.0
# Maximum time to wait until a folder that another machine wrote on a file server is visible on this machine [s].
_SEEN_SECONDS = 10.0


def check(executor: object, jobs: int | None, *, pin: bool) -> None:
    """Refuse an object that is not an executor.

    Also refuse `jobs` and `pin`, because the executor decides how many workers there are and where they run.

    Raises
    ------
    WeftError
        If the object is not a `concurrent.futures.Executor`, or `jobs` or `pin` is given.
    """
    remedy = "give a concurrent.futures.Executor, such as client.get_executor() of Dask"
    given.instance(executor, Executor, "executor", "concurrent.futures.Executor", remedy)
    if jobs is not None:
        remedy = "remove jobs: the executor decides how many points run at the same time"
        raise WeftError.saying("jobs is only for points in this process", remedy)
    if pin:
        what = "pin is only for points in this process"
        raise WeftError.saying(what, "remove pin, and bind the workers of the executor to cores")


def run(
    executor: Executor,
    store: Store,
    scenario: Scenario,
    variants: Sequence[Sequence[tuple[str, str]]],
    points: Sequence[Point],
    *,
    client: str,
    how: How,
    reused: int,
    watch: Callable[[Status], None],
) -> None:
    """Submit each point to the executor, the points with the highest load first.

    The workers write the results to the folder of the sweep.

    Parameters
    ----------
    executor : Executor
        Executor that runs the points. The workers of the executor must have this version of Weft and see the folder of
        the results under the same absolute path.
    store, scenario, variants, points
        Folder of the results; the scenario and its overrides, as for `Order.write`; and the points to run.
    client : str
        Name of the beacon of this run.
    how : How
        Settings of the runs.
    reused : int
        Number of further points that were already finished; `Status` counts them as done.
    watch : callable
        Function that is called with the `Status` from time to time.

    Raises
    ------
    WeftError
        The error of the first point that failed, after all other points have finished. If workers do not see the
        folder, or if the executor fails, the error is raised at once.
    KeyboardInterrupt
        After Ctrl-C, when the workers have been ordered to stop. Finished points are kept.
    """
    orders.clear(store.root)
    order = Order(str(store.root.absolute()), uuid4().hex[:8], how)
    watch(Status(total=len(points) + reused, done=reused, reused=reused, running=0.0))
    order.write(scenario, variants, client)
    futures: dict[Future[Done], str] = {}
    try:
        for point in sorted(points, key=lambda point: -offered(point)):
            futures[_submitted(executor, order, point.hash)] = point.hash
        _follow(futures, store, reused, watch)
    except BaseException:
        order.remove()
        for future in futures:
            future.cancel()
        wait(futures, timeout=_LAST_SECONDS)
        raise
    order.remove()


def one(order: Order, hash: str) -> Done:
    """Run one point of an order (scenario and settings for workers), as a task of an executor."""
    return work(order, [hash])


def _submitted(executor: Executor, order: Order, hash: str) -> Future[Done]:
    try:
        return executor.submit(one, order, hash)
    except RuntimeError as problem:  # the executor was shut down, or a worker has died
        raise _failed(problem) from problem


def _follow(futures: Mapping[Future[Done], str], store: Store, reused: int, watch: Callable[[Status], None]) -> None:
    """Wait for all points, and report the status from time to time."""
    done, first = 0, None
    for finished in endings(futures, repeat(_LOOK_SECONDS)):
        for future in finished:
            problem = None if future.cancelled() else future.exception()
            if isinstance(problem, WeftError) and _of_a_point(problem):
                first = first or problem
                continue
            _check(future, problem, store, futures[future])
            done += 1
        watch(Status(total=len(futures) + reused, done=done + reused, reused=reused, running=0.0))
    if first:
        raise first


def _of_a_point(problem: WeftError) -> bool:
    """Whether an error concerns only one point, so that the other points can continue.

    Errors in writing a file are no such errors, because they probably affect all points.
    """
    return type(problem) is not WeftError and not isinstance(problem, WriteError)


def _check(future: Future[Done], problem: BaseException | None, store: Store, hash: str) -> None:
    """Raise an error if this machine does not see the results of a point that a worker has finished."""
    if isinstance(problem, WeftError):
        raise problem
    if future.cancelled() or isinstance(problem, Exception):
        cause = problem or RuntimeError("the task was cancelled")
        raise _failed(cause) from cause
    if problem is not None:
        raise problem
    said = future.result()
    if said.withdrawn:
        raise WeftError.saying("the run was cancelled", "run the same command again: finished points stay")
    until = time.monotonic() + _SEEN_SECONDS
    while not store.complete(hash):
        if time.monotonic() > until:
            what = f"{said.host} has run point {hash}, but this machine does not see {store.folder(hash)}"
            remedy = "put the results (out=) into a folder that all machines see under the same path"
            raise WeftError.saying(what, remedy)
        time.sleep(_LOOK_SECONDS)


def _failed(problem: BaseException) -> WeftError:
    what = f"the executor failed: {type(problem).__name__}: {problem}"
    return WeftError.saying(what, "check its workers, then run the sweep again: finished points stay")
