"""Tests the choice of points for a figure, by index or by coordinates, and the names of points in figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import weft
from conftest import made
from weft.errors import WeftError
from weft.plot.choice import Choice
from weft.report.sources import Sources
from weft.results.choose import Chosen
from weft.results.database import Database

if TYPE_CHECKING:
    from pathlib import Path

    from weft.api.results import Results


def points(results: Results, *wanted: Any) -> list[int]:
    """Return the indices of the points that a choice selects."""
    return Choice.of([results], wanted).parts[0].points


def test_points_are_chosen_by_number_and_by_coordinates(made_up: Results) -> None:
    """The points of `made_up` have two patterns, two policies and four loads.

    In the order of the points, the load changes fastest.
    """
    assert points(made_up) == list(range(16))
    assert points(made_up, "3") == points(made_up, 3) == [3]
    assert points(made_up, "load=0.2") == points(made_up, {"traffic.load": 0.2}) == [1, 5, 9, 13]
    assert points(made_up, "load=0.20,pattern=tornado") == [9, 13]
    assert points(made_up, "policy=idle_timeout,traffic.pattern=uniform") == [4, 5, 6, 7]
    assert points(made_up, "policy=idle_timeout(idle 9cycles),load=0.1") == [4, 12]
    assert points(made_up, 0, "load=0.4,pattern=uniform") == [0, 3, 7], "one or the other"


def test_a_model_without_parameters_goes_before_its_variants(tmp_path: Path) -> None:
    variant: dict[str, Any] = {"tcep": {"hub": 1}}
    policies = ["tcep", variant, {"tcep": {"hub": 1, "guard": False}}, "slac"]
    runs: list[tuple[dict[str, Any], dict[str, Any]]] = [({"power.policy": policy}, {}) for policy in policies]
    results = made(tmp_path / "tcep", runs)
    assert points(results, "policy=tcep") == [0]
    assert points(results, "policy=tcep(hub 1)") == points(results, {"power.policy": variant}) == [1]
    assert Chosen.named(f"{results.root}:policy=tcep", weft.open_results).points == [0], "as `weft compare` chooses"
    assert points(made(tmp_path / "variants", runs[1:]), "policy=tcep") == [0, 1], "the name stands for all of them"


def test_the_exact_match_is_among_those_that_are_wanted_besides(tmp_path: Path) -> None:
    variant = {"tcep": {"hub": 1}}
    runs: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"power.policy": "tcep", "traffic.load": 0.1}, {}),
        ({"power.policy": variant, "traffic.load": 0.2}, {}),
    ]
    assert points(made(tmp_path / "loads", runs), "policy=tcep,load=0.2") == [1]


def test_what_the_sweep_did_not_set_can_be_chosen_too(recorded: Results) -> None:
    """Points can be chosen by keys that the sweep did not set.

    The last part of a key's path is enough; if more parts are given, all must match.
    """
    assert points(recorded, "seed=2,load=0.1,pattern=tornado,routing=ugal_p") == [21]
    assert points(recorded, "power.policy=idle_timeout") == list(range(24))


@pytest.mark.parametrize("wanted", ["load=0.7", "16", "-17", "routing=ugal"])
def test_what_is_not_there_is_answered_with_what_is(made_up: Results, wanted: str) -> None:
    with pytest.raises(weft.ResultsError) as caught:
        Choice.of([made_up], [wanted])
    assert "points are 0 to 15" in caught.value.help
    assert "traffic.load: 0.1, 0.2, 0.3, 0.4" in caught.value.help


@pytest.mark.parametrize("wanted", ["speed=3", "ttern=uniform"])
def test_paths_that_are_not_there_are_answered_with_those_that_are(made_up: Results, wanted: str) -> None:
    with pytest.raises(weft.ResultsError, match="is not a coordinate of the sweep") as caught:
        Choice.of([made_up], [wanted])
    assert "traffic.pattern, power.policy, traffic.load" in caught.value.help


def test_every_choice_has_to_mean_a_point(made_up: Results) -> None:
    with pytest.raises(weft.ResultsError, match="no finished point matches 99"):
        Choice.of([made_up], [0, 99])


def test_numbers_are_whole_and_a_negative_one_counts_from_the_last(made_up: Results) -> None:
    assert points(made_up, np.int64(0)) == [0]
    assert points(made_up, -1) == points(made_up, "-1") == [15]
    with pytest.raises(weft.ResultsError, match=r"0\.0 names no point"):
        points(made_up, 0.0)


def test_the_method_takes_one_point_some_or_all(made_up: Results) -> None:
    def lines(point: Any) -> int:
        axes = made_up.plot.figure("mean_hops", point=point).axes[0]
        return sum(len(np.atleast_1d(line.get_xdata())) for line in axes.get_lines() if line.get_label() == "_steady")

    assert [lines(point) for point in (None, (), np.int64(0), np.arange(3), [np.int64(1)])] == [8, 8, 1, 3, 1]
    with pytest.raises(weft.ResultsError, match="the list of points is empty"):
        lines([])


def test_loads_with_many_digits_can_be_chosen(tmp_path: Path) -> None:
    results = made(tmp_path / "fine", [({"traffic.load": load}, {}) for load in (0.3046875, 0.3046876)])
    assert points(results, "load=0.3046875") == points(results, {"load": 0.3046875}) == [0]
    assert Chosen.named(f"{results.root}:load=0.3046875", weft.open_results).points == [0]


def test_commands_choose_by_the_same_rules(tmp_path: Path) -> None:
    """In commands, points can be chosen by index, by values that the sweep did not set, and by options with commas.

    Commands refuse ambiguous paths of keys.
    """
    model = {"ugal_p": {"threshold": "2flits", "nonminimal": 3}}
    results = made(
        tmp_path / "rules",
        [
            ({"routing": each, "links.a.vcs": 2, "links.b.vcs": 4}, {"pattern": "uniform"})
            for each in ("minimal", model)
        ],
    )
    for words, expected in {
        "1": [1],
        "pattern=uniform": [0, 1],
        "routing=ugal_p(threshold 2flits, nonminimal 3),a.vcs=2": [1],
        "b.vcs=4,routing=minimal": [0],
    }.items():
        assert Chosen.named(f"{results.root}:{words}", weft.open_results).points == points(results, words) == expected
    for choose in (lambda: Chosen.named(f"{results.root}:vcs=2", weft.open_results), lambda: points(results, "vcs=2")):
        with pytest.raises(weft.ResultsError, match=r"vcs is ambiguous: it can mean links\.a\.vcs or links\.b\.vcs"):
            choose()


def test_a_folder_is_named_once(made_up: Results) -> None:
    with pytest.raises(weft.ResultsError, match="is named twice"):
        Choice.of([made_up, made_up])
    with pytest.raises(weft.ResultsError, match="is named twice"):
        _ = Sources([made_up, made_up]).names
    with pytest.raises(weft.ResultsError, match="is named twice"):
        Database([made_up, made_up])


def test_a_point_alone_says_how_it_ended(made_up: Results) -> None:
    assert Choice.of([made_up], ["pattern=tornado,policy=always_on,load=0.4"]).title.endswith("load 0.4 (saturated)")
    assert "saturated" not in Choice.of([made_up], ["pattern=tornado"]).title


def test_text_that_is_neither_is_refused(made_up: Results) -> None:
    with pytest.raises(weft.ResultsError, match=r"neither the number of a point nor path=value"):
        Choice.of([made_up], ["tornado"])


def test_labels_say_what_differs_and_the_title_what_does_not(made_up: Results) -> None:
    choice = Choice.of([made_up], ["pattern=uniform,load=0.1", "pattern=uniform,load=0.2"])
    assert choice.title == "made up: uniform"
    assert [spot.label for spot in choice.spots()] == [
        f"{policy}, load {load}" for policy in ("always_on", "idle_timeout") for load in (0.1, 0.2)
    ]
    alone = Choice.of([made_up], [2])
    assert (alone.title, alone.spot().label) == ("made up: uniform, always_on, load 0.3", "")


def test_too_many_points_are_answered_with_how_to_choose(made_up: Results) -> None:
    with pytest.raises(weft.ResultsError, match=r"at most one point, but 16 are chosen") as caught:
        Choice.of([made_up]).spot()
    assert "--point 0 or --point pattern=uniform,policy=always_on,load=0.1, in Python with point=0" in caught.value.help
    assert "and 8 more" in caught.value.help
    example = caught.value.help.partition(" or --point ")[2].partition(", in Python")[0]
    assert points(made_up, example) == [0], "what is proposed works"


def test_results_of_one_name_are_reported_apart_by_their_folders(made_up: Results, small: Path, tmp_path: Path) -> None:
    runs = [weft.load(small, overrides={"traffic.load": 0.1}).run(tmp_path / name) for name in ("left", "right")]
    assert [part.name for part in Choice.of(runs).parts] == ["left", "right"]
    assert [part.name for part in Choice.of([runs[0], made_up]).parts] == [runs[0].title, "made up"]


def test_series_of_several_results_carry_what_only_one_of_them_set(
    recorded: Results, small: Path, tmp_path: Path
) -> None:
    """Neither of two sweeps varies the policy, but their scenarios have different policies.

    Curves therefore have the policy in their labels, and points can be chosen by it.
    """
    other = weft.load(small, overrides={"traffic.load": 0.1, "name": "awake"}).run(tmp_path / "awake")
    rows = Choice.of([recorded, other]).panels()
    assert [panel.title for panel in rows] == ["uniform", "tornado"]
    assert [curve.label for curve in rows[0].curves] == [
        f"{name}, {routing}, {policy}"
        for name, policy in (("recorded", "idle_timeout"), (other.title, "always_on"))
        for routing in ("dimension_order", "ugal_p")
    ]


def test_what_one_sweep_did_not_set_is_looked_up_in_its_scenarios(small: Path, tmp_path: Path) -> None:
    one = {"traffic.load": 0.1, "routing": "ugal_p", "traffic.pattern": "uniform"}
    swept = weft.load(small, overrides=one | {"sweep.links.default.vcs": [4, 6], "name": "swept"}).run(
        tmp_path / "swept"
    )
    fixed = weft.load(small, overrides=one | {"links.default.vcs": 4, "name": "fixed"}).run(tmp_path / "fixed")
    (panel,) = Choice.of([swept, fixed]).panels()
    assert [curve.label.rpartition(", ")[2] for curve in panel.curves] == ["vcs 4", "vcs 6", "vcs 4"]


def test_a_panel_of_jobs_is_called_so(tmp_path: Path) -> None:
    sets = [made(tmp_path / name, [({}, {"pattern": pattern})]) for name, pattern in (("a", "uniform"), ("b", None))]
    assert [panel.title for panel in Choice.of(sets).panels()] == ["uniform", "jobs"]


SEEDS = """\
name: seeds
topology: {full_mesh: {routers: 4, terminals_per_router: 2}}
routing: minimal
traffic: {pattern: uniform}
measure: {warmup: 100cycles, window: 300cycles}
sweep: {traffic.load: [0.1, 0.4], seed: [1, 2, 3]}
"""


def test_bars_are_the_confidence_over_the_seeds(tmp_path: Path) -> None:
    results = weft.load(SEEDS).run(out=tmp_path / "seeds")
    drawing = results.plot.figure("load")
    assert any("3 seeds" in str(handle.get_label()) for handle in drawing.plan.handles)
    for axes, name in zip(drawing.axes, ("packet_latency_mean_cycles", "accepted_load"), strict=False):
        bars: Any
        (bars,) = [each for each in axes.containers if each.get_label() == "_bars"]
        ends = [segment[:, 1] for segment in bars.lines[2][0].get_segments()]
        for load, (low, high) in zip((0.1, 0.4), ends, strict=True):
            values = [summary[name] for summary in results.summaries if summary["load"] == load]
            # 4.303 is the 97.5 % quantile of Student's t with two degrees of freedom
            half = 4.303 * np.std(values, ddof=1) / np.sqrt(3)
            assert (high - low) / 2 == pytest.approx(half, rel=1e-3)
            assert (high + low) / 2 == pytest.approx(np.mean(values))
    assert drawing.numbers is not None
    assert "packet_latency_mean_cycles_ci95_half_width" in drawing.numbers.columns
    alone = results.plot.figure("load", point="seed=1")
    assert not any("seeds" in str(handle.get_label()) for handle in alone.plan.handles)


def test_panels_are_chosen_by_words(made_up: Results) -> None:
    drawing = made_up.plot.figure("load", panels="accepted,latency,tornado")
    labels = [axes.get_ylabel().replace("\n", " ") for axes in drawing.axes]
    assert [label.partition(" [")[0] for label in labels] == ["Accepted load", "Mean packet latency"]
    assert {axes.get_title(loc="left") for axes in drawing.axes} == {"tornado"}
    with pytest.raises(WeftError, match="no panel 'latncy'") as absent:
        made_up.plot.figure("load", panels="latncy")
    assert "Mean packet latency" in absent.value.help
    with pytest.raises(WeftError, match="no selectable panels"):
        made_up.plot.figure("hops", point=0, panels="latency")


def test_an_axis_of_latencies_is_cut_where_a_curve_rises_into_saturation(tmp_path: Path) -> None:
    def top(*last: tuple[float, dict[str, Any]]) -> float:
        points = [(0.1, {"packet_latency_mean_cycles": 20.0}), (0.2, {"packet_latency_mean_cycles": 30.0}), *last]
        results = made(tmp_path / f"cut{len(list(tmp_path.iterdir()))}", [({"traffic.load": x}, y) for x, y in points])
        return float(results.plot.figure("latency_accepted").axes[0].get_ylim()[1])

    steep = {"packet_latency_mean_cycles": 4000.0}
    over = {"saturated": True, "ending": "saturated"}
    # next to saturation, the axis ends at six times the lowest latency of 20 cycles, plus 15 % of room
    assert top((0.3, steep), (0.4, over)) == pytest.approx(1.15 * 6 * 20)
    assert top((0.3, steep | {"warmup_settled": False})) == pytest.approx(1.15 * 6 * 20)
    # the axis includes the whole latency of a sound point that is not next to saturation
    assert top((0.3, steep)) == pytest.approx(1.15 * 4000)
    assert top((0.3, over)) == pytest.approx(1.15 * 30)
