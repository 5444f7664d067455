"""Describes a design (network) by numbers that formulas give, without building its graph."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from weft.design.packaging import Layout, Packaging
    from weft.design.price_list import Prices

# Words that say how exact the formula for a bisection is.
EXACT, CUT, ESTIMATE, LOWER = "exact", "a cut that exists", "an estimate", "lower bound"


class Plan(NamedTuple):
    """Numbers of a design: routers, terminals, links, distances, bisection and racks.

    Attributes
    ----------
    routers, terminals, radix : int
        Number of routers and of terminals; maximum number of ports of a router.
    most_terminals : int
        Maximum number of terminals of a router.
    links : int
        Number of links between routers.
    degree : int
        Maximum number of links of a router to other routers.
    diameter : int
        Diameter between routers [hops].
    bisection : int
        Number of links of the bisection according to the formula; `bisection_kind` says how exact this number is.
    bisection_kind : str
        `EXACT`; `CUT`: a balanced cut of this size exists, and a smaller one is possible; `ESTIMATE`: an approximate
        value; `LOWER`: a lower bound.
    inside : int
        Number of links inside racks, if the size of racks is unlimited.
    distance : int
        Sum of the distances between the two ends of each link between racks [pitches].
    longest : int
        Largest distance between the two ends of a link [pitches].
    racks : int
        Number of racks, if the size of racks is unlimited.
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
        """Length of all cables between routers [m]; a lower bound if the size of racks is limited."""
        if packaging.has_sizes:
            return self.links * min(packaging.inside_m, packaging.overhead_m + packaging.pitch_m)
        between = self.links - self.inside
        return packaging.inside_m * self.inside + packaging.overhead_m * between + packaging.pitch_m * self.distance

    def cost_usd(self, prices: Prices, packaging: Packaging) -> float:
        """Cost [$] of routers and all cables, including terminals'; a lower bound if the size of racks is limited."""
        cables = prices.cables(self.links, self.cable_m(packaging))
        return self.routers * prices.router.at(self.radix) + cables + terminal_cost(self.terminals, prices, packaging)


def terminal_cost(terminals: int, prices: Prices, packaging: Packaging) -> float:
    """Cost of the cables of the terminals [$]."""
    return prices.terminal_cables(terminals, terminals * packaging.terminal_m)


class Family(Protocol):
    """A family of topologies whose numbers are computed by formula.

    Each module of `weft.design.families` has these functions.
    """

    def plan(self, parameters: Mapping[str, Any]) -> Plan:
        """Computes the numbers of a network by formula.

        `parameters` are those of the topology in a scenario, without trunks.
        """

    def layout(self, parameters: Mapping[str, Any]) -> Layout | None:
        """Positions of the routers; ``None`` if they follow from the grid or from the order of the routers."""

    def candidates(self, terminals: int, radix: int) -> Iterator[dict[str, Any]]:
        """Yields parameters of all networks with at least `terminals` terminals and at most `radix` ports per router.

        Terminals are spread evenly over the routers. With one terminal less per router, there would be too few
        terminals.
        """


def terminals_each(terminals: int, routers: int, room: int) -> int | None:
    """The smallest number of terminals per router with which the network has enough terminals.

    `room` is the number of ports of a router for terminals. The result is ``None`` if the router needs more ports for
    them, or if some routers would have no terminal.
    """
    each = math.ceil(terminals / routers)
    return each if routers <= terminals and each <= room else None


def rising(least: int, parts: int, most_product: int, most_sum: int) -> Iterator[tuple[int, ...]]:
    """Yields non-decreasing lists of `parts` numbers, each at least `least`.

    The product of the numbers is at most `most_product`, and their sum at most `most_sum`.
    """
    if parts == 0:
        yield ()
        return
    number = least
    while number**parts <= most_product and number * parts <= most_sum:
        for rest in rising(number, parts - 1, most_product // number, most_sum - number):
            yield (number, *rest)
        number += 1
