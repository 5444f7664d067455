"""Tests the queueing scheme RECN, which sets queues aside for packets to congested outputs: cold flows next to a hot
spot, and refusals."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import weft
from weft.errors import ScenarioError

EXAMPLE = Path(__file__).parents[1] / "examples" / "recn.yaml"

SMALL = """\
topology: {mesh: {widths: [3, 3], terminals_per_router: 1}}
routing: dimension_order
links: {default: {vcs: 4}}
queueing: recn
traffic: {pattern: uniform, load: 0.2}
measure: {warmup: 100cycles, window: 200cycles}
"""


@pytest.fixture(scope="module")
def summaries(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    return weft.load(EXAMPLE).run(tmp_path_factory.mktemp("recn"), jobs=1, watch=False).summaries


def accepted(summary: dict[str, Any]) -> dict[str, float]:
    return {job["job"]: job["accepted_load"] for job in summary["jobs"]}


def test_queues_set_aside_free_the_cold_flows_as_a_queue_per_destination_does(summaries: list[dict[str, Any]]) -> None:
    """11 sources offer a load of 0.4 in packets of 4 flits for 20,000 cycles: each creates a packet in a cycle with
    probability p = 0.1. The standard deviation of the load in the window is therefore 4 sqrt(p (1 - p) / (11 *
    20,000)).
    """
    deviation = 4 * math.sqrt(0.1 * 0.9 / (11 * 20_000))
    one_queue, _, voqnet, recn, _ = (accepted(summary) for summary in summaries)
    assert one_queue["cold"] < 0.4 - 10 * deviation
    assert abs(recn["cold"] - voqnet["cold"]) < 3 * deviation
    assert recn["cold"] > 0.4 - 3 * deviation
    # terminal 0 receives one flit per cycle in total from the 5 terminals of the hot job
    assert recn["hot"] == pytest.approx(1 / 5, rel=0.01)


def test_the_summary_counts_tokens_and_queues(summaries: list[dict[str, Any]]) -> None:
    recn = summaries[3]
    given, returned, at_end = (recn[f"set_aside_{key}"] for key in ("tokens", "tokens_returned", "queues_at_end"))
    # tokens that were not returned belong to queues at the end, or are in flight on a channel, at most 3 on each of 64
    # channels: 48 between the 16 routers of a mesh, and 16 from terminals
    assert 0 <= given - returned - at_end <= 64 * 3
    assert given > 0
    assert 0 < recn["set_aside_queues_mean"] <= 64 * 3
    assert "set_aside_tokens" not in summaries[0]


LINE = """\
topology: {mesh: {widths: [6], terminals_per_router: 2}}
routing: dimension_order
links:
  default: {latency: 50cycles, vcs: 4, buffer: 128flits}
  terminal: {latency: 1cycle, vcs: 4}
queueing: {recn: {queues: 3, detect: 10%}}
interface: {queues: per_destination, destinations: 4, depth: 64}
traffic:
  jobs:
    - name: hot
      terminals: {list: [10, 3, 5, 7, 9]}
      pattern: {hot_spot: {targets: [0], share: 1}}
      packet: 4flits
      load: 0.9
measure: {warmup: 20us, window: 10us, drain_limit: 1cycle}
"""


def test_senders_hear_of_a_farther_output_from_packets_in_a_queue_set_aside(tmp_path: Path) -> None:
    """Four terminals along a line of routers send to its end, over the last link of the line, which carries 1 flit per
    cycle.

    A message takes 50 cycles. Until a message arrives, links before the last link also appear congested, so routers set
    queues aside for them. All packets in these queues cross the last link. When the senders learn that the last link is
    the congested one, these queues become empty, and routers release them.
    """
    scenario = tmp_path / "line.yaml"
    scenario.write_text(LINE, encoding="utf-8")
    (summary,) = weft.load(scenario).run(tmp_path / "line", jobs=1, watch=False).summaries
    assert summary["set_aside_tokens_returned"] > 0
    given, returned, at_end = (summary[f"set_aside_{key}"] for key in ("tokens", "tokens_returned", "queues_at_end"))
    assert given - returned == at_end


REFUSED = [
    ("interface", {"queues": "per_lane"}, "interface.queues", {"queues": "per_destination"}),
    ("router", {"vc_realloc": 1}, "router.vc_realloc", {"vc_realloc": 0}),
    ("links.default.vcs", 6, "links.terminal.vcs", 4),
    ("queueing", {"recn": {"queues": 16}}, "queueing.recn.queues", {"recn": {"queues": 3}}),
    ("queueing", {"recn": {"detect": "0%"}}, "queueing.recn.detect", {"recn": {"detect": "50%"}}),
    ("queueing", {"recn": {"spread": "101%"}}, "queueing.recn.spread", {"recn": {"spread": "100%"}}),
    ("queueing", {"recn": {"linger": "0ns"}}, "queueing.recn.linger", {"recn": {"linger": "1ns"}}),
]


@pytest.mark.parametrize(("key", "bad", "path", "good"), REFUSED, ids=[f"{row[0]}: {row[1]}" for row in REFUSED])
def test_what_does_not_go_with_it_is_refused_with_a_remedy_that_works(
    key: str, bad: object, path: str, good: object, tmp_path: Path
) -> None:
    scenario = tmp_path / "small.yaml"
    scenario.write_text(SMALL, encoding="utf-8")
    with pytest.raises(ScenarioError) as refused:
        weft.load(scenario, overrides={key: bad}).check()
    assert refused.value.path == path
    weft.load(scenario, overrides={key: good}).check()


TRUNKS = {"torus": {"widths": [3, 3], "terminals_per_router": 1, "trunk_width": 2}}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("faults", [{"link": [0, 1], "at": "10cycles", "until": "200cycles"}]),
        ("routing", "minimal_adaptive"),
        ("topology", TRUNKS),
    ],
)
def test_it_goes_with_faults_with_adaptive_routing_and_with_trunks(key: str, value: object, tmp_path: Path) -> None:
    scenario = tmp_path / "small.yaml"
    scenario.write_text(SMALL, encoding="utf-8")
    # the routing has two VC classes, each of which needs 4 queues
    vcs = {} if key == "faults" else {"links.default.vcs": 8, "links.terminal.vcs": 4}
    run = weft.load(scenario, overrides={key: value} | vcs).run(tmp_path / "small", jobs=1, watch=False)
    assert run.summaries[0]["packets"] > 0
