"""Tests link modes that a scenario defines, such as links with fewer lanes, in commands, tables, plots and reports."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import weft
from weft.cli import main
from weft.plot.choice import Choice
from weft.plot.draw import figure
from weft.report.data import collect
from weft.report.sources import Sources
from weft.results import link_modes

if TYPE_CHECKING:
    from weft.api.results import Results

ROOT = Path(__file__).parents[1]
MODES = ("on", "shadow", "draining", "off", "waking", "six", "three", "one")
RECORDED = {
    "measure.series": {"every": "200cycles", "of": "channel"},
    "measure.link_states": {},
}


@pytest.fixture(scope="module")
def lanes(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Run the example of the documentation: two loads under four policies."""
    folder = tmp_path_factory.mktemp("lanes")
    return weft.load(ROOT / "examples" / "lanes.yaml", overrides=RECORDED).run(folder / "results", watch=False)


def test_check_prints_the_modes_of_each_policy_with_rates_and_prices(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(ROOT / "examples" / "lanes.yaml")]) == 0
    output = capsys.readouterr().out
    tables = output.split("modes of links under ")[1:]
    assert [table.split()[0] for table in tables] == ["idle_timeout", "idle_timeout", "rate_ladder"]
    rows = [line.split() for line in tables[2].splitlines()[3:] if line]
    assert rows == [
        ["on", "1", "4.104W", "0fJ/bit"],
        ["waking", "nothing", "4.104W", "0fJ/bit"],
        ["six", "1/2", "2.052W", "0fJ/bit"],
        ["three", "1/4", "1.026W", "0fJ/bit"],
        ["one", "1/12", "342mW", "0fJ/bit"],
    ]


def test_check_names_the_variant_of_each_table_of_modes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "variants.yaml"
    file.write_text(
        "topology: {hyperx: {widths: [4], terminals_per_router: 2}}\nrouting: minimal\n"
        "traffic: {pattern: uniform, load: 0.1}\n"
        "power:\n  modes: [{name: low, rate: 1/10}, {name: nap, carries: false}]\n"
        "  prices: {on: {static: 3W, per_bit: 5pJ/bit}, low: {static: 1W, per_bit: 5pJ/bit},"
        " nap: {static: 0.3W, per_bit: 0pJ/bit}, draining: {static: 3W, per_bit: 5pJ/bit},"
        ' waking: {static: 3W, per_bit: 5pJ/bit}, "off": {static: 0.1W, per_bit: 0pJ/bit}}\n'
        "sweep:\n  power.policy:\n    - always_on\n"
        "    - {idle_timeout: {idle: 1us, transition: 300ns, to: low}}\n"
        "    - {idle_timeout: {idle: 1us, transition: 300ns, to: nap}}\n",
        encoding="utf-8",
    )
    assert main(["check", str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    named = [lines[row - 1] for row, line in enumerate(lines) if line == "modes of links under idle_timeout"]
    assert [line.split(" = ")[0] for line in named] == ["power.policy", "power.policy"]
    assert "to low" in named[0]
    assert "to nap" in named[1]


def test_tables_have_the_modes_of_the_scenario(lanes: Results) -> None:
    for row, summary in enumerate(lanes.summaries):
        assert link_modes.of(summary) == MODES
        channels = lanes.channels(row)
        assert [name.removeprefix("cycles_") for name in channels.columns if name.startswith("cycles_")] == [*MODES]
        cycles = channels.select(f"cycles_{mode}" for mode in MODES).sum_horizontal()
        assert (cycles == summary["window_cycles"]).all(), "residencies sum to the window"
    assert link_modes.slower(lanes.summaries[0]) == {"six": 1 / 2, "three": 1 / 4, "one": 1 / 12}
    low = [summary["links_one_share"] for summary in lanes.summaries]
    assert max(low) > 0.9, "idle links keep one lane"


def test_energy_of_idle_links_is_that_of_their_lanes(lanes: Results) -> None:
    """All links draw 0.342 W per active lane.

    A mode of n lanes therefore draws n times 0.342 W.
    """
    watts = dict.fromkeys(("on", "draining", "waking"), 12) | {"six": 6, "three": 3, "one": 1, "off": 0, "shadow": 0}
    for row, summary in enumerate(lanes.summaries):
        channels = lanes.channels(row)
        lane_cycles = sum(int(channels[f"cycles_{mode}"].sum()) * lanes_of for mode, lanes_of in watts.items())
        # 0.342 W for 1 ns are 342 pJ, or 342,000 fJ
        assert summary["energy_total_fj"] == str(lane_cycles * 342_000)


@pytest.mark.parametrize("kind", ["residency", "series", "link_states"])
def test_plots_name_the_modes_of_the_scenario(lanes: Results, kind: str) -> None:
    ladder = next(row for row, summary in enumerate(lanes.summaries) if summary["links_three_share"])
    drawing = figure(kind, Choice.of([lanes], [] if kind == "residency" else [str(ladder)]))
    named = {text.get_text() for legend in drawing.legends for text in legend.get_texts()}
    assert {"on", "three"} <= named
    assert not {"half", "quarter"} & named


def test_a_report_holds_the_modes_of_the_scenario(lanes: Results) -> None:
    held = collect(Sources([lanes]))
    assert tuple(held["state_order"]) == MODES
    assert set(held["states"]) == set(MODES)
    assert all(f"links_{mode}_share" in held["curves"][0]["means"] for mode in MODES)


def test_points_with_and_without_named_modes_are_drawn_together(lanes: Results, tmp_path: Path) -> None:
    quarter = {"idle_timeout": {"idle": "1us", "transition": "1us", "to": "quarter"}}
    plain = {"power.modes": None, "power.prices": None, "sweep": {"traffic.load": [0.02, 0.1]}, "power.policy": quarter}
    others = weft.load(ROOT / "examples" / "lanes.yaml", overrides=RECORDED | plain).run(
        tmp_path / "others", watch=False
    )
    drawing = figure("residency", Choice.of([lanes, others], []))
    named = {text.get_text() for legend in drawing.legends for text in legend.get_texts()}
    assert {"one", "quarter"} <= named
    held = collect(Sources([lanes, others]))
    assert set(held["state_order"]) == {*MODES, "half", "quarter"}
