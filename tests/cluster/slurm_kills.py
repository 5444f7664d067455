"""Tests job arrays on a real Slurm while daemons, nodes and jobs are killed (``make test-slurm``).

After each kind of kill, no finished point is lost or run again. A repetition of the command submits the remaining
points, and the results equal those of a local run. In every second sweep, points write checkpoints and continue from
them. The environment variable ``WEFT_TEST_KILLS`` sets the number of kills.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections import Counter
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import weft
from conftest import SMALL
from slurm_here import NODES, SlurmHere
from test_resume import finished
from test_slurm import check_same
from weft.cli import main
from weft.runs import slurm_queue
from weft.runs.arrays import arrays
from weft.runs.beacon import at_work
from weft.runs.point_claims import run_twice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KILLS = int(os.environ.get("WEFT_TEST_KILLS", "40"))
POINT_SECONDS = 2.0
# Counts over all tests of this file: kills by kind, submissions, and points that continued from a checkpoint.
OF_ALL = Counter[str]()


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SlurmHere]:
    """Start a Slurm that only the tests of this file use."""
    with SlurmHere(tmp_path_factory.mktemp("slurm")) as here:
        os.environ["SLURM_CONF"] = here.environment["SLURM_CONF"]
        os.environ["PYTHONPATH"] = str(Path(weft.__file__).parent.parent)
        yield here


class Kills:
    """Kinds of kills. Each public method kills one thing, or returns false if there is nothing to kill."""

    def __init__(self, slurm: SlurmHere, out: Path, draw: random.Random) -> None:
        self.slurm, self.out, self.draw = slurm, out, draw

    def controller(self) -> bool:
        """Kill Slurm's controller, and start it again."""
        return self._daemon("slurmctld")

    def node_daemon(self) -> bool:
        """Kill the daemon of a node, and start it again. Its jobs continue."""
        return self._daemon(self.draw.choice(NODES))

    def job_process(self) -> bool:
        """Kill the process of a job, as the operating system does if memory runs out."""
        pids = [who["pid"] for who in at_work(self.out)]
        if not pids:
            return False
        with suppress(ProcessLookupError):
            os.kill(self.draw.choice(pids), signal.SIGKILL)
        return True

    def cancelled_job(self) -> bool:
        """Cancel a job with Slurm's command, as a user does."""
        return self._job("scancel")

    def requeued_job(self) -> bool:
        """Let Slurm kill a job and queue it again, as in a preemption."""
        return self._job("scontrol", "requeue")

    def preempted_job(self) -> bool:
        """Send a job the signal with which Slurm announces a preemption."""
        return self._job("scancel", "--signal=TERM")

    def job_at_its_limit(self) -> bool:
        """Send a job the signal with which Slurm announces its time limit."""
        return self._job("scancel", "--signal=USR2")

    def node(self) -> bool:
        """Kill a node with all its jobs, and start it again."""
        node = self.draw.choice(NODES)
        with suppress(Exception):
            self.slurm.ask("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=test")
            time.sleep(self.draw.uniform(0, 1))
            with suppress(Exception):  # the node may have returned by itself
                self.slurm.ask("scontrol", "update", f"NodeName={node}", "State=RESUME")
            return True
        return False

    def _daemon(self, name: str) -> bool:
        self.slurm.kill(name)
        time.sleep(self.draw.uniform(0, 1))
        self.slurm.start(name)
        return True

    def _job(self, *command: str) -> bool:
        jobs = self.slurm.ask("squeue", "--noheader", "--array", "--states=RUNNING", "--format=%i").split()
        if not jobs:
            return False
        with suppress(Exception):  # the job may have ended in the meantime
            self.slurm.ask(*command, self.draw.choice(jobs))
        return True


