"""Tests that an interrupted sweep continues with its missing points."""

from __future__ import annotations

import json
import random
import shlex
import shutil
import signal
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

import weft
from copies import Copy
from weft._engine import RESULT_MODEL_VERSION
from weft.cli import main
from weft.results.store import Store, replaced
from weft.runs.beacon import at_work
from weft.runs.execute import Status

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from weft._engine import Finished, Point

# A test that waits for another process fails after this time [s], which is long, because processes take 20 times as
# long on a busy machine.
PATIENCE = 600
# Length of a window [cycles] with which a point takes a tenth of a second: long enough to interrupt it in the middle.
SLOW = 20000
SHORT = {"measure.window": f"{SLOW}cycles"}


# Number of points that finish at most before a signal, even if the signal is late: the next point waits after its last
# cycle until it is stopped.
MOST = 5
LINGERS = f"""
import sys, time, weft.cli
from weft.runs.checkpoints import Checkpoints

usual, ended = Checkpoints.run, []

def run(own, point, clock, threads, blocks, control):
    result = usual(own, point, clock, threads, blocks, control)
    ended.append(point)
    while len(ended) > {MOST} and not control.stopped:
        time.sleep(0.005)
    return result

Checkpoints.run = run
"""
COMMAND = "import sys, weft.cli\nsys.exit(weft.cli.main(sys.argv[1:]))\n"
# A script as a user could write it, which reads the results of an unfinished sweep.
SCRIPT = """
sweep = weft.load(sys.argv[1], overrides={"measure.window": "20000cycles"})
try:
    sweep.run(sys.argv[2], jobs=1)
except KeyboardInterrupt:
    results = weft.open_results(sys.argv[2])
    print("kept", len(results), "missing", results.missing, "rows", results.frame.height)
"""


def start(small: Path, out: Path, command: str = "run", window: int = SLOW, before: str = "") -> Copy:
    """Start a slow run of the sweep in another process. `before` is code that runs before the sweep."""
    slow = ["--set", f"measure.window={window}cycles", "--jobs", "1"]
    return start_python(before + COMMAND, command, str(small), "--out", str(out), *slow)


def start_python(code: str, *arguments: str) -> Copy:
    return Copy(code, *arguments)


def wait_for_points(process: Copy, out: Path, count: int) -> None:
    wait_until(process, lambda: len(finished(out)) >= count)


