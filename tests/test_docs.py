"""Tests statements in the documentation: commands and names exist, crates are listed, headers of models are complete,
and files are small."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import weft
from test_docs_site import commands as commands_of
from weft import _engine, cli
from weft.cli import EXIT_STATUS
from weft_docs.models import source
from weft_docs.warm import warm

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
PACKAGE = Path(weft.__file__).parent
# the `weft` command next to this Python interpreter, whatever the PATH is
WEFT = Path(sys.executable).parent / "weft"
HEADINGS = ("# Source", "# Parameters", "# Guarantees", "# Not modelled", "# Validation")
MAX_FILE_LINES = 800
# Pages about the code. Words in backticks on these pages must be names in the code, except for the words of the next
# list: names of other projects, placeholders, and files.
ABOUT_CODE = ["ARCHITECTURE.md", "python/weft/README.md"] + [
    path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "crates").glob("*/README.md"))
]
FOREIGN = {"Spanned", "_RouteEvaluate"}
PLACEHOLDERS = ("NAME", "FOLDER")
FILE = re.compile(r"[\w./-]+(/|\.(rs|py|js|md|toml|yaml|json|parquet|csv))")


def _commands(document: str) -> list[str]:
    text = (ROOT / document).read_text()
    return [
        line.split("#")[0].strip()
        for block in re.findall(r"```sh\n(.*?)```", text, re.S)
        for line in block.splitlines()
    ]


def test_names_of_the_code_in_pages_exist() -> None:
    """Each path and each identifier in backticks on these pages exists.

    The test searches a member such as `Block::step` in the files that define its type.
    """
    sources = {path: path.read_text() for suffix in ("*.rs", "*.py", "*.js", "*.toml") for path in _tracked(suffix)}
    sources |= {ROOT / "Makefile": (ROOT / "Makefile").read_text()}
    words = {word for text in sources.values() for word in re.findall(r"\w+", text)}
    code = "\n".join(sources.values())
    paths = "\n".join(f"/{path.relative_to(ROOT)}/" for path in _tracked("*"))
    texts = {page: re.sub(r"```.*?```", "", (ROOT / page).read_text(), flags=re.S) for page in ABOUT_CODE}
    unknown = []
    for name in sorted({name for text in texts.values() for name in re.findall(r"`([^`\n]+)`", text)} - FOREIGN):
        if any(placeholder in name for placeholder in PLACEHOLDERS):
            continue
        if FILE.fullmatch(name):
            known = f"/{name.rstrip('/')}/" in paths or name in code
        else:
            known = words.issuperset(re.findall(r"[A-Za-z_]\w*", name))
            for owner, member in re.findall(r"(\w+)::(\w+)", name):
                home = re.compile(rf"(struct|enum|trait|impl|impl\S* \w+ for|mod) {owner}\b")
                # the search for plain text is many times faster than the search for a pattern
                homes = [source for source in sources.values() if f" {owner}" in source and home.search(source)]
                known &= any(re.search(rf"\b{member}\b", source) for source in homes)
        if not known:
            unknown.append(name)
    absent = {page: [name for name in unknown if f"`{name}`" in text] for page, text in texts.items()}
    assert not unknown, f"pages name code that does not exist: {absent}"


def _tracked(pattern: str) -> list[Path]:
    listed = subprocess.run(["git", "ls-files", pattern], cwd=ROOT, capture_output=True, text=True, check=False)
    return [ROOT / name for name in listed.stdout.split()] or sorted(ROOT.glob(f"**/{pattern}"))


# Commands of pages that take minutes, with settings that make them short enough for a test.
SHORTER = {
    "reproduce tcep": "--only 3",
    "validate": "--filter 'torus8x8_uniform_1f 0.01$'",
    "saturation": "--tolerance 0.1",
    "run examples/quickstart.yaml --report": "--set 'sweep.traffic.load=[0.02, 0.1]' --out results/quickstart",
}


@pytest.fixture(scope="module")
def command() -> Iterator[Path]:
    """Make a command `weft` that starts without delay, and return its path."""
    with warm() as folder:
        yield folder / "weft"


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory, command: Path) -> Path:
    """Make a folder like the clone of a user who follows the README: files of the repository, the command, and the
    README's scenarios.

    Tests share the folder, so that each point runs only once.
    """
    tmp_path = tmp_path_factory.mktemp("clone")
    for name in ("examples", "experiments", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    (programs / "weft").symlink_to(command)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name, text in re.findall(r"[Ss]ave (?:this|it) as\s+`([\w.]+)`.*?```yaml\n(.*?)```", readme, re.S):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def _recipe(target: str) -> str:
    """Return the commands that the Makefile runs for a target."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    found = re.search(rf"^{target}:.*\n((?:\t.*\n)*)", makefile, re.M)
    assert found, f"the Makefile has no target {target}"
    return found[1].replace("$(BIN)", ".venv/bin")


