"""Tests ideal queueing, in which each port has a queue for each destination: effect at hot spots, label, refusals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

import weft
from weft.cli import main
from weft.errors import ScenarioError

if TYPE_CHECKING:
    from pathlib import Path

TORUS = """\
cycle: 1ns
flit: 128b
topology: {torus: {widths: [4, 4, 2], terminals_per_router: 1}}
routing: dimension_order
links:
  default: {latency: 4cycles, vcs: 16, buffer: 8flits}
  terminal: {latency: 1cycle, vcs: 8}
queueing: voqnet
interface: {depth: 256}
traffic:
  jobs:
    - name: hot
      terminals: {list: [0, 5, 10, 15, 20, 25, 30]}
      pattern: {hot_spot: {targets: [0], share: 1}}
      packet: 4flits
      load: 1.0
    - {name: cold, terminals: rest, pattern: uniform, packet: 4flits, load: 0.3}
measure: {warmup: 5us, window: 10us, drain_limit: 1cycle}
"""


@pytest.fixture
def torus(tmp_path: Path) -> Path:
    scenario = tmp_path / "torus.yaml"
    scenario.write_text(TORUS, encoding="utf-8")
    return scenario


def _summary(scenario: Path, **overrides: Any) -> dict[str, Any]:
    sets = {key.replace("__", "."): value for key, value in overrides.items()}
    (summary,) = weft.load(scenario, overrides=sets).run(scenario.parent / "run", jobs=1, watch=False).summaries
    return summary


def test_the_cold_flows_do_not_notice_the_hot_spot_and_the_run_is_labelled(torus: Path) -> None:
    """The cold flows accept all their load, within random variation: 25 sources offer a load of 0.3 in packets of 4
    flits for 10,000 cycles.

    Each creates a packet in a cycle with probability 0.075.
    """
    deviation = 4 * math.sqrt(0.075 * 0.925 / (25 * 10_000))
    summary = _summary(torus)
    accepted = {job["job"]: job["accepted_load"] for job in summary["jobs"]}
    assert abs(accepted["cold"] - 0.3) < 3 * deviation
    # terminal 0 receives one flit per cycle in total from the 7 terminals of the hot job
    assert accepted["hot"] == pytest.approx(1 / 7, rel=0.01)
    assert summary["ideal_queues"] == 32


def test_schemes_whose_queues_are_vcs_have_no_label(torus: Path) -> None:
    summary = _summary(torus, queueing={"dbbm": {"queues": 8}}, measure__warmup="1us", measure__window="1us")
    assert "ideal_queues" not in summary


def test_check_names_the_map_ideal_and_gives_the_memory_of_a_port(
    torus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(torus)]) == 0
    output = capsys.readouterr().out
    assert "queues of voqnet: 32; ideal: a queue for each of 32 destinations, as in no real router" in output
    # a port needs room for 32 destinations x 8 flits x 2 VC classes of the routing
    assert "512 flits" in output


@pytest.mark.parametrize(
    ("key", "bad", "path", "good"),
    [
        ("interface", {"queues": "per_lane"}, "interface.queues", {"queues": "per_destination"}),
        ("router", {"vc_realloc": 1}, "router.vc_realloc", {"vc_realloc": 0}),
        ("router", {"flow_control": "wormhole"}, "router.flow_control", {"flow_control": "virtual_cut_through"}),
        ("links.terminal.vcs", 9, "links.terminal.vcs", 8),
        ("links.dim0.buffer", "20000flits", "links.dim0.buffer", "16383flits"),
        ("routing", "minimal_adaptive", "queueing.voqnet", "dimension_order"),
    ],
)
def test_what_does_not_go_with_the_map_is_refused_with_a_remedy_that_works(
    torus: Path, key: str, bad: object, path: str, good: object
) -> None:
    with pytest.raises(ScenarioError) as refused:
        weft.load(torus, overrides={key: bad}).check()
    assert refused.value.path == path
    weft.load(torus, overrides={key: good}).check()
