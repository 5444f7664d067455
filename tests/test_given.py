"""Tests that every public function refuses wrong values with one sentence that names the value."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import weft

if TYPE_CHECKING:
    from collections.abc import Callable

    from weft.api.results import Results
    from weft.api.sweep import Sweep

SCENARIO: dict[str, Any] = {
    "topology": {"hyperx": {"widths": [4], "terminals_per_router": 2}},
    "links": {"default": {"latency": "10cycles", "vcs": 6, "buffer": "32flits"}},
    "routing": "dimension_order",
    "traffic": {"pattern": "uniform", "load": 0.1},
    "measure": {"warmup": "100cycles", "window": "200cycles"},
}
# Wrong values; each function is called with some of these.
MISTAKES: list[Any] = [
    5, -1, 10**30, 1.5, math.nan, True, None, b"x", "", "\0", "a\0b", "nowhere", "\udcff", "x" * 5000, "x/" * 3000,
    [], [1], [None], ["a"], (), set(), {}, {1: 2}, {"a": 1}, {"a": object()}, object(), Path("/nonexistent/a"),
    "- 1\n- 2\n", "\n", "null\n", "a: &x [*x]\n",
]  # fmt: skip


@pytest.fixture(scope="module")
def sweep() -> Sweep:
    return weft.load(SCENARIO)


@pytest.fixture(scope="module")
def results(sweep: Sweep, tmp_path_factory: pytest.TempPathFactory) -> Results:
    return sweep.run(tmp_path_factory.mktemp("given") / "results")


def try_all(call: Callable[[Any], object], *mistakes: Any) -> None:
    """Call a function with each wrong value, and check that it refuses the value with a remedy."""
    for mistake in mistakes or MISTAKES:
        try:
            call(mistake)
        except weft.WeftError as problem:
            shown = problem
        else:
            continue
        assert shown.what, mistake
        assert shown.help, mistake


@pytest.mark.parametrize("wrong", [5, None, [1], 1.5, b"x", object()])
def test_what_is_no_scenario_is_refused(wrong: Any) -> None:
    with pytest.raises(weft.ScenarioError, match="is no path, text or dict of a scenario") as raised:
        weft.load(wrong)
    assert 'weft.load("my.yaml")' in raised.value.help


def test_whatever_is_loaded_is_a_sweep_or_an_error_of_weft() -> None:
    networkx = pytest.importorskip("networkx")
    try_all(weft.load)
    try_all(lambda wrong: weft.load(SCENARIO, overrides=wrong))
    try_all(lambda wrong: weft.load(SCENARIO, overrides={"traffic.load": wrong}))
    try_all(lambda wrong: weft.load(SCENARIO | {"name": wrong}))
    try_all(lambda wrong: weft.load(SCENARIO | {"topology": wrong}))
    try_all(lambda wrong: weft.load(SCENARIO, topology=wrong))
    try_all(lambda wrong: weft.load(SCENARIO, matrix=wrong))
    try_all(lambda wrong: weft.load(SCENARIO, topology=networkx.path_graph(4), terminals_per_router=wrong))
    try_all(weft.Scenario.from_file)
    try_all(weft.Scenario.from_dict)
    try_all(weft.Sweep.of)
    try_all(weft.open_results)
    try_all(weft.Search)


@pytest.mark.parametrize("option", ["jobs", "threads", "blocks", "watch"])
def test_how_points_run_is_checked_before_anything_runs(sweep: Sweep, tmp_path: Path, option: str) -> None:
    wrong: tuple[Any, ...] = (-1, 1.5, "2", [1], {}, object(), math.nan)
    for call in (sweep.run, sweep.saturation):
        for each in wrong:
            with pytest.raises(weft.WeftError, match=f"^error: {option}: .* is no ") as raised:
                call(tmp_path / "out", **{option: each})
            assert raised.value.help
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("option", ["tolerance", "lower", "upper", "seeds"])
def test_the_range_of_a_search_is_checked(sweep: Sweep, tmp_path: Path, option: str) -> None:
    wrong: list[Any] = ["0.5", [1], {}, math.nan, -1, True, b"x"]
    for each in wrong:
        options: dict[str, Any] = {"tolerance": 0.5, option: each}
        with pytest.raises(weft.WeftError) as raised:
            sweep.saturation(tmp_path / "out", **options)
        assert raised.value.help
    assert not (tmp_path / "out").exists()


def test_folders_of_results_are_paths(sweep: Sweep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    try_all(sweep.run)
    wrong: list[Any] = [5, b"x", "", "a\0b", "x" * 5000, "x/" * 3000, [], {}, object()]
    for each in wrong:
        for call in (sweep.run, sweep.saturation, weft.open_results):
            with pytest.raises(weft.WeftError) as raised:
                call(each)
            assert raised.value.help


def test_whatever_results_are_asked_for_is_given_or_refused(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    reads = ("folder", "scenario", "network", "run_info", "channels", "latencies", "series", "describe")
    for name in reads:
        try_all(getattr(results, name))
    try_all(lambda wrong: results.recorded(0, wrong))
    try_all(lambda wrong: results.file(0, wrong))
    try_all(results.query)
    try_all(results.compare)
    try_all(lambda wrong: results.compare(results, wrong))
    try_all(results.rate_scaled)
    try_all(results.report, *(each for each in MISTAKES if each is not None))
    try_all(results.plot.draw)
    try_all(results.plot, *(each for each in MISTAKES if each is not None))
    try_all(lambda wrong: results.plot.load("load.png", point=wrong), -1, 99, "a", {"a": 1}, [], object(), 1.5)
    try_all(lambda wrong: results.plot.load("load.png", others=wrong), 5, None, [1], "a", {}, results)


def test_packets_and_points_are_checked(sweep: Sweep) -> None:
    try_all(sweep.journeys)
    try_all(lambda wrong: weft.journeys(wrong, ["0:0"]))
    with pytest.raises(weft.WeftError, match="is no list"):
        sweep.journeys("0:0")


@pytest.mark.parametrize("name", ["../scenario.yaml", "..", ".", "", "/etc/passwd", "a\0b"])
def test_files_of_a_point_are_in_its_folder(results: Results, name: str) -> None:
    with pytest.raises(weft.ResultsError, match="is no name of a file of a point"):
        results.file(0, name)
