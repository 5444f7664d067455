"""Rules that state the size of the network at which they were judged, because quick runs use smaller networks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from weft_papers.common.rules import Finding

if TYPE_CHECKING:
    from weft_papers.common.measured import Measured
    from weft_papers.common.rules import Rule

# The paper's size: h = 6, 73 groups, 876 routers, 5,256 nodes.
PAPER_H = 6


def sizes(measured: Measured, *experiments: str) -> list[int]:
    """The sizes h of the networks of experiments."""
    return sorted({h for name in experiments for h in measured[name]["h"].drop_nulls()})


def words(measured: Measured, *experiments: str) -> str:
    """The sizes h as a string: ``h = 3``."""
    return f"h = {' and '.join(map(str, sizes(measured, *experiments)))}"


def scaled(rule: Rule) -> Rule:
    """The rule of a trend, judged at the size that was run. The finding names this size."""

    def judge(measured: Measured) -> Finding:
        found = rule.judge(measured)
        shown = words(measured, *rule.needs)
        because = found.because and f"{found.because}; at {shown}"
        return replace(found, measured=f"{found.measured} ({shown})", because=because)

    return replace(rule, judge=judge)


def paper_only(rule: Rule) -> Rule:
    """The rule of a number that only the paper's network has.

    For other networks, the number is shown but not judged.
    """

    def judge(measured: Measured) -> Finding:
        found = rule.judge(measured)
        if PAPER_H in sizes(measured, *rule.needs):
            return found
        reported = words(measured, *rule.needs)
        because = f"the number is for h = {PAPER_H}, but {reported} was run: use --full"
        return Finding("not run", f"{found.measured} ({reported})", found.value, because)

    return replace(rule, judge=judge)
