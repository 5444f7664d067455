"""Tests the import of realistic BookSim2 configurations: values of imported scenarios, and reasons of refusals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

import weft
from weft.errors import PeerError, ScenarioError
from weft_peers.booksim.convert import Imported, convert

if TYPE_CHECKING:
    from pathlib import Path

MESH = "topology = mesh; k = 4; n = 2; routing_function = dor;"
# Zero-load latency of one flit on a 4x4 mesh [cycles]: 4 in each of 1 + 2.5 routers, 1 on each of 2.5 + 2 links, and 1
# for delivery. A terminal also sends to itself, so the mean distance is 2 * (16 - 1) / 12 = 2.5 links.
ONE_FLIT = 4 * 3.5 + 4.5 + 1


def imported(text: str, tmp_path: Path) -> Imported:
    file = tmp_path / "case.cfg"
    file.write_text(text, encoding="utf-8")
    return convert([str(file)], "case")


def scenario(found: Imported) -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load(found.scenario.text)
    return read


def refused(text: str, tmp_path: Path) -> str:
    with pytest.raises(PeerError) as error:
        imported(text, tmp_path)
    return error.value.text


def test_packets_of_two_sizes(tmp_path: Path) -> None:
    """Half of the packets have 1 flit, half have 5 flits.

    On average a packet has 3 flits, and takes 2 cycles more than a packet of one flit.
    """
    text = "num_vcs = 2; traffic = uniform; packet_size = {{1,5}}; packet_size_rate = {{1,1}}; injection_rate = 0.1;"
    found = imported(f"{MESH} {text}", tmp_path)
    assert found.zero_load == pytest.approx(ONE_FLIT + 2)
    traffic = scenario(found)["traffic"]
    assert traffic["load"] == pytest.approx(0.3)
    found.save(tmp_path / "mix" / "case.yaml")
    phases = {"measure.warmup": "1000cycles", "measure.window": "20000cycles"}
    frame = weft.load(tmp_path / "mix" / "case.yaml", overrides=phases).run(out=tmp_path / "results").frame
    # the flits of a window are a sum over 32,000 packets, each with a standard deviation of sqrt(9 + 4) flits: 0.7 % of
    # the load
    assert frame["offered_load"][0] == pytest.approx(0.3, rel=0.035)
    assert not frame["saturated"][0]


def test_classes_with_priorities(tmp_path: Path) -> None:
    text = (
        "num_vcs = 2; classes = 2; traffic = {uniform,transpose}; packet_size = {1,5}; injection_rate = {0.1,0.05}; "
        "priority = class; class_priority = {0,1};"
    )
    found = scenario(imported(f"{MESH} {text}", tmp_path))
    assert found["classes"] == {"class0": {"vcs": "shared"}, "class1": {"vcs": "shared", "priority": 1}}
    assert found["interface"] == {"queues": "per_class", "rule": "priority"}
    assert [job["packet"] for job in found["traffic"]["jobs"]] == ["1flit", "5flits"]
    # each load is the rate in packets per cycle times the mean number of flits
    assert [job["load"] for job in found["traffic"]["jobs"]] == [0.1, 0.25]


def test_requests_and_replies(tmp_path: Path) -> None:
    """At an injection rate of 0.005, BookSim2 measured a mean latency of 20.01 cycles."""
    found = imported(f"{MESH} num_vcs = 16; use_read_write = 1; injection_rate = 0.001;", tmp_path)
    assert found.zero_load == pytest.approx(ONE_FLIT + 0.5)


def test_minimal_adaptive_routing_tells_how_far_it_is(tmp_path: Path) -> None:
    text = "topology = mesh; k = 8; n = 2; routing_function = min_adapt; num_vcs = 4; traffic = transpose;"
    notes = [note for note in imported(text, tmp_path).notes if note.kind == "approximated"]
    shown = next(note.text for note in notes if note.key == "routing_function = min_adapt")
    assert "33.6 / 34.9 / 57.0 / 71.4 cycles in BookSim2, 33.4 / 33.8 / 33.8 / 34.2 in Weft" in shown
    assert "escape VC" in shown


def test_a_list_of_widths(tmp_path: Path) -> None:
    found = imported("topology = mesh; k = {4,4}; n = 2; routing_function = dor;", tmp_path)
    assert scenario(found)["topology"] == {"mesh": {"widths": [4, 4], "terminals_per_router": 1}}
    assert any("only a fork accepts lists" in note.text for note in found.notes)


def test_links_that_fail(tmp_path: Path) -> None:
    assert "faults: [{link: [0, 1], at: 0cycles}]" in refused(f"{MESH} link_failures = 1;", tmp_path)


def test_the_flit_size_of_a_gpu(tmp_path: Path) -> None:
    found = imported(f"{MESH} num_vcs = 4; vc_buf_size = 64;\nflit_size = 40;", tmp_path)
    assert scenario(found)["links"]["default"]["buffer"] == "64flits"
    assert any(note.key == "flit_size = 40" and "GPGPU-Sim" in note.text for note in found.notes)


def test_the_network_of_a_gpu(tmp_path: Path) -> None:
    text = """use_map = 0; flit_size = 40; network_count = 2;
