"""Settings of Slurm jobs: those that the user chooses, and those that Weft computes from the points."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from weft.errors import ScenarioError, WeftError
from weft.runs import durations, memory, packing
from weft.text import given
from weft.text.columns import clock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft._engine import Point
    from weft.results.store import Store
    from weft.runs.how import How
    from weft.runs.saturation_search import SaturationSearch

# Maximum number of jobs: Slurm allows 1,001 jobs in an array, unless its configuration sets another MaxArraySize.
_MOST_JOBS = 1000
# Defaults: intended run time of a job [s], shortest default of its time limit [s], and ratio of the limit to the
# expected time.
_JOB_SECONDS, _LEAST_LIMIT_SECONDS, _MARGIN = 1800.0, 600.0, 3.0
# Shortest time limit that the user can set [s], because Slurm counts whole minutes.
_SHORTEST_SECONDS = 60.0
# Memory of a job in addition to that of its points [bytes]: Python with Weft needs 0.1 GB, and the system also counts
# other memory, such as file buffers.
_PYTHON_BYTES = 400_000_000


@dataclass(frozen=True)
class SlurmJobs:
    """Parameters of the Slurm jobs of `Sweep.submit`.

    Attributes
    ----------
    partition, account : str or None
        Options of ``sbatch`` with the same names; ``None`` for the default of the cluster.
    time_limit_seconds : float or None
        Time limit of a job; by default three times the expected time of its points, at least 10 minutes.
    job_seconds : float or None
        Intended total time of the points of one job [s]; by default 30 minutes, and at most half the time limit.
    memory_bytes : int or None
        Memory of a job [bytes]; by default the memory that its points need with all buffers full.
    cpus : int or None
        Cores of a job. The cores limit the number of points that run at the same time. The default is ``threads`` of
        `Sweep.submit`, with which a job runs one point at a time.
    max_jobs : int or None
        Maximum number of jobs that run at the same time.
    setup : tuple of str
        Shell commands that run before Python starts in a job, such as ``module load python``.
    python : str or None
        Command that starts Python in a job, e.g. ``apptainer exec weft.sif python``; by default the current Python.
    """

    partition: str | None = None
    account: str | None = None
    time_limit_seconds: float | None = None
    job_seconds: float | None = None
    memory_bytes: int | None = None
    cpus: int | None = None
    max_jobs: int | None = None
    setup: tuple[str, ...] = ()
    python: str | None = None

    def __post_init__(self) -> None:
        """Refuse values that no job can have.

        Raises
        ------
        WeftError
            If a value is not a number or is too small.
        """
        for name in ("cpus", "max_jobs"):
            if (value := getattr(self, name)) is not None:
                given.whole(value, name)
        for name, example in (("time_limit_seconds", 3600), ("job_seconds", 600), ("memory_bytes", 8_000_000_000)):
            if (value := getattr(self, name)) is not None and given.number(value, name, example) <= 0:
                raise given.refused(value, name, "number above 0", f"write e.g. {name}={example}")
        if (limit := self.time_limit_seconds) is not None and limit < _SHORTEST_SECONDS:
            what = f"a time limit of {limit:g} s is shorter than a minute, the shortest limit of Slurm"
            raise WeftError.saying(what, "write at least a minute (--time-limit 1min)")


@dataclass(frozen=True)
class Plan:
    """The points of each job, and the time, memory and cores of the jobs.

    Attributes
    ----------
    jobs : list of list of int
        Indices of the points of each job.
    job_seconds : float or None
        Expected time of the longest job [s]; ``None`` if it is unknown.
    limit_seconds : float
        Time limit of a job [s].
    memory_bytes : int
        Memory of a job [bytes].
    cpus, at_once : int
        Number of cores of a job, and number of points that the job runs at the same time.
    """

    jobs: list[list[int]]
    job_seconds: float | None
    limit_seconds: float
    memory_bytes: int
    cpus: int
    at_once: int


def plan(
    wanted: SlurmJobs,
    points: Sequence[Point],
    every: Sequence[Point],
    store: Store,
    how: How,
) -> Plan:
    """Assign points to jobs, and compute the time, memory and cores of the jobs.

    Parameters
    ----------
    wanted : SlurmJobs
        Settings that the user chooses.
    points, every : sequence of Point
        Points to run, and all points of the sweep. The run times of finished points are used to estimate the run times
        of the other points.
    store : Store
        Folder of the sweep.
    how : How
        Settings of the runs.

    Raises
    ------
    ScenarioError
        If a job has less time or memory than a point needs, or fewer cores than threads.
    """
    cpus, at_once = _cores(wanted, how)
    times = durations.expected(every, store, threads=how.threads, blocks=how.blocks)
    of = {point.hash: time for point, time in zip(every, times, strict=True)}
    seconds = [of[point.hash] for point in points]
    job_seconds = _JOB_SECONDS if wanted.job_seconds is None else wanted.job_seconds
    if (limit := wanted.time_limit_seconds) is not None:
        _refuse_too_short(points, seconds, limit, how)
        job_seconds = min(job_seconds, limit / 2)
    jobs = packing.packed(seconds, job_seconds=job_seconds, at_once=at_once, most=_MOST_JOBS)
    needs = memory.estimates(points, threads=how.threads, blocks=how.blocks)
    together = max((sorted((needs[place] for place in job), reverse=True)[:at_once] for job in jobs), key=sum)
    longest = packing.longest(jobs, seconds, at_once)
    return Plan(jobs, longest, _limit(wanted, longest), _memory(wanted, together, how), cpus, at_once)


def plan_search(wanted: SlurmJobs, search: SaturationSearch, how: How) -> Plan:
    """Computes the time, memory and cores of the job of a search for saturation.

    Raises
    ------
    ScenarioError
        If the job has less time or memory than a point needs, or fewer cores than threads.
    """
    cpus, at_once = _cores(wanted, how)
    points = search.most_at_once()
    seconds = durations.expected(points, search.store, threads=how.threads, blocks=how.blocks)
    if wanted.time_limit_seconds is not None:
        _refuse_too_short(points, seconds, wanted.time_limit_seconds, how)
    needs = sorted(memory.estimates(points, threads=how.threads, blocks=how.blocks), reverse=True)[:at_once]
    rounds, runs = search.left()
    known = [each for each in seconds if each is not None]
    takes = max(known) * max(rounds, ceil(runs / at_once)) if len(known) == len(seconds) else None
    return Plan([[]], takes, _limit(wanted, takes), _memory(wanted, needs, how), cpus, at_once)


def _cores(wanted: SlurmJobs, how: How) -> tuple[int, int]:
    """Number of cores of a job, and of points that run on them at the same time."""
    cpus = how.threads if wanted.cpus is None else wanted.cpus
    if cpus < how.threads:
        what = f"a job of {cpus} core(s) can't run points of {how.threads} threads"
        raise ScenarioError.saying(what, f"give a job more cores (--cpus {how.threads}), or a point fewer threads")
    return cpus, cpus // how.threads


def _limit(wanted: SlurmJobs, takes: float | None) -> float:
    """Time limit of jobs [s], if the longest job takes the time `takes` [s]."""
    if wanted.time_limit_seconds is not None:
        return wanted.time_limit_seconds
    if takes is None:
        what = "the run time of points is unknown: this machine has too little memory, or time, for a trial run"
        raise ScenarioError.saying(what, "set the time limit of a job: --time-limit 4h (time_limit_seconds=14400)")
    return max(_LEAST_LIMIT_SECONDS, _MARGIN * takes)


def _memory(wanted: SlurmJobs, needs: Sequence[int], how: How) -> int:
    """Memory of a job [bytes]. `needs` is the memory of each point that the job runs at the same time [bytes]."""
    least = _PYTHON_BYTES + sum(needs)
    if wanted.memory_bytes is not None and wanted.memory_bytes < least and not how.force_memory:
        _refuse_too_little(wanted.memory_bytes, least, len(needs))
    return wanted.memory_bytes or least


def _refuse_too_short(points: Sequence[Point], seconds: Sequence[float | None], limit: float, how: How) -> None:
    if how.checkpoint_every:  # a point then continues in the next job
        return
    known = [(each, point) for each, point in zip(seconds, points, strict=True) if each is not None]
    certain = [each for each, point in known if not durations.may_end_earlier(point)]
    if certain and max(certain) > limit:
        longest = max(certain)
        what = f"a point takes about {clock(longest)} (estimated on this machine), but the time limit is {clock(limit)}"
        enough = ceil(_MARGIN * longest / 60)
        go_on = "let points continue in the next job (--checkpoint-every 10min)"
        raise ScenarioError.saying(what, f"increase the limit (--time-limit {enough}min), or {go_on}")


def _refuse_too_little(memory_bytes: int, least: int, at_once: int) -> None:
    points = "a point needs" if at_once == 1 else f"{at_once} points at a time need"
    what = (
        f"{points} up to {memory.text(least)} of memory with all buffers full (with {memory.text(_PYTHON_BYTES)} for "
        f"Python), but a job has {memory.text(memory_bytes)}"
    )
    remedy = f"give jobs more memory (--memory {ceil(least / 1e6)}MB), or remove --memory"
    raise ScenarioError.saying(what, f"{remedy}, or submit anyway with --force-memory (force_memory=True)")
