"""Tests the template for a Rust crate with models outside this repository, and engines that other packages offer."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import weft
from weft import _engine

ROOT = Path(__file__).parent.parent
CORE = Path(weft.__file__).parent.parent


def made(folder: Path, *more: str, name: str = "my_models") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "template" / "new.py"), name, str(folder), *more]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def crate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template") / "crate"
    done = made(folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_all_names_are_filled_in(crate: Path) -> None:
    files = [path for path in crate.rglob("*") if path.is_file()]
    assert crate / "python" / "my_models" / "__init__.py" in files
    assert not [path for path in files if "{{" in path.read_text()]
    assert not [path for path in files if path.name in {"new.py", "cargo-generate.toml"}]


def test_cargo_generate_leaves_out_what_new_py_leaves_out() -> None:
    """`cargo generate` omits the same files as `new.py`.

    Its key `ignore` omits files; its key `exclude` would copy them without filling in names.
    """
    shown = tomllib.loads((ROOT / "template" / "cargo-generate.toml").read_text())["template"]
    assert shown == {"ignore": ["new.py", "target"]}


def test_its_readme_has_steps_that_need_no_path(crate: Path) -> None:
    """The steps in the README of a new crate use the programs of Weft's virtual environment, and pip does not search a
    package index for Weft."""
    steps = re.search(r"```sh\n(.*?)```", (crate / "README.md").read_text(), re.S)
    assert steps
    programs = [line.split()[0] for line in steps[1].splitlines()]
    assert programs == ["cargo", *(f"{ROOT}/.venv/bin/{name}" for name in ("maturin", "pip", "weft", "weft"))]
    assert "pip install --no-deps dist/*.whl" in steps[1]


def test_its_steps_use_profiles_that_it_has(crate: Path) -> None:
    """The steps in the README, and on the site's page, use only build profiles that the crate has.

    Packages whose code runs in every cycle are optimised as in this repository.
    """
    pages = (crate / "README.md").read_text() + (ROOT / "docs" / "howto" / "rust_model.md").read_text()
    own, ours = (tomllib.loads((of / "Cargo.toml").read_text())["profile"] for of in (crate, ROOT))
    used = set(re.findall(r"--profile (\w+)", pages))
    assert used == {"quick"} <= set(own)
    assert own["quick"]["package"]["weft-kernel"] == ours["quick"]["package"]["weft-kernel"]
    for name in (name for name in own["quick"]["package"] if name.startswith("weft-")):
        assert (ROOT / "crates" / name.removeprefix("weft-") / "Cargo.toml").is_file()


def test_its_dependencies_are_crates_of_this_repository(crate: Path) -> None:
    for manifest in (crate / "Cargo.toml", crate / "engine" / "Cargo.toml"):
        shown = tomllib.loads(manifest.read_text())
        needs = shown["dependencies"] | shown.get("dev-dependencies", {})
        paths = {name: Path(need["path"]) for name, need in needs.items() if name.startswith("weft-")}
        assert paths
        for name, path in paths.items():
            assert tomllib.loads((path / "Cargo.toml").read_text())["package"]["name"] == name
    own, ours = (tomllib.loads(path.read_text()) for path in (crate / "Cargo.toml", ROOT / "Cargo.toml"))
    assert own["package"]["edition"] == ours["workspace"]["package"]["edition"]
    assert own["dependencies"]["rand_pcg"] == ours["workspace"]["dependencies"]["rand_pcg"]["version"]
    # the crate must use the same version of the Python bindings as the engine
    needs = [tomllib.loads((path / "Cargo.toml").read_text()) for path in (crate / "engine", ROOT / "crates/python")]
    assert needs[0]["dependencies"]["pyo3"] == needs[1]["dependencies"]["pyo3"]


def test_its_module_is_the_one_that_it_offers(crate: Path) -> None:
    project = tomllib.loads((crate / "pyproject.toml").read_text())
    module = project["tool"]["maturin"]["module-name"]
    assert project["project"]["entry-points"]["weft.engine"] == {"my_models": module}
    assert f"fn {module.rpartition('.')[2]}(" in (crate / "engine/src/lib.rs").read_text()


def test_each_model_has_a_header_a_line_and_a_suite(crate: Path) -> None:
    added = dict(re.findall(r'add_model! \{ \w+: "(\w+)" => (\w+)', (crate / "src/lib.rs").read_text()))
    assert sorted(added) == sorted(path.stem for path in (crate / "src").glob("*.rs") if path.stem != "lib")
    tests, scenario = (crate / "tests/conformance.rs").read_text(), (crate / "scenario.yaml").read_text()
    for name, model in added.items():
        text = (crate / "src" / f"{name}.rs").read_text()
        for heading in ("Source", "Parameters", "Guarantees", "Not modelled", "Validation"):
            assert f"//! # {heading}\n" in text
        assert f'::<{model}>("{name}"' in tests
        assert name in scenario
    assert not {model["name"] for models in _engine.models().values() for model in models} & set(added)
    assert yaml.safe_load(scenario)


def test_a_git_repository_can_take_the_place_of_the_folder(tmp_path: Path) -> None:
    assert made(tmp_path / "crate", "--git", "https://example.org/weft.git", "--rev", "abc").returncode == 0
    text = (tmp_path / "crate/Cargo.toml").read_text() + (tmp_path / "crate/engine/Cargo.toml").read_text()
    assert 'weft-api = { git = "https://example.org/weft.git", rev = "abc" }' in text
    assert ROOT.as_posix() not in text


def test_bad_names_and_folders_are_refused(tmp_path: Path) -> None:
    for done, what in [
        (made(tmp_path / "new", "--git", "https://example.org/weft.git"), "--git and --rev must be given together"),
        (made(tmp_path), "exists"),
        (made(tmp_path / "new", name="My-Models"), "is not a valid name for a crate"),
    ]:
        assert done.returncode == 2
        assert what in done.stderr


def offer(folder: Path, name: str, code: str) -> None:
    """Create files of an installed package that offers an engine by an entry point."""
    (folder / f"{name}.py").write_text(code)
    shown = folder / f"{name}-1.0.dist-info"
    shown.mkdir()
    (shown / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (shown / "entry_points.txt").write_text(f"[weft.engine]\n{name} = {name}\n")


# A module that a package offers: Weft's engine with another version number.
ENGINE = f"""\
import importlib.util

