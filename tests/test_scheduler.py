"""Sets of programs that a scheduler starts: when and where they run, the energy of the machine, and refusals."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import weft
from weft.analysis.machine_energy import Machine
from weft.errors import ScenarioError

if TYPE_CHECKING:
    from pathlib import Path

    from weft import Results


def trace(name: str, ranks: int, count: int = 1, **more: Any) -> dict[str, Any]:
    """An all-reduce of some ranks, two on each terminal, with a computation of 2 us before it."""
    program = {"collective": {"operation": "all_reduce", "ranks": ranks, "bytes": "2KB", "gap": "2us"}}
    programs = {"program": program, "ranks_per_terminal": 2, "local_latency": "100ns"} | more
    return {"name": name, "count": count, "programs": programs}


def scenario(*traces: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The traces on a mesh of 16 terminals."""
    return {
        "name": "set",
        "cycle": "1ns",
        "flit": "16B",
        "topology": {"torus": {"widths": [4, 4], "terminals_per_router": 1}},
        "links": {"default": {"latency": "4cycles", "vcs": 4, "buffer": "16flits"}},
        "routing": "dimension_order",
        "traffic": {"packet": "8flits", "workload": {"scheduler": {"traces": list(traces)} | more}},
    }


SET = (trace("narrow", 8, 4), trace("half", 16, 2), trace("wide", 32))


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """The set from three seeds of the scheduler."""
    swept = scenario(*SET) | {"sweep": {"traffic.workload.scheduler.seed": [1, 2, 3]}}
    return weft.load(swept).run(tmp_path_factory.mktemp("set") / "results", watch=False)


def schedule(results: Results, point: int) -> pl.DataFrame:
    return pl.read_parquet(results.file(point, "schedule.parquet"))


def test_every_trace_runs_once_and_the_last_end_is_the_run_time(results: Results) -> None:
    for point, summary in enumerate(results.summaries):
        rows = schedule(results, point)
        assert sorted(rows["trace"]) == ["half"] * 2 + ["narrow"] * 4 + ["wide"]
        assert rows["end_cycles"].max() == summary["jobs"][0]["run_time_cycles"] <= summary["window_cycles"]
    orders = {tuple(schedule(results, point)["trace"]) for point in range(3)}
    assert len(orders) > 1, "the order is random"


def test_no_core_has_two_tasks_and_starts_follow_ends_by_a_period_or_two(results: Results) -> None:
    """The period is 1 us, 1,000 cycles: a look frees what ended 1,000 cycles before, or up to 1,999."""
    for point in range(3):
        ranks = pl.read_parquet(results.file(point, "ranks.parquet"))
        held: dict[int, list[tuple[int, int]]] = {}
        begin = 0
        for row in schedule(results, point).iter_rows(named=True):
            own = ranks.slice(begin, row["ranks"])
            begin += row["ranks"]
            assert own["rank"].to_list() == list(range(row["ranks"]))
            assert own["terminal"].n_unique() == row["terminals"] == row["ranks"] // 2
            assert row["start_cycles"] % 1000 == 0
            for terminal in own["terminal"].unique():
                held.setdefault(terminal, []).append((row["start_cycles"], row["end_cycles"]))
        gaps = [after[0] - before[1] for spans in held.values() for before, after in pairwise(sorted(spans))]
        assert min(gaps) >= 1000
        assert begin == ranks.height


def test_idle_cores_count_as_idle_in_the_busy_share(results: Results) -> None:
    """Busy: computations (no overhead is set) of all ranks, over 32 cores and the run time."""
    frame = results.machine(Machine(idle_shares=(0.5,)))
    for point, busy in enumerate(frame["run_task"]):
        ranks = pl.read_parquet(results.file(point, "ranks.parquet"))
        assert busy == pytest.approx(sum(ranks["compute_cycles"]) / (32 * max(ranks["finish_cycles"])))


def test_a_placement_into_the_smallest_gap_is_another_one(tmp_path: Path) -> None:
    traces = (trace("narrow", 8, 5), trace("half", 16, 3))
    placed = [
        weft.load(scenario(*traces, placement=placement, seed=4)).run(tmp_path / placement, watch=False)
        for placement in ("lowest", "best_fit")
    ]
    for each in placed:
        assert schedule(each, 0)["terminals"].sum() == 5 * 4 + 3 * 8


@pytest.mark.parametrize(
    ("traces", "message", "mended"),
    [
        ([trace("huge", 64)], "needs 32 terminals", [trace("huge", 64, ranks_per_terminal=4)]),
        ([trace("late", 8, start="1us")], "the scheduler decides when a program starts", [trace("late", 8)]),
        ([trace("none", 8, 0)], "it runs 0 times", [trace("none", 8, 1)]),
        ([], "no program", [trace("one", 8)]),
        ([trace("one", 8), trace("one", 16)], "two traces are called `one`", [trace("one", 8), trace("two", 16)]),
    ],
)
def test_a_set_that_can_not_run_is_refused_with_a_remedy_that_works(
    traces: list[dict[str, Any]], message: str, mended: list[dict[str, Any]]
) -> None:
    with pytest.raises(ScenarioError, match=message):
        _ = weft.load(scenario(*traces)).points
    assert len(weft.load(scenario(*mended)).points) == 1


def test_a_period_of_nothing_is_refused() -> None:
    with pytest.raises(ScenarioError, match="every 0 cycles"):
        _ = weft.load(scenario(*SET, period="0ns")).points
