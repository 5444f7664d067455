"""Tests a load that changes in phases. Weft measures, judges, tabulates and draws each phase separately."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import weft
from conftest import made
from weft import _engine
from weft.cli import main
from weft.plot import draw
from weft.plot.choice import Choice
from weft.report import answer
from weft.report.data import collect
from weft.report.sources import Sources
from weft.results import notes, soundness, tables

if TYPE_CHECKING:
    from weft.api.results import Results

# A ring of eight routers, which saturates near load 0.5 of uniform traffic. The last phase is long enough to deliver
# the packets that remain after the third phase.
DAY = """\
name: day
topology: {torus: {widths: [8], terminals_per_router: 1}}
links: {default: {latency: 2cycles, vcs: 4, buffer: 16flits}}
routing: dimension_order
traffic:
  pattern: uniform
  packet: 2flits
  load: 0.1
  phases:
    - {from: 1000cycles, load: 0.2}
    - {from: 6000cycles, load: 1.0}
    - {from: 9000cycles, load: 0.05}
    - {from: 90000cycles, load: 0.1}
power: {policy: {idle_timeout: {idle: 40cycles, transition: 20cycles}}}
measure: {warmup: 2000cycles, window: 58000cycles}
"""


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Run a "day" of phases, with a rush hour whose load the network cannot carry, and with two phases outside the
    window."""
    return weft.load(DAY).run(tmp_path_factory.mktemp("day") / "day")


def test_each_phase_has_numbers_of_its_own(day: Results) -> None:
    summary = day.summaries[0]
    assert summary["ending"] == "drained", "the rush hour is forgotten by the end"
    phases = day.phases
    assert phases["phase"].to_list() == [1, 2, 3, 4, 5]
    assert phases["from_cycle"].to_list() == [None, 2000, 6000, 9000, None]
    assert phases["to_cycle"].to_list() == [None, 6000, 9000, 60000, None]
    assert phases["saturated"].to_list() == [None, False, True, False, None]
    measured = phases[1:4]
    assert measured["load"].to_list() == pytest.approx([0.2, 1.0, 0.05])
    assert measured["offered_load"].to_list() == pytest.approx([0.2, 1.0, 0.05], rel=0.1)
    quiet, rush, after = measured["accepted_load"]
    assert quiet == pytest.approx(0.2, rel=0.1)
    assert rush < 0.9
    assert after > 0.05, "what the rush hour left behind is delivered, too"


def test_phases_add_up_to_the_window(day: Results) -> None:
    summary, measured = day.summaries[0], day.phases[1:4]
    cycles = measured["to_cycle"] - measured["from_cycle"]
    assert cycles.sum() == summary["window_cycles"]
    assert measured["packets"].sum() == summary["packets"]
    for column in ("offered_load", "accepted_load", "power_mean_w", "power_always_on_mean_w"):
        assert (measured[column] * cycles).sum() == pytest.approx(summary[column] * summary["window_cycles"]), column
    latencies = (measured["packet_latency_mean_cycles"] * measured["packets"]).sum()
    assert latencies == pytest.approx(summary["packet_latency_mean_cycles"] * summary["packets"])


def test_phases_do_not_depend_on_blocks(day: Results, tmp_path: Path) -> None:
    again = weft.load(DAY).run(tmp_path / "again", blocks=3)
    assert again.summaries[0]["phases"] == day.summaries[0]["phases"]


