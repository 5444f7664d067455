"""Makes a frame with one row for each finished point of a sweep. Figures and claims of papers read this frame."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl

from weft.results import quantities as q
from weft.results import soundness

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from weft.results.result_set import ResultSet

ENERGY = "energy_network_per_bit_pj"
# Name of the mechanism with which papers compare all other mechanisms.
BASELINE = "baseline"
# Names of the numbers that a frame copies from the summary of each point. A number is null if the summary lacks it.
NUMBERS = (
    "seed",
    "terminals",
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
# Name of a boolean column. It is true for a point that is not saturated, but whose window began before latencies had
# settled.
UNSETTLED = "unsettled"
SCHEMA: dict[str, Any] = {
    "mechanism": pl.String,
    "policy": pl.String,
    "load": pl.Float64,
    "hops_max": pl.Int64,
    "stalled": pl.Boolean,
    "derived": pl.Boolean,
    **dict.fromkeys((*_FLAGS, UNSETTLED), pl.Boolean),
    **dict.fromkeys(NUMBERS, pl.Float64),
}


def rows(results: ResultSet, mechanism: Callable[[Mapping[str, Any]], str]) -> list[dict[str, Any]]:
    """Make a row of a frame for each finished point of a sweep.

    `mechanism` takes the resolved scenario of a point, and returns the paper's name of the power or routing mechanism.

    Returns
    -------
    list of dict
        ``mechanism``, ``policy`` (name and parameters of the power policy, as JSON), ``load`` (load in the scenario)
        [flits/terminal/cycle], ``saturated``, ``warmup_settled``, ``power_settled``, ``unsettled``, ``hops_max``
        [links], ``stalled``, ``derived`` (whether the row was computed from another row: false here) and the numbers of
        `NUMBERS`.
    """
    return [_row(results, point, mechanism) for point in range(len(results))]


def frame(rows: Sequence[Mapping[str, Any]], more: Mapping[str, Any] | None = None) -> pl.DataFrame:
    """Make a frame of rows that the function `rows` returned.

    `more` has the names and types of columns in addition to those of `SCHEMA`. A number that is not finite becomes
    null.
    """
    floats = pl.col(pl.Float64)
    finite = floats.is_finite()
    found = pl.DataFrame(rows, schema=SCHEMA | dict(more or {}))
    return found.with_columns(pl.when(finite).then(floats).name.keep())


def _row(results: ResultSet, point: int, mechanism: Callable[[Mapping[str, Any]], str]) -> dict[str, Any]:
    summary = results.summaries[point]
    scenario = results.scenario(point)
    return {
        "mechanism": mechanism(scenario),
        "policy": json.dumps(scenario["power"]["policy"], sort_keys=True),
        "load": summary["load"],
        "hops_max": len(summary.get("hop_histogram") or [0]) - 1,
        "stalled": summary[q.ENDING.column] == q.STALLED,
        "derived": False,
        UNSETTLED: soundness.is_unsettled(summary),
        **{name: summary.get(name) for name in (*_FLAGS, *NUMBERS)},
    }
