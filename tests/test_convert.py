"""Tests the conversion of graph files in formats that NetworkX reads."""

from __future__ import annotations

import contextlib
import hashlib
import json
import random
import sys
from typing import TYPE_CHECKING

import pytest

import weft
from weft.cli import main
from weft.scenario.networkx_graphs import converted

if TYPE_CHECKING:
    from pathlib import Path

GML = """graph [
  node [ id 0 label "a" ]
  node [ id 1 label "b" ]
  edge [ source 0 target 1 LinkSpeedRaw 10000000000.0 ]
]
"""
TWICE = GML.replace("edge [", "edge [ source 0 target 1 LinkSpeedRaw 1.0E10 ]\n  edge [")
ADJACENCY = (
    '{"directed": false, "multigraph": false, "graph": [], "nodes": [{"id": 0}, {"id": 1}], '
    '"adjacency": [[{"id": 1}], [{"id": 0}]]}'
)
FILES = {
    "zoo.gml": GML,
    "edges.txt": "# a list\n0 1\n1 2\n",
    "adjacency.json": ADJACENCY,
    "edges.csv": "source,target\n0,1\n1,2\n",
}


def scenario(folder: Path, name: str, text: str, more: str = "") -> Path:
    """Write a scenario that uses a graph file, and return its path."""
    (folder / name).write_text(text)
    path = folder / "own.yaml"
    path.write_text(
        f"topology: {{graph: {{file: {name}, terminals_per_router: 1{more}}}}}\n"
        "links: {default: {latency: 1cycle, vcs: 4, buffer: 64flits}}\nrouting: shortest_path\n"
        "traffic: {pattern: uniform, packet: 1flit, load: 0.05}\nmeasure: {warmup: 100cycles, window: 1000cycles}\n"
    )
    return path


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_read_by_its_ending(tmp_path: Path, name: str) -> None:
    point = weft.load(scenario(tmp_path, name, FILES[name])).points[0]
    routers = 3 if name.startswith("edges") else 2
    facts = point.explain_topology()
    assert (facts["routers"], facts["terminals"]) == (routers, routers)


def test_what_was_read_is_kept_beside_the_results(tmp_path: Path) -> None:
    path = scenario(tmp_path, "zoo.gml", GML)
    assert main(["check", str(path)]) == 0
    assert main(["run", str(path), "--out", str(tmp_path / "first")]) == 0
    folder = weft.open_results(tmp_path / "first").folder(0)
    kept = json.loads((folder / "zoo.gml.json").read_text())
    digest = hashlib.sha256(GML.encode()).hexdigest()
    assert kept["graph"] == {"converted_from": {"file": "zoo.gml", "sha256": digest, "format": "gml"}}
    # the results folder contains all files that are needed to compute the same results again
    assert main(["run", str(folder / "scenario.yaml"), "--out", str(tmp_path / "again")]) == 0
    assert (
        weft.open_results(tmp_path / "again").summaries[0]["hash"]
        == weft.open_results(tmp_path / "first").summaries[0]["hash"]
    )


def test_attributes_are_read_as_those_of_other_files(tmp_path: Path) -> None:
    # expected bandwidth: 10 Gb/s are 10 bits per ns; with a cycle of 1 ns and flits of 48 bits, this is 5/24 flits per
    # cycle
    mapped = ", attributes: {bandwidth: {from: LinkSpeedRaw, unit: b/s}}"
    point = weft.load(scenario(tmp_path, "zoo.gml", GML, mapped)).points[0]
    assert point.resolved["links"]["link_10G"]["bandwidth"] == "10Gb/s"
    bare = weft.load(scenario(tmp_path, "zoo.gml", GML)).points[0]
    shown = next(warning for warning in bare.warnings if warning.get("code") == "graph_attributes_unused")
    assert shown["numbers"] == {"edges.LinkSpeedRaw": 1.0}


