"""Converts the names of routers in tables to indices of routers in arrays and drawings.

Tables name a router by its number, or by its name in a graph file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def places(routers: pl.Series, names: Sequence[str] | None) -> NDArray[np.int64]:
    """The index of each router among the routers of the network, counted from 0.

    Parameters
    ----------
    routers : polars.Series
        A column of a table, without nulls.
    names : sequence of str or None
        Names of the routers, in the order of the graph file (`names` of `weft._engine.Point.network`). ``None`` for a
        network without names, in which the number of a router is its index.
    """
    if names is None:
        return routers.to_numpy().astype(np.int64)
    place = pl.Series(range(len(names)), dtype=pl.Int64)
    found = routers.cast(pl.String).replace_strict(pl.Series(names, dtype=pl.String), place, return_dtype=pl.Int64)
    return found.to_numpy().astype(np.int64)


def placed(channels: pl.DataFrame, names: Sequence[str] | None) -> pl.DataFrame:
    """Channels with the indices of routers in the columns ``from_router`` and ``to_router``; nulls are kept."""
    if names is None:
        return channels
    place = pl.Series(range(len(names)), dtype=pl.Int64)
    ends = pl.col("from_router", "to_router").cast(pl.String)
    return channels.with_columns(ends.replace_strict(pl.Series(names, dtype=pl.String), place, return_dtype=pl.Int64))