topology = fly; k = 62; n = 1; routing_function = dest_tag;
num_vcs = 1; vc_buf_size = 64; input_buffer_size = 256; ejection_buffer_size = 64; boundary_buffer_size = 64;
subnets = 2; traffic = gpgpusim; sim_type = gpgpusim; injection_process = gpgpu_injector;
packet_size = {{1,2,3,4},{10,20}}; packet_size_rate = {{1,1,1,1},{2,1}};
"""
    message = refused(text, tmp_path)
    assert "did you mean" not in message
    assert "a GPU that GPGPU-Sim simulates" in message
    assert "Weft divides packets among planes only for sim_type = latency" in message
    alone = text.replace("subnets = 2", "subnets = 1").replace("traffic = gpgpusim", "traffic = uniform")
    alone = alone.replace("sim_type = gpgpusim", "sim_type = latency").replace("gpgpu_injector", "bernoulli")
    found = imported(alone, tmp_path)
    sizes = scenario(found)["traffic"]["packet"]["mix"]
    assert [part["size"] for part in sizes] == ["1flit", "2flits", "3flits", "4flits"]
    assert sum(note.kind == "no effect" and "GPGPU-Sim" in note.text for note in found.notes) == 6


OVERLAP = """topology: {single_router: {terminals: 8}}
links: {default: {latency: 1cycle, vcs: 2, buffer: 16flits}}
routing: minimal
router: {flow_control: wormhole}
traffic:
  jobs:
    - {name: small, terminals: {range: [0, 3]}, pattern: uniform, load: 0.3, packet: 1flit}
    - {name: big, terminals: {range: [0, 7]}, pattern: uniform, load: 0.3, packet: 9flits}
"""


def test_two_sizes_from_the_same_terminals_are_one_job(tmp_path: Path) -> None:
    file = tmp_path / "overlap.yaml"
    file.write_text(OVERLAP, encoding="utf-8")
    with pytest.raises(ScenarioError) as error:
        weft.load(file).points[0].imply()
    assert "packet: {mix: [{size: 1flit, weight: 3}, {size: 9flits, weight: 1}]}" in error.value.help
    file.write_text(
        OVERLAP.replace(
            "packet: 9flits", "packet: {mix: [{size: 1flit, weight: 3}, {size: 9flits, weight: 1}]}"
        ).replace("    - {name: small, terminals: {range: [0, 3]}, pattern: uniform, load: 0.3, packet: 1flit}\n", ""),
        encoding="utf-8",
    )
    implied = weft.load(file).points[0].imply()
    # packets of 1 and 9 flits with weights 3 and 1 have 3 flits on average; they take 1 cycle in the router, 2 on two
    # links, 1 for delivery, and 3 - 1 until the tail arrives
    assert implied["zero_load_latency_cycles"] == pytest.approx(1 + 2 + 1 + 3 - 1)
