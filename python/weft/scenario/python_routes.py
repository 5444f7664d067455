"""Makes a table of hops from the Python function of a routing.

If the function has a parameter for queue lengths, this module also calls it during the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import isnan, nan
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

from weft.errors import ScenarioError
from weft.scenario.python_calls import AGAIN, Place, UserFunction, brief, unequal
from weft.scenario.python_network import Network, Packet, Router

if TYPE_CHECKING:
    from collections.abc import Sequence

# Maximum number of VC classes of a link.
MAX_CLASSES = 16
# Maximum memory of the hops [bytes], before they are converted to a table of the engine.
MOST_BYTES = 2_000_000_000
# Estimated memory [bytes] of a state, of a set of hops (which several states can share), and of each hop in a set. For
# HyperX 10x10 and 14x14, the total is within 10 % of the peak that `tracemalloc` measures.
_STATE_BYTES, _HOPS_BYTES, _HOP_BYTES = 200, 300, 16
# Maximum number of routers of a path that an error message lists.
_SHOWN = 12

Hop = tuple[int, int]
"""Port and VC class."""
Hops = tuple[tuple[Hop, int], ...]
"""Hops, each with the rank of its cost."""
Row = tuple[int, int, int, list[tuple[int, int, int]]]
"""Router, destination router, VC class of the last hop plus 1 (0 at the source), and hops: port, VC class, rank."""


class State(NamedTuple):
    """The state of a packet on which its hops depend: its router, its destination, and the VC class of its last hop."""

    router: int
    destination: int
    vc: int | None


class Routes:
    """The hops that a packet is allowed to take, for each state of a packet.

    The hops of a state are ranked by their cost in an idle network. The cheapest hops have rank 0, and hops of equal
    cost have the same rank. While all queues are empty, packets take hops of rank 0.
    """

    def __init__(self, function: UserFunction, network: Network) -> None:
        self.function, self.network = function, network
        self.reads_queues = "queues" in function.takes
        self.hops: dict[State, Hops] = {}
        self.bytes = 0
        self._shared: dict[Hops, Hops] = {}
        self._ranked: dict[tuple[Hop, int], tuple[Hop, int]] = {}

    def follow(self) -> None:
        """Find the hops of every state that a packet can have between any two routers with terminals.

        Raises
        ------
        ScenarioError
            If a call fails, names a hop that does not exist, or lets packets circulate forever.
        """
        for destination in self.network.hosts:
            done: set[State] = set()
            for source in self.network.hosts:
                if source != destination:
                    self._walk(State(int(source), int(destination), None), done)
        for state in [*self.hops][:: -max(len(self.hops) // AGAIN, 1)]:
            if self._evaluated(state) != self.hops[state]:
                raise unequal(self.function, self._case(state))

    def _walk(self, start: State, done: set[State]) -> None:
        """Find the hops of all states that a packet can reach from a state, by a depth-first search.

        If a state occurs twice on the same path, packets can circulate forever, which is an error.
        """
        if start in done:
            return
        path: dict[State, Iterator[State]] = {start: self._after(start)}
        while path:
            state = next(reversed(path))
            following = next(path[state], None)
            if following is None:
                done.add(state)
                del path[state]
            elif following in path:
                raise self._loop([*path], following)
            elif following not in done:
                path[following] = self._after(following)

    def _after(self, state: State) -> Iterator[State]:
        """The possible states of a packet after its next hop, without states in which the packet has arrived."""
        self.hops[state] = self._evaluated(state)
        self.bytes += _STATE_BYTES
        if self.bytes > MOST_BYTES:
            cases = f"its first {len(self.hops)} cases of router, destination and VC class"
            what = f"`{self.function.name}` needs more than {MOST_BYTES / 1e9:g} GB of memory for the hops of {cases}"
            raise ScenarioError.saying(what, "choose a smaller network, or write the routing in Rust")
        for (port, vc), _ in self.hops[state]:
            peer = self.network.peers[state.router][port]
            if peer is not None and peer != state.destination:
                yield State(peer, state.destination, vc)

    def _evaluated(self, state: State) -> Hops:
        """The hops in a state in an idle network, ordered by cost.

        Equal sets of hops share one object, to save memory.
        """
        costs = self.called(state, self._empty(state), None)
        ranks = {cost: rank for rank, cost in enumerate(sorted(set(costs.values())))}
        hops = tuple(sorted(((hop, ranks[cost]) for hop, cost in costs.items()), key=lambda each: (each[1], each[0])))
        if hops not in self._shared:
            self.bytes += _HOPS_BYTES + _HOP_BYTES * len(hops)
            hops = tuple(self._ranked.setdefault(hop, hop) for hop in hops)
            self._shared[hops] = hops
        return self._shared[hops]

    def rows(self) -> list[Row]:
        """The table in the form that the engine reads."""
        triples = {ranked: (*ranked[0], ranked[1]) for ranked in self._ranked}
        listed = {hops: [triples[ranked] for ranked in hops] for hops in self._shared}
        return [
            (state.router, state.destination, 0 if state.vc is None else state.vc + 1, listed[hops])
            for state, hops in self.hops.items()
        ]

    def _empty(self, state: State) -> list[int]:
        """The queue lengths of a router in an idle network: all are zero."""
        return [0] * len(self.network.peers[state.router])

    def _arguments(self, state: State, queues: Sequence[int]) -> dict[str, Any]:
        """The arguments for a call of the function in this state.

        Each call gets a new list of queue lengths, because the function could change the list.
        """
        routers = self.network.routers
        arguments = dict(self.function.fixed)
        arguments["router"] = routers[state.router]
        arguments["packet"] = Packet(routers[state.destination], state.vc)
        if self.reads_queues:
            arguments["queues"] = list(queues)
        return arguments

    def _result(self, state: State, queues: Sequence[int], packet: tuple[int, int, int] | None) -> Any:
        return self.function.call(lambda: self.call(state, packet), self._arguments(state, queues))

    def called(self, state: State, queues: Sequence[int], packet: tuple[int, int, int] | None) -> dict[Hop, float]:
        """The hops that the function returns, with their costs.

        `packet` has source terminal, number (counted at its source) and destination terminal of a packet of the run;
        ``None`` before the run.
        """
        result = self._result(state, queues, packet)
        costs, wrong = self._hops(self.network.routers[state.router], result)
        if wrong is not None:
            what, help = wrong
            place = self.function.returned(lambda: self._result(state, queues, packet))
            raise ScenarioError.saying(f"{self.call(state, packet)} returned {brief(result)}: {what} ({place})", help)
        return costs

    def _hops(self, router: Router, result: Any) -> tuple[dict[Hop, float], tuple[str, str] | None]:
        """The hops in a result of the function, with their costs; or the fault of the result, and the remedy."""
        costs: dict[Hop, float] = {}
        if isinstance(result, Mapping) and not self.reads_queues:
            return costs, ("costs without queues", "return a list of hops, or take `queues` as an argument")
        for hop, cost in self._listed(result):
            parts = tuple(hop) if isinstance(hop, tuple | list) else (hop, 0)
            if len(parts) != 2 or not all(isinstance(part, Integral) for part in parts):
                help = (
                    "return a port, a pair of a port and a VC class, or a list of these; costs in a dict: {port: cost}"
                )
                return costs, ("no hop", help)
            port, vc = int(parts[0]), int(parts[1])
            if port not in self.network.ports[router]:
                return costs, (
                    f"no link to a router at port {brief(port)}",
                    f"ports to routers: {_listed_ports(router)}",
                )
            if vc not in range(MAX_CLASSES):
                return costs, (f"VC class {brief(vc)}", f"return classes from 0 to {MAX_CLASSES - 1}")
            value = _number(cost)
            if isnan(value):
                return costs, (f"a cost of {brief(cost)}", "return numbers as costs")
            costs[port, vc] = value
        return costs, None if costs else ("no hop", "return at least one hop for each packet that has not arrived")

    def _listed(self, result: Any) -> Iterable[tuple[Any, Any]]:
        if isinstance(result, Mapping):
            return result.items()
        if isinstance(result, tuple) and len(result) == 2 and all(isinstance(part, Integral) for part in result):
            return [(result, 0)]
        if isinstance(result, Iterable) and not isinstance(result, str | bytes):
            return [(hop, 0) for hop in result]
        return [] if result is None else [(result, 0)]

    def _case(self, state: State) -> str:
        names = self.network.routers
        vc = "just injected" if state.vc is None else f"on VC class {state.vc}"
        return f"a packet to router {names[state.destination].name}, {vc}, at router {names[state.router].name}"

    def call(self, state: State, packet: tuple[int, int, int] | None) -> str:
        """Text that describes a call of the function, for errors."""
        if packet is None:
            return f"`{self.function.name}` for {self._case(state)}"
        source, number, target = packet
        router = self.network.routers[state.router].name
        return (
            f"`{self.function.name}` for packet {number} of terminal {source} to terminal {target}, at router {router},"
        )

    def _loop(self, path: list[State], again: State) -> ScenarioError:
        """The error for packets that can reach the same state twice, and therefore circulate forever."""
        loop = path[path.index(again) :]
        names = [self.network.routers[state.router].name for state in [*loop, again]]
        shown = " -> ".join(names if len(names) <= _SHOWN else [*names[: _SHOWN - 2], "...", names[-1]])
        place = self.function.returned(lambda: self._result(again, self._empty(again), None))
        what = f"the hops of {self.call(again, None)} can lead back to this state: {shown} ({place})"
        return ScenarioError.saying(what, "return hops that lead nearer, or a higher VC class after a detour")


class Chooser:
    """Calls the function of a routing that reads queues, while a network runs."""

    def __init__(self, routes: Routes) -> None:
        self.routes = routes

    def choose(
        self, router: int, destination: int, vc: int | None, queues: list[int], packet: tuple[int, int, int]
    ) -> list[Hop]:
        """The hops with the least cost for a packet of the run, in the order of ports.

        Raises
        ------
        ScenarioError
            If the call fails, or if it returns a hop that the call with empty queues did not return.
        """
        state, routes = State(router, destination, vc), self.routes
        costs = routes.called(state, queues, packet)
        known = {hop for hop, _ in routes.hops[state]}
        for hop in costs:
            if hop not in known:
                call = routes.call(state, packet)
                returned = f"port {hop[0]} on VC class {hop[1]}"
                what = f"{call} returned {returned}, which it does not return if all queues are empty"
                help = "return all possible hops in a dict with their costs; queues may change only the costs"
                raise ScenarioError.saying(what, help)
        least = min(costs.values())
        return sorted(hop for hop, cost in costs.items() if cost == least)


def _number(cost: Any) -> float:
    """A cost as a float; NaN for a value that is not a number."""
    try:
        return float(cost) if isinstance(cost, Real) else nan
    except OverflowError:
        return nan


def _listed_ports(router: Router) -> str:
    ports = [f"{port} (to router {router.neighbor(port).name})" for port in router.ports[:8]]
    return ", ".join(ports) + (", ..." if len(router.ports) > 8 else "")


def routes(
    text: bytes, file: str, name: str, given: dict[str, Any], known: dict[str, Any]
) -> tuple[list[Row], Chooser | None]:
    """Makes the table of a routing, and the object that calls its function during the run if the function reads queues.

    The ranks in the table are those of the costs with empty queues.

    Raises
    ------
    ScenarioError
        If the file of the function is wrong, or if the function returns a wrong result. The error names the packet, the
        router, and the line in the file.
    """
    network = Network(known["peers"], known["hosts"], known["names"], known["widths"])
    function = UserFunction(
        Place(text, file, name, "routing"), given, {"network": network}, {"router", "packet", "queues"}
    )
    for needed in ("router", "packet"):
        if needed not in function.takes:
            what = f"`{name}` of {file} has no parameter `{needed}`"
            raise ScenarioError.saying(what, f"write def {name}(router, packet), with `queues` if it reads queues")
    found = Routes(function, network)
    found.follow()
    return found.rows(), Chooser(found) if found.reads_queues else None
