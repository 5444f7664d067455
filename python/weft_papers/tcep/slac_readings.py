"""Judges claims about SLaC under both interpretations of its low threshold.

In one interpretation, stages never go off. In the literal interpretation, a stage goes off if its buffers are filled
less than the threshold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from weft_papers.common.measured import LackingError, Measured
from weft_papers.common.rules import WORDS, Finding
from weft_papers.tcep import synthetic
from weft_papers.tcep.mechanisms import LITERAL, SLAC

if TYPE_CHECKING:
    from weft_papers.common.rules import Rule

NEEDS = (synthetic.UNIFORM, synthetic.TORNADO, synthetic.BITREV)


def _as_read(measured: Measured, reading: str) -> Measured:
    """Return all measurements, with only the points of one interpretation as the points of SLaC."""
    others = ~pl.col("mechanism").is_in([SLAC, LITERAL])
    frames = {
        name: frame.filter(others | (pl.col("mechanism") == reading)).with_columns(
            mechanism=pl.col("mechanism").replace(LITERAL, SLAC)
        )
        for name, frame in measured.frames.items()
    }
    # the points of this experiment start with all links on; with the literal threshold, stages then go off
    if reading == LITERAL and measured.has([synthetic.LEAST]):
        from_all = frames[synthetic.LEAST].filter(pl.col("mechanism") == SLAC)
        frames[synthetic.UNIFORM] = pl.concat([frames[synthetic.UNIFORM], from_all])
    return Measured(frames, measured.quick)


def _cell(rule: Rule, measured: Measured) -> str:
    try:
        if lacking := [name for name in rule.needs if name not in measured.frames]:
            raise LackingError(f"{' and '.join(lacking)} was not run")
        found = rule.judge(measured)
    except LackingError as problem:
        found = Finding("not run", because=str(problem))
    return f"{WORDS[found.answer]}: {found.measured or found.because}"


def table(measured: Measured) -> pl.DataFrame:
    """Make the table of claims about SLaC. Each interpretation has a column with verdicts and measured values.

    Raises
    ------
    LackingError
        If SLaC did not run with the literal threshold.
    """
    if not any((measured[name]["mechanism"] == LITERAL).any() for name in NEEDS):
        raise LackingError(f"{LITERAL} was not run")
    kept, literal = (_as_read(measured, reading) for reading in (SLAC, LITERAL))
    return pl.DataFrame(
        [
            {
                "claim": claim,
                "asked": rule.words,
                "stages are kept": _cell(rule, kept),
                "literal low threshold": _cell(rule, literal),
            }
            for claim, rule in synthetic.by_reading().items()
        ]
    )
