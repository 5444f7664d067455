"""Tests the estimate of a run's total time from its first cycles, also if the run rarely updates its cycle count."""

from __future__ import annotations

import pytest

from weft.runs.pace import Pace


def seen(pace: Pace, *, built: float, per_cycle: float, every: int, until: float) -> None:
    """Let `pace` read every 20 ms the cycle of a run, which takes `built` seconds to build and updates its cycle every
    `every` cycles."""
    for tick in range(int(until / 0.02)):
        seconds = 0.02 * tick
        cycle = int(max(0.0, seconds - built) / per_cycle) // every * every
        pace.look(seconds, cycle)


@pytest.mark.parametrize("every_seconds", [0.01, 0.3, 0.55, 0.99, 1.7])
def test_the_time_of_all_cycles_does_not_depend_on_how_often_a_run_tells(every_seconds: float) -> None:
    pace, per_cycle = Pace(), 0.001
    seen(pace, built=3.0, per_cycle=per_cycle, every=round(every_seconds / per_cycle), until=8.0)
    # expected time: 3 s to build the network, and 20,000 cycles of 1 ms; the estimate uses two readings at least one
    # second apart, each with an error of 0.02 s
    assert pace.total(20_000) == pytest.approx(23.0, rel=0.04)


def test_nothing_is_reported_before_a_second_of_cycles() -> None:
    pace = Pace()
    seen(pace, built=3.0, per_cycle=0.001, every=100, until=4.0)
    assert pace.begun
    assert pace.total(20_000) is None


def test_no_cycle_tells_nothing_while_the_network_is_built() -> None:
    pace = Pace()
    seen(pace, built=3.0, per_cycle=0.001, every=100, until=3.0)
    assert not pace.begun
    assert pace.total(20_000) is None
