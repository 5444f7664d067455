"""Tests the documentation site: it builds without a warning, and runs all commands, scenarios and notebooks."""

from __future__ import annotations

import argparse
import html
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
import yaml

import weft
from browser import Page, browser
from weft import _engine, cli
from weft.scenario import parameters
from weft_docs import live, recordings

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.glob("**/*.md") if "_generated" not in path.parts)
HEADINGS = ("Source", "Parameters", "Guarantees", "Not modelled", "Validation")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site as `make docs` does, with warnings as errors, and return its folder."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "--quiet", "--fresh-env"]
    command += ["--doctree-dir", str(folder / "trees"), str(DOCS), str(folder / "html")]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return folder / "html"


def _text(page: Path) -> str:
    """Return the text of an HTML page without its side bars."""
    body = re.search(r"<article.*?</article>", page.read_text(encoding="utf-8"), re.S)
    assert body, page
    return html.unescape(re.sub(r"<[^>]+>", "", body[0]))


def _headings(page: Path) -> list[str]:
    return re.findall(r"<h2>(.*?)<a", page.read_text(encoding="utf-8"))


def test_every_model_has_a_page_with_its_headings(site: Path) -> None:
    for family, models in _engine.models().items():
        for model in models:
            page = site / "_generated" / "models" / family / f"{model['name']}.html"
            assert _headings(page) == list(HEADINGS)
            words = _text(page)
            target = parameters.model(_engine.schema(), family, model["name"])
            target = parameters.target(_engine.schema(), target["items"]) if "items" in target else target
            missing = [key for key in target.get("properties", {}) if key not in words]
            assert not missing, f"{page}: {missing}"


def test_what_is_not_modelled_is_gathered(site: Path) -> None:
    words = _text(site / "wrong.html")
    for models in _engine.models().values():
        assert all(model["name"] in words for model in models)


def test_every_key_of_a_scenario_is_on_its_page(site: Path) -> None:
    words = _text(site / "_generated" / "reference" / "scenario.html")
    schema = _engine.schema()
    models = {model["name"] for models in _engine.models().values() for model in models}
    keys = {key for part in schema["$defs"].values() for key in part.get("properties", {})} | set(schema["properties"])
    # parameters of models are documented on the pages of the models, so the page of keys need not name them
    own = {
        key
        for family, named in _engine.models().items()
        for model in named
        for parameter in parameters.keys(schema, parameters.model(schema, family, model["name"]))
        for key in (parameter.key, *(inner.key.rsplit(".", 1)[-1] for inner in parameters.inner(schema, parameter)))
    }
    # `trace` is a key of the entries of `arrivals.list`, which docs/howto/queue.md shows
    assert not {key for key in keys - models - own - {"weight", "trace"} if not re.search(rf"\b{key}\b", words)}


def test_every_command_is_on_its_page(site: Path) -> None:
    helped = subprocess.run([sys.executable, "-m", "weft", "--help"], capture_output=True, text=True, check=True)
    commands = re.findall(r"^    (\w+) ", helped.stdout, re.M)
    headings = _headings(site / "_generated" / "reference" / "commands.html")
    assert len(commands) > 5
    assert {f"weft {command}" for command in commands} <= {re.sub(r"<[^>]+>", "", heading) for heading in headings}


def test_the_examples_of_the_help_are_sound() -> None:
    """The command line parser accepts the examples in the help texts, and files of `examples/` that they name exist."""
    for command in commands(cli._parser(None)):
        example = (command.epilog or "").partition("\n")[0].removeprefix("Example: ")
        words = shlex.split(example.split("|")[0].split(">")[0])
        assert words[0] == "weft", command.prog
        cli._parser(None).parse_args(words[1:])
        assert all((ROOT / word).exists() for word in words if word.startswith("examples/")), example


