"""Reads the progress of a sweep from its folder: finished and missing points, active runs, and jobs."""

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
    """Progress of an array of Slurm jobs.

    Attributes
    ----------
    job : str or None
        Number of the array; ``None`` if the submission was interrupted before Slurm returned a number.
    submitted_utc : str
        Time of the submission (UTC).
    jobs, running, pending : int
        Number of all jobs, of running jobs, and of waiting jobs.
    reasons : list of str
        Reasons why jobs wait, in the words of Slurm.
    unasked : str or None
        Reason why the state of the jobs is unknown: Slurm does not answer, or is not installed on this machine.
    ended : list of str
        Last lines in the logs of jobs that ended without finishing their points. If a log is empty, there is a sentence
        instead.
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
    """Progress of a sweep.

    Attributes
    ----------
    name, folder : str
        Name of the sweep and its folder.
    points, done, missing, damaged : int
        Number of all points, of finished points, of points without results, and of points with unusable results.
    unlisted : int
        Number of points in the folder that are no longer in the sweep.
    endings : dict
        Number of finished points by ending: ``drained``, ``saturated``, ``not_complete``, ``stalled``.
    result_model : int
        Version of the format of results that this version of Weft reads. Points with another version count as damaged.
    point_seconds_mean : float or None
        Mean duration of the finished points [s].
    running : list of dict
        The active runs: ``host``, ``pid``, ``started_utc``, ``job`` (if a batch system runs it), ``seconds``, ``done``,
        ``reused``, ``left_seconds``, and ``flying``, the running points.
    arrays : list of ArrayStatus
        Arrays of jobs that possibly still run, or that have ended without finishing all their points.
    run_twice : list of dict
        Points that were run twice, because one of the two runs seemed to be dead: ``hash``, ``by``, ``overruled_by``,
        ``same`` (whether the two results are equal; ``None`` if only one run is finished).
    checkpoints : list of dict
        Points without results that will continue from a checkpoint: ``hash``, ``coordinates``, ``cycle`` reached (at
        most the end of the window), and ``seconds`` of run time up to it.
    damage : list of Damaged
        The damaged points, with the reasons.
    command : str or None
        Command that runs the remaining points.
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
    """Reads the progress of a sweep, and checks every byte of its points, without disturbing active runs.

    Raises
    ------
    ResultsError
        If the folder was not written by a sweep.
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
    """Checkpoints of unfinished points from which this build of Weft can continue."""
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
            trace = f"no log: the job ended before it started, or its node does not see {array.order.folder}"
            what = "before the end of the search" if array.search else f"{missing} points missing"
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
