"""Computes the places of routers in racks, and the lengths of the cables between them.

Source: FleX (IEEE Access 2022), section IV-A and Fig. 7. A rack holds routers and their terminals, and racks form a
grid. The length of a cable between two places is their Manhattan distance plus a constant overhead.

Grids have one rule, and all other networks another. On a grid (HyperX, mesh, torus, FleX) each router has a separate
place. Neighbouring places have a distance of one pitch along every axis, and the overhead is added to every cable. In
other networks a rack holds a group, a pod, or a number of routers. All cables inside a rack have the same length, and
the racks fill a grid that is as square as possible. The rings of tori are folded, so that their cables are at most two
pitches long. The rules for grids and for other networks assume that a rack is large enough for its routers and
terminals.

If the user gives the size of a rack (routers, terminals, or both), the lines, groups or pods of any network fill the
racks one after the other. The next line, group or pod starts in the rack in which the previous one ended, if this rack
has enough room. A line, group or pod that is larger than a rack is divided. These racks also fill a grid that is as
square as possible. This rule for racks of a given size is our own.
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
    """Distances between racks, overhead of cables, and size of racks.

    Attributes
    ----------
    pitch_m : float
        Distance between neighbouring racks, or between neighbouring places of routers on a grid [m].
    overhead_m : float
        Length of a cable between racks minus the distance of the racks [m].
    inside_m : float
        Length of a cable inside a rack [m].
    terminal_m : float
        Length of the cable of a terminal [m].
    routers_per_rack, terminals_per_rack : int or None
        Maximum number of routers and of terminals in a rack; ``None`` means no maximum. If both are ``None``, a rack
        holds all routers that belong together, such as a group or pod.
    """

    pitch_m: float = 1.0
    overhead_m: float = 2.0
    inside_m: float = 1.0
    terminal_m: float = 1.0
    routers_per_rack: int | None = None
    terminals_per_rack: int | None = None

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name.endswith("_m") and not 0 <= value < math.inf:
                raise WeftError.saying(f"packaging: {each.name} is {value}", "write a length of 0 m or more")
            if value is not None and not each.name.endswith("_m") and value < 1:
                raise WeftError.saying(f"packaging: {each.name} is {value}", "write 1 or more")

    @property
    def has_sizes(self) -> bool:
        """Whether the size of a rack is limited."""
        return self.routers_per_rack is not None or self.terminals_per_rack is not None

    @property
    def sizes(self) -> str:
        """The size of a rack, as a string."""
        parts = [(self.routers_per_rack, "routers"), (self.terminals_per_rack, "terminals")]
        return " and ".join(f"{most} {what}" for most, what in parts if most is not None)


@dataclass(frozen=True)
class Layout:
    """Positions of the routers of a network, and their racks.

    Attributes
    ----------
    places : array of int, shape (routers, axes)
        Position of each router [pitches].
    racks : array of int, shape (routers,)
        Index of the rack of each router.
    rule : str
        Text that describes the rule of the layout.
    is_grid : bool
        True if the overhead is added to every cable, even to a cable between two routers of the same rack.
    """

    places: Whole
    racks: Whole
    rule: str
    is_grid: bool = False

    @property
    def rack_count(self) -> int:
        """Number of racks."""
        return int(self.racks.max()) + 1

    def lengths(self, links: npt.NDArray[np.uint32], packaging: Packaging) -> npt.NDArray[np.float64]:
        """Length of each link [m], shape (links,); the first columns of `links` are the two ends."""
        near, far = (self.places[links[:, end].astype(np.int64)] for end in (0, 1))
        apart = np.abs(near - far).sum(axis=1)
        metres: npt.NDArray[np.float64] = packaging.pitch_m * apart + packaging.overhead_m
        inside = self.racks[links[:, 0]] == self.racks[links[:, 1]]
        return metres if self.is_grid else np.where(inside, packaging.inside_m, metres)


def square(racks: int) -> Whole:
    """Row and column of each rack, in a grid of racks that is as square as possible; shape (racks, 2)."""
    columns = math.isqrt(max(racks - 1, 0)) + 1
    return np.stack(np.divmod(np.arange(racks), columns), axis=1)


@cache
def square_pairs(racks: int) -> int:
    """Sum of the distances of all pairs of racks in the layout of `square` [pitches]."""
    total = 0
    for axis in square(racks).T:
        counts = np.bincount(axis)
        # each boundary between neighbouring rows (or columns) adds 1 to the distance of every two racks on different
        # sides of it
        before = np.cumsum(counts)[:-1]
        total += int((before * (racks - before)).sum())
    return total


def folded(width: int) -> Whole:
    """Position in a row of each router of a folded ring.

    The first half of the ring uses every second place of the row. The other half, in reverse direction, uses the places
    between these.
    """
    ring = np.arange(width)
    half = (width + 1) // 2
    return np.where(ring < half, 2 * ring, 2 * (width - ring) - 1)


def in_racks(racks: Whole, rule: str) -> Layout:
    """Layout of routers for which `racks` has the index of each router's rack, with the racks in a square."""
    return Layout(square(int(racks.max()) + 1)[racks], racks, rule)


def filled(natural: Layout, terminals: npt.NDArray[np.uint32], packaging: Packaging) -> Layout:
    """Layout of a network in racks of a given size (`Packaging.has_sizes`).

    Parameters
    ----------
    natural : Layout
        Layout in racks of unlimited size. Routers that share a rack in this layout belong together (line, group or
        pod).
    terminals : array of int, shape (routers,)
        Number of terminals of each router.
    packaging : Packaging
        The size of a rack.

    Raises
    ------
    WeftError
        If a router and its terminals do not fit into a rack.
    """
    limits = (packaging.routers_per_rack, packaging.terminals_per_rack)
    most = np.array([math.inf if limit is None else limit for limit in limits])
    if terminals.max() > most[1]:
        what = f"a router with {terminals.max()} terminals does not fit into a rack of {packaging.sizes}"
        raise WeftError.saying(what, f"allow {terminals.max()} terminals per rack, or use fewer terminals per router")
    racks, rack, used = np.empty(len(terminals), dtype=np.int64), 0, np.zeros(2)
    order = np.argsort(natural.racks, kind="stable")
    for unit in np.split(order, np.flatnonzero(np.diff(natural.racks[order])) + 1):
        fits = (np.array([len(unit), terminals[unit].sum()]) <= most).all()
        for part in [unit] if fits else np.split(unit, len(unit)):
            size = np.array([len(part), terminals[part].sum()], dtype=float)
            if (used + size > most).any():
                rack, used = rack + 1, np.zeros(2)
            racks[part], used = rack, used + size
    return in_racks(
        racks, f"racks of at most {packaging.sizes}, filled one after the other; without limits: {natural.rule}"
    )
