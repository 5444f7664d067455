"""Tests that flaws of a point other than saturation are marked in all tables and figures with the point's numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from conftest import made
from small import steady_point
from weft._engine import LINK_STATES
from weft.cli import main
from weft.plot import draw
from weft.plot.choice import Choice
from weft.results import of_sweep, soundness, tables

if TYPE_CHECKING:
    from weft.api.results import Results

COLUMNS = "saturated,accepted_load,packet_latency_mean_cycles,energy_per_bit_pj"
PHASES = [
    {"phase": number, "start_cycle": 0, "from_cycle": 0, "to_cycle": 100, "load": 0.1, "packets": 100}
    | {"offered_load": 0.1, "accepted_load": 0.1, "saturated": number == 2}
    for number in (1, 2)
]
FLAWED: dict[str, dict[str, Any]] = {
    "sat": {"phases": PHASES},
    soundness.DROPPING_MARK: {"dropped_packets": 10},
    soundness.UNSETTLED_MARK: {"warmup_settled": False},
    soundness.UNJUDGED_MARK: {"saturated": None},
    soundness.FEW_MARK: {"packets": 5},
    soundness.PERIOD_MARK: {"whole_periods": False},
}


@pytest.fixture
def flawed(tmp_path: Path) -> Results:
    """Make results with a sound point, and with a flawed point for each mark of a flaw."""
    points = [steady_point("always_on", 0.05)]
    points += [steady_point("always_on", 0.1 * place + 0.1, **each) for place, each in enumerate(FLAWED.values())]
    return made(tmp_path / "flawed", points)


@pytest.mark.parametrize("ending", ["md", "tex"])
def test_a_typeset_table_marks_every_flaw(flawed: Results, tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"t.{ending}"
    assert main(["export", str(flawed.root), "--columns", COLUMNS, "--out", str(out)]) == 0
    text = out.read_text(encoding="utf-8")
    plain = text.replace("\\textasciitilde{}", "~").replace("\\textasciicircum{}", "^").replace("\\", "")
    rows = [line for line in plain.splitlines() if "20.0" in line or "sat" in line.split(":")[0]]
    assert len([row for row in rows if "20.0 " in row]) == 1, "only the sound point has no mark"
    for sign, meaning in (soundness.ENDED | soundness.MARKS).items():
        if sign in FLAWED:
            assert f"{sign}: {meaning}" in plain
            assert any((sign if sign == "sat" else f"20.0{sign}") in row for row in rows), sign
    assert "in a phase" in next(row for row in rows if "sat" in row)
    assert "sat at a drained point: the point is saturated in a phase of its load" in plain


def test_a_window_of_a_part_of_a_period_is_marked_in_the_table_of_a_run(flawed: Results) -> None:
    shown = tables.loads(flawed)
    assert f"{soundness.PERIOD_MARK}: {soundness.PART_OF_PERIOD.words}" in shown
    assert f"20.0{soundness.PERIOD_MARK}" in shown


def test_the_filter_of_the_page_of_results_gives_sound_points_alone(flawed: Results) -> None:
    page = Path(__file__).parent.parent / "docs" / "howto" / "results.md"
    assert "from points where flaw is null" in page.read_text(encoding="utf-8")
    assert flawed.query("select load from points where flaw is null")["load"].to_list() == [0.05]


def test_a_typeset_search_has_the_marks_of_the_screen(flawed: Results, tmp_path: Path) -> None:
    found = {"verdict": "found", "steady_load": 0.1, "saturated_load": 0.4, "accepted_load": 0.3}
    found |= {"packet_latency_mean_cycles": 30.0, "stuck": False, "dropped_share": None, "runs": 9}
    found |= {
        "unsettled_loads": 2,
        "wider_than_tolerance": True,
        "flaw": None,
        "loads_run": "0.1 0.4",
        "warned_of": None,
    }
    above = found | {
        "verdict": "above_range",
        "saturated_load": None,
        "accepted_load": None,
        "flaw": "not settled (queues)",
    }
    above |= {"wider_than_tolerance": False, "warned_of": "power.policy.idle_timeout.idle"}
    stuck = found | {"stuck": True, "unsettled_loads": 0, "wider_than_tolerance": False, "dropped_share": 0.5}
    pl.DataFrame([found, above, stuck], infer_schema_length=None).write_csv(flawed.root / of_sweep.FILE)
    for ending in ("md", "tex"):
        assert main(["export", str(flawed.root), "--table", "saturation", "--out", str(tmp_path / f"s.{ending}")]) == 0
    text = (tmp_path / "s.md").read_text(encoding="utf-8").replace("\\", "")
    lines = text.splitlines()
    assert "| found | 0.1+ | 0.4 | 0.300 | 30.0 |" in lines
    assert "| above_range | 0.1~! | - | - | 30.0~ |" in lines
    assert "| found | 0.1 | 0.4, stuck, 50 % dropped | 0.300 | 30.0 |" in lines
    assert "~ at a latency: not settled (queues)" in lines
    assert f"+: {of_sweep.WIDER}" in lines
    warned = "!: only the loads 0.1, 0.4 were run; the network may not carry other loads"
    assert f"{warned} (warning of power.policy.idle_timeout.idle)" in lines
    assert any(line.startswith("~ at a steady load: some runs had not settled") for line in lines)


def test_residency_has_crosses_on_points_that_are_flawed(tmp_path: Path) -> None:
    """A flawed point has a cross at the upper edge, like the markers of saturated points.

    A sound point has no cross.
    """
    shares = dict.fromkeys((f"links_{state}_share" for state in LINK_STATES), 0.0)
    shares |= {"links_on_share": 0.4, "links_off_share": 0.6}
    kinds: list[dict[str, Any]] = [{}, {"warmup_settled": False}, {"whole_periods": False}, {"saturated": True}]
    points = [steady_point("a", 0.1 * place, **shares | kind) for place, kind in enumerate(kinds, 1)]
    choice = Choice.of([made(tmp_path / "made", points)])
    (axes,) = draw.figure("residency", choice).axes
    crosses = [line for line in axes.lines if line.get_label() == "_unsettled"]
    assert [np.asarray(line.get_xdata()).tolist() for line in crosses] == [[1, 2]]
    assert [np.asarray(line.get_ydata()).tolist() for line in crosses] == [[100, 100]]
    (saturated,) = [line for line in axes.lines if line.get_label() == "_saturated"]
    assert np.asarray(saturated.get_xdata()).tolist() == [3]


def test_energy_over_latency_names_the_loads_of_the_measured_phases(tmp_path: Path) -> None:
    """If the load changes in phases, the figure names the loads of the measured phases, not the load at the start.

    The figure compares only points with the same loads.
    """

    def point(load: float, energy: float) -> tuple[dict[str, Any], dict[str, Any]]:
        unseen = {"phase": 1, "start_cycle": 0, "from_cycle": None, "to_cycle": None, "load": 0.01, "packets": 0}
        phases = [unseen | {"saturated": None}, PHASES[0] | {"phase": 2, "load": load}]
        shares = dict.fromkeys((f"links_{state}_share" for state in LINK_STATES), 0.0)
        shares |= {"links_on_share": 0.4, "links_off_share": 0.6}
        policy, numbers = steady_point(f"p{energy}", load, phases=phases, energy_per_bit_pj=energy, **shares)
        return {"power.policy": policy["power.policy"], "traffic.phases.0.load": load}, numbers | {"load": 0.01}

    results = made(tmp_path / "made", [point(0.2, 10.0), point(0.4, 30.0)])
    drawing = draw.figure("energy_delay", Choice.of([results]))
    assert drawing.numbers is not None
    assert drawing.numbers["phase_loads"].to_list() == ["0.2", "0.4"]
    (axes,) = drawing.axes
    assert sorted(text.get_text() for text in axes.texts) == ["0.2", "0.4"]
    (best,) = [line for line in axes.lines if line.get_label() == "_best"]
    assert np.asarray(best.get_xdata()).tolist() == [], "no two points have the same loads"
    residency = draw.figure("residency", Choice.of([results]))
    assert [text.get_text() for axes in residency.axes for text in axes.get_xticklabels()] == ["0.2", "0.4"]
    assert all("or loads of the measured phases" in axes.get_xlabel() for axes in residency.axes)
    text = "against the configured load at the start of the run, because it changes in phases ["
    assert text in tables.loads(results)
