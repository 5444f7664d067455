"""Computes the time of an uncontended head flit in BookSim2's input-queued router [cycles].

We compared this model with measurements of commit 28f4329: one router at load 0.002, speedups from 1.0 to 3.0, and all
legal delays up to 2. The router makes `speedup` internal steps per cycle. If `speedup` is not an integer, some cycles
have one step more than others. Each pipeline stage begins in the step after the end of the previous stage. A stage of
delay 1 ends in the step in which it begins; a stage of delay d > 1 ends in the first step of the cycle that is d - 1
cycles later. The flit leaves at the end of the cycle in which it has crossed the switch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# For a speedup with two decimals, the sequence of steps per cycle repeats after this number of cycles.
_ROUND = 100


def head_delays(stages: Sequence[int], speedup: float) -> set[int]:
    """Return all times that a head flit can spend in a router, which depend on the cycle of its arrival [cycles].

    Parameters
    ----------
    stages : sequence of int
        Delay of each stage [cycles]: routing (0 with lookahead routing), VC allocation, switch allocation, crossbar.
    speedup : float
        Internal speedup, 1 or more.

    Examples
    --------
    >>> head_delays([0, 1, 1, 1], 1.0), head_delays([0, 1, 1, 1], 2.0), head_delays([1, 1, 1, 1], 1.7)
    ({3}, {2}, {2, 3})
    """
    steps, left = [], 0.0
    for _ in range(2 * _ROUND + sum(stages) + len(stages)):
        left += speedup
        steps.append(int(left))
        left -= int(left)
    return {_delay(stages, steps, arrival) for arrival in range(_ROUND)}


def _delay(stages: Sequence[int], steps: Sequence[int], arrival: int) -> int:
    cycle, step = arrival, 0
    for stage in filter(None, stages):
        while step >= steps[cycle]:
            cycle, step = cycle + 1, 0
        if stage > 1:
            cycle, step = cycle + stage - 1, 0
        step += 1
    return cycle - arrival + 1


def aborts(routing: int, vc_allocation: int, switch_allocation: int, speedup: float) -> bool:
    """Return whether BookSim2 stops with a failed assertion, because a slow allocation stage follows a fast stage.

    We found these conditions by running BookSim2.
    """
    slow_vc = vc_allocation > 1 and not (routing > 1 or (routing == 1 and speedup >= 2))
    return slow_vc or (switch_allocation > 1 and vc_allocation == 1)
