"""Computes fat trees by formula: trees of k pods, and trees of leaves and spines (`leaf_spine`).

Source: M. Al-Fares, A. Loukissas, A. Vahdat, "A Scalable, Commodity Data Center Network Architecture", SIGCOMM'08. The
layout is our own: a rack per pod, with an equal share of the core routers in each rack.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from weft.design.families import leaf_spine
from weft.design.packaging import Layout, in_racks, square, square_pairs
from weft.design.plan import EXACT, Plan

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def plan(parameters: Mapping[str, Any]) -> Plan:
    """Computes the numbers of a tree of leaves and spines, or of a tree of pods.

    `MeasuredDesign` ignores these numbers if they do not match the graph, because the graph is a different tree.
    """
    if leaf_spine.is_one(parameters):
        return leaf_spine.plan(parameters)
    k = parameters.get("k") or parameters["radix"]
    half = k // 2
    inside, distance = _core_cables(k)
    return Plan(
        routers=5 * half * half,
        terminals=2 * half**3,
        radix=k,
        most_terminals=half,
        links=4 * half**3,
        degree=k,
        diameter=4,
        bisection=half * (k * half // 2),
        bisection_kind=EXACT,
        inside=2 * half**3 + inside,
        distance=distance,
        longest=int(square(k).max(axis=0).sum()),
        racks=k,
    )


def _core_racks(k: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Index of the rack in which each core router is."""
    cores = (k // 2) ** 2
    return np.arange(cores, dtype=np.int64) * k // cores


def _core_cables(k: int) -> tuple[int, int]:
    """Number of links of core routers inside racks (one per router), and total length of their others [pitches]."""
    racks = _core_racks(k)
    if (k // 2) ** 2 % k == 0:  # each rack holds the same number of core routers
        return len(racks), len(racks) // k * 2 * square_pairs(k)
    at = square(k)
    counts = np.bincount(racks, minlength=k)
    distances = np.abs(at[:, None, :] - at[None, :, :]).sum(axis=(1, 2))
    return len(racks), int((counts * distances).sum())


def layout(parameters: Mapping[str, Any]) -> Layout | None:
    """Layout with a rack per pod and an equal share of the core routers in each rack, or with a rack per leaf."""
    if leaf_spine.is_one(parameters):
        return leaf_spine.layout(parameters)
    if "k" not in parameters:
        return None
    k = parameters["k"]
    pods = np.arange(k * k // 2, dtype=np.int64) // (k // 2)
    return in_racks(np.concatenate([pods, pods, _core_racks(k)]), "one rack per pod, with its share of the cores")


def candidates(terminals: int, radix: int) -> Iterator[dict[str, Any]]:
    """Parameters of all fat trees of pods with enough terminals, and of all trees of leaves and spines."""
    yield from ({"k": k} for k in range(4, radix + 1, 2) if k**3 // 4 >= terminals)
    yield from leaf_spine.candidates(terminals, radix)
