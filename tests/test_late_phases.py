"""Tests a phase in which the network first accepts too little and later all of the load.

Tables mark it, rankings omit it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

import weft
from weft.cli import main
from weft.plot import draw
from weft.plot.choice import Choice
from weft.report import answer
from weft.report.data import collect
from weft.report.sources import Sources
from weft.results import notes, soundness, tables

if TYPE_CHECKING:
    from pathlib import Path

    from weft.api.results import Results

# Links wake too late for the load of the second phase. Therefore the network accepts too little in the first half of
# this phase.
WAKING = """\
topology: {hyperx: {widths: [4], terminals_per_router: 4}}
links:
  default: {latency: 10cycles, vcs: 6, buffer: 32flits}
  terminal: {latency: 1cycle}
routing: pal
traffic:
  pattern: uniform
  load: 0.05
  phases: [{from: 40000cycles, load: 0.45}, {from: 56000cycles, load: 0.3}, {from: 66000cycles, load: 0.1}]
power: {policy: {tcep: {activation_epoch: 2000cycles, deactivation_epoch: 8000cycles, wake: 2000cycles}}}
measure: {warmup: 30000cycles, window: 46000cycles}
"""


@pytest.fixture(scope="module")
def waking(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Run four phases, and return their results.

    In the second phase the network accepts less than the load, and in the third it delivers the remaining packets.
    """
    return weft.load(WAKING).run(tmp_path_factory.mktemp("waking") / "waking")


def test_it_is_marked_in_the_table_and_reported_in_a_sentence(waking: Results) -> None:
    flaws = ["not settled (accepted too little at first)", "not settled (began with a backlog)"]
    assert waking.phases["saturated"].to_list() == [False] * 4
    assert waking.phases["flaw"].to_list() == [None, *flaws, None]
    head, _, _, *rows = tables.phases(waking)
    assert "; ~: measured before the network had settled" in head
    assert ["~" in row for row in rows] == [False, True, True, False]
    text = "\n".join(notes.lines(waking))
    accepted, offered = (waking.phases[f"{which}_load"][1] for which in ("accepted", "offered"))
    loads = f"{accepted:.4g} of {offered:.4g} flits/terminal/cycle"
    assert f"phase 2 of the load accepts too little at first: {loads} are accepted" in text
    assert "although the network carries the load in the second half; the remaining packets wait for later" in text
    assert "phase 3 of the load began with a backlog of earlier phases" in text
    sentences = answer.sentences(Sources([waking]))
    assert any(each.startswith("Phase 2 of the load accepts too little") for each in sentences)


def test_it_is_marked_in_the_report_the_figure_and_the_exports(waking: Results, tmp_path: Path) -> None:
    listings = collect(Sources([waking]))["listings"]
    ((rows,),) = [listing["rows"] for listing in listings if listing["name"] == "phases"]
    assert [row["mark"] for row in rows] == ["", "~", "~", ""]
    assert [row["crossed"] for row in rows] == [False, True, True, False]
    assert rows[1]["flaw"] == "not settled (accepted too little at first)"
    drawing = draw.figure("phases", Choice.of([waking]))
    (crosses,) = (line for line in drawing.axes[1].get_lines() if line.get_label() == "_unsettled")
    assert np.asarray(crosses.get_xdata()).tolist() == [48_000, 61_000]
    assert drawing.numbers is not None
    assert drawing.numbers["flaw"][1] == "not settled (accepted too little at first)"
    out = tmp_path / "phases.md"
    assert main(["export", str(waking.root), "--table", "phases", "--out", str(out)]) == 0
    text = out.read_text(encoding="utf-8")
    assert text.startswith("| Phase | From cycle | To cycle | Configured load [flits/terminal/cycle] |"), text
    assert "~: measured before the network had settled" in text.replace("\\", "")


def test_the_longer_phase_that_is_asked_for_is_sound(waking: Results, tmp_path: Path) -> None:
    (length,) = re.findall(r"let phase 2 last for (\d+) cycles or more", "\n".join(notes.lines(waking)))
    end = 40_000 + int(length)
    phases = [
        {"from": "40000cycles", "load": 0.45},
        {"from": f"{end}cycles", "load": 0.3},
        {"from": f"{end + 10_000}cycles", "load": 0.1},
    ]
    longer = weft.load(WAKING, overrides={"traffic.phases": phases, "measure.window": f"{end - 10_000}cycles"})
    assert longer.run(tmp_path / "longer").phases["flaw"].to_list() == [None] * 4


def test_its_power_is_in_no_bill(waking: Results) -> None:
    keys = {"price_per_kwh": "0.25EUR", "profile": [{"share": 1, "phase": 2}]}
    with pytest.raises(weft.ResultsError, match=r"phase 2 is not settled \(accepted too little at first\)") as raised:
        waking.bill(keys)
    assert re.fullmatch(r"let phase 2 last for \d+ cycles or more in the window", raised.value.help)
    assert soundness.FELL_BEHIND.help


def test_the_usual_figure_of_loads_that_change_shows_the_phases_of_all_points(waking: Results, tmp_path: Path) -> None:
    policies = ["always_on", waking.scenario(0)["power"]["policy"]]
    both = weft.load(WAKING, overrides={"sweep.power.policy": policies}).run(tmp_path / "both")
    drawing = both.plot.figure("phases")
    words = [text.get_text() for text in drawing.legends[0].get_texts()]
    assert {"always_on", "configured load", "not settled"} <= set(words)
    assert any(word.startswith("tcep") for word in words)
    for axes in drawing.axes[1:]:
        assert sum(line.get_label() == "always_on" for line in axes.get_lines()) == 4
    assert drawing.numbers is not None
    assert drawing.numbers.height == 8
    assert both.plot().with_name("plot.png.csv").read_text(encoding="utf-8").startswith("series,from_cycle,to_cycle,")
