"""Tests two recordings in tables, SQL, reports, comparisons and figures: flows, and congestion trees of hot spots."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import weft
from test_figure_looks import numbers_of
from weft.cli import main
from weft.errors import WeftError
from weft.plot.congestion_tree import FULL
from weft.report.columns_shown import LISTINGS

if TYPE_CHECKING:
    from pathlib import Path

    from weft.api.results import Results
    from weft.plot.kinds import KindName

# Of 36 terminals, one is the target, 9 send only to it, and 27 send uniform traffic.
HOT: dict[str, Any] = {
    "name": "hot",
    "topology": {"torus": {"widths": [3, 3], "terminals_per_router": 4}},
    "links": {"default": {"latency": "4cycles", "vcs": 2, "buffer": "16flits"}},
    "routing": "dimension_order",
    "traffic": {
        "pattern": {"hot_spot": {"targets": {"random": {"count": 1}}, "sources": {"random": {"share": 0.25}}}},
        "load": 0.2,
        "packet": "2flits",
    },
    "measure": {
        "warmup": "2000cycles",
        "window": "2000cycles",
        "drain_limit": "1000cycles",
        "flows": {"classes": [{"name": "hot", "to": "targets"}, {"name": "cold", "from": "others"}]},
        "occupancy": {"every": "100cycles"},
    },
    "sweep": {"traffic.pattern.hot_spot.source_load": [1, 0.1]},
}


@pytest.fixture(scope="module")
def hot(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Run a point with a hot spot and a point whose hot sources are throttled, and return their results."""
    return weft.load(HOT).run(tmp_path_factory.mktemp("hot") / "hot")


def test_flows_are_a_frame_over_all_points(hot: Results) -> None:
    frame = hot.flows
    assert frame["flow"].to_list() == ["hot", "cold", "rest"] * 2
    for point, summary in enumerate(hot.summaries):
        table = hot.recorded(point, "flows")
        own = frame[3 * point : 3 * point + 3]
        assert own["packets"].to_list() == table["packets"].to_list()
        assert own["energy_dynamic_fj"].cast(pl.Decimal(38, 9)).to_list() == table["energy_dynamic_fj"].to_list()
        assert table["packets"].sum() == summary["packets"]
        dynamic = pl.Series([summary["energy_dynamic_fj"]]).cast(pl.Decimal(38, 9))
        assert table["energy_dynamic_fj"].sum() == dynamic[0], "routers have no price"
    assert [flaw is not None for flaw in frame["flaw"]] == [True] * 3 + [False] * 3
    asked = hot.query("select point, flow, packets from flows where flaw is null order by packets desc")
    assert asked["point"].to_list() == [1, 1, 1]


def test_cold_flows_lose_beside_a_hot_spot_and_not_beside_throttled_sources(hot: Results) -> None:
    cold = hot.flows.filter(pl.col("flow") == "cold")
    assert cold["sources"].to_list() == [27, 27]
    # the 26 uniform senders other than the target send 1/35 of their packets to it, which count as hot; the target
    # sends nothing to itself
    offered = 0.2 * (26 * 34 / 35 + 1) / 27
    # The number of packets (of 2 flits) in the window follows a Poisson distribution. The test permits 5 standard
    # deviations
    deviation = 2 * np.sqrt(offered / 2 * 2000 * 27) / (2000 * 27)
    with_hot, throttled = cold["source_accepted_load"]
    assert throttled == pytest.approx(offered, abs=5 * deviation)
    assert with_hot < throttled - 5 * deviation


