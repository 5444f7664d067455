"""Bisection by partitioning: METIS proposes halves, the engine balances and improves them; the best of many seeds.

Source: G. Karypis, V. Kumar, "A Fast and High Quality Multilevel Scheme for Partitioning Irregular Graphs", SIAM J.
Sci. Comput. 20(1), 1998. A cut that was found is an upper bound of the bisection. Where all routers have equally many
terminals, the second smallest eigenvalue of the Laplacian gives a lower bound (M. Fiedler, "Algebraic Connectivity of
Graphs", Czechoslovak Math. J. 23, 1973; B. Mohar, "Isoperimetric Numbers of Graphs", JCTB 47, 1989).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pymetis

if TYPE_CHECKING:
    import numpy.typing as npt

    from weft._engine import Design

# Routers up to which eigenvalues are computed: a dense matrix of this size squared takes some seconds.
MOST_ROUTERS = 2000


def adjacency(links: npt.NDArray[np.uint32], routers: int) -> tuple[npt.NDArray[np.int32], ...]:
    """Rows of the graph without parallel links, one after the other: where each begins, neighbours, number of links."""
    ends = links[:, :2].astype(np.int64)
    both = np.concatenate([ends, ends[:, ::-1]])
    keys, counts = np.unique(both[:, 0] * routers + both[:, 1], return_counts=True)
    near, far = np.divmod(keys, routers)
    starts = np.searchsorted(near, np.arange(routers + 1))
    return starts.astype(np.int32), far.astype(np.int32), counts.astype(np.int32)


def best(design: Design, links: npt.NDArray[np.uint32], terminals: npt.NDArray[np.uint32], seeds: int) -> int:
    """Links of the smallest balanced cut of METIS over `seeds` seeds.

    Balanced: the terminals of the halves differ by no more than those of one router.
    """
    if len(terminals) < 2:
        return 0
    starts, far, counts = adjacency(links, len(terminals))
    graph = pymetis.CSRAdjacency(starts, far)
    found = []
    for seed in range(seeds):
        options = pymetis.Options(seed=seed, ufactor=1, ncuts=2)
        _, halves = pymetis.part_graph(
            2, graph, vweights=terminals.astype(np.int32), eweights=counts, recursive=True, options=options
        )
        cut, _ = design.improved_halves(np.asarray(halves, dtype=np.uint8).tobytes())
        found.append(cut)
    return min(found)


def spectral_bound(links: npt.NDArray[np.uint32], terminals: npt.NDArray[np.uint32]) -> int | None:
    """Links that every balanced cut has at least; ``None`` where routers have unequal terminals, or are too many.

    The halves of an odd number of routers differ by one router.
    """
    routers = len(terminals)
    if not 2 <= routers <= MOST_ROUTERS or len(set(terminals.tolist())) > 1:
        return None
    laplacian = np.zeros((routers, routers))
    near, far = links[:, 0], links[:, 1]
    np.add.at(laplacian, (near, far), -1.0)
    np.add.at(laplacian, (far, near), -1.0)
    np.fill_diagonal(laplacian, -laplacian.sum(axis=1))
    connectivity = float(np.linalg.eigvalsh(laplacian)[1])
    pairs = (routers // 2) * (routers - routers // 2)
    return math.ceil(connectivity * pairs / routers - 1e-6)
