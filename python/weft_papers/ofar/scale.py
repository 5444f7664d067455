"""Rules that say at which size of the network they were judged: quick runs take smaller ones than the paper."""

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
    """The same in words: ``h = 3``."""
    return f"h = {' and '.join(map(str, sizes(measured, *experiments)))}"


def scaled(rule: Rule) -> Rule:
    """A trend, judged at the size that was run; what was measured says which."""

    def judge(measured: Measured) -> Finding:
        found = rule.judge(measured)
        shown = words(measured, *rule.needs)
        because = found.because and f"{found.because}; at {shown}"
        return replace(found, measured=f"{found.measured} ({shown})", because=because)

    return replace(rule, judge=judge)


def paper_only(rule: Rule) -> Rule:
    """A number of the paper's network, which others do not have: it is shown for them, and not judged."""

    def judge(measured: Measured) -> Finding:
        found = rule.judge(measured)
        if PAPER_H in sizes(measured, *rule.needs):
            return found
        reported = words(measured, *rule.needs)
        because = f"the number is of h = {PAPER_H}, and {reported} was run; --full runs it"
        return Finding("not run", f"{found.measured} ({reported})", found.value, because)

    return replace(rule, judge=judge)
