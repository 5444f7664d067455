"""The network that a routing in Python gets: routers, their ports, and the packet to route."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class Router(int):
    """A router: its number, with its ports.

    Attributes
    ----------
    network : Network
        The network of the router.
    """

    network: Network

    @classmethod
    def of(cls, network: Network, number: int) -> Router:
        """The router of a number in a network."""
        router = cls(number)
        router.network = network
        return router

    @property
    def name(self) -> str:
        """Name of the router in the file of the topology; otherwise its number."""
        return self.network.names[self] if self.network.names else str(int(self))

    @property
    def ports(self) -> list[int]:
        """Ports that lead to other routers."""
        return list(self.network.ports[self])

    @property
    def neighbors(self) -> list[Router]:
        """Neighbouring routers, in the order of `ports`."""
        return [self.neighbor(port) for port in self.network.ports[self]]

    def neighbor(self, port: int) -> Router:
        """The neighbouring router at a port."""
        peer = self.network.peers[self][port]
        if peer is None:
            raise ValueError(f"port {port} of router {self.name} has no link to a router")
        return self.network.routers[peer]

    def port_to(self, neighbor: int) -> int:
        """The lowest port that leads to a neighbour."""
        peers = self.network.peers[self]
        if neighbor not in peers:
            raise ValueError(f"router {self.name} has no link to router {neighbor}")
        return peers.index(neighbor)

    def distance(self, other: int) -> int:
        """Number of links on a shortest path to another router."""
        return self.network.distances(other)[self]

    def minimal_ports(self, destination: int) -> list[int]:
        """Ports at which a shortest path begins.

        The result is a list, because a tuple of two numbers would be one hop: port and VC class.
        """
        distances, peers = self.network.distances(destination), self.network.peers[self]
        return [port for port in self.network.ports[self] if distances[peers[port] or 0] < distances[self]]

    @property
    def coordinates(self) -> tuple[int, ...]:
        """Coordinates of the router in the grid of the network, dimension 0 first; empty without a grid."""
        place, rest = [], int(self)
        for width in self.network.widths or ():
            place.append(rest % width)
            rest //= width
        return tuple(place)


class Packet(NamedTuple):
    """A packet at a router that is not its destination.

    Attributes
    ----------
    destination : Router
        The router of its destination terminal.
    vc : int or None
        VC class of its last hop; ``None`` at the router at which the packet was injected.
    """

    destination: Router
    vc: int | None


class Network:
    """Routers and links.

    Attributes
    ----------
    routers : list of Router
        All routers.
    hosts : list of Router
        Routers with terminals.
    peers : list of list
        For each router and port, the number of the neighbouring router; ``None`` for a port to a terminal and an unused
        port.
    names : list of str
        Names of the routers; empty if the names are the numbers.
    widths : list of int or None
        Number of routers in each dimension of the grid; ``None`` without a grid.
    """

    def __init__(
        self, peers: list[list[int | None]], hosts: Sequence[int], names: list[str], widths: list[int] | None
    ) -> None:
        self.peers, self.names, self.widths = peers, names, widths
        self.routers = [Router.of(self, number) for number in range(len(peers))]
        self.hosts = [self.routers[number] for number in hosts]
        self.ports = [tuple(port for port, peer in enumerate(row) if peer is not None) for row in peers]
        self._distances: dict[int, list[int]] = {}

    def distances(self, destination: int) -> list[int]:
        """Number of links from each router to a destination; it is the number of all routers if there is no path."""
        known = self._distances.get(destination)
        if known is None:
            known = [len(self.routers)] * len(self.routers)
            known[destination] = 0
            front = [int(destination)]
            for router in front:
                for port in self.ports[router]:
                    peer = self.peers[router][port]
                    if peer is not None and known[peer] > known[router] + 1:
                        known[peer] = known[router] + 1
                        front.append(peer)
            self._distances[destination] = known
        return known

    def to_networkx(self) -> Any:
        """The routers as a NetworkX graph. Each call returns a copy, which the function may change."""
        from importlib import import_module

        networkx = import_module("networkx")

        graph = networkx.MultiGraph()
        graph.add_nodes_from(map(int, self.routers))
        ends = ((router, peer) for router in map(int, self.routers) for peer in self.peers[router])
        graph.add_edges_from((router, peer) for router, peer in ends if peer is not None and router < peer)
        return graph
