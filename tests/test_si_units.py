"""Tests output in SI units: latencies in us and loads in Gb/s per terminal, in tables, figures, exports and reports."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import weft
from weft.cli import main
from weft.errors import ResultsError, WeftError
from weft.results import quantities as q
from weft.results import tables

if TYPE_CHECKING:
    from pathlib import Path

    from weft.api.results import Results

SCENARIO = """\
name: speeds
topology: {full_mesh: {routers: 4, terminals_per_router: 2}}
routing: minimal
flit: 64B
traffic: {pattern: uniform, load: 0.2}
measure: {warmup: 100cycles, window: 400cycles, transient: {bin: 50cycles}}
sweep: {link_speed: [100Gb/s, 400Gb/s]}
"""
# cycle times [ns]: 512 bits (a flit) take 5.12 ns at 100 Gb/s and 1.28 ns at 400 Gb/s
NS = (5.12, 1.28)
GBPS = (100.0, 400.0)


@pytest.fixture(scope="module")
def speeds(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return weft.load(SCENARIO).run(out=tmp_path_factory.mktemp("units") / "speeds")


def expected(results: Results) -> list[tuple[float, float]]:
    """Return the expected latency [us] and accepted load [Gb/s per terminal] of each point."""
    known = zip(results.summaries, NS, GBPS, strict=True)
    return [(one["packet_latency_mean_cycles"] * ns / 1e3, one["accepted_load"] * gbps) for one, ns, gbps in known]


def test_the_table_shows_both(speeds: Results) -> None:
    (line,) = [line for line in tables.loads(speeds, units="si").splitlines() if line.strip().startswith("0.2 ")]
    cells = line.split()[1:]
    for (latency, accepted), row in zip(expected(speeds), (cells[:5], cells[5:]), strict=True):
        assert (row[1], row[3]) == (f"{latency:.3f}", f"{accepted:.1f}")
    assert "[us]" not in tables.loads(speeds)


def test_a_figure_over_load_has_si_axes_also_of_points_that_differ_in_their_cycle(speeds: Results) -> None:
    drawing = speeds.plot.figure("load", units="si", panels="latency,accepted")
    latency, accepted = drawing.axes
    assert latency.get_ylabel().replace("\n", " ") == q.LATENCY_US.axis
    assert accepted.get_xlabel().replace("\n", " ") == q.OFFERED_GBPS.axis
    assert drawing.numbers is not None
    for (us, gbps), row in zip(
        expected(speeds), drawing.numbers.sort("accepted_gbps").iter_rows(named=True), strict=True
    ):
        assert row["packet_latency_mean_us"] == pytest.approx(us)
        assert row["accepted_gbps"] == pytest.approx(gbps)
    # the line "accepted = offered" ends at the highest offered load
    diagonal: Any
    (diagonal,) = [line for line in accepted.lines if line.get_label() == "_accepted = offered"]
    assert max(diagonal.get_xdata()) == pytest.approx(drawing.numbers["offered_gbps"].max())


def test_other_figures_have_a_second_axis_where_one_cycle_holds(speeds: Results) -> None:
    drawing = speeds.plot.figure("transient", units="si", point=1)
    (axes,) = drawing.axes
    above, right = axes.child_axes
    assert (above.get_xlabel(), right.get_ylabel()) == ("[us]", "[us]")
    drawing.draw_without_rendering()
    assert above.get_xlim()[1] == pytest.approx(axes.get_xlim()[1] * 1.28e-3)
    with pytest.raises(ResultsError, match="differ in the length of their cycle"):
        speeds.plot.figure("transient", units="si")
    with pytest.raises(WeftError, match="no units 'metric'"):
        speeds.plot.figure("load", units="metric")


def test_exports_and_pages_have_them(speeds: Results, tmp_path: Path) -> None:
    out = tmp_path / "points.csv"
    assert main(["export", str(speeds.root), "--units", "si", "--out", str(out)]) == 0
    frame = pl.read_csv(out)
    assert frame["packet_latency_mean_us"].to_list() == pytest.approx([each for each, _ in expected(speeds)])
    table = tmp_path / "points.md"
    assert main(["export", str(speeds.root), "--units", "si", "--out", str(table)]) == 0
    head = table.read_text(encoding="utf-8").splitlines()[0]
    assert "Mean packet latency [us]" in head
    assert "Accepted load [Gb/s per terminal]" in head
    assert "[cycles]" not in head
    page = speeds.report(tmp_path / "page.html", units="si").read_text(encoding="utf-8")
    assert "packet_latency_mean_us" in page
    assert "packet_latency_mean_us" not in speeds.report(tmp_path / "plain.html", units="cycles").read_text(
        encoding="utf-8"
    )


def test_a_check_shows_bounds_in_both(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "speeds.yaml"
    links = "links: {default: {latency: 10cycles, vcs: 2, buffer: 64flits}, terminal: {latency: 1cycle}}\n"
    file.write_text(SCENARIO + links, encoding="utf-8")
    assert main(["check", str(file), "--units", "cycles"]) == 0
    plain = capsys.readouterr().out
    assert "[us]" not in plain
    assert "Gb/s]" not in plain
    assert main(["check", str(file), "--units", "si"]) == 0
    lines = capsys.readouterr().out.splitlines()
    (cycles,) = [float(line.split()[-1]) for line in lines if line.strip().startswith("zero-load latency [cycles]")]
    (head,) = [line for line in lines if line.startswith("link_speed ")]
    heads = ["bandwidth of a channel [Gb/s]", "limit of a single VC [Gb/s]", "zero-load latency [us]"]
    assert all(each in head for each in [*heads, "channel-load bound [Gb/s per terminal]"])
    for ns, gbps in zip(NS, GBPS, strict=True):
        (row,) = [line.split() for line in lines if line.startswith(f"{gbps:g}Gb/s ")]
        assert row[1:9] == [
            "terminal",
            f"{gbps:g},",
            "dim0",
            f"{gbps:g}",
            "terminal",
            f"{gbps:g},",
            "dim0",
            f"{gbps:g}",
        ]
        assert float(row[9]) == pytest.approx(cycles * ns / 1e3, rel=1e-3)
        assert float(row[10]) == pytest.approx(gbps)  # the bound is one flit per terminal and cycle


def test_results_of_an_older_weft_are_refused(tmp_path: Path) -> None:
    old = tmp_path / "old"
    for point in weft.load(SCENARIO).run(out=old).points:
        file = old / "points" / point["hash"] / "summary.json"
        summary = json.loads(file.read_text(encoding="utf-8"))
        del summary["flit_bits"]
        file.write_text(json.dumps(summary), encoding="utf-8")
        (file.parent / "run.json").unlink()
    with pytest.raises(ResultsError, match="older Weft") as refused:
        tables.loads(weft.open_results(old), units="si")
    assert "--force" in refused.value.help
