"""Finds the knee of each curve of latency over load, and makes a sweep with more loads near the knees.

The knee is the place where the latency begins to grow steeply, because the network saturates.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl

from weft.results import quantities as q

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# A load is beyond the knee if the network accepts less than this share of it.
ACCEPTED = 0.95
# A load is beyond the knee if the latency at this load exceeds the lowest latency of the curve times this factor.
STEEP = 3.0
_LOAD = "traffic.load"
# A knee needs no more loads if the two loads around it differ by at most this share of the upper load.
_CLOSE = 0.02


def bracket(points: pl.DataFrame) -> tuple[float, float] | None:
    """Return the two loads of a curve between which its knee is; ``None`` if the curve has no knee.

    A load is beyond the knee if it saturates the network, or if the network accepts less than 95 % of it. A load is
    also beyond the knee if the latency at this load exceeds three times the lowest latency of the curve.
    """
    points = points.filter(~pl.col("stalled").fill_null(value=False)).sort("load")
    latency = pl.col(q.LATENCY.column)
    least = points.filter(~pl.col("saturated"))[q.LATENCY.column].min()
    beyond = (
        pl.col("saturated").fill_null(value=False)
        | (pl.col("accepted_load") < ACCEPTED * pl.col("load")).fill_null(value=False)
        | (latency > STEEP * pl.lit(least, dtype=pl.Float64)).fill_null(value=False)
    )
    over = points.filter(beyond)
    if over.is_empty():
        return None
    high = float(over["load"][0])
    return max((load for load in points["load"] if load < high), default=0.0), high


def around(frames: Sequence[pl.DataFrame], points: Sequence[Sequence[Mapping[str, Any]]]) -> dict[str, Any] | None:
    """Make the overrides of a scenario for a sweep that runs two more loads near the knee of each curve.

    Parameters
    ----------
    frames : sequence of polars.DataFrame
        For each sweep that was run, a frame with a row for each point.
    points : sequence of sequence of mapping
        The same points as mappings with the key ``coordinates``. A curve consists of the points that differ only in
        load.

    Returns
    -------
    dict or None
        Overrides with the coordinates of the new points: under ``zip``, a list of values for each coordinate. ``None``
        if no curve has a knee, or if the two loads around each knee differ by 2 % at most.
    """
    curves: dict[str, Mapping[str, Any]] = {}
    rows = []
    for frame, listed in zip(frames, points, strict=True):
        places = [point["coordinates"] for point in listed]
        curves |= {_curve(each): each for each in places}
        rows.append(frame.with_columns(pl.Series("curve", [_curve(each) for each in places], dtype=pl.String)))
    ran = pl.concat(rows)
    columns: dict[str, list[Any]] = {}
    for name, coordinates in curves.items():
        gap = bracket(ran.filter(curve=name))
        if gap is None or gap[1] - gap[0] <= _CLOSE * gap[1]:
            continue
        for load in _between(*gap):
            for path, value in (dict(coordinates) | {_LOAD: load}).items():
                columns.setdefault(path, []).append(value)
    return {"sweep": {}, **{f"zip.{path}": values for path, values in columns.items()}} if columns else None


def _curve(coordinates: Mapping[str, Any]) -> str:
    """Return the name of the curve to which a point belongs: all its coordinates except the load."""
    return json.dumps({path: value for path, value in coordinates.items() if path != _LOAD}, sort_keys=True)


def _between(low: float, high: float) -> list[float]:
    """Return the two loads that divide the gap between two loads into three equal parts."""
    return [float(f"{low + (high - low) * third / 3:.3g}") for third in (1, 2)]
