"""Tests imports between rooms (folders) of packages: a room imports only rooms below it, and imports form no cycle.

File names are unique in all packages.

The core package `weft` imports no other package of the project. Each other package imports only itself and the core.
The tests read all imports of every file: at its top, inside functions, for types only, and by `import_module`.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import weft

if TYPE_CHECKING:
    from collections.abc import Iterator

CORE = Path(weft.__file__).parent
# For each package, its rooms from the bottom to the top. A file may import from its own room, and from rooms on earlier
# lines. Rooms on the same line do not import each other. The last line has the files that are directly in the package.
ROOMS = {
    "weft": (
        ("_engine",),
        ("errors",),
        ("text",),
        ("cite",),
        ("scenario",),
        ("results",),
        ("runs",),
        ("analysis", "plot", "timeline", "programs"),
        ("report",),
        ("api", "design"),
        ("cli",),
        ("",),
    ),
    "weft_peers": (
        ("expressible",),
        ("booksim",),
        ("validate",),
        ("import_command", "validate_command"),
        ("",),
    ),
    "weft_papers": (
        ("common",),
        ("congestion", "flex", "ofar", "tcep", "torus"),
        ("registry",),
        ("command",),
        ("",),
    ),
}
PACKAGES = [CORE.parent / name for name in ROOMS]


def levels(package: Path) -> dict[str, int]:
    """Return the level of each room of a package."""
    return {room: level for level, rooms in enumerate(ROOMS[package.name]) for room in rooms}


def modules(package: Path) -> dict[str, Path]:
    """Return all files of a package by the dotted names of their modules, without the name of the package."""
    return {
        ".".join(part for part in path.relative_to(package).with_suffix("").parts if part != "__init__"): path
        for path in sorted(package.rglob("*.py"))
    }


def room(module: str) -> str:
    """Return the room of a module: the first part of its name."""
    return "" if module == "__main__" else module.partition(".")[0]


def names_imported(path: Path) -> Iterator[str]:
    """Yield the dotted names of all imports of a file. `from a import b` gives ``a.b``, even if `b` is not a module."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                assert level == 0, f"{path}: write the whole name of the module"
                yield from (f"{module}.{alias.name}" for alias in names)
            case ast.Call(func=ast.Name(id="import_module"), args=[ast.Constant(value=str(name))]):
                yield name
            case ast.Call(
                func=ast.Name(id="import_module"), args=[ast.JoinedStr(values=[ast.Constant(value=name), *_])]
            ):
                yield str(name).rstrip(".")


def imports(package: Path) -> dict[str, set[str]]:
    """Return, for each file of a package, its imports from the same package."""
    known, rooms = modules(package), levels(package)
    found: dict[str, set[str]] = defaultdict(set)
    for module, path in known.items():
        for name in names_imported(path):
            top, _, inside = name.partition(".")
            if top == package.name:
                found[module].add(inside if inside in known or inside in rooms else inside.rpartition(".")[0])
        found[module].discard(module)
    return found


def against_the_order(package: Path) -> list[str]:
    """Return text on each import from a room that is not below the importing room, and each room that `ROOMS` lacks."""
    level = levels(package)
    lines = [f"{module}: no line of ROOMS names its room" for module in modules(package) if room(module) not in level]
    for module, others in imports(package).items():
        here = room(module)
        for other in sorted(others):
            above = level.get(room(other), len(level)) >= level.get(here, len(level))
            lines += [f"{module} imports {other or package.name}"] if above and here != room(other) else []
    return lines


def circle(package: Path) -> list[str]:
    """Return the files of a cycle of imports; empty if there is none."""
    try:
        TopologicalSorter(imports(package)).prepare()
    except CycleError as problem:
        found: list[str] = problem.args[1]
        return found
    return []


def of_one_name(*packages: Path) -> dict[str, list[str]]:
    """Return names that several files have, with these files.

    Every package has an ``__init__.py``, which does not count.
    """
    by_name: dict[str, list[str]] = defaultdict(list)
    for package in packages:
        for path in modules(package).values():
            if path.name != "__init__.py":
                by_name[path.name].append(path.relative_to(package).as_posix())
    return {name: paths for name, paths in by_name.items() if len(paths) > 1}