def commands(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield the parsers of all commands that a user can run; not those that only group subcommands."""
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    for action in below:
        for command in action.choices.values():
            yield from commands(command)
    if not below:
        yield parser


def test_every_command_of_the_page_of_questions_is_understood() -> None:
    """The page `commands.md` answers questions with commands.

    It names every command, with options that the parser accepts, except commands that only another page covers.
    """
    page = (DOCS / "commands.md").read_text(encoding="utf-8")
    shown = [line.removeprefix("weft ") for line in re.findall(r"`(weft [^`]+)`", page)]
    for command in shown:
        words = shlex.split(command)
        if words[1:]:
            cli._parser(None).parse_args(words)
    assert {command.split()[0] for command in shown} == set(cli.commands.names())


def test_every_example_is_sound_and_on_the_page_of_examples() -> None:
    page = (DOCS / "howto" / "examples.md").read_text(encoding="utf-8")
    for path in sorted((ROOT / "examples").glob("*.yaml")):
        weft.load(path).check()
        assert f"examples/{path.name}" in page, path.name


def test_the_gallery_has_pictures_in_light_and_dark_with_words(site: Path) -> None:
    """Each example of the gallery has a light and a dark picture, an alternative text, and below the picture its
    scenario."""
    page = (site / "index.html").read_text(encoding="utf-8")
    shots = (DOCS / "index.md").read_text(encoding="utf-8").count("```{shot}")
    assert shots >= 8
    for look in ("light", "dark"):
        found = re.findall(rf'<img alt="([^"]+)" class="only-{look}" src="([^"]+)"', page)
        assert len(found) == shots
        assert all(len(alt.split()) > 5 and (site / source).is_file() for alt, source in found)
    assert page.count("<summary>scenario and commands</summary>") == shots


def test_pages_fit_their_width_and_no_row_of_a_table_breaks(site: Path) -> None:
    """No page is wider than the window: wide output has its own scroll bar, and rows of output tables do not wrap."""
    breaking = "[...document.querySelectorAll('.output pre')].filter(p => getComputedStyle(p).whiteSpace != 'pre')"
    with browser() as driver:
        for width in (1280, 390):
            # the window of headless Chromium has a minimum width, so the test emulates the width
            metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
            for name in ("index", "howto/design"):
                page = Page(driver, site / f"{name}.html")
                assert page.ask("document.documentElement.scrollWidth") <= width, f"{name} at {width} pixels"
                assert not page.ask(f"{breaking}.length"), f"{name} at {width} pixels"
            assert page.ask("document.querySelectorAll('.output pre').length")
            # the first column, which stays visible when the table scrolls, leaves half of the width for the columns of
            # numbers
            page = Page(driver, site / "_pages" / "howto" / "design" / "designs.html")
            assert page.ask("document.querySelector('table.designs tbody > tr > :first-child').offsetWidth") < width / 2
            page = Page(driver, site / "index.html")
            assert page.ask("getComputedStyle(document.querySelector('.job')).paddingLeft") != "0px"
            assert page.ask("getComputedStyle(document.querySelector('.shot')).paddingLeft") != "0px"


def test_long_sentences_of_an_output_are_broken_and_rows_are_not() -> None:
    broken = live._broken("  " + " ".join(30 * ["word"]))
    assert [len(line) for line in broken] == [116, 38]
    assert broken[1].startswith("    word")
    assert live._broken(130 * " ") == [""]
    for whole in (f"a{130 * ' '}b", f"# {30 * 'word'}", '{"key": "' + 30 * "word " + '"}', 30 * "long"):
        assert live._broken(whole) == [whole]


def test_the_notebook_ran(site: Path) -> None:
    cells = (DOCS / "notebook.md").read_text().count("```{code-cell}")
    page = (site / "notebook.html").read_text(encoding="utf-8")
    assert page.count('class="cell_input') == cells
    assert page.count('class="cell_output') >= cells - 1
    assert "Traceback" not in page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_what_a_page_shows_without_running_it_is_the_installation(page: Path) -> None:
    """Pages show commands and files only in directives that run them during the build.

    Plain code blocks can contain only `make` commands and the activation of the virtual environment.
    """
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M)
    allowed = {f"make {target}" for target in targets} | {". .venv/bin/activate"}
    plain = re.findall(
        r"^```(?:sh|bash|console|python|yaml|json)\n(.*?)^```", page.read_text(encoding="utf-8"), re.S | re.M
    )
    assert {line.split("#")[0].strip() for block in plain for line in block.splitlines()} <= allowed


# The next tests compare the fields of results with those that the page on result files documents.

STATISTICS = ("mean", "ci95", "min", "max", "p50", "p90", "p95", "p99", "p99_9", "p99_99")


def _documented(table: str) -> set[str]:
    """Return the names in the first column of all tables whose first heading is `table`.

    A `*` in a name stands for each statistic.
    """
    text = (DOCS / "reference" / "results.md").read_text(encoding="utf-8") + "".join(recordings.pages().values())
    names: set[str] = set()
    for head, body in re.findall(r"^\| ([^|]+?) \|.*\n\|[-| ]+\n((?:\|.*\n)+)", text, re.M):
        if head == table:
            for row in body.splitlines():
                names.update(re.findall(r"`([\w*]+)`", row.split("|")[1]))
    assert names, table
    return {name.replace("*", one) for name in names for one in STATISTICS}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> weft.Results:
    """Run a point with all recordings and a point that stalls, and return their results."""
    everything: dict[str, Any] = {
        "flit": "64B",
        "congestion_control": {"dcqcn": {"mark_from": "64B", "mark_to": "1KB"}},
        "interface": {"queues": "per_destination"},
        "topology": {"torus": {"widths": [5], "terminals_per_router": 2}},
        "queueing": {"recn": {"queues": 1}},
        "links": {"default": {"latency": "1cycle", "vcs": 4, "buffer": "4flits"}, "terminal": {"vcs": 2}},
        "routing": "dimension_order",
        "traffic": {
            "packet": "4flits",
            "jobs": [
                {
                    "name": "ask",
                    "terminals": {"range": [0, 4]},
                    "pattern": "uniform",
                    "load": 0.1,
                    "reply": {"packet": "2flits"},
                },
                {"name": "send", "terminals": {"rest": {}}, "pattern": "uniform", "batch": {"per_terminal": 20}},
            ],
        },
        "power": {
            "policy": {"idle_timeout": {"idle": "20cycles", "transition": "10cycles"}},
            "router_price": {"static": "10W", "asleep": "1W", "per_port": "1W", "per_bit": "1pJ/bit"},
            "groups": {"by": "router"},
        },
        "measure": {
            "warmup": "200cycles",
            "window": "2000cycles",
        }
        | {shown["name"]: yaml.safe_load(shown["example"]) for shown in _engine.recordings()},
    }
    out = tmp_path_factory.mktemp("results")
    return weft.load(everything).run(out=out / "everything")


def test_every_key_of_a_summary_is_documented(results: weft.Results) -> None:
    (summary,) = results.summaries
    known = _documented("key") | {"warnings"}
    assert not set(summary) - known - {"jobs", "link_classes", "message_classes", "phases"}
    rare = {"stall_packets", "stall_wait_for", "stall_halted", "link_modes", "ideal_queues"}
    missing = {name for name in known - set(summary) - rare if not re.search("latency|energy|power_", name)}
    assert not missing
    assert {name for name in known if re.match("energy|power_", name)} <= set(summary)
    # each job of this run has a batch or replies, which add fields
    for job in summary["jobs"]:
        assert not set(job) - known - _documented("key of a job")
    assert _documented("key of a job") & {f"round_trip_{one}_cycles" for one in STATISTICS} <= set(summary["jobs"][0])
    assert set(summary["link_classes"][0]) == _documented("key of a link class")


def test_every_key_of_a_phase_is_documented(tmp_path: Path) -> None:
    phased: dict[str, Any] = {
        "topology": {"single_router": {"terminals": 4}},
        "routing": "minimal",
        "traffic": {"pattern": "uniform", "load": 0.1, "phases": [{"from": "500cycles", "load": 0.2}]},
        "measure": {"warmup": "100cycles", "window": "1000cycles"},
    }
    _, second = weft.load(phased).run(out=tmp_path / "phased").summaries[0]["phases"]
    assert set(second) == _documented("key of a phase")


def test_every_key_of_faults_is_documented(tmp_path: Path) -> None:
    failing: dict[str, Any] = {
        "topology": {"torus": {"widths": [4], "terminals_per_router": 2}},
        "routing": "dimension_order",
        "traffic": {"pattern": "uniform", "load": 0.1},
        "measure": {"warmup": "100cycles", "window": "2000cycles"},
    }
    plain = weft.load(failing).run(out=tmp_path / "plain").summaries[0]
    failing["faults"] = [{"router": 1, "at": "900cycles", "until": "1200cycles"}]
    summary = weft.load(failing).run(out=tmp_path / "failing").summaries[0]
    assert set(summary) - set(plain) == _documented("key with faults")
    assert all(set(part) == _documented("key of a fault part") for part in summary["fault_parts"])
    assert set(summary["fault_episodes"][0]) == _documented("key of a fault episode")


def test_every_key_of_a_stall_is_documented(ring: Path, tmp_path: Path) -> None:
    (summary,) = weft.load(ring, overrides={"traffic.load": 1.0}).run(out=tmp_path / "stalled").summaries
    assert (
        {"stall_packets", "stall_wait_for", "stall_halted"}
        <= set(summary)
        <= _documented("key") | {"jobs", "link_classes", "message_classes", "phases", "warnings"}
    )


@pytest.mark.parametrize("table", ["channels", "groups", *_engine.RECORDS])
def test_every_column_of_a_table_is_documented(results: weft.Results, table: str) -> None:
    columns = set(pl.read_parquet(results.folder(0) / f"{table}.parquet").columns)
    assert _documented(f"column of {table}") - ({"link_class"} if table == "series" else set()) == columns


def test_every_key_and_column_of_a_program_is_documented(tmp_path: Path) -> None:
    ring: dict[str, Any] = {"collective": {"operation": "all_reduce", "ranks": 4, "bytes": "1KiB"}}
    running: dict[str, Any] = {
        "topology": {"single_router": {"terminals": 4}},
        "routing": "minimal",
        "traffic": {"packet": "8flits", "workload": {"programs": {"program": ring}}},
    }
    results = weft.load(running).run(out=tmp_path / "running")
    (job,) = results.summaries[0]["jobs"]
    assert set(job) <= _documented("key") | _documented("key of a job")
    assert {"run_time_cycles", "messages", "flow_completion_max_cycles"} <= set(job)
    running["traffic"]["workload"] = {"scheduler": {"traces": [{"name": "ring", "programs": {"program": ring}}]}}
    scheduled = weft.load(running).run(out=tmp_path / "scheduled")
    for ran, tables in (
        (results, ("ranks", "collectives")),
        (scheduled, ("ranks", "collectives", "schedule", "utilisation")),
    ):
        for table in tables:
            columns = set(pl.read_parquet(ran.folder(0) / f"{table}.parquet").columns)
            assert columns == _documented(f"column of {table}")


def test_every_key_of_run_json_is_documented(results: weft.Results) -> None:
    document = json.loads((results.folder(0) / "run.json").read_text(encoding="utf-8"))
    assert set(document) == _documented("key of run.json")