def live(slurm: SlurmHere, out: Path) -> int:
    """Return the number of jobs that have not ended, and let waiting jobs begin soon.

    Jobs that Slurm queued again begin at once instead of after two minutes.
    """
    found = 0
    for array in arrays(out):
        for number, (state, reason) in array.live().items():
            found, job = found + 1, array.job_of(number)
            with suppress(subprocess.CalledProcessError):  # the job may have begun or ended in the meantime
                # if the daemon of a node died while the job began, Slurm holds the job until an administrator releases
                # it
                if "held" in reason:
                    slurm.ask("scontrol", "release", job)
                if state == slurm_queue.PENDING:
                    slurm.ask("scontrol", "update", f"JobId={job}", "StartTime=now")
    return found


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a length of the window with which a point takes about two seconds on this machine.

    With this length, kills hit running points, points that write results, and jobs that start.
    """
    begun, cycles = time.monotonic(), 20_000
    points = len(
        weft.load(SMALL, overrides={"measure.window": f"{cycles}cycles"}).run(tmp_path_factory.mktemp("tried"), jobs=1)
    )
    return f"{round(cycles * POINT_SECONDS * points / (time.monotonic() - begun))}cycles"


@pytest.mark.parametrize("seed", range(max(2, KILLS // 10)))
def test_sweeps_survive_kills(slurm: SlurmHere, window: str, small: Path, tmp_path: Path, seed: int) -> None:
    """Sweeps run until ten kills have happened. All results are complete and correct."""
    draw, done = random.Random(seed), Counter[str]()
    while done.total() < 10:
        out = tmp_path / f"after-{done.total()}"
        words = ["--set", f"measure.window={window}", "--out", str(out), "--no-picture", "--on", "slurm"]
        words += ["--job-time", f"{2 * POINT_SECONDS}s"]
        if seed % 2:
            words += ["--checkpoint-every", "5000cycles"]
        before = done.total()
        submissions = killed(["run", str(small), *words], Kills(slurm, out, draw), done, partial(whole, out))
        check_same(
            results := weft.open_results(out),
            weft.load(small, overrides={"measure.window": window}).run(tmp_path / "reference"),
        )
        resumed = sum(results.run_info(point).get("resumed", 0) for point in range(len(results)))
        assert seed % 2 or not resumed
        OF_ALL.update({"submissions": submissions, "resumed": resumed})
        text = f"{done.total() - before} kills, {submissions} submissions, {resumed} times resumed"
        print(f"\nseed {seed}, {out.name}: {text}", flush=True)
    OF_ALL.update(done)
    print(f"so far: {dict(OF_ALL)}", flush=True)


def whole(out: Path) -> bool:
    """Return whether all points of a folder have results."""
    return len(finished(out)) == 12


def test_a_search_survives_kills(slurm: SlurmHere, window: str, small: Path, tmp_path: Path) -> None:
    """Searches run until ten kills have happened. All results are complete and correct."""
    draw, done = random.Random(0), Counter[str]()
    sets = {"measure.window": window, "traffic.pattern": "tornado"}
    while done.total() < 10:
        out = tmp_path / f"after-{done.total()}"
        words = [word for pair in sets.items() for word in ("--set", "=".join(pair))]
        words += ["--out", str(out), "--no-picture", "--on", "slurm", "--cpus", "2", "--tolerance", "0.05"]
        words += ["--checkpoint-every", "5000cycles"]
        table = out / "saturation.csv"
        submissions = killed(["saturation", str(small), *words], Kills(slurm, out, draw), done, table.exists)
        frame = weft.load(small, overrides=sets).saturation(tmp_path / "reference", tolerance=0.05)
        assert table.read_text(encoding="utf-8") == frame.write_csv()
        check_same(weft.open_results(out), weft.open_results(tmp_path / "reference"))
        print(f"\nsearch, {out.name}: {submissions} submissions; {dict(done)}", flush=True)


def killed(command: list[str], kills: Kills, done: Counter[str], ended: Callable[[], bool]) -> int:
    """Repeat a command until all points are done, with kills in between, and return the number of submissions."""
    known: dict[str, int] = {}
    ways = [name for name in vars(Kills) if not name.startswith("_")]
    submissions, until = 0, time.monotonic() + 500
    while not ended():
        kills.slurm.wait_until_idle()
        submissions += main(command) == 0
        while live(kills.slurm, kills.out) and not ended():
            assert time.monotonic() < until, f"{len(known)} points after {dict(done)}"
            time.sleep(kills.draw.uniform(0, 1.5))
            now = finished(kills.out)
            assert known.items() <= now.items(), "what was finished stays as it was"
            known = now
            if done.total() < 10 and (at_work(kills.out) or kills.draw.random() < 0.3):  # most kills hit a job
                way = kills.draw.choice(ways)
                done[way] += getattr(kills, way)()
            kills.slurm.wait_until_idle()
    known = finished(kills.out)
    while live(kills.slurm, kills.out):
        assert time.monotonic() < until
        time.sleep(0.2)
        kills.slurm.wait_until_idle()
    assert finished(kills.out) == known, "no finished point was run again"
    assert run_twice(kills.out) == []
    return submissions


def test_points_have_gone_on_from_checkpoints() -> None:
    assert OF_ALL["resumed"] > 0
