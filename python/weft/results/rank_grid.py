"""Converts states of ranks over time to a grid for pictures: a row per rank, and a column per interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from weft.results.critical_path import STATES

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Maximum numbers of rows and columns of a grid.
MOST_ROWS, MOST_COLUMNS = 1024, 4096
NOTHING = len(STATES)
"""Value of a cell in which no rank has a state."""


@dataclass(frozen=True)
class Grid:
    """A grid: each cell has the state in which its ranks are longest in its interval.

    Attributes
    ----------
    cells : array of int
        Indices of states in `STATES`, or `NOTHING`. Each row is for `ranks_per_row` ranks, and each column for an
        interval of equal length.
    ranks : int
        Number of ranks of all jobs, whose ranks follow each other job by job.
    ranks_per_row : int
        Number of ranks per row; the last row can have fewer.
    end : int
        The end of the last column [cycle]; the first column begins at cycle 0.
    """

    cells: NDArray[np.uint8]
    ranks: int
    ranks_per_row: int
    end: int


def numbered(states: pl.DataFrame) -> tuple[pl.DataFrame, list[tuple[str, int]]]:
    """The table with an added column `row` (index among the ranks of all jobs), and the job and rank of each row."""
    # the table lists the spans rank by rank and job by job
    table = states.with_columns(row=pl.struct("job", "rank").rle_id().cast(pl.Int64))
    return table, list(table.select("job", "rank").unique(maintain_order=True).iter_rows())


def grid(states: pl.DataFrame, columns: int = MOST_COLUMNS, rows: int = MOST_ROWS) -> Grid:
    """Makes a grid with at most `rows` rows and `columns` columns. Each cell has the state that lasts longest in it."""
    table, pairs = numbered(states)
    each = -(-len(pairs) // rows)
    end = int(table["to_cycle"].max())  # type: ignore[arg-type] # a number
    columns = min(columns, end)
    width = end / columns
    shape = (len(STATES), -(-len(pairs) // each), columns + 1)
    covered, steps = np.zeros(shape), np.zeros(shape)
    state = table["state"].replace_strict(list(STATES), range(len(STATES))).to_numpy()
    row = table["row"].to_numpy() // each
    begin, to = table["from_cycle"].to_numpy() / width, table["to_cycle"].to_numpy() / width
    first, last = begin.astype(np.int64), np.minimum(to.astype(np.int64), columns)
    np.add.at(covered, (state, row, first), -(begin - first))
    np.add.at(covered, (state, row, last), to - last)
    np.add.at(steps, (state, row, first), 1.0)
    np.add.at(steps, (state, row, last), -1.0)
    covered += np.cumsum(steps, axis=2)
    covered = covered[:, :, :columns]
    most = covered.argmax(axis=0).astype(np.uint8)
    most[covered.max(axis=0) < 1e-9] = NOTHING
    return Grid(most, len(pairs), each, end)
