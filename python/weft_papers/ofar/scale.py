"""Changes rules so that their findings state the size of the network, because quick runs use smaller networks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from weft_papers.common.rules import Finding

if TYPE_CHECKING:
    from weft_papers.common.measured import Measured
    from weft_papers.common.rules import Rule

# Size of the paper's network: h = 6, with 73 groups, 876 routers and 5,256 nodes.
PAPER_H = 6


def sizes(measured: Measured, *experiments: str) -> list[int]:
    """Return the sizes h of the networks that these experiments ran."""
    return sorted({h for name in experiments for h in measured[name]["h"].drop_nulls()})


def words(measured: Measured, *experiments: str) -> str:
    """Return the sizes h of the networks that these experiments ran as a string, such as ``h = 3``."""
    return f"h = {' and '.join(map(str, sizes(measured, *experiments)))}"


def scaled(rule: Rule) -> Rule:
    """Change the rule of a trend so that its finding names the size of the network that was run."""

    def judge(measured: Measured) -> Finding:
        found = rule.judge(measured)
        shown = words(measured, *rule.needs)
        because = found.because and f"{found.because}; at {shown}"
        return replace(found, measured=f"{found.measured} ({shown})", because=because)

    return replace(rule, judge=judge)


def paper_only(rule: Rule) -> Rule:
    """Change the rule of a claim that states a number for the paper's network.

    For networks of other sizes, the finding shows the measured number but has no verdict.
    """

    def judge(measured: Measured) -> Finding:
        found = rule.judge(measured)
        if PAPER_H in sizes(measured, *rule.needs):
            return found
        reported = words(measured, *rule.needs)
        because = f"the number is for h = {PAPER_H}, but {reported} was run: use --full"
        return Finding("not run", f"{found.measured} ({reported})", found.value, because)

    return replace(rule, judge=judge)
