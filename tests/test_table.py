"""Tests the text tables that Weft prints of results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import weft
from conftest import made
from weft.report.answer import sentences
from weft.report.sources import Sources
from weft.results import notes, tables
from weft.text.columns import columns

if TYPE_CHECKING:
    from pathlib import Path

    from weft.api.results import Results


def test_columns_are_flush() -> None:
    assert columns(["name", "n"], [["a", "1"], ["bcdefg", "10"]]) == [
        "name     n",
        "------  --",
        "a        1",
        "bcdefg  10",
    ]


def test_loads_go_down_and_series_across(made_up: Results) -> None:
    lines = tables.loads(made_up).splitlines()
    assert "; !: per accepted bit, with an accepted load below the offered load" in lines[1]
    assert lines[11:] == [
        "",
        "tornado",
        "        always_on                    idle_timeout",
        "load    latency  accepted  energy    latency  accepted  energy",
        "----    -------  --------  ------    -------  --------  ------",
        " 0.1       21.0     0.100  500.0        26.0     0.100  200.0",
        " 0.2       22.0     0.200  250.0        27.0     0.200  100.0",
        " 0.3        sat     0.250  200.0!        sat     0.250   80.0!",
        " 0.4        sat     0.250  200.0!        sat     0.250   80.0!",
    ]


def test_a_point_without_a_load_stands_at_what_it_offered(made_up: Results) -> None:
    for summary in made_up.summaries:
        summary["load"] = None
    assert [line.split()[0] for line in tables.loads(made_up).splitlines()[-4:]] == ["0.1", "0.2", "0.3", "0.4"]


def test_jobs_have_a_table_of_their_own(made_up: Results) -> None:
    assert tables.jobs(made_up) == [], "points without jobs"
    job = {
        "job": "all",
        "terminals": 8,
        "offered_load": 0.1,
        "accepted_load": 0.1,
        "packet_latency_mean_cycles": 21.0,
        "packet_latency_p99_cycles": 60,
        "hops_mean": 1.5,
        "batch_packets": None,
        "batch_delivered_packets": None,
        "completion_cycles": None,
    }
    for summary in made_up.summaries:
        summary["jobs"] = [job]
    assert tables.jobs(made_up) == [], "one job is the point itself"
    del made_up.jobs
    done = {**job, "job": "fft", "batch_packets": 100, "batch_delivered_packets": 80}
    for summary in made_up.summaries:
        summary["jobs"] = [job, done]
    lines = tables.jobs(made_up)
    assert len(lines) == 3 + 16 * 2
    assert lines[1].split()[:5] == ["traffic.pattern", "power.policy", "traffic.load", "job", "terminals"]
    assert lines[4].split()[-9:] == ["fft", "8", "0.100", "0.100", "21.0", "60", "1.50", "80/100", "-"]


def test_remarks_name_the_points_they_are_about(made_up: Results) -> None:
    assert notes.lines(made_up) == [], "nobody asked"
    for row, summary in enumerate(made_up.summaries):
        summary |= {"warmup_settled": row > 0, "warmup_cycles": 1000 + 500 * row, "source_fairness_jain": 1 - row / 100}
        summary |= {"confidence_reached": True, "power_settled": None if row < 4 else row < 15}
    where = "traffic.pattern = {}, power.policy = {}, traffic.load = {}"
    settle = (
        "to settle: `measure.warmup: auto` reached its limit: write `measure.warmup_limit: 2000cycles` or more; if "
        "that is not enough, the load may be near the capacity: write a load 5 % lower (0.095 in place of 0.1) "
        f"[latencies_unsettled] ({where.format('uniform', 'always_on', 0.1)})"
    )
    assert notes.lines(made_up) == [
        "warm-up settled in 15 of 16 points after 1500 to 8000 cycles",
        f"  not in {where.format('uniform', 'always_on', 0.1)}",
        "power state settled in 11 of 12 points",
        f"  not in {where.format('tornado', 'idle_timeout(idle 9cycles)', 0.4)}",
        "requested confidence reached in 16 of 16 points",
        settle,
        f"Jain index of the sources: at least 0.85 ({where.format('tornado', 'idle_timeout(idle 9cycles)', 0.4)})",
    ]


def test_sources_that_all_inject_the_same_have_one_index(made_up: Results) -> None:
    for summary in made_up.summaries:
        summary["source_fairness_jain"] = 1 - 1e-7
    assert notes.lines(made_up) == ["Jain index of the sources: 1 at all points"]


def test_packets_that_were_dropped_are_reported(made_up: Results) -> None:
    for row, summary in enumerate(made_up.summaries):
        summary |= {"dropped_packets": {2: 30, 5: 12}.get(row, 0), "packets": 120}
    text = (
        "42 packets dropped at 2 points (a link or router had failed): 80 % were delivered at the worst point;"
        " latencies include only delivered packets"
    )
    assert notes.lines(made_up) == [text]
    assert f"{text}." in sentences(Sources([made_up]))


def test_an_empty_list_has_a_name(tmp_path: Path) -> None:
    values: list[list[Any]] = [[], [{"router": 1, "at": "4us"}]]
    results = made(tmp_path / "faulty", [({"faults": value}, {}) for value in values])
    assert results.frame["faults"].to_list() == ["none", "router 1, at 4us"]
    assert tables.loads(results).splitlines()[3].split() == ["faults", "none", "router", "1,", "at", "4us"]
    assert results.describe(0) == "faults = none"


def test_what_does_not_fit_goes_below(made_up: Results) -> None:
    lines = tables.loads(made_up, width=40).splitlines()[2:]
    assert max(map(len, lines)) <= 40
    assert sum(line.startswith("load") for line in lines) == 4


ASKED = """\
topology: {mesh: {widths: [4, 4], terminals_per_router: 1}}
routing: dimension_order
links: {default: {latency: 1cycle, vcs: 4, buffer: 16flits}}
traffic:
  packet: 1flit
  jobs: [{name: a, terminals: {range: [0, 15]}, pattern: uniform, load: 0.05, reply: {packet: 4flits}}]
measure: {warmup: 1000cycles, window: 4000cycles}
"""


def test_a_table_says_that_accepted_loads_include_replies(tmp_path: Path) -> None:
    """The heading of the table says that accepted loads include replies.

    Each flit of a request causes four flits of replies, so the accepted load is about five times the load of requests.
    """
    results = weft.load(ASKED).run(tmp_path / "asked")
    assert results.frame["accepted_load"][0] > 4 * results.frame["load"][0]
    head = tables.loads(results).splitlines()[0]
    assert "against the configured load [flits/terminal/cycle] of requests; accepted loads also count replies" in head
