"""Tests the Python interface, with which a program runs scenarios and reads results as frames."""

from __future__ import annotations

import shutil
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import polars as pl
import pytest

import weft
from weft.results.curves import panels

if TYPE_CHECKING:
    from pathlib import Path

    from weft.api.results import Results

SCENARIO = {
    "topology": {"hyperx": {"widths": [4, 4], "terminals_per_router": 4}},
    "routing": {"dimension_order": {}},
    "traffic": {"pattern": "uniform", "load": 0.1},
    "measure": {"warmup": "500cycles", "window": "500cycles"},
}


def test_the_frame_has_a_row_per_point_and_coordinates_first(small: Path, tmp_path: Path) -> None:
    frame = weft.load(small).run(tmp_path).frame
    assert frame.height == 12
    assert frame.columns[:3] == ["traffic.pattern", "routing", "traffic.load"]
    for column in ("accepted_load", "packet_latency_mean_cycles", "hops_mean", "energy_per_bit_pj"):
        assert frame[column].dtype == pl.Float64
        assert frame[column].null_count() == 0
    assert frame["saturated"].sum() == 1, "tornado over dimension order at 0.4"
    assert frame["traffic.load"].to_list() == [0.05, 0.1, 0.4] * 4, "in the order of the sweep"


def test_a_dict_and_a_text_give_the_same_point() -> None:
    text = "topology: {hyperx: {widths: [4, 4], terminals_per_router: 4}}\nrouting: dimension_order\n"
    text += "traffic: {pattern: uniform, load: 0.1}\nmeasure: {warmup: 500cycles, window: 500cycles}\n"
    assert weft.load(SCENARIO).points[0].hash == weft.load(text).points[0].hash


def test_overrides_come_before_the_sweep(small: Path) -> None:
    assert len(weft.load(small, overrides={"traffic.load": 0.2})) == 4
    assert len(weft.load(small, overrides={"routing": "valiant"})) == 6


def test_an_error_has_a_place_and_a_remedy(small: Path) -> None:
    small.write_text(small.read_text().replace("vcs: 6", "vsc: 6"), encoding="utf-8")
    with pytest.raises(weft.ScenarioError) as caught:
        weft.load(small)
    assert caught.value.line == 3
    assert caught.value.column is not None
    assert "vcs" in caught.value.help
    assert "vsc" in caught.value.what
    assert caught.value.text == str(caught.value)
    assert isinstance(caught.value, weft.WeftError)


def test_flits_of_channels_are_the_hops_of_packets(tmp_path: Path) -> None:
    """The flits that channels between routers carry are about the delivered packets times their mean hops.

    Packets at the edges of the window cause small differences.
    """
    results = weft.load(SCENARIO, overrides={"measure.window": "5000cycles"}).run(tmp_path)
    channels = results.channels(0)
    between = channels.filter(pl.col("link_class") != "terminal")["flits"].sum()
    row = results.frame.row(0, named=True)
    assert between == pytest.approx(row["packets"] * row["hops_mean"], rel=0.02)


def test_results_open_again(small: Path, tmp_path: Path) -> None:
    written = weft.load(small).run(tmp_path)
    opened = weft.open_results(tmp_path)
    assert opened.name == "small"
    assert opened.frame.equals(written.frame)
    assert opened.missing == 0


def test_overrides_stand_in_the_title(small: Path, tmp_path: Path) -> None:
    """Two sweeps of the same file with different overrides have different folders, tables and pictures."""
    plain, other = (
        weft.load(small),
        weft.load(small, overrides={"routing": {"ugal_p": {"threshold": "0flits"}}, "seed": 2}),
    )
    assert (plain.name, plain.title) == ("small", "small")
    assert other.name.startswith("small-")
    assert other.title == "small (routing = ugal_p(threshold 0flits), seed = 2)"
    results = other.run(tmp_path)
    assert weft.open_results(tmp_path).title == other.title
    assert results.plot.figure("load").legends[0].get_title().get_text() == other.title


def test_lists_and_empty_models_are_words_in_the_title(small: Path) -> None:
    sets = {"sweep.traffic.load": [0.1, 0.2], "measure.link_states": {}, "topology.hyperx.widths": [4, 4]}
    words = "sweep.traffic.load = 0.1, 0.2, measure.link_states = {}, topology.hyperx.widths = 4x4"
    assert weft.load(small, overrides=sets).title == f"small ({words})"


