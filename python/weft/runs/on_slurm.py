"""Submits points to Slurm as an array of jobs, with the package submitit."""

from __future__ import annotations

import io
from contextlib import redirect_stderr
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import ceil
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from weft.errors import WeftError
from weft.runs import slurm_queue
from weft.runs.arrays import Array
from weft.runs.orders import Order
from weft.runs.slurm_job import SlurmJob

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft._engine import Point
    from weft.results.store import Store
    from weft.runs.how import How
    from weft.runs.search_job import SearchJob
    from weft.runs.slurm_jobs import Plan, SlurmJobs
    from weft.scenario.scenario import Scenario

# Time before a job's limit at which Slurm sends the job a signal: this number of seconds, or this share of the limit if
# that is shorter.
_WARNING_SECONDS, _WARNING_PART = 90, 0.2
# Maximum length of the name of a job; Slurm allows longer names, but `squeue` shows only the beginning.
_LONGEST_NAME = 40
# Maximum number of times that submitit queues a job again. The number is never reached, because each job decides
# whether it is queued again (`SlurmJob.checkpoint`).
_NO_END = 1_000_000


@dataclass(frozen=True)
class Submission:
    """Result of a submission: the jobs that were submitted to Slurm.

    Attributes
    ----------
    array : Array or None
        The array of jobs; ``None`` if earlier jobs will run all missing points.
    plan : Plan or None
        Points of each job, and time, memory and cores of the jobs.
    points : int
        Number of submitted points.
    under_way : int
        Number of points without results that jobs of earlier submissions will run.
    """

    array: Array | None
    plan: Plan | None
    points: int
    under_way: int


def check() -> None:
    """Raise an error if this machine cannot submit jobs.

    Raises
    ------
    WeftError
        If the commands of Slurm or the package submitit are missing.
    """
    for command in ("sbatch", "srun", "squeue", "scontrol"):
        if not slurm_queue.here(command):
            what = f"there is no Slurm on this machine: {command} is not found"
            raise WeftError.saying(what, "submit from a login node of the cluster, or run without --on slurm")
    try:
        import submitit  # noqa: F401 - this only tests whether the package is installed
    except ImportError as problem:
        what = "submitit, which submits jobs to Slurm, is not installed"
        remedy = "install it in the environment of Weft: pip install submitit (or 'weft-sim[slurm]')"
        raise WeftError.saying(what, remedy) from problem


def submit(
    store: Store,
    scenario: Scenario,
    sets: Sequence[tuple[str, str]],
    points: Sequence[Point],
    *,
    plan: Plan,
    wanted: SlurmJobs,
    name: str,
    how: How,
    search: SearchJob | None = None,
) -> Array:
    """Submit an array of jobs.

    Parameters
    ----------
    store, scenario, sets, points
        Folder of the results, the scenario with its overrides, and the points to run.
    plan, wanted
        Plan with the points of each job, and parameters of the jobs.
    name : str
        Name of the sweep.
    how : How
        Settings of the runs. The free memory of nodes is not checked, because each job requests the memory of its
        points.
    search : SearchJob, optional
        If given, the array has a single job, which makes this search for saturation instead of running given points.

    Raises
    ------
    WeftError
        If Slurm refuses the jobs. The error contains the message of Slurm, and the files of the order are removed.
    """
    order = Order(str(store.root.absolute()), uuid4().hex[:8], replace(how, force_memory=True))
    chunks = [[points[place].hash for place in job] for job in plan.jobs]
    now = datetime.now(UTC).isoformat(timespec="seconds")
    array = Array(
        order, f"weft-{name[:_LONGEST_NAME]}-{order.id}", slurm_queue.cluster(), None, now, chunks, search is not None
    )
    array.write()
    order.write(scenario, [sets])
    jobs = [SlurmJob(order, chunk, plan.at_once, plan.limit_seconds, search) for chunk in chunks]
    try:
        numbered = replace(array, job=_submitted(jobs, array, plan, wanted))
    except BaseException:
        order.remove()  # a job that Slurm has nevertheless accepted finds no order and ends
        raise
    numbered.write()
    return numbered


def _submitted(jobs: Sequence[SlurmJob], array: Array, plan: Plan, wanted: SlurmJobs) -> str:
    """Submit the jobs and return the number of their array."""
    import submitit
    from submitit.core.utils import FailedJobError, FailedSubmissionError

    minutes = ceil(plan.limit_seconds / 60)
    parameters: dict[str, Any] = {
        "job_name": array.name,
        "time": minutes,
        "mem": f"{ceil(plan.memory_bytes / 2**20)}M",
        "cpus_per_task": plan.cpus,
        "array_parallelism": wanted.max_jobs or len(jobs),
        "signal_delay_s": min(_WARNING_SECONDS, round(_WARNING_PART * 60 * minutes)),
        "setup": list(wanted.setup),
        # if the node of a job fails, Slurm queues the job again, even if the configuration of the cluster says
        # otherwise
        "additional_parameters": {"requeue": True},
        "partition": wanted.partition,
        "account": wanted.account,
    }
    with redirect_stderr(io.StringIO()):  # submitit repeats the output of sbatch
        try:
            executor = submitit.SlurmExecutor(array.order.folder, max_num_timeout=_NO_END, python=wanted.python)
            executor.update_parameters(**{key: value for key, value in parameters.items() if value is not None})
            taken = executor.submit_array(jobs)
        except (FailedJobError, FailedSubmissionError) as problem:
            lines = (line.removeprefix("sbatch: ").removeprefix("error: ") for line in str(problem).splitlines())
            said = "; ".join(filter(None, map(str.strip, lines))) or "it gives no reason"
            what = f"Slurm refuses the jobs: {said}"
            remedy = (
                "`sinfo` lists partitions and their limits, `sacctmgr show associations user=$USER` your accounts: "
                "change --partition, --account, --time-limit, --memory or --cpus, and run the command again"
            )
            raise WeftError.saying(what, remedy) from problem
    return str(taken[0].job_id).partition("_")[0]
