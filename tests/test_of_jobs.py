"""Tests results of jobs: latencies next to a saturated job, completion times of batches, and figures of single jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import weft
from weft.cli import main
from weft.errors import WeftError
from weft.plot import style
from weft.results import of_jobs, tables

if TYPE_CHECKING:
    from pathlib import Path

    from weft.api.results import Results

# The four terminals of a router of the heavy job share one link to the router with the complementary index. The light
# job uses other routers.
BESIDE = """\
topology: {hyperx: {widths: [4, 2], terminals_per_router: 4}}
links: {default: {latency: 10cycles, vcs: 6, buffer: 32flits}}
routing: dimension_order
traffic:
  jobs:
    - {name: heavy, terminals: {range: [0, 15]}, pattern: bit_complement, load: 1.0}
    - {name: light, terminals: {range: [16, 31]}, pattern: uniform, load: 0.1}
measure: {warmup: 500cycles, window: 2000cycles}
"""
ALONE = {"traffic.jobs.0.load": 0.0}

BATCH = """\
topology: {hyperx: {widths: [4], terminals_per_router: 2}}
routing: minimal
traffic: {pattern: uniform, batch: {per_terminal: 20}}
measure: {stop: {complete: {}}}
sweep: {routing: [minimal, ugal_p], seed: [1, 2, 3]}
"""


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return weft.load(BESIDE).run(out=tmp_path_factory.mktemp("jobs") / "beside")


@pytest.fixture(scope="module")
def batch(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return weft.load(BATCH).run(out=tmp_path_factory.mktemp("jobs") / "batch")


def test_a_job_next_to_a_saturated_one_has_its_latency(beside: Results, tmp_path: Path) -> None:
    (summary,) = beside.summaries
    assert summary["saturated"]
    _, light = summary["jobs"]
    assert of_jobs.signs(summary) == ["sat", of_jobs.NEXT_TO_MARK]
    assert light["missing_packets"] > 0
    lines = tables.jobs(beside)
    assert of_jobs.NEXT_TO in lines[0]
    cells = {line.split()[0]: line.split() for line in lines[3:]}
    assert cells["heavy"][4:6] == ["sat", "sat"]
    assert cells["light"][4] == f"{light['packet_latency_mean_cycles']:.1f}+"
    # the jobs share no router, so the light job has the same latency next to a job that sends nothing, except for
    # packets in flight at the end
    (alone,) = weft.load(BESIDE, overrides=ALONE).run(out=tmp_path / "alone").summaries
    own = alone["jobs"][1]
    assert own["missing_packets"] == 0
    assert light["packets"] + light["missing_packets"] == own["packets"]
    assert light["packet_latency_mean_cycles"] == pytest.approx(own["packet_latency_mean_cycles"], rel=0.01)
    assert beside.jobs["flaw"].to_list() == ["saturated", "without a flaw, but another job is saturated"]


def test_tables_for_documents_and_pages_say_the_same(beside: Results, tmp_path: Path) -> None:
    out = tmp_path / "jobs.md"
    assert main(["export", str(beside.root), "--table", "jobs", "--out", str(out)]) == 0
    rows = [
        line.split("|") for line in out.read_text(encoding="utf-8").splitlines() if "ight" in line or "eavy" in line
    ]
    assert sum("sat" in cell for cell in rows[0]) == 2
    assert any(cell.strip().endswith("+") for cell in rows[1])
    page = beside.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert of_jobs.NEXT_TO in page


def test_a_figure_of_latencies_shows_single_jobs(beside: Results, tmp_path: Path) -> None:
    histograms = [job["latency_histogram"] for job in beside.summaries[0]["jobs"]]
    for histogram, job in zip(histograms, beside.summaries[0]["jobs"], strict=True):
        assert sum(count for _, count in histogram) == job["packets"]
    drawing = beside.plot.figure("latency_ccdf", job="all")
    assert [str(line.get_label()) for line in drawing.axes[0].lines] == ["heavy (saturated)", "light"]
    line: Any
    (line,) = beside.plot.figure("latency_ccdf", job="light").axes[0].lines
    latencies, counts = np.asarray(histograms[1]).T
    assert line.get_xdata()[-1] == latencies[-1]
    assert line.get_ydata()[-1] == pytest.approx(counts[-1] / counts.sum())
    assert "all jobs together" in beside.plot.figure("latency_ccdf").plan.title
    out = tmp_path / "tail.png"
    assert main(["plot", "latency_ccdf", str(beside.root), "--job", "light", "--out", str(out)]) == 0
    assert pl.read_csv(tmp_path / "tail.png.csv")["series"].unique().to_list() == ["light"]
    with pytest.raises(WeftError, match="no job 'lihgt'") as absent:
        beside.plot.figure("latency_ccdf", job="lihgt")
    assert "heavy, light" in absent.value.help
    with pytest.raises(WeftError, match="shows all jobs of a point together"):
        beside.plot.figure("hops", job="light")


def test_the_answer_of_batches_is_their_completion(batch: Results, tmp_path: Path) -> None:
    assert batch.frame["load"].null_count() == len(batch)
    lines = tables.loads(batch).splitlines()
    rows = [line.split() for line in lines[5:]]
    assert [row[0] for row in rows] == ["minimal", "ugal_p"]
    for row, runs in zip(rows, (batch.summaries[:3], batch.summaries[3:]), strict=True):
        times = [run["completion_cycles"] for run in runs]
        assert row[1] == f"{np.mean(times):.0f}"
        # 4.303 is the 97.5 % quantile of Student's t with two degrees of freedom
        assert float(row[2]) == pytest.approx(4.303 * np.std(times, ddof=1) / np.sqrt(3), abs=0.51)
        assert row[3] == "480/480"  # 3 seeds, with 8 terminals and 20 packets each
    assert tables.jobs(batch) == []
    assert batch.plot(tmp_path / "plot.png").is_file()
    drawing = batch.plot.figure("jobs")
    assert [text.get_text() for text in drawing.axes[0].get_yticklabels()] == ["minimal", "ugal_p"]
    assert drawing.numbers is not None
    assert drawing.numbers["runs"].to_list() == [3, 3]
    with pytest.raises(WeftError, match="no load for an axis") as refused:
        batch.plot.figure("load")
    assert "plot jobs" in refused.value.help


def test_bars_of_many_series_differ() -> None:
    from weft.plot.jobs import _SERIES, _fill

    looks = {(fill["facecolor"], fill["hatch"]) for fill in map(_fill, range(_SERIES))}
    assert len(looks) == _SERIES == 2 * len(style.HATCHES)