def of_other_packages(package: Path) -> list[str]:
    """Return text on each import from another package of the project than the package itself and the core."""
    others = set(ROOMS) - {CORE.name, package.name}
    return [
        f"{module} imports {name}"
        for module, path in modules(package).items()
        for name in names_imported(path)
        if name.partition(".")[0] in others
    ]


@pytest.mark.parametrize("package", PACKAGES, ids=ROOMS)
def test_a_room_imports_only_rooms_below_it(package: Path) -> None:
    assert against_the_order(package) == []


@pytest.mark.parametrize("package", PACKAGES, ids=ROOMS)
def test_no_package_imports_another_than_the_core(package: Path) -> None:
    assert of_other_packages(package) == []


@pytest.mark.parametrize("package", PACKAGES, ids=ROOMS)
def test_no_files_import_in_a_circle(package: Path) -> None:
    assert circle(package) == []


def test_no_two_files_have_one_name() -> None:
    assert of_one_name(*PACKAGES) == {}


@pytest.mark.parametrize("package", PACKAGES, ids=ROOMS)
def test_every_room_of_the_order_exists(package: Path) -> None:
    known = modules(package)
    assert [name for name in levels(package) if name not in known and name != "_engine"] == []


def small_package(root: Path, files: dict[str, str]) -> Path:
    """Write a package named `weft` with these files, and with an empty ``__init__.py`` in each folder."""
    for name, text in files.items():
        path = root / "weft" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        for folder in (path.parent, root / "weft"):
            (folder / "__init__.py").touch()
        path.write_text(text, encoding="utf-8")
    return root / "weft"


@pytest.mark.parametrize(
    "text",
    [
        "from weft.plot import style",
        "from weft.plot.style import looks",
        "import weft.plot.style",
        "def later():\n    from weft.plot import style",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from weft.plot.style import looks",
        'from importlib import import_module\nimport_module("weft.plot.style")',
        'from importlib import import_module\nimport_module(f"weft.plot.{name}")',
        "import weft",
    ],
)
def test_an_import_against_the_order_is_found(tmp_path: Path, text: str) -> None:
    package = small_package(tmp_path, {"results/store.py": text, "plot/style.py": "looks = {}"})
    (shown,) = against_the_order(package)
    assert shown.startswith("results.store imports ")


def test_an_import_of_a_room_side_by_side_is_found(tmp_path: Path) -> None:
    package = small_package(tmp_path, {"plot/style.py": "from weft.analysis import paths", "analysis/paths.py": ""})
    assert against_the_order(package) == ["plot.style imports analysis.paths"]


def test_imports_that_the_order_allows_are_not_told(tmp_path: Path) -> None:
    files = {
        "plot/style.py": "import json\nfrom weft.results.store import Store\nfrom weft.plot import draw",
        "plot/draw.py": "from weft import _engine, errors",
        "results/store.py": "class Store: ...",
        "errors.py": "",
    }
    package = small_package(tmp_path, files)
    assert against_the_order(package) == []
    assert circle(package) == []


def test_a_room_without_a_place_in_the_order_is_found(tmp_path: Path) -> None:
    package = small_package(tmp_path, {"shed/tools.py": ""})
    assert "shed.tools: no line of ROOMS names its room" in against_the_order(package)


@pytest.mark.parametrize("text", ["import weft_papers", "def later():\n    from weft_peers.booksim import convert"])
def test_an_import_of_another_package_is_found(tmp_path: Path, text: str) -> None:
    package = small_package(tmp_path, {"results/store.py": text})
    (shown,) = of_other_packages(package)
    assert shown.startswith("results.store imports weft_p")


def test_a_circle_of_files_is_found(tmp_path: Path) -> None:
    files = {
        "plot/a.py": "from weft.report import b",
        "report/b.py": "def later():\n    from weft.plot import c",
        "plot/c.py": "from weft.plot import a",
    }
    assert set(circle(small_package(tmp_path, files))) == {"plot.a", "report.b", "plot.c"}


def test_two_files_of_one_name_are_found(tmp_path: Path) -> None:
    package = small_package(tmp_path, {"plot/frames.py": "", "report/frames.py": "", "report/page.py": ""})
    assert of_one_name(package) == {"frames.py": ["plot/frames.py", "report/frames.py"]}
