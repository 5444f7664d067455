"""Compares runs with coarse flits (grains) and with fine flits, which must agree in load, latency and power."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import weft
from weft.cli import main
from weft.results import tables

if TYPE_CHECKING:
    from pathlib import Path

    from weft.api.results import Results

SCENARIO = """\
name: grain
link_speed: 512Gb/s
flit: 64B
topology: {torus: {widths: [4, 4], terminals_per_router: 1}}
links: {default: {latency: 128ns, vcs: 4, buffer: 512flits}}
routing: dimension_order
traffic: {pattern: uniform, packet: 64flits, load: 0.2}
measure: {warmup: 12800ns, window: 256us}
sweep: {grain: [null, 4KiB]}
"""


@pytest.fixture(scope="module")
def grains(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return weft.load(SCENARIO).run(out=tmp_path_factory.mktemp("grain") / "grains")


def test_power_and_accepted_traffic_stay(grains: Results) -> None:
    fine, coarse = grains.summaries
    assert (fine["cycle_seconds"], coarse["cycle_seconds"]) == (1e-9, 64e-9)
    # with about 50 packets per terminal in the window, random variation explains differences of 3 %
    assert coarse["accepted_load"] == pytest.approx(fine["accepted_load"], rel=0.03)
    assert coarse["power_mean_w"] == pytest.approx(fine["power_mean_w"], rel=0.01)


def test_a_comparison_of_different_cycles_is_one_of_times(grains: Results, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", f"{grains.root}:grain=-", f"{grains.root}:grain=4KiB", "--json"]) == 0
    rows = {row["quantity"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    latency = rows["packet_latency_mean_us"]
    fine, coarse = (one["packet_latency_mean_cycles"] * one["cycle_seconds"] * 1e6 for one in grains.summaries)
    assert (latency["a"], latency["b"], latency["unit"]) == (pytest.approx(fine), pytest.approx(coarse), "us")
    assert latency["relative"] == pytest.approx(coarse / fine - 1)


def test_a_table_of_points_with_different_cycles_shows_microseconds(
    grains: Results, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["report", str(grains.root), "--out", str(grains.root / "page.html")])
    assert "report" in capsys.readouterr().out
    assert "packet_latency_mean_us" in (grains.root / "page.html").read_text(encoding="utf-8")
    assert "[us]" not in tables.loads(grains)


def test_the_command_chooses_units_in_which_the_points_can_be_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "grain.yaml").write_text(SCENARIO, encoding="utf-8")
    assert main(["check", "grain.yaml"]) == 0
    assert "zero-load latency [us]" in capsys.readouterr().out
    assert main(["run", "grain.yaml", "--no-picture", "--plain"]) == 0
    out = capsys.readouterr().out
    assert "[us]" in out
    assert "[Gb/s]" in out
    runs = [json.loads(path.read_text(encoding="utf-8")) for path in (tmp_path / "results").rglob("run.json")]
    assert [run["plain"] for run in runs] == [True, True]


def test_the_lowest_latency_is_the_one_that_takes_the_least_time(tmp_path: Path) -> None:
    # with grains, a link of 8 ns takes a whole cycle of 64 ns: latencies are shorter in cycles, but longer in time
    slow = SCENARIO.replace("latency: 128ns", "latency: 8ns")
    results = weft.load(slow).run(out=tmp_path / "slow")
    fine, coarse = (one["packet_latency_mean_cycles"] * one["cycle_seconds"] for one in results.summaries)
    assert fine < coarse
    page = results.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert f"{results.summaries[0]['packet_latency_mean_cycles']:.4g} cycles ({fine * 1e9:.4g} ns) (grain -)" in page


def test_a_remedy_after_a_run_is_written_in_the_cycles_of_the_scenario(tmp_path: Path) -> None:
    keys = {"sweep": None, "grain": "4KiB", "traffic.load": 0.005, "measure.window": "12800cycles"}
    few = weft.load(SCENARIO, overrides=keys).run(tmp_path / "few")
    (diagnosis,) = [each for each in few.diagnoses[0] if each["code"] == "too_few_packets"]
    remedy = diagnosis["remedy"]["settings"]
    assert list(remedy) == ["measure.window"]
    assert weft.load(SCENARIO, overrides=keys | remedy).run(tmp_path / "more").flaws == [None]
