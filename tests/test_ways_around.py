"""After faults: which routings would lose nothing, and the listing of a share of links that fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import weft
from weft.cli import main
from weft.results import tables, ways_around

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

# Four routers in a square with both diagonals: every pair is joined by three paths of two links at most.
MESH = """\
topology: {hyperx: {widths: [4], terminals_per_router: 2}}
links: {default: {latency: 5cycles, vcs: 8, buffer: 32flits}}
routing: dimension_order
traffic: {pattern: uniform, load: 0.1}
measure: {warmup: 500cycles, window: 2000cycles}
fault_model: {rebuild_delay: 100cycles}
"""
LINK = {"faults": [{"link": [0, 1], "at": "1000cycles"}]}
ROUTER = {"faults": [{"router": 0, "at": "1000cycles"}]}


def test_the_table_names_routings_that_lose_nothing_and_the_remedy_works(tmp_path: Path) -> None:
    results = weft.load(MESH, set=LINK).run(out=tmp_path / "link")
    assert results.summaries[0]["dropped_packets"] > 0
    told = "\n".join(tables.faults(results))
    assert "dimension_order drops packets although the network is still connected" in told
    names = ways_around.able(results, 0)
    assert names
    assert f"no packet would be lost under: {', '.join(names[:4])}" in told
    for name in names:
        (summary,) = weft.load(MESH, set=LINK | {"routing": name}).run(out=tmp_path / name).summaries
        assert summary["dropped_packets"] == 0, name
        assert summary["delivered_share"] == 1


def test_nothing_is_told_where_every_routing_loses_packets(tmp_path: Path) -> None:
    """The terminals of a router that fails are cut off, whatever the routing."""
    results = weft.load(MESH, set=ROUTER).run(out=tmp_path / "router")
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
    told = capsys.readouterr().out
    # 19 % of the 16 links to the top are 3.04
    (line,) = [line for line in told.splitlines() if line.startswith("fails: ")]
    assert line.startswith("fails: 3 of 16 level2 links (19%): ")
    failing = line.rpartition(": ")[2].split(", ")
    assert len(set(failing)) == 3
    results = weft.load(file).run(out=tmp_path / "out")
    channels = results.channels(0)
    dark = channels.filter((channels["link_class"] == "level2") & (channels["flits"] == 0))
    pairs = {f"{min(a, b)}-{max(a, b)}" for a, b in zip(dark["from_router"], dark["to_router"], strict=True)}
    assert pairs == set(failing)
