"""Tests files of the package: type stubs that fit the module, lock files without host names, no local paths."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import weft
from weft import _engine

ROOT = Path(__file__).parent.parent
MINE = ["pyproject.toml", "Makefile", ".ci/run", "python", "tests", "crates/python"]


def test_the_stub_fits_the_module(tmp_path: Path) -> None:
    """The stub fits the compiled module.

    The check uses a package that has only the module and its stub. With all imports of Weft it would take ten times as
    long.
    """
    package = tmp_path / "weft"
    package.mkdir()
    (package / "__init__.py").touch()
    for file in Path(_engine.__file__).parent.glob("_engine.*"):
        (package / file.name).symlink_to(file)
    command = [sys.executable, "-m", "mypy.stubtest", "weft._engine"]
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    shown = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stdout + shown.stderr


def test_the_package_is_typed() -> None:
    assert (Path(weft.__file__).parent / "py.typed").is_file()


def test_locks_pin_every_package_and_name_no_host() -> None:
    for lock in (ROOT / "python").glob("*.lock"):
        for line in lock.read_text().splitlines():
            assert re.fullmatch(r"[A-Za-z0-9_.-]+==[\w.]+", line), f"{lock.name}: {line}"


def test_no_file_knows_this_machine() -> None:
    private = re.compile(r"/(?:home|root|work|Users)/\w")
    files = [file for name in MINE for file in [ROOT / name, *(ROOT / name).rglob("*")] if file.is_file()]
    for file in files:
        if file.suffix in {".py", ".pyi", ".rs", ".toml", ".md", ".lock", ""} and file != Path(__file__):
            assert not private.search(file.read_text(encoding="utf-8")), file
