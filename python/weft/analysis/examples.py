"""The worked examples with which TCEP (ISCA 2018) explains its two observations and its algorithm.

In Fig. 5 one of two links of a router is switched off, and the figure shows the loads of all links after that. The text
gives only the sums 0.55 and 0.7. We take a minimal flow a from R0 to R1, and a non-minimal flow b from R0 to R3 over
R2. (The text says "over R1", but then the link to R2 would be idle, and so it would be the least used link.) All links
together carry a + 2 b before, 2 a + 2 b without the link R0-R1, and a + 2 b without the link R0-R2; hence a = 0.15 and
b = 0.2.

Fig. 6 divides the links of a router into inner and outer ones; the text gives the sums 1.9 and 1.2. The utilisations in
`FIG6` are chosen to have these sums; they are not the values of the figure.

Fig. 7 shows a router that requests a link between another router and the target of its flow. The text names R6 and R7,
and the two routers between them, R0 and R1. The other links of `indirect_links` are those of the root network.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from weft.analysis.paths import Active

# Utilisation of the links of R3 to R0, R1, R2, R4 and R5 [flits/cycle].
FIG6 = (0.4, 0.4, 0.3, 0.7, 0.5)


class Flow(NamedTuple):
    """Traffic between two routers of a subnetwork.

    Attributes
    ----------
    source, target : int
        The routers at its ends.
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
    """Load of each channel [flits/cycle], shape (R, R); an entry is the channel from the row's router to the column's.

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
    """Fig. 7: the active links of eight routers, shape (8, 8): a star at R0, R6-R7 and R1-R6."""
    active = np.zeros((8, 8), dtype=bool)
    active[0, 1:] = True
    active[6, 7] = active[1, 6] = True
    return active | active.T


def indirect_request(active: Active, source: int, target: int) -> int:
    """The router that receives an indirect request to activate its link to the target of a flow (section IV-B).

    It is the lowest-numbered router over which the flow has no path yet.

    Parameters
    ----------
    active : bool array, shape (R, R)
        The links that are active.
    source, target : int
        The router that sends the request, and the router at which the flow ends.

    Raises
    ------
    ValueError
        If there is a path over every router already.
    """
    for middle in range(len(active)):
        if middle not in (source, target) and not (active[source, middle] and active[middle, target]):
            return middle
    what = f"all paths of two hops from {source} to {target} are active"
    raise ValueError(what)


def dropped_link() -> Mapping[str, npt.NDArray[np.float64]]:
    """Fig. 5: loads of the channels of four routers [flits/cycle], shapes (4, 4).

    ``before`` has all links. ``naive`` lacks the least used link of R0. ``type_aware`` lacks the link of R0 with the
    least minimal traffic.
    """
    active = ~np.eye(4, dtype=bool)
    active[0, 3] = active[3, 0] = False  # R0 has two active links
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
    """Links of a router, divided into inner and outer ones.

    Attributes
    ----------
    boundary : int
        Number of inner links; the outer ones follow.
    inner_budget : float
        Further traffic that the inner links can carry [flits/cycle].
    outer_utilisation : float
        Traffic of the outer links [flits/cycle].
    """

    boundary: int
    inner_budget: float
    outer_utilisation: float


def partition(utilisation: Sequence[float], high_water: float = 1.0) -> Partition:
    """Algorithm 1, corrected.

    Links become inner ones, from the hub on, until the inner links have room for all outer flits.

    Parameters
    ----------
    utilisation : sequence of float
        Utilisation of the active links, by ascending number of the neighbour [flits/cycle].
    high_water : float
        Utilisation up to which a link is filled (U_hwm; it is 1 in Fig. 6).
    """
    spare = [max(0.0, high_water - used) for used in utilisation]
    boundary = 1
    while boundary < len(utilisation) and sum(spare[:boundary]) < sum(utilisation[boundary:]):
        boundary += 1
    return Partition(boundary, sum(spare[:boundary]), sum(utilisation[boundary:]))
