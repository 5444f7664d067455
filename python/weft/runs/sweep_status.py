"""Progress of a sweep: the content of its folder, and the runs that work on it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from weft._engine import RESULT_MODEL_VERSION
from weft.errors import WeftError
from weft.results.quantities import ENDING
from weft.results.result_set import ResultSet
from weft.results.store import Store
from weft.runs.arrays import standing
from weft.runs.beacon import at_work
from weft.runs.checkpoints import pending
from weft.runs.point_claims import run_twice
from weft.runs.slurm_queue import PENDING

if TYPE_CHECKING:
    from pathlib import Path

    from weft.results.result_set import Damaged
    from weft.runs.arrays import Array


@dataclass(frozen=True)
class ArrayStatus:
    """How far an array of jobs is.

    Attributes
    ----------
    job : str or None
        Its number; ``None`` if the submission was cut off before Slurm named it.
    submitted_utc : str
        When.
    jobs, running, pending : int
        Jobs in all, those that run, and those that wait.
    reasons : list of str
        Why jobs wait, in Slurm's words.
    unasked : str or None
        Why nothing is known of its jobs: Slurm does not answer, or is not on this machine.
    ended : list of str
        What the jobs that have ended without finishing their points have left in their logs, or that they have not.
    logs : str
        Folder of the logs.
    """

    job: str | None
    submitted_utc: str
    jobs: int
    running: int
    pending: int
    reasons: list[str]
    unasked: str | None
    ended: list[str]
    logs: str


@dataclass(frozen=True)
class SweepStatus:
    """How far a sweep is.

    Attributes
    ----------
    name, folder : str
        Name of the sweep and its folder.
    points, done, missing, damaged : int
        Points in all, finished, without results, and with results that can't be used.
    unlisted : int
        Points in the folder that the sweep no longer has.
    endings : dict
        Finished points by ending: ``drained``, ``saturated``, ``not_complete``, ``stalled``.
    result_model : int
        Version of the results that this Weft reads; points of others are damaged.
    point_seconds_mean : float or None
        Mean duration of the finished points [s].
    running : list of dict
        The runs at work: ``host``, ``pid``, ``started_utc``, ``job`` (if a batch system runs it), ``seconds``,
        ``done``, ``reused``, ``left_seconds``, and ``flying``, the points in flight.
    arrays : list of ArrayStatus
        The arrays of jobs that the points were handed to and that may not have ended, or have left points out.
    run_twice : list of dict
        Points that two runs have run, because one of them was taken for dead: ``hash``, ``by``, ``overruled_by``,
        ``same`` (whether both have the same results; ``None`` if only one of them is finished).
    checkpoints : list of dict
        Points without results that go on from a checkpoint: ``hash``, ``coordinates``, ``cycle`` reached (at most the
        end of the window), and ``seconds`` run up to it.
    damage : list of Damaged
        The points that can't be used, and why.
    command : str or None
        What runs the rest.
    """

    name: str
    folder: str
    points: int
    done: int
    missing: int
    damaged: int
    unlisted: int
    endings: dict[str, int]
    result_model: int
    point_seconds_mean: float | None
    running: list[dict[str, Any]]
    arrays: list[ArrayStatus]
    run_twice: list[dict[str, Any]]
    checkpoints: list[dict[str, Any]]
    damage: list[Damaged]
    command: str | None


def status(folder: str | Path) -> SweepStatus:
    """Look at the folder of a sweep, and at every byte of its points, without disturbing runs that work in it.

    Raises
    ------
    ResultsError
        If it was not written by a sweep.
    """
    store = Store(folder)
    results = ResultSet(store, thorough=True)
    seconds = [run["seconds"] for point in range(len(results)) if "seconds" in (run := results.run_info(point))]
    return SweepStatus(
        name=results.title,
        folder=str(results.root),
        points=len(results) + results.missing + len(results.damaged),
        done=len(results),
        missing=results.missing,
        damaged=len(results.damaged),
        unlisted=results.unlisted,
        endings=dict(Counter(summary[ENDING.column] for summary in results.summaries)),
        result_model=RESULT_MODEL_VERSION,
        point_seconds_mean=fmean(seconds) if seconds else None,
        running=at_work(results.root),
        arrays=[_array(array, store) for array in standing(store)],
        run_twice=run_twice(store.root),
        checkpoints=_checkpoints(store),
        damage=results.damaged,
        command=results.command,
    )


def _checkpoints(store: Store) -> list[dict[str, Any]]:
    """Checkpoints of unfinished points that this build of Weft can continue."""
    coordinates = {point["hash"]: point["coordinates"] for point in store.manifest()["points"]}
    return [
        {"hash": kept.hash, "coordinates": coordinates[kept.hash], "cycle": kept.cycle, "seconds": kept.seconds}
        for kept in pending(store)
        if kept.hash in coordinates and not store.complete(kept.hash)
    ]


def _array(array: Array, store: Store) -> ArrayStatus:
    unasked: str | None = None
    live: dict[int, tuple[str, str]] = {}
    try:
        live = array.live()
    except WeftError as problem:
        unasked = problem.what
    ended = []
    for number, chunk in enumerate(array.chunks if unasked is None else []):
        missing = sum(not store.complete(point) for point in chunk)
        if (missing or array.search) and number not in live:
            said = array.last_words(number)
            trace = f"no log: it was ended before it began, or its node does not see {array.order.folder}"
            what = "before the search was done" if array.search else f"{missing} points missing"
            ended.append(f"job {array.job_of(number)}, {what}: {trace if said is None else said}")
    waiting = [reason for state, reason in live.values() if state == PENDING]
    return ArrayStatus(
        job=array.job,
        submitted_utc=array.submitted_utc,
        jobs=len(array.chunks),
        running=len(live) - len(waiting),
        pending=len(waiting),
        reasons=sorted(set(waiting)),
        unasked=unasked,
        ended=ended,
        logs=str(array.order.folder),
    )
