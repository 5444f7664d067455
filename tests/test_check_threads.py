"""Tests ``weft check --threads``, which estimates how evenly the work of a run is divided among threads."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from weft.cli import main

if TYPE_CHECKING:
    from pathlib import Path

RING = """\
topology: {torus: {widths: [8], terminals_per_router: 1}}
routing: dimension_order
traffic: {pattern: uniform, load: 0.2}
"""


@pytest.fixture
def ring(tmp_path: Path) -> str:
    """Write the scenario of a ring of 8 routers, which form one row of the network."""
    path = tmp_path / "ring.yaml"
    path.write_text(RING)
    return str(path)


def test_the_work_of_threads_is_counted_in_flit_hops(ring: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", ring, "--threads", "4", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    work = document["implied"][0]["facts"]["work"]
    assert (work["threads"], work["blocks"], work["cycles"]) == (4, 4, 1000)
    # 8 terminals send 0.2 flits per cycle for 1,000 cycles. The distances to the 7 other routers are 1, 1, 2, 2, 3, 3
    # and 4 links, so on average a flit leaves 1 + 16/7 routers; each time is a flit-hop. In total these are 8 * 0.2 *
    # 1,000 * 23/7 = 5,257 flit-hops, minus those of flits in flight at the end.
    assert 0.85 * 5257 < work["flit_hops"] < 1.1 * 5257
    assert work["imbalance"] == pytest.approx(work["most_flit_hops"] * 4 / work["flit_hops"] - 1)
    # if rows are not divided, the whole ring is one unit: of 4 threads, the one with the only row has 4 times the mean
    # work, so the imbalance is 3
    assert (work["units"], work["imbalance_of_whole_units"]) == (1, 3.0)
    assert main(["check", ring, "--threads", "4"]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "work of 4 threads with 4 blocks, by flit-hops in 1,000 cycles" in lines
    assert f"busiest thread, above the mean {work['imbalance']:.1%}" in lines
    assert "the same with whole rows, groups or routers (1) 300.0%" in lines


def test_without_threads_nothing_is_counted(ring: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", ring, "--json"]) == 0
    assert "work" not in json.loads(capsys.readouterr().out)["implied"][0]["facts"]
    assert main(["check", ring, "--threads", "2", "--set", "traffic.load=0"]) == 0
    assert "no flit moves in these cycles" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["check", ring, "--threads", "0"])
