"""Installs only the metadata of Weft's package (name, version and commands), which the tests need, not the package.

The tests of ``make test`` use the package from the sources, with the engine that the Rust tests use. Compiling another
engine for a wheel would take minutes. ``make install`` replaces this metadata by the real wheel.
"""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path


def main() -> None:
    """Install a wheel with only the package's metadata, unless a package with the same commands is installed."""
    if _installed() != _wanted():
        with tempfile.TemporaryDirectory() as folder:
            install = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--no-deps"]
            subprocess.run([*install, "--force-reinstall", _wheel(Path(folder))], check=True)


def _installed() -> set[tuple[str, str]] | None:
    """Return name and value of each entry point of the installed package; ``None`` if it is not installed."""
    try:
        points = importlib.metadata.distribution("weft-sim").entry_points
    except importlib.metadata.PackageNotFoundError:
        return None
    return {(point.name, point.value) for point in points}


def _wanted() -> set[tuple[str, str]]:
    """Return the name and value of each entry point in ``pyproject.toml``."""
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {pair for group in (project["scripts"], *project["entry-points"].values()) for pair in group.items()}


def _wheel(folder: Path) -> Path:
    """Write the wheel, and return its path. pip accepts the wheel's list of files without sizes and checksums."""
    maturin = Path(sys.executable).parent / "maturin"
    subprocess.run(
        [maturin, "pep517", "write-dist-info", "--metadata-directory", folder, "--interpreter", sys.executable],
        stdout=subprocess.DEVNULL,
        check=True,
    )
    (shown,) = folder.glob("*.dist-info")
    tag = next(line for line in (shown / "WHEEL").read_text(encoding="utf-8").splitlines() if line.startswith("Tag: "))
    wheel = folder / f"{shown.stem}-{tag.removeprefix('Tag: ')}.whl"
    files = [path for path in shown.rglob("*") if path.is_file()]
    names = [path.relative_to(folder).as_posix() for path in files]
    record = f"{shown.name}/RECORD"
    with zipfile.ZipFile(wheel, "w") as written:
        for path, name in zip(files, names, strict=True):
            written.write(path, name)
        written.writestr(record, "".join(f"{name},,\n" for name in [*names, record]))
    return wheel


if __name__ == "__main__":
    main()
