"""Computes k-ary n-trees of two and three levels by formula.

Source: F. Petrini, M. Vanneschi, "k-ary n-trees: High Performance Networks for Massively Parallel Architectures",
IPPS'97. The layout is our own: a rack holds leaves with the routers above them, and an equal share of the routers of
each other level. In a tree of only two levels, a rack holds one leaf.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from weft.design.packaging import Layout, in_racks, square, square_pairs
from weft.design.plan import EXACT, Plan

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def plan(parameters: Mapping[str, Any]) -> Plan:
    """Computes the numbers of a tree of two or three levels."""
    k, n = parameters["k"], parameters["n"]
    leaves = k ** (n - 1)
    # these trees have k racks. The number of links from any rack to any other equals the number of top-level routers in
    # a rack
    tops = leaves // k
    return Plan(
        routers=n * leaves,
        terminals=k**n,
        radix=2 * k,
        most_terminals=k,
        links=(n - 1) * k**n,
        degree=2 * k if n > 2 else k,
        diameter=2 * (n - 1),
        bisection=k * (leaves // 2),
        bisection_kind=EXACT,
        inside=(n - 2) * k**n + tops * k,
        distance=2 * tops * square_pairs(k),
        longest=int(square(k).max(axis=0).sum()),
        racks=k,
    )


def layout(parameters: Mapping[str, Any]) -> Layout:
    """Layout with a rack per subtree of two levels."""
    k, n = parameters["k"], parameters["n"]
    position = np.arange(k ** (n - 1), dtype=np.int64)
    racks = position if n <= 2 else position // k
    return in_racks(
        np.tile(racks, n), "one rack per leaf, with a top router" if n <= 2 else "one rack per subtree of two levels"
    )


def candidates(terminals: int, radix: int) -> Iterator[dict[str, Any]]:
    """Parameters of all trees of two and three levels with enough terminals."""
    return ({"k": k, "n": n} for n in (2, 3) for k in range(2, radix // 2 + 1) if k**n >= terminals)
