"""Tests the content of a report: numbers as in the result files, networks, and limits of its size."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import os
import re
import shutil
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import weft
from conftest import made
from weft._engine import LINK_STATES as STATES
from weft.cli import main
from weft.report import data, films, history, network_view, pack
from weft.report.data import collect, facts
from weft.report.sources import Sources

if TYPE_CHECKING:
    from weft.api.results import Results

SLEEPING = """\
topology: {hyperx: {widths: [3, 3], terminals_per_router: 2}}
routing: dimension_order
traffic: {pattern: uniform, packet: 2flits}
power: {policy: {idle_timeout: {idle: 20cycles, transition: 10cycles}}}
measure: {warmup: 300cycles, window: 600cycles, series: {every: 50cycles, of: channel}, link_states: {}}
sweep:
  traffic.pattern: [uniform, tornado]
  traffic.load: [0.05, 0.2, 0.9]
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Run six points with links that sleep, and record flits and link states over time.

    Tornado saturates at load 0.9.
    """
    folder = tmp_path_factory.mktemp("report")
    (folder / "sleeping.yaml").write_text(SLEEPING, encoding="utf-8")
    return weft.load(folder / "sleeping.yaml").run(out=folder / "out")


def unpacked(text: str) -> np.ndarray[Any, Any]:
    name, _, code = text.partition(":")
    kind = {"u8": "<u1", "u16": "<u2", "u32": "<u4", "f32": "<f4", "f64": "<f8"}[name]
    return np.frombuffer(base64.b64decode(code), dtype=kind)


def embedded(path: Path) -> dict[str, Any]:
    """Return the data for programs that a page contains."""
    html = path.read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="weft-data">(.*?)</script>', html, re.DOTALL)
    assert found
    held: dict[str, Any] = json.loads(found[1])
    return held


def values(held: dict[str, Any], column: str) -> list[Any]:
    kept = held["points"]["columns"][column]
    return kept if isinstance(kept, list) else [kept["all"]] * len(held["points"]["hash"])


@pytest.mark.parametrize("largest", [0, 255, 256, 65535, 65536, 2**32 - 1, 2**32, 2**40])
def test_counts_come_back_exactly(largest: int) -> None:
    assert unpacked(pack.counts([0, 7, largest])).tolist() == [0, 7, largest]


def test_the_page_has_the_numbers_of_the_summaries(results: Results, tmp_path: Path) -> None:
    held = embedded(results.report(tmp_path / "page.html"))
    assert held["points"]["hash"] == [point["hash"] for point in results.points]
    compared = 0
    for column in held["points"]["columns"]:
        for point, value in enumerate(values(held, column)):
            measured = results.summaries[point].get(column, results.points[point]["coordinates"].get(column))
            if isinstance(measured, float):
                assert value == pytest.approx(measured, rel=10**-6), column
                compared += 1
            elif isinstance(measured, int):
                assert value == measured, column
                compared += 1
    assert compared > 40 * len(results)


def test_the_page_has_the_channels_of_the_files(results: Results) -> None:
    held = collect(Sources([results]))
    assert sorted(held["channels"]) == list(range(len(results))), "there is room for all"
    for point, kept in held["channels"].items():
        drawn = held["networks"][kept["network"]]
        table = results.channels(point)
        order = np.concatenate([unpacked(drawn["forward"]), unpacked(drawn["backward"])]).astype(int) - 1
        between = table.filter(pl.col("from_router").is_not_null() & pl.col("to_router").is_not_null())
        assert sorted(order) == between["channel"].to_list(), "each channel between routers once"
        rows = table[order]
        assert unpacked(kept["flits"]).tolist() == rows["flits"].to_list()
        assert unpacked(kept["transitions"]).tolist() == rows["transitions"].to_list()
        assert unpacked(kept["energy_j"]) == pytest.approx((rows["energy_fj"] * 1e-15).to_numpy(), rel=1e-6)
        for state in ("on", "shadow", "draining", "off", "waking"):
            cycles = unpacked(kept["cycles"][state]).tolist() if state in kept["cycles"] else [0] * len(order)
            assert cycles == rows[f"cycles_{state}"].to_list()
        links = drawn["links"]
        for name, there, back in (("from", "from_router", "to_router"), ("from_port", "from_port", "to_port")):
            assert unpacked(drawn[name]).tolist() == rows[there][:links].to_list() == rows[back][links:].to_list()
        injected = table.filter(pl.col("from_router").is_null()).group_by("to_router").agg(pl.col("flits").sum())
        assert unpacked(kept["terminals"]["injected"]).tolist() == injected.sort("to_router")["flits"].to_list()


def test_histograms_are_those_of_the_summaries(results: Results) -> None:
    for kept, summary in zip(collect(Sources([results]))["histograms"], results.summaries, strict=True):
        pairs = zip(unpacked(kept["latency"]).tolist(), unpacked(kept["packets"]).tolist(), strict=True)
        assert [list(pair) for pair in pairs] == summary["latency_histogram"]


def test_joined_bins_keep_the_distribution_exact_where_it_is_given(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weft.report.data.HISTOGRAM_BYTES", 0)
    sources = Sources([results])
    for kept, summary in zip(collect(sources)["histograms"], sources.summaries, strict=True):
        whole = np.asarray(summary["latency_histogram"])
        latency, below = unpacked(kept["latency"]), np.cumsum(unpacked(kept["packets"]))
        assert len(latency) == -(-len(whole) // kept["joined"]) <= 20
        for value, count in zip(latency, below, strict=True):
            assert count == whole[whole[:, 0] <= value, 1].sum()


def test_a_film_has_the_samples_of_the_series(results: Results) -> None:
    series = results.series(0).sort("from_cycle", "channel")
    order = np.asarray([5, -1, 20])
    film = films.of_series(results.series(0), order, pictures=1000, states=STATES)
    flits = unpacked(film["flits"]).reshape(film["pictures"], 3)
    states = unpacked(film["state"]).reshape(film["pictures"], 3)
    assert film["merged"] == 1
    for place, channel in ((0, 5), (2, 20)):
        own = series.filter(pl.col("channel") == channel)
        assert flits[:, place].tolist() == own["flits"].to_list()
        assert unpacked(film["from_cycle"]).tolist() == own["from_cycle"].to_list()
        for number, state in enumerate(STATES):
            assert (states[:, place] == number).tolist() == (own[f"channels_{state}"] > 0).to_list()
    assert not flits[:, 1].any(), "no channel carries no flits"


def test_a_shorter_film_has_the_same_flits(results: Results) -> None:
    order = np.arange(30)
    whole, short = (films.of_series(results.series(1), order, pictures, STATES) for pictures in (1000, 4))
    assert short["pictures"] <= 4 < whole["pictures"]
    totals = [unpacked(film["flits"]).reshape(film["pictures"], -1).sum(axis=0).tolist() for film in (whole, short)]
    assert totals[0] == totals[1]
    assert unpacked(whole["cycles"]).sum() == unpacked(short["cycles"]).sum()
    last = [unpacked(film["state"]).reshape(film["pictures"], -1)[-1].tolist() for film in (whole, short)]
    assert last[0] == last[1]


def test_a_film_of_link_states_shows_the_state_at_the_end_of_each_picture(results: Results) -> None:
    spans = results.link_states(1)
    order = np.asarray(sorted(spans["channel"].unique().to_list()))
    film = films.of_spans(spans, order, pictures=50, states=STATES)
    assert film is not None
    states = unpacked(film["state"]).reshape(film["pictures"], -1)
    ends = unpacked(film["from_cycle"]).astype(int) + unpacked(film["cycles"])
    for picture, end in enumerate(ends):
        now = spans.filter((pl.col("from_cycle") < end) & (pl.col("to_cycle") >= end)).sort("channel")
        assert now["channel"].to_list() == order.tolist()
        assert [STATES[number] for number in states[picture]] == now["state"].to_list()


def test_a_history_has_the_flits_of_each_class(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    samples, channels = results.series(1), results.channels(1)
    class_of = dict(zip(channels["channel"], channels["link_class"], strict=True))
    for most in (1000, 5):
        monkeypatch.setattr(history, "MOST", most)
        made = history.series(samples, channels)
        begins = [*unpacked(made["from_cycle"]).tolist(), 10**9]
        assert len(begins) - 1 <= most
        for each in made["classes"]:
            rows = [row for row in samples.iter_rows(named=True) if class_of[row["channel"]] == each["name"]]
            expected = [
                sum(row["flits"] for row in rows if begin <= row["from_cycle"] < end) for begin, end in pairwise(begins)
            ]
            assert unpacked(each["flits"]).tolist() == expected
            assert each["channels"] == sum(name == each["name"] for name in class_of.values())


def test_without_room_the_most_telling_points_are_kept(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_view, "BYTES", 1)
    held = collect(Sources([results]))
    first = next(iter(held["channels"]))
    steady = [row for row in range(3) if not results.summaries[row]["saturated"]]
    assert first == steady[-1], "the highest load below saturation of the first curve"
    assert held["crowded_out"] == len(results) - 1


def test_of_too_many_links_the_busiest_are_drawn(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_view, "MOST_LINKS", 4)
    held = collect(Sources([results]))
    drawn = held["networks"][0]
    assert (drawn["links"], drawn["left_out"]) == (4, 9 * 4 // 2 - 4)
    table = results.channels(held["first"]).filter(pl.col("from_router") < pl.col("to_router"))
    back = results.channels(held["first"]).rename({"from_router": "to_router", "to_router": "from_router"})
    both = table.join(back, on=["from_router", "to_router"]).select(total=pl.col("flits") + pl.col("flits_right"))
    kept = held["channels"][held["first"]]
    busiest = sorted(both["total"].to_list())[-4:]
    assert sorted(unpacked(kept["flits"]).reshape(2, 4).sum(axis=0).tolist()) == busiest


def test_the_answer_names_where_curves_saturate(results: Results) -> None:
    rows = {row["panel"]: row for row in collect(Sources([results]))["curve_table"]}
    for panel, points in (("uniform", range(3)), ("tornado", range(3, 6))):
        summaries = [results.summaries[point] for point in points]
        over = [summary["load"] for summary in summaries if summary["saturated"]]
        steady = [summary["load"] for summary in summaries if not summary["saturated"]]
        expected = f"between {max(steady):g} and {min(over):g}" if over else f"not up to {max(steady):g}"
        assert rows[panel]["saturation"] == expected
        assert rows[panel]["accepted"] == pytest.approx(max(summary["accepted_load"] for summary in summaries))


def test_half_widths_are_those_of_the_run_or_of_the_seeds(small: Path, tmp_path: Path) -> None:
    one_curve = {"sweep.traffic.pattern": ["uniform"], "sweep.routing": ["ugal_p"], "sweep.traffic.load": [0.05, 0.1]}
    several = weft.load(small, overrides=one_curve | {"sweep.seed": [1, 2, 3]}).run(out=tmp_path / "seeds")
    (curve,) = collect(Sources([several]))["curves"]
    for points, half in zip(curve["points"], curve["half"]["packet_latency_mean_cycles"], strict=True):
        means = [several.summaries[point]["packet_latency_mean_cycles"] for point in points]
        # 4.3027 is the quantile of Student's t with two degrees of freedom
        assert half == pytest.approx(4.3027 * np.std(means, ddof=1) / np.sqrt(3), rel=1e-3)
    alone = weft.load(small, overrides=one_curve).run(out=tmp_path / "alone")
    (curve,) = collect(Sources([alone]))["curves"]
    assert curve["half"]["packet_latency_mean_cycles"] == pytest.approx(
        [summary["packet_latency_ci95_cycles"] for summary in alone.summaries], rel=1e-6
    )


def test_means_of_the_page_are_those_of_the_figures(tmp_path: Path) -> None:
    """The means on the page equal those of the figures.

    They are over distinct runs that measured the quantity, whatever other points are in the list.
    """
    seen = {1: (20.0, 0.3, 11), 2: (24.0, 0.5, 12), 3: (None, 0.4, 13)}
    runs = [
        (
            {"traffic.load": 0.1, "seed": seed},
            {"packet_latency_mean_cycles": late, "offered_load": offered, "hash": hash},
        )
        for seed, (late, offered, hash) in [*seen.items(), *seen.items()]
    ]
    held = collect(Sources([made(tmp_path / "made", runs)]))
    (curve,) = held["curves"]
    assert (curve["load"], curve["points"]) == ([0.1], [[0, 1, 2]])
    assert curve["means"]["packet_latency_mean_cycles"] == [22.0]
    assert curve["means"]["offered_load"] == pytest.approx([0.4])
    assert curve["means"]["links_off_share"] == [None]
    # Student's t with one degree of freedom (Cauchy's distribution), for a standard deviation of sqrt(8) over two runs
    assert curve["half"]["packet_latency_mean_cycles"] == pytest.approx([2 * np.tan(0.475 * np.pi)], rel=1e-4)
    (row,) = held["curve_table"]
    assert (row["from_load"], row["latency"]) == (0.1, 22.0)


def test_several_results_stand_in_one_report(results: Results, small: Path, tmp_path: Path) -> None:
    other = weft.load(small).run(out=tmp_path / "small")
    sources = Sources([results, other])
    held = collect(sources)
    assert len(held["points"]["hash"]) == len(results) + len(other)
    assert len(held["networks"]) == 2
    for curve in held["curves"]:
        for load, points in zip(curve["load"], curve["points"], strict=True):
            assert [values(held, "load")[point] for point in points] == [load]


def test_a_damaged_table_is_named_and_the_rest_stays(results: Results, tmp_path: Path) -> None:
    shutil.copytree(results.root, tmp_path / "copy")
    copy = weft.open_results(tmp_path / "copy")
    torn = copy.folder(1) / "channels.parquet"
    torn.write_bytes(torn.read_bytes()[:100])
    (copy.folder(0) / "scenario.yaml").write_text("topology: [", encoding="utf-8")
    assert facts(Sources([copy]))["questions"][0]["chosen"], "those of the next point"
    held = collect(Sources([copy]))
    assert sorted(held["unreadable"]) == [0, 1]
    assert "channels.parquet" in held["unreadable"][1]
    assert len(held["channels"]) == len(results) - 2


def test_the_page_needs_nothing_else(results: Results, tmp_path: Path) -> None:
    html = results.report(tmp_path / "page.html").read_text(encoding="utf-8")
    own = re.sub(r"<script>/\*\*\n\* plotly\.js.*?</script>", "", html, flags=re.DOTALL)
    assert len(own) < len(html) - 1_000_000
    assert re.findall(r"""(?:src|href)=["'](?!#)[^"']*""", own) == []
    assert "default-src 'none'" in own


def test_the_same_results_give_the_same_page(results: Results, tmp_path: Path) -> None:
    one, two = (results.report(tmp_path / name).read_bytes() for name in ("one.html", "two.html"))
    assert one == two


def test_words_of_a_scenario_are_no_markup(tmp_path: Path) -> None:
    name, job = "<script><b>bold", "</script><b>bold</b>"
    scenario = {
        "name": name,
        "topology": {"single_router": {"terminals": 4}},
        "traffic": {"pattern": "uniform", "load": 0.1, "jobs": [{"name": job, "terminals": {"rest": {}}}]},
        "routing": "shortest_path",
        "measure": {"warmup": "100cycles", "window": "100cycles"},
    }
    page = weft.load(scenario).run(out=tmp_path / "out").report()
    assert "<b>bold" not in page.read_text(encoding="utf-8")
    assert embedded(page)["title"] == name


def test_the_command_writes_the_page(results: Results, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(results.root), "--out", str(tmp_path / "deep" / "page.html")]) == 0
    assert capsys.readouterr().out.split()[-1] == str(tmp_path / "deep" / "page.html")
    assert embedded(tmp_path / "deep" / "page.html")["points"]["hash"]


