"""Tests remedies against lost packets after faults: routings that still have a path for every pair of routers.

Also tests the list of links that fail if a scenario lets a share of them fail.
"""

from __future__ import annotations

import shlex
import time
from typing import TYPE_CHECKING

import pytest

import weft
from weft.cli import main
from weft.results import tables, ways_around

if TYPE_CHECKING:
    from pathlib import Path

# Four routers in a square with both diagonals: every pair has three paths of at most two links.
MESH = """\
topology: {hyperx: {widths: [4], terminals_per_router: 2}}
links: {default: {latency: 5cycles, vcs: 8, buffer: 32flits}}
routing: dimension_order
traffic: {pattern: uniform, load: 0.1}
measure: {warmup: 500cycles, window: 2000cycles}
fault_model: {rebuild_delay: 100cycles}
"""
LINK = {"faults": [{"link": [0, 1], "at": "1000cycles"}]}
TORUS = {"topology": {"torus": {"widths": [8, 8], "terminals_per_router": 1}}, "links.default.vcs": 16}
ROUTER = {"faults": [{"router": 0, "at": "1000cycles"}]}


def test_a_fault_in_the_window_has_ways_around_and_no_command(tmp_path: Path) -> None:
    results = weft.load(MESH, overrides=LINK).run(out=tmp_path / "link")
    assert results.summaries[0]["dropped_packets"] > 0
    text = "\n".join(tables.faults(results))
    assert "dimension_order drops packets although the network is still connected" in text
    ways = ways_around.able(results, 0)
    # the link breaks in cycle 1000, and new tables are ready 100 cycles later; the window begins in cycle 500
    assert {(way.tables, way.fits, way.warmup) for way in ways} == {(1100, False, None)}
    names = ", ".join(way.name for way in ways[:4])
    assert f"new tables for the remaining network, with a path for every pair: {names}" in text
    assert "from cycle 1100 on; until then packets wait, and may be lost" in text
    assert "parts fail in the window, so a run" in text
    assert "would be lost" not in text
    assert "--set" not in text


