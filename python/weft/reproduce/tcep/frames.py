"""Numbers of the experiments as frames, and what figures and claims ask of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl

from weft.analysis import dvfs
from weft.reproduce.measured import LackingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft.results import Results

BASELINE, TCEP, SLAC, DVFS = "baseline", "TCEP", "SLaC", "DVFS"
# Mechanisms as the paper calls them, by the power policy.
_MECHANISMS = {"always_on": BASELINE, "tcep": TCEP, "slac": SLAC, "static": "root network"}
# Numbers of a summary that frames keep; one that a version or a policy does not have is null.
NUMBERS = (
    "seed",
    "offered_load",
    "accepted_load",
    "packet_latency_mean_cycles",
    "hops_mean",
    "energy_network_j",
    "energy_network_per_bit_pj",
    "links_on_mean",
    "control_share",
    "completion_cycles",
    "window_cycles",
    "warmup_cycles",
)
_FLAGS = ("saturated", "warmup_settled", "power_settled")
SCHEMA: dict[str, Any] = {
    "mechanism": pl.String,
    "policy": pl.String,
    "load": pl.Float64,
    "hops_max": pl.Int64,
    "stalled": pl.Boolean,
    **dict.fromkeys(_FLAGS, pl.Boolean),
    **dict.fromkeys(NUMBERS, pl.Float64),
}
# Loads of different mechanisms that are the same.
_SAME = 1e-9
# A load that stands in for one that the paper names, but that was not run, lies this near.
_NEAR = 0.25


def frame(results: Results) -> pl.DataFrame:
    """A row per finished point.

    Returns
    -------
    polars.DataFrame
        ``mechanism``, ``policy`` (its parameters as JSON), ``load`` (as set) [flits/terminal/cycle], ``saturated``,
        ``warmup_settled``, ``power_settled``, ``hops_max`` [links], ``stalled`` and the columns of `NUMBERS`. Points
        of the baseline stand there once more as ``DVFS``, with the energy of links at the lowest rate that carries
        what they carried.
    """
    rows = [_row(results, point) for point in range(len(results))]
    scaled = dvfs.rate_scaled(results)["normalised_energy"].to_list() if rows else []
    rows += [
        row
        | {"mechanism": DVFS}
        | {name: row[name] * factor for name in ("energy_network_j", "energy_network_per_bit_pj") if row[name]}
        for row, factor in zip(rows[:], scaled, strict=True)
        if row["mechanism"] == BASELINE and factor is not None
    ]
    return pl.DataFrame(rows, schema=SCHEMA)


def _row(results: Results, point: int) -> dict[str, Any]:
    summary = results.summaries[point]
    policy = results.scenario(point)["power"]["policy"]
    return {
        "mechanism": _MECHANISMS.get(summary["policy"], summary["policy"]),
        "policy": json.dumps(policy, sort_keys=True),
        "load": summary["load"],
        "hops_max": len(summary.get("hop_histogram") or [0]) - 1,
        "stalled": summary["ending"] == "stalled",
        **{name: summary.get(name) for name in (*_FLAGS, *NUMBERS)},
    }


def of(frame: pl.DataFrame, mechanism: str) -> pl.DataFrame:
    """The points of a mechanism in the order of load.

    Raises
    ------
    LackingError
        If it was not run.
    """
    found = frame.filter(pl.col("mechanism") == mechanism).sort("load", "seed", nulls_last=True)
    if found.is_empty():
        raise LackingError(f"{mechanism} was not run")
    return found


def beside(frame: pl.DataFrame, mechanism: str, reference: str = BASELINE) -> pl.DataFrame:
    """Points of a mechanism that another one ran, too: the columns of the other one end in ``_reference``."""
    both = of(frame, mechanism).join(of(frame, reference), on=["load", "seed"], suffix="_reference", nulls_equal=True)
    if both.is_empty():
        raise LackingError(f"{mechanism} and {reference} have no load in common")
    return both


def normalised(frame: pl.DataFrame, mechanism: str) -> pl.DataFrame:
    """Energy per flit of a mechanism: ``load``, ``energy`` (1 is that of the baseline), ``saturated``."""
    both = beside(frame, mechanism)
    energy = pl.col("energy_network_per_bit_pj") / pl.col("energy_network_per_bit_pj_reference")
    return both.select("load", energy.alias("energy"), "saturated").drop_nulls("energy")


def relative_latency(frame: pl.DataFrame, mechanism: str) -> pl.DataFrame:
    """Latency against the baseline's where neither is saturated: ``load``, ``latency`` (1: the baseline's)."""
    both = beside(frame, mechanism).filter(~pl.col("saturated") & ~pl.col("saturated_reference"))
    latency = pl.col("packet_latency_mean_cycles") / pl.col("packet_latency_mean_cycles_reference")
    return both.select("load", latency.alias("latency")).drop_nulls("latency")


def throughput(frame: pl.DataFrame, mechanism: str) -> float:
    """What is accepted at the lowest load that saturates, where a latency curve turns up [flits/terminal/cycle].

    Far beyond it the mean over the terminals may be higher: sources that share no busy channel send on.

    Raises
    ------
    LackingError
        If no load was too much: then nobody knows.
    """
    points = of(frame, mechanism)
    over = points.filter(pl.col("saturated") | (pl.col("load") >= 1))
    if over.is_empty():
        raise LackingError(f"{mechanism} was not saturated at {greatest(points, 'load'):g} flits/terminal/cycle")
    return greatest(over.filter(pl.col("load") == over["load"][0]), "accepted_load")


def least(frame: pl.DataFrame, mechanism: str, column: str) -> float:
    """A number at the lowest load at which it was measured.

    Raises
    ------
    LackingError
        If it never was.
    """
    values = of(frame, mechanism)[column].drop_nulls()
    if values.is_empty():
        raise LackingError(f"no run of {mechanism} says its {column}")
    return float(values[0])


def greatest(frame: pl.DataFrame, column: str) -> float:
    """The greatest of a column.

    Raises
    ------
    LackingError
        If there is none.
    """
    values = frame[column].drop_nulls().to_list()
    if not values:
        raise LackingError(f"no {column} is known: no point that is not saturated was run")
    return float(max(values))


def near(frame: pl.DataFrame, load: float) -> dict[str, Any]:
    """The row whose load is nearest to one that the paper names.

    Raises
    ------
    LackingError
        If none is within a quarter of it.
    """
    if not frame.is_empty():
        row = frame.sort((pl.col("load") - load).abs()).row(0, named=True)
        if abs(row["load"] - load) <= _NEAR * load + _SAME:
            return row
    raise LackingError(f"no load near {load:g} was run, or it was saturated")


def ratios(both: pl.DataFrame, column: str) -> Sequence[float]:
    """A column against that of the reference of `beside`, point by point."""
    return (both[column] / both[f"{column}_reference"]).drop_nulls().to_list()
