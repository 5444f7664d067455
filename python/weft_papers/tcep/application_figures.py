"""Draws Figs. 13 and 14 and the sensitivity to epochs, and makes tables of all runs of generated applications.

TCEP and SLaC switch links off, the baseline keeps all links on. A gap is the computing time between messages.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from weft_papers.common import bar_figures
from weft_papers.common.frames import BASELINE
from weft_papers.common.measured import LackingError
from weft_papers.common.questions import unstalled
from weft_papers.tcep.application_claims import (
    ENERGY,
    HOPS,
    LATENCY,
    RUN_TIME,
    VARIATIONS,
    factors,
    of_epochs,
    of_mechanisms,
    rates,
)
from weft_papers.tcep.application_programs import EPOCHS, LINEAR, cases
from weft_papers.tcep.mechanisms import SLAC, TCEP

if TYPE_CHECKING:
    from collections.abc import Callable

    from weft.plot.style import Picture as Drawing
    from weft_papers.common.measured import Measured
    from weft_papers.tcep.application_claims import Case

_MEAN = "mean"
# Mechanisms in the order of other figures, which gives each mechanism the same look in all figures.
_LOOKS = (BASELINE, TCEP, SLAC)


def _shown(found: list[Case]) -> Case:
    """Return the case that figures show: ranks in the order of the nodes, and computing times of unchanged length."""
    for case in found:
        if case.words == f"{LINEAR}, gaps x 1":
            return case
    raise LackingError("gaps as they are were not run with the linear mapping")


def _order(measured: Measured) -> list[str]:
    """List the applications by their injection rate, the lowest first."""
    return [*rates(_as_they_are(measured))]


def _as_they_are(measured: Measured) -> pl.DataFrame:
    """Return the runs that figures show: with the linear mapping and gaps of unchanged length."""
    for mapping, scale, rows in cases(measured):
        if (mapping, scale) == (LINEAR, 1.0):
            return rows
    raise LackingError("gaps as they are were not run with the linear mapping")


def beside_baseline(column: str, title: str, y: str) -> Callable[[Measured], Drawing]:
    """Make the function that draws a measure of TCEP and SLaC relative to the baseline, for each application."""
    return partial(_beside_baseline, column, title, y)


def _beside_baseline(column: str, title: str, y: str, measured: Measured) -> Drawing:
    case = _shown(of_mechanisms(measured))
    works = _order(measured)
    bars = {
        name: [*(case.ratio(column, work, name, BASELINE) for work in works), case.mean(column, name, BASELINE)]
        for name in (TCEP, SLAC)
    }
    drawing, axes = bar_figures.grouped(title, [*works, _MEAN], bars, y, looks=_LOOKS)
    axes.axhline(1, color="black", linewidth=0.6, label="_baseline")
    return drawing


LATENCIES = beside_baseline(LATENCY, "Fig. 13: packet latency, generated applications", "Latency [baseline]")
ENERGIES = beside_baseline(ENERGY, "Fig. 14: network energy, generated applications", "Energy [baseline]")


def remark(measured: Measured) -> str:
    """Return a string with the injection rate of each application in the baseline."""
    text = ", ".join(f"{work} {rate:.4f}" for work, rate in rates(_as_they_are(measured)).items())
    return f"Injection rates in the baseline [flits/terminal/cycle]: {text}. Mean: geometric mean."


def sensitivity(measured: Measured) -> Drawing:
    """Draw TCEP's latency with longer or shorter epochs, relative to its latency with default epochs."""
    case = _shown(of_epochs(measured))
    works = _order(measured)
    bars = {
        words: [*(case.ratio(LATENCY, work, which, TCEP) for work in works), case.mean(LATENCY, which, TCEP)]
        for which, words in VARIATIONS.items()
    }
    title = "Epochs of TCEP, generated applications"
    drawing, axes = bar_figures.grouped(title, [*works, _MEAN], bars, "Latency [default epochs]", wide=True)
    axes.axhline(1, color="black", linewidth=0.6, label="_default")
    return drawing


def table(measured: Measured) -> pl.DataFrame:
    """Make the table of applications, with a row for each run that did not stall."""
    return pl.concat([_rows(rows, mapping, scale) for mapping, scale, rows in cases(measured)])


def epochs_table(measured: Measured) -> pl.DataFrame:
    """Make the table of applications under TCEP with varied epochs, with a row for each run that did not stall."""
    return pl.concat([_rows(rows, mapping, scale) for mapping, scale, rows in cases(measured, EPOCHS)])


def _rows(rows: pl.DataFrame, mapping: str, scale: float) -> pl.DataFrame:
    return unstalled(rows).select(
        application="work",
        mapping=pl.lit(mapping),
        gaps=pl.lit(scale),
        mechanism=pl.struct("mechanism", "policy").map_elements(
            lambda row: _named(row["mechanism"], row["policy"]), return_dtype=pl.String
        ),
        **{
            "run time [µs]": (pl.col(RUN_TIME) * 1e-3).round(1),
            "injection rate [flits/terminal/cycle]": pl.col("accepted_load").round(4),
            "latency [cycles]": pl.col(LATENCY).round(0),
            "hops": pl.col(HOPS).round(3),
            "links on [%]": (100 * pl.col("links_on_mean")).round(1),
            "network energy [mJ]": (1e3 * pl.col(ENERGY)).round(2),
            "control packets [%]": (100 * pl.col("control_share")).round(3),
        },
    )


def _named(mechanism: str, policy: str) -> str:
    return VARIATIONS.get(factors(policy), mechanism) if mechanism == TCEP else mechanism
