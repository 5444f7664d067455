"""Tests runs that `measure.stop.complete.max_window` cuts off.

They have their own flaw, with numbers and a remedy that works.
"""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest

import weft
from weft.cli import main
from weft.results import notes, of_jobs, program_table, soundness, tables

if TYPE_CHECKING:
    from pathlib import Path

    from weft.api.results import Results

MAX_WINDOW = "measure.stop.complete.max_window"
RING: dict[str, Any] = {
    "topology": {"torus": {"widths": [4, 4], "terminals_per_router": 1}},
    "routing": "dimension_order",
    "flit": "8B",
    "traffic": {
        "packet": "16flits",
        "workload": {
            "programs": {"program": {"collective": {"operation": "all_to_all", "ranks": 16, "bytes": "1KiB"}}}
        },
    },
    "measure": {"stop": {"complete": {"max_window": "200cycles"}}},
}
BATCH = RING | {"traffic": {"pattern": "uniform", "load": 1, "packet": "4flits", "batch": {"per_terminal": 200}}}


def with_batch() -> dict[str, Any]:
    """Return a scenario with two jobs: a program that is cut off, and a batch that completes."""
    traffic = RING["traffic"]
    jobs: list[dict[str, Any]] = [{"name": "ring", "terminals": {"range": [0, 7]}}]
    jobs[0]["workload"] = copy.deepcopy(traffic["workload"])
    jobs[0]["workload"]["programs"]["program"]["collective"]["ranks"] = 8
    jobs.append({"name": "burst", "terminals": {"range": [8, 15]}, "pattern": "uniform", "load": 1})
    jobs[1]["batch"] = {"per_terminal": 1}
    return RING | {"traffic": {"packet": "4flits", "jobs": jobs}}


def run(scenario: dict[str, Any], folder: Path, **overrides: object) -> Results:
    return weft.load(scenario, overrides=overrides).run(folder, watch=False)


@pytest.mark.parametrize(
    ("scenario", "numbers", "longest"),
    [
        (RING, {"ended_ranks": 0, "ranks": 16}, "100000000000cycles"),
        # 200 packets of 4 flits from each of 16 terminals; a test below checks the remedy
        (BATCH, {"batch_packets": 16 * 200}, None),
        (with_batch(), {"ended_ranks": 0, "ranks": 8}, "100000000000cycles"),
    ],
    ids=["program", "batch", "both"],
)
def test_a_run_that_is_cut_off_says_so_and_its_remedy_ends_it(
    tmp_path: Path, scenario: dict[str, Any], numbers: dict[str, int], longest: str | None
) -> None:
    results = run(scenario, tmp_path / "cut")
    (summary,), (found,) = results.summaries, results.diagnoses
    assert (summary["ending"], summary["saturated"]) == ("not_complete", False)
    assert [each["code"] for each in found if each["severity"] == "flaw"] == ["not_complete"]
    assert {"open_jobs": 1, "max_window_cycles": 200, **numbers}.items() <= found[0]["numbers"].items()
    if delivered := found[0]["numbers"].get("batch_delivered_packets"):
        # the remedy is twice the time that all packets need at the mean rate of delivery so far, rounded up to two
        # digits
        least = 2 * 200 * 3200 / delivered
        assert least <= float(found[0]["remedy"]["settings"][MAX_WINDOW].removesuffix("cycles")) < 1.1 * least
    assert longest in (None, found[0]["remedy"]["settings"][MAX_WINDOW])
    assert soundness.sign(summary) == "cut"
    mended = weft.load(scenario, overrides=found[0]["remedy"]["settings"]).run(tmp_path / "whole", watch=False)
    (whole,) = mended.summaries
    assert (whole["ending"], mended.flaws) == ("drained", [None])
    assert whole["completion_cycles"] > 200


def test_tables_notes_and_jobs_say_what_was_cut_off(tmp_path: Path) -> None:
    results = run(RING, tmp_path / "ring")
    row = program_table.lines(results)[-1].split()
    assert row[0] == "cut"
    meaning = "cut: cut off at the longest window, before its batches or programs were complete"
    assert meaning in program_table.lines(results)[2]
    (note,) = [line for line in notes.lines(results) if "[not_complete]" in line]
    assert "0 of 16 ranks had ended" in note
    assert f"`{MAX_WINDOW}: 100000000000cycles`" in note
    shown = tables.loads(run(BATCH, tmp_path / "batch"))
    assert meaning in shown
    assert "not complete" in shown
    assert shown.splitlines()[-1].split()[-2:] == ["cut", "cut"], "its latencies are those of the early packets"


def test_a_job_that_is_complete_is_sound_next_to_one_that_is_cut_off(tmp_path: Path) -> None:
    (summary,) = run(with_batch(), tmp_path / "both").summaries
    assert of_jobs.signs(summary) == ["cut", ""]
    assert of_jobs.reasons(summary)[1] == "without a flaw, but another job was cut off"


def test_nothing_praises_a_point_that_is_cut_off(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The point that is cut off has the least energy and the shortest latency of the sweep, but is compared with
    nothing."""
    file = tmp_path / "ring.yaml"
    limits = ["200cycles", "1ms"]
    file.write_text(json.dumps(RING | {"measure": {}, "sweep": {MAX_WINDOW: limits}}), encoding="utf-8")
    out = str(tmp_path / "ring")
    assert main(["run", str(file), "--out", out, "--json", "--no-picture"]) == 0
    points = json.loads(capsys.readouterr().out)["points"]
    assert [[each["code"] for each in point["diagnoses"]] for point in points] == [["not_complete"], []]
    cut, whole = f"{out}:max_window=200cycles", f"{out}:max_window=1ms"
    assert main(["compare", cut, whole]) == 0
    compared = capsys.readouterr().out
    assert "not complete (cut off at the end of the longest window)" in compared
    assert "significant" not in compared
    page = weft.open_results(out).report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "not complete: cut off after 200 cycles" in page
