"""Tests that the next run removes files that killed processes left behind, but not files of living processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import weft
from weft.results import unfinished
from weft.results.store import replaced

if TYPE_CHECKING:
    from pathlib import Path

# Program that begins to write a file and the results of a point, reports this, and waits.
WRITER = """
import sys, time, pathlib, weft.results.unfinished as u
for path in map(pathlib.Path, sys.argv[1:]):
    part = u.beside(path)
    part.parent.mkdir(parents=True, exist_ok=True)
    (part.mkdir() or (part / "half").touch()) if not path.suffix else part.touch()
    # as the engine names the folder into which it writes first
    path.suffix or part.with_name(f".{part.name}.{1}.0.part").mkdir()
print("writing", flush=True)
time.sleep(60)
"""


def start(*paths: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", WRITER, *map(str, paths)], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    assert process.stdout.readline() == "writing\n"
    return process


def parts(root: Path) -> list[Path]:
    return sorted(root.rglob(".*.part"))


def test_the_next_run_clears_what_a_killed_one_left_and_nothing_else(small: Path, tmp_path: Path) -> None:
    root = tmp_path / "out"
    sweep = weft.load(small, overrides={"sweep.traffic.load": [0.1]})
    sweep.run(root)
    with start(root / "points" / "abc", root / "table.csv") as alive:
        living = parts(root)
        with start(root / "points" / "def", root / "sweep.json") as dead:
            assert len(parts(root)) == 2 * len(living) == 6
            dead.send_signal(signal.SIGKILL)
        sweep.run(root)
        assert parts(root) == living
        alive.kill()
    sweep.run(root)
    assert parts(root) == []


def test_a_figure_clears_what_was_left_of_itself_only(tmp_path: Path) -> None:
    with start(tmp_path / "plot.png", tmp_path / "other.png") as dead:
        dead.kill()
    (tmp_path / ".plot.png.part").write_text("a user's")
    with replaced(tmp_path / "plot.png") as partial:
        partial.write_text("new")
    assert [path.name.split("-")[0].rpartition(".")[0] for path in parts(tmp_path)] == [".other.png", ".plot.png"]
    assert (tmp_path / ".plot.png.part").read_text() == "a user's"


def test_a_process_that_got_the_number_of_a_dead_one_is_another(tmp_path: Path) -> None:
    part = unfinished.beside(tmp_path / "file.txt")
    machine, pid, start, rest = part.name.split("-")
    assert int(pid) == os.getpid()
    own = tmp_path / part.name
    reused = tmp_path / "-".join([machine, pid, str(int(start) + 1), rest])
    for path in (own, reused):
        path.touch()
    unfinished.clear(tmp_path)
    assert parts(tmp_path) == [own] if int(start) else [own, reused]


@pytest.mark.parametrize(("age", "stays"), [(60, True), (2 * 3600, False)])
def test_writers_on_other_machines_are_judged_by_the_age_of_what_they_write(
    tmp_path: Path, age: int, stays: bool
) -> None:
    """The same applies to unfinished files of older versions, whose names do not identify a process."""
    name = unfinished.beside(tmp_path / "file.txt").name
    pid = name.split("-")[1]
    elsewhere = f".file.txt.{'0' * 12}-{pid}-1-{'a' * 32}.part"
    for path in (tmp_path / elsewhere, tmp_path / f".file.txt.{'b' * 32}.part"):
        path.touch()
        os.utime(path, (path.stat().st_mtime - age,) * 2)
    unfinished.clear(tmp_path)
    assert len(parts(tmp_path)) == 2 * stays


def test_names_beside_long_names_are_not_too_long(tmp_path: Path) -> None:
    path = tmp_path / ("ü" * 120 + ".txt")
    with replaced(path) as partial:
        partial.write_text("new", encoding="utf-8")
    assert path.read_text(encoding="utf-8") == "new"
