"""Which points a figure shows: by number, by coordinates, and what they are called in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import weft
from weft.plot.choice import Choice

if TYPE_CHECKING:
    from pathlib import Path

    from weft.results import Results


def points(results: Results, *wanted: Any) -> list[int]:
    """Numbers of the points of a choice."""
    return Choice.of([results], wanted).parts[0].points


def test_points_are_chosen_by_number_and_by_coordinates(made_up: Results) -> None:
    """Points of `made_up`: two patterns, two policies, four loads, the last changes fastest."""
    assert points(made_up) == list(range(16))
    assert points(made_up, "3") == points(made_up, 3) == [3]
    assert points(made_up, "load=0.2") == points(made_up, {"traffic.load": 0.2}) == [1, 5, 9, 13]
    assert points(made_up, "load=0.20,pattern=tornado") == [9, 13]
    assert points(made_up, "policy=idle_timeout,traffic.pattern=uniform") == [4, 5, 6, 7]
    assert points(made_up, "policy=idle_timeout(idle 9cycles),load=0.1") == [4, 12]
    assert points(made_up, 0, "load=0.4,pattern=uniform") == [0, 3, 7], "one or the other"


def test_what_the_sweep_did_not_set_can_be_chosen_too(recorded: Results) -> None:
    """The end of a path is enough, but all of its words count."""
    assert points(recorded, "seed=2,load=0.1,pattern=tornado,routing=ugal_p") == [21]
    assert points(recorded, "power.policy=idle_timeout") == list(range(24))


@pytest.mark.parametrize("wanted", ["load=0.7", "16", "routing=ugal", "speed=3", "ttern=uniform"])
def test_what_is_not_there_is_answered_with_what_is(made_up: Results, wanted: str) -> None:
    with pytest.raises(weft.ResultsError) as caught:
        Choice.of([made_up], [wanted])
    assert "points are 0 to 15" in caught.value.help
    assert "traffic.load: load 0.1, load 0.2, load 0.3, load 0.4" in caught.value.help


def test_text_that_is_neither_is_refused(made_up: Results) -> None:
    with pytest.raises(weft.ResultsError, match="neither a number nor coordinates"):
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
    with pytest.raises(weft.ResultsError, match=r"one point at most, and 16 are chosen") as caught:
        Choice.of([made_up]).spot()
    assert "--point 0 or --point pattern=uniform,policy=always_on,load=0.1" in caught.value.help
    assert "and 8 more" in caught.value.help
    example = caught.value.help.splitlines()[0].rpartition("--point ")[2]
    assert points(made_up, example) == [0], "what is proposed works"


def test_results_of_one_name_are_told_apart_by_their_folders(made_up: Results, small: Path, tmp_path: Path) -> None:
    runs = [weft.load(small, set={"traffic.load": 0.1}).run(tmp_path / name) for name in ("left", "right")]
    assert [part.name for part in Choice.of(runs).parts] == ["left", "right"]
    assert [part.name for part in Choice.of([runs[0], made_up]).parts] == [runs[0].title, "made up"]


def test_series_of_several_results_carry_what_only_one_of_them_set(
    recorded: Results, small: Path, tmp_path: Path
) -> None:
    """Neither sweep sets the policy, but the two differ in it."""
    other = weft.load(small, set={"traffic.load": 0.1, "name": "awake"}).run(tmp_path / "awake")
    rows = Choice.of([recorded, other]).panels()
    assert [panel.title for panel in rows] == ["uniform", "tornado"]
    assert [curve.label for curve in rows[0].curves] == [
        f"{name}, {routing}, {policy}"
        for name, policy in (("recorded", "idle_timeout"), (other.title, "always_on"))
        for routing in ("dimension_order", "ugal_p")
    ]
