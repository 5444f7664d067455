"""The options of ``weft run --on slurm`` and ``weft saturation --on slurm``, and printed lines about submitted jobs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from weft.cli import arguments
from weft.errors import WeftError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from typing import Any

    from weft.api.sweep import Sweep
    from weft.runs.arrays import Array
    from weft.runs.how import How
    from weft.runs.on_slurm import Submission
    from weft.runs.saturation_search import SaturationSearch
    from weft.runs.slurm_jobs import Plan, SlurmJobs

# Names of the options that only Slurm jobs have. Then the options that only a local run has, each with the remedy.
_OF_JOBS = ("partition", "account", "time_limit", "job_time", "memory", "cpus", "max_jobs", "setup", "python")
_OF_A_RUN = {
    "jobs": "--cpus sets the cores of a job, and therefore the points that it runs at the same time",
    "force": "jobs never repeat finished points; to run all points again, name a new folder with --out",
    "pin": "remove it: Slurm binds the threads of a job to cores (TaskPlugin)",
    "plain": "remove it: it is only for runs in this process",
    "watch": "watch packets on this machine, without --on slurm",
    "report": "run `weft report` with the folder when the jobs have ended",
}


def add(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the options of Slurm jobs; `what` names the submitted work in the help."""
    group = parser.add_argument_group("cluster jobs", what)
    group.add_argument("--on", choices=["slurm"], metavar="slurm", help="submit the missing points to Slurm and exit")
    group.add_argument("--partition", metavar="NAME", help="partition of the jobs (default: the cluster's)")
    group.add_argument("--account", metavar="NAME", help="account that pays for the jobs (default: the cluster's)")
    group.add_argument(
        "--time-limit",
        metavar="TIME",
        type=arguments.duration,
        help="time limit of a job, such as 90min or 4h (default: three times the estimate, at least 10min)",
    )
    group.add_argument(
        "--job-time",
        metavar="TIME",
        type=arguments.duration,
        help="pack points into a job until it takes about this time (default: 30min, at most half the time limit)",
    )
    group.add_argument(
        "--memory", metavar="SIZE", type=arguments.size, help="memory of a job, such as 8GB (default: the estimate)"
    )
    group.add_argument(
        "--cpus",
        metavar="N",
        type=arguments.positive,
        help="cores of a job, which runs CPUS / THREADS points at the same time (default: --threads)",
    )
    group.add_argument(
        "--max-jobs", metavar="N", type=arguments.positive, help="jobs that run at the same time (default: no limit)"
    )
    group.add_argument(
        "--setup", metavar="FILE", help="file with shell commands to run before Python starts in a job: module load ..."
    )
    group.add_argument(
        "--python",
        metavar="COMMAND",
        help="command that starts Python in a job, such as 'apptainer exec weft.sif python' (default: this Python)",
    )


def check(options: argparse.Namespace) -> None:
    """Refuse options of jobs without ``--on``, and options of a local run with ``--on``.

    Raises
    ------
    WeftError
        If the command line has an option that does not fit.
    """
    if options.on is None:
        for name in _OF_JOBS:
            if getattr(options, name) is not None:
                what = f"{_option(name)} is only for cluster jobs"
                raise WeftError.saying(what, f"also write --on slurm, or remove {_option(name)}")
        return
    for name, remedy in _OF_A_RUN.items():
        if getattr(options, name, None):
            raise WeftError.saying(f"{_option(name)} can't be combined with --on {options.on}", remedy)


def submitted(sweep: Sweep, options: argparse.Namespace) -> bool:
    """Submit the missing points and print a report.

    Returns false if there is nothing to submit, because all points have results.

    Raises
    ------
    WeftError
        If jobs can't be submitted.
    """
    made = sweep.submit(
        _jobs(options),
        options.out,
        threads=options.threads,
        blocks=options.blocks,
        force_memory=options.force_memory,
        checkpoint_every=options.checkpoint_every,
        command=_words(options),
    )
    if made.array is None and not made.under_way:
        return False
    print("\n".join(_lines(made, options.out or sweep.folder)))
    return True


