"""Recomputes the worked examples with which TCEP (ISCA 2018) explains its two observations and its algorithm.

In Fig. 5 a router switches off one of its two links, and the figure shows the loads of all links after that. The text
of the paper gives only two sums of loads, 0.55 and 0.7. We assume a minimal flow a from R0 to R1, and a non-minimal
flow b from R0 to R3 over R2. The paper says "over R1", but over R1 the link from R0 to R2 would be idle and therefore
the least used. Before the change, all links together carry a + 2 b. Without the link R0-R1 they carry 2 a + 2 b, which
is 0.7. Without the link R0-R2 they carry a + 2 b, which is 0.55. Hence a = 0.15 and b = 0.2.

Fig. 6 divides the links of a router into inner and outer ones; the text gives only the sums of their utilisations, 1.9
and 1.2. The utilisations in `FIG6` are chosen to have these sums; they are not the values of the figure.

In Fig. 7 a router requests that another router activates its link to the target of a flow. The text on Fig. 7 says that
the flow is between R6 and R7, and that its two-hop paths use R0 and R1. The other links of `indirect_links` are those
of the root network (the links of R0, which are always on).
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from weft.analysis.paths import Active

# Utilisation of the five links of R3 in Fig. 6, which lead to R0, R1, R2, R4 and R5 [flits/cycle].
FIG6 = (0.4, 0.4, 0.3, 0.7, 0.5)


class Flow(NamedTuple):
    """A flow of traffic between two routers of a subnetwork.

    Attributes
    ----------
    source, target : int
        The routers at the ends of the flow.
    rate : float
        Rate of the flow [flits/cycle].
    over : tuple of int
        Intermediate routers, the preferred one first; empty if the flow prefers the link between its routers.
    """

    source: int
    target: int
    rate: float
    over: tuple[int, ...] = ()


def route(active: Active, flows: Sequence[Flow]) -> npt.NDArray[np.float64]:
    """Load of each channel [flits/cycle]; shape (R, R), with senders as rows and receivers as columns.

    A flow without intermediate routers takes the link between its two routers if that link is active. Any other flow
    takes the first two-hop path whose links are active.
    """
    routers = active.shape[-1]
    load = np.zeros((routers, routers))
    for flow in flows:
        paths: list[tuple[int, ...]] = [] if flow.over else [(flow.source, flow.target)]
        paths += [(flow.source, middle, flow.target) for middle in flow.over or range(routers)]
        path = next(path for path in paths if all(active[hop] for hop in pairwise(path)))
        for hop in pairwise(path):
            load[hop] += flow.rate
    return load


def indirect_links() -> Active:
    """Active links of the eight routers in Fig. 7, shape (8, 8): a star at R0, and the links R6-R7 and R1-R6."""
    active = np.zeros((8, 8), dtype=bool)
    active[0, 1:] = True
    active[6, 7] = active[1, 6] = True
    return active | active.T


def indirect_request(active: Active, source: int, target: int) -> int:
    """Number of the router from which `source` requests a link to the target of a flow (section IV-B).

    The result is the lowest-numbered router over which the flow has no two-hop path yet.

    Parameters
    ----------
    active : bool array, shape (R, R)
        True for each pair of routers whose link is active.
    source, target : int
        The router that sends the request, and the router at which the flow ends.

    Raises
    ------
    ValueError
        If there is already a two-hop path over every router.
    """
    for middle in range(len(active)):
        if middle not in (source, target) and not (active[source, middle] and active[middle, target]):
            return middle
    what = f"all paths of two hops from {source} to {target} are active"
    raise ValueError(what)


def dropped_link() -> Mapping[str, npt.NDArray[np.float64]]:
    """Loads of the channels between the four routers in Fig. 5 [flits/cycle], as arrays of shape (4, 4).

    In the entry ``before`` all links are on. In ``naive`` the least used link of R0 is off. In ``type_aware`` the link
    of R0 with the least minimal traffic is off.
    """
    active = ~np.eye(4, dtype=bool)
    active[0, 3] = active[3, 0] = False  # the link R0-R3 is off, so R0 has two active links
    flows = (Flow(0, 1, 0.15), Flow(0, 3, 0.2, over=(2, 1)))
    before = route(active, flows)
    used = {far: max(before[0, far], before[far, 0]) for far in (1, 2)}
    minimal = {far: sum(flow.rate for flow in flows if not flow.over and flow.target == far) for far in (1, 2)}
    loads = {"before": before}
    for name, amounts in (("naive", used), ("type_aware", minimal)):
        far = min(amounts, key=lambda router: amounts[router])
        fewer = active.copy()
        fewer[0, far] = fewer[far, 0] = False
        loads[name] = route(fewer, flows)
    return loads


class Partition(NamedTuple):
    """Division of the links of a router into inner and outer links.

    Attributes
    ----------
    boundary : int
        Number of inner links, which are the first links; the other links are outer.
    inner_budget : float
        Further traffic that the inner links can carry [flits/cycle].
    outer_utilisation : float
        Traffic of the outer links [flits/cycle].
    """

    boundary: int
    inner_budget: float
    outer_utilisation: float


def partition(utilisation: Sequence[float], high_water: float = 1.0) -> Partition:
    """Runs Algorithm 1 of TCEP, with an error of the printed algorithm corrected.

    Links become inner ones one after the other, starting with the link to the hub. The algorithm ends when the spare
    bandwidth of the inner links suffices for all flits of the outer links.

    Parameters
    ----------
    utilisation : sequence of float
        Utilisation of the active links, by ascending number of the neighbour [flits/cycle].
    high_water : float
        Utilisation up to which a link is filled (U_hwm, which is 1 in Fig. 6).
    """
    spare = [max(0.0, high_water - used) for used in utilisation]
    boundary = 1
    while boundary < len(utilisation) and sum(spare[:boundary]) < sum(utilisation[boundary:]):
        boundary += 1
    return Partition(boundary, sum(spare[:boundary]), sum(utilisation[boundary:]))
