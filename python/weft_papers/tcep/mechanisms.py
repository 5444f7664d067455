"""Makes frames of the paper's runs, with the paper's names of mechanisms.

The mechanisms are TCEP and SLaC, which switch links off, and DVFS, which runs links at lower rates. The baseline keeps
all links on at the full rate.
"""

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
# SLaC with the low threshold as the text of the paper states it: a stage goes off as soon as its buffers are below the
# threshold.
LITERAL = "SLaC, literal low threshold"
COMBINED = "TCEP and DVFS"
# Name of our own policy `fewest_links`, which is not in the paper.
OWN = "fewest links"
# Mechanisms whose points have a second row in the frame, with the energy for links at the lowest rates that carry their
# loads. For each, the mechanism's name in the second row.
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
    """Make a row for each finished point, as in `weft_papers.common.frames`, with additional columns of applications.

    If the baseline was run, points of the baseline and of TCEP have a second row (``derived``). The second row has the
    energy that the run would have with each link at the lowest rate that carries its load. Applications have no second
    row, because their links are idle between bursts.
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
    """Return the second rows of points, with the energy for links at the lowest rates that carry their loads."""
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
    """Make the condition for a point that starts with all links on, instead of with the fewest links."""
    return pl.col("policy").str.contains('"initial": "all_on"', literal=True)
