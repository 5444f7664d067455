"""Tests sweeps on Slurm: how Weft submits jobs, reports their progress, cancels them, and continues after their end.

A script replaces Slurm's commands. `make test-slurm` runs similar tests with a real Slurm.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shlex
import shutil
import signal
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import weft
from test_checkpoints import status_of as cycle_of
from test_resume import PATIENCE, finished
from weft.cli import _parser, main
from weft.cli.slurm import _words
from weft.results.store import Store
from weft.runs import arrays, beacon, pace
from weft.runs.checkpoints import Kept, build
from weft.runs.how import How
from weft.runs.orders import Order
from weft.runs.slurm_job import SlurmJob
from weft.runs.worker import Done
from weft_papers import registry
from weft_papers.common.reproduction import sweeps
from weft_papers.common.rules import given

if TYPE_CHECKING:
    from weft.api.results import Results

FAKE = Path(__file__).parent / "fake_slurm" / "slurm.py"
QUICK = ["--job-time", "0.01s"]  # with this time per job, there are several jobs
SLOW = ["--set", "measure.window=100000cycles"]


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put commands that replace Slurm's on the PATH, and return the folder with their jobs."""
    state = tmp_path / "slurm"
    state.mkdir()
    for name in ("sbatch", "srun", "squeue", "scancel", "scontrol"):
        (state / name).write_text(f"#!{sys.executable}\n{FAKE.read_text(encoding='utf-8')}", encoding="utf-8")
        (state / name).chmod(0o755)
    monkeypatch.setenv("FAKE_SLURM", str(state))
    monkeypatch.setenv("PATH", f"{state}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(Path(weft.__file__).parent.parent))
    # A short trial is enough, because small networks show their speed sooner than large ones.
    monkeypatch.setattr(pace, "_TELLING_SECONDS", 0.1)
    return state


def wait_for_the_end(slurm: Path) -> None:
    until = time.monotonic() + PATIENCE
    while list(slurm.glob("*.json")):
        assert time.monotonic() < until
        time.sleep(0.05)


def status_of(folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["status", str(folder), "--json"]) == 0
    read: dict[str, Any] = json.loads(capsys.readouterr().out)
    return read


def submit_and_lose(small: Path, out: Path, slurm: Path) -> list[str]:
    """Submit jobs that never begin, remove them from the replaced Slurm, and return the command that submitted them."""
    command = ["run", str(small), "--out", str(out), "--no-picture", "--on", "slurm"]
    (slurm / "hold").touch()
    assert main(command) == 0
    for job in slurm.glob("*.json"):
        job.unlink()
    return command


def check_same(results: Results, reference: Results) -> None:
    """Check that two result sets have the same files with the same bytes, except `run.json`, which has the machine and
    the time of a run."""
    of = {path.relative_to(reference.root) for path in reference.root.glob("points/[!.]*/*")}
    assert {path.relative_to(results.root) for path in results.root.glob("points/[!.]*/*")} == of
    for path in of:
        if path.name != "run.json":
            assert (results.root / path).read_bytes() == (reference.root / path).read_bytes(), path


def test_an_array_gives_the_results_of_a_local_run(
    small: Path, tmp_path: Path, slurm: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    command = ["run", str(small), "--out", str(out), "--no-picture", "--on", "slurm", *QUICK]
    more = ["--partition", "main", "--account", "me", "--memory", "1GB", "--cpus", "2", "--max-jobs", "1"]
    (tmp_path / "setup.sh").write_text("export WEFT_SET_UP=yes\n", encoding="utf-8")
    assert main([*command, *more, "--time-limit", "2h", "--setup", str(tmp_path / "setup.sh")]) == 0
    assert "submitted 12 points in" in capsys.readouterr().out
    wait_for_the_end(slurm)
    script = (slurm / "1.script").read_text(encoding="utf-8")
    for line in ("--partition=main", "--account=me", "--mem=954M", "--cpus-per-task=2", "--time=120", "--requeue"):
        assert f"#SBATCH {line}\n" in script
    assert "%1\n" in script
    assert "\nexport WEFT_SET_UP=yes\n" in script
    assert (status_of(out, capsys)["done"], status_of(out, capsys)["arrays"]) == (12, [])
    check_same(weft.open_results(out), weft.load(small).run(tmp_path / "reference"))
    before = finished(out)
    assert main(command) == 0
    assert "Jain index" in capsys.readouterr().out, "all is done: the table"
    assert finished(out) == before
    assert not list((out / ".claims").iterdir())


def test_the_sweeps_of_a_paper_are_jobs_and_the_same_command_then_judges_it(
    tmp_path: Path, slurm: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reproduction submits its sweeps to Slurm. When they are done, the same command judges the claims.

    The test uses the smallest experiment and no rules, because the paper's rules would take most of the test's time.
    """
    whole = registry.paper("tcep")
    (figure,) = whole.chosen(["5"])
    small = dataclasses.replace(
        whole,
        experiments=[each for each in whole.experiments if each.name == "root"],
        figures=[dataclasses.replace(figure, needs=("root",))],
        rules=dict.fromkeys(whole.rules, given("not judged here")),
    )
    monkeypatch.setattr(registry, "paper", lambda _: small)
    root = tmp_path / "out" / "runs" / "root"
    command = ["reproduce", "tcep", "--out", str(tmp_path / "out"), "--on", "slurm"]
    assert main(command) == 0
    output = capsys.readouterr().out
    assert output.startswith("submitted ")
    assert f"weft status {root}" in output
    wait_for_the_end(slurm)
    ((_, sweep),) = sweeps(small, out=tmp_path / "out")
    before = finished(root)
    assert len(before) == len({point.hash for point in sweep.points})
    assert main(command) == 0
    assert "by construction, of" in capsys.readouterr().out, "all is done: the scoreboard"
    assert finished(root) == before


def test_points_of_the_torus_paper_are_handed_over_once(
    tmp_path: Path, slurm: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """While jobs wait in the queue, the same command does not submit their points a second time."""
    (slurm / "hold").touch()
    command = ["reproduce", "torus", "--full", "--only", "allocator", "--out", str(tmp_path), "--on", "slurm"]
    assert main(command) == 0
    assert capsys.readouterr().out.startswith("submitted 10 points in ")
    ((folder, sweep),) = sweeps(registry.paper("torus"), quick=False, only=["allocator"], out=tmp_path)
    (array,) = arrays.arrays(folder)
    assert sorted(point for chunk in array.chunks for point in chunk) == sorted(point.hash for point in sweep.points)
    script = (slurm / f"{array.job}.script").read_text(encoding="utf-8")
    assert f"#SBATCH --job-name={array.name}\n" in script
    assert main(command) == 0
    assert len(list(slurm.glob("*.script"))) == 1


def test_jobs_of_all_papers_are_refused(slurm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "all", "--on", "slurm"]) == 2
    assert "submit each paper separately, by its name" in capsys.readouterr().err
    assert not list(slurm.glob("*.script"))


def test_points_that_are_with_jobs_are_not_handed_over_again(
    small: Path, tmp_path: Path, slurm: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    command = ["run", str(small), "--out", str(out), "--no-picture", "--on", "slurm", *QUICK]
    (slurm / "hold").touch()
    assert main(command) == 0
    assert main(command) == 0
    assert "submitted nothing: 12 points belong to jobs that were submitted before" in capsys.readouterr().out
    (array,) = status_of(out, capsys)["arrays"]
    assert (array["pending"], array["running"], array["reasons"]) == (array["jobs"], 0, ["Priority"])
    assert main(["run", str(small), "--out", str(out), "--no-picture"]) == 0
    assert "were submitted to Slurm (array 1)" in capsys.readouterr().err


def test_jobs_that_died_are_reported_and_their_points_handed_over_again(
    small: Path, tmp_path: Path, slurm: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    submit_and_lose(small, out, slurm)
    (array,) = status_of(out, capsys)["arrays"]
    assert array["ended"] == [
        f"job 1, 12 points missing: no log: the job ended before it started, or its node does not see {array['logs']}"
    ]
    main(["status", str(out)])
    go_on = capsys.readouterr().out.partition("continue  weft ")[2]
    (slurm / "hold").unlink()
    assert main(shlex.split(go_on)) == 0
    wait_for_the_end(slurm)
    assert len(weft.open_results(out)) == 12


def test_cancelled_jobs_end_and_keep_what_is_finished(
    small: Path, tmp_path: Path, slurm: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``weft cancel`` also works if Slurm does not answer, because jobs notice that their order was withdrawn."""
    out = tmp_path / "out"
    command = ["run", str(small), *SLOW, "--out", str(out), "--no-picture", "--on", "slurm", "--job-time", "10min"]
    assert main(command) == 0
    until = time.monotonic() + PATIENCE
    while not finished(out):
        assert time.monotonic() < until
        time.sleep(0.05)
    (slurm / "down").touch()
    assert main(["cancel", str(out)]) == 0
    text = capsys.readouterr().out
    assert "cancelled array 1" in text
    assert "Slurm did not receive the request" in text
    (slurm / "down").unlink()
    wait_for_the_end(slurm)
    kept = finished(out)
    assert 0 < len(kept) < 12
    assert beacon.at_work(out) == []
    assert main(["cancel", str(out)]) == 0
    assert "nothing to cancel" in capsys.readouterr().out
    assert main(command) == 0
    wait_for_the_end(slurm)
    assert {hash: time for hash, time in finished(out).items() if hash in kept} == kept
    assert len(weft.open_results(out)) == 12


def test_what_can_not_be_submitted_is_refused(
    small: Path, tmp_path: Path, slurm: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    command = ["run", str(small), "--out", str(out), "--on", "slurm"]

    def refused(*more: str) -> str:
        capsys.readouterr()
        assert main([*command, *more]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.count("error:") == said.err.count("= help:") == 1
        assert arrays.standing(Store(out)) == []
        return said.err

    assert "a point needs up to" in (text := refused("--memory", "100MB"))
    assert main([*command, "--no-picture", "--memory", text.partition("--memory ")[2].partition(")")[0]]) == 0
    wait_for_the_end(slurm)
    long = ["--set", "measure.window=100000000cycles", "--out", str(tmp_path / "long")]
    assert "but the time limit is 1:00" in (text := refused(*long, "--time-limit", "1min"))
    (slurm / "hold").touch()
    assert main([*command, *long, "--time-limit", text.partition("--time-limit ")[2].partition(")")[0]]) == 0
    assert "can't run points of 4 threads" in refused("--threads", "4", "--cpus", "2", "--out", str(tmp_path / "t"))
    (slurm / "refuse").write_text("sbatch: error: Batch job submission failed: Invalid partition name specified\n")
    said = refused("--partition", "nix", "--set", "seed=3", "--out", str(tmp_path / "refused"))
    assert "Slurm refuses the jobs: Batch job submission failed: Invalid partition name specified" in said
    assert not (tmp_path / "refused" / "jobs").exists()
    for more, words in (
        (["--jobs", "2"], "--cpus sets"),
        (["--force"], "a new folder"),
        (["--watch", "0:0"], "on this machine"),
    ):
        assert words in refused("--no-picture", *more)
    monkeypatch.setenv("PATH", "/nowhere")
    assert "there is no Slurm on this machine: sbatch is not found" in refused("--out", str(tmp_path / "none"))


def test_without_on_slurm_options_of_jobs_are_refused(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(small), "--partition", "main"]) == 2
    assert "also write --on slurm" in capsys.readouterr().err


def test_jobs_that_end_at_their_time_limit_go_on_from_checkpoints(
    small: Path, tmp_path: Path, slurm: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A job that Slurm queues again at its time limit continues from its checkpoint.

    If the process of a job is killed, a job of the next array continues from the checkpoint.
    """
    out, window = tmp_path / "out", "measure.window=1000000cycles"
    one = ["--set", "sweep=null", "--set", window]
    command = ["run", str(small), *one, "--out", str(out), "--no-picture", "--on", "slurm", "--time-limit", "1h"]
    assert main([*command, "--checkpoint-every", "10000cycles"]) == 0
    assert "--checkpoint-every 10000cycles" in status_of(out, capsys)["command"]
    end_a_job(out, signal.SIGUSR2, 500_000)
    assert list(slurm.glob("*.json")), "it is queued again"
    end_a_job(out, signal.SIGKILL, 500_000)
    wait_for_the_end(slurm)
    (kept,) = status_of(out, capsys)["checkpoints"]
    assert kept["cycle"] > 10000
    assert main(command) == 0, "what is there is used, also without further checkpoints"
    wait_for_the_end(slurm)
    check_same(
        weft.open_results(out),
        weft.load(small, overrides=dict(each.split("=") for each in one[1::2])).run(tmp_path / "ref"),
    )
    assert weft.open_results(out).run_info(0)["resumed"] == 2
    assert not (out / "checkpoints").exists()


def end_a_job(out: Path, how: signal.Signals, early: int) -> None:
    """Send a signal to a job that has written a checkpoint since it began, and wait until it has ended.

    The checkpoint must be before cycle `early`, far from the end of the point, so that the signal arrives before the
    point ends.
    """
    until, before = (
        time.monotonic() + PATIENCE,
        {path: path.stat().st_mtime_ns for path in out.glob("checkpoints/[!.]*")},
    )
    while not (0 < cycle_of(out) < early and written_since(out, before)):
        assert time.monotonic() < until
        time.sleep(0.01)
    (who,) = beacon.at_work(out)
    os.kill(who["pid"], how)
    while who in beacon.at_work(out):
        assert time.monotonic() < until
        time.sleep(0.01)


def written_since(out: Path, before: dict[Path, int]) -> bool:
    """Return whether a checkpoint has been written or changed since the times in `before`."""
    with suppress(FileNotFoundError):  # the file was removed in the meantime
        return any(path.stat().st_mtime_ns != before.get(path) for path in out.glob("checkpoints/[!.]*"))
    return False


def test_a_job_that_writes_checkpoints_may_reach_its_limit_once_without_one(tmp_path: Path) -> None:
    """A job may reach its time limit once without a new checkpoint, and is still queued again.

    A job writes a checkpoint at its time limit, but Weft sees it only at the next limit. If there is no new checkpoint
    then, the job makes no progress.
    """
    pytest.importorskip("submitit")
    store = Store(tmp_path)
    job = SlurmJob(Order(str(tmp_path), "order", How(checkpoint_every="1h")), ["a" * 16], 1, 300.0)
    again = []
    for cycle in (None, 10, 20, 20, 20, 20):
        job._begun = time.monotonic() - 290.0
        again.append(job.checkpoint() is not None)
        if cycle:
            kept = Kept(hash="a" * 16, build=build(), blocks=0, cycle=cycle, seconds=1.0, resumed=0)
            store.replace(f"checkpoints/{'a' * 16}-{build()}.checkpoint", json.dumps(vars(kept)) + "\n")
    assert again == [True, False, True, True, True, False]


SEARCH = ["--set", "traffic.pattern=tornado", "--tolerance", "0.1", "--no-picture"]


def test_a_search_for_saturation_is_one_job(
    small: Path, tmp_path: Path, slurm: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, here = tmp_path / "out", tmp_path / "here"
    command = ["saturation", str(small), *SEARCH, "--out", str(out), "--on", "slurm"]
    (slurm / "hold").touch()
    assert main([*command, "--cpus", "2"]) == 0
    assert "submitted the search as job 1\n" in capsys.readouterr().out
    assert main(command) == 0
    assert "submitted nothing: job 1 already searches in this folder" in capsys.readouterr().out
    again = weft.load(small, overrides={"traffic.pattern": "tornado"}).submit_saturation(out=out, tolerance=0.1)
    assert again.array
    assert (again.array.job, again.plan) == ("1", None)
    (array,) = status_of(out, capsys)["arrays"]
    assert (array["jobs"], array["pending"], array["ended"]) == (1, 1, [])
    for job in slurm.glob("*.json"):
        job.unlink()
    (array,) = status_of(out, capsys)["arrays"]
    assert "before the end of the search" in array["ended"][0]
    (slurm / "hold").unlink()
    assert main([*shlex.split(status_of(out, capsys)["command"].removeprefix("weft ")), "--out", str(out)]) == 0
    wait_for_the_end(slurm)
    assert main(["saturation", str(small), *SEARCH, "--out", str(here)]) == 0
    table = capsys.readouterr().out.rpartition("points   ")[0].splitlines()[-6:]
    before = finished(out)
    assert (out / "saturation.csv").read_bytes() == (here / "saturation.csv").read_bytes()
    assert (status_of(out, capsys)["missing"], status_of(out, capsys)["arrays"]) == (0, [])
    assert main(command) == 0
    assert capsys.readouterr().out.rpartition("points   ")[0].splitlines()[-6:] == table
    check_same(weft.open_results(out), weft.open_results(here))
    assert finished(out) == before


def test_a_search_goes_on_where_its_job_was_ended(
    small: Path, tmp_path: Path, slurm: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    slow = ["--set", "measure.window=200000cycles", "--set", "sweep=null"]
    command = ["saturation", str(small), *SEARCH, *slow, "--out", str(out), "--on", "slurm"]
    assert main([*command, "--checkpoint-every", "5000cycles", "--time-limit", "1h"]) == 0
    end_a_job(out, signal.SIGUSR2, 100_000)
    end_a_job(out, signal.SIGKILL, 100_000)
    wait_for_the_end(slurm)
    kept = finished(out)
    assert status_of(out, capsys)["checkpoints"]
    assert main(command) == 0
    wait_for_the_end(slurm)
    assert kept.items() <= finished(out).items()
    sets = {"traffic.pattern": "tornado", "measure.window": "200000cycles", "sweep": None}
    frame = weft.load(small, overrides=sets).saturation(tmp_path / "here", tolerance=0.1)
    assert weft.load(small, overrides=sets).saturation(out, tolerance=0.1).equals(frame)
    check_same(weft.open_results(out), weft.open_results(tmp_path / "here"))


def test_what_a_search_can_not_use_is_refused(
    small: Path, tmp_path: Path, slurm: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["saturation", str(small), *SEARCH, "--out", str(tmp_path / "out"), "--on", "slurm"]
    for more, words in [
        (["--job-time", "1h"], "remove --job-time"),
        (["--jobs", "2"], "--cpus sets"),
        (["--threads", "4", "--cpus", "2"], "can't run points of 4 threads"),
        (["--memory", "100MB"], "give jobs more memory (--memory"),
    ]:
        assert main([*command, *more]) == 2
        assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert not list(slurm.glob("*.json"))


def test_jobs_of_another_cluster_are_not_taken_for_dead(
    small: Path, tmp_path: Path, slurm: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """If jobs belong to another cluster, `squeue` of this cluster does not list them, although they may run."""
    out = tmp_path / "out"
    command = submit_and_lose(small, out, slurm)
    (slurm / "cluster").write_text("there")
    assert main(command) == 2
    said = capsys.readouterr().err
    assert "array 1 was submitted on the cluster 'here', but this is a machine of 'there'" in said
    (array,) = status_of(out, capsys)["arrays"]
    assert "on the cluster 'here'" in array["unasked"]
    remedy = said.partition("first, with `weft ")[2].partition("`")[0]
    assert main(shlex.split(remedy)) == 0
    assert "Slurm did not receive the request: array 1 was submitted on the cluster 'here'" in capsys.readouterr().out
    (slurm / "hold").unlink()
    assert main(command) == 0
    wait_for_the_end(slurm)
    assert len(weft.open_results(out)) == 12


def test_submitit_that_is_not_installed(
    small: Path, tmp_path: Path, slurm: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert slurm.exists()
    monkeypatch.setitem(sys.modules, "submitit", None)
    assert main(["run", str(small), "--on", "slurm", "--out", str(tmp_path / "out")]) == 2
    assert "pip install submitit" in capsys.readouterr().err


def test_a_job_that_does_not_see_the_folder_says_so(small: Path, tmp_path: Path, slurm: Path) -> None:
    out, away = tmp_path / "out", tmp_path / "away"
    (slurm / "hold").touch()
    submission = weft.load(small).submit(out=out)
    assert submission.array
    order, (chunk,) = submission.array.order, submission.array.chunks
    shutil.move(out, away)
    with pytest.raises(weft.WeftError, match=f"{socket.gethostname()} can't find .*does not see the folder"):
        order.points(chunk)


@pytest.mark.parametrize(
    ("ran", "seconds", "preempted", "fruitless", "again"),
    [
        (0, 235.0, False, 0, False),  # Slurm announces the time limit of 5 minutes when a fifth of the time is left
        (0, 235.0, True, 0, True),  # preempted late in the job
        (0, 10.0, False, 0, True),
        (1, 235.0, False, 5, True),  # slow, but not stuck
        (0, 10.0, True, 9, False),
    ],
)
def test_a_job_that_ends_early_is_queued_again_unless_that_is_no_use(
    ran: int, seconds: float, preempted: bool, fruitless: int, again: bool
) -> None:
    pytest.importorskip("submitit")
    job = SlurmJob(Order("folder", "order"), ["a", "b"], 1, 300.0, fruitless=fruitless)
    job._done, job._begun, job._preempted = Done(ran=["a"][:ran]), time.monotonic() - seconds, preempted
    assert (job.checkpoint() is not None) == again
    assert job.fruitless == (0 if ran else fruitless + 1)


@pytest.mark.parametrize("limit", ["90s", "14d", "123456789s"])
def test_the_command_that_goes_on_can_be_given(limit: str) -> None:
    given = _parser("run").parse_args(["run", "x.yaml", "--on", "slurm", "--time-limit", limit])
    again = _parser("run").parse_args(["run", "x.yaml", *_words(given)])
    assert (again.on, again.time_limit) == (given.on, given.time_limit)


@pytest.mark.usefixtures("slurm")
def test_an_order_on_its_way_to_slurm_is_not_withdrawn(small: Path, tmp_path: Path) -> None:
    sweep, store = weft.load(small), Store(tmp_path)
    store.write_manifest(sweep.named, sweep.points)
    for job, stands in [(None, True), ("7", False)]:
        order = Order(str(tmp_path), f"order-{job}")
        order.write(sweep.scenario, [()])
        arrays.Array(order, f"weft-{job}", "here", job, "2026-11-23T09:00:00+00:00", [[sweep.points[0].hash]]).write()
        assert arrays.under_way(store) == set()
        assert order.stands == stands
