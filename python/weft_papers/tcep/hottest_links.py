"""Computes the load of the hottest link under dimension-order routing, which limits the jobs of Fig. 15b.

SLaC routes minimally in dimension order once all stages are on. A link carries at most 1 flit/cycle. If the hottest
link is offered x flits/cycle and x is above 1, batches therefore take x times as long as their loads require.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl

from weft_papers.common.questions import spread

# Network of the scenario ``jobs_permutation.yaml``, and the loads of its two jobs [flits/terminal/cycle].
WIDTH, TERMINALS_PER_ROUTER, LOADS = 8, 8, (0.1, 0.5)
MAPPINGS = 100


@cache
def over_mappings(mappings: int = MAPPINGS, seed: int = 1) -> tuple[float, ...]:
    """Return the load of the hottest link between routers for each mapping, in ascending order [flits/cycle].

    Each mapping divides the terminals into two jobs at random, and draws a permutation of the terminals of each job.
    """
    random = np.random.default_rng(seed)
    return tuple(sorted(_hottest(random) for _ in range(mappings)))


def _hottest(random: np.random.Generator) -> float:
    jobs = np.split(random.permutation(WIDTH * WIDTH * TERMINALS_PER_ROUTER), len(LOADS))
    # loads of channels, with indices [row, from, to] in the first dimension and [column, from, to] in the second
    first, second = np.zeros((2, WIDTH, WIDTH, WIDTH))
    for terminals, load in zip(jobs, LOADS, strict=True):
        rows, columns = np.divmod(terminals // TERMINALS_PER_ROUTER, WIDTH)
        to_rows, to_columns = np.divmod(random.permutation(terminals) // TERMINALS_PER_ROUTER, WIDTH)
        across, along = columns != to_columns, rows != to_rows
        np.add.at(first, (rows[across], columns[across], to_columns[across]), load)
        np.add.at(second, (to_columns[along], rows[along], to_rows[along]), load)
    return float(max(first.max(), second.max()))


def sentence() -> str:
    """Return a sentence with the range of the hottest link's load over all mappings."""
    return (
        f"under dimension order the loads of the hottest link [flits/cycle] in {MAPPINGS} random mappings are "
        f"{spread(pl.Series(over_mappings()))}; the batches need as many times as long"
    )
