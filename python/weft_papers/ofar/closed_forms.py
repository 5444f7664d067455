"""Computes numbers without simulation: bounds of throughput, and the cost of the escape ring.

MIN is minimal routing, VAL is Valiant routing. Under the pattern ADV+N, each group sends to the group that is N groups
further. The dragonfly is balanced: it has 2 h^2 + 1 groups of 2 h routers, each with h terminals and h global links.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Bound:
    """Bounds of throughput [phits/(node cycle)], each from a kind of channel that limits throughput.

    Attributes
    ----------
    load : float
        Beyond this load, some channel is full.
    over_global : float
        Beyond this load, a global channel is full.
    over_transit : float
        Beyond this load, the traffic in transit through an intermediate group alone fills a local channel of this
        group.
    """

    load: float
    over_global: float
    over_transit: float


def minimal_bound(h: int) -> float:
    """Return the bound of MIN under ADV+N: the 2 h^2 terminals of a group share one global link."""
    return 1 / (2 * h * h)


def neighbour_bound(h: int) -> float:
    """Return the bound of MIN for traffic between neighbouring routers.

    The h terminals of a router share the one local link to the neighbour.
    """
    return 1 / h


def _between(h: int, group: int, other: int) -> int:
    """Return the index, within its group, of the router that has the link to another group."""
    return ((group - other) % (2 * h * h + 1) - 1) // h


def transit_links(h: int, shift: int) -> list[tuple[int, int]]:
    """Return the local channels that carry traffic in transit through an intermediate group under ADV+`shift`.

    The order is by load, highest first. A channel is a pair of router indices within the group. An intermediate group
    receives traffic from each other group, and forwards it to the group that is `shift` groups further.
    """
    groups = 2 * h * h + 1
    pairs = Counter((_between(h, 0, source), _between(h, 0, (source + shift) % groups)) for source in range(1, groups))
    return [pair for pair, _ in pairs.most_common() if pair[0] != pair[1]]


@cache
def valiant_bound(h: int, shift: int) -> Bound:
    """Compute bounds of VAL under ADV+`shift` from channel loads, in a dragonfly with links arranged as a palm tree.

    The intermediate group is neither that of the source nor that of the destination. All groups are equal, so the
    function follows only the traffic that group 0 sends. Local channels at the same position in each group carry equal
    loads, so the function adds up their loads. `w` is the load that a group sends over each intermediate group.
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
    """The additional hardware of a physical ring in a balanced dragonfly.

    Attributes
    ----------
    h, routers, terminals : int
        Size of the network.
    wires : float
        Added wires as a share of the wires between routers.
    global_wires : float
        Added global wires as a share of the global wires.
    ports : float
        Added ports of a router as a share of its ports.
    """

    h: int
    routers: int
    terminals: int
    wires: float
    global_wires: float
    ports: float


def ring_cost(h: int) -> RingCost:
    """Compute the cost of one ring through a balanced dragonfly."""
    a, groups = 2 * h, 2 * h * h + 1
    routers = a * groups
    local, between = groups * a * (a - 1) // 2, groups * a * h // 2
    return RingCost(h, routers, routers * h, routers / (local + between), groups / between, 2 / (h + a - 1 + h))