def commanded(file: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> tuple[list[str], list[str]]:
    """Run a scenario, and return the lines of the output, and the words of the command that the output proposes."""
    assert main(["run", str(file), "--no-picture", "--out", str(out)]) == 0
    lines = capsys.readouterr().out.splitlines()
    proposed = [line.strip() for line in lines if "--set routing=" in line]
    return lines, shlex.split(proposed[0])[1:]


def test_links_that_are_broken_from_the_start_are_known_and_the_command_loses_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first routing tables already avoid links that are broken from the start.

    The default delay of new tables, 10 us, is as long as the whole run, but has no effect here.
    """
    file = tmp_path / "tree.yaml"
    file.write_text(
        "topology: {fat_tree: {radix: 16, levels: 2, oversubscription: [3], terminals: 90}}\n"
        "links: {default: {latency: 10cycles, vcs: 8, buffer: 64flits}}\n"
        "routing: {up_down: {ascent: random}}\ntraffic: {pattern: uniform, packet: 4flits, load: 0.05}\n"
        "fault_model: {links: {share: 5%, class: level1, seed: 7}}\nmeasure: {warmup: 2us, window: 8us}\n",
        encoding="utf-8",
    )
    lines, command = commanded(file, tmp_path / "lost", capsys)
    assert any("the first tables of these routings include the faults" in line for line in lines)
    assert not any("measure.warmup" in word for word in command)
    assert main([*command, "--no-picture"]) == 0
    (summary,) = weft.open_results(command[command.index("--out") + 1]).summaries
    assert (summary["dropped_packets"], summary["saturated"], summary["delivered_share"]) == (0, False, 1)
    # 5 % of the 16 pairs of a leaf and a router above it are 0.8, so one pair fails; each pair has 2 of the 32 links
    capsys.readouterr()
    assert main(["check", str(file)]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("fails: ")]
    assert line.startswith("fails: 1 of 16 pairs of routers connected by level1 links (2 of 32 links; 5%): ")


def test_a_fault_in_the_warm_up_has_a_command_with_a_longer_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mesh.yaml"
    late = MESH.replace("rebuild_delay: 100cycles", "rebuild_delay: 10us")
    file.write_text(f"{late}faults: [{{link: [0, 1], at: 300cycles}}]\n", encoding="utf-8")
    _, command = commanded(file, tmp_path / "lost", capsys)
    # the link breaks in cycle 300, and new tables are ready 10,000 cycles later; the 500 cycles of the scenario's
    # warm-up follow
    assert "measure.warmup=10800cycles" in command
    assert main([*command, "--no-picture"]) == 0
    (summary,) = weft.open_results(command[command.index("--out") + 1]).summaries
    assert (summary["dropped_packets"], summary["saturated"], summary["delivered_share"]) == (0, False, 1)


def test_each_routing_that_drops_packets_is_named(tmp_path: Path) -> None:
    """Weft looks for other routings for three routings only, and says so."""
    text = (
        "topology: {torus: {widths: [4, 4], terminals_per_router: 2}}\n"
        "links: {default: {latency: 20cycles, vcs: 4, buffer: 64flits}}\n"
        "routing: dimension_order\ntraffic: {pattern: uniform, packet: 4flits, load: 0.1}\n"
        "measure: {warmup: 1us, window: 4us}\nfaults: [{link: [0, 1], at: 2us}]\n"
        "sweep: {routing: [dimension_order, minimal_adaptive, lash, up_down_any]}\n"
    )
    results = weft.load(text).run(tmp_path / "lost", watch=False)
    assert all(summary["dropped_packets"] for summary in results.summaries)
    lines = ways_around.lines(results)
    told = [line.split()[0] for line in lines if "drops packets although" in line]
    assert told == ["dimension_order", "minimal_adaptive", "lash"]
    assert lines[-1].startswith("up_down_any also drops packets: ")


def test_the_mark_of_drops_stands_only_where_packets_were_dropped(tmp_path: Path) -> None:
    results = weft.load(MESH, overrides=LINK | {"measure.warmup": "200cycles"}).run(out=tmp_path / "out")
    shown = tables.faults(results)
    heads, row = shown[1].split(), shown[3].split()
    before, during = row[heads.index("before")], row[heads.index("during")]
    assert not before.endswith("#")
    assert during.endswith("#")


def test_nothing_is_reported_where_every_routing_loses_packets(tmp_path: Path) -> None:
    """If every routing loses packets, the output proposes none.

    Here the terminals of a failed router are disconnected under each routing.
    """
    results = weft.load(MESH, overrides=ROUTER).run(out=tmp_path / "router")
    assert results.summaries[0]["dropped_packets"] > 0
    assert ways_around.lines(results) == []


def test_a_check_lists_the_share_that_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "tree.yaml"
    file.write_text(
        "topology: {fat_tree: {k: 4}}\nrouting: {up_down: {ascent: adaptive}}\n"
        "traffic: {pattern: uniform, load: 0.1}\nmeasure: {warmup: 500cycles, window: 1000cycles}\n"
        "fault_model: {rebuild_delay: 10us, links: {share: 19%, class: level2, seed: 7}}\n",
        encoding="utf-8",
    )
    assert main(["check", str(file)]) == 0
    output = capsys.readouterr().out
    # 19 % of the 16 links to the top level are 3.04, so 3 links fail
    (line,) = [line for line in output.splitlines() if line.startswith("fails: ")]
    assert line.startswith("fails: 3 of 16 level2 links (19%): ")
    failing = line.rpartition(": ")[2].split(", ")
    assert len(set(failing)) == 3
    results = weft.load(file).run(out=tmp_path / "out")
    channels = results.channels(0)
    dark = channels.filter((channels["link_class"] == "level2") & (channels["flits"] == 0))
    pairs = {f"{min(a, b)}-{max(a, b)}" for a, b in zip(dark["from_router"], dark["to_router"], strict=True)}
    assert pairs == set(failing)


def test_only_routings_that_compute_new_tables_are_built(tmp_path: Path) -> None:
    """To find a remedy, Weft builds only routings that compute new tables after a fault.

    The routing LASH computes none, so Weft does not build it, which would take long.
    """
    results = weft.load(MESH, overrides=LINK | TORUS).run(out=tmp_path / "torus")
    assert results.summaries[0]["dropped_packets"] > 0
    (lash,) = weft.load(MESH, overrides=LINK | TORUS | {"routing": "lash"}).points
    began = time.process_time()
    lash.check_network()
    built = time.process_time()
    assert lash.rebuilds() is None
    assert time.process_time() - built < (built - began) / 4
    # The longest shortest path has 4 + 4 links, even if one link fails, because other paths have the same length. A
    # routing with two legs of this length needs 16 VC classes.
    assert [way.name for way in ways_around.able(results, 0)] == ["shortest_path", "ecmp", "valiant_over"]


@pytest.mark.parametrize(
    ("load", "named"),
    [(0.3, ["shortest_path", "ecmp", "valiant_over"]), (0.6, ["shortest_path", "ecmp"]), (0.9, [])],
)
def test_each_routing_that_is_named_carries_the_load_and_loses_nothing(
    tmp_path: Path, load: float, named: list[str]
) -> None:
    """A ring of four routers with one link cut is a row with a terminal on each router.

    The two terminals on one side send 2/3 of their packets over the middle link of the row, which is therefore full at
    load 1 / (2 * 2/3) = 0.75. With random intermediate routers, half of the packets of two terminals cross this link on
    each of two legs. The link is then full at load 1 / (2 * 2 * 1/2) = 0.5.
    """
    sets = {
        "topology": {"torus": {"widths": [4], "terminals_per_router": 1}},
        "faults": [{"link": [0, 1], "at": "0cycles"}],
        "traffic.load": load,
    }
    sets |= {"links.default.vcs": 16, "links.default.buffer": "64flits", "measure.window": "5000cycles"}
    results = weft.load(MESH, overrides=sets).run(out=tmp_path / "ring")
    assert results.summaries[0]["dropped_packets"] > 0
    ways = ways_around.able(results, 0)
    assert [way.name for way in ways] == named
    for way in ways:
        (summary,) = weft.load(MESH, overrides=sets | {"routing": way.name}).run(out=tmp_path / way.name).summaries
        assert (summary["dropped_packets"], summary["saturated"], summary["delivered_share"]) == (0, False, 1), way
