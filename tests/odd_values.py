"""Checks the reproductions of papers with unusual measured values, which must not make the report fail."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import polars as pl

from paper_checks import check_findings
from turns import in_turn
from weft_papers.common import line_figures
from weft_papers.common.frames import SCHEMA
from weft_papers.common.measured import LackingError, Measured

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weft_papers.common.paper import Paper

ODD = [None, 0.0, "stalled"]
"""Unusual values, each used for all numbers of a mechanism. A text means that all its runs are stalled."""


def check_report(
    paper: Paper, ideal: Measured, experiment: str, mechanisms: Iterable[str], value: float | str | None
) -> None:
    """Draw the figures of an experiment and judge its claims, with unusual values for one mechanism at a time.

    In `make test` only one of the mechanisms gets unusual values. The index of the experiment and of the value select
    it.
    """
    turn = ODD.index(value) + [each.name for each in paper.experiments].index(experiment)
    numbers = [name for name, kind in SCHEMA.items() if kind == pl.Float64 and name not in ("load", "seed")]
    for mechanism in in_turn(turn, sorted(mechanisms)):
        it = pl.col("mechanism") == mechanism
        odd = (
            [(pl.col("stalled") | it).alias("stalled")]
            if value == "stalled"
            else [pl.when(~it).then(pl.col(name)).otherwise(pl.lit(value)).alias(name) for name in numbers]
        )
        frames = dict(ideal.frames)
        measured = Measured(frames | {experiment: frames[experiment].with_columns(odd)})
        for figure in paper.figures:
            if experiment in figure.needs:
                with suppress(LackingError):
                    shown = figure.rows(measured) if figure.rows else line_figures.drawn(figure, measured).numbers
                    assert shown is not None
        check_findings(paper, ideal, measured, experiment)
