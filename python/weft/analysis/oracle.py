"""Finds a small set of links that carries known traffic: close to the best for a policy that knows it.

Source: our own, as a reference for TCEP (ISCA 2018), which does not know the traffic. A greedy search on the fluid
model of `weft.analysis.fluid`: in each subnetwork all links are on at first. Then links are switched off one by one, as
long as no channel is loaded beyond the target. The next link is the one over which its two routers send the least
traffic, since this traffic then takes one hop more. Of equal links it is the link between the highest routers, so that
the links that are on concentrate on the lowest. The star of the hub always stays on.

Parameters: traffic [flits/cycle], target [flits/cycle], hub. Channels carry one flit per cycle; where they have another
bandwidth, traffic, target and loads are in units of it. Guarantees: in the fluid model no channel is above the
target (or all links of its subnetwork are on), and no further link alone could be switched off. Not modelled: bursts,
queues, packets. So the set of links is a reference that has to be simulated, and its size is an estimate, not a bound.
Validation: tests of both guarantees, by taking links away one by one.
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

# Loads that differ by less count as equal [flits/cycle].
_SLACK = 1e-9


class Found(NamedTuple):
    """Links that stay on.

    Attributes
    ----------
    links : list of tuple
        Pairs of routers, the lower number first, ascending.
    hub : int
        Coordinate of the routers whose star is among them.
    all_links : int
        Links between routers of the network.
    target : float
        Highest load that a channel was allowed [flits/cycle].
    busiest : float
        Load of the busiest channel in the fluid model [flits/cycle]; above the target where even all links are too few.
    hops : float
        Mean hops per packet in the fluid model; 0 if there is no traffic.
    """

    links: list[tuple[int, int]]
    hub: int
    all_links: int
    target: float
    busiest: float
    hops: float

    @property
    def share(self) -> float:
        """Share of the links that stay on."""
        return len(self.links) / self.all_links

    @property
    def carried(self) -> bool:
        """Whether these links carry the traffic; if not, all links of some subnetwork are on and do not suffice."""
        return self.busiest <= self.target + _SLACK


def find(widths: Sequence[int], matrix: npt.ArrayLike, target: float = 0.75, hub: int = 0) -> Found:
    """Search the links of a HyperX that carry some traffic.

    Parameters
    ----------
    widths : sequence of int
        Routers per dimension.
    matrix : array_like
        Flits per cycle from router (row) to router (column), as `Point.traffic_matrix` gives it; shape (R, R).
    target : float
        Highest load of a channel [flits/cycle].
    hub : int
        Coordinate of the routers whose star always stays on.

    Raises
    ------
    WeftError
        If the target is not in (0, 1], or a subnetwork has no such hub.
    """
    if not 0 < target <= 1:
        what = f"a channel can't be filled up to {target:g} flits/cycle"
        raise WeftError.saying(what, "take a target above 0, up to 1")
    if not 0 <= hub < min(widths):
        what = f"hub {hub}: the smallest subnetwork has routers 0 to {min(widths) - 1}"
        raise WeftError.saying(what, "take one of these")
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
    """The links of one subnetwork that stay on, and the flits that they carry."""
    width = len(line.routers)
    active, kept = ~np.eye(width, dtype=bool), star(width, hub)
    loads = fluid.spread(line.demand, active, target)
    limit = target + _SLACK
    if loads.busiest > limit:
        return active, loads
    tried = True
    while tried:  # a link that had to stay may go once others are off
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
    """The link that carries the least minimal traffic; of equals, the one between the highest routers."""
    row, column = np.nonzero(np.triu(candidates))
    if not len(row):
        return None
    minimal = loads.direct[row, column] + loads.direct[column, row]
    least = np.flatnonzero(minimal <= minimal.min() + _SLACK)[-1]
    return int(row[least]), int(column[least])


def over_load(
    widths: Sequence[int], matrix: npt.ArrayLike, factors: Sequence[float], target: float = 0.75
) -> pl.DataFrame:
    """The links that stay on when the traffic is multiplied.

    Returns
    -------
    polars.DataFrame
        ``factor``; ``active_links`` and ``active_share``; ``busiest_channel`` [flits/cycle], ``hops`` and ``carried``
        as in `Found`.
    """
    rates = np.asarray(matrix, dtype=float)
    rows = [{"factor": factor} | row(find(widths, factor * rates, target)) for factor in factors]
    return pl.DataFrame(rows, infer_schema_length=None)


def row(found: Found) -> dict[str, int | float | bool]:
    """The numbers of a table."""
    return {
        "active_links": len(found.links),
        "active_share": found.share,
        "busiest_channel": found.busiest,
        "hops": found.hops,
        "carried": found.carried,
    }
