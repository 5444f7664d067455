"""Lower bound on the number of active channels (or links) of a 1D flattened butterfly that carry a load.

Source: TCEP (ISCA 2018), section VI-A, Fig. 12. A flit takes one hop if the link between its source and destination
router is active, otherwise two hops. Each of N terminals offers l flits/cycle. If all links between the R routers are
on, their channels carry R^2 flits/cycle (the paper counts a router as its own neighbour). If a share f of the links is
active, a share f of the pairs has an active link. A share f of uniform traffic then takes one hop and the rest two
hops. Hence ``N l (f + 2 (1 - f)) <= R^2 f``, or ``f >= 2 N l / (R^2 + N l)``. At least R - 1 links keep the network
connected. If a fixed share m of the flits finds an active link, then ``f >= N l (2 - m) / R^2``. With m = 0 (every flit
takes two hops), this bound is ``1 + N l / R^2`` times the bound for uniform traffic. Channels carry one flit per cycle.
For channels of bandwidth b, divide the load by b.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from weft.errors import WeftError

if TYPE_CHECKING:
    from collections.abc import Sequence

# Rounding errors can raise a computed number of links above the exact whole number by at most this amount.
_ROUNDING = 1e-9


def active_share(load: float, routers: int, terminals: int, minimal_share: float | None = None) -> float:
    """Smallest share of the links that can carry a load.

    Parameters
    ----------
    load : float
        Offered load [flits/terminal/cycle].
    routers, terminals : int
        Number of routers and of terminals in the whole network.
    minimal_share : float, optional
        Share of the flits that take one hop; by default (uniform traffic) the share of the active links.

    Returns
    -------
    float
        The smallest share. The share is above 1 if even all links together are not enough.

    Raises
    ------
    WeftError
        If an argument is out of its range.
    """
    if routers < 2 or terminals < 1 or not 0 <= load <= 1:
        what = f"a load of {load:g} flits/terminal/cycle of {terminals} terminals on {routers} routers has no bound"
        raise WeftError.saying(what, "write a load from 0 to 1, 2 or more routers, and 1 or more terminals")
    if minimal_share is not None and not 0 <= minimal_share <= 1:
        raise WeftError.saying(f"minimal traffic can't be a share of {minimal_share:g}", "write a share from 0 to 1")
    offered, capacity = terminals * load, routers**2
    uniform = 2 * offered / (capacity + offered)
    needed = uniform if minimal_share is None else offered * (2 - minimal_share) / capacity
    return max(needed, 2 / routers)  # at least R - 1 of R (R - 1) / 2 links


def active_links(load: float, routers: int, terminals: int, minimal_share: float | None = None) -> int | None:
    """Fewest links that can carry a load; ``None`` if even all links together cannot."""
    links = routers * (routers - 1) // 2
    needed = math.ceil(active_share(load, routers, terminals, minimal_share) * links - _ROUNDING)
    return needed if needed <= links else None


def consolidated(load: float, routers: int, terminals_per_router: int, high_water: float) -> list[tuple[int, int]]:
    """The links that Algorithm 1 of TCEP leaves on under uniform traffic, in a network of one dimension.

    Some routers, k in number, are the inner ones: they keep their links to all routers. The other routers keep only
    their k links to the inner routers. Each of the T terminals of a router offers a load of l flits/cycle, nearly
    always to terminals of other routers. Therefore each of the k links of an outer router carries T l / k. The smallest
    allowed k is T l / U_hwm, rounded up. If this k is larger than the number of routers, all links are on.

    Parameters
    ----------
    load : float
        Offered load [flits/terminal/cycle].
    routers, terminals_per_router : int
        Number of routers in the network, and number of terminals per router.
    high_water : float
        U_hwm: highest allowed load of a link, as a share of its bandwidth; above 0.

    Returns
    -------
    list of (int, int)
        Pairs of routers, the lower number first, in the form that the policy ``static`` reads.

    Raises
    ------
    WeftError
        If an argument is out of its range.
    """
    active_share(load, routers, routers * terminals_per_router)
    if not 0 < high_water <= 1:
        raise WeftError.saying(f"a high-water mark can't be {high_water:g}", "write a share of a link, such as 0.99")
    inner = max(1, math.ceil(min(routers, terminals_per_router * load / high_water) - _ROUNDING))
    return [(a, b) for a in range(inner) for b in range(a + 1, routers)]


def over_load(loads: Sequence[float], routers: int, terminals: int) -> pl.DataFrame:
    """Lower bounds on active links for several loads, under uniform traffic and under traffic that takes only detours.

    Returns
    -------
    polars.DataFrame
        ``load`` [flits/terminal/cycle], ``active_share`` and ``active_links`` for uniform traffic,
        ``non_minimal_share`` and ``non_minimal_links`` for traffic of which every flit takes two hops. A value is null
        if even all links cannot carry the load.
    """
    rows = []
    for load in loads:
        row: dict[str, float | int | None] = {"load": load}
        for name, minimal in (("active", None), ("non_minimal", 0.0)):
            links = active_links(load, routers, terminals, minimal)
            share = active_share(load, routers, terminals, minimal)
            row |= {f"{name}_share": None if links is None else share, f"{name}_links": links}
        rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None)
