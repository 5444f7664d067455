"""Builds networks of BookSim2 link by link: routers, links with their latencies, terminals, and next hops.

The import writes such a network to two text files next to the scenario: a graph and a routing table.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass
class Wiring:
    """A network: its links, and the router of each terminal.

    Attributes
    ----------
    routers : int
        Number of routers.
    terminals : list of int
        Router of each terminal.
    links : dict of (int, int) to int
        Latency [cycles] of each link, from the router with the lower number.
    back : dict of (int, int) to int
        Latency [cycles] of the opposite direction if it differs, under the key of the link in `links`.
    """

    routers: int
    terminals: list[int]
    links: dict[tuple[int, int], int] = field(default_factory=dict)
    back: dict[tuple[int, int], int] = field(default_factory=dict)

    def join(self, a: int, b: int, latency: int, back: int | None = None) -> None:
        """Add a link that takes `latency` cycles from a to b, and `back` cycles (default: `latency`) from b to a."""
        back = latency if back is None else back
        there, back = (latency, back) if a < b else (back, latency)
        self.links[min(a, b), max(a, b)] = there
        if there != back:
            self.back[min(a, b), max(a, b)] = back

    def ways(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield each direction of each link: from, to, latency, and latency of the opposite direction [cycles]."""
        for (a, b), there in sorted(self.links.items()):
            back = self.back.get((a, b), there)
            yield a, b, there, back
            yield b, a, back, there

    def credit_latencies(self) -> dict[int, set[int]]:
        """Return, by latency of a channel, the latencies that BookSim2 gives to credits for the flits on it [cycles].

        In BookSim2 a credit takes as long as the flit that it acknowledges, which arrived on the opposite channel. The
        result has only channels whose opposite channel has a different latency.
        """
        found = defaultdict[int, set[int]](set)
        different = {there for _, _, there, back in self.ways() if there != back}
        for _, _, there, back in self.ways():
            if there in different:
                found[there].add(back)
        return found

    def graph(self) -> str:
        """Return the network as text in BookSim2's format `anynet`, in which each direction has its own latency."""
        homes = defaultdict(list)
        for terminal, router in enumerate(self.terminals):
            homes[router].append(terminal)
        joined = defaultdict(list)
        for a, b, latency, _ in self.ways():
            joined[a].append(f" router {b} {latency}")
        return "".join(
            f"router {router}{''.join(f' node {terminal}' for terminal in homes[router])}{''.join(joined[router])}\n"
            for router in range(self.routers)
        )

    def table(self, following: Callable[[int, int], int]) -> str:
        """Return, as CSV, the next hop from each router to each router with terminals."""
        rows = (f"{at},{to},{following(at, to)}\n" for at, to in self._pairs())
        return "router,destination,next\n" + "".join(rows)

    def _pairs(self) -> Iterator[tuple[int, int]]:
        for to in sorted(set(self.terminals)):
            yield from ((at, to) for at in range(self.routers) if at != to)


def flatfly(k: int, n: int, c: int, row: int, noc: bool) -> Wiring:
    """Build a flattened butterfly.

    If `noc` is true, the latency of a link is its length on a floor plan with `row` routers in a row.
    """
    side = round(c**0.5)
    wiring = Wiring(k**n, homes(k**n, c, row))
    for a in range(k**n):
        for stride in (k**dimension for dimension in range(n)):
            for b in range(a + stride, a - a // stride % k * stride + k * stride, stride):
                length = side * (abs(a % row - b % row) + abs(a // row - b // row))
                wiring.join(a, b, length if noc else 1)
    return wiring


def homes(routers: int, c: int, row: int) -> list[int]:
    """Return the router of each terminal, if terminals are numbered by rows of the floor plan."""
    side, wide = round(c**0.5), row * round(c**0.5)
    return [(terminal // wide // side) * row + terminal % wide // side for terminal in range(routers * c)]


def terminal_latencies(c: int) -> set[int]:
    """Return the cycles from a router to each of its c terminals, which form a square around the router."""
    side = round(c**0.5)
    steps = [place for place in range(-(side // 2), side // 2 + 1) if place or side % 2]
    return {1 + max(abs(x) - 1, 0) + max(abs(y) - 1, 0) for x in steps for y in steps}


def dimension_order(k: int) -> Callable[[int, int], int]:
    """Return the function that gives next hops on a flattened butterfly.

    Each hop corrects the lowest digit that differs.
    """

    def following(at: int, to: int) -> int:
        stride = 1
        while at // stride % k == to // stride % k:
            stride *= k
        return at + (to // stride % k - at // stride % k) * stride

    return following


def cmesh(k: int, noc: bool) -> Wiring:
    """Build a mesh of k x k routers with 2 x 2 terminals each, and with long express links along its four edges."""
    wiring = Wiring(k * k, homes(k * k, 4, k))
    step, express = (2, k) if noc else (1, 1)
    for y in range(k):
        for x in range(k):
            if x + 1 < k:
                wiring.join(y * k + x, y * k + x + 1, step)
            if y + 1 < k:
                wiring.join(y * k + x, (y + 1) * k + x, step)
    for half in range(k // 2):
        for edge in (0, k - 1):
            wiring.join(half * k + edge, (half + k // 2) * k + edge, express)
            wiring.join(edge * k + half, edge * k + half + k // 2, express)
    return wiring


def mesh_order(k: int, express: bool) -> Callable[[int, int], int]:
    """Return the function that gives next hops on the concentrated mesh (`cmesh`): first along x, then along y.

    If `express`, a hop takes an express link where the router has one and the distance is long enough.
    """

    def following(at: int, to: int) -> int:
        (y, x), (to_y, to_x) = divmod(at, k), divmod(to, k)
        along_x = x != to_x
        far = abs(to_x - x if along_x else to_y - y) > k // 2 - 1
        across = y if along_x else x
        if express and far and across in (0, k - 1):
            mine = x if along_x else y
            jump = k // 2 if mine < k // 2 else -(k // 2)
            return at + (jump if along_x else jump * k)
        if along_x:
            return at + (1 if to_x > x else -1)
        return at + (k if to_y > y else -k)

    return following


def qtree() -> Wiring:
    """Build a quad tree of three levels: 1, 4 and 16 routers, 64 terminals."""
    wiring = Wiring(21, [5 + terminal // 4 for terminal in range(64)])
    for child in range(1, 21):
        wiring.join((child - 1) // 4, child, 1)
    return wiring


def down_or_up(at: int, to: int) -> int:
    """Return the next hop on the quad tree from router `at` to router `to`."""
    while to > at:
        parent = (to - 1) // 4
        if parent == at:
            return to
        to = parent
    return (at - 1) // 4


def tree4() -> Wiring:
    """Build a tree with three levels of 4, 8 and 16 routers, and 64 terminals.

    Each top router is linked to all middle routers.
    """
    wiring = Wiring(28, [12 + terminal // 4 for terminal in range(64)])
    for middle in range(8):
        for place in range(4):
            wiring.join(place, 4 + middle, 1)
            wiring.join(4 + middle, 12 + 4 * (middle // 2) + place, 1)
    return wiring
