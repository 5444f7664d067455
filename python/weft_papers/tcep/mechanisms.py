"""The mechanisms of the paper: their names in the paper, and their rows in the frame of an experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from weft.analysis import dvfs
from weft_papers.common import frames
from weft_papers.common.frames import BASELINE, ENERGY
from weft_papers.tcep.application_programs import COLUMNS, of_job

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weft.results.result_set import ResultSet

TCEP, SLAC, DVFS = "TCEP", "SLaC", "DVFS"
# SLaC with the low threshold as the paper states it: a stage goes off as soon as its buffers are below it.
LITERAL = "SLaC, literal low threshold"
COMBINED = "TCEP and DVFS"
# Our own policy, which is not in the paper.
OWN = "fewest links"
# Mechanisms whose points get additional rows with links at the lowest rates, and the names of these rows.
_RATED = {BASELINE: DVFS, TCEP: COMBINED}
# The paper's name of each mechanism, by the power policy.
_MECHANISMS = {
    "always_on": BASELINE,
    "fewest_links": OWN,
    "slac": SLAC,
    "static": "root network",
    "tcep": TCEP,
}


def frame(results: ResultSet) -> pl.DataFrame:
    """A row per finished point, as `weft_papers.common.frames` makes it, with the columns of applications.

    If there is a baseline, its points and those of TCEP have a second row (``derived``), with the energy of links at
    the lowest rate that carries the same load. Applications have no second row, because their links are idle between
    bursts.
    """
    rows = [
        row | of_job(results.summaries[point]["jobs"]) for point, row in enumerate(frames.rows(results, _mechanism))
    ]
    if any(row["mechanism"] == BASELINE and row["work"] is None for row in rows):
        rows += _rated(results, rows)
    return frames.frame(rows, COLUMNS)


def _mechanism(scenario: Mapping[str, Any]) -> str:
    policies: dict[str, dict[str, Any]] = scenario["power"]["policy"]
    policy, parameters = next(iter(policies.items()))
    if policy == "slac" and parameters["release"] == "below_low":
        return LITERAL
    return _MECHANISMS.get(policy, policy)


def _rated(results: ResultSet, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Additional rows of the same points, with links at the lowest rates."""
    points = [point for point, row in enumerate(rows) if row["mechanism"] in _RATED]
    factors = dvfs.rate_scaled(results, points=points)["normalised_energy"].to_list()
    return [
        (row := rows[point])
        | {"mechanism": _RATED[row["mechanism"]], "derived": True}
        | {name: row[name] * factor for name in ("energy_network_j", ENERGY) if row[name]}
        for point, factor in zip(points, factors, strict=True)
        if factor is not None
    ]


def from_all() -> pl.Expr:
    """Whether a point starts with all links on, instead of with the fewest."""
    return pl.col("policy").str.contains('"initial": "all_on"', literal=True)
