"""Tests `weft reproduce all`: it makes a folder for each paper, and one page with all figures and scoreboards."""

from __future__ import annotations

import dataclasses
import json
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import weft
from weft.cli import main
from weft.runs.checkpoints import Checkpoints
from weft_papers import registry
from weft_papers.common import rules, scoreboard
from weft_papers.common.measured import Measured
from weft_papers.common.paper import Experiment, Figure
from weft_papers.common.reproduction import reproduce_all
from weft_papers.common.reproduction_plan import ReproductionPlan
from weft_papers.common.rules import given

if TYPE_CHECKING:
    from weft._engine import Finished, Point
    from weft.api.sweep import Sweep
    from weft.results.result_set import ResultSet
    from weft_papers.common.paper import Paper
    from weft_papers.common.reproduced import AllReproduced


# For each paper, the load of its only point.
LOADS = {"flex": 0.1, "torus": 0.3}
# A thread waits for a file at most for this time [s].
PATIENCE = 60


def small_sweep(load: float) -> Sweep:
    """Make a sweep with one small point."""
    return weft.load(
        {
            "topology": {"hyperx": {"widths": [2, 2], "terminals_per_router": 2}},
            "links": {"default": {"latency": "2cycles", "vcs": 2, "buffer": "8flits"}},
            "routing": "dimension_order",
            "traffic": {"pattern": "uniform", "load": load},
            "measure": {"warmup": "100cycles", "window": "100cycles"},
            "sweep": {"traffic.load": [load]},
        }
    )


def appears(path: Path) -> bool:
    """Wait until a file exists, and return whether it does."""
    for _ in range(PATIENCE * 100):
        if path.is_file():
            return True
        time.sleep(0.01)
    return False


def without_runs(paper: Paper) -> Paper:
    """Return the paper with only one table, which needs no run. Rules take long, so simple rules replace them."""
    tables = [each for each in paper.figures if each.rows and not each.needs]
    rules = {claim: given("not judged here") for claim in paper.rules}
    return dataclasses.replace(paper, experiments=[], figures=tables[:1], rules=rules)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> AllReproduced:
    papers = [without_runs(registry.paper(name)) for name in registry.PAPERS]
    return reproduce_all(papers, out=tmp_path_factory.mktemp("whole"))


def with_one_sweep(name: str) -> Paper:
    """Return a paper with one experiment, one table of its loads, and simple rules."""
    paper = registry.paper(name)
    table = Figure("loads", "Loads", None, ("small",), rows=lambda measured: measured["small"].select("load"))
    return dataclasses.replace(without_runs(paper), experiments=[Experiment("small")], figures=[table], frame=loads)


def loads(results: ResultSet) -> pl.DataFrame:
    """Return the loads of the points."""
    return pl.DataFrame({"load": [point["coordinates"]["traffic.load"] for point in results.points]})


