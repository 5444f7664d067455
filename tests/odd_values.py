"""Odd numbers in the frames of a reproduction: whatever was measured, its report is made."""

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
"""Values of all numbers of a mechanism; or all its runs are stalled."""


def check_report(
    paper: Paper, ideal: Measured, experiment: str, mechanisms: Iterable[str], value: float | str | None
) -> None:
    """Draw the figures that need an experiment and judge the claims that read it, with each mechanism odd in it.

    In `make test` one of the mechanisms is odd, by turns.
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
