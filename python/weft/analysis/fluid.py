"""Estimates the load of each channel of a HyperX in which some links are off.

The loads come from a fluid model of progressive adaptive routing.

Source: TCEP (ISCA 2018), section IV-E. A packet corrects its coordinates in ascending order of the dimensions of the
HyperX. In each dimension the packet takes the link to its target coordinate, or two links over another router of the
same line. A line is a subnetwork: the routers that differ in one coordinate, each linked with all others. Each line is
solved separately, because its demand does not depend on which links of other lines are on.

If the link between two routers of a line is active, their traffic first fills this link up to a target load. The rest
of their traffic is spread evenly over the two-hop paths with active links, as if each packet chose one of these paths
at random.

Parameters: demand [flits/cycle] and the target up to which active links are filled. If the bandwidth of a channel is
not one flit per cycle, demand and target are given as shares of the bandwidth. Guarantees: no flits are lost or added,
and no inactive link carries flits. Not modelled: bursts, queues, packets, and the order in which packets choose.
Validation: tests follow paths in dimension order, and compare small networks with loads computed by hand.

Shapes: a line of k routers has a demand matrix (k, k), and a boolean, symmetric matrix (k, k) of active links. Rows are
the sending routers, and columns are the receiving routers.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from weft.analysis.paths import Active

    Rates = npt.NDArray[np.float64]

# Number of rounds. In each round, two-hop traffic of other pairs takes a part of the target load of a link, and traffic
# between the two routers of the link gets the rest. The result is the round whose busiest channel has the least load.
_ROUNDS = 8


class Line(NamedTuple):
    """A subnetwork of a HyperX: the routers that differ in one coordinate, with the traffic between them.

    Attributes
    ----------
    dimension : int
        Index of the dimension in which the routers of the line differ.
    routers : ndarray
        Numbers of the routers, in the order of the coordinate; shape (k,).
    demand : ndarray
        Flits per cycle from one router (row) to another (column); shape (k, k). The diagonal is zero.
    """

    dimension: int
    routers: npt.NDArray[np.int64]
    demand: Rates


class Loads(NamedTuple):
    """Flits that the channels of a line carry [flits/cycle].

    Attributes
    ----------
    direct : ndarray
        Part of the load that is traffic between the two routers at the ends of the channel; shape (k, k).
    channels : ndarray
        Total load of each channel; shape (k, k).
    """

    direct: Rates
    channels: Rates

    @property
    def busiest(self) -> float:
        """Load of the busiest channel [flits/cycle]."""
        return float(self.channels.max())


def lines(widths: Sequence[int], matrix: npt.ArrayLike) -> Iterator[Line]:
    """Yields each subnetwork of a HyperX with its demand.

    Parameters
    ----------
    widths : sequence of int
        Routers per dimension; the lowest dimension changes fastest in router numbers.
    matrix : array_like
        Flits per cycle from router (row) to router (column); shape (R, R).
    """
    n = len(widths)
    shape = tuple(reversed(widths))  # array axis n - 1 - d is dimension d
    rates = np.asarray(matrix, dtype=float).reshape(shape + shape)
    numbers = np.arange(math.prod(widths)).reshape(shape)
    for d in range(n):
        axis = n - 1 - d
        # When a packet crosses dimension d, its lower coordinates are already those of the destination, and its higher
        # coordinates are still those of the source.
        lower_sources = tuple(range(axis + 1, n))
        higher_targets = tuple(range(n, n + axis))
        demand = rates.sum(axis=lower_sources + higher_targets)
        # remaining axes: first source axes 0..axis, then target axes axis..n-1
        demand = np.moveaxis(demand, axis, -1)  # the source's coordinate becomes the last axis
        demand = np.moveaxis(demand, axis, -1)  # and the target's coordinate becomes the axis after it
        along = np.moveaxis(numbers, axis, -1)
        width = widths[d]
        for routers, of_line in zip(along.reshape(-1, width), demand.reshape(-1, width, width), strict=True):
            crossing = of_line.copy()
            np.fill_diagonal(crossing, 0)
            yield Line(d, routers, crossing)


def spread(demand: Rates, active: Active, target: float) -> Loads:
    """Computes the loads of the channels of a line, with each active link filled up to `target` [flits/cycle].

    If two linked routers have no two-hop path, all traffic between them takes the link.
    """
    links = active.astype(float)
    paths = links @ links  # two-hop paths of each pair
    share = np.divide(1.0, paths, out=np.zeros_like(paths), where=paths > 0)
    alone = active & (paths == 0)
    direct = np.where(active, np.minimum(demand, target), 0)
    direct[alone] = demand[alone]
    best: Loads | None = None
    for _ in range(_ROUNDS):
        each = (demand - direct) * share  # load on each two-hop path of a pair
        detours = links * (each @ links + links @ each)
        loads = Loads(direct, direct + detours)
        if best is None or loads.busiest < best.busiest:
            best = loads
        if loads.busiest <= target:
            break
        direct = np.where(active & ~alone, np.clip(target - detours, 0, demand), direct)
    assert best is not None
    return best
