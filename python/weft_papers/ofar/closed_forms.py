"""What follows from the paper's formulas and from the network alone: bounds of throughput, and the cost of the ring."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Bound:
    """Loads [phits/(node cycle)] beyond which channels of a kind are full.

    Attributes
    ----------
    load : float
        Beyond it some channel is.
    over_global : float
        Beyond it a global channel is.
    over_transit : float
        Beyond it a local channel between the global links of an intermediate group is, which carries nothing else.
    """

    load: float
    over_global: float
    over_transit: float


def minimal_bound(h: int) -> float:
    """MIN under ADV+N: the 2 h^2 terminals of a group share a global link."""
    return 1 / (2 * h * h)


def neighbour_bound(h: int) -> float:
    """MIN between the terminals of neighbouring routers, which share a local link."""
    return 1 / h


def _between(h: int, group: int, other: int) -> int:
    """The router of a group that has the link to another group, by its number in the group."""
    return ((group - other) % (2 * h * h + 1) - 1) // h


def transit_links(h: int, shift: int) -> list[tuple[int, int]]:
    """The local channels that carry what an intermediate group passes on under ADV+`shift`, the most used ones first.

    Routers by their numbers in the group. Seen from the group in the middle, traffic comes from each other group and
    leaves for the group that is `shift` further.
    """
    groups = 2 * h * h + 1
    pairs = Counter((_between(h, 0, source), _between(h, 0, (source + shift) % groups)) for source in range(1, groups))
    return [pair for pair, _ in pairs.most_common() if pair[0] != pair[1]]


@cache
def valiant_bound(h: int, shift: int) -> Bound:
    """VAL under ADV+`shift` in the palm tree of 2 h^2 + 1 groups, by the load of its channels.

    The intermediate group is neither that of the source nor that of the destination. All groups look alike, so it is
    enough to follow what group 0 sends: a local channel of that place in some group carries it. `w` is what a group
    sends over each of the others.
    """
    routers, groups = 2 * h, 2 * h * h + 1
    local: dict[tuple[int, int], float] = defaultdict(float)
    transit: dict[tuple[int, int], float] = defaultdict(float)
    w = routers * h / (groups - 2)

    for middle in set(range(groups)) - {0, shift}:
        into, on = _between(h, middle, 0), _between(h, middle, shift)
        out, last = _between(h, 0, middle), _between(h, shift, middle)
        for router in range(routers):
            if router != out:
                local[router, out] += w / routers
            if router != last:
                local[last, router] += w / routers
        if into != on:
            local[into, on] += w
            transit[into, on] += w
    over_global = 1 / (2 * w)
    most = max(transit.values(), default=0.0)
    return Bound(min(1 / max(local.values()), over_global), over_global, 1 / most if most else 1.0)


@dataclass(frozen=True)
class RingCost:
    """What a physical ring adds to a balanced dragonfly.

    Attributes
    ----------
    h, routers, terminals : int
        Size of the network.
    wires : float
        Added wires over wires between routers.
    global_wires : float
        Added global wires over global wires.
    ports : float
        Added ports of a router over its ports.
    """

    h: int
    routers: int
    terminals: int
    wires: float
    global_wires: float
    ports: float


def ring_cost(h: int) -> RingCost:
    """The cost of one ring through a balanced dragonfly: a = 2 h routers, p = h terminals and 2 h^2 + 1 groups."""
    a, groups = 2 * h, 2 * h * h + 1
    routers = a * groups
    local, between = groups * a * (a - 1) // 2, groups * a * h // 2
    return RingCost(h, routers, routers * h, routers / (local + between), groups / between, 2 / (h + a - 1 + h))