def wait_until(process: Copy | subprocess.Popen[str], reached: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not reached():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < until
        time.sleep(0.005)


def finished(out: Path) -> dict[str, int]:
    """Return the hash of each finished point, with the time at which its summary was written."""
    summaries = out.glob("points/[!.]*/summary.json")  # a folder whose name begins with a dot is still being written
    return {path.parent.name: path.stat().st_mtime_ns for path in summaries}


@pytest.mark.parametrize("count", [0, 2])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_run_that_ends_early_loses_only_points_in_flight(
    small: Path, tmp_path: Path, how: signal.Signals, count: int
) -> None:
    out, reference = tmp_path / "out", tmp_path / "reference"
    with start(small, out, before=LINGERS) as process:
        wait_for_points(process, out, count)
        wait_until(process, lambda: bool(at_work(out)))
        process.send_signal(how)
        shown, _ = process.communicate(timeout=PATIENCE)
    before = finished(out)
    assert count <= len(before) < 12, "the signal came too late to test anything"
    assert process.returncode == (-signal.SIGKILL if how == signal.SIGKILL else 130), shown
    assert ("interrupted; run the same command again" in shown) == (how != signal.SIGKILL)
    assert "Traceback" not in shown
    store = Store(out)
    assert all(store.sound(hash) for hash in before), "no partial folder is taken for whole"
    assert at_work(out) == [], "nobody is at work any longer"

    statuses: list[Status] = []
    results = weft.load(small, overrides=SHORT).run(out, watch=statuses.append)
    assert statuses[0].reused == len(before)
    assert statuses[-1].done == statuses[-1].total == 12
    after = finished(out)
    assert {hash: after[hash] for hash in before} == before, "finished points were not run again"
    assert not list(out.glob(".running.*")), "what a killed run leaves is removed"
    if how == signal.SIGKILL and count:
        assert results.frame.equals(weft.load(small, overrides=SHORT).run(reference).frame)


def test_a_run_that_is_killed_again_and_again_comes_to_its_end(small: Path, tmp_path: Path) -> None:
    """The test kills a run 20 times at random times.

    Points take milliseconds, so some kills happen while the run writes files. Every third kill comes only after the run
    has finished another point.
    """
    out, draw = tmp_path / "out", random.Random(7)
    known: dict[str, int] = {}
    for kill in range(20):
        with start(small, out, window=3000) as process:
            if kill % 3 == 0 and len(known) < 12:
                wait_for_points(process, out, len(known) + 1)
                time.sleep(draw.uniform(0, 0.02))
            else:
                time.sleep(draw.uniform(0, 0.1))
            process.kill()
        now = finished(out)
        assert known.items() <= now.items(), "what was finished stays as it was"
        assert all(Store(out).sound(hash) for hash in now)
        known = now
    statuses: list[Status] = []
    results = weft.load(small, overrides={"measure.window": "3000cycles"}).run(out, watch=statuses.append)
    assert statuses[0].reused == len(known)
    assert results.frame.height == 12
    assert not list(out.rglob(".*.part")), "what the killed runs were writing is removed"
    never_killed = weft.load(small, overrides={"measure.window": "3000cycles"}).run(tmp_path / "reference")
    for path in never_killed.root.glob("points/*/*"):
        if path.name != "run.json":
            assert path.read_bytes() == (out / path.relative_to(never_killed.root)).read_bytes()


@pytest.mark.parametrize("command", ["run", "saturation"])
def test_ctrl_c_stops_soon_and_keeps_what_is_finished(small: Path, tmp_path: Path, command: str) -> None:
    out = tmp_path / "out"
    with start(small, out, command, before=LINGERS) as process:
        wait_for_points(process, out, 1)
        process.send_signal(signal.SIGINT)
        shown, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, shown
    assert "interrupted" in shown
    kept = finished(out)
    assert 1 <= len(kept) == len(weft.open_results(out))
    assert weft.open_results(out).missing >= 1
    assert not list(out.glob("points/.*")), "no half-written folder is left"
    with start(small, out, command, before=LINGERS) as process:
        wait_for_points(process, out, len(kept) + 1)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
    assert {hash: time for hash, time in finished(out).items() if hash in kept} == kept, "only the rest is run"


def test_ctrl_c_in_python_keeps_what_is_finished(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with start_python(LINGERS + SCRIPT, str(small), str(out)) as process:
        wait_for_points(process, out, 1)
        process.send_signal(signal.SIGINT)
        shown, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, shown
    kept = len(finished(out))
    assert shown.split() == ["kept", str(kept), "missing", str(12 - kept), "rows", str(kept)]


def test_a_rerun_runs_nothing(small: Path, tmp_path: Path) -> None:
    sweep = weft.load(small)
    sweep.run(tmp_path / "out")
    before = finished(tmp_path / "out")
    statuses: list[Status] = []
    sweep.run(tmp_path / "out", watch=statuses.append)
    assert finished(tmp_path / "out") == before
    assert statuses == [Status(total=12, done=12, reused=12, running=0.0)]


def test_force_runs_everything_again(small: Path, tmp_path: Path) -> None:
    sweep = weft.load(small)
    before = sweep.run(tmp_path / "out").frame
    times = finished(tmp_path / "out")
    after = sweep.run(tmp_path / "out", force=True).frame
    assert not set(times.items()) & set(finished(tmp_path / "out").items())
    assert after.equals(before), "the same scenario and seed give the same results"


def test_a_changed_scenario_runs_only_what_is_new(small: Path, tmp_path: Path) -> None:
    weft.load(small).run(tmp_path / "out")
    statuses: list[Status] = []
    small.write_text(small.read_text().replace("0.4]", "0.4, 0.2]"), encoding="utf-8")
    results = weft.load(small).run(tmp_path / "out", watch=statuses.append)
    assert statuses[0].reused == 12
    assert len(results) == 16


def test_the_folder_of_another_sweep_is_refused_before_anything_runs(
    small: Path, ring: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Weft refuses a results folder of another sweep.

    It accepts a folder that contains one of the sweep's points, or whose sweep has the same name.
    """
    out, one = tmp_path / "out", {"routing": "ugal_p", "traffic.pattern": "uniform"}
    weft.load(small, overrides=one | {"traffic.load": 0.1}).run(out)
    before = (out / "sweep.json").read_bytes()
    for words in (["run", "--watch", "0:0", "--"], ["saturation"]):
        assert main([*words[:1], "--out", str(out), *words[1:], str(ring)]) == 2
        printed = capsys.readouterr()
        assert f"{out} holds the results of another sweep" in printed.err
        assert "name another folder with --out" in printed.err
        assert (printed.out, (out / "sweep.json").read_bytes()) == ("", before)
    assert len(list(out.glob("points/*"))) == 1
    assert len(weft.load(small, overrides=one).run(out)) == 3
    small.write_text(small.read_text(encoding="utf-8").replace("seed: 1", "") + "seed: 2\n", encoding="utf-8")
    assert len(weft.load(small, overrides=one).run(out)) == 3


def test_writers_of_one_file_do_not_meet(tmp_path: Path) -> None:
    path, other = tmp_path / "plot.png", tmp_path / ".plot.png"
    other.write_text("a user's")
    with replaced(path) as first, replaced(path) as second:
        first.write_text("first")
        second.write_text("second")
    assert path.read_text() == "first", "the last to end is the outer one"
    with pytest.raises(UnicodeEncodeError), replaced(path) as third:
        third.write_text("third\udcff", encoding="utf-8")
    assert path.read_text() == "first"
    assert sorted(tmp_path.iterdir()) == [other, path]


def test_an_impossible_point_stops_all_before_the_first(small: Path, tmp_path: Path) -> None:
    small.write_text(small.read_text().replace("0.4]", "7]"), encoding="utf-8")
    with pytest.raises(weft.ScenarioError, match="load"):
        weft.load(small).run(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_damaged_point_is_run_again(small: Path, tmp_path: Path) -> None:
    sweep = weft.load(small)
    folders = sorted((sweep.run(tmp_path / "out").root / "points").iterdir())
    (folders[0] / "summary.json").write_text("{")
    (folders[1] / "channels.parquet").unlink()
    statuses: list[Status] = []
    results = sweep.run(tmp_path / "out", watch=statuses.append)
    assert statuses[0].reused == 10
    assert len(results) == 12
    assert results.frame.height == 12


class Unsaved:
    """A result that writes one file. If `full` is true, the disk is full after this file."""

    stalled = "stuck"

    def __init__(self, text: str, *, full: bool = False) -> None:
        self.text, self.full = text, full

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        (folder / "summary.json").write_text(self.text)
        if self.full:
            raise OSError("no space left")


def test_old_results_stay_until_new_ones_are_there(tmp_path: Path) -> None:
    store, point = Store(tmp_path), cast("Point", SimpleNamespace(hash="abc"))
    for number in (1, 2):
        summary = {"a": number, "result_model": RESULT_MODEL_VERSION, "ending": "drained", "saturated": False}
        store.save(point, cast("Finished", Unsaved(json.dumps(summary))))
        assert (store.summary("abc"), store.stall("abc")) == (summary, "stuck")
    with pytest.raises(weft.WriteError, match="no space"):
        store.save(point, cast("Finished", Unsaved("{", full=True)))
    assert store.summary("abc")["a"] == 2
    assert [path.name for path in (tmp_path / "points").iterdir()] == ["abc"]


def test_what_leaves_unfinished_points_out_says_so_and_how_to_go_on(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """For an unfinished sweep, commands for figures, exports and reports print a line with the command that runs the
    missing points.

    After that command has run, they print no such line.
    """
    out = tmp_path / "out"
    sets = ["--set", "sweep=null", "--set", "sweep.traffic.load=[0.05, 0.1]", "--set", "traffic.pattern=uniform"]
    assert main(["run", str(small), *sets, "--out", str(out), "--no-picture"]) == 0
    shutil.rmtree(min((out / "points").iterdir()))
    capsys.readouterr()
    uses = [
        ["plot", "load", str(out), "--out", str(tmp_path / "load.png")],
        ["export", str(out), "--out", str(tmp_path / "t.tex")],
        ["report", str(out), "--out", str(tmp_path / "r.html")],
    ]
    for use in uses:
        assert main(use) == 0
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"warning: {out}: 1 of 2 points is not finished, and left out; continue with: ")
    command = shlex.split(line.partition("continue with: ")[2])
    assert main([*command[command.index("run") :], "--no-picture"]) == 0
    capsys.readouterr()
    for use in uses:
        assert main(use) == 0
        assert capsys.readouterr().err == ""
