"""Numbers of a design by formula, before any graph is built."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from weft.design.packaging import Layout, Packaging
    from weft.design.price_list import Prices

# How good a formula of a bisection is.
EXACT, CUT, ESTIMATE, LOWER = "exact", "a cut that exists", "an estimate", "lower bound"


class Plan(NamedTuple):
    """Counts of a design.

    Attributes
    ----------
    routers, terminals, radix : int
        Their numbers; most ports of a router.
    most_terminals : int
        Most terminals of a router.
    links : int
        Between routers.
    degree : int
        Most links of a router to others.
    diameter : int
        Hops between routers.
    bisection : int
        Links [formula, see `bisection_kind`].
    bisection_kind : str
        `EXACT`; `CUT`: there is such a balanced cut, maybe a better one; `ESTIMATE`: about so many; `LOWER`.
    inside : int
        Links inside racks that have no size.
    distance : int
        Sum over the other links of the distance between their ends [pitches].
    longest : int
        The largest of these distances [pitches].
    racks : int
        Number of racks that have no size.
    """

    routers: int
    terminals: int
    radix: int
    most_terminals: int
    links: int
    degree: int
    diameter: int
    bisection: int
    bisection_kind: str
    inside: int
    distance: int
    longest: int
    racks: int

    def cable_m(self, packaging: Packaging) -> float:
        """Length of all cables between routers [m]; where racks have a size at least so much."""
        if packaging.has_sizes:
            return self.links * min(packaging.inside_m, packaging.overhead_m + packaging.pitch_m)
        between = self.links - self.inside
        return packaging.inside_m * self.inside + packaging.overhead_m * between + packaging.pitch_m * self.distance

    def cost_usd(self, prices: Prices, packaging: Packaging) -> float:
        """Cost of routers and cables, those of terminals too [$]; where racks have a size at least so much."""
        cables = prices.cables(self.links, self.cable_m(packaging))
        return self.routers * prices.router.at(self.radix) + cables + terminal_cost(self.terminals, prices, packaging)


def terminal_cost(terminals: int, prices: Prices, packaging: Packaging) -> float:
    """Cost of the cables of the terminals [$]."""
    return prices.terminal_cables(terminals, terminals * packaging.terminal_m)


class Family(Protocol):
    """A kind of network whose numbers are known by formula: a module of `weft.design.families`."""

    def plan(self, parameters: Mapping[str, Any]) -> Plan:
        """Its numbers. The parameters are those of the topology, without trunks."""

    def layout(self, parameters: Mapping[str, Any]) -> Layout | None:
        """Where its routers stand; ``None``: as the order of the network says."""

    def candidates(self, terminals: int, radix: int) -> Iterator[dict[str, Any]]:
        """Parameters of all networks with at least this many terminals and at most this many ports per router.

        Terminals are spread evenly: no router could have one less.
        """


def terminals_each(terminals: int, routers: int, room: int) -> int | None:
    """Terminals of each router, so that there are enough; ``None`` if there is no room, or some would have none."""
    each = math.ceil(terminals / routers)
    return each if routers <= terminals and each <= room else None


def rising(least: int, parts: int, most_product: int, most_sum: int) -> Iterator[tuple[int, ...]]:
    """Lists of `parts` numbers from `least` on that do not fall, by their product and their sum at most."""
    if parts == 0:
        yield ()
        return
    number = least
    while number**parts <= most_product and number * parts <= most_sum:
        for rest in rising(number, parts - 1, most_product // number, most_sum - number):
            yield (number, *rest)
        number += 1
