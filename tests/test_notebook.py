"""Tests notebooks: tables of results and sweeps, a progress bar while points run, and frames for pandas."""

from __future__ import annotations

import re
import sys
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import weft
from conftest import made
from weft.results.pandas_frame import unit
from weft.runs.execute import Status
from weft.runs.notebook_bar import NotebookBar, in_notebook, shown

if TYPE_CHECKING:
    from weft.api.results import Results

SCENARIO = """\
name: asleep <at> night
topology: {hyperx: {widths: [3], terminals_per_router: 4}}
routing: minimal
traffic: {pattern: tornado, packet: 2flits}
measure: {warmup: 100cycles, window: 500cycles, series: {every: 100cycles, of: channel}}
sweep:
  power.policy: [always_on, {idle_timeout: {idle: 20cycles, transition: 10cycles}}]
  traffic.load: [0.05, 1.0]
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder = tmp_path_factory.mktemp("notebook")
    return weft.load(SCENARIO).run(out=folder / "out")


def cells(html: str, tag: str = "td") -> list[str]:
    return re.findall(rf"<{tag}(?: [^>]*)?>(.*?)</{tag}>", html)


def test_results_show_a_row_per_point(results: Results) -> None:
    html = results._repr_html_()
    assert "4 points" in html
    assert "asleep &lt;at&gt; night" in html
    assert "<at>" not in html
    heads = cells(html, "th")
    assert heads[:3] == ["policy", "load", "latency [cycles]"]
    rows = [cells(row) for row in re.findall(r"<tr><td.*?</tr>", html)]
    assert [row[0] for row in rows] == ["always_on", "always_on", "idle_timeout", "idle_timeout"]
    full = [bool(summary["saturated"]) for summary in results.summaries]
    assert any(full)
    assert not all(full)
    assert [row[2] == "sat" for row in rows] == full
    assert "sat: saturated" in html
    assert rows[0][-1].endswith(" W")


def test_numbers_that_are_not_known_well_have_their_marks(tmp_path: Path) -> None:
    late = {"warmup_settled": False, "warmup_cycles": 100, "energy_per_bit_pj": 5.0}
    settled = {"warmup_settled": True, "warmup_cycles": 100}
    over = settled | {"saturated": True, "ending": "saturated", "energy_per_bit_pj": 7.0}
    html = made(tmp_path / "marks", [({"traffic.load": 0.1}, late), ({"traffic.load": 0.9}, over)])._repr_html_()
    rows = [cells(row) for row in re.findall(r"<tr><td.*?</tr>", html)]
    assert (rows[0][1], rows[0][4]) == ("20.0~", "5.0~")
    assert (rows[1][1], rows[1][4]) == ("sat", "7.0!")
    assert "~: measured before the network had settled" in html
    assert "!: per accepted bit" in html


def test_a_sweep_says_how_many_of_its_points_are_to_run(tmp_path: Path) -> None:
    sweep = weft.load(SCENARIO)
    assert "4 points to run" in sweep._repr_html_()
    half = weft.load(SCENARIO, overrides={"sweep.traffic.load": [0.05]})
    half.run(out=tmp_path / "out")
    assert "2 points, all finished" in half._repr_html_()
    (tmp_path / "out" / "points" / half.points[0].hash).rename(tmp_path / "gone")
    assert "2 points, 1 finished and 1 to run" in half._repr_html_()


def test_a_sweep_shows_what_it_sweeps_and_a_scenario_its_text() -> None:
    sweep = weft.load(SCENARIO)
    html = sweep._repr_html_()
    assert "4 points" in html
    assert cells(html)[2:] == ["traffic.load", "0.05, 1"]
    assert "terminals_per_router: 4" in html
    assert "terminals_per_router: 4" in sweep.scenario._repr_html_()


class Display(types.ModuleType):
    """A replacement of the module `IPython.display` that stores the objects that Weft shows."""

    def __init__(self) -> None:
        super().__init__("IPython.display")
        self.pictures: list[str] = []

    @staticmethod
    def HTML(html: str) -> str:  # noqa: N802 # the name that IPython has
        return html

    def display(self, html: str, *, display_id: bool) -> types.SimpleNamespace:
        assert display_id
        self.pictures.append(html)
        return types.SimpleNamespace(update=self.pictures.append)


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Display:
    """Replace IPython so that Weft detects a notebook, and return the replacement."""
    display = Display()
    shell = types.SimpleNamespace(kernel="a kernel")
    package = types.ModuleType("IPython")
    package.__dict__.update(get_ipython=lambda: shell, display=display)
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return display


def test_a_notebook_shows_a_bar_while_points_run(notebook: Display, tmp_path: Path) -> None:
    assert in_notebook()
    weft.load(SCENARIO).run(out=tmp_path / "out")
    assert all("<progress" in picture and "asleep &lt;at&gt; night" in picture for picture in notebook.pictures)
    assert 'value="1.000"' in notebook.pictures[-1]
    assert "4 of 4 points in" in notebook.pictures[-1]


def test_a_bar_shows_how_far_the_points_are(notebook: Display) -> None:
    with NotebookBar("sweep") as bar:
        bar(Status(total=4, done=1, reused=0, running=0.5))
    assert 'value="0.375"' in notebook.pictures[0]
    assert "1 of 4 points" in notebook.pictures[0]


def test_a_search_shows_a_bar_too(notebook: Display, tmp_path: Path) -> None:
    sweep = weft.load(SCENARIO, overrides={"power.policy": "always_on"})
    sweep.saturation(out=tmp_path / "out", tolerance=0.4)
    assert "saturation" in notebook.pictures[-1]


def test_no_bar_where_none_is_wanted(notebook: Display, tmp_path: Path) -> None:
    weft.load(SCENARIO).run(out=tmp_path / "out", watch=False)
    assert notebook.pictures == []


def test_outside_a_notebook_nothing_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert not in_notebook()
    with shown("sweep", None) as watch:
        assert watch is None


def test_units_are_those_of_the_documentation() -> None:
    text = (Path(__file__).parents[1] / "docs/reference/results.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?`) \| ([^|]*) \| [^|]* \|$", text, re.MULTILINE)
    known = 0
    for names, words in rows:
        columns = re.findall(r"`([^`]*)`", names)
        units = words.strip().split(", ") * (1 if ", " in words else len(columns))
        if len(units) != len(columns) or any(column.endswith("histogram") for column in columns):
            continue
        for column, wanted in zip(columns, units, strict=True):
            if wanted:
                assert unit(column.replace("*", "mean")) == wanted, column
                known += 1
    assert known > 60


def test_without_pandas_the_error_says_what_to_install(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(weft.ResultsError, match=r"python -m pip install pandas"):
        results.to_pandas()


def test_frames_for_pandas_have_no_objects(results: Results) -> None:
    pytest.importorskip("pandas")
    for table in ("points", "jobs", "channels", "series", "latencies"):
        frame: Any = results.to_pandas(table)
        assert len(frame) > 0
        assert not [name for name, kind in frame.dtypes.items() if str(kind) == "object"], table
    points: Any = results.to_pandas()
    assert list(points.columns) == results.frame.columns
    assert points["offered_load"].dtype == "float64"
    assert points["packets"].dtype == "int64"
    assert points["saturated"].dtype == "bool"
    assert list(points["power.policy"]) == results.frame["power.policy"].to_list()
    assert points.attrs["units"]["energy_per_bit_pj"] == "pJ/bit"
    with pytest.raises(weft.ResultsError, match="the tables are points"):
        results.to_pandas("nothing")


def test_what_is_missing_stays_missing_in_pandas(results: Results) -> None:
    pandas = pytest.importorskip("pandas")
    frame: Any = results.to_pandas(
        pl.DataFrame({"packets": [1, None], "settled": [True, None], "mean": [0.5, None], "word": ["a", None]})
    )
    assert [str(kind) for kind in frame.dtypes[:3]] == ["Int64", "boolean", "float64"]
    assert frame.iloc[1].isna().all()
    assert isinstance(frame["word"].dtype, pandas.StringDtype)
