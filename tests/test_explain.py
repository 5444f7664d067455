"""Tests what ``weft explain``, ``weft check`` and the Python interface say about networks and routings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import weft
from weft.cli import main

if TYPE_CHECKING:
    from pathlib import Path


def test_a_hyperx_is_as_the_formulas_say(small: Path) -> None:
    facts = weft.load(small).points[0].explain_topology()
    assert (facts["routers"], facts["terminals"], facts["radix_ports"]) == (16, 64, 10)
    # a router has 3 other routers in its row and 3 in its column; the other 9 routers are two hops away
    assert (facts["degree_min_links"], facts["degree_max_links"], facts["degree_mean_links"]) == (6, 6, 6)
    assert facts["router_pairs_by_hops"] == [0, 16 * 6, 16 * 9]
    assert facts["terminal_pairs_by_hops"] == [64 * 3, 16 * 6 * 16, 16 * 9 * 16]
    assert facts["diameter_hops"] == 2
    assert facts["mean_distance_hops"] == pytest.approx((6 + 2 * 9) / 15)
    # the smallest cut divides each of the 4 rows into 2 and 2 routers: it cuts 4 links in each row, and each half has
    # 32 terminals
    assert (facts["bisection_links"], facts["bisection_exact"]) == (16, True)
    assert facts["bisection_per_terminal"] == 16 / 32
    assert {name: link["links"] for name, link in facts["links"].items()} == {"terminal": 64, "dim0": 24, "dim1": 24}


def test_the_topology_in_words(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "topology", str(small)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("first of 12 points: traffic.pattern = uniform")
    assert "  bisection          16 links" in lines
    assert "                     0.5 of the injection bandwidth of one half of the terminals" in lines
    # the bar of the most frequent distance (2304 pairs) has 40 characters; other bars are proportional: 1536 pairs give
    # 27
    bars = [line.split()[-1] for line in lines if line.endswith("#")]
    assert [len(bar) for bar in bars] == [round(40 * 192 / 2304), 27, 40]


def test_escape_rings_have_links_of_their_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sizes = {"routers_per_group": 4, "terminals_per_router": 2, "global_links_per_router": 2}
    scenario = {
        "topology": {"dragonfly": {**sizes, "escape_rings": 1}},
        "links": {"default": {"vcs": 3}, "ring_global": {"latency": "100cycles"}},
        "routing": "dragonfly_minimal",
        "traffic": {"pattern": "uniform", "load": 0.1},
    }
    facts = weft.load(scenario).points[0].explain_topology()
    # the ring has 3 links inside each of the 9 groups, and one link from each group to the next
    links = {name: link["links"] for name, link in facts["links"].items()}
    assert links == {"terminal": 72, "local": 54, "global": 36, "ring_local": 27, "ring_global": 9}
    assert (facts["rings"], facts["radix_ports"], facts["links"]["ring_global"]["latency_cycles"]) == (1, 9, 100)
    file = tmp_path / "ring.yaml"
    file.write_text(json.dumps(scenario), encoding="utf-8")
    assert main(["explain", "topology", str(file)]) == 0
    assert "1, each over every router once, on its own links" in capsys.readouterr().out
    # this routing does not use rings, so no packet takes a link of a ring
    assert (
        main(["run", str(file), "--set", "measure.window=2000cycles", "--out", str(tmp_path / "out"), "--no-picture"])
        == 0
    )
    channels = weft.open_results(tmp_path / "out").channels(0)
    carried = {name: frame["flits"].sum() for (name,), frame in channels.group_by("link_class")}
    assert carried["global"] > 0 == carried["ring_local"] == carried["ring_global"]


def test_dimension_order_has_one_path(small: Path) -> None:
    facts = weft.load(small).points[0].explain_routing(3, 60)
    (path,) = facts["paths"]
    # the path from router 0 to router 15 goes in dimension 0 to router 3, then in dimension 1; ports 0 to 3 lead to
    # terminals, ports 4 to 6 to dimension 0, ports 7 to 9 to dimension 1
    assert [(hop["router"], hop["port"], hop["next_router"]) for hop in path["hops"]] == [(0, 6, 3), (3, 9, 15)]
    assert path["hops"][0]["vcs"] == [0, 1, 2, 3, 4, 5]
    assert path["probability"] == 1
    # latency of one flit: 3 routers of 1 cycle, 2 links of 10 cycles, 2 terminal links of 1 cycle, and 1 cycle of
    # ejection
    assert path["zero_load_latency"] == 3 + 20 + 2 + 1
    assert facts["choices"] == []


def test_the_latency_of_a_mix_is_that_of_its_longest_packet_and_says_so(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mix = "{mix: [{size: 1flit, weight: 3}, {size: 9flits, weight: 1}]}"
    facts = weft.load(small, overrides={"traffic.packet": mix}).points[0].explain_routing(3, 60)
    assert (facts["packet_flits"], facts["packet_lengths"]) == (9, 2)
    # the latency of one flit as above, plus 8 flits after the head
    assert facts["paths"][0]["zero_load_latency"] == 3 + 20 + 2 + 1 + 8
    arguments = ["explain", "routing", str(small), "--from", "3", "--to", "60"]
    assert main([*arguments, "--set", f"traffic.packet={mix}"]) == 0
    assert "without contention, of the longest packet: 9 flits" in capsys.readouterr().out
    assert main(arguments) == 0
    assert "the longest packet" not in capsys.readouterr().out


def test_valiant_shares_its_paths_out(small: Path) -> None:
    facts = weft.load(small, overrides={"routing": "valiant"}).points[0].explain_routing(3, 60)
    assert sum(path["probability"] for path in facts["paths"]) == pytest.approx(1)
    assert len(facts["paths"]) == facts["path_count"] == 16


def test_a_choice_names_what_it_compares(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--from", "3", "--to", "60", "--set", "routing=ugal_p"]
    assert main(["explain", "routing", str(small), *arguments]) == 0
    output = capsys.readouterr().out
    assert "ugal_p from terminal 3 (port 3 of router 0) to terminal 60 (port 0 of router 15), 2 hops apart" in output
    assert "VCs of each VC class: terminal 0-5; dim0 0-2 | 3-5; dim1 0-2 | 3-5" in output
    # 2 other routers in the row can be intermediates; the cost of a detour is twice its queue plus the bias of 2 flits
    assert "choice at router 0, before hop 1" in output
    assert "q(port 4) * 2 + 2" in output
    assert "(detour)" in output
    assert output.count("choice at router 3") == 1, "the same choice after one hop or two is told once"


@pytest.mark.parametrize("subject", [["topology"], ["routing", "--from", "0", "--to", "1"]])
def test_json_is_what_python_gives(small: Path, capsys: pytest.CaptureFixture[str], subject: list[str]) -> None:
    assert main(["explain", *subject[:1], str(small), *subject[1:], "--json"]) == 0
    point = weft.load(small).points[0]
    facts = point.explain_topology() if subject[0] == "topology" else point.explain_routing(0, 1)
    assert json.loads(capsys.readouterr().out) == facts


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--from", "3", "--to", "9999"], ["no terminal 9999", "0 to 63"]),
        (["--from", "64", "--to", "0"], ["no terminal 64", "0 to 63"]),
        (["--from", "3"], ["two terminals", "--to"]),
        (["--from", "0", "--to", "1", "--set", "routing=up_down"], ["up_down", "hyperx"]),
    ],
)
def test_what_can_not_be_explained_is_refused(
    small: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: list[str]
) -> None:
    assert main(["explain", "routing", str(small), *arguments]) == 2
    errors = capsys.readouterr().err
    assert all(word in errors for word in words), errors


@pytest.mark.parametrize("number", ["-1", "x", "4294967296"])
def test_what_is_no_terminal_is_refused(small: Path, number: str) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["explain", "routing", str(small), "--from", number, "--to", "1"])


def test_a_missing_file_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["explain", "topology"], ["saturation"]):
        assert main([*command, str(tmp_path / "absent.yaml")]) == 2
        assert "absent.yaml can't be read" in capsys.readouterr().err


def test_check_says_of_which_paths_a_bound_is_and_whether_replies_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mesh = tmp_path / "mesh.yaml"
    mesh.write_text(
        "topology: {mesh: {widths: [8, 8], terminals_per_router: 1}}\nrouting: dimension_order\n"
        "links: {default: {latency: 1cycle, vcs: 4, buffer: 8flits}}\n"
        "traffic: {pattern: uniform, workload: {request_reply: {packet: 4flits}}, packet: 1flit, load: 0.05}\n"
    )

    def checked(*sets: str) -> str:
        assert main(["check", str(mesh), *(part for each in sets for part in ("--set", each))]) == 0
        return capsys.readouterr().out

    # the channels can carry a load of 63 / 128 under uniform traffic; a request of 1 flit and its reply are 5 flits, so
    # requests can have a fifth of this load
    replies = checked()
    assert "0.09844 of requests, whose replies are counted\n" in replies
    # mean latency without contention: 16 / 3 + 1 routers, 16 / 3 links, two terminal links, 1 cycle of ejection, and
    # 1.5 flits after the head on average
    assert f"{32 / 3 + 1 + 2 + 1 + 1.5:.4g}, of requests and replies\n" in replies
    assert "requests and replies share all VCs. They can't deadlock in Weft" in replies
    adaptive = checked("traffic.workload=null", "traffic.pattern=transpose", "routing=minimal_adaptive")
    assert " 0.5, of the best choice of minimal paths: a choice by queues carries less\n" in adaptive
    assert "replies" not in adaptive


def test_the_vcs_of_each_message_class_are_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "classes.yaml"
    file.write_text(CLASSES)
    # on torus links the message class `bulk` has 4 of 12 VCs, and each of the two other message classes has half of the
    # other 8; the VCs of each message class are divided into 2 VC classes
    assert main(["explain", "routing", str(file), "--from", "0", "--to", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    shown = [line for line in lines if line.startswith("VCs of each VC class")]
    assert shown == [
        "VCs of each VC class, message class bulk: terminal 0-3; dim0 0-1 | 2-3",
        "VCs of each VC class, message class control: terminal 4-7; dim0 4-5 | 6-7",
        "VCs of each VC class, message class rest: terminal 8-11; dim0 8-9 | 10-11",
    ]
    assert any(line.endswith("router -[port, link, VC class]-> router") for line in lines)
    facts = weft.load(file).points[0].explain_routing(0, 2)
    every = [
        {vc for link in each["vc_classes"] for vcs in link["vcs"] for vc in vcs} for each in facts["message_classes"]
    ]
    assert [sorted(vcs) for vcs in every] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]


CLASSES = """
topology: {torus: {widths: [4], terminals_per_router: 1}}
routing: dimension_order
links: {default: {vcs: 12}}
classes: {bulk: {vcs: 4}, control: {}, rest: {}}
interface: {queues: per_class}
traffic:
  pattern: uniform
  jobs:
    - {name: a, terminals: rest, class: bulk, load: 0.1}
    - {name: b, terminals: rest, class: control, load: 0.1}
    - {name: c, terminals: rest, class: rest, load: 0.1}
measure: {warmup: 100cycles, window: 1000cycles}
"""


def test_a_link_of_two_classes_is_reported_with_both(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "one-way.anynet").write_text(
        "router 0 node 0 router 1 15\nrouter 1 node 1 router 2 2\nrouter 2 node 2 router 1 2\n"
    )
    file = tmp_path / "one.yaml"
    file.write_text(ONE_WAY)
    text = "1 link of latency1 in one direction and latency15 in the other, listed under both"
    for command in (["check", str(file)], ["explain", "topology", str(file)]):
        assert main(command) == 0
        assert text in capsys.readouterr().out.splitlines()
    facts = weft.load(file).points[0].explain_topology()
    assert {name: link["links"] for name, link in facts["links"].items()} == {
        "terminal": 3,
        "latency1": 1,
        "latency15": 1,
        "latency2": 1,
    }


ONE_WAY = """
topology: {graph: {file: one-way.anynet}}
routing: shortest_path
traffic: {pattern: uniform, load: 0.1}
measure: {warmup: 100cycles, window: 1000cycles}
"""
