"""Measures bisection, cable lengths, cost and other numbers of a design (network) on its graph."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from weft.design import cuts, moore, price_list, resilience
from weft.design.families import FAMILIES
from weft.design.packaging import Packaging
from weft.design.placed import layout
from weft.design.plan import CUT, EXACT, terminal_cost
from weft.errors import WeftError
from weft.text.labels import label

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from weft._engine import Design
    from weft.design.catalogue_hardware import Hardware
    from weft.design.packaging import Layout
    from weft.design.plan import Plan
    from weft.design.price_list import Prices


@dataclass(frozen=True)
class Assumptions:
    """Assumptions that are the same for all compared designs.

    Attributes
    ----------
    prices : Prices or None
        Prices of routers and cables; ``None`` if they are unknown. Without prices, Weft computes no costs.
    packaging : Packaging
        Distances between racks, and lengths of cables.
    port_w : float
        Power of a port that is wired [W]. The default is 4 lanes of 0.7 W (FleX, IEEE Access 2022, section IV-A).
    hardware : Hardware or None
        Power of boxes, ports and modules from the catalogue, used instead of `port_w`.
    failures : Failures
        Parameters of the trials of link failures.
    seeds : int
        Number of random seeds with which the graph partitioner METIS searches a bisection.
    """

    prices: Prices | None = field(default_factory=price_list.default)
    packaging: Packaging = field(default_factory=Packaging)
    port_w: float = 2.8
    hardware: Hardware | None = None
    failures: resilience.Failures = field(default_factory=resilience.Failures)
    seeds: int = 20

    def __post_init__(self) -> None:
        if not (self.port_w >= 0 and self.seeds >= 1):
            what = f"a port of {self.port_w} W, {self.seeds} seeds of the partitioner: out of range"
            raise WeftError.saying(what, "write a power of 0 W or more, and 1 seed or more")

    @classmethod
    def of(cls, hardware: Hardware | None) -> Assumptions:
        """Assumptions with the power and prices of the given hardware, and defaults for the rest."""
        return cls() if hardware is None else cls(hardware=hardware, prices=hardware.prices())

    def power_w(self, routers: int, radix: int, links: int, terminals: int) -> float:
        """Power [W] of a network with these numbers of routers, ports, links and terminals, without traffic."""
        if self.hardware is not None:
            return self.hardware.power_w(routers, radix, links, terminals)
        return self.port_w * (2 * links + terminals)

    def remarks(self) -> list[str]:
        """Notes on the sources of power and cost."""
        power = f"{self.port_w:g} W per wired port, without modules and traffic"
        if self.hardware is not None:
            power = f"{self.hardware.name}; without traffic, which adds {self.hardware.bit_pj:g} pJ/bit at each router"
        lines = [f"power: {power}"]
        if self.prices is not None:
            speed = (
                ""
                if self.hardware is not None and self.prices.name == self.hardware.name
                else f", {self.prices.bandwidth_gbps:g} Gb/s"
            )
            return [*lines, f"cost: {self.prices.name}{speed}"]
        if self.hardware is None:
            return [*lines, "cost: unknown, because there is no price list; give one with `--prices FILE`"]
        missing = ", ".join(self.hardware.unpriced())
        what = f"cost: unknown, because the catalogue has no price in dollars for: {missing}"
        return [*lines, f"{what}; give a price list with `--prices FILE`"]


def in_words(topology: Mapping[str, Any]) -> str:
    """A topology as a string: its kind and its parameters.

    The string omits parameters with their default values: single links, and the arrangement of a dragonfly.
    """
    ((name, parameters),) = topology.items()
    usual = {"trunk_width": 1, "arrangement": "palm_tree"}
    return label({name: {key: value for key, value in parameters.items() if usual.get(key) != value}})


class MeasuredDesign:
    """A design and the numbers that are measured on its graph.

    Each number of the design is computed at its first access.

    Parameters
    ----------
    design : Design
        The network, as the engine has built it.
    assumed : Assumptions
        Prices, packaging, power, failures.
    """

    def __init__(self, design: Design, assumed: Assumptions) -> None:
        self.design = design
        self.assumed = assumed
        self.name = design.name
        self.topology: dict[str, Any] = design.topology

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Degrees, distances, bisection, and links by class, as `weft explain topology` prints them."""
        return self.design.facts()

    @cached_property
    def links(self) -> npt.NDArray[np.uint32]:
        """The two ends of each link between routers, and its class in each direction; shape (links, 4)."""
        return np.frombuffer(self.design.links(), dtype=np.uint32).reshape(-1, 4)

    @cached_property
    def terminals(self) -> npt.NDArray[np.uint32]:
        """Number of terminals of each router; shape (routers,)."""
        return np.frombuffer(self.design.terminals_of_routers(), dtype=np.uint32)

    @cached_property
    def plan(self) -> Plan | None:
        """The numbers of this network that formulas give; ``None`` if no formula describes the network."""
        ((name, parameters),) = self.topology.items()
        plain = parameters.get("trunk_width", 1) == 1 and not parameters.get("escape_rings")
        plan = FAMILIES[name].plan(parameters) if name in FAMILIES and plain else None
        # some networks have no formula, such as dimensions of two routers, and trees of four levels; so the results are
        # compared with the graph
        counted = None if plan is None else (plan.routers, plan.links, plan.diameter)
        return plan if counted == (len(self.terminals), len(self.links), self.facts["diameter_hops"]) else None

    @cached_property
    def cable_m(self) -> npt.NDArray[np.float64]:
        """Length of each link between routers [m]; shape (links,)."""
        return self._layout.lengths(self.links, self.assumed.packaging)

    @cached_property
    def _layout(self) -> Layout:
        return layout(self.topology, self.design.places(), self.terminals, self.assumed.packaging)

    @cached_property
    def cut(self) -> int:
        """Number of links of the best balanced cut that the partitioner finds."""
        return cuts.best(self.design, self.links, self.terminals, self.assumed.seeds)

    @cached_property
    def bisection(self) -> dict[str, Any]:
        """The best known bounds of the bisection, from formulas and from partitioning.

        ``bisection_low_links`` and ``bisection_links`` are lower and upper bound of the smallest number of links
        between two halves. The numbers of terminals of the halves differ by at most the terminals of one router.
        """
        exact, known = self.facts["bisection_exact"], self.facts["bisection_links"]
        formula, kind = (known, EXACT) if exact else (None, None)
        if self.plan is not None and not exact:
            formula, kind = self.plan.bisection, self.plan.bisection_kind
        found = [self.cut, known, *([formula] if formula is not None and kind == CUT else [])]
        return {
            "bisection_links": formula if kind == EXACT else min(found),
            "bisection_low_links": formula if kind == EXACT else cuts.spectral_bound(self.links, self.terminals),
            "bisection_formula_links": formula,
            "bisection_formula": kind,
            "bisection_partition_links": self.cut,
        }

    @cached_property
    def diversity(self) -> pl.DataFrame:
        """Number of shortest paths between routers with terminals: a row per distance.

        The columns are ``hops``, ``pairs`` (ordered), ``paths_min``, ``paths_mean``, ``paths_max``,
        ``single_path_pairs``.
        """
        counts = {"hops": pl.Int64, "pairs": pl.Int64}
        paths = {"paths_min": pl.Float64, "paths_mean": pl.Float64, "paths_max": pl.Float64}
        schema = {**counts, **paths, "single_path_pairs": pl.Int64}
        return pl.DataFrame(self.design.path_diversity()["by_distance"], schema=schema, strict=False)

    @cached_property
    def failures(self) -> pl.DataFrame:
        """Probability that the network is still connected while links fail, as described at `resilience.curve`."""
        return resilience.curve(self.design, len(self.links), self.assumed.failures)

    @cached_property
    def distances(self) -> pl.DataFrame:
        """Number of ordered pairs of different routers, and of different terminals, by distance (``hops``)."""
        routers, terminals = self.facts["router_pairs_by_hops"], self.facts["terminal_pairs_by_hops"]
        columns = {"hops": range(len(routers)), "router_pairs": routers, "terminal_pairs": terminals}
        return pl.DataFrame(columns, strict=False)

    @cached_property
    def row(self) -> dict[str, Any]:
        """All numbers of the design in one row, whose keys are the columns of a comparison."""
        facts = self.facts
        links, terminals = len(self.links), facts["terminals"]
        return {
            "design": self.name,
            "topology": in_words(self.topology),
            "routers": facts["routers"],
            "terminals": terminals,
            "radix_ports": facts["radix_ports"],
            "links": links,
            "diameter_hops": facts["diameter_hops"],
            "mean_distance_hops": facts["mean_distance_hops"],
            "moore_share": moore.share(facts["routers"], facts["degree_max_links"], facts["diameter_hops"]),
            **self.bisection,
            "bisection_ratio": self.bisection["bisection_links"] / max(links, 1),
            "bisection_per_terminal": self.bisection["bisection_links"] / (terminals / 2),
            **self._paths(),
            **self._tolerated(),
            **self.money,
            "port_count": 2 * links + terminals,
            "power_w": self.power_w,
            "power_per_terminal_w": self.power_w / terminals,
        }

    @cached_property
    def power_w(self) -> float:
        """Power of the network without traffic [W]."""
        facts = self.facts
        return self.assumed.power_w(facts["routers"], facts["radix_ports"], len(self.links), facts["terminals"])

    def _tolerated(self) -> dict[str, float | None]:
        """Largest shares of failed links at which most trials stay connected; ``None`` if the network has no links."""
        of = {
            "tolerated_failures_share": "connected_share",
            "tolerated_failures_terminals_share": "terminals_connected_share",
        }
        return {
            name: resilience.tolerated(self.failures, column) if len(self.links) else None
            for name, column in of.items()
        }

    def _paths(self) -> dict[str, Any]:
        pairs, of = self.diversity, float(self.diversity["pairs"].sum()) if len(self.diversity) else 0.0
        if not of:
            return {"paths_min": None, "paths_mean": None, "single_path_share": None}
        return {
            "paths_min": pairs["paths_min"].min(),
            "paths_mean": float((pairs["paths_mean"] * pairs["pairs"]).sum()) / of,
            "single_path_share": float(pairs["single_path_pairs"].sum()) / of,
        }

    @cached_property
    def money(self) -> dict[str, Any]:
        """Number of racks, lengths and costs of cables, and costs of routers, as columns of a comparison."""
        facts, prices, packaging = self.facts, self.assumed.prices, self.assumed.packaging
        metres, terminals = float(self.cable_m.sum()), facts["terminals"]
        parts: dict[str, float | None] = dict.fromkeys(
            ("cost_routers_usd", "cost_cables_usd", "cost_terminal_cables_usd", "cost_usd", "cost_per_terminal_usd")
        )
        if prices is not None:
            routers = facts["routers"] * prices.router.at(facts["radix_ports"])
            cables, of_terminals = prices.cables(len(self.links), metres), terminal_cost(terminals, prices, packaging)
            total = sum((routers, cables, of_terminals))
            parts = dict(zip(parts, (routers, cables, of_terminals, total, total / terminals), strict=True))
        return {
            "racks": self._layout.rack_count,
            "packaging": self._layout.rule,
            "cable_m": metres,
            "cable_mean_m": metres / max(len(self.links), 1),
            **parts,
        }

    def remarks(self) -> list[str]:
        """Notes on the parts of the design whose cost is extrapolated."""
        if self.assumed.prices is None:
            return []
        longest = float(self.cable_m.max()) if len(self.cable_m) else self.assumed.packaging.terminal_m
        shown = self.assumed.prices.remarks(self.facts["radix_ports"], longest)
        return [f"{self.name}: {each} ({self.assumed.prices.name})" for each in shown]