def test_a_saturated_phase_is_reported_and_not_praised(
    day: Results, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sentences = answer.sentences(Sources([day]))
    assert sentences[0] == "1 point: 1 is saturated in a phase of the load."
    assert not any("none saturated" in each or "Lowest" in each for each in sentences)
    assert any("Phase 3 of the load is saturated" in each for each in sentences)
    path = tmp_path / "day.yaml"
    path.write_text(DAY, encoding="utf-8")
    assert main(["run", str(path), "--out", str(day.root), "--no-picture"]) == 0
    output = capsys.readouterr().out
    assert "phase 3 of the load is saturated" in output
    why = "because the load changes at given times; the scenario sets the warm-up to 2000 cycles"
    assert f"settled: not judged, {why}" in output
    assert (
        "phase 1 of the load has no measured packet: it ends in cycle 1000, and the window begins in cycle 2000"
        in output
    )
    assert (
        "phase 5 of the load has no measured packet: it begins in cycle 90000, and the window ends in cycle 60000"
        in output
    )
    assert (day.root / "phases.csv").is_file()
    row = next(line for line in output.splitlines() if "sat" in line.split())
    assert row.split()[:2] == ["0.1", "sat"], "the table of loads says it, too"


def test_phases_are_a_table(day: Results) -> None:
    lines = tables.phases(day)
    assert lines[1].split() == ["phase", "cycles", "set", "offered", "accepted", "latency", "p99", "energy", "power"]
    rows = [line.split() for line in lines[3:]]
    assert [row[0] for row in rows] == ["1", "2", "3", "4", "5"]
    assert rows[2][1:3] == ["6000-9000", "1.000"]
    assert rows[2][5:7] == ["sat", "sat"]
    assert rows[0][3:] == ["-"] * 7


def test_phases_are_queried(day: Results) -> None:
    found = day.query("select phase, accepted_load from phases where saturated")
    assert found["phase"].to_list() == [3]


def test_phases_are_drawn(day: Results) -> None:
    drawing = draw.figure("phases", Choice.of([day]))
    loads, latency, power = drawing.axes
    accepted = [line for line in loads.get_lines() if line.get_label() == "accepted, measured"]
    assert [np.asarray(line.get_ydata())[0] for line in accepted] == day.phases[1:4]["accepted_load"].to_list()
    assert [np.asarray(line.get_xdata())[0] for line in accepted] == [2000, 6000, 9000]
    shown = [line for line in latency.get_lines() if line.get_label() == "packet_latency_mean_cycles"]
    assert len(shown) == 2, "the latency of the saturated phase has no limit"
    assert len([line for line in power.get_lines() if line.get_label() == "power_mean_w"]) == 3


def test_a_page_holds_the_phases(day: Results) -> None:
    listings = collect(Sources([day]))["listings"]
    ((phases,),) = [listing["rows"] for listing in listings if listing["name"] == "phases"]
    assert [phase["saturated"] for phase in phases] == ["not measured", "no", "saturated", "no", "not measured"]
    assert phases[2]["packet_latency_mean_cycles"] == "sat"


def test_a_steady_load_has_no_phases(recorded: Results) -> None:
    assert tables.phases(recorded) == []
    assert recorded.phases.is_empty()
    with pytest.raises(weft.ResultsError, match=r"does not change in phases(.|\n)*traffic\.phases"):
        draw.figure("phases", Choice.of([recorded], ["0"]))


def test_where_a_load_saturates_is_judged_by_phases(day: Results) -> None:
    (row,) = answer.curves(Sources([day]))
    assert row["saturation"] == "between 0.2 and 1", "and not 'not up to 0.1', the load of the first phase"


def test_a_phase_that_is_not_judged_is_no_example_of_anything(
    day: Results, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A phase that Weft cannot judge has no savings, and is marked in table and figure.

    The phase gives no saturation load of the network.
    """
    assert day.summaries[0]["saturated"] is False
    open_ = [phase | {"saturated": None} for phase in day.summaries[0]["phases"]]
    summary = day.summaries[0] | {"saturated": None, "phases": open_}
    runs = [({"power.policy": policy}, summary | {"hash": n}) for n, policy in enumerate(("always_on", "tcep"))]
    results = made(tmp_path / "open", runs)
    measured = [phase for phase in soundness.in_phases(summary) if phase["packets"]]
    assert [soundness.UNJUDGED in soundness.flaws(phase) for phase in measured] == [True] * 3
    assert results.phases["flaw"][1:4].to_list() == [
        soundness.UNJUDGED.words,
        soundness.UNJUDGED.words,
        f"{soundness.UNJUDGED.words}, {soundness.LEFT_OVER.words}",
    ]
    head, _, _, *lines = tables.phases(results)
    assert "?: the run is too short to tell whether the network is saturated" in head
    assert ["?" in line for line in lines[:5]] == [False, True, True, True, False]
    drawing = draw.figure("phases", Choice.of([results], [0]))
    assert "not judged" in [text.get_text() for text in drawing.legends[0].get_texts()]
    (cross,) = (line for line in drawing.axes[1].get_lines() if line.get_label() == "_unsettled")
    assert np.asarray(cross.get_xdata()).size == 3
    (row, *_) = answer.curves(Sources([results]))
    assert (row["steady_load"], row["saturation"]) == (None, "not judged from 0.05 on")
    assert main(["compare", f"{results.root}:policy=always_on", f"{results.root}:policy=tcep"]) == 0
    assert capsys.readouterr().out.count(soundness.UNJUDGED.words) == 4 * 4


def test_a_load_is_carried_only_if_no_phase_with_it_is_open() -> None:
    for loads in ([(0.05, False), (0.9, None)], [(0.05, False), (0.9, None), (0.9, False)]):
        assert _engine.saturation(loads, [], False, False) == (0.05, "not up to 0.05, not judged from 0.9 on")


def test_a_fat_tree_uses_the_links_that_each_load_of_a_day_needs(tmp_path: Path) -> None:
    """The example scenario of a day, on a fat tree of 16 terminals.

    At night, in the morning and in the evening a spanning tree of links is enough.
    """
    policies = ["always_on", {"elastic_tree": {"epoch": "1us", "wake": "1us"}}]
    example = Path(__file__).parent.parent / "examples" / "fat_tree_day.yaml"
    scenario = weft.load(example, overrides={"topology.fat_tree.k": 4, "sweep.power.policy": policies})
    always, elastic = scenario.run(tmp_path / "day").phases.partition_by("power.policy", maintain_order=True)
    assert elastic["accepted_load"].to_list() == pytest.approx(always["accepted_load"].to_list(), rel=0.03)
    night, morning, noon, evening = elastic["power_mean_w"] / always["power_mean_w"]
    assert max(night, morning) < 0.7, (night, morning)
    assert night < evening < noon <= 1.0, "links of the noon drain in the evening"


def test_a_saturated_phase_says_what_waits_and_not_only_what_it_accepts(tmp_path: Path) -> None:
    """A saturated phase that delivers the backlog of an earlier phase accepts nearly its whole offered load.

    The note therefore also names the packets that wait.
    """
    known: dict[str, Any] = {"packets": 1000, "packet_latency_p50_cycles": 0}
    first = known | {"phase": 1, "start_cycle": 0, "from_cycle": 0, "to_cycle": 1000, "saturated": True}
    second = known | {"phase": 2, "start_cycle": 1000, "from_cycle": 1000, "to_cycle": 2000, "saturated": True}
    first |= {"load": 0.4, "offered_load": 0.4, "accepted_load": 0.3}
    second |= {"load": 0.05, "offered_load": 0.05, "accepted_load": 0.04956}
    results = made(tmp_path / "phased", [({}, {"packets": 1000, "phases": [first, second]})])
    # per terminal, 0.1 * 1000 flits remain from the previous phase, and 0.44 of the 50 flits that this phase offers
    text = "0.04956 of 0.05 flits/terminal/cycle are accepted, 100 flits/terminal wait in the source queues at its end"
    share = "201 % of its offered flits), and 100 at its beginning"
    assert any(text in line and share in line for line in notes.lines(results))
