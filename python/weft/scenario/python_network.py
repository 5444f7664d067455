"""The objects that a routing in Python gets: the network, its routers and their ports, and the packet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class Router(int):
    """A router: an integer (its number) with further attributes, such as its ports.

    Attributes
    ----------
    network : Network
        The network of the router.
    """

    network: Network

    @classmethod
    def of(cls, network: Network, number: int) -> Router:
        """The router that has this number in a network."""
        router = cls(number)
        router.network = network
        return router

    @property
    def name(self) -> str:
        """Name of the router in the file of the topology; if it has none, its number as a string."""
        return self.network.names[self] if self.network.names else str(int(self))

    @property
    def ports(self) -> list[int]:
        """Ports of this router that lead to other routers."""
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
        """The lowest-numbered port that leads to a neighbouring router."""
        peers = self.network.peers[self]
        if neighbor not in peers:
            raise ValueError(f"router {self.name} has no link to router {neighbor}")
        return peers.index(neighbor)

    def distance(self, other: int) -> int:
        """Number of links on a shortest path from this router to another one."""
        return self.network.distances(other)[self]

    def minimal_ports(self, destination: int) -> list[int]:
        """Ports of this router at which a shortest path to the destination begins.

        The result is a list, because as result of a routing, a tuple of two numbers would mean one hop: port and VC
        class.
        """
        distances, peers = self.network.distances(destination), self.network.peers[self]
        return [port for port in self.network.ports[self] if distances[peers[port] or 0] < distances[self]]

    @property
    def coordinates(self) -> tuple[int, ...]:
        """Coordinates of the router in the grid of the network, dimension 0 first; empty if the network is no grid."""
        place, rest = [], int(self)
        for width in self.network.widths or ():
            place.append(rest % width)
            rest //= width
        return tuple(place)


class Packet(NamedTuple):
    """A packet at a router that is not its destination, for which the routing returns hops.

    Attributes
    ----------
    destination : Router
        Router of the destination terminal of the packet.
    vc : int or None
        VC class of the last hop of the packet; ``None`` at the router at which it was injected.
    """

    destination: Router
    vc: int | None


class Network:
    """Routers and links.

    Attributes
    ----------
    routers : list of Router
        All routers of the network.
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
        """Number of links from each router to a destination. If there is no path, the number is that of all routers."""
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
        """The routers and links of the network as a NetworkX graph.

        Each call returns a new graph, so that the user's function can change it.
        """
        from importlib import import_module

        networkx = import_module("networkx")

        graph = networkx.MultiGraph()
        graph.add_nodes_from(map(int, self.routers))
        ends = ((router, peer) for router in map(int, self.routers) for peer in self.peers[router])
        graph.add_edges_from((router, peer) for router, peer in ends if peer is not None and router < peer)
        return graph
