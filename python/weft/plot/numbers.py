"""Collects the numbers of a figure in one table, and writes the table as CSV next to the figure.

The columns of the table have the names that they have in the results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from weft.results import quantities as q

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from weft.results.curves import Panel
    from weft.results.quantities import Quantity

# Quantities whose values are null for saturated points, because the latency of such a point grows with the length of
# the run.
LATENCIES = (q.LATENCY, *q.PERCENTILES.values(), q.LATENCY_US, *q.PERCENTILES_US.values())


def of_curves(panels: Sequence[Panel], shown: Iterable[Quantity], *, spread: Iterable[Quantity] = ()) -> pl.DataFrame:
    """Table with a row per traffic pattern, series (curve) and load.

    If the load changes in phases, the column ``phase_loads`` has the loads of the measured phases.

    Parameters
    ----------
    panels : sequence of Panel
        The panels that are drawn.
    shown : iterable of Quantity
        Quantities that are columns of the table. A quantity has no column if no point has a value of it. A latency is
        null if its point is saturated or stuck.
    spread : iterable of Quantity
        Quantities that also have a column ``..._ci95_half_width``: half the width of the 95 % confidence interval.
    """
    spread = list(spread)
    frames = []
    for panel in panels:
        for curve in panel.curves:
            names = ("load", *(("phase_loads",) if curve.changes else ()), "saturated", "stalled")
            columns = [curve.frame[name] for name in names]
            for quantity in dict.fromkeys(shown):
                if quantity.column not in curve.frame.columns:
                    continue
                columns.append(curve.frame[quantity.column])
                if quantity in spread:
                    columns.append(curve.half_width(quantity).alias(f"{quantity.column}_ci95_half_width"))
            named = [pl.lit(panel.title).alias("pattern"), pl.lit(curve.label).alias("series")]
            frames.append(pl.DataFrame(columns).select(*named, pl.all()))
    table = pl.concat(frames, how="diagonal_relaxed")
    latencies = [quantity.column for quantity in LATENCIES if quantity.column in table.columns]
    over = pl.col("saturated") | pl.col("stalled")
    return _needed(table.with_columns(pl.when(~over).then(pl.col(name)).alias(name) for name in latencies))


def of_series(frames: Iterable[tuple[str, pl.DataFrame]]) -> pl.DataFrame:
    """Joins the tables of several series (curves or bars), and adds a column with the label of the series."""
    labelled = [frame.select(pl.lit(label).alias("series"), pl.all()) for label, frame in frames]
    return _needed(pl.concat(labelled, how="diagonal_relaxed"))


def _needed(frame: pl.DataFrame) -> pl.DataFrame:
    """The table without the column ``pattern`` or ``series`` if all its names are empty."""
    empty = [name for name in ("pattern", "series") if name in frame.columns and not (frame[name] != "").any()]
    return frame.drop(empty)
