"""Reads BookSim2's network files (format `anynet`), and computes the paths of its routing `min` in their networks."""

from __future__ import annotations

from collections import defaultdict
from heapq import heappop, heappush
from typing import TYPE_CHECKING, NoReturn

from weft.errors import PeerError
from weft_peers.booksim.wiring import Wiring

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_FORM = "write e.g. `router 0 node 0 node 1 router 1 15`"
# Maximum number of routers. A file with a greater number has a typing error.
_MOST = 1 << 20
_FAR = 1 << 60


def read(text: str, name: str) -> Wiring:
    """Read the text of a BookSim2 network file.

    Raises
    ------
    PeerError
        If BookSim2 would refuse the file, or read another network than the file describes.
    """
    reading = _Reading(name)
    for number, line in enumerate(text.split("\n"), 1):
        reading.line(line.split(), number)
    return reading.wiring()


class _Reading:
    def __init__(self, name: str) -> None:
        self.name = name
        self.routers: set[int] = set()
        self.home: dict[int, int] = {}
        # latency [cycles] of each direction of a link between routers; the key is the pair (from, to)
        self.ways: dict[tuple[int, int], int] = {}

    def line(self, words: list[str], number: int) -> None:
        ends = self._ends(words, number)
        kind, head, latency = next(ends, ("router", -1, None))
        if latency is not None:
            self._fail(number, f"the number `{latency}` follows the first name of the line", _FORM)
        if kind == "router" and head >= 0:
            self.routers.add(head)
        for other_kind, other, latency in ends:
            if kind == other_kind == "node":
                self._fail(number, f"node {head} is connected to node {other}", "connect nodes only to routers")
            if kind == other_kind:
                self._join(head, other, 1 if latency is None else latency, number)
            elif latency is not None:
                what = (
                    f"the number `{latency}` follows a node, but BookSim2 reads it as the latency of a link "
                    "between routers"
                )
                self._fail(number, what, "remove the number; links of terminals have latency 1")
            else:
                self._attach(*((head, other) if kind == "node" else (other, head)), number)

    def _ends(self, words: list[str], number: int) -> Iterator[tuple[str, int, int | None]]:
        place = 0
        while place < len(words):
            kind, name = words[place], words[place + 1] if place + 1 < len(words) else ""
            if kind not in ("router", "node") or not _is_number(name):
                self._fail(number, f"`{f'{kind} {name}'.strip()}` is neither `router N` nor `node N`", _FORM)
            place += 2
            latency = None
            if place < len(words) and _is_number(words[place]):
                latency = int(words[place])
                place += 1
            yield kind, int(name), latency

    def _join(self, a: int, b: int, latency: int, number: int) -> None:
        if a == b:
            self._fail(number, f"router {a} is connected to itself", "connect two different routers")
        self.routers |= {a, b}
        self.ways[a, b] = latency
        self.ways.setdefault((b, a), 1)

    def _attach(self, node: int, router: int, number: int) -> None:
        self.routers.add(router)
        before = self.home.setdefault(node, router)
        if before != router:
            what = f"node {node} is connected to router {before} and to router {router}"
            self._fail(number, what, "connect every node to exactly one router")

    def wiring(self) -> Wiring:
        for kind, ids in (("router", self.routers), ("node", set(self.home))):
            gap = next((place for place in range(len(ids) + 1) if place not in ids), 0)
            if gap < len(ids) or not ids:
                what = f"there is no {kind} {gap}" + (f", although there are {len(ids)} others" if ids else "")
                raise PeerError.saying(what, f"number the {kind}s from 0, without gaps", self.name)
        found = Wiring(len(self.routers), [self.home[node] for node in range(len(self.home))])
        for (a, b), latency in self.ways.items():
            found.join(a, b, latency, self.ways[b, a])
        return found

    def _fail(self, number: int, what: str, help: str) -> NoReturn:
        raise PeerError.saying(what, help, f"{self.name}:{number}")


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdecimal() and len(word) < 10 and int(word) < _MOST


def shortest(wiring: Wiring, name: str) -> Callable[[int, int], int]:
    """Return a function that takes a router and a destination router, and returns the next hop of BookSim2's `min`.

    `min` takes a path with the least latency. Among paths of equal latency, it takes the one that BookSim2's search
    finds first, which visits routers in ascending order.

    Raises
    ------
    PeerError
        If a router cannot be reached from another one.
    """
    beside: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for a, b, latency, _ in wiring.ways():
        beside[a].append((b, latency))
    for neighbours in beside.values():
        neighbours.sort()
    first = [_first_hops(start, wiring.routers, beside, name) for start in range(wiring.routers)]
    return lambda at, to: first[at][to]


def _first_hops(start: int, routers: int, beside: dict[int, list[tuple[int, int]]], name: str) -> dict[int, int]:
    """Return the next hop from router `start` to each router (Dijkstra's algorithm, lowest router number first)."""
    far, first, done = {start: 0}, {start: start}, set[int]()
    waiting = [(0, start)]
    while waiting:
        way, near = heappop(waiting)
        if near in done:
            continue
        done.add(near)
        for other, latency in beside[near]:
            if way + latency < far.get(other, _FAR):
                far[other] = way + latency
                first[other] = other if near == start else first[near]
                heappush(waiting, (far[other], other))
    if len(done) < routers:
        lost = next(router for router in range(routers) if router not in done)
        raise PeerError.saying(f"router {lost} can't be reached from router {start}", "connect all routers", name)
    return first