def test_a_run_ends_with_the_way_to_its_report(small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = ["--set", "traffic.load=0.1", "--set", "traffic.pattern=uniform", "--set", "routing=ugal_p"]
    assert main(["run", str(small), "--out", str(tmp_path / "out"), "--no-picture", "--report", *one]) == 0
    assert capsys.readouterr().out.split()[-1] == str(tmp_path / "out" / "report.html")
    assert len(embedded(tmp_path / "out" / "report.html")["points"]["hash"]) == 1


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("small.yaml", "is a scenario: write it before this option"),
        ("sweep.json", "is not the name of a page: end it with .html or .htm"),
        ("g.html", "is a folder: name a file in it"),
    ],
)
def test_a_page_takes_the_place_of_nothing_else(
    results: Results, small: Path, name: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place = small.with_name(name)
    (small.parent / "g.html").mkdir()
    (small.parent / "sweep.json").write_text("{}")
    before = sorted((path.name, path.is_dir() or path.read_text()) for path in small.parent.iterdir())
    for command in (["run", "--report", str(place), str(small)], ["report", str(results.root), "--out", str(place)]):
        with pytest.raises(SystemExit) as left:
            main(command)
        assert left.value.code == 2
        assert words in capsys.readouterr().err
    if name != "small.yaml":
        with pytest.raises(weft.ResultsError, match=words.partition(":")[0]):
            results.report(place)
    assert sorted((path.name, path.is_dir() or path.read_text()) for path in small.parent.iterdir()) == before


@pytest.mark.parametrize("words", [["run", "--report"], ["run", "--watch", "0:1"], ["timeline", "--watch", "0:1"]])
def test_a_scenario_behind_an_option_that_takes_it_is_reported(
    small: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([*words, str(small)])
    assert f"{str(small)!r} is a scenario: write it before this option" in capsys.readouterr().err


def test_a_folder_whose_name_is_no_text_has_a_report(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    (tmp_path / "one.yaml").write_text(SLEEPING, encoding="utf-8")
    results = weft.load(tmp_path / "one.yaml", overrides={"traffic.load": 0.1, "traffic.pattern": "uniform"}).run(
        folder
    )
    assert embedded(results.report())["title"] == results.title
    assert "caf\\udce9" in (folder / "report.html").read_text(encoding="utf-8")
    with pytest.raises(weft.ResultsError, match="not UTF-8"):
        results.query("select * from points")


def test_the_most_accepted_is_that_below_saturation_in_words(results: Results) -> None:
    """The sentences name the highest accepted load below saturation; the table of curves has the highest over all
    points.

    For a curve with only saturated points, the table has no latency.
    """
    text = "\n".join(facts(Sources([results]))["sentences"])
    steady = max(each["accepted_load"] for each in results.summaries if not each["saturated"])
    assert f"Highest accepted load below saturation: {steady:.4g} " in text
    row = max(range(len(results)), key=lambda row: results.summaries[row]["packet_latency_mean_cycles"])
    full = copy.copy(results)
    full.__dict__.pop("frame", None)
    full.points, full.summaries = [results.points[row]], [results.summaries[row]]
    assert full.summaries[0]["saturated"]
    (curve,) = collect(Sources([full]))["curve_table"]
    assert curve["latency"] is None
    assert curve["accepted"] == pytest.approx(full.summaries[0]["accepted_load"], rel=1e-4)


def test_quantities_of_the_tables_have_units(results: Results) -> None:
    held = collect(Sources([results]))
    tables = [held["columns"], *(listing["columns"] for listing in held["listings"])]
    bare = {each["column"] for table in tables for each in table if not each["unit"]}
    assert bare == {"ending", "flaw", "saturated", "unknown"}
    shares = [each for each in held["columns"] if each["column"].endswith("_share")]
    assert [(each["unit"], each["scale"]) for each in shares] == [("%", 100)] * 3


def test_without_finished_points_there_is_nothing_to_report(
    results: Results, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sweep.json").write_text((results.root / "sweep.json").read_text(encoding="utf-8"), encoding="utf-8")
    assert main(["report", str(tmp_path)]) == 2
    assert "no point is finished" in capsys.readouterr().err


def test_five_hundred_points_are_small(tmp_path: Path) -> None:
    """A report of five hundred points is small.

    The test copies one point of an 8x8 flattened butterfly five hundred times.
    """
    scenario = {
        "topology": {"hyperx": {"widths": [8, 8], "terminals_per_router": 8}},
        "routing": "ugal_p",
        "traffic": {"pattern": "uniform", "load": 0.3},
        "power": {"policy": {"idle_timeout": {"idle": "20cycles", "transition": "10cycles"}}},
        "measure": {"warmup": "200cycles", "window": "500cycles", "series": {"every": "50cycles", "of": "channel"}},
    }
    one = weft.load(scenario).run(out=tmp_path / "many")
    folder, manifest = one.folder(0), json.loads((one.root / "sweep.json").read_text(encoding="utf-8"))
    manifest["points"] = []
    for number in range(500):
        hash, load = f"{number:016x}", round(0.01 + 0.001 * (number // 5), 4)
        shutil.copytree(folder, folder.parent / hash, ignore=shutil.ignore_patterns("run.json"))
        summary = one.summaries[0] | {"hash": hash, "load": load, "offered_load": load * 1.0000123}
        (folder.parent / hash / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
        manifest["points"].append({"hash": hash, "coordinates": {"seed": number % 5, "traffic.load": load}})
    (one.root / "sweep.json").write_text(json.dumps(manifest), encoding="utf-8")
    page = weft.open_results(one.root).report()
    assert page.stat().st_size < 6_000_000
    assert len(embedded(page)["points"]["hash"]) == 500


def test_plotly_is_the_one_that_is_written_down() -> None:
    vendor = Path(network_view.__file__).parent / "vendor"
    digest = hashlib.sha256((vendor / "plotly-basic.min.js").read_bytes()).hexdigest()
    assert digest in (vendor / "README.md").read_text(encoding="utf-8")
    assert "MIT" in (vendor / "plotly-LICENSE.txt").read_text(encoding="utf-8")


def test_loads_are_listed_in_order_whatever_the_order_of_the_sweep() -> None:
    assert data._values([0.05, 1.0, 0.5, 0.25, 0.5], "traffic.load") == ["0.05", "0.25", "0.5", "1"]
    assert data._values(["valiant", "dal"], "routing") == ["valiant", "dal"]