spec = importlib.util.spec_from_file_location("weft._engine", {_engine.__file__!r})
engine = importlib.util.module_from_spec(spec)
spec.loader.exec_module(engine)
globals().update(vars(engine) | {{"VERSION": "0.1.0+more", "__name__": __name__}})
"""


def weft_with(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": f"{CORE}:{folder}"}
    command = [sys.executable, "-m", "weft", *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def installed(folder: Path, version: str) -> None:
    """Create the metadata of an installed Weft with this version."""
    shown = folder / f"weft_sim-{version}.dist-info"
    shown.mkdir()
    (shown / "METADATA").write_text(f"Metadata-Version: 2.1\nName: weft-sim\nVersion: {version}\n")


def test_a_package_offers_an_engine(tmp_path: Path) -> None:
    installed(tmp_path, "0.1.0+more")
    offer(tmp_path, "more_models", ENGINE)
    done = weft_with(tmp_path, "--version")
    assert done.stdout.startswith("weft 0.1.0+more"), done.stderr
    assert weft_with(tmp_path, "list", "routing").returncode == 0


def test_an_engine_of_another_version_is_refused(tmp_path: Path) -> None:
    installed(tmp_path, "0.2.0")
    offer(tmp_path, "more_models", ENGINE)
    done = weft_with(tmp_path, "list", "routing")
    assert done.returncode == 2
    assert "can't be loaded: it was built for Weft 0.1.0+more, but Weft 0.2.0 is installed" in done.stderr
    assert "build it again with this version of Weft, or remove it: pip uninstall more_models" in done.stderr
    assert "Traceback" not in done.stderr


def test_two_engines_and_a_broken_one_are_refused(tmp_path: Path) -> None:
    offer(tmp_path, "broken_models", "import nothing_there\n")
    done = weft_with(tmp_path, "list")
    assert done.returncode == 2
    assert "the engine of the package broken_models can't be loaded: No module named 'nothing_there'" in done.stderr
    offer(tmp_path, "more_models", ENGINE)
    done = weft_with(tmp_path, "list")
    assert done.returncode == 2
    assert "broken_models and more_models both provide an engine" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.long
def test_the_crate_conforms_and_its_wheel_runs_a_scenario(crate: Path, tmp_path: Path) -> None:
    """A crate made from the template passes the conformance tests, and its wheel runs a scenario.

    Cargo builds the crate against this repository, with the lock file and the compiled packages of the repository.
    """
    target = os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target"))
    (crate / "Cargo.lock").write_bytes((ROOT / "Cargo.lock").read_bytes())
    more = {"CARGO_TARGET_DIR": target, "CARGO_PROFILE_DEV_DEBUG": "0", "PYO3_PYTHON": sys.executable}
    environment = os.environ | more

    def run(*command: str | Path) -> str:
        done = subprocess.run(command, cwd=crate, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("cargo", "test", "--quiet")
    maturin = Path(sys.executable).parent / "maturin"
    run(maturin, "build", "--profile", "dev", "--out", tmp_path / "dist", "--interpreter", sys.executable)
    (wheel,) = (tmp_path / "dist").glob("my_models-*.whl")
    run(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", tmp_path / "installed", wheel)
    done = weft_with(tmp_path / "installed", "list", "routing")
    assert "highest_first" in done.stdout, done.stderr
    done = weft_with(tmp_path / "installed", "run", str(crate / "scenario.yaml"), "--out", str(tmp_path / "results"))
    assert done.returncode == 0, done.stderr
    results = weft.open_results(tmp_path / "results")
    assert [summary["routing"] for summary in results.summaries] == ["shortest_path", "highest_first"]
    assert {summary["policy"] for summary in results.summaries} == {"nap"}
