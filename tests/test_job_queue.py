"""Tests queues of jobs that arrive over time: times, order, placement, energies, and faulty files with queues."""

from __future__ import annotations

import gzip
import json
import re
import signal
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import weft
from job_queues import swf
from test_checkpoints import files, stop_in_the_middle
from weft.errors import ScenarioError
from weft.plot.schedule import spans
from weft.results import queue_table, tables

if TYPE_CHECKING:
    from weft import Results

ROOT = Path(__file__).parent.parent
RING = {"collective": {"operation": "all_reduce", "ranks": 2, "bytes": "1KB", "gap": "10us"}}
IDLE = {"compute": {"ranks": 2, "time": "10us"}}
# Factor by which runs shorten the times of a queue file.
COMPRESSION = 1_000_000


def _trace(name: str, program: dict[str, Any], count: int) -> dict[str, Any]:
    return {"name": name, "count": count, "estimate": "20us", "programs": {"program": program}}


# A queue with the programs of two traces. At most of the times at which the scheduler looks for free nodes, some
# messages are in flight.
QUEUE = {
    "name": "two traces",
    "cycle": "1ns",
    "flit": "16B",
    "topology": {"torus": {"widths": [4, 2], "terminals_per_router": 2}},
    "links": {"default": {"latency": "20cycles", "vcs": 4, "buffer": "64flits"}},
    "routing": "dimension_order",
    "traffic": {
        "packet": "16flits",
        "workload": {
            "scheduler": {
                "traces": [
                    _trace(
                        "talk", {"collective": {"operation": "all_to_all", "ranks": 5, "bytes": "20KB", "repeat": 4}}, 8
                    ),
                    _trace("compute", {"compute": {"ranks": 3, "time": "7us"}}, 12),
                ],
                "arrivals": {"poisson": {"mean_gap": "2us"}},
                "order": "easy",
            }
        },
    },
}