def test_a_paper_is_drawn_while_the_next_one_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the test, the point of the second paper ends only when the report of the first paper exists.

    A second call runs no point again.
    """
    monkeypatch.setattr(ReproductionPlan, "_loaded", lambda plan, *_: small_sweep(LOADS[plan.paper.name]))
    waited: list[bool] = []
    real = Checkpoints.run

    def run(own: Checkpoints, point: Point, *how: Any) -> Finished:
        if point.coordinates["traffic.load"] == LOADS["torus"]:
            waited.append(appears(tmp_path / "flex" / "report.html"))
        return real(own, point, *how)

    monkeypatch.setattr(Checkpoints, "run", run)
    papers = [with_one_sweep(name) for name in LOADS]
    for _ in range(2):
        done = reproduce_all([*papers, without_runs(registry.paper("tcep"))], out=tmp_path, jobs=2)
        assert [each.paper.name for each in done.papers] == ["flex", "torus", "tcep"]
        drawn = [each.shown[0].files[0].read_text(encoding="utf-8") for each in done.papers[:2]]
        assert drawn == ["load\n0.1\n", "load\n0.3\n"]
    assert waited == [True]


def test_a_drawing_that_fails_ends_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ReproductionPlan, "_loaded", lambda plan, *_: small_sweep(LOADS[plan.paper.name]))
    first, second = (with_one_sweep(name) for name in LOADS)

    def rows(_: Measured) -> pl.DataFrame:
        raise ZeroDivisionError

    broken = dataclasses.replace(first, figures=[dataclasses.replace(first.figures[0], rows=rows)])
    with pytest.raises(ZeroDivisionError):
        reproduce_all([broken, second], out=tmp_path, jobs=2)
    assert (tmp_path / "torus" / "report.html").is_file()


def test_each_paper_has_a_folder_and_a_section(whole: AllReproduced) -> None:
    page = whole.page.read_text(encoding="utf-8")
    for each in whole.papers:
        assert each.file("report", ".html") == whole.root / each.paper.name / "report.html"
        assert each.file("report", ".html").is_file()
        assert f'<section id="{each.paper.name}">' in page
        assert f'href="{each.paper.name}/report.html"' in page
        assert all(f"<td>{row.claim.id}</td>" in page for row in each.rows)
    assert whole.command in page


def test_the_counts_are_those_of_each_scoreboard(whole: AllReproduced) -> None:
    document = json.loads((whole.root / "scoreboard.json").read_text(encoding="utf-8"))
    assert [each["count"] for each in document["papers"]] == [scoreboard.count(each.rows) for each in whole.papers]
    assert all(sum(each["count"].values()) == len(each["claims"]) for each in document["papers"])


def test_the_page_of_boards_counts_every_claim() -> None:
    """The documentation page with scoreboards has a line for each paper.

    Its counts by verdict add up to its number of claims.
    """
    page = (Path(__file__).parent.parent / "docs" / "boards.md").read_text(encoding="utf-8")
    lines = [line.strip("| ").split(" | ") for line in page.splitlines() if "(`" in line.split(" | ")[0]]
    counts = {re.findall(r"`(\w+)`", name)[0]: [int(cell) for cell in cells[1:-1]] for name, *cells in lines}
    assert counts.keys() == set(registry.PAPERS)
    for name, (*by_verdict, claimed) in counts.items():
        assert len(by_verdict) == len(rules.WORDS)
        assert sum(by_verdict) == claimed == len(registry.paper(name).rules), name


def test_every_figure_and_table_of_the_papers_has_a_drawing() -> None:
    """Each figure and table of the papers is reproduced.

    The test has the number of the last figure and of the last table of each paper. A figure with several parts has a
    letter after its number.
    """
    for name, (figures, tables) in {
        "tcep": (15, 2),
        "ofar": (7, 0),
        "flex": (17, 6),
        "congestion": (3, 1),
        "torus": (7, 2),
    }.items():
        known = {re.sub("(?<=[0-9])[a-f]$", "", each.name) for each in registry.paper(name).figures}
        wanted = {str(number) for number in range(1, figures + 1)}
        assert known >= wanted | {f"table{number}" for number in range(1, tables + 1)}, name


def test_a_figure_that_was_not_run_names_the_command_that_draws_it() -> None:
    nothing = Measured({}, quick=True)
    absent = {
        (paper.name, figure.name): scoreboard.lacking(paper, figure.needs, nothing)
        for paper in map(registry.paper, registry.PAPERS)
        for figure in paper.figures
        if figure.needs
    }
    assert all(absent.values())
    words = "the points of sets256.yaml are missing: run them with --only 6d 6e 6f 7b, or with --full"
    assert absent["torus", "6d"] == words
    assert absent["tcep", "own"] == "the points of own_policy.yaml are missing: run them with --full"
    both = "the points of single64.yaml and causes64 (single64.yaml) are missing"
    assert absent["torus", "causes"].startswith(both)


def test_a_cause_has_a_number_or_says_what_was_tried() -> None:
    for cause in ("the size: 64 nodes meet it", "not isolated: tried other seeds", rules.UNKNOWN):
        assert rules.stated(cause) == cause
    for cause in ("", "cause not isolated", "the paper does not say"):
        with pytest.raises(ValueError, match="a cause must name a change and its number"):
            rules.trend("more", lambda _: (False, "less"), cause=cause)


def test_figures_of_all_papers_can_not_be_chosen(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["reproduce", "all", "--only", "4", "--out", str(tmp_path / "out")]) == 2
    assert "--only names figures of one paper" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
