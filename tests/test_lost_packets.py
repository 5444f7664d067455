"""Tests points that lose packets because of faults that are listed or random: all output marks them, none calls them
best, and they have no saving.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import weft
from conftest import made
from weft.cli import main
from weft.plot import draw
from weft.plot.choice import Choice
from weft.report.answer import curves, sentences
from weft.report.data import collect
from weft.report.sources import Sources
from weft.results import notes, savings, soundness, tables
from weft.results.bill_lines import lines
from weft.results.choose import Chosen
from weft.results.comparison import compare
from weft.results.quantities import ACCEPTED, LATENCY

if TYPE_CHECKING:
    from pathlib import Path

    from weft.api.results import Results

# Scenario of a tree. In runs with random faults, routers fail and recover. Dropped packets are not sent again.
TREE = """\
topology: {fat_tree: {k: 4}}
routing: {up_down: {ascent: adaptive}}
links: {default: {latency: 2cycles, vcs: 4, buffer: 16flits}}
traffic: {pattern: uniform, packet: 4flits}
measure: {warmup: 3000cycles, window: 4000cycles}
sweep:
  traffic.load: [0.02, 0.1]
"""
RANDOM = {"random": {"of": "routers", "mtbf": "2us", "mttr": "1us"}}
LISTED = [{"router": 0, "at": "1cycle"}, {"router": 8, "at": "1cycle"}]
BILL = {"price_per_kwh": "0.2EUR", "profile": [{"share": 0.5, "load": 0.02}, {"share": 0.5, "load": 0.1}]}
SLEEPS = [{"elastic_tree": {"epoch": "200cycles", "wake": "100cycles"}}]


def _run(folder: Path, name: str, more: dict[str, Any]) -> Results:
    file = folder / f"{name}.yaml"
    file.write_text(TREE, encoding="utf-8")
    return weft.load(file, overrides=more).run(folder / name)


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Results]:
    """Run a policy under which links sleep with listed and random faults, and always-on links with random faults."""
    folder = tmp_path_factory.mktemp("broken")
    alone = {"bill": BILL, "sweep.power.policy": SLEEPS}
    beside = {"bill": BILL, "fault_model": RANDOM, "sweep.power.policy": ["always_on", *SLEEPS]}
    return {
        "listed": _run(folder, "listed", alone | {"faults": LISTED}),
        "random": _run(folder, "random", alone | {"fault_model": RANDOM}),
        "beside": _run(folder, "beside", beside),
        "on": _run(folder, "on", {"fault_model": RANDOM, "sweep.power.policy": ["always_on"]}),
    }


@pytest.mark.parametrize("kind", ["listed", "random"])
def test_what_failed_is_no_saving_however_it_failed(broken: dict[str, Results], kind: str) -> None:
    results = broken[kind]
    yearly = results.bill()
    assert yearly.frame["saving_share"].to_list() == [None]
    assert "failed links and routers" not in (note := yearly.frame["note"][0])
    assert note.startswith("no savings: failed links draw no power, which is not a saving")
    text = "\n".join(lines(yearly))
    assert re.search(r"[\d.]+ % of its packets were dropped \(a link or router had failed\)", text)
    # the text of the bill in Python and in notebooks has the same marks
    assert str(yearly) == repr(yearly) == text
    answer = " ".join(sentences(Sources([results])))
    assert "are dropping packets" in answer
    assert not re.search(r"\d % (less|more)|Lowest|Least|Highest", answer)


def test_links_always_on_save_nothing_against_themselves(broken: dict[str, Results]) -> None:
    answer = " ".join(sentences(Sources([broken["on"]])))
    assert " % less" not in answer
    assert savings.lines(broken["on"]) == []
    # the figure has no line for the power of always-on links either
    for kind in ("on", "beside"):
        figure = draw.figure("power", Choice.of([broken[kind]]))
        axes = figure.axes[0]
        assert not [
            line for line in axes.lines if "always_on_mean" in str(line.get_label()) and np.size(line.get_xdata())
        ]
        assert "not where links fail" in " ".join(text.get_text() for text in figure.legends[0].get_texts())


def test_a_measured_network_with_the_same_faults_is_what_savings_are_against(broken: dict[str, Results]) -> None:
    (beside,) = savings.measured(broken["beside"])
    assert (beside.reference, len(beside.pairs)) == ("always_on", 2)
    # the points lose more than 3 % of their packets, so they are not compared with any point
    assert not beside.good
    assert "dropping packets" in savings.left_out(beside.pairs)
    frame = broken["beside"].bill().frame
    assert frame["note"].to_list()[0] is None, "links that are always on are the baseline"
    # if both points deliver the same load, the bill names the loss next to the saving; otherwise it says that no
    # setting helps
    text = "\n".join(lines(broken["beside"].bill()))
    if frame["saving_share"][1] is None:
        assert "another load or a longer window does not help" in text
    else:
        assert re.search(r"a year; mean latency .* % of its packets are dropped", text)


def test_what_was_lost_is_not_rounded_away() -> None:
    lost = [{"packets": 1_000_000, "dropped_packets": 300, "saturated": False, "ending": "drained"}]
    assert "99.97 % were delivered" in "\n".join(notes.dropped(lost))


def test_faults_that_take_more_from_one_side_have_no_remedy_that_does_not_work(tmp_path: Path) -> None:
    points = []
    for policy, packets in (("always_on", 95_000), ("tcep", 12_000)):
        numbers: dict[str, Any] = {
            "packets": packets,
            "dropped_packets": 100_000 - packets,
            "accepted_load": 0.1 * packets / 100_000,
        }
        numbers |= {"power_mean_w": 1000.0, "power_always_on_mean_w": 2000.0, "policy": policy}
        points.append(({"power.policy": policy, "traffic.load": 0.1, "faults": LISTED}, numbers))
    bill = made(tmp_path / "unequal", points).bill(BILL | {"profile": [{"share": 1, "load": 0.1}]})
    text = "\n".join(lines(bill))
    assert "88 % of its packets are dropped, and 5 % of the packets of the baseline" in text
    assert "faults drop a share of every load" in text
    assert "name loads" not in text


def test_points_that_drop_packets_have_a_mark_and_their_delivered_share(
    broken: dict[str, Results], tmp_path: Path
) -> None:
    results = broken["random"]
    head, *_ = table = tables.loads(results).splitlines()
    assert "delivered share" in head
    assert f"{soundness.DROPPING_MARK}: {soundness.MARKS[soundness.DROPPING_MARK]}" in head
    share = results.summaries[0]["delivered_share"]
    assert share < 0.97
    row = next(line for line in table if line.strip().startswith("0.02"))
    assert re.search(rf"\d#.*\d#.*\d#\s+{share:.4f}$", row), row
    # the report has the marks
    page = collect(Sources([results]))
    assert page["points"]["columns"]["mark"]
    assert "delivered_share" in [column["column"] for column in page["columns"]]
    assert "#" in page["marks"]
    (curve,) = curves(Sources([results]))
    assert (curve["latency"], curve["steady_load"], curve["accepted"]) == (None, None, None)
    assert re.fullmatch(r"up to [\d.]+ % of the packets are dropped at 0.02, 0.1", curve["saturation"])
    # the marks also appear in a document, in figures and in comparisons
    out = tmp_path / "points.md"
    assert main(["export", str(results.root), "--out", str(out)]) == 0
    text = out.read_text(encoding="utf-8")
    assert "\n#: packets were dropped" in text
    assert "Packets of the window that were delivered" in text
    figure = draw.figure("load", Choice.of([results]))
    assert "packets dropped" in [entry.get_text() for entry in figure.legends[0].get_texts()]
    compared = compare(Chosen.all_of(results), Chosen.all_of(results), ["traffic.load"]).frame
    of_latency = compared.filter(compared["quantity"] == LATENCY.column)
    assert set(of_latency["unequal"]) == {soundness.DROPPING.words}
    of_accepted = compared.filter(compared["quantity"] == ACCEPTED.column)
    assert set(of_accepted["unequal"]) == {None}, "what is delivered can be compared"
    assert notes.dropped(results.summaries)[0].endswith("; latencies include only delivered packets")


def test_a_phase_in_which_packets_are_dropped_is_marked_and_others_are_not(tmp_path: Path) -> None:
    more = {
        "traffic.load": 0.05,
        "traffic.phases": [{"from": "5000cycles", "load": 0.1}],
        "sweep": None,
        "faults": [{"router": 0, "at": "5500cycles", "until": "6000cycles"}],
    }
    results = _run(tmp_path, "phased", more)
    whole, failing = soundness.in_phases(results.summaries[0])
    assert (whole["dropped_packets"], soundness.mark(whole)) == (0, "")
    assert failing["dropped_packets"] > 0
    assert (soundness.mark(failing), failing["power_always_on_mean_w"]) == ("#", None)
    *_, first, second = [line for line in tables.phases(results) if "-" in line]
    assert "#" not in first
    assert "#" in second


def test_a_network_that_drops_its_packets_carries_no_load(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "tree.yaml"
    file.write_text(TREE.partition("sweep:")[0] + f"fault_model: {json.dumps(RANDOM)}\n", encoding="utf-8")
    arguments = [str(file), "--tolerance", "0.1", "--to", "0.3"]
    assert main(["saturation", *arguments, "--out", str(tmp_path / "broken")]) == 0
    output = capsys.readouterr().out
    assert re.search(r"carries no load: at 0.1, [\d.]+ % dropped", output)
    assert "carries every load" not in output
    assert "start from a lower load" not in output, "a lower load loses as much"
    # the remedy works
    file.write_text(TREE.partition("sweep:")[0], encoding="utf-8")
    assert main(["saturation", *arguments, "--out", str(tmp_path / "whole")]) == 0
    assert "not up to 0.3" in capsys.readouterr().out


def test_a_search_says_how_much_is_dropped(tmp_path: Path) -> None:
    file = tmp_path / "tree.yaml"
    file.write_text(TREE, encoding="utf-8")
    sweep = weft.load(file, overrides={"fault_model": RANDOM})
    (row,) = sweep.saturation(tmp_path / "found", tolerance=0.1, upper=0.2).iter_rows(named=True)
    assert row["verdict"] == "below_range"
    assert row["dropped_share"] > 0.03


def test_large_units_are_read(tmp_path: Path) -> None:
    file = tmp_path / "tree.yaml"
    file.write_text(TREE, encoding="utf-8")
    prices = {"router_price": {"static": "0.12kW"}}
    random = {"random": {"of": "links", "mtbf": "10h", "mttr": "10min"}}
    (point,) = weft.load(
        file, overrides={"sweep": None, "traffic.load": 0.1, "power": prices, "fault_model": random}
    ).points
    assert point.resolved["power"]["router_price"]["static"] == "120W"
    assert point.resolved["fault_model"]["random"]["mtbf"] == "36000s"
