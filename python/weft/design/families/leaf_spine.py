"""Computes fat trees of leaves and spines by formula: topologies `fat_tree` with the key `radix` and two levels.

Source: the arithmetic is that of `crates/topology/src/models/fat_tree.rs`, which names the papers. The layout is our
own: a rack per leaf, with the spines spread evenly over these racks.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from weft.design.packaging import Layout, in_racks, square
from weft.design.plan import CUT, EXACT, Plan

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LEVELS = 2


class Sizes(NamedTuple):
    """Numbers of leaves, uplinks per leaf, spines, parallel links from leaf to spine, and terminals of all leaves."""

    leaves: int
    up: int
    spines: int
    trunk: int
    terminals: int


def is_one(parameters: Mapping[str, Any]) -> bool:
    """Whether the parameters of a fat tree describe a tree of leaves and spines."""
    return parameters.get("levels") == LEVELS


def _split(radix: int, ratio: float) -> tuple[int, int]:
    """Numbers of downlinks and uplinks of a leaf, for a ratio of downlinks to uplinks of at most `ratio`."""
    up = math.ceil(radix / (1 + ratio))
    return min(math.floor(up * ratio), radix - up), up


def _sizes(parameters: Mapping[str, Any]) -> Sizes:
    radix = parameters["radix"]
    ratio = next(iter(parameters.get("oversubscription") or []), 1)
    down, up = _split(radix, ratio)
    terminals = parameters.get("terminals") or down * radix
    leaves = math.ceil(terminals / down)
    # if a spine has enough ports for several parallel links to each leaf, the tree needs fewer spines
    trunk = max(width for width in range(1, up + 1) if up % width == 0 and (width == 1 or width * leaves <= radix))
    return Sizes(leaves, up, up // trunk, trunk, terminals)


def plan(parameters: Mapping[str, Any]) -> Plan:
    """Computes the numbers of a network of leaves and spines: routers, terminals, ports, links, distances."""
    leaves, up, spines, trunk, terminals = _sizes(parameters)
    most = math.ceil(terminals / leaves)
    at = square(leaves)
    apart = np.abs(at[_spine_racks(leaves, spines)][:, None, :] - at[None, :, :]).sum(axis=2)
    return Plan(
        routers=leaves + spines,
        terminals=terminals,
        radix=max(most + up, trunk * leaves),
        most_terminals=most,
        links=leaves * up,
        degree=max(up, trunk * leaves),
        diameter=2 if leaves > 1 or spines > 1 else 1,
        # the smaller half has half of the leaves, rounded down. If the halves differ in size, a cut with fewer links
        # possibly exists
        bisection=up * (leaves // 2),
        bisection_kind=EXACT if terminals % leaves == 0 else CUT,
        inside=trunk * spines,
        distance=trunk * int(apart.sum()),
        longest=int(apart.max()),
        racks=leaves,
    )


def _spine_racks(leaves: int, spines: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Index of the rack in which each spine is."""
    return np.arange(spines, dtype=np.int64) * leaves // spines


def layout(parameters: Mapping[str, Any]) -> Layout:
    """Layout with a rack per leaf, which also has an equal share of the spines."""
    sizes = _sizes(parameters)
    racks = [np.arange(sizes.leaves, dtype=np.int64), _spine_racks(sizes.leaves, sizes.spines)]
    return in_racks(np.concatenate(racks), "one rack per leaf, with its share of the spines")


def candidates(terminals: int, radix: int) -> Iterator[dict[str, Any]]:
    """Parameters of trees with exactly `terminals` terminals, for every integer ratio of downlinks to uplinks."""
    for ports in range(3, radix + 1):
        seen = set()
        for ratio in range(1, ports):
            split = _split(ports, ratio)
            leaves = math.ceil(terminals / split[0])
            if split not in seen and 1 < leaves <= ports:
                more = {} if ratio == 1 else {"oversubscription": [ratio]}
                yield {"radix": ports, "levels": LEVELS, **more, "terminals": terminals}
            seen.add(split)
