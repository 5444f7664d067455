"""Estimates the run times of points from finished points of the same sweep, or from the first cycles of a trial run."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

from weft._engine import Control
from weft.runs import memory
from weft.runs.estimate import Estimate, ends_when_done, kind_of, offered
from weft.runs.pace import Pace
from weft.text.labels import at

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from concurrent.futures import Future

    from weft._engine import Finished, Point
    from weft.results.store import Store

# If it takes longer than this time to build the network of a point, Weft makes no trial run of it [s].
_BUILT_SECONDS = 30.0
# Maximum time of all trial runs of a sweep [s]. Points that differ only in load and seed are of one kind, and need one
# trial run. For a kind without a trial run, the estimate uses the mean of the other kinds.
_ALL_SECONDS = 30.0
_LOOK_SECONDS = 0.02


def expected(points: Sequence[Point], store: Store, *, threads: int, blocks: int) -> list[float | None]:
    """Expected run time of each point on a machine like this one [s]; ``None`` if it is unknown.

    There is no trial run for points that run until their programs or batches are done, because the first cycles do not
    show when these end. All trial runs together take at most half a minute. The last trial run can exceed this time,
    because the construction of its network cannot be interrupted. The construction takes seconds for a million
    terminals.

    Parameters
    ----------
    points : sequence of Point
        Points of a sweep, with results or without.
    store : Store
        Folder of the sweep. Points that are finished there are used for the estimate.
    threads, blocks : int
        As for `weft.Sweep.run`.
    """
    estimate = Estimate(points)
    known: set[str] = set()
    for place, point in enumerate(points):
        seconds = store.run_info(point.hash).get("seconds") if store.sound(point.hash) else None
        if isinstance(seconds, int | float):
            estimate.learn(place, seconds)
            known.add(kind_of(point))
    until = time.monotonic() + _ALL_SECONDS
    for place in _heaviest(points, known):
        if time.monotonic() > until:
            break
        if (tried := _try(points[place], threads, blocks)) is not None:
            estimate.learn(place, tried)
    return [estimate.left(place, 0.0, 0.0) for place in range(len(points))]


def may_end_earlier(point: Point) -> bool:
    """Whether the length of a run is not fixed by its scenario, because it depends on events in the run.

    For such a point `expected` returns the time for the maximum number of cycles.
    """
    measure = point.resolved.get("measure", {})
    return (
        at(point.resolved, "measure.warmup") == "auto"
        or "stop" in measure
        or not isinstance(measure.get("window"), str)
    )


def _heaviest(points: Sequence[Point], known: Collection[str]) -> list[int]:
    """For each kind of points (equal except for load and seed) without a run time, the index of the highest load."""
    found: dict[str, int] = {}
    for place, point in enumerate(points):
        key = kind_of(point)
        if ends_when_done(point):
            continue
        if key not in known and (key not in found or offered(point) > offered(points[found[key]])):
            found[key] = place
    return list(found.values())


def _try(point: Point, threads: int, blocks: int) -> float | None:
    """Make a trial run of the first cycles of a point, and return the time that the whole point would take [s]."""
    if not memory.fit([point], threads=threads, blocks=blocks):
        return None
    drain, control, begun = point.drain_cycles(), Control(), time.monotonic()
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(point.run, threads, blocks, control)
        try:
            return _extrapolated(future, control, drain, begun)
        finally:
            control.stop()


def _extrapolated(future: Future[Finished], control: Control, drain: int, begun: float) -> float | None:
    """Time of a run with `drain` cycles after its window [s]; ``None`` if the trial run had too few cycles."""
    pace = Pace()
    while not wait([future], timeout=_LOOK_SECONDS).done:
        seconds = time.monotonic() - begun
        pace.look(seconds, control.cycle)
        if (total := pace.total(control.cycles + drain)) is not None:
            return total
        if not pace.begun and seconds > _BUILT_SECONDS:
            return None
    return time.monotonic() - begun if future.exception() is None else None
