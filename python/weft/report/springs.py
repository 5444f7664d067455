"""Places the routers of any graph: first by hop distances to a few pivot routers, then by forces between routers.

# Source Brandes and Pich, "Eigensolver methods for progressive multidimensional scaling of large data" (Graph Drawing
2006) for the initial positions; Fruchterman and Reingold, "Graph drawing by force-directed placement" (1991) for the
forces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

# Maximum number of pivots, and minimum number (enough for two axes). More pivots are chosen until the sum of their
# largest distances to a router reaches `_DEPTHS` hops.
_PIVOTS, _FEWEST = 50, 3
_DEPTHS = 5_000
# In every step, every two routers repel each other. Maximum number of steps, of pairs of routers over all steps, and of
# routers (for larger networks there are no steps).
_STEPS = 300
_PAIRS = 30_000_000
_CROWD = 1500


def place(routers: int, start: Ints, end: Ints) -> tuple[Floats, Floats]:
    """Positions of routers in which neighbours are about one unit apart."""
    if routers < 3:
        return np.arange(routers, dtype=float), np.zeros(routers)
    at = _by_distances(routers, start, end)
    steps = min(_STEPS, _PAIRS // routers**2) if routers <= _CROWD else 0
    at = _pushed_apart(at, start, end, steps)
    return at[:, 0], at[:, 1]


def _by_distances(routers: int, start: Ints, end: Ints) -> Floats:
    """Initial positions: the two main axes of the hop distances to pivots, which are routers far from each other."""
    order = np.argsort(np.concatenate([start, end]), kind="stable")
    neighbours = np.concatenate([end, start])[order]
    first = np.searchsorted(np.concatenate([start, end])[order], np.arange(routers + 1))
    nearest = np.full(routers, np.inf)
    columns: list[Floats] = []
    pivot, depths = 0, 0.0
    while len(columns) < min(routers, _PIVOTS if depths < _DEPTHS else _FEWEST):
        distance = _hops(pivot, first, neighbours)
        depths += float(distance.max())
        columns.append(distance)
        nearest = np.minimum(nearest, distance)
        pivot = int(nearest.argmax())
    squares = np.stack(columns, axis=1) ** 2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1, keepdims=True) + squares.mean()
    _, _, axes = np.linalg.svd(centred.T @ centred)
    at = centred @ axes[:2].T
    at /= max(float(np.abs(at).max()), 1e-9) / (0.5 * np.sqrt(routers))
    # routers with equal distances would be drawn at the same position, so a small spiral separates them
    turn = np.arange(routers) * np.pi * (3 - np.sqrt(5))
    radius = 0.3 * np.sqrt((np.arange(routers) + 1) / routers)
    jittered: Floats = at + np.stack([radius * np.cos(turn), radius * np.sin(turn)], axis=1)
    return jittered


def _hops(source: int, first: Ints, neighbours: Ints) -> Floats:
    """Number of hops from a router to all others; unreachable routers count as one hop beyond the farthest router."""
    distance = np.full(len(first) - 1, -1.0)
    distance[source] = 0
    front = np.array([source])
    while front.size:
        depth = distance[front[0]] + 1
        around = np.concatenate([neighbours[first[router] : first[router + 1]] for router in front])
        front = np.unique(around[distance[around] < 0])
        distance[front] = depth
    return np.where(distance < 0, distance.max() + 1, distance)


def _pushed_apart(at: Floats, start: Ints, end: Ints, steps: int) -> Floats:
    """Move the routers in steps: all routers repel each other, and links pull their two ends together.

    Each step is shorter than the one before.
    """
    for step in range(steps):
        apart = at[:, None, :] - at[None, :, :]
        square = np.maximum((apart**2).sum(axis=2), 1e-4)
        force = (apart / square[:, :, None]).sum(axis=1)
        along = at[end] - at[start]
        pull = along * np.hypot(along[:, 0], along[:, 1])[:, None]
        np.add.at(force, start, pull)
        np.add.at(force, end, -pull)
        length = np.maximum(np.hypot(force[:, 0], force[:, 1]), 1e-9)[:, None]
        at = at + force / length * np.minimum(length, 0.3 * (1 - step / steps) + 0.01)
    return at
