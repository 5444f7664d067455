"""Networks that BookSim2 builds link by link: routers, links with their latencies, terminals, and the next hops.

They become a graph file and a routing table; both are text and stay beside the scenario.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass
class Wiring:
    """A network.

    Attributes
    ----------
    routers : int
        Number of routers.
    terminals : list of int
        Router of each terminal.
    links : dict of (int, int) to int
        Latency [cycles] of each link, from the router with the lower number.
    back : dict of (int, int) to int
        Latency [cycles] of the way back, where it is another one, under the key that the link has in `links`.
    """

    routers: int
    terminals: list[int]
    links: dict[tuple[int, int], int] = field(default_factory=dict)
    back: dict[tuple[int, int], int] = field(default_factory=dict)

    def join(self, a: int, b: int, latency: int, back: int | None = None) -> None:
        """Add a link that takes `latency` cycles from a to b, and as many back unless `back` says another number."""
        back = latency if back is None else back
        there, back = (latency, back) if a < b else (back, latency)
        self.links[min(a, b), max(a, b)] = there
        if there != back:
            self.back[min(a, b), max(a, b)] = back

    def ways(self) -> Iterator[tuple[int, int, int, int]]:
        """Each direction of each link: its routers, its latency, and the latency of the way back [cycles]."""
        for (a, b), there in sorted(self.links.items()):
            back = self.back.get((a, b), there)
            yield a, b, there, back
            yield b, a, back, there

    def credit_latencies(self) -> dict[int, set[int]]:
        """For each latency of a channel, the latencies that BookSim2 gives to the credits on it [cycles].

        There a credit takes as long as the flit that it answers, which came on the opposite channel. Only channels
        whose way back has another latency count.
        """
        found = defaultdict[int, set[int]](set)
        different = {there for _, _, there, back in self.ways() if there != back}
        for _, _, there, back in self.ways():
            if there in different:
                found[there].add(back)
        return found

    def graph(self) -> str:
        """The network as BookSim2's own anynet text, where a latency holds for one direction."""
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
        """The next hops of all routers toward routers with terminals, as CSV."""
        rows = (f"{at},{to},{following(at, to)}\n" for at, to in self._pairs())
        return "router,destination,next\n" + "".join(rows)

    def _pairs(self) -> Iterator[tuple[int, int]]:
        for to in sorted(set(self.terminals)):
            yield from ((at, to) for at in range(self.routers) if at != to)


def flatfly(k: int, n: int, c: int, row: int, noc: bool) -> Wiring:
    """Flattened butterfly; with `noc` a link has its length on a floor plan with `row` routers in a row."""
    side = round(c**0.5)
    wiring = Wiring(k**n, homes(k**n, c, row))
    for a in range(k**n):
        for stride in (k**dimension for dimension in range(n)):
            for b in range(a + stride, a - a // stride % k * stride + k * stride, stride):
                length = side * (abs(a % row - b % row) + abs(a // row - b // row))
                wiring.join(a, b, length if noc else 1)
    return wiring


def homes(routers: int, c: int, row: int) -> list[int]:
    """Router of each terminal, where terminals are numbered row by row of the floor plan, not router by router."""
    side, wide = round(c**0.5), row * round(c**0.5)
    return [(terminal // wide // side) * row + terminal % wide // side for terminal in range(routers * c)]


def terminal_latencies(c: int) -> set[int]:
    """Cycles from a router to each of its c terminals, which lie in a square around it."""
    side = round(c**0.5)
    steps = [place for place in range(-(side // 2), side // 2 + 1) if place or side % 2]
    return {1 + max(abs(x) - 1, 0) + max(abs(y) - 1, 0) for x in steps for y in steps}


def dimension_order(k: int) -> Callable[[int, int], int]:
    """Next hops on a flattened butterfly: each corrects the lowest digit that differs."""

    def following(at: int, to: int) -> int:
        stride = 1
        while at // stride % k == to // stride % k:
            stride *= k
        return at + (to // stride % k - at // stride % k) * stride

    return following


def cmesh(k: int, noc: bool) -> Wiring:
    """Mesh of k x k routers with 2 x 2 terminals each, and express links along its four edges."""
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
    """Next hops on the concentrated mesh: x, then y; long paths begin with an express link where one starts."""

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
    """Quad tree of three levels: 1, 4 and 16 routers, 64 terminals."""
    wiring = Wiring(21, [5 + terminal // 4 for terminal in range(64)])
    for child in range(1, 21):
        wiring.join((child - 1) // 4, child, 1)
    return wiring


def down_or_up(at: int, to: int) -> int:
    """Next hops on the quad tree."""
    while to > at:
        parent = (to - 1) // 4
        if parent == at:
            return to
        to = parent
    return (at - 1) // 4


def tree4() -> Wiring:
    """Tree of 4, 8 and 16 routers in three levels, 64 terminals; each top router is joined to all middle ones."""
    wiring = Wiring(28, [12 + terminal // 4 for terminal in range(64)])
    for middle in range(8):
        for place in range(4):
            wiring.join(place, 4 + middle, 1)
            wiring.join(4 + middle, 12 + 4 * (middle // 2) + place, 1)
    return wiring
