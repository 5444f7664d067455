"""Tests routings for any graph.

Long paths need few VCs without deadlock, and links can be weighted by latency or cost.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import weft
from weft.errors import ScenarioError

if TYPE_CHECKING:
    from pathlib import Path

RING = """\
topology: {graph: {file: ring.json}}
links: {default: {latency: 1cycle, vcs: 4, buffer: 8flits}}
routing: lash
traffic: {pattern: uniform, packet: 4flits, load: 0.02}
measure: {warmup: 1000cycles, window: 20000cycles}
"""
# Network file: routers 0 and 1 have a direct link of 50 cycles, and a path over router 2 with two links of 1 cycle.
TRIANGLE = """\
router 0 node 0 router 1 50 router 2 1
router 1 node 1 router 2 1 router 0 50
router 2 node 2 router 0 1 router 1 1
"""
WEIGHTED = """\
topology: {graph: {file: weight.anynet}}
links: {default: {latency: 1cycle, vcs: 4, buffer: 64flits}}
routing: shortest_path
traffic: {pattern: uniform, packet: 1flit, load: 0.05}
measure: {warmup: 1000cycles, window: 4000cycles}
"""


@pytest.fixture
def ring(tmp_path: Path) -> Path:
    """Write the graph file of a ring of 40 routers."""
    nodes = [{"id": router, "terminals": 1} for router in range(40)]
    links = [{"source": router, "target": (router + 1) % 40} for router in range(40)]
    graph = {"directed": False, "multigraph": False, "nodes": nodes, "links": links}
    (tmp_path / "ring.json").write_text(json.dumps(graph))
    (tmp_path / "ring.yaml").write_text(RING)
    return tmp_path / "ring.yaml"


@pytest.fixture
def triangle(tmp_path: Path) -> Path:
    """Write the graph file of three routers, two of which have a direct link of 50 cycles."""
    (tmp_path / "weight.anynet").write_text(TRIANGLE)
    (tmp_path / "weight.yaml").write_text(WEIGHTED)
    return tmp_path / "weight.yaml"


@pytest.mark.parametrize("routing", ["lash", "up_down_any"])
def test_a_ring_of_forty_routers_runs_with_four_vcs(ring: Path, routing: str, tmp_path: Path) -> None:
    experiment = weft.load(ring, overrides={"routing": routing})
    (point,) = experiment.points
    assert point.imply()["vc_classes"]["link"] <= 2
    frame = experiment.run(tmp_path / "out").frame
    assert frame["ending"].item() == "drained"
    # mean distance to the 39 other routers of the ring: 2 x (1 + ... + 19) + 20 = 400 links, divided by 39
    shortest = 400 / 39
    hops = frame["hops_mean"].item()
    assert hops == pytest.approx(shortest, rel=0.05) if routing == "lash" else hops > shortest


def test_one_class_for_each_hop_of_a_ring_is_refused_with_routings_that_work(ring: Path) -> None:
    with pytest.raises(ScenarioError, match="20 links need 20 VC classes") as refused:
        weft.load(ring, overrides={"routing": "shortest_path"}).check()
    assert "lash" in str(refused.value)
    assert "up_down_any" in str(refused.value)


@pytest.mark.parametrize(
    ("routing", "cycles"),
    [
        # Over the direct links, a packet takes 5 cycles and the latency of the link between the routers: 1 cycle on its
        # terminal's link, in each of two routers, on the link to the other terminal, and for delivery. That latency is
        # 50 cycles for 2 of 6 pairs of routers, and 1 cycle for the others.
        ("shortest_path", 5 + (2 * 50 + 4 * 1) / 6),
        # If latencies or costs count, packets between routers 0 and 1 go over router 2, with two links and one more
        # router: they take 5 + 1 + 1 + 1 cycles.
        ({"shortest_path": {"weight": "latency"}}, (2 * 8 + 4 * 6) / 6),
        ({"shortest_path": {"weight": {"cost": {"latency50": 3, "latency1": 1}}}}, (2 * 8 + 4 * 6) / 6),
        ({"lash": {"weight": "latency"}}, (2 * 8 + 4 * 6) / 6),
        # With equal costs, one link costs less than two links.
        ({"lash": {"weight": {"cost": {"latency50": 1, "latency1": 1}}}}, 5 + (2 * 50 + 4 * 1) / 6),
    ],
)
def test_paths_go_by_links_latency_or_cost(triangle: Path, routing: Any, cycles: float) -> None:
    implied = weft.load(triangle, overrides={"routing": routing}).points[0].imply()
    assert implied["zero_load_latency_cycles"] == pytest.approx(cycles)


def test_latencies_of_the_scenario_count_before_those_of_the_file(triangle: Path) -> None:
    sets = {"routing": {"shortest_path": {"weight": "latency"}}, "links.latency50.latency": "1cycle"}
    # all links have the same latency here, so the direct link is the shortest path
    assert weft.load(triangle, overrides=sets).points[0].imply()["mean_hops"] == 1


@pytest.mark.parametrize(
    ("costs", "what", "help"),
    [
        ({"latency50": 3}, "links of class `latency1` have no cost", "cost: {latency1: 1, latency50: 1}"),
        ({"latency50": 3, "latency1": 1, "wan": 2}, "no link of class `wan`", "latency1, latency50"),
        (
            {"latency50": 0, "latency1": 1},
            "the cost 0 of links of class `latency50` is out of range",
            "write 1 to 65536",
        ),
    ],
)
def test_costs_that_leave_a_class_out_are_refused(triangle: Path, costs: dict[str, int], what: str, help: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        weft.load(triangle, overrides={"routing": {"shortest_path": {"weight": {"cost": costs}}}}).check()
    assert what in str(refused.value)
    assert help in str(refused.value)


def test_the_remedy_of_too_few_layers_works(ring: Path) -> None:
    what = "with 1 layers, the shortest paths of this graph form dependency cycles"
    with pytest.raises(ScenarioError, match=what) as refused:
        weft.load(ring, overrides={"routing": {"lash": {"layers": 1}}}).check()
    assert "write 2 layers, with at least 2 VCs on every link" in str(refused.value)
    assert "choose a routing that needs fewer VC classes: up_down_any" in str(refused.value)
    weft.load(ring, overrides={"routing": "up_down_any", "links.default.vcs": 1}).check()
    weft.load(ring, overrides={"routing": {"lash": {"layers": 2}}, "links.default.vcs": 2}).check()
