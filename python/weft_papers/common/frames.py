"""Finished points as rows of a frame, with the numbers that figures and claims of papers use."""

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
# The mechanism with which the other mechanisms are compared.
BASELINE = "baseline"
# Numbers of a summary that frames keep; a number is null if the results lack it.
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
# Column that says whether a point that is not overloaded was measured before it had settled, for any reason.
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
    """A row per finished point.

    `mechanism` is a function from its resolved scenario to the paper's name of the mechanism.

    Returns
    -------
    list of dict
        ``mechanism``, ``policy`` (its parameters as JSON), ``load`` (set by the scenario) [flits/terminal/cycle],
        ``saturated``, ``warmup_settled``, ``power_settled``, ``unsettled``, ``hops_max`` [links], ``stalled``,
        ``derived`` (whether the row was computed from another row: false here) and the numbers of `NUMBERS`.
    """
    return [_row(results, point, mechanism) for point in range(len(results))]


def frame(rows: Sequence[Mapping[str, Any]], more: Mapping[str, Any] | None = None) -> pl.DataFrame:
    """A frame of such rows. `more` names further columns with their types. A number that is not finite becomes null."""
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