def test_swept_models_are_reported_apart_by_their_options(tmp_path: Path) -> None:
    """Models that differ only in an option are separate series, not seeds of one series."""
    routings = ["dimension_order", *({"ugal_p": {"threshold": f"{flits}flits"}} for flits in (0, 9))]
    results = weft.load(SCENARIO | {"sweep": {"routing": routings}}).run(tmp_path)
    labels = ["dimension_order", "ugal_p(threshold 0flits)", "ugal_p(threshold 9flits)"]
    assert results.frame["routing"].to_list() == results.jobs["routing"].to_list() == labels
    assert [curve.label for curve in panels(results)[0].curves] == labels


def test_the_name_of_a_scenario_is_its_title(small: Path) -> None:
    assert weft.load(small, overrides={"name": "fig 7"}).title.startswith("fig 7 (")
    small.write_text("name: fig 7\n" + small.read_text(), encoding="utf-8")
    assert weft.load(small).title == "fig 7"


def test_what_was_not_recorded_is_refused(made_up: Results) -> None:
    with pytest.raises(weft.ResultsError, match=r"measure\.series"):
        made_up.series(0)


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(weft.ResultsError, match="has no results"):
        weft.open_results(tmp_path)


def test_folders_with_results_are_named_where_one_without_is_meant(made_up: Results) -> None:
    like = made_up.root.rename(made_up.root.with_name("sweep-1a2b3c4d"))
    with pytest.raises(weft.ResultsError, match=rf"wrote, such as {like}"):
        weft.open_results(like.with_name("sweep"))


def test_missing_points_are_counted(made_up: Results) -> None:
    shutil.rmtree(made_up.folder(0))
    opened = weft.open_results(made_up.root)
    assert (len(opened), opened.missing, opened.damaged) == (15, 1, [])


def test_a_point_that_is_not_there_is_refused_with_the_range(made_up: Results) -> None:
    for read in (made_up.channels, made_up.series, made_up.latencies, made_up.scenario, made_up.run_info):
        with pytest.raises(weft.ResultsError, match="16 finished points have the numbers 0 to 15"):
            read(99)


def test_run_json_says_where_and_how_long(tmp_path: Path) -> None:
    results = weft.load(SCENARIO).run(tmp_path, threads=2, blocks=3)
    run, summary = results.run_info(0), results.summaries[0]
    assert (run["threads"], run["blocks"]) == (2, 3)
    assert run["result_model"] == summary["result_model"]
    assert run["weft_version"] == summary["weft_version"]
    # seconds in the record of a run are rounded to milliseconds
    assert summary["flit_hops"] / run["flit_hops_per_second"] == pytest.approx(run["seconds"], abs=0.0006)
    assert datetime.fromisoformat(run["started_utc"]).utcoffset() == timedelta(0)
    assert set(run["machine"]) == {"system", "python", "cpu", "cores", "memory_gib"}
    assert run["file_bytes"] == {
        path.name: path.stat().st_size for path in results.folder(0).iterdir() if path.name != "run.json"
    }


def test_the_scenario_of_a_point_is_the_resolved_one(tmp_path: Path) -> None:
    sweep = weft.load(SCENARIO)
    resolved = sweep.points[0].resolved
    assert sweep.run(tmp_path).scenario(0) == resolved


def test_latencies_are_those_of_the_packets(tmp_path: Path) -> None:
    results = weft.load(SCENARIO).run(tmp_path)
    frame, summary = results.latencies(0), results.summaries[0]
    assert frame["packets"].sum() == summary["packets"]
    total = sum(latency * packets for latency, packets in frame.iter_rows())
    assert total / summary["packets"] == pytest.approx(summary["packet_latency_mean_cycles"], rel=1e-9), (
        "small latencies are kept exactly"
    )
    assert frame["latency_cycles"].max() == summary["packet_latency_max_cycles"]


def test_the_command_runs_what_is_missing(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "my results"
    results = weft.load(small, overrides={"traffic.load": 0.1}).run(out)
    assert results.command == f"weft run {small} --set traffic.load=0.1 --out '{out}'"
    assert weft.load(SCENARIO).run(tmp_path / "memory").command is None


def test_models_become_labels(made_up: Results) -> None:
    assert made_up.frame["power.policy"].unique().sort().to_list() == ["always_on", "idle_timeout(idle 9cycles)"]


def test_public_names_exist() -> None:
    assert all(hasattr(weft, name) for name in weft.__all__)
    with pytest.raises(AttributeError, match="no attribute 'scenario_of'"):
        _ = weft.scenario_of


def test_pictures_and_pages_leave_files_of_similar_names_alone(made_up: Results, tmp_path: Path) -> None:
    other = tmp_path / ".plot.png"
    other.write_text("a user's")
    made_up.plot(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
    assert other.read_text() == "a user's"
    assert {path.name for path in tmp_path.iterdir()} == {"made_up", ".plot.png", "plot.png", "plot.png.csv"}
