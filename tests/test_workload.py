"""Tests tables and frames with jobs, batches, and measurements that end automatically."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import weft
from weft.cli import main

if TYPE_CHECKING:
    from pathlib import Path

JOBS = """\
topology: {hyperx: {widths: [4, 4], terminals_per_router: 4}}
routing: dimension_order
traffic:
  pattern: uniform
  load: 0.1
  jobs:
    - {name: steady, terminals: {range: [0, 31]}}
    - {name: burst, terminals: {range: [32, 63]}, load: 0.5, batch: {per_terminal: 20}}
measure: {warmup: 0cycles, window: 2000cycles}
sweep: {traffic.load: [0.05, 0.1]}
"""


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    """Write the file of a sweep with two points. Each point has two jobs, of which one ends."""
    path = tmp_path / "two.yaml"
    path.write_text(JOBS, encoding="utf-8")
    return path


def test_a_job_is_a_row(jobs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(jobs), "--out", str(tmp_path / "out")]) == 0
    output = capsys.readouterr().out
    lines = output.splitlines()
    head = lines.index("jobs") + 1
    assert lines[head].split()[:3] == ["traffic.load", "job", "terminals"]
    assert [line.split()[1:3] for line in lines[head + 2 : head + 6]] == [["steady", "32"], ["burst", "32"]] * 2
    # every terminal of the batch sends its 20 packets, which makes 640 in total
    assert lines[head + 3].split()[-2] == "640/640"
    assert lines[head + 2].split()[-1] == "-"
    assert "Jain index of the sources" in output
    assert (tmp_path / "out" / "jobs.csv").is_file()
    frame = weft.open_results(tmp_path / "out").jobs
    assert frame["job"].to_list() == ["steady", "burst"] * 2
    assert frame["traffic.load"].to_list() == [0.05, 0.05, 0.1, 0.1]


def test_what_ends_by_itself_says_when(small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sets = ["traffic.load=0.1", "routing=dimension_order", "measure.warmup=auto", "measure.window=5000cycles"]
    sets += ["measure.stop={confidence: {half_width: 0.05}}"]
    arguments = [word for each in sets for word in ("--set", each)]
    assert main(["run", str(small), "--out", str(tmp_path / "out"), *arguments]) == 0
    output = capsys.readouterr().out
    assert "warm-up settled in 2 of 2 points after " in output
    assert "requested confidence reached in 2 of 2 points" in output


def test_what_was_recorded_is_a_frame(small: Path, tmp_path: Path) -> None:
    recorded = {"measure.series": {"every": "100cycles"}, "measure.transient": {"bin": "100cycles"}}
    results = weft.load(small, overrides={"traffic.load": 0.1, **recorded}).run(tmp_path)
    assert results.series(0).height > 0
    assert results.transient(0).height > 0


def test_jobs_with_loads_of_their_own_have_no_saturation(jobs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = jobs.read_text().replace("[0, 31]}}", "[0, 31]}, load: 0.2}")
    jobs.write_text(text, encoding="utf-8")
    assert main(["saturation", str(jobs)]) == 2
    assert "remove the load of the jobs" in capsys.readouterr().err