def test_check_names_the_bound_only_where_a_destination_is_sent_too_much(
    hot: Results, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(hot.folder(0) / "scenario.yaml")
    head = "load that the destinations can accept"
    # the load to the target exceeds 1 (9 terminals send it 0.2 each, and 26 terminals 0.2/35), so the target accepts 1;
    # the other terminals receive all their flits
    others = 0.2 / 35 * (9 * 27 + 26 * 26)
    assert main(["check", path]) == 0
    lines = next(line for line in capsys.readouterr().out.splitlines() if head in line)
    assert lines.endswith(f"{(1 + others) / 36:.4g} of 0.2 that the terminals send, mean over terminals")
    assert main(["check", path, "--set", "traffic.load=0.05"]) == 0
    assert head not in capsys.readouterr().out, "0.45 and 0.04 are less than 1"


def test_the_run_prints_and_writes_a_row_per_flow(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "hot.yaml"
    file.write_text(json.dumps(HOT), encoding="utf-8")  # JSON is also YAML
    assert main(["run", str(file), "--no-picture", "--out", str(tmp_path / "out")]) == 0
    lines = capsys.readouterr().out.splitlines()
    head = next(k for k, line in enumerate(lines) if line.startswith("flows by source and destination"))
    assert "@: only of delivered packets" in lines[head]
    rows = [line.split() for line in lines[head + 3 : head + 9]]
    assert [row[1] for row in rows] == ["hot", "cold", "rest"] * 2
    assert ["@" in " ".join(row) for row in rows] == [True] * 2 + [False] * 4, "nobody is in `rest`"
    assert (tmp_path / "out" / "flows.csv").read_text(encoding="utf-8").count("\n") == 7


def test_a_report_lists_the_flows_of_a_point(hot: Results) -> None:
    (listing,) = (each for each in LISTINGS if each.name == "flows")
    for summary, mark in zip(hot.summaries, "@ ", strict=True):
        rows = listing.entries(summary)
        assert [row["flow"] for row in rows] == ["hot", "cold", "rest"]
        assert {row["mark"] for row in rows} == {mark.strip()}
        assert rows[0]["energy_dynamic_uj"] == pytest.approx(float(summary["flows"][0]["energy_dynamic_fj"]) * 1e-9)
    assert listing.entries({**hot.summaries[0], "flows": None}) == [], "not asked for"


def test_an_export_has_means_over_seeds_per_flow(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    point = HOT["measure"] | {"warmup": "500cycles", "window": "1000cycles"}
    seeds = weft.load(HOT, overrides={"sweep": {"seed": [1, 2, 3]}, "measure": point}).run(tmp_path / "seeds")
    assert main(["export", str(seeds.root), "--table", "flows", "--out", str(tmp_path / "flows.csv")]) == 0
    rows = pl.read_csv(tmp_path / "flows.csv").to_dicts()
    assert [(row["flow"], row["runs"]) for row in rows] == [("hot", 3), ("cold", 3), ("rest", 3)]
    loads = seeds.flows.filter(pl.col("flow") == "cold")["accepted_load"].to_list()
    assert rows[1]["accepted_load"] == pytest.approx(sum(loads) / 3)
    assert rows[1]["accepted_load_ci95_half_width"] > 0
    for ending in ("md", "tex"):
        assert main(["export", str(seeds.root), "--table", "flows", "--out", str(tmp_path / f"flows.{ending}")]) == 0
        text = (tmp_path / f"flows.{ending}").read_text(encoding="utf-8")
        assert "cold" in text
        assert "only of delivered packets" in text
    capsys.readouterr()


def test_a_comparison_has_rows_per_flow(hot: Results, tmp_path: Path) -> None:
    other = weft.load(HOT, overrides={"seed": 2}).run(tmp_path / "other")
    rows = hot.compare(other)
    assert rows["flow"].unique(maintain_order=True).to_list() == ["all", "hot", "cold", "rest"]
    accepted = rows.filter((pl.col("quantity") == "accepted_load") & (pl.col("flow") == "cold"))
    assert accepted["a"].to_list() == hot.flows.filter(pl.col("flow") == "cold")["accepted_load"].to_list()
    energy = rows.filter((pl.col("quantity") == "energy_per_bit_pj") & (pl.col("flow") != "all"))
    assert energy["a"].null_count() == energy.height, "the run knows it, and no flow by itself"


def test_the_tree_counts_the_full_ports_by_distance(hot: Results) -> None:
    numbers = numbers_of(hot.plot.figure("congestion_tree", point=0))
    counts = numbers.filter(pl.col("full_ports").is_not_null())
    occupancy = hot.recorded(0, "occupancy")
    is_full = occupancy.filter(pl.col("fullest_vc_flits") >= FULL * pl.col("vc_buffer_flits"))
    for cycle in (occupancy["cycle"][0], occupancy["cycle"][-1]):
        assert counts.filter(pl.col("cycle") == cycle)["full_ports"].sum() == (is_full["cycle"] == cycle).sum()
    # in a 3 x 3 torus, 1 router has the target, 4 routers are one hop away from it and 4 two hops; each has 4 links and
    # 4 terminals
    first = counts.filter(pl.col("cycle") == occupancy["cycle"][0])
    assert first["distance_hops"].to_list() == [0, 1, 2]
    assert first["ports"].to_list() == [8, 32, 32]
    busiest = counts.group_by("cycle").agg(pl.col("full_ports").sum()).sort("full_ports", descending=True)["cycle"][0]
    shown = numbers.filter(pl.col("channel").is_not_null())
    assert shown.height == 72
    assert (
        counts.filter(pl.col("cycle") == shown["cycle"][0])["full_ports"].sum()
        == is_full.filter(pl.col("cycle") == busiest).height
    )
    later = numbers_of(hot.plot.figure("congestion_tree", point=0, at=2140, full=1.0))
    assert later.filter(pl.col("channel").is_not_null())["cycle"].unique().to_list() == [2100]
    assert later["full_ports"].sum() < counts["full_ports"].sum()


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        ("load", {"at": 5}, "--at: `load` shows no queues"),
        ("congestion_tree", {"full": 1.5}, "--full 1.5: not a share of a buffer"),
        ("congestion_tree", {"at": -1}, "--at -1: not a cycle"),
        ("congestion_tree", {"at": 10**9}, "the samples are of cycles 100 to"),
    ],
)
def test_options_that_show_nothing_are_refused(
    hot: Results, kind: KindName, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(WeftError, match=words):
        hot.plot.figure(kind, point=0, **options)
