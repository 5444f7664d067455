"""Tests sets of programs that a simulated job scheduler starts: run times, placement, machine energy, refusals."""

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
    """Make a trace for the scheduler: ranks, two per terminal, compute for 2 us and then perform an all-reduce."""
    program = {"collective": {"operation": "all_reduce", "ranks": ranks, "bytes": "2KB", "gap": "2us"}}
    programs = {"program": program, "ranks_per_terminal": 2, "local_latency": "100ns"} | more
    return {"name": name, "count": count, "programs": programs}


def scenario(*traces: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Make a scenario in which the scheduler runs these traces on a torus of 16 terminals."""
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
    """Run a set of traces with three random seeds of the scheduler, and return the results."""
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
    """The period of the scheduler is 1 us (1,000 cycles).

    After each period, the scheduler releases the cores of programs that ended 1,000 to 1,999 cycles before.
    """
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
    """The busy share of cores is the computing time of all ranks (there is no overhead), divided by 32 cores times the
    run time."""
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
        ([trace("late", 8, start="1us")], "the scheduler sets the start time of each program", [trace("late", 8)]),
        ([trace("none", 8, 0)], "a program runs 0 times", [trace("none", 8, 1)]),
        ([], "there is no trace", [trace("one", 8)]),
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


def computing(name: str, ranks: int, us: int, count: int = 1) -> dict[str, Any]:
    """Make a trace whose ranks only compute for a given time."""
    return {"name": name, "count": count, "programs": {"program": {"compute": {"ranks": ranks, "time": f"{us}us"}}}}


def test_programs_share_the_nodes_that_they_do_not_fill(tmp_path: Path) -> None:
    """On 16 nodes of 8 cores, a program of 12 ranks is on nodes 0 and 1, and the next one on the rest of node 1 and on
    node 2."""
    traces = (computing("twelve", 12, 20, 2), computing("three", 3, 5), trace("ring", 20, ranks_per_terminal=1))
    shared = scenario(*traces, cores_per_node=8, order="fcfs")
    results = weft.load(shared).run(tmp_path / "results", watch=False)
    rows = schedule(results, 0)
    assert rows["start_cycles"].to_list() == [0, 0, 0, 0], "128 cores are enough for all of them"
    assert rows["allocated_terminals"].to_list() == ["0-1", "1-2", "3", "3-5"]
    assert rows["terminals"].to_list() == [2, 2, 1, 3]
    ranks = pl.read_parquet(results.file(0, "ranks.parquet"))
    # no core has two ranks: each node has 8 ranks on its 8 cores, except the last of the nodes with ranks
    assert ranks.group_by("terminal").len().sort("terminal")["len"].to_list() == [8, 8, 8, 8, 8, 7]
    assert ranks["terminal"].to_list()[:12] == [0] * 8 + [1] * 4
    assert ranks["terminal"].to_list()[12:24] == [1] * 4 + [2] * 8
    # computations take the same time on nodes that two programs share
    assert rows["run_time_cycles"].to_list()[:3] == [20_000, 20_000, 5_000]
    # the sum over time of the busy cores (of 128) equals the ranks times their run times
    busy = pl.read_parquet(results.file(0, "utilisation.parquet"))
    spans = busy["cycle"].diff().shift(-1).fill_null(0)
    cores = float((busy["utilisation"] * spans).sum()) * 128
    assert cores == pytest.approx(sum(rows["ranks"] * rows["run_time_cycles"]))
    assert max(busy["busy_terminals"]) == 6
    # the energy account of the machine uses the number of cores per node
    (run_task,) = results.machine(Machine(idle_shares=(0.5,)))["run_task"]
    assert run_task == pytest.approx(sum(ranks["compute_cycles"]) / (128 * max(ranks["finish_cycles"])))


def test_messages_of_programs_that_share_nodes_reach_their_own(tmp_path: Path) -> None:
    """Each of 8 programs of 6 ranks runs on two or three nodes of 4 cores.

    Each program sends as many messages as if it ran alone.
    """
    program = {"collective": {"operation": "all_to_all", "ranks": 6, "bytes": "600B", "repeat": 3}}
    ring = {"name": "ring", "programs": {"program": program, "local_latency": "100ns"}}
    many = scenario(ring | {"count": 8}, cores_per_node=4) | {"seed": 3}
    one = scenario(ring, cores_per_node=4)
    together, alone = (
        weft.load(each).run(tmp_path / name, watch=False) for name, each in (("together", many), ("alone", one))
    )
    (sent,), (of_one,) = ([s["jobs"][0] for s in each.summaries] for each in (together, alone))
    assert sent["messages"] == 8 * of_one["messages"]
    assert sent["message_bytes"] == 8 * of_one["message_bytes"]
    rows = schedule(together, 0)
    assert rows["start_cycles"].to_list() == [0] * 8
    # 48 ranks use 12 of the 16 nodes, because a node has 4 cores
    assert pl.read_parquet(together.file(0, "ranks.parquet"))["terminal"].n_unique() == 12
    assert min(rows["run_time_cycles"]) >= schedule(alone, 0)["run_time_cycles"][0]


@pytest.mark.parametrize(
    ("cores", "traces", "message", "mended"),
    [
        (4, [trace("two", 8)], "each rank gets a core", [trace("two", 8, ranks_per_terminal=1)]),
        (4, [computing("huge", 65, 1)], "needs 65 cores, but job `all` has 64", [computing("fits", 64, 1)]),
        (0, [computing("one", 1, 1)], "a node can't have 0 cores", None),
    ],
)
def test_cores_that_make_no_sense_are_refused(
    cores: int, traces: list[dict[str, Any]], message: str, mended: list[dict[str, Any]] | None
) -> None:
    with pytest.raises(ScenarioError, match=message):
        _ = weft.load(scenario(*traces, cores_per_node=cores)).points
    again = scenario(*(mended or traces), cores_per_node=cores or 1)
    assert len(weft.load(again).points) == 1
