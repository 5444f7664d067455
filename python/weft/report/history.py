"""Collects curves over time for a report: flits and link states of each class, and latency by creation time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl

from weft.report import pack

if TYPE_CHECKING:
    from weft.results.result_set import ResultSet

# Maximum number of bytes for the curves of all points together, and maximum number of time intervals of a point.
BYTES = 400_000
MOST = 250


class Histories:
    """Collects curves over time until the bytes that a report reserves for them are used up."""

    def __init__(self) -> None:
        self._left = BYTES

    def of(self, results: ResultSet, row: int, channels: pl.DataFrame) -> dict[str, Any] | None:
        """The recordings of a point over time; ``None`` if nothing was recorded or no bytes are left."""
        if self._left <= 0:
            return None
        folder = results.folder(row)
        made: dict[str, Any] = {}
        if (folder / "series.parquet").is_file():
            made["series"] = series(results.series(row), channels)
        if (folder / "transient.parquet").is_file():
            made["transient"] = transient(results.transient(row))
        self._left -= len(json.dumps(made))
        return made or None


def series(samples: pl.DataFrame, channels: pl.DataFrame) -> dict[str, Any]:
    """Flits of each link class in each interval, and the number of channels of the class.

    Neighbouring intervals are merged until at most `MOST` remain.
    """
    if "channel" in samples.columns:
        samples = samples.join(channels.select("channel", "link_class"), on="channel", maintain_order="left")
    # rows of single channels are summed by class first, because the steps below are then faster
    samples = samples.group_by("from_cycle", "link_class").agg(pl.col("flits").sum(), pl.col("interval_cycles").first())
    samples = samples.sort("from_cycle", "link_class")
    begins = samples["from_cycle"].unique().sort()
    joined = -(-len(begins) // MOST)
    place = pl.col("from_cycle").rank("dense") - 1
    parts = samples.with_columns((place // joined).alias("part"))
    flits = parts.group_by("link_class", "part", maintain_order=True).agg(pl.col("flits").sum()).sort("part")
    spans = parts.unique("from_cycle").group_by("part").agg(pl.col("interval_cycles").sum()).sort("part")
    sizes = dict(channels.group_by("link_class").len().iter_rows())
    names = samples["link_class"].unique(maintain_order=True).to_list()
    return {
        "from_cycle": pack.counts(begins.gather_every(joined)),
        "cycles": pack.counts(spans["interval_cycles"]),
        "joined": joined,
        "classes": [
            {"name": name, "channels": sizes[name], "flits": pack.counts(flits.filter(link_class=name)["flits"])}
            for name in names
            if sizes.get(name)
        ],
    }


def transient(bins: pl.DataFrame) -> dict[str, Any]:
    """Mean and longest latency of the packets created in each interval.

    Intervals in which no packet was created are left out.
    """
    with_packets = bins.filter(pl.col("packets") > 0)
    return {
        "from_cycle": pack.counts(with_packets["from_cycle"]),
        "mean_cycles": pack.floats(with_packets["packet_latency_mean_cycles"]),
        "max_cycles": pack.counts(with_packets["packet_latency_max_cycles"]),
    }
