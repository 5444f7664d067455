"""Tests files that cannot be written: Weft reports one error with path, reason and remedy, and loses no earlier
results."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import weft
from weft import _engine
from weft.cli import main
from weft.errors import WriteError
from weft.results.store import Store, replaced

if TYPE_CHECKING:
    from weft._engine import Finished, Point

# Program that runs a command of Weft with a limit on file sizes, which has the same effect as a full disk. Python
# ignores the signal that the operating system sends at the limit.
LIMITED = """
import resource, sys, weft.cli
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
sys.exit(weft.cli.main(sys.argv[2:]))
"""


def under_limit(size: int, *words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", LIMITED, str(size), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("size", [0, 1500, 4000])
def test_a_run_whose_files_do_not_fit_says_so_and_keeps_what_is_there(small: Path, tmp_path: Path, size: int) -> None:
    """The disk is full when the run writes the list of points, a point, or the picture, depending on `size`.

    The run reports this in one error, and keeps finished points.
    """
    out, few = tmp_path / "out", ["--set", "sweep.traffic.load=[0.1]", "--set", "sweep.traffic.pattern=[uniform]"]
    shown = under_limit(size, "run", small, "--out", out, *few)
    assert shown.returncode == 2, shown.stderr
    assert "Traceback" not in shown.stderr
    assert shown.stderr.count("error: ") == shown.stderr.count("= help: ") == 1
    assert str(out) in shown.stderr
    assert "can't be written: the file is larger than the system allows" in shown.stderr
    assert not [path for path in out.rglob("*") if path.name.endswith(".part")]
    store = Store(out)
    assert all(store.sound(path.name) for path in out.glob("points/*"))
    assert main(["run", str(small), "--out", str(out), *few]) == 0, "what the help says works"


def test_results_stay_when_their_disk_is_full(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, sweep = tmp_path / "out", weft.load(small)
    before = sweep.run(out).frame

    def full(point: object, folder: Path) -> None:  # noqa: ARG001 - as `Finished.save` takes them
        # an error with the text that errors of the engine have
        raise OSError(errno.ENOSPC, "No space left on device (os error 28)")

    real = Store.save

    def save(self: Store, point: Point, _: Finished, run: dict[str, object]) -> None:
        class Full:
            stalled = None
            save = full

        real(self, point, Full(), run)  # type: ignore[arg-type] # has the used attributes of `Finished`

    monkeypatch.setattr(Store, "save", save)
    assert main(["run", str(small), "--out", str(out), "--force"]) == 2
    errors = capsys.readouterr().err
    assert "can't be written: the disk is full" in errors
    assert "finished points stay" in errors
    assert weft.open_results(out).frame.equals(before)


def test_an_old_result_comes_back_if_the_new_one_can_not_take_its_place(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = weft.load(small, overrides={"sweep.traffic.load": [0.1]})
    before = sweep.run(tmp_path).frame
    rename, moved = Path.rename, []

    def fail(path: Path, target: Path) -> Path:
        moved.append(target)
        if len(moved) == 2:
            raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(WriteError, match="your disk quota is used up"):
        sweep.run(tmp_path, force=True, jobs=1)
    monkeypatch.undo()
    assert weft.open_results(tmp_path).frame.equals(before)


PLACES = ["file", "file/below", "folder/report.html/below"]


@pytest.mark.parametrize("place", PLACES)
def test_a_file_where_a_folder_belongs_is_named(
    small: Path, tmp_path: Path, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "report.html").touch()
    out = tmp_path / place
    one = ["--set", "sweep.traffic.load=[0.1]"]
    for command in (["run"], ["saturation", "--tolerance", "0.5"], ["analyse", "oracle"]):
        words = [*command, str(small), *one, "--out", str(out if command != ["analyse", "oracle"] else out / "x.yaml")]
        assert main(words) == 2
        errors = capsys.readouterr().err
        assert errors.count("error: ") == errors.count("= help: ") == 1
        assert "is not a folder" in errors or "Not a directory" in errors, errors
        assert str(out) in errors
    assert (tmp_path / "file").read_bytes() == b""


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a folder of the system that takes no files")
def test_a_folder_of_the_system_is_reported_as_such(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for place in ("/proc/weft", "/sys/weft"):
        for command in (["run", str(small)], ["analyse", "oracle", str(small), "--set", "sweep=null"]):
            assert main([*command, "--out", place]) == 2
            errors = capsys.readouterr().err
            assert errors.count("error: ") == errors.count("= help: ") == 1
            assert place in errors
            assert f"{Path(place).parent} belongs to the system" in errors
            assert "permissions" not in errors


def test_a_report_and_a_picture_that_can_not_be_written_are_errors_of_weft(small: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    results = weft.load(small, overrides={"sweep.traffic.load": [0.1], "sweep.routing": ["ugal_p"]}).run(
        tmp_path / "out"
    )
    for write, name in ((results.report, "x.html"), (results.plot, "x.png")):
        for path in (tmp_path / "file" / name, Path("/proc/weft") / name, tmp_path / ("x" * 300 + name)):
            with pytest.raises(WriteError, match="can't be written") as raised:
                write(path)
            assert raised.value.help
    with pytest.raises(weft.WeftError, match=r"is not a path of a page"):
        results.report("a\0b.html")


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EACCES, "you have no permission to write there"),
        (errno.EROFS, "the disk is read-only"),
        (errno.ENAMETOOLONG, "the name is too long"),
        (errno.EIO, os.strerror(errno.EIO)),
    ],
)
def test_each_reason_is_reported_in_words(tmp_path: Path, number: int, words: str) -> None:
    """Weft reports each reason in words, whether Python or the engine raised the error."""
    for problem in (
        OSError(number, os.strerror(number)),
        OSError(number, f"{os.strerror(number)} (os error {number})"),
    ):
        with pytest.raises(WriteError, match=words) as raised, replaced(tmp_path / "file.txt"):
            raise problem
        assert "file.txt" in raised.value.what
        assert raised.value.help
    assert not list(tmp_path.iterdir())


def test_the_engine_raises_errors_with_the_number_of_the_system(small: Path, tmp_path: Path) -> None:
    finished = weft.load(small).points[0].run(1, 0, _engine.Control())
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    with pytest.raises(OSError, match="os error") as raised:
        finished.save(tmp_path / "file" / "point")
    assert raised.value.errno in (errno.ENOTDIR, errno.EEXIST)


def test_what_is_no_regular_file_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.html")
    with pytest.raises(WriteError, match="not a regular file"), replaced(tmp_path / "pipe.html"):
        pass
    assert (tmp_path / "pipe.html").is_fifo()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
def test_an_output_that_is_full_is_an_error() -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        command = [sys.executable, "-m", "weft", "list"]
        shown = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert shown.returncode == 2
    assert shown.stderr.startswith("error: standard output can't be written: the disk is full")
    assert "Traceback" not in shown.stderr
