"""Tests pinned threads: refusals, and the cores on which threads run."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

import weft
from weft._engine import Control
from weft.cli import main
from weft.errors import WeftError
from weft.runs.pinning import Cores, allowed

if TYPE_CHECKING:
    from pathlib import Path

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets threads be pinned")


def files(folder: Path) -> dict[str, bytes]:
    wanted = ("summary.json", "channels.parquet")
    return {f"{path.parent.name}/{path.name}": path.read_bytes() for path in folder.rglob("*") if path.name in wanted}


@linux
def test_results_are_those_of_threads_that_may_move(small: Path, tmp_path: Path) -> None:
    weft.load(small).run(tmp_path / "free", jobs=1)
    weft.load(small).run(tmp_path / "pinned", jobs=1, pin=True)
    assert files(tmp_path / "free")
    assert files(tmp_path / "pinned") == files(tmp_path / "free")


@linux
def test_a_thread_may_move_again_when_its_run_has_ended(small: Path) -> None:
    cores = allowed()
    control = Control()
    control.pin(cores[:1])
    with ThreadPoolExecutor(1) as pool:
        pool.submit(weft.load(small).points[0].run, 1, 0, control).result()
        assert pool.submit(os.sched_getaffinity, 0).result() == set(cores)


@linux
def test_points_that_run_at_the_same_time_have_cores_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {9, 3, 5, 7, 8})
    cores = Cores(2, 2)
    with cores.lent() as one, cores.lent() as other:
        assert sorted([one, other]) == [[3, 5], [7, 8]]
    with cores.lent() as again:
        assert again in ([3, 5], [7, 8])


@linux
def test_more_threads_than_cores_are_refused(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    out = ["--out", str(tmp_path / "out")]
    assert main(["run", str(small), "--pin", "--jobs", "2", "--threads", "2", *out]) == 2
    errors = capsys.readouterr().err
    assert (
        "2 points at a time with 2 threads each can't be pinned: they need 4 cores, but this process may use 2"
        in errors
    )
    assert "--jobs 1" in errors
    assert main(["run", str(small), "--pin", "--jobs", "1", "--threads", "3", *out]) == 2
    assert "--threads 2" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@linux
def test_a_core_that_is_not_there_is_refused(small: Path) -> None:
    control = Control()
    control.pin([max(allowed()) + 1000])
    with pytest.raises(WeftError, match="does not let a thread of this process run on core"):
        weft.load(small).points[0].run(1, 0, control)


def test_a_system_that_can_not_pin_is_refused(monkeypatch: pytest.MonkeyPatch, small: Path, tmp_path: Path) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    with pytest.raises(WeftError, match="threads can't be pinned"):
        weft.load(small).run(tmp_path / "out", pin=True)


def test_pinning_is_for_this_process(small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(small), "--pin", "--on", "slurm", "--out", str(tmp_path / "out")]) == 2
    assert "--pin can't be combined with --on slurm" in capsys.readouterr().err
    with ThreadPoolExecutor(1) as pool, pytest.raises(WeftError, match="pin is only for points in this process"):
        weft.load(small).run(tmp_path / "out", executor=pool, pin=True)