def _run(command: str, folder: Path) -> str:
    """Run a command of a page in a folder, with shorter settings if it takes long, and return its output."""
    shown = command.strip().removeprefix(".venv/bin/").removeprefix("weft ")
    shorter = next((f" {more}" for begin, more in SHORTER.items() if shown.startswith(begin)), "")
    done = subprocess.run(
        ["bash", "-euc", f".venv/bin/weft {shown}{shorter}"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(PACKAGE.parent), "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_every_command_of_the_readme_works_in_the_order_in_which_it_stands(clone: Path) -> None:
    commands = [command for command in _commands("README.md") if command]
    assert len(commands) == 5, "make run, make test, and three of Weft"
    for shown in commands:
        words = shown.split()
        command = _recipe(words[1]) if words[0] == "make" else shown
        if ".venv/bin/weft" in command:  # other targets of the Makefile do not run commands of Weft
            _run(command, clone)
    assert (clone / "results" / "quickstart" / "report.html").is_file()


def test_every_example_of_the_help_works(clone: Path) -> None:
    """Each example of the help texts works, if it runs after the examples whose results it names."""
    _run("weft run examples/quickstart.yaml --report", clone)
    _run("weft run examples/faults.yaml --no-picture", clone)
    _run("weft run examples/bill.yaml --no-picture", clone)
    torus = "[{torus: {widths: [4, 4], terminals_per_router: 1, trunk_width: 4}}]"
    gaps = "sweep.traffic.workload.programs.program.collective.gap=[10us]"
    sets = f"--set 'sweep.topology={torus}' --set '{gaps}' --set 'sweep.seed=[1]'"
    _run(f"weft run examples/trunk_fabrics.yaml --no-picture --out results/trunk_fabrics {sets}", clone)
    _run("weft trace make examples/programs/inference_70b.yaml --out program.goal", clone)
    for command in commands_of(cli._parser(None)):
        _run((command.epilog or "").partition("\n")[0].removeprefix("Example: "), clone)


def test_the_python_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})


def test_the_output_in_the_readme_is_that_of_its_scenario(clone: Path) -> None:
    """The README shows the table of points that `weft run` prints for its scenario."""
    (shown,) = re.findall(r"```text\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S)
    assert shown in _run("weft run my.yaml --no-picture", clone)


def test_the_readme_fits_on_a_screen_or_two() -> None:
    assert (ROOT / "README.md").stat().st_size <= 5120


def test_the_page_of_commands_says_what_each_exit_status_means() -> None:
    rows = dict(re.findall(r"^\| (\d+) \| (.*) \|$", (ROOT / "docs" / "commands.md").read_text(encoding="utf-8"), re.M))
    for status, meaning in (each.split(" ", 1) for each in EXIT_STATUS.split(", ")):
        assert rows[status].startswith(meaning)


@pytest.mark.parametrize("text", re.findall(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text(), re.S))
def test_the_scenarios_of_the_readme_are_sound(tmp_path: Path, text: str) -> None:
    (tmp_path / "my.yaml").write_text(text)
    checked = subprocess.run([WEFT, "check", tmp_path / "my.yaml"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


def test_architecture_names_every_crate_and_no_other() -> None:
    table = re.findall(r"^\| `(\w+)` \|", (ROOT / "ARCHITECTURE.md").read_text(), re.M)
    assert sorted(table) == sorted(path.parent.name for path in (ROOT / "crates").glob("*/Cargo.toml"))


@pytest.mark.parametrize(
    ("family", "model"), [(family, model["name"]) for family, models in _engine.models().items() for model in models]
)
def test_every_model_has_its_headings(family: str, model: str) -> None:
    _check_header(source(ROOT, family, model))


def _check_header(path: Path) -> None:
    """Check that the header of a model has all headings, and that the files named under `Validation` exist."""
    header = [line for line in path.read_text().splitlines() if line.startswith("//!")]
    missing = [h for h in HEADINGS if f"//! {h}" not in header]
    assert not missing, f"{path} lacks {missing}"
    validation = " ".join(header[header.index("//! # Validation") :])
    named = [Path(name) for name in re.findall(r"`([\w/]+\.(?:rs|py|csv|md))`", validation)]
    assert named, f"{path} says nothing of what validates it"
    gone = [name for name in named if not any((at / name).is_file() for at in (ROOT, ROOT / "crates"))]
    assert not [
        name for name in gone if not (path.parent / name).is_file() and not (path.parent.parent / name).is_file()
    ]


def test_no_file_is_long() -> None:
    long = {
        str(p): n
        for p in _tracked("*.rs") + _tracked("*.py")
        if (n := len(p.read_text().splitlines())) > MAX_FILE_LINES
    }
    assert not long
