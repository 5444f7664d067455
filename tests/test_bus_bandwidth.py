"""Compares algorithm and bus bandwidth of a ring all-reduce on 8, 32 and 64 accelerators with a closed form."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl
import pytest

import weft

if TYPE_CHECKING:
    from pathlib import Path

FLIT = 65536
# length of a cycle [s]: the time of a flit at 400 Gb/s
CYCLE = 1310720e-12
SIZE = 1 << 30
SCENARIO = """\
link_speed: 400Gb/s
flit: 64KiB
topology: {{planes: {{count: 8, of: {{single_router: {{terminals: {nodes}}}}}}}}}
links: {{default: {{latency: 1cycle, vcs: 1, buffer: 8flits}}}}
routing: minimal
traffic:
  packet: 1flit
  workload:
    programs:
      interface: accelerator400g
      rail_choice: striping
      ranks_per_terminal: 8
      eager: 1GB
      program: {{collective: {{operation: all_reduce, ranks: {ranks}, bytes: 1GiB}}}}
      collectives: {{algorithms: {{all_reduce: {{ring: {{}}}}}}}}
"""


def steps_in_cycles(ranks: int) -> int:
    """Return the cycles of the all-reduce: each rank sends 2 (n - 1) parts of S / n bytes, one after the other.

    Inside a node, a part takes 25 ns plus the time of its bytes at 450 GB/s, rounded up to cycles. With several nodes,
    the transfers between nodes are the slowest. Each of 8 interfaces sends an eighth of each part, one flit per cycle
    without gaps. The last flit arrives 3 cycles after it was sent: two links of 1 cycle each, and one cycle in the
    router.
    """
    part = SIZE // ranks
    if ranks == 8:
        return 2 * (ranks - 1) * math.ceil((25e-9 + part / 450e9) / CYCLE)
    return 2 * (ranks - 1) * part // FLIT // 8 + 3


@pytest.mark.parametrize("ranks", [8, 32, 64])
def test_bandwidths_are_those_of_the_closed_form(ranks: int, tmp_path: Path) -> None:
    # a router has at least two terminals, so the network has two nodes even if all ranks are on one node
    text = SCENARIO.format(nodes=max(ranks // 8, 2), ranks=ranks)
    results = weft.load(text).run(tmp_path / "results", watch=False)
    (row,) = pl.read_parquet(results.file(0, "collectives.parquet")).iter_rows(named=True)
    cycles = steps_in_cycles(ranks)
    assert (row["ranks"], row["calls"], row["mean_cycles"]) == (ranks, 1, cycles)
    algorithm = 8 * SIZE / (cycles * CYCLE)
    assert row["algorithm_bandwidth_bits_per_second"] == pytest.approx(algorithm)
    # nccl-tests defines the bus bandwidth by the bytes that a rank must send: 2 (n - 1) / n of the vector
    assert row["bus_bandwidth_bits_per_second"] == pytest.approx(algorithm * 2 * (ranks - 1) / ranks)
    # the bus bandwidth never exceeds the slowest part of the ring: 450 GB/s inside a node, or 8 interfaces of 50 GB/s
    # between nodes
    assert row["bus_bandwidth_bits_per_second"] < 8 * (450e9 if ranks == 8 else 400e9)
