"""Tests that other packages can add commands to ``weft`` by entry points, as `weft_papers` and `weft_peers` do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import weft
from weft.cli import commands

CORE = Path(weft.__file__).parent.parent
COMMAND = """\
def add(commands):
    commands.add_parser("greet", help="print a greeting").add_argument("name")


def main(options):
    print(f"good day, {options.name}")
    return 0
"""


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """Make a folder with an installed package that adds two commands.

    The first command works; the module of the second is missing.
    """
    (tmp_path / "greeter.py").write_text(COMMAND, encoding="utf-8")
    shown = tmp_path / "greeter-1.0.dist-info"
    shown.mkdir()
    (shown / "METADATA").write_text("Metadata-Version: 2.1\nName: greeter\nVersion: 1.0\n", encoding="utf-8")
    points = f"[{commands.GROUP}]\ngreet = greeter\nrun = greeter\nlost = greeter_lost\n"
    (shown / "entry_points.txt").write_text(points, encoding="utf-8")
    return tmp_path


def weft_with(outside: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": f"{CORE}:{outside}"}
    command = [sys.executable, "-m", "weft", *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_a_command_of_another_package_runs(outside: Path) -> None:
    done = weft_with(outside, "greet", "reader")
    assert (done.returncode, done.stdout, done.stderr) == (0, "good day, reader\n", "")


def test_a_command_of_the_core_is_not_replaced(outside: Path) -> None:
    done = weft_with(outside, "run", "--help")
    assert done.stdout.startswith("usage: weft run ")


def test_a_command_that_cannot_be_loaded_is_one_error(outside: Path) -> None:
    done = weft_with(outside, "lost")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: the command 'lost' of the package greeter can't be loaded: No module named 'greeter_lost'\n"
        "  = help: install the package again, or remove it: `pip uninstall greeter`\n"
    )


def test_a_command_that_cannot_be_loaded_does_not_stop_the_help(outside: Path) -> None:
    done = weft_with(outside, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "print a greeting" in done.stdout


def test_papers_and_other_simulators_add_their_commands() -> None:
    assert {"import", "reproduce", "validate"} == set(commands.names()) - set(commands.CORE)
