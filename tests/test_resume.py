"""A sweep that was cut off goes on with what is missing."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

import weft
from weft._engine import RESULT_MODEL_VERSION
from weft.execute import Status
from weft.store import Store

if TYPE_CHECKING:
    from pathlib import Path

    from weft._engine import Finished, Point

# Long enough to be cut off in the middle: about a second a point.
SLOW = ["--set", "measure.window=100000cycles", "--jobs", "1"]


# What a person writes who wants the results of a sweep as far as it came.
SCRIPT = """
import sys, weft
sweep = weft.load(sys.argv[1], set={"measure.window": "100000cycles"})
try:
    sweep.run(sys.argv[2], jobs=1)
except KeyboardInterrupt:
    results = weft.open(sys.argv[2])
    print("kept", len(results), "missing", results.missing, "rows", results.frame.height)
"""


def start(small: Path, out: Path, command: str = "run") -> subprocess.Popen[str]:
    """Start a slow run of the sweep in another process."""
    code = "import sys, weft.cli; sys.exit(weft.cli.main(sys.argv[1:]))"
    return start_python(code, command, str(small), "--out", str(out), *SLOW)


def start_python(code: str, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def wait_for_points(process: subprocess.Popen[str], out: Path, count: int) -> None:
    until = time.monotonic() + 120
    while len(finished(out)) < count:
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < until
        time.sleep(0.01)


def finished(out: Path) -> dict[str, int]:
    """Time of writing of the summary of each finished point, by hash."""
    summaries = out.glob("points/[!.]*/summary.json")  # a name with a dot is a folder that is being written
    return {path.parent.name: path.stat().st_mtime_ns for path in summaries}


def test_a_killed_run_loses_only_points_in_flight(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with start(small, out) as process:
        wait_for_points(process, out, 2)
        process.send_signal(signal.SIGKILL)
    before = finished(out)
    assert 2 <= len(before) < 12, "the kill came too late to test anything"

    statuses: list[Status] = []
    short = {"measure.window": "100000cycles"}
    results = weft.load(small, set=short).run(out, watch=statuses.append)
    assert statuses[0].reused == len(before)
    assert statuses[-1].done == statuses[-1].total == 12
    assert len(results) == 12
    after = finished(out)
    assert {hash: after[hash] for hash in before} == before, "finished points were not run again"


@pytest.mark.parametrize("command", ["run", "saturation"])
def test_ctrl_c_stops_soon_and_keeps_what_is_finished(small: Path, tmp_path: Path, command: str) -> None:
    out = tmp_path / "out"
    with start(small, out, command) as process:
        wait_for_points(process, out, 1)
        process.send_signal(signal.SIGINT)
        told, _ = process.communicate(timeout=20)
    assert process.returncode == 130, told
    assert "interrupted" in told
    kept = finished(out)
    assert 1 <= len(kept) == len(weft.open(out))
    assert weft.open(out).missing >= 1
    assert not list(out.glob("points/.*")), "no half-written folder is left"
    with start(small, out, command) as process:
        wait_for_points(process, out, len(kept) + 1)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    assert {hash: time for hash, time in finished(out).items() if hash in kept} == kept, "only the rest is run"


def test_ctrl_c_in_python_keeps_what_is_finished(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with start_python(SCRIPT, str(small), str(out)) as process:
        wait_for_points(process, out, 1)
        process.send_signal(signal.SIGINT)
        told, _ = process.communicate(timeout=20)
    assert process.returncode == 0, told
    kept = len(finished(out))
    assert told.split() == ["kept", str(kept), "missing", str(12 - kept), "rows", str(kept)]


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
    """A result that writes one file, after which the disk may be full."""

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
        summary = {"a": number, "result_model": RESULT_MODEL_VERSION}
        store.save(point, cast("Finished", Unsaved(json.dumps(summary))))
        assert (store.summary("abc"), store.stall("abc")) == (summary, "stuck")
    with pytest.raises(OSError, match="no space"):
        store.save(point, cast("Finished", Unsaved("{", full=True)))
    assert store.summary("abc")["a"] == 2
    assert [path.name for path in (tmp_path / "points").iterdir()] == ["abc"]
