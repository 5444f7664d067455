"""Arrays of jobs on a real Slurm, while its daemons, its nodes and the jobs are killed: ``make test-slurm``.

Whatever is killed, no finished point is lost or run again, the same command submits the remaining points, and the
results are those of a local run. In every second sweep, points write checkpoints and continue from them.
``WEFT_TEST_KILLS`` sets the number of kills.
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
# Number of kills by kind, of submissions of jobs, and of points that have continued from a checkpoint.
OF_ALL = Counter[str]()


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SlurmHere]:
    """A Slurm that only this test uses."""
    with SlurmHere(tmp_path_factory.mktemp("slurm")) as here:
        os.environ["SLURM_CONF"] = here.environment["SLURM_CONF"]
        os.environ["PYTHONPATH"] = str(Path(weft.__file__).parent.parent)
        yield here


class Kills:
    """Ways to kill. Each method returns false if there is nothing to kill now."""

    def __init__(self, slurm: SlurmHere, out: Path, draw: random.Random) -> None:
        self.slurm, self.out, self.draw = slurm, out, draw

    def controller(self) -> bool:
        """The controller dies, and starts again."""
        return self._daemon("slurmctld")

    def node_daemon(self) -> bool:
        """The daemon of a node dies, and starts again; its jobs continue."""
        return self._daemon(self.draw.choice(NODES))

    def job_process(self) -> bool:
        """The system kills the process of a job, as it does when memory runs out."""
        pids = [who["pid"] for who in at_work(self.out)]
        if not pids:
            return False
        with suppress(ProcessLookupError):
            os.kill(self.draw.choice(pids), signal.SIGKILL)
        return True

    def cancelled_job(self) -> bool:
        """A user cancels a job with Slurm's command."""
        return self._job("scancel")

    def requeued_job(self) -> bool:
        """Slurm kills a job and queues it again, as preemption does."""
        return self._job("scontrol", "requeue")

    def preempted_job(self) -> bool:
        """Slurm signals to a job that it will end soon."""
        return self._job("scancel", "--signal=TERM")

    def job_at_its_limit(self) -> bool:
        """Slurm signals to a job that its time limit is near."""
        return self._job("scancel", "--signal=USR2")

    def node(self) -> bool:
        """A node fails with its jobs, and starts again."""
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
    """Number of jobs that have not ended. Jobs that were queued again begin now instead of in two minutes."""
    found = 0
    for array in arrays(out):
        for number, (state, reason) in array.live().items():
            found, job = found + 1, array.job_of(number)
            with suppress(subprocess.CalledProcessError):  # the job may have begun or ended in the meantime
                # if the daemon of the node died while the job began, Slurm waits for an administrator
                if "held" in reason:
                    slurm.ask("scontrol", "release", job)
                if state == slurm_queue.PENDING:
                    slurm.ask("scontrol", "update", f"JobId={job}", "StartTime=now")
    return found


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A window with which a point takes about two seconds here.

    So kills hit running points, results, and starting jobs.
    """
    begun, cycles = time.monotonic(), 20_000
    points = len(
        weft.load(SMALL, overrides={"measure.window": f"{cycles}cycles"}).run(tmp_path_factory.mktemp("tried"), jobs=1)
    )
    return f"{round(cycles * POINT_SECONDS * points / (time.monotonic() - begun))}cycles"


@pytest.mark.parametrize("seed", range(max(2, KILLS // 10)))
def test_sweeps_survive_kills(slurm: SlurmHere, window: str, small: Path, tmp_path: Path, seed: int) -> None:
    """Ten kills of each kind, in the number of sweeps that this needs."""
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
    """Whether all points have results."""
    return len(finished(out)) == 12


def test_a_search_survives_kills(slurm: SlurmHere, window: str, small: Path, tmp_path: Path) -> None:
    """Ten kills, in the number of searches that this needs."""
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
    """Repeat a command until all points are done, with kills in between; returns the number of submissions."""
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
