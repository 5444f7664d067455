"""Finds the bisection of a network by graph partitioning.

A bisection divides the routers into two halves with as few links between them as possible. The library METIS proposes
halves for each of many random seeds, and the engine balances and improves them. The cut with the fewest links is kept.

Source: G. Karypis, V. Kumar, "A Fast and High Quality Multilevel Scheme for Partitioning Irregular Graphs", SIAM J.
Sci. Comput. 20(1), 1998. The links of any cut that is found in this way are an upper bound of the bisection. If all
routers have the same number of terminals, the second smallest eigenvalue of the Laplacian gives a lower bound (M.
Fiedler, "Algebraic Connectivity of Graphs", Czechoslovak Math. J. 23, 1973; B. Mohar, "Isoperimetric Numbers of
Graphs", JCTB 47, 1989).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pymetis

if TYPE_CHECKING:
    import numpy.typing as npt

    from weft._engine import Design

# Maximum number of routers for which eigenvalues are computed, because they need a dense matrix and some seconds.
MOST_ROUTERS = 2000


def adjacency(links: npt.NDArray[np.uint32], routers: int) -> tuple[npt.NDArray[np.int32], ...]:
    """Adjacency lists in three arrays: start of each router's list, neighbours, number of links to each neighbour."""
    ends = links[:, :2].astype(np.int64)
    both = np.concatenate([ends, ends[:, ::-1]])
    keys, counts = np.unique(both[:, 0] * routers + both[:, 1], return_counts=True)
    near, far = np.divmod(keys, routers)
    starts = np.searchsorted(near, np.arange(routers + 1))
    return starts.astype(np.int32), far.astype(np.int32), counts.astype(np.int32)


def best(design: Design, links: npt.NDArray[np.uint32], terminals: npt.NDArray[np.uint32], seeds: int) -> int:
    """Number of links of the smallest balanced cut found, after METIS has run with `seeds` seeds.

    A cut is balanced if the numbers of terminals of its halves differ by at most the terminals of one router.
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
    """Lower bound on the links of any balanced cut; ``None`` for unequal terminals per router or too many routers.

    If the number of routers is odd, the halves of a balanced cut differ by one router.
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