def search_submitted(search: SaturationSearch, how: How, options: argparse.Namespace) -> bool:
    """Submit a search for saturation and print a report.

    Returns false if there is nothing to submit, because all points of the search have results.

    Raises
    ------
    WeftError
        If the job can't be submitted.
    """
    from weft.runs import slurm_search

    for name in ("job_time", "max_jobs"):
        if getattr(options, name) is not None:
            what = f"{_option(name)} is for several jobs, but a search is one job"
            raise WeftError.saying(what, f"remove {_option(name)}; with --cpus, points run at the same time")
    made = slurm_search.submit(search, _jobs(options), how, _words(options))
    if made.array is None:
        return False
    lines = [f"submitted nothing: job {made.array.job} already searches in this folder"]
    if made.plan:
        lines = [f"submitted the search as job {made.array.job}", *_needs(made.plan, made.array)]
    print("\n".join([*lines, *_afterwards(search.store.root)]))
    return True


def _jobs(options: argparse.Namespace) -> SlurmJobs:
    from weft.runs.slurm_jobs import SlurmJobs

    return SlurmJobs(
        partition=options.partition,
        account=options.account,
        time_limit_seconds=options.time_limit,
        job_seconds=options.job_time,
        memory_bytes=options.memory,
        cpus=options.cpus,
        max_jobs=options.max_jobs,
        setup=_setup(options.setup),
        python=options.python,
    )


def _setup(file: str | None) -> tuple[str, ...]:
    if file is None:
        return ()
    try:
        return tuple(Path(file).read_text(encoding="utf-8").splitlines())
    except (OSError, ValueError) as problem:
        what = f"--setup {file} can't be read: {problem}"
        raise WeftError.saying(what, "name a text file with shell commands, such as `module load python`") from problem


def _words(options: argparse.Namespace) -> list[str]:
    """The options of the jobs as words of the command that continues the sweep."""
    written: dict[str, Callable[[Any], str]] = {
        "time_limit": lambda seconds: f"{seconds:.15g}s",
        "job_time": lambda seconds: f"{seconds:.15g}s",
        "memory": lambda size: f"{size / 1e6:.15g}MB",
    }
    words = ["--on", options.on]
    for name in (*_OF_JOBS, "threads", "blocks", "checkpoint_every"):
        if getattr(options, name) and (name != "threads" or options.threads > 1):
            words += [_option(name), written.get(name, str)(getattr(options, name))]
    return [*words, "--force-memory"] if options.force_memory else words


def _lines(made: Submission, folder: str | Path) -> list[str]:
    lines = []
    if made.array and made.plan:
        count = len(made.array.chunks)
        lines.append(f"submitted {made.points} points in {count} job{'s' * (count != 1)}: array {made.array.job}")
        lines += _needs(made.plan, made.array)
    if made.under_way:
        again = "submitted nothing: " if made.array is None else ""
        lines.append(f"{again}{made.under_way} points belong to jobs that were submitted before")
    return [*lines, *_afterwards(folder)]


def _needs(plan: Plan, array: Array) -> list[str]:
    """Lines on the time, memory and cores that each job needs, and on its output files."""
    from weft.runs import memory
    from weft.text.columns import clock

    takes = "of unknown length" if plan.job_seconds is None else f"about {clock(plan.job_seconds)} (estimated here)"
    cores = f"{plan.cpus} core{'s' * (plan.cpus != 1)}"
    return [
        f"each job  {takes}; limit {clock(plan.limit_seconds)}, {memory.text(plan.memory_bytes)}, {cores}",
        f"logs      {array.order.folder}",
    ]


def _afterwards(folder: str | Path) -> list[str]:
    """Lines with commands that the user can run after the submission."""
    from weft.text import shell

    return [
        f"progress  {shell.command('status', folder)}",
        f"stop      {shell.command('cancel', folder)}",
        "results   run the same command again when the jobs have ended: it submits missing points or shows the table",
    ]


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
