"""Points of a sweep arranged as load curves: a panel per traffic pattern, a series per other combination."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from weft import quantities as q

if TYPE_CHECKING:
    from weft.results import Results

_PATTERN = "traffic.pattern"
_NOT_APART = ("traffic.load", _PATTERN, "seed")
_MEASURED = (q.OFFERED, q.ACCEPTED, q.LATENCY, q.P99, q.HOPS, q.MINIMAL, q.ENERGY)


@dataclass(frozen=True)
class Curve:
    """A series of points over load.

    Attributes
    ----------
    label : str
        What sets this series apart; empty if it is the only one.
    frame : polars.DataFrame
        Rows in the order of load, means over seeds. Columns: ``load`` [flits/terminal/cycle], ``points`` (their
        numbers in the results), ``saturated`` and ``stalled`` (true if any seed was), and the columns of
        `weft.quantities` (null where nothing was measured).
    """

    label: str
    frame: pl.DataFrame


@dataclass(frozen=True)
class Panel:
    """The curves of one traffic pattern; the title is empty if the sweep has only one."""

    title: str
    curves: list[Curve]


def panels(results: Results) -> list[Panel]:
    """Arrange the finished points of a sweep."""
    frame = results.frame.with_row_index("points")
    if frame.is_empty():
        return []
    varied = [column for column in results.coordinates if frame[column].n_unique() > 1]
    apart = [column for column in varied if column not in _NOT_APART]
    # jobs with loads of their own leave the scenario without one
    frame = frame.with_columns(pl.coalesce(pl.col("load").cast(pl.Float64), pl.col(q.OFFERED.column).round(4)))
    frame = frame.with_columns(_short(frame[column]) for column in varied if frame[column].dtype == pl.String)
    frame = frame.with_columns(
        frame[_PATTERN].cast(pl.String).alias("panel") if _PATTERN in varied else pl.lit("").alias("panel"),
        pl.concat_str(apart, separator=", ").alias("series") if apart else pl.lit("").alias("series"),
        (pl.col(q.ENDING.column) == q.STALLED).alias("stalled"),
    )
    measured = [quantity.column for quantity in _MEASURED]
    rows = frame.group_by("panel", "series", "load", maintain_order=True).agg(
        pl.col("points"), pl.col("saturated", "stalled").any(), pl.col(measured).mean()
    )
    return [
        Panel(str(title), [Curve(str(label), _sorted(curve)) for (label,), curve in _parts(panel, "series")])
        for (title,), panel in _parts(rows, "panel")
    ]


def _short(values: pl.Series) -> pl.Series:
    """Labels of models without their options, where the names alone tell them apart."""
    names = values.str.replace(r"\(.*", "")
    return names if names.n_unique() == values.n_unique() else values


def _parts(frame: pl.DataFrame, column: str) -> list[tuple[tuple[object, ...], pl.DataFrame]]:
    return list(frame.group_by(column, maintain_order=True))


def _sorted(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.drop("panel", "series").sort("load")
