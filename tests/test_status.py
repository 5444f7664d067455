"""Tests `weft status`, which shows the progress of a sweep, also while another process runs it."""

from __future__ import annotations

import json
import os
import socket
import time
from statistics import fmean
from typing import TYPE_CHECKING, Any

import pytest

import weft
from test_resume import start, wait_until
from weft.cli import main
from weft.results.result_set import ResultSet
from weft.results.store import Store
from weft.runs.beacon import Beacon, at_work, clear
from weft.runs.execute import Flight, Status

if TYPE_CHECKING:
    from pathlib import Path

    from weft.api.results import Results


def status_of(folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["status", str(folder), "--json"]) == 0
    read: dict[str, Any] = json.loads(capsys.readouterr().out)
    return read


def test_a_finished_sweep(small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = weft.load(small).run(tmp_path / "out")
    found = status_of(results.root, capsys)
    assert {key: found[key] for key in ("points", "done", "missing", "damaged")} == {
        "points": 12, "done": 12, "missing": 0, "damaged": 0
    }  # fmt: skip
    assert found["endings"] == {"drained": 11, "saturated": 1}
    assert found["point_seconds_mean"] == pytest.approx(fmean(results.run_info(n)["seconds"] for n in range(12)))
    assert (found["running"], found["damage"]) == ([], [])
    assert main(["status", str(results.root)]) == 0
    text = capsys.readouterr().out
    assert "12 of 12 done" in text
    assert "11 drained, 1 saturated" in text
    assert "\n  continue " not in text


def test_stalled_missing_and_damaged_points_are_counted(
    ring: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = weft.load(ring, overrides={"sweep.traffic.load": [0.01, 0.02, 1.0]}).run(tmp_path / "out")
    (results.folder(0) / "summary.json").write_text("{")
    for path in results.folder(1).iterdir():
        path.unlink()
    results.folder(1).rmdir()
    found = status_of(results.root, capsys)
    assert (found["points"], found["done"], found["missing"], found["damaged"]) == (3, 1, 1, 1)
    assert found["endings"] == {"stalled": 1}
    assert found["damage"][0]["coordinates"] == {"traffic.load": 0.01}
    main(["status", str(results.root)])
    text = capsys.readouterr().out
    assert "1 of 3 done, 1 missing, 1 damaged" in text
    assert "traffic.load = 0.01: " in text
    assert f"continue  {results.command}" in text


def test_a_run_elsewhere_is_seen(small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    window = 400_000  # a run reports its progress once a second; with this window it lasts longer
    with start(small, out, window=window) as process:
        wait_until(process, lambda: bool(at_work(out)) and bool(at_work(out)[0]["flying"]))
        found = status_of(out, capsys)
        (run,) = found["running"]
        assert (run["host"], run["pid"]) == (socket.gethostname(), process.pid)
        assert run["total"] == found["points"] == 12
        (flight,) = run["flying"]
        assert flight["hash"] in {point["hash"] for point in Store(out).manifest()["points"]}
        assert flight["cycles"] == pytest.approx(flight["fraction"] * (500 + window))
        main(["status", str(out)])
        text = capsys.readouterr().out
        process.kill()
    assert f"process {process.pid}, since " in text
    assert f"  {flight['words']}: " in text
    assert status_of(out, capsys)["running"] == [], "a killed run is not at work"


def test_a_run_on_another_machine_is_believed_for_a_minute(tmp_path: Path) -> None:
    flight = Flight("abc", "0.3", 0.5, 100, 1.0, 1.0)
    with Beacon(Store(tmp_path)) as beacon:
        beacon(Status(3, 1, 0, 0.5, [flight], 2.0))
        (path,) = tmp_path.glob(".running.*")
        who = json.loads(path.read_text()) | {"host": "elsewhere", "pid": 2**22 + 1}
        other = tmp_path / ".running.other.json"
        other.write_text(json.dumps(who))
        assert {each["host"] for each in at_work(tmp_path)} == {"elsewhere", socket.gethostname()}
        os.utime(other, times=(time.time() - 61, time.time() - 61))
        assert [each["host"] for each in at_work(tmp_path)] == [socket.gethostname()]
    assert at_work(tmp_path) == []
    clear(tmp_path)
    assert not other.exists(), "the next run clears away what died"


@pytest.mark.parametrize("key", ["flying", "total", "left_seconds", "hash"])
def test_what_another_version_says_of_its_run_is_left_alone(
    made_up: Results, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with Beacon(Store(made_up.root)) as beacon:
        beacon(Status(3, 1, 0, 0.5, [Flight("abc", "0.3", 0.5, 100, 1.0, None)], None))
        (path,) = made_up.root.glob(".running.*")
        who = json.loads(path.read_text())
        assert len(status_of(made_up.root, capsys)["running"]) == 1
        for place in (who, *who["flying"]):
            place.pop(key, None)
        for written in (who, [who], who | {"flying": [{"altitude": 3}]}):
            path.write_text(json.dumps(written))
            assert main(["status", str(made_up.root)]) == 0
            assert status_of(made_up.root, capsys)["running"] == []


def test_a_clock_of_this_machine_that_is_ahead_kills_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Beacon(Store(tmp_path)) as beacon:
        beacon(Status(3, 1, 0, 0.5))
        ahead = time.time() + 3600
        monkeypatch.setattr(time, "time", lambda: ahead)
        assert len(at_work(tmp_path)) == 1
    assert not list(tmp_path.iterdir())


def test_a_second_run_in_a_folder_is_warned(small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = Store(tmp_path / "out")
    store.root.mkdir()
    with Beacon(store) as beacon:
        beacon(Status(3, 1, 0, 0.0))
        assert main(["run", str(small), "--out", str(store.root), "--no-picture"]) == 0
    printed = capsys.readouterr()
    assert f"process {os.getpid()}, also runs points in {store.root}" in printed.err
    assert "picture" not in printed.out
    assert not (store.root / "plot.png").exists()
    assert main(["run", str(small), "--out", str(store.root)]) == 0
    assert "also runs points" not in capsys.readouterr().err


def test_a_search_for_saturation_has_status_queries_and_comparisons(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    sets = {"traffic.pattern": "tornado", "routing": "dimension_order", "measure.window": "2000cycles"}
    words = [word for path, value in sets.items() for word in ("--set", f"{path}={value}")]
    assert main(["saturation", str(small), "--tolerance", "0.1", "--out", str(out), *words]) == 0
    found = status_of(out, capsys)
    assert found["done"] == found["points"] >= 4
    assert found["command"].startswith(f"weft saturation {small} --set traffic.pattern=tornado")
    capsys.readouterr()
    sql = 'select max("traffic.load") from points where not saturated'
    assert main(["query", str(out), sql, "--json"]) == 0
    (steady,) = json.loads(capsys.readouterr().out)[0].values()
    frame, store = weft.load(small, overrides=sets).saturation(out, tolerance=0.1), Store(out)
    assert steady == frame["steady_load"].item()
    assert ResultSet(store).missing == 0
    assert main(["compare", str(out), str(out)]) == 0


def test_a_folder_without_results_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", str(tmp_path)]) == 2
    assert "has no results" in capsys.readouterr().err


def test_status_finds_what_a_run_finds(small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`weft status` detects the same damage of files as a run.

    The test changes one byte of each file in turn; sizes stay the same.
    """
    sweep = weft.load(small, overrides={"sweep.traffic.load": [0.1], "sweep.traffic.pattern": ["uniform"]})
    results = sweep.run(tmp_path / "out")
    for path in sorted(path for path in results.folder(0).iterdir() if path.name != "run.json"):
        whole = path.read_bytes()
        path.write_bytes(whole[:-20] + bytes([whole[-20] ^ 1]) + whole[-19:])
        found = status_of(results.root, capsys)
        assert (found["done"], found["damaged"]) == (1, 1), path
        assert path.name in found["damage"][0]["reason"]
        assert main(["status", str(results.root)]) == 0
        assert "1 damaged" in capsys.readouterr().out
        statuses: list[Status] = []
        sweep.run(results.root, watch=statuses.append)
        assert statuses[0].reused == 1, "a run finds it, too, and mends it"
        assert status_of(results.root, capsys)["damaged"] == 0
