"""Tests latencies before, during and after faults, and recovery times.

The table, analysis, query and report show them.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

import weft
from small import ROW_UNDER_TCEP
from weft.cli import main
from weft.report.data import collect
from weft.report.sources import Sources
from weft.results import set_times, tables

if TYPE_CHECKING:
    from pathlib import Path

    from weft.api.results import Results

SCENARIO = (
    ROW_UNDER_TCEP
    + """\
measure: {warmup: 1000cycles, window: 8000cycles}
"""
)
# faults of four points: none; two, of which the later is listed first; one before the window; one after the window
FAULTS = [
    [],
    [{"router": 1, "at": "6000cycles"}, {"link": [0, 2], "at": "4us", "until": "4500cycles"}],
    [{"link": [0, 2], "at": "500cycles", "until": "3000cycles"}],
    [{"link": [0, 2], "at": "9500cycles"}],
]
RANDOM = "{of: links, from: 3000cycles, mtbf: 4000cycles, mttr: 300cycles}"


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Run points with the faults of `FAULTS`, and return their results."""
    folder = tmp_path_factory.mktemp("recovery")
    (folder / "faulty.yaml").write_text(SCENARIO, encoding="utf-8")
    return weft.load(folder / "faulty.yaml", overrides={"sweep.faults": FAULTS}).run(folder / "out")


@pytest.fixture(scope="module")
def at_random(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Run a point in which links fail at random, and return its results."""
    folder = tmp_path_factory.mktemp("random")
    (folder / "random.yaml").write_text(f"{SCENARIO}fault_model: {{random: {RANDOM}}}\n", encoding="utf-8")
    return weft.load(folder / "random.yaml").run(folder / "out")


def test_each_episode_has_a_row_and_each_dash_a_reason(faulty: Results, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyse", "recovery", str(faulty.root), "--json"]) == 0
    first, second, early, behind = json.loads(capsys.readouterr().out)
    assert (first["failed"], first["from_cycle"], first["to_cycle"]) == ("link 0-2", 4000, 4500)
    assert (second["failed"], second["from_cycle"], second["to_cycle"]) == ("router 1", 6000, None)
    assert first["before_cycles"] == second["before_cycles"] > 0
    assert min(first["during_cycles"], second["during_cycles"], first["after_cycles"]) > 0
    assert first["delivered_share"] == 1
    assert second["dropped_packets"] > 0
    assert second["delivered_share"] < 1
    assert (second["return_cycles"], "broken until the window ends in cycle 9000" in second["note"]) == (None, True)
    assert (early["before_cycles"], early["recovery_cycles"], early["return_cycles"]) == (None, None, None)
    assert early["during_cycles"] > 0
    assert "a part is already broken when the window begins in cycle 1000" in early["note"]
    assert behind["failed"] == "nothing in the window"
    assert behind["note"].startswith("faults = link 0, 2, at 9500cycles: no part is broken ")
    assert main(["analyse", "recovery", str(faulty.root)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert early["note"] in lines
    assert "-: unknown, for these reasons:" in lines


def test_the_table_of_a_run_has_a_line_per_point_that_fails(faulty: Results) -> None:
    head, names, rule, *lines = tables.faults(faulty)
    assert head.startswith("faults: mean latency [cycles] of the packets delivered before, during and after the faults")
    assert names.split() == [
        *("faults", "before", "during", "after"),
        *("share", "before", "share", "during", "share", "after", "recovery", "return"),
    ]
    rows = [line for line in lines if not line.startswith(("- ", "and "))]
    reasons = [line for line in lines if line.startswith("- ")]
    assert (len(rows), rule[:3]) == (3, "---")
    # the last eight columns are latencies before, during and after, three shares, and two times; each dash has a reason
    # below the table
    assert [line.split()[-8:].count("-") > 0 for line in rows] == [True, True, True]
    assert reasons
    assert all(line.startswith(("- before the faults: ", "- during", "- after", "- re")) for line in reasons)
    assert all("cycle" in line for line in reasons)
    assert lines[-1].startswith("and ")
    assert lines[-1].endswith(" more, which `weft analyse recovery` lists")


def test_random_faults_are_reported_as_those_that_are_named(
    at_random: Results, capsys: pytest.CaptureFixture[str]
) -> None:
    (summary,) = at_random.summaries
    episodes = summary["fault_episodes"]
    assert summary["fault_episodes_count"] == len(episodes) > 1
    assert min(each["from_cycle"] for each in episodes) > 3000
    assert main(["analyse", "recovery", str(at_random.root), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["from_cycle"] for row in rows] == [each["from_cycle"] for each in episodes]
    # points with random faults are also not compared with others for savings
    assert set_times.faults(at_random) == ["random of links, mtbf 4000cycles, mttr 300cycles, from 3000cycles"]
    assert set_times.changes(at_random) == ["the failed parts"]
    found = at_random.query("select failed, recovery_cycles from fault_episodes order by episode")
    assert found["failed"].to_list() == [each["failed"] for each in episodes]


def test_the_report_has_tables_of_parts_and_episodes(faulty: Results) -> None:
    listings = {each["name"]: each for each in collect(Sources([faulty]))["listings"]}
    parts, episodes = listings["fault_parts"]["rows"], listings["fault_episodes"]["rows"]
    assert [len(rows) for rows in parts] == [0, 3, 3, 3]
    assert [len(rows) for rows in episodes] == [0, 2, 1, 0]
    assert parts[1][0]["latency_cycles"] == pytest.approx(faulty.summaries[1]["latency_before_faults_cycles"], rel=1e-5)
    missing = [row for rows in parts for row in rows if row["latency_cycles"] is None]
    assert missing
    assert all(row["unknown"] for row in missing)


def test_points_in_which_nothing_fails_have_no_recovery(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "plain.yaml").write_text(SCENARIO, encoding="utf-8")
    results = weft.load(tmp_path / "plain.yaml").run(tmp_path / "out")
    assert tables.faults(results) == []
    assert main(["analyse", "recovery", str(results.root)]) == 2
    errors = capsys.readouterr().err
    assert "nothing fails at any point of" in errors
    assert "name failures under `faults`" in errors


def test_random_faults_that_fall_into_no_run_have_the_remedy_of_the_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rare = {"fault_model": {"random": {"of": "links", "mtbf": "10h", "mttr": "1us"}}}
    (tmp_path / "rare.yaml").write_text(SCENARIO, encoding="utf-8")
    results = weft.load(tmp_path / "rare.yaml", overrides=rare).run(tmp_path / "out")
    assert main(["analyse", "recovery", str(results.root)]) == 2
    errors = capsys.readouterr().err
    assert "no random fault occurs in the 9000 cycles" in errors
    found = re.search(r"write `mtbf: (\d+cycles)` and `mttr: (\d+cycles)`", errors)
    assert found, errors
    often = {"fault_model": {"random": {"of": "links", "mtbf": found[1], "mttr": found[2]}}}
    results = weft.load(tmp_path / "rare.yaml", overrides=often).run(tmp_path / "often")
    assert main(["analyse", "recovery", str(results.root)]) == 0
