"""Limits of a search for designs: the properties that a design must have."""

from __future__ import annotations

from dataclasses import dataclass

from weft.design.families import FAMILIES
from weft.errors import WeftError

# Words that say how exact the cost of a design is: the value of a formula, or only a lower bound.
BY_FORMULA, AT_LEAST = "by formula", "at least"
# Maximum number of terminals that a user can request, and of ports of a router, because larger searches take minutes.
MOST_TERMINALS, MOST_PORTS = 10_000_000, 512
# Limits of a search: column, direction (1: at most, -1: at least), description and unit of each.
LIMITS = {
    "most_terminals": ("terminals", 1, "number of terminals", ""),
    "budget_usd": ("cost_usd", 1, "cost", "$"),
    "power_w": ("power_w", 1, "power", "W"),
    "diameter_hops": ("diameter_hops", 1, "diameter", "hops"),
    "bisection_links": ("bisection_links", -1, "bisection", "links"),
}


@dataclass(frozen=True)
class Wanted:
    """Properties that a design must have to be a result of the search.

    Attributes
    ----------
    terminals : int
        Minimum number of terminals.
    radix_ports : int
        Maximum number of ports per router.
    most_terminals : int or None
        Maximum number of terminals.
    budget_usd, power_w, diameter_hops : float or None
        Maximum cost [$], power [W] and diameter [hops].
    bisection_links : float or None
        Minimum number of links between two halves.
    families : tuple of str
        Families of topologies that are searched; if empty, all families.
    """

    terminals: int
    radix_ports: int
    most_terminals: int | None = None
    budget_usd: float | None = None
    power_w: float | None = None
    diameter_hops: float | None = None
    bisection_links: float | None = None
    families: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if unknown := [each for each in self.families if each not in FAMILIES]:
            what = f"Weft has no formulas for the topology {unknown[0]!r}"
            raise WeftError.saying(what, f"search {', '.join(FAMILIES)}")
        if not (2 <= self.terminals <= MOST_TERMINALS and 2 <= self.radix_ports <= MOST_PORTS):
            what = f"terminals: {self.terminals:,}, ports per router: {self.radix_ports:,}: out of range"
            raise WeftError.saying(what, f"write 2 to {MOST_TERMINALS:,} terminals, and 2 to {MOST_PORTS:,} ports")
        if self.most_terminals is not None and self.most_terminals < self.terminals:
            what = f"no design has at least {self.terminals:,} and at most {self.most_terminals:,} terminals"
            raise WeftError.saying(what, f"write a limit of {self.terminals:,} terminals or more")

    @property
    def limits(self) -> list[str]:
        """The limits that the user has set, as strings."""
        lines = [f"at least {self.terminals:,} terminals", f"at most {self.radix_ports} ports per router"]
        for limit, (_, sign, words, unit) in LIMITS.items():
            if (bound := getattr(self, limit)) is not None:
                amount = f"{bound:,.0f} {unit}".rstrip()
                lines.append(f"{words} {'at most' if sign > 0 else 'at least'} {amount}")
        return [*lines, *([f"topologies {', '.join(self.families)}"] if self.families else [])]
