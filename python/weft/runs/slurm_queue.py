"""Queries Slurm about jobs by name, and cancels jobs.

The name of a job contains the name of its order (`weft.runs.orders`).
"""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

from weft.errors import WeftError

if TYPE_CHECKING:
    from collections.abc import Sequence

_SECONDS = 60.0
RUNNING, PENDING = "RUNNING", "PENDING"


def here(command: str) -> bool:
    """Whether this machine has a command of Slurm, such as `sbatch`."""
    return shutil.which(command) is not None


def live(name: str) -> dict[int, tuple[str, str]]:
    """The jobs of an array that have not ended: state and reason of each, by the number of the job in the array.

    Raises
    ------
    WeftError
        If Slurm does not answer.
    """
    found = {}
    for line in _ask(["squeue", "--noheader", "--array", f"--name={name}", "--format=%i|%T|%r"]).splitlines():
        job, state, reason = line.strip().split("|", 2)
        found[int(job.partition("_")[2] or 0)] = state, reason
    return found


def cluster() -> str:
    """Name of the cluster to which this machine belongs.

    Raises
    ------
    WeftError
        If Slurm does not answer.
    """
    for line in _ask(["scontrol", "show", "config"]).splitlines():
        key, _, value = line.partition("=")
        if key.strip() == "ClusterName":
            return value.strip()
    what = "`scontrol show config` names no cluster"
    raise WeftError.saying(what, "ask the administrators of this Slurm to set ClusterName")


def state(job: str) -> str | None:
    """State of a job, by its number; ``None`` if Slurm gives no state."""
    try:
        return _ask(["squeue", "--noheader", f"--jobs={job}", "--format=%T"]).strip() or None
    except WeftError:
        return None


def cancel(name: str) -> None:
    """Cancel all jobs with this name, if there are any.

    Raises
    ------
    WeftError
        If Slurm does not answer.
    """
    _ask(["scancel", f"--name={name}"])


def _ask(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except FileNotFoundError as problem:
        what = f"there is no {command[0]} on this machine"
        raise WeftError.saying(what, "run the command on a machine that has Slurm's commands") from problem
    except subprocess.TimeoutExpired as problem:
        what = f"{command[0]} has not answered for {_SECONDS:.0f} s"
        raise WeftError.saying(what, "wait until Slurm answers `squeue`, and give the same command again") from problem
    if done.returncode:
        said = " ".join(done.stderr.split()) or f"exit status {done.returncode}"
        what = f"Slurm does not answer {command[0]}: {said}"
        raise WeftError.saying(what, "wait until Slurm answers `squeue`, and give the same command again")
    return done.stdout
