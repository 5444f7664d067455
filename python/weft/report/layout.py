"""Places routers in the drawing of a network, and bends links around routers that are between their two ends.

The unit of length is the distance between neighbouring routers of a row, and the axis y points down. The same network
always gives the same drawing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from weft.report import springs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

# Sizes for grids, in units of the drawing: distance between neighbouring routers along dimension 0 (horizontal) and
# dimension 1 (vertical); horizontal and vertical distance along dimension 2; empty space between the tiles that show
# further dimensions.
_CELL = (1.4, 1.0)
_ASLANT = (0.7, 0.5)
_GAP = 1.2
# Largest bend of a link within a row of a grid, for up to two dimensions and for more. A bent link must not touch the
# routers of the next row, which is nearer if there are three dimensions.
_BEND, _BEND_ASLANT = 0.78, 0.4
# Ratio of width to height of the drawing of a tree.
_TREE_ASPECT = 2.2


@dataclass(frozen=True)
class Layout:
    """Positions and shapes from which a network is drawn.

    Attributes
    ----------
    x, y : array
        Position of each router.
    bend : array
        Distance of the middle of each link from the straight line, to the left of its direction.
    words : str
        A line of text on how routers are placed.
    """

    x: Floats
    y: Floats
    bend: Floats
    words: str


def lay_out(network: Mapping[str, Any], routers: int, start: Ints, end: Ints) -> Layout:
    """Place the routers of a network in a drawing.

    Parameters
    ----------
    network : mapping
        The network, as returned by `weft._engine.Point.network`.
    routers : int
        Number of routers.
    start, end : array of int
        Routers at the ends of each link.
    """
    places: Sequence[Sequence[int]] = network["routers"]
    straight = np.zeros(len(start))
    match network["kind"]:
        case "grid" if len(network["widths"]) == 1 and _beyond_neighbours(start, end):
            return Layout(*_circle(routers), straight, "routers on a circle, ordered by number")
        case "grid":
            digits = np.asarray(places).reshape(routers, -1)
            x, y = _tiles(digits, network["widths"])
            bend = _arcs(digits, x, y, start, end)
            return Layout(x, y, bend, _grid_words(network["widths"]))
        case "groups":
            levels = network["levels"]
            x, y = _groups(np.asarray(places).reshape(routers, -1), np.asarray(levels or [0] * routers))
            inside = ", higher levels inside" if levels else ""
            return Layout(x, y, straight, f"groups on a circle, the routers of each group on a small circle{inside}")
        case "levels":
            x, y = _levels(np.asarray(places).reshape(routers, -1))
            return Layout(x, y, straight, "one row per level, with the leaf routers at the bottom")
    x, y = springs.place(routers, start, end)
    return Layout(x, y, straight, "routers with few hops between them are close to each other")


def _beyond_neighbours(start: Ints, end: Ints) -> bool:
    return bool(np.any(np.abs(start - end) > 1))


def _circle(count: int, radius: float | None = None) -> tuple[Floats, Floats]:
    """Positions on a circle, one unit apart, clockwise from the top.

    A single position is in the middle of the circle.
    """
    if radius is None:
        radius = 0.0 if count < 2 else 0.5 / float(np.sin(np.pi / count))
    angle = 2 * np.pi * np.arange(count) / max(count, 1)
    return radius * np.sin(angle), -radius * np.cos(angle)


def _tiles(digits: Ints, widths: Sequence[int]) -> tuple[Floats, Floats]:
    """Positions of the routers of a grid.

    Dimension 0 points to the right, 1 down, and 2 diagonally within a cell. Routers with equal coordinates in all
    further dimensions form a tile. The further dimensions are rows and columns of tiles.
    """
    at = [np.zeros(len(digits)), np.zeros(len(digits))]
    pitch, extent = list(_CELL), [0.0, 0.0]
    if len(widths) > 2:
        for axis, step in enumerate(_ASLANT):
            at[axis] += digits[:, 2] * step
            extent[axis] = (widths[2] - 1) * step
            pitch[axis] += extent[axis]
    for place, dimension in enumerate(each for each in range(len(widths)) if each != 2):
        axis = place % 2
        if place >= 2:
            pitch[axis] = extent[axis] + _CELL[axis] + _GAP
        at[axis] += digits[:, dimension] * pitch[axis]
        extent[axis] += (widths[dimension] - 1) * pitch[axis]
    return at[0], at[1]


def _grid_words(widths: Sequence[int]) -> str:
    words = ["dimension 0 from left to right", "1 from top to bottom", "2 diagonal"][: len(widths)]
    if len(widths) > 3:
        words.append(f"{' and '.join(map(str, range(3, len(widths))))} from tile to tile")
    return ", ".join(words)


def _arcs(digits: Ints, x: Floats, y: Floats, start: Ints, end: Ints) -> Floats:
    """Bends of the links of a grid.

    If a link passes other routers of its row, it is bent; the longer the link, the larger the bend.
    """
    steps = np.abs(digits[end] - digits[start]).max(axis=1)
    far = steps / max(int(digits.max()), 2)
    dimensions = digits.shape[1]
    most = _BEND if dimensions < 3 else _BEND_ASLANT
    bend = np.where(steps > 1, most * (0.15 + 0.85 * far), 0.0)
    # links bend up or to the left, whichever of their ends is named first
    forward = (x[end] - x[start] > 0) | ((x[end] == x[start]) & (y[end] > y[start]))
    vertical = x[end] == x[start]
    return np.where(forward ^ vertical, bend, -bend)


def _groups(places: Ints, levels: Ints) -> tuple[Floats, Floats]:
    """Positions of routers in groups: each group is a small circle of routers, and the groups form a large circle."""
    group = places[:, 0]
    count = int(group.max()) + 1
    x, y = _rings(_ranks(group, levels), levels)
    each = 2 * float(np.hypot(x, y).max()) + 1.5
    around = 0.0 if count < 2 else each / 2 / float(np.sin(np.pi / count))
    middle_x, middle_y = _circle(count, around)
    # each group is turned so that its first router is on the outer side
    angle = 2 * np.pi * group / max(count, 1)
    turned_x = x * np.cos(angle) - y * np.sin(angle)
    turned_y = x * np.sin(angle) + y * np.cos(angle)
    return middle_x[group] + turned_x, middle_y[group] + turned_y


def _ranks(group: Ints, levels: Ints) -> Ints:
    """Index of each router within its group and level."""
    met: Counter[tuple[int, int]] = Counter()
    ranks = np.zeros(len(group), dtype=np.int64)
    for router, place in enumerate(zip(group.tolist(), levels.tolist(), strict=True)):
        ranks[router] = met[place]
        met[place] += 1
    return ranks


def _rings(ranks: Ints, levels: Ints) -> tuple[Floats, Floats]:
    """Positions on concentric circles, one per level, with level 0 outermost. Routers are at least one unit apart."""
    x, y = np.zeros(len(ranks)), np.zeros(len(ranks))
    least = 0.0
    for level in sorted(set(levels.tolist()), reverse=True):
        on = levels == level
        size = int(ranks[on].max()) + 1
        ring_x, ring_y = _circle(size)
        if np.hypot(ring_x, ring_y).max() < least:
            ring_x, ring_y = _circle(size, least)
        x[on], y[on] = ring_x[ranks[on]], ring_y[ranks[on]]
        least = float(np.hypot(ring_x, ring_y).max()) + 1.0
    return x, y


def _levels(places: Ints) -> tuple[Floats, Floats]:
    """Positions in rows of equal width: a row per level, with level 0 at the bottom."""
    level, index = places[:, 0], places[:, 1]
    top = int(level.max())
    counts = np.array([int(index[level == each].max(initial=0)) + 1 for each in range(top + 1)])
    width = float(counts.max())
    height = max(width / _TREE_ASPECT, float(top))
    x = (index + 0.5) * width / counts[level]
    y = (top - level) * height / max(top, 1)
    return x, y
