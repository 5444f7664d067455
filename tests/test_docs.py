"""Statements of the documents hold: commands exist, crates are named, models carry their headings, sizes stay small."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import weft
from weft import _engine
from weft.cli import EXIT_STATUS
from weft_docs.models import source

ROOT = Path(__file__).parent.parent
PACKAGE = Path(weft.__file__).parent
# the command that belongs to this interpreter, whatever the search path says
WEFT = Path(sys.executable).parent / "weft"
HEADINGS = ("# Source", "# Parameters", "# Guarantees", "# Not modelled", "# Validation")
MAX_FILE_LINES = 800
# Pages about the code, and in them: names of others, placeholders, and files.
ABOUT_CODE = ["ARCHITECTURE.md", "python/weft/README.md"] + [
    path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "crates").glob("*/README.md"))
]
FOREIGN = {"Spanned", "_RouteEvaluate"}
PLACEHOLDERS = ("NAME", "FOLDER")
FILE = re.compile(r"[\w./-]+(/|\.(rs|py|js|md|toml|yaml|json|parquet|csv))")


def test_names_of_the_code_in_pages_exist() -> None:
    """Each path and each identifier in backticks. A member is searched in the files that define its type."""
    sources = {path: path.read_text() for suffix in ("*.rs", "*.py", "*.js", "*.toml") for path in _tracked(suffix)}
    sources |= {ROOT / "Makefile": (ROOT / "Makefile").read_text()}
    words = {word for text in sources.values() for word in re.findall(r"\w+", text)}
    paths = [f"/{path.relative_to(ROOT)}" for path in _tracked("*")]
    texts = {page: re.sub(r"```.*?```", "", (ROOT / page).read_text(), flags=re.S) for page in ABOUT_CODE}
    unknown = []
    for name in sorted({name for text in texts.values() for name in re.findall(r"`([^`\n]+)`", text)} - FOREIGN):
        if any(placeholder in name for placeholder in PLACEHOLDERS):
            continue
        if FILE.fullmatch(name):
            known = any(
                f"{path}/".endswith(f"/{name.rstrip('/')}/") or f"/{name.rstrip('/')}/" in path for path in paths
            )
            known |= any(name in source for source in sources.values())
        else:
            known = words.issuperset(re.findall(r"[A-Za-z_]\w*", name))
            for owner, member in re.findall(r"(\w+)::(\w+)", name):
                home = re.compile(rf"(struct|enum|trait|impl|impl\S* \w+ for|mod) {owner}\b")
                known &= any(home.search(source) and re.search(rf"\b{member}\b", source) for source in sources.values())
        if not known:
            unknown.append(name)
    absent = {page: [name for name in unknown if f"`{name}`" in text] for page, text in texts.items()}
    assert not unknown, f"pages name code that does not exist: {absent}"


def _tracked(pattern: str) -> list[Path]:
    listed = subprocess.run(["git", "ls-files", pattern], cwd=ROOT, capture_output=True, text=True, check=False)
    return [ROOT / name for name in listed.stdout.split()] or sorted(ROOT.glob(f"**/{pattern}"))


def test_the_python_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})


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
    """The headings are there, and the tests under `Validation` exist."""
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
