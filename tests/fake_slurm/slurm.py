#!/usr/bin/env python3
"""Replaces Slurm's commands in tests.

Tests put this script into their PATH under the names of Slurm's commands. Jobs are processes of this machine, which
begin at once. Until a job ends, it has a file `JOB.json` in the folder that the environment variable `FAKE_SLURM`
names. Further files in this folder change the behaviour. `refuse` contains the message with which ``sbatch`` refuses
jobs. If `down` exists, no command answers. If `hold` exists, jobs wait. `cluster` contains the name of the cluster.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

STATE = Path(os.environ["FAKE_SLURM"])


def sbatch(words: list[str]) -> None:
    """Start the jobs of a batch script, as ``sbatch`` does."""
    if (STATE / "refuse").exists():
        sys.exit((STATE / "refuse").read_text())
    script = Path(words[-1])
    options = dict(re.findall(r"^#SBATCH --([a-z-]+)=(.*)$", script.read_text(), re.M))
    array = len(list(STATE.glob("*.script"))) + 1
    (STATE / f"{array}.script").write_text(script.read_text())
    last = re.match(r"0-(\d+)", options.get("array", ""))
    for number in range(int(last[1]) + 1) if last else [None]:
        job = str(array) if number is None else f"{array}_{number}"
        kept = STATE / f"{job}.json"
        kept.write_text(json.dumps({"job": job, "name": options["job-name"], "state": "PENDING"}))
        if not (STATE / "hold").exists():
            begin(kept, array, number)
    print(f"Submitted batch job {array}")


def begin(kept: Path, array: int, number: int | None) -> None:
    """Run a job in a separate process group.

    If the job is marked to be queued again, run it again. Remove the job's file at the end.
    """
    raw = 1000 * array + (number or 0)
    environment = os.environ | {"SLURM_JOB_ID": str(raw), "SLURM_PROCID": "0", "SLURM_NTASKS": "1"}
    environment["FAKE_JOB"] = kept.stem
    if number is not None:
        environment |= {"SLURM_ARRAY_JOB_ID": str(array), "SLURM_ARRAY_TASK_ID": str(number)}
    else:
        environment["SLURM_JOB_ID"] = str(array)
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    script, again = STATE / f"{array}.script", kept.with_suffix(".again")
    line = f"bash {script}; while rm {again}; do bash {script}; done; rm -f {kept}"
    kept.write_text(kept.read_text().replace("PENDING", "RUNNING"))
    process = subprocess.Popen(["bash", "-c", line], env=environment, start_new_session=True, **quiet)  # type: ignore[call-overload]
    kept.with_suffix(".pid").write_text(str(process.pid))


def srun(words: list[str]) -> None:
    """Replace this process by the program of a job, whose output goes to the job's log files."""
    program = words[next(place for place, word in enumerate(words) if word.endswith(("python", "python3"))) :]
    paths = dict(pairwise(words))
    for option, stream in (("--output", 1), ("--error", 2)):
        array, _, number = os.environ["FAKE_JOB"].partition("_")
        path = paths[option].replace("%A", array).replace("%a", number).replace("%j", array).replace("%t", "0")
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
    os.execvp(program[0], program)


def squeue(words: list[str]) -> None:
    """Print the jobs, as ``squeue`` does."""
    options = dict(word.removeprefix("--").split("=", 1) for word in words if "=" in word)
    for path in sorted(STATE.glob("*.json")):
        job = json.loads(path.read_text())
        if job["name"] == options.get("name"):
            print(f"{job['job']}|{job['state']}|{'Priority' if job['state'] == 'PENDING' else 'None'}")


def scontrol(words: list[str]) -> None:
    """Print the name of the cluster, or mark an ending job to be queued again."""
    if words == ["show", "config"]:
        name = STATE / "cluster"
        print(f"AuthType = none\nClusterName             = {name.read_text() if name.exists() else 'here'}")
    else:
        (STATE / f"{words[1]}.again").touch()


def scancel(words: list[str]) -> None:
    """End the jobs that the words name, as ``scancel`` does."""
    name = words[0].removeprefix("--name=")
    for path in STATE.glob("*.json"):
        job = json.loads(path.read_text())
        if job["name"] == name:
            path.unlink(missing_ok=True)
            if (pid := path.with_suffix(".pid")).exists():
                os.killpg(int(pid.read_text()), signal.SIGTERM)


if __name__ == "__main__":
    if (STATE / "down").exists():
        sys.exit("slurm_load_jobs error: Unable to contact slurm controller (connect failure)")
    globals()[Path(sys.argv[0]).name](sys.argv[1:])
