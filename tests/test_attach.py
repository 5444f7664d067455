"""Tests topologies and traffic that a Python program passes as objects, such as NetworkX graphs and NumPy matrices."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import networkx as nx  # type: ignore[import-untyped]
import numpy as np
import pytest

import weft
from weft.cli import main

if TYPE_CHECKING:
    from pathlib import Path

SCENARIO = {
    "topology": {"single_router": {"terminals": 2}},
    "links": {"default": {"latency": "10cycles", "vcs": 4, "buffer": "32flits"}, "terminal": {"latency": "1cycle"}},
    "routing": "shortest_path",
    "traffic": {"pattern": "uniform", "load": 0.1},
    "measure": {"warmup": "500cycles", "window": "1000cycles"},
}


def petersen(**attributes: Any) -> Any:
    """Return the Petersen graph: ten routers with three links each. Any two routers are at most two hops apart."""
    graph = nx.petersen_graph()
    nx.set_node_attributes(graph, attributes)
    return graph


def test_a_graph_is_the_network() -> None:
    point = weft.load(SCENARIO, topology=petersen(), terminals_per_router=2).points[0]
    facts = point.explain_topology()
    assert (facts["routers"], facts["terminals"], facts["degree_max_links"]) == (10, 20, 3)
    # each router has 3 neighbours, and the other 6 routers are two hops away: 10 * 3 and 10 * 6 ordered pairs
    assert facts["router_pairs_by_hops"] == [0, 30, 60]


def test_nodes_may_differ_in_terminals() -> None:
    graph = nx.star_graph(4)  # node 0 is the centre
    graph.nodes[0]["terminals"] = np.int64(0)
    point = weft.load(SCENARIO, topology=graph, terminals_per_router=3).points[0]
    assert point.explain_topology()["terminals"] == 4 * 3


def test_any_node_has_a_name() -> None:
    graph = nx.grid_2d_graph(2, 3)  # nodes are pairs
    point = weft.load(SCENARIO, topology=graph, terminals_per_router=1).points[0]
    explained = point.explain_routing(0, 5)
    assert (explained["from"]["router"], explained["to"]["router"]) == ("(0, 0)", "(1, 2)")


def test_the_hash_is_that_of_the_network() -> None:
    def hash(graph: Any) -> str:
        return weft.load(SCENARIO, topology=graph, terminals_per_router=1).points[0].hash

    graph = petersen()
    other = nx.Graph()
    other.add_nodes_from(graph)
    other.add_edges_from((b, a, {"label": {}}) for a, b in reversed(list(graph.edges)))
    assert hash(graph) == hash(other), "neither the order of links nor attributes without a value in a file matter"
    other.remove_edge(0, 1)
    assert hash(graph) != hash(other)


def test_attributes_are_reported_or_read() -> None:
    graph = petersen()
    nx.set_edge_attributes(graph, {edge: 25 * (1 + edge[0] % 2) for edge in graph.edges}, "capacity")
    point = weft.load(SCENARIO, topology=graph, terminals_per_router=1).points[0]
    shown = next(warning for warning in point.warnings if warning.get("code") == "graph_attributes_unused")
    assert shown["numbers"] == {"edges.capacity": 15.0}
    mapped = {"topology.graph.attributes": {"bandwidth": {"from": "capacity", "unit": "Gb/s"}}}
    links = weft.load(SCENARIO, topology=graph, terminals_per_router=1, overrides=mapped).points[0].resolved["links"]
    assert (links["link_25G"]["bandwidth"], links["link_50G"]["bandwidth"]) == ("25Gb/s", "50Gb/s")


def test_a_matrix_is_the_traffic(tmp_path: Path) -> None:
    # Every terminal sends to the next terminal. Terminal 0 sends twice as much as the others.
    matrix = np.roll(np.eye(8), 1, axis=1)
    matrix[0] *= 2
    scenario = {**SCENARIO, "topology": {"single_router": {"terminals": 8}}, "routing": "dimension_order"}
    scenario["topology"] = {"torus": {"widths": [8], "terminals_per_router": 1}}
    results = weft.load(scenario, overrides={"measure.window": "20000cycles"}, matrix=matrix).run(tmp_path)
    row = results.frame.row(0, named=True)
    # terminal 0 offers the load of the scenario, and the other seven terminals offer half of this load
    assert row["offered_load"] == pytest.approx(0.1 * (1 + 7 / 2) / 8, rel=0.05)
    assert row["hops_mean"] == 1
    assert (
        weft.load(scenario, matrix=matrix.tolist()).points[0].hash == weft.load(scenario, matrix=matrix).points[0].hash
    )


def test_results_of_both_can_be_made_again(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    sweep = weft.load(SCENARIO, topology=petersen(), terminals_per_router=2, matrix=rng.random((20, 20)))
    results = sweep.run(tmp_path / "first")
    folder = results.folder(0)
    assert {"topology.json", "matrix.npy", "scenario.yaml"} <= {path.name for path in folder.iterdir()}
    assert main(["run", str(folder / "scenario.yaml"), "--out", str(tmp_path / "again")]) == 0
    again = weft.open_results(tmp_path / "again")
    assert again.summaries == [{**summary, "coordinates": {}} for summary in results.summaries]


def test_other_contents_are_another_sweep() -> None:
    first = weft.load(SCENARIO, topology=petersen(), terminals_per_router=1)
    second = weft.load(SCENARIO, topology=nx.cycle_graph(5), terminals_per_router=1)
    assert first.name != second.name
    assert "topology = graph(file topology.json" in first.title


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"topology": {"hyperx": {}}}, ["dict", "not a NetworkX graph"]),
        ({"topology": nx.empty_graph(3), "terminals_per_router": 1}, ["topology.json"]),
        ({"topology": nx.path_graph(3)}, ["terminals"]),
        ({"terminals_per_router": 2}, ["terminals_per_router", "topology is missing"]),
        ({"matrix": [[1, 2], [3]]}, ["rows of equal length"]),
        ({"matrix": [["a"]]}, ["numbers"]),
        ({"matrix": np.ones((3, 3))}, ["matrix.npy", "3 rows"]),
        ({"matrix": np.ones((2, 2, 2))}, ["matrix.npy"]),
        ({"matrix": [[0, -1], [1, 0]]}, ["matrix.npy", "-1"]),
        ({"matrix": np.ones((2, 2)) * 1j}, ["numbers", "complex"]),
        ({"matrix": [[0, 10**400], [1, 0]]}, ["numbers", "too large"]),
        ({"matrix": np.ones((2, 2)), "overrides": {"traffic.pattern": "uniform"}}, ["matrix=", "has no effect"]),
        (
            {"topology": petersen(), "overrides": {"topology": {"single_router": {"terminals": 2}}}},
            ["topology=", "has no effect"],
        ),
        ({"overrides": {"traffic.load": 1j}}, ["strings, numbers"]),
    ],
)
def test_what_is_no_network_and_no_traffic_is_refused(arguments: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(weft.ScenarioError) as caught:
        weft.load(SCENARIO, **arguments)
    assert all(word in caught.value.text for word in words), caught.value.text
    assert caught.value.help


def test_numbers_of_numpy_are_numbers() -> None:
    sets = {"traffic.load": np.float32(0.5), "sweep.seed": np.arange(1, 3)}
    points = weft.load(SCENARIO, topology=petersen(), terminals_per_router=np.int64(2), overrides=sets).points  # type: ignore[arg-type]
    assert [point.resolved["seed"] for point in points] == [1, 2]
    assert points[0].resolved["traffic"]["load"] == 0.5


def test_a_matrix_that_no_job_uses_is_refused() -> None:
    job = {"name": "a", "terminals": {"range": [0, 1]}}
    matrix = np.ones((2, 2))
    assert weft.load(SCENARIO, overrides={"traffic.jobs": [job]}, matrix=matrix).points
    with pytest.raises(weft.ScenarioError, match="matrix= has no effect"):
        weft.load(SCENARIO, overrides={"traffic.jobs": [{**job, "pattern": "uniform"}]}, matrix=matrix)


def test_without_networkx_there_is_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(weft.ScenarioError, match="pip install networkx"):
        weft.load(SCENARIO, topology=petersen())
