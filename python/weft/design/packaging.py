"""Where routers stand, and how long the cables between them are.

Source: FleX (IEEE Access 2022), section IV-A and Fig. 7. Routers and their terminals share racks; the racks stand in a
grid. A cable between two places is as long as their Manhattan distance plus an overhead.

Two rules cover all networks. On a grid (HyperX, mesh, torus, FleX) each router has a place of its own, one pitch from
the next along every axis, and every cable has the overhead. Elsewhere a group, a pod or a number of routers share a
rack, cables inside a rack have one length, and racks fill a grid that is as square as possible. Rings are folded, so
that no cable of theirs is longer than two pitches.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from weft.errors import WeftError

if TYPE_CHECKING:
    import numpy.typing as npt

    Whole = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Packaging:
    """How far things are apart.

    Attributes
    ----------
    pitch_m : float
        From one rack, or place of a router on a grid, to the next [m].
    overhead_m : float
        What a cable between racks is longer than their distance [m].
    inside_m : float
        Length of a cable inside a rack [m].
    terminal_m : float
        Length of the cable of a terminal [m].
    routers_per_rack : int
        Routers that share a rack where the network has no order.
    """

    pitch_m: float = 1.0
    overhead_m: float = 2.0
    inside_m: float = 1.0
    terminal_m: float = 1.0
    routers_per_rack: int = 16

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if not (value > 0 if each.name == "routers_per_rack" else 0 <= value < math.inf):
                raise WeftError.saying(
                    f"packaging: {each.name} is {value}", "write a length of 0 or more, and 1 router or more"
                )


@dataclass(frozen=True)
class Layout:
    """Where the routers stand.

    Attributes
    ----------
    places : array of int, shape (routers, axes)
        Place of each router [pitches].
    racks : array of int, shape (routers,)
        The rack of each router; empty if every cable has the overhead.
    rack_count : int
        Number of racks.
    rule : str
        The rule, in words.
    """

    places: Whole
    racks: Whole
    rack_count: int
    rule: str

    def lengths(self, links: npt.NDArray[np.uint32], packaging: Packaging) -> npt.NDArray[np.float64]:
        """Length of each link [m], shape (links,); `links` has their two ends in its first columns."""
        near, far = (self.places[links[:, end].astype(np.int64)] for end in (0, 1))
        apart = np.abs(near - far).sum(axis=1)
        metres: npt.NDArray[np.float64] = packaging.pitch_m * apart + packaging.overhead_m
        if not len(self.racks):
            return metres
        inside = self.racks[links[:, 0]] == self.racks[links[:, 1]]
        return np.where(inside, packaging.inside_m, metres)


def square(racks: int) -> Whole:
    """Row and column of each rack in a grid that is as square as possible; shape (racks, 2)."""
    columns = math.isqrt(max(racks - 1, 0)) + 1
    return np.stack(np.divmod(np.arange(racks), columns), axis=1)


@cache
def square_pairs(racks: int) -> int:
    """Sum of the distances of all pairs of racks of `square` [pitches]."""
    total = 0
    for axis in square(racks).T:
        counts = np.bincount(axis)
        # a pair is as far apart as there are steps between its two sides
        before = np.cumsum(counts)[:-1]
        total += int((before * (racks - before)).sum())
    return total


def folded(width: int) -> Whole:
    """Place of each router of a ring in a row: up on every second place, and down on the others."""
    ring = np.arange(width)
    half = (width + 1) // 2
    return np.where(ring < half, 2 * ring, 2 * (width - ring) - 1)


def in_racks(racks: Whole, rule: str) -> Layout:
    """Routers in numbered racks."""
    count = int(racks.max()) + 1
    return Layout(square(count)[racks], racks, count, rule)


def on_grid(places: Whole, racks: int, rule: str) -> Layout:
    """Routers with a place of their own."""
    return Layout(places, np.empty(0, dtype=np.int64), racks, rule)
