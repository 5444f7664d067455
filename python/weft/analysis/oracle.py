"""Finds a small set of links of a HyperX that carries known traffic.

The set is close to the smallest set that a power policy could keep on if it knew the traffic in advance.

Source: our own method, as a reference for TCEP (ISCA 2018), which does not know the traffic. The method is a greedy
search on the fluid model of `weft.analysis.fluid`. At first all links of each subnetwork are on. Then links are
switched off one by one, as long as no channel is loaded above the target. The next link to switch off is the one with
the least traffic between its own two routers, because this traffic then needs a second hop. Among links with equal
traffic, the search takes the link between the highest-numbered routers. Therefore the remaining links concentrate on
the lowest-numbered routers. All links of one router of the subnetwork, the hub, always stay on.

Parameters: the traffic [flits/cycle], the target (highest allowed load of a channel) [flits/cycle], and the hub.
Channels carry one flit per cycle. For another bandwidth, traffic, target and loads are given as shares of the
bandwidth. Guarantees in the fluid model: no channel is loaded above the target, unless all links of its subnetwork are
on. Switching any single further link off would load a channel above the target. Not modelled: bursts, queues, packets.
Therefore the set must be simulated to serve as a reference, and its size is an estimate, not a bound. Validation: tests
check the two guarantees by removing links one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from weft.analysis import fluid
from weft.analysis.paths import star
from weft.errors import WeftError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from weft.analysis.fluid import Line, Loads
    from weft.analysis.paths import Active

# Loads that differ by less than this value count as equal [flits/cycle].
_SLACK = 1e-9


class Found(NamedTuple):
    """Result of a search: the links that stay on, and their loads in the fluid model.

    Attributes
    ----------
    links : list of tuple
        Pairs of routers, the lower number first, ascending.
    hub : int
        Coordinate of the hub routers in each dimension. All links of a hub (its star) stay on.
    all_links : int
        Number of links between routers in the network.
    target : float
        Highest allowed load of a channel [flits/cycle].
    busiest : float
        Load of the busiest channel in the fluid model [flits/cycle]; above the target if even all links together are
        too few.
    hops : float
        Mean hops per flit in the fluid model; 0 if there is no traffic.
    terminals : float or None
        Load of the busiest channel to or from a terminal, as a share of its bandwidth; ``None`` if it is unknown.
    """

    links: list[tuple[int, int]]
    hub: int
    all_links: int
    target: float
    busiest: float
    hops: float
    terminals: float | None = None

    @property
    def share(self) -> float:
        """Share of the network's links that stay on."""
        return len(self.links) / self.all_links

    @property
    def carried(self) -> bool:
        """Whether the links that stay on carry the traffic.

        If the value is false, even all links of some subnetwork do not suffice, or a terminal's channel is above the
        target.
        """
        return max(self.busiest, self.terminals or 0.0) <= self.target + _SLACK


def find(widths: Sequence[int], matrix: npt.ArrayLike, target: float = 0.75, hub: int = 0) -> Found:
    """Search for a small set of links of a HyperX that carries the given traffic.

    Parameters
    ----------
    widths : sequence of int
        Routers per dimension.
    matrix : array_like
        Flits per cycle from router (row) to router (column), as returned by `Point.traffic_matrix`; shape (R, R).
    target : float
        Highest load of a channel [flits/cycle].
    hub : int
        Coordinate of the hub routers, whose links always stay on.

    Raises
    ------
    WeftError
        If the target is not in (0, 1], or a subnetwork has no router with the coordinate `hub`.
    """
    if not 0 < target <= 1:
        what = f"a channel can't be filled up to {target:g} flits/cycle"
        raise WeftError.saying(what, "write a target above 0, at most 1")
    if not 0 <= hub < min(widths):
        what = f"hub {hub}: the smallest subnetwork has routers 0 to {min(widths) - 1}"
        raise WeftError.saying(what, "write one of these")
    rates = np.asarray(matrix, dtype=float)
    links: list[tuple[int, int]] = []
    all_links, busiest, crossed = 0, 0.0, 0.0
    for line in fluid.lines(widths, rates):
        active, loads = _of_line(line, target, hub)
        row, column = np.nonzero(np.triu(active))
        ends = np.sort(np.stack([line.routers[row], line.routers[column]], axis=1), axis=1)
        links += [(int(a), int(b)) for a, b in ends]
        all_links += len(line.routers) * (len(line.routers) - 1) // 2
        busiest, crossed = max(busiest, loads.busiest), crossed + float(loads.channels.sum())
    offered = float(rates.sum())
    return Found(sorted(links), hub, all_links, target, busiest, crossed / offered if offered else 0.0)


def _of_line(line: Line, target: float, hub: int) -> tuple[Active, Loads]:
    """The links of one subnetwork that stay on, and the loads of its channels."""
    width = len(line.routers)
    active, kept = ~np.eye(width, dtype=bool), star(width, hub)
    loads = fluid.spread(line.demand, active, target)
    limit = target + _SLACK
    if loads.busiest > limit:
        return active, loads
    tried = True
    while tried:  # a link that had to stay may become removable after others are off
        tried, refused = False, kept.copy()
        while (link := _cheapest(loads, active & ~refused)) is not None:
            fewer = active.copy()
            fewer[link] = fewer[link[::-1]] = False
            without = fluid.spread(line.demand, fewer, target)
            if without.busiest <= limit:
                active, loads, tried = fewer, without, True
            else:
                refused[link] = refused[link[::-1]] = True
    return active, loads


def _cheapest(loads: Loads, candidates: Active) -> tuple[int, int] | None:
    """The link with the least minimal traffic; among equal links, the link between the highest-numbered routers."""
    row, column = np.nonzero(np.triu(candidates))
    if not len(row):
        return None
    minimal = loads.direct[row, column] + loads.direct[column, row]
    least = np.flatnonzero(minimal <= minimal.min() + _SLACK)[-1]
    return int(row[least]), int(column[least])


def over_load(
    widths: Sequence[int], matrix: npt.ArrayLike, factors: Sequence[float], target: float = 0.75
) -> pl.DataFrame:
    """Finds the links that stay on for several multiples of the traffic.

    Returns
    -------
    polars.DataFrame
        A row per factor, with the columns ``factor``, ``active_links``, ``active_share``, ``busiest_channel``
        [flits/cycle], ``hops`` and ``carried``, as in `Found`.
    """
    rates = np.asarray(matrix, dtype=float)
    rows = [{"factor": factor} | row(find(widths, factor * rates, target)) for factor in factors]
    return pl.DataFrame(rows, infer_schema_length=None)


def row(found: Found) -> dict[str, int | float | bool]:
    """Numbers of a table row, from the result of a search."""
    return {
        "active_links": len(found.links),
        "active_share": found.share,
        "busiest_channel": found.busiest,
        **({} if found.terminals is None else {"busiest_terminal": found.terminals}),
        "hops": found.hops,
        "carried": found.carried,
    }
