"""Tests the commands that messages propose. The tests run them in a shell, as a user would do by copying them."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import weft
from conftest import SMALL, made
from weft.cli import main

QUICK = "sweep: {traffic.load: [0.05, 0.1]}\n"
TEXT = SMALL.partition("sweep:")[0]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder whose name contains spaces and other special characters of the shell the current folder."""
    folder = tmp_path / "my (1) sweeps & 'more'"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def results(here: Path) -> str:
    """Run two points without recordings, and return their folder."""
    Path("my net.yaml").write_text(TEXT + QUICK, encoding="utf-8")
    weft.load("my net.yaml").run(here / "results [a]")
    return str(here / "results [a]")


def pasted(command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a shell in which `weft` means this installation of Weft."""
    script = f'weft() {{ {shlex.quote(sys.executable)} -m weft "$@"; }}\n{command}'
    return subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert main(list(words)) == 2
    errors = capsys.readouterr().err
    assert errors.count("error: ") == errors.count("= help: ") == 1
    return errors


@pytest.mark.parametrize(
    ("command", "after"),
    [
        (["plot", "transient", "{}", "--point", "0"], ["plot", "transient", "{}", "--point", "0"]),
        (["query", "{}", "select count(*) from series, link_states"], ["export", "{}", "--table", "series"]),
        (["analyse", "dvfs", "{}", "--over-time"], ["plot", "series", "{}", "--point", "0"]),
    ],
)
def test_what_was_not_recorded_is_recorded_in_a_folder_of_its_own(
    results: str, command: list[str], after: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The message prints a command that records the missing data in another folder.

    The next command of the test reads the folder that the message names.
    """
    shown = refused(capsys, *(word.format(results) for word in command))
    found = re.search(r"with results in another folder, (.*):\n\s*(weft run .*)", shown)
    assert found, shown
    done = pasted(found[2])
    assert done.returncode == 0, done.stderr
    assert weft.open_results(results).missing == 0, "the results that were there stay"
    words = [word.format(found[1]) for word in after]
    assert main([*words, "--out", "out.csv" if "export" in words else "out.png"]) == 0


def test_commands_that_name_a_folder(here: Path, results: str, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "no point").mkdir()
    empty = made(here / "no point", [])
    commands = [["compare", results, str(empty.root)], ["plot", results]]
    for command in commands:
        shown = re.search(r"`(weft status .*)`|e\.g\. (weft .*);", refused(capsys, *command))
        assert shown
        done = pasted(shown[1] or shown[2])
        assert done.returncode == 0, done.stderr


def test_a_choice_is_one_word_and_chooses(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A printed choice of a point is one word of the shell, and selects the point.

    In the sweep, values have brackets and spaces, keys have the same last part, and models differ only in options.
    """
    routings = ["{ugal_p: {threshold: 1flit}}", "{ugal_p: {threshold: 2flits}}"]
    axes = (
        f"  routing: [{', '.join(routings)}]\n  links.default.latency: [10cycles]\n  links.dim0.latency: [10cycles]\n"
    )
    Path("a.yaml").write_text(f"{TEXT}sweep:\n{axes}", encoding="utf-8")
    root = weft.load("a.yaml").run(here / "a b").root
    message = refused(capsys, "plot", "channel_heatmap", str(root))
    found = re.search(r"--point \d+ or (--point .*), in Python", message)
    assert found, message
    assert pasted(f"weft plot channel_heatmap {shlex.quote(str(root))} {found[1]}").returncode == 0
    message = refused(capsys, "compare", str(root), str(root), "--on", "seed")
    found = re.search(r"choose one: (.*)", message)
    assert found, message
    done = pasted(f"weft compare {found[1]} {found[1]} --on seed")
    assert done.returncode == 0, done.stderr
