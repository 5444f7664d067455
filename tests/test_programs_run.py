"""Tests ``weft run`` with programs of messages: the table, the result files, and a program that cannot end."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import weft
from weft.cli import main

EXAMPLES = Path(__file__).parents[1] / "examples"

SCENARIO = """\
topology: {single_router: {terminals: 2}}
routing: dimension_order
flit: 1B
traffic:
  packet: 16flits
  workload: {programs: {file: program.goal, overhead: 10ns}}
"""
PING = "num_ranks 2\nrank 0 {\nsend 100b to 1 tag 1\n}\nrank 1 {\nrecv 100b from 0 tag 1\n}\n"
STUCK = "num_ranks 2\nrank 0 {\nrecv 8b from 1 tag 5\n}\nrank 1 {\ncalc 10\n}\n"


def ran(folder: Path, program: str) -> subprocess.CompletedProcess[str]:
    (folder / "program.goal").write_text(program, encoding="utf-8")
    (folder / "scenario.yaml").write_text(SCENARIO, encoding="utf-8")
    command = [sys.executable, "-m", "weft", "run", "scenario.yaml", "--out", "results"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_a_program_answers_with_its_run_time(tmp_path: Path) -> None:
    done = ran(tmp_path, PING)
    assert done.returncode == 0, done.stderr
    # the run time of 123 cycles is 10 cycles of overhead at each rank, 100 flits, and 3 cycles until the first flit has
    # crossed the router
    assert "run time" in done.stdout
    assert "123 ns" in done.stdout
    results = weft.open_results(tmp_path / "results")
    job = results.summaries[0]["jobs"][0]
    assert (job["run_time_cycles"], job["messages"], job["message_bytes"]) == (123, 1, 100)
    ranks = pl.read_parquet(results.folder(0) / "ranks.parquet")
    assert ranks["finish_cycles"].to_list() == [10, 123]
    # the receiver waits for 10 cycles while the sender prepares the message, and then for 103 cycles of transfer
    assert ranks["wait_cycles"].to_list() == [0, 10]
    assert ranks["transfer_cycles"].to_list() == [0, 103]


@pytest.mark.parametrize(
    "queues",
    [
        {},
        {"interface": {"queues": "per_destination"}},
        {"queueing": "voqsw", "links": {"default": {"latency": "1cycle", "vcs": 10, "buffer": "32flits"}}},
    ],
)
def test_the_window_ends_with_the_program(queues: dict[str, object], tmp_path: Path) -> None:
    """The window ends with the program, long before the limit `max_window`, which is 50 million times longer.

    The engine checks every 32 cycles whether the program has ended.
    """
    scenario = {
        "topology": {"torus": {"widths": [4, 4], "terminals_per_router": 1}},
        "routing": "dimension_order",
        "flit": "8B",
        "traffic": {
            "packet": "16flits",
            "workload": {
                "programs": {"program": {"collective": {"operation": "all_to_all", "ranks": 16, "bytes": "1KiB"}}}
            },
        },
    }
    (summary,) = weft.load(scenario | queues).run(out=tmp_path / "results").summaries
    assert summary["ending"] == "drained"
    assert summary["jobs"][0]["run_time_cycles"] <= summary["window_cycles"]
    assert summary["window_cycles"] < summary["jobs"][0]["run_time_cycles"] + 64


def test_ranks_that_wait_for_ever_are_named(tmp_path: Path) -> None:
    stuck = ran(tmp_path, STUCK)
    assert stuck.returncode == 4, stuck.stdout + stuck.stderr
    assert "rank 0 has finished 0 of 1 operations" in stuck.stderr
    assert "waits for a message from 1 with tag 5" in stuck.stderr


def test_a_program_that_stopped_is_explained_without_a_picture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ran(tmp_path, STUCK).returncode == 4
    results = str(tmp_path / "results")
    assert main(["explain", "stall", results]) == 0
    shown = capsys.readouterr().out
    assert "waits for a message from 1 with tag 5" in shown
    assert "replay: " in shown
    assert "picture" not in shown
    assert main(["explain", "stall", results, "--json"]) == 0
    (halted,) = json.loads(capsys.readouterr().out)["halted"]
    assert "rank 0 has finished 0 of 1 operations" in halted
    assert main(["explain", "stall", results, "--out", str(tmp_path / "stall.png")]) == 2
    assert "no packet waits in the network" in capsys.readouterr().err
    again = weft.load(str(tmp_path / "scenario.yaml"), overrides={"measure.rank_states": {}})
    again.run(tmp_path / "states", watch=False)
    for folder in (results, str(tmp_path / "states")):
        assert main(["explain", "program", folder]) == 2
        assert f"`weft explain stall {folder}` names the ranks or packets that wait" in capsys.readouterr().err


def test_a_check_says_that_the_program_decides_and_a_search_for_saturation_is_refused(tmp_path: Path) -> None:
    (tmp_path / "program.goal").write_text(PING, encoding="utf-8")
    (tmp_path / "scenario.yaml").write_text(SCENARIO, encoding="utf-8")

    def done(command: str) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-m", "weft", command, "scenario.yaml"]
        return subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)

    checked = done("check")
    assert checked.returncode == 0
    assert "none: programs determine the packets of terminals" in checked.stdout
    assert "warning" not in checked.stdout + checked.stderr
    searched = done("saturation")
    assert searched.returncode == 2
    assert "traffic.workload: this workload itself determines the packets of its terminals" in searched.stderr
    assert "help: replace it by a pattern and a load, or compare run times with `weft run`" in searched.stderr


@pytest.mark.parametrize("name", ["programs_torus", "programs_fat_tree"])
def test_the_examples_end(name: str, tmp_path: Path) -> None:
    results = weft.load(EXAMPLES / f"{name}.yaml").run(tmp_path / "results", watch=False)
    for summary in results.summaries:
        (job, *_) = summary["jobs"]
        assert summary["ending"] == "drained"
        assert job["run_time_cycles"] > 0