def test_repeated_edges_are_parallel_links() -> None:
    # GML files of the Topology Zoo repeat an edge for parallel links, but lack the line `multigraph 1`
    links = json.loads(converted("zoo.gml", "gml", TWICE.encode())[1])["links"]
    assert len(links) == 2
    weighted = json.loads(converted("a.txt", "edge_list", b"a b 3\na b 4.5\n")[1])
    assert [link["weight"] for link in weighted["links"]] == [3.0, 4.5]
    named = json.loads(converted("a.txt", "edge_list", b"a b {'capacity': 3}\n")[1])
    assert named["links"] == [{"capacity": 3, "source": "a", "target": "b"}]


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("a b # the first\nb c#the second\n", [{}, {}]),
        ("a b 3 # far\nb c\n% near\n\nc d 4\n", [{"weight": 3.0}, {}, {"weight": 4.0}]),
        ("a b {'colour': '#f00'} # {red}\nb c\nc d 2\n", [{"colour": "#f00"}, {}, {"weight": 2.0}]),
        ("a, b # no weight\nb, c, {'w': 1, 'v': 2}\n", [{}, {"w": 1, "v": 2}]),
    ],
)
def test_edges_may_have_comments_and_only_some_of_them_attributes(text: str, links: list[dict[str, object]]) -> None:
    names = [{"source": a, "target": b} for a, b in zip("abc", "bcd", strict=True)]
    found = json.loads(converted("a.txt", "edge_list", text.encode())[1])["links"]
    assert found == [own | ends for own, ends in zip(links, names, strict=False)]


def test_an_edge_without_the_attribute_has_the_default(tmp_path: Path) -> None:
    path = scenario(
        tmp_path, "edges.txt", "0 1 5 # far\n1 2\n", ", attributes: {latency: {from: weight, unit: cycles}}"
    )
    links = weft.load(path).points[0].explain_topology()["links"]
    # no option sets a cycle, so the cycle of the scenario converts times of the graph file to cycles
    assert {name: (each["links"], each["latency_cycles"]) for name, each in links.items()} == {
        "terminal": (3, 1),
        "link": (1, 1),
        "link_5cycles": (1, 5),
    }


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("zoo.gml", "graph [ node [ id 0 ]", ["zoo.gml can't be read as GML", "write_graphml"]),
        ("edges.txt", "0 1 2 3\n", ["edge 1 is '0 1 2 3'", "must be two names"]),
        ("edges.txt", "0 1 5\n1 2 far\n", ["edge 2 is '1 2 far', whose weight 'far' is not a number"]),
        ("edges.txt", "0 1\n1 # 2\n", ["edge 2 is '1'", "must be two names"]),
        ("adjacency.json", '{"nodes": [{"id": 0}], "adjacency": [[{"id": 0}], []]}', ["adjacency.json"]),
        (
            "loop.json",
            '{"directed": false, "multigraph": false, "graph": [], "nodes": [{"id": 0}], "adjacency": [[{"id": 0}]]}',
            ["loop.json, converted by NetworkX: edge (0, 0): router 0 is connected to itself"],
        ),
    ],
)
def test_what_cannot_be_read_is_refused_at_its_file(tmp_path: Path, name: str, text: str, words: list[str]) -> None:
    with pytest.raises(weft.ScenarioError) as caught:
        weft.load(scenario(tmp_path, name, text))
    assert (caught.value.path, caught.value.line) == ("topology.graph.file", 1)
    assert all(word in caught.value.text for word in words), caught.value.text


def test_without_networkx_there_is_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(weft.ScenarioError) as caught:
        weft.load(scenario(tmp_path, "zoo.gml", GML))
    assert "pip install 'weft-sim[networkx]'" in caught.value.help
    assert (caught.value.path, caught.value.line) == ("topology.graph.file", 1)


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("gml", GML),
        ("edge_list", "0 1 3\n1 2 4\n"),
        ("edge_list", "0 1 # x\n1 2 {'w': '#'}\n"),
        ("adjacency", ADJACENCY),
    ],
)
def test_damaged_files_are_read_or_refused(format: str, text: str) -> None:
    draw = random.Random(7)
    for _ in range(300):
        damaged = bytearray(text.encode())
        for _ in range(draw.randint(1, 6)):
            place = draw.randrange(len(damaged))
            damaged[place : place + draw.randint(0, 3)] = bytes(
                draw.choice(b'09[]{}",.x\xff\n ') for _ in range(draw.randint(0, 2))
            )
            damaged = damaged or bytearray(b" ")
        with contextlib.suppress(weft.ScenarioError):
            json.loads(converted("damaged", format, bytes(damaged))[1])