def scenario(arrivals: dict[str, Any], program: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """Make a scenario with a queue of jobs on a dragonfly of 72 terminals. All jobs run the trace `job`."""
    trace = {"name": "job", "programs": {"program": program or IDLE}} | more.pop("trace", {})
    return {
        "name": "queue",
        "cycle": "1ns",
        "flit": "16B",
        "topology": {"dragonfly": {"routers_per_group": 4, "terminals_per_router": 2, "global_links_per_router": 2}},
        "links": {"default": {"latency": "10ns", "vcs": 6, "buffer": "64flits"}},
        "routing": "dragonfly_minimal",
        "traffic": {"packet": "16flits", "workload": {"scheduler": {"traces": [trace], "arrivals": arrivals} | more}},
    }


def log(text: str, path: Path, **more: Any) -> dict[str, Any]:
    """Write a queue file, and return the `arrivals` of a scenario that reads it."""
    path.write_text(text, encoding="utf-8")
    return {"swf": {"file": str(path), "runs": {"all": "job"}, "compression": COMPRESSION} | more}


def recorded(text: str) -> list[list[int]]:
    """Return the fields of each job of a queue file."""
    return [list(map(int, line.split())) for line in text.splitlines() if not line.startswith(";")]


@pytest.fixture(scope="module")
def thousand() -> str:
    """Return the text of a queue file of 1,000 jobs."""
    return swf(1_000, nodes=72, processors_per_node=4, mean_gap=70, seed=1)


def check(table: pl.DataFrame, busy: pl.DataFrame, jobs: list[list[int]]) -> None:
    """Check that every job ran once, after its submission, on terminals that no other job had at the time, and that the
    sum of node-seconds is right."""
    assert sorted(table["number"]) == [job[0] for job in jobs]
    assert (table["start_cycles"] >= table["submit_cycles"]).all()
    assert (table["end_cycles"] == table["start_cycles"] + table["run_time_cycles"]).all()
    held: dict[int, list[tuple[int, int]]] = {}
    for row in table.iter_rows(named=True):
        own = [
            terminal for first, count in spans(row["allocated_terminals"]) for terminal in range(first, first + count)
        ]
        assert len(set(own)) == row["terminals"]
        for terminal in own:
            held.setdefault(terminal, []).append((row["start_cycles"], row["end_cycles"]))
    assert all(after[0] >= before[1] for uses in held.values() for before, after in pairwise(sorted(uses)))
    node_cycles = (table["terminals"] * table["run_time_cycles"]).sum()
    lengths = busy["cycle"].diff().drop_nulls()
    assert (busy["busy_terminals"].head(-1) * lengths).sum() == node_cycles
    assert (busy["busy_terminals"][-1], busy["running"][-1], busy["waiting"][-1]) == (0, 0, 0)
    assert max(busy["busy_terminals"]) <= 72


@pytest.mark.parametrize(("order", "placement"), [("fcfs", "lowest"), ("easy", "compact"), ("random", "random")])
def test_a_thousand_jobs_conserve_node_seconds(thousand: str, order: str, placement: str, tmp_path: Path) -> None:
    arrivals = log(thousand, tmp_path / "jobs.swf", processors_per_node=4)
    results = weft.load(scenario(arrivals, order=order, placement=placement)).run(tmp_path / "out", watch=False)
    table, busy, jobs = results.schedule(0), results.utilisation(0), recorded(thousand)
    check(table, busy, jobs)
    by_number = {job[0]: job for job in jobs}
    for row in table.iter_rows(named=True):
        number, submit, _, run, processors, *_ = by_number[row["number"]]
        # a second of the file is 1 us of the run, which is 1,000 cycles
        assert (row["submit_cycles"], row["terminals"]) == (1000 * submit, -(-processors // 4)), number
        assert abs(row["run_time_cycles"] - 1000 * run) <= 1, number
        assert row["slowdown"] == pytest.approx(1 + row["wait_cycles"] / row["run_time_cycles"])
        # the slowdown bound of 10 s of the file is 10,000 cycles
        bounded = (row["wait_cycles"] + row["run_time_cycles"]) / max(row["run_time_cycles"], 10_000)
        assert row["bounded_slowdown"] == pytest.approx(max(1, bounded))
    if order == "fcfs":
        assert table["number"].is_sorted()
    (job,) = results.summaries[0]["jobs"]
    assert job["queue_programs"] == job["queue_ended_programs"] == 1_000
    assert job["makespan_cycles"] == max(table["end_cycles"]) == job["run_time_cycles"]
    assert job["queue_utilisation"] == pytest.approx(
        (table["terminals"] * table["run_time_cycles"]).sum() / 72 / job["makespan_cycles"]
    )
    for key in ("wait", "slowdown", "bounded_slowdown"):
        column = f"{key}_cycles" if key == "wait" else key
        assert job[f"{key}_mean_cycles" if key == "wait" else f"{key}_mean"] == pytest.approx(table[column].mean())


@pytest.fixture(scope="module")
def dozen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Make a scenario with a queue of 12 jobs that send messages. The queue uses backfilling and random placement."""
    path = tmp_path_factory.mktemp("dozen") / "jobs.swf"
    text = swf(12, nodes=72, processors_per_node=1, mean_gap=30, seed=3)
    more = {"order": "easy", "placement": "random"}
    return scenario(log(text, path, length="requested_time", latency="500ns"), RING, **more)


def test_blocks_and_threads_change_nothing(dozen: dict[str, Any], tmp_path: Path) -> None:
    found = []
    for blocks, threads in ((1, 1), (3, 1), (8, 1), (8, 2), (3, 2)):
        out = tmp_path / f"{blocks}-{threads}"
        results = weft.load(dozen).run(out, blocks=blocks, threads=threads, watch=False)
        found.append((results.schedule(0), results.utilisation(0), results.summaries[0]["jobs"]))
    for other in found[1:]:
        assert other[0].equals(found[0][0])
        assert other[1].equals(found[0][1])
        assert other[2] == found[0][2]
    table = found[0][0]
    assert max(table["wait_cycles"]) > 0
    assert min(table["energy_dynamic_fj"]) > 0


def test_a_queue_that_is_killed_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    counts = {f"traffic.workload.scheduler.traces.{trace}.count": 30 for trace in (0, 1)}
    (whole,) = weft.load(QUEUE, overrides=counts).points
    path, out = tmp_path / "long.yaml", tmp_path / "out"
    path.write_text(json.dumps(whole.resolved), encoding="utf-8")
    weft.load(path).run(tmp_path / "reference", watch=False)
    stop_in_the_middle(path, out, signal.SIGKILL, "--blocks", "3")
    weft.load(path).run(out, threads=2, watch=False)
    assert files(out) == files(tmp_path / "reference")


@pytest.mark.parametrize("power", [{}, {"router_price": {"static": "20W", "per_bit": "2pJ/bit"}}])
def test_the_energy_of_programs_and_the_rest_are_the_bill(
    power: dict[str, Any], dozen: dict[str, Any], tmp_path: Path
) -> None:
    results = weft.load(dozen | {"power": power}).run(tmp_path / "out", watch=False)
    table, summary = results.schedule(0), results.summaries[0]
    static, dynamic, both = (table[f"energy_{part}fj"].cast(pl.Float64) * 1e-15 for part in ("static_", "dynamic_", ""))
    slots = 72 * summary["window_cycles"]
    share = table["terminals"] * table["run_time_cycles"] / slots
    assert static.to_list() == pytest.approx((share * summary["energy_static_j"]).to_list(), rel=1e-9)
    # the energies of flits of all jobs add up to that of the run, because every flit was delivered and no policy sends
    # control packets
    assert dynamic.sum() == pytest.approx(summary["energy_dynamic_j"], rel=1e-9)
    assert both.sum() == pytest.approx(summary["jobs"][0]["queue_energy_j"], rel=1e-9)
    assert both.sum() < summary["energy_total_j"]


def test_a_length_is_the_run_time_alone(tmp_path: Path) -> None:
    """A job that runs without other jobs takes the run time in the file, plus short network delays."""
    text = "".join(f"{k} {k * 2000} -1 {run} 8 -1 -1 8 60 -1 1 1 1 1 1 -1 -1 -1\n" for k, run in ((1, 60), (2, 600)))
    case = scenario(log(text, tmp_path / "jobs.swf", latency="40ns"), RING, order="fcfs")
    table = weft.load(case).run(tmp_path / "out", watch=False).schedule(0)
    assert table["run_time_cycles"].to_list() == pytest.approx([60_000, 600_000], rel=0.01)


def test_no_program_begins_late_next_to_others_that_send(tmp_path: Path) -> None:
    table = weft.load(QUEUE).run(tmp_path / "out", watch=False).schedule(0)
    computing = table.filter(pl.col("trace") == "compute")
    assert computing["run_time_cycles"].to_list() == [7_000] * 12
    assert table.height == 20


def test_lists_and_poisson_arrivals(tmp_path: Path) -> None:
    listed = {"list": [{"at": "1us", "trace": "job", "ranks": 70}, {"at": "2us", "trace": "job", "ranks": 5}]}
    table = weft.load(scenario(listed)).run(tmp_path / "list", watch=False).schedule(0)
    # jobs of 70 and 5 nodes do not fit on 72 nodes together; the first starts at 1 us and ends 10 us later, and the
    # scheduler's next check, one period later, finds its nodes free
    assert table["start_cycles"].to_list() == [1_000, 12_000]
    assert table["ranks"].to_list() == [70, 5]
    assert table["bounded_slowdown"].null_count() == 2, "no file, no bound"
    bounded = scenario(listed, slowdown_bound="20us")
    results = weft.load(bounded).run(tmp_path / "bounded", watch=False)
    # each job runs for 10,000 cycles, and the second waits 10,000 cycles for the first
    assert results.schedule(0)["bounded_slowdown"].to_list() == [1, pytest.approx(20_000 / 20_000)]
    assert results.schedule(0)["slowdown"].to_list() == [1, pytest.approx(2)]
    poisson = scenario({"poisson": {"mean_gap": "3us"}}, trace={"count": 200})
    swept = poisson | {"sweep": {"seed": [1, 2]}}
    results = weft.load(swept).run(tmp_path / "poisson", watch=False)
    submits = [results.schedule(point)["submit_cycles"].sort() for point in (0, 1)]
    assert not submits[0].equals(submits[1])
    for gaps in (submit.diff().drop_nulls() for submit in submits):
        # exponential gaps have a mean of 3,000 cycles; the mean of 199 gaps has a standard deviation of 3,000 /
        # sqrt(199) = 213
        assert abs(float(gaps.mean()) - 3_000) < 3.5 * 213  # type: ignore[arg-type] # a number


def test_programs_of_the_time_after_the_end_are_not_counted(tmp_path: Path) -> None:
    listed = {"list": [{"at": at, "trace": "job", "ranks": 72} for at in ("0us", "1us", "90us")]}
    case = scenario(listed) | {"measure": {"stop": {"complete": {"max_window": "15us"}}}}
    results = weft.load(case).run(tmp_path / "out", watch=False)
    (job,) = results.summaries[0]["jobs"]
    assert (job["queue_programs"], job["queue_ended_programs"], job["makespan_cycles"]) == (2, 1, None)
    assert job["bounded_slowdown_mean"] is None
    assert (job["messages"], str(job["messages"])) == (0, "0.0")
    assert results.schedule(0)["number"].to_list() == [1, 2]
    assert max(results.utilisation(0)["cycle"]) < 15_000


def test_placements_use_the_structure_of_the_network(tmp_path: Path) -> None:
    """The dragonfly has 2 terminals per router and 8 per group.

    Except with placement `random`, a job of 8 nodes gets one group, and a job of 12 nodes gets two groups.
    """
    for placement in ("compact", "by_group", "random"):
        listed = {"list": [{"at": "0us", "trace": "job", "ranks": ranks} for ranks in (8, 12)]}
        case = scenario(listed, placement=placement)
        table = weft.load(case).run(tmp_path / placement, watch=False).schedule(0)
        groups = [
            {terminal // 8 for first, count in spans(held) for terminal in range(first, first + count)}
            for held in table["allocated_terminals"]
        ]
        assert (list(map(len, groups)) == [1, 2]) == (placement != "random"), (placement, groups)
    single = scenario({"at_once": {}}, placement="by_group") | {"topology": {"single_router": {"terminals": 4}}}
    single |= {"routing": "minimal"}
    with pytest.raises(ScenarioError, match=r"write `placement: compact`"):
        _ = weft.load(single).points
    assert weft.load(single, overrides={"traffic.workload.scheduler.placement": "compact"}).points


GOOD = "1 0 -1 60 4 -1 -1 8 120 -1 1 1 1 1 1 -1 -1 -1"
# Faulty lines that follow a correct line in a queue file. For each: place and reason in the error, and the word in
# `skip` with which Weft ignores such lines.
FAULTS = {
    "2 5 -1 60 4": ("line 3: 5 fields, but a job has 18", "malformed"),
    GOOD.replace(" 4 ", " four "): ("line 3: field 5, the allocated processors: `four` is not a number", "malformed"),
    GOOD.replace(" 0 ", " -1 ", 1): ("line 3: field 2, the submit time, is missing", "malformed"),
    GOOD.replace(" 4 ", " -1 "): ("line 3: job 1: the allocated processors, field 5, are missing", "missing"),
    GOOD.replace(" 4 ", " 0 "): ("line 3: job 1: the allocated processors, field 5, are 0", "no_processors"),
    GOOD.replace(" 60 ", " 0 "): ("line 3: job 1: the run time, field 4, is 0", "zero_time"),
    GOOD.replace(" 60 ", " -1 "): ("line 3: job 1: the run time, field 4, is missing", "missing"),
    GOOD.replace(" 4 ", " 73 "): (
        "line 3: job 1: 73 processors, 1 per node, need 73 nodes, but job `all` has 72",
        "too_large",
    ),
    GOOD.replace(" 60 ", " 0.00001 "): (
        "line 3: job 1: `job` on 4 nodes: 0.00001 us are shorter than the",
        "unscalable",
    ),
}


@pytest.mark.parametrize("line", FAULTS)
def test_a_line_that_is_not_right_is_refused_with_its_place_and_can_be_left_out(line: str, tmp_path: Path) -> None:
    shown, word = FAULTS[line]
    text = f"; a header\n{GOOD}\n{line}\n{GOOD}\n"
    case = scenario(log(text, tmp_path / "jobs.swf"), RING)
    with pytest.raises(ScenarioError) as refused:
        _ = weft.load(case).points
    assert f"jobs.swf, {shown}" in str(refused.value)
    assert f"skip: [{word}]" in str(refused.value)
    skipping = weft.load(case, overrides={"traffic.workload.scheduler.arrivals.swf.skip": [word]})
    (point,) = skipping.points
    warnings = [warning for warning in point.warnings if warning["code"] == "skipped_lines"]
    assert [warning["numbers"] for warning in warnings] == [{"skipped_lines": 1.0, "lines": 3.0}]
    assert f"Weft skips 1 of 3 lines (1 {word}); {shown}" in warnings[0]["what"]
    results = skipping.run(tmp_path / "out", watch=False)
    assert results.schedule(0).height == 2
    assert results.summaries[0]["jobs"][0]["queue_skipped_lines"] == 1


@pytest.mark.parametrize(
    ("run", "compression", "message", "mended"),
    [
        ("0.01", COMPRESSION, r"(?s)shorter than the .*write a smaller `compression`", {"compression": 100}),
        (
            "9000000",
            1_000,
            r"(?s)longer than 8000000000.* us, the longest time.*write a larger `compression`",
            {"compression": 2_000},
        ),
    ],
)
def test_a_length_that_no_scale_gives_is_refused_with_a_remedy_that_works(
    run: str, compression: float, message: str, mended: dict[str, Any], tmp_path: Path
) -> None:
    text = f"{GOOD.replace(' 60 ', f' {run} ')}\n"
    with pytest.raises(ScenarioError, match=message):
        _ = weft.load(scenario(log(text, tmp_path / "jobs.swf", compression=compression), RING)).points
    for remedy in (mended, {"compression": compression, "length": "own"}):
        assert weft.load(scenario(log(text, tmp_path / "jobs.swf", **remedy), RING)).points


def test_a_job_that_comes_too_late_is_refused(tmp_path: Path) -> None:
    """Weft refuses jobs that arrive after 2^47 cycles, which are 140,737 s with cycles of 1 ns."""
    text = f"{GOOD}\n{GOOD.replace(' 0 ', ' 150000 ', 1)}\n"
    with pytest.raises(
        ScenarioError, match=r"(?s)line 2: .*the last possible cycle, 2\^47.*larger `compression`.*skip: \[too_late"
    ):
        _ = weft.load(scenario(log(text, tmp_path / "jobs.swf", compression=1))).points
    for remedy in ({"compression": 2}, {"compression": 1, "skip": ["too_late"]}):
        assert weft.load(scenario(log(text, tmp_path / "jobs.swf", **remedy))).points


def test_a_packed_file_is_refused(tmp_path: Path) -> None:
    arrivals = log("", tmp_path / "jobs.swf.gz")
    (tmp_path / "jobs.swf.gz").write_bytes(gzip.compress(GOOD.encode()))
    with pytest.raises(ScenarioError, match=r"(?s)jobs\.swf\.gz is compressed with gzip.*gunzip"):
        _ = weft.load(scenario(arrivals)).points


def test_times_that_run_backwards_are_refused(tmp_path: Path) -> None:
    late = GOOD.replace(" 0 ", " 9 ", 1)
    arrivals = log(f"{late}\n{GOOD}\n{late}\n", tmp_path / "jobs.swf")
    with pytest.raises(ScenarioError, match=r"line 2: the job is submitted at 0 s, before the job of line 1 at 9 s"):
        _ = weft.load(scenario(arrivals)).points
    assert weft.load(
        scenario(arrivals), overrides={"traffic.workload.scheduler.arrivals.swf.skip": ["backwards"]}
    ).points


@pytest.mark.parametrize(
    ("keys", "message", "mended"),
    [
        ({"processors_per_node": 0}, "a node can't have 0 processors", {"processors_per_node": 1}),
        ({"compression": 0}, "times can't be divided by 0", {"compression": 100_000}),
        ({"first": 0}, "0 jobs run", {"first": 1}),
        ({"from": "2s", "to": "1s"}, "there is no time between", {"from": "0s", "to": "3s"}),
        ({"from": "500s"}, "none of 2 lines has a job that runs", {"from": "0s"}),
        ({"runs": {"all": "jobb"}}, "there is no trace `jobb`", {"runs": {"all": "job"}}),
        (
            {"runs": {"by_queue": {"names": {"7": "job"}}}},
            "the queue, field 15, is 1",
            {"runs": {"by_queue": {"names": {"1": "job"}}}},
        ),
        (
            {"runs": {"by_executable": {"names": {"7": "job"}}}},
            "the executable, field 14, is 1, which is not in `names`",
            {"runs": {"by_executable": {"names": {"7": "job"}, "others": "job"}}},
        ),
    ],
)
def test_keys_without_sense_are_refused_with_a_remedy_that_works(
    keys: dict[str, Any], message: str, mended: dict[str, Any], tmp_path: Path
) -> None:
    text = f"{GOOD}\n{GOOD}\n"
    with pytest.raises(ScenarioError, match=message):
        _ = weft.load(scenario(log(text, tmp_path / "jobs.swf", **keys))).points
    assert weft.load(scenario(log(text, tmp_path / "jobs.swf", **keys | mended))).points


def test_easy_needs_estimates_and_counts_need_no_file(tmp_path: Path) -> None:
    listed = {"list": [{"at": "0us", "trace": "job"}]}
    with pytest.raises(ScenarioError, match=r"`easy` needs an estimate"):
        _ = weft.load(scenario(listed, order="easy")).points
    assert weft.load(scenario(listed, order="easy", trace={"estimate": "10us"})).points
    missing = log(f"{GOOD.replace(' 120 ', ' -1 ')}\n", tmp_path / "jobs.swf")
    with pytest.raises(ScenarioError, match=r"requested time, field 9, is missing.*`order: easy` needs it"):
        _ = weft.load(scenario(missing, order="easy")).points
    assert weft.load(scenario(missing, order="fcfs")).points
    guessed = weft.load(scenario(missing, order="easy", trace={"estimate": "70us"}))
    assert guessed.run(tmp_path / "out", watch=False).schedule(0)["estimate_cycles"].to_list() == [70_000]
    with pytest.raises(ScenarioError, match=r"leave `count` out"):
        _ = weft.load(scenario(listed, trace={"count": 2})).points
    with pytest.raises(ScenarioError, match=r"sort the entries by their times"):
        _ = weft.load(scenario({"list": [{"at": "2us", "trace": "job"}, {"at": "1us", "trace": "job"}]})).points


def test_the_window_of_jobs_begins_at_its_start(tmp_path: Path) -> None:
    text = "".join(GOOD.replace("1 0 ", f"{k} {100 * k} ", 1) + "\n" for k in range(1, 9))
    for keys, numbers, first in (
        ({"first": 2}, [1, 2], 0),
        ({"from": "250s"}, [3, 4, 5, 6, 7, 8], 50_000),
        ({"from": "300s", "to": "500s"}, [3, 4], 0),
        ({"from": "300s", "first": 1}, [3], 0),
    ):
        case = scenario(log(text, tmp_path / "jobs.swf", **keys))
        table = weft.load(case).run(tmp_path / "-".join(map(str, keys.values())), watch=False).schedule(0)
        assert (table["number"].to_list(), table["submit_cycles"][0]) == (numbers, first), keys


def test_a_file_with_fewer_jobs_than_its_header_says_is_reported(tmp_path: Path) -> None:
    (point,) = weft.load(scenario(log(f"; MaxJobs: 3\n{GOOD}\n", tmp_path / "jobs.swf"))).points
    (warning,) = [warning for warning in point.warnings if warning["code"] == "fewer_jobs"]
    assert "announces 3 jobs (MaxJobs), but the file has 1" in warning["what"]


def test_the_example_is_the_file_that_its_header_names() -> None:
    kept = (ROOT / "examples" / "queue.swf").read_text(encoding="utf-8")
    assert kept == swf(30, nodes=72, processors_per_node=4, mean_gap=60, seed=40)


def test_a_report_and_a_table_show_the_queue(dozen: dict[str, Any], tmp_path: Path) -> None:
    results: Results = weft.load(dozen).run(tmp_path / "out", watch=False)
    page = results.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Queue of programs" in page
    assert page.count("data:image/png;base64,") >= 2
    assert "12 of 12" in tables.loads(results, width=120)


def test_a_slowdown_that_is_not_defined_is_no_number_in_any_table(tmp_path: Path) -> None:
    """Without `slowdown_bound`, a job has no bounded slowdown. A job that has not ended has no slowdown."""
    results = weft.load(QUEUE).run(tmp_path / "queue", watch=False)
    bounded, plain = results.schedule(0).select("bounded_slowdown", "slowdown").get_columns()
    assert (bounded.null_count(), plain.null_count()) == (20, 0)
    shown = "\n".join(queue_table.lines(results))
    assert "not defined" in shown
    page = results.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "not defined" in page
    # pictures are in base64, which can contain the letters NaN
    assert "NaN" not in re.sub(r"base64,[A-Za-z0-9+/=]+", "", page.partition("<script")[0])
    bound = json.loads(json.dumps(QUEUE))
    bound["traffic"]["workload"]["scheduler"]["slowdown_bound"] = "50us"
    defined = weft.load(bound).run(tmp_path / "bound", watch=False)
    assert "not defined" not in "\n".join(queue_table.lines(defined)).partition("programs\n")[2]
    assert defined.schedule(0)["bounded_slowdown"].null_count() == 0
    early = bound | {"measure": {"stop": {"complete": {"max_window": "2us"}}}}
    assert "none ended" in "\n".join(queue_table.lines(weft.load(early).run(tmp_path / "early", watch=False)))
