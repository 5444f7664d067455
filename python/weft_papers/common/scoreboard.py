"""Makes the scoreboard: for each claim of a paper, the printed value, the measured value, and the verdict."""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from weft.errors import WeftError
from weft.text.columns import columns
from weft_papers.common import claims
from weft_papers.common.measured import LackingError
from weft_papers.common.rules import WORDS, Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft_papers.common.claims import Claim
    from weft_papers.common.measured import Measured
    from weft_papers.common.paper import Experiment, Paper
    from weft_papers.common.rules import Rule

# Maximum number of characters in a cell of the table on the screen.
_WIDEST = {"metric": 44, "printed": 26, "measured": 40}
_SHOWN = ("id", "section", "metric", "printed", "measured", "answer")


@dataclass(frozen=True)
class Row:
    """A row of the scoreboard: a claim, its rule, and the result of the rule.

    Attributes
    ----------
    claim : Claim
        The claim as printed.
    rule : Rule
        The rule that says when the claim is met.
    finding : Finding
        The measured value and the answer of the rule.
    """

    claim: Claim
    rule: Rule
    finding: Finding

    @property
    def verdict(self) -> str:
        """The answer as text; an answer that the claim is missed or has no verdict is followed by the reason."""
        word = WORDS[self.finding.answer]
        return f"{word} because {self.reason}" if self.finding.answer in _REASONED else word

    @property
    def reason(self) -> str:
        """The reason why the claim is not met. For a missed claim, the cause is at the end."""
        return "; ".join(filter(None, [self.finding.because, self.finding.cause]))

    def document(self) -> dict[str, Any]:
        """Return this row of the scoreboard as data for programs and tables."""
        claim, finding = self.claim, self.finding
        return {
            "id": claim.id,
            "section": claim.section,
            "scenario": claim.scenario,
            "metric": claim.metric,
            "kind": claim.kind,
            "printed": claim.printed,
            "rule": self.rule.words,
            "measured": finding.measured,
            "value": finding.value,
            "answer": WORDS[finding.answer],
            "because": finding.because,
            "cause": finding.cause,
            "verdict": self.verdict,
        }


_REASONED = ("missed", "untestable", "not run")


def judge(paper: Paper, measured: Measured) -> list[Row]:
    """Judge each claim of a paper from the measurements, by the claim's rule.

    Raises
    ------
    WeftError
        If a claim has no rule, or a rule has no claim.
    """
    printed = claims.read(paper.path("claims.csv"))
    if odd := {claim.id for claim in printed} ^ paper.rules.keys():
        what = f"{paper.name}: claims without a rule, or rules without a claim: {', '.join(sorted(odd))}"
        raise WeftError.saying(what, "give each claim of claims.csv exactly one rule")
    return [Row(claim, rule := paper.rules[claim.id], finding(paper, rule, measured)) for claim in printed]


def finding(paper: Paper, rule: Rule, measured: Measured) -> Finding:
    """Judge one claim by its rule, and return the finding."""
    if because := lacking(paper, rule.needs, measured):
        return Finding("not run", because=because)
    try:
        found = rule.judge(measured)
    except LackingError as problem:
        return Finding("not run", because=str(problem))
    late = measured.unsettled(rule.needs)
    return replace(found, measured=f"{found.measured} ({late})") if late else found


def lacking(paper: Paper, needs: Sequence[str], measured: Measured) -> str:
    """Return text that names the needed experiments that were not run, and the options that run them.

    The text is empty if all needed experiments were run.
    """
    absent = [each for each in paper.experiments if each.name in needs and each.name not in measured.frames]
    if not absent:
        return ""
    listed = " and ".join(f"{each.name} ({each.file})" if each.scenario else each.file for each in absent)
    return f"the points of {listed} are missing: run them {_remedy(paper, absent, quick=measured.quick)}"


def _remedy(paper: Paper, absent: Sequence[Experiment], *, quick: bool) -> str:
    """Return the options of the command line that run the omitted experiments."""
    if quick and any(not each.quick for each in absent):
        return "with --full"
    if quick and any(each.asked for each in absent):
        names = {each.name for each in absent}
        figures = " ".join(figure.name for figure in paper.figures if names.intersection(figure.needs))
        return f"with --only {figures}, or with --full"
    return "without --only"


def count(rows: Sequence[Row]) -> dict[str, int]:
    """Count the claims with each answer, in the order of `WORDS`."""
    found = Counter(row.finding.answer for row in rows)
    return {word: found[answer] for answer, word in WORDS.items() if found[answer]}


def count_words(rows: Sequence[Row]) -> str:
    """Return text with the number of claims for each answer."""
    return ", ".join(f"{number} {word}" for word, number in count(rows).items()) + f", of {len(rows)} claims"


def table(rows: Sequence[Row]) -> list[str]:
    """Return the lines of the scoreboard for a screen, with long strings cut.

    After the table, lines give the reason of each missed claim.
    """
    cells = [[str(row.document()[name]) for name in _SHOWN] for row in rows]
    cut = [[_cut(cell, _WIDEST.get(name, 99)) for name, cell in zip(_SHOWN, line, strict=True)] for line in cells]
    misses = [row for row in rows if row.finding.answer == "missed"]
    reasons = [f"  {row.claim.id}: {row.claim.metric}: {row.verdict}" for row in misses]
    return [*columns(_SHOWN, cut, left=len(_SHOWN)), *(["", "Missed:", *reasons] if reasons else [])]


def as_csv(rows: Sequence[Row]) -> str:
    """Return the whole scoreboard as CSV text."""
    stream = io.StringIO()
    documents = [row.document() for row in rows]
    writer = csv.DictWriter(stream, list(documents[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(documents)
    return stream.getvalue()


def _cut(words: str, width: int) -> str:
    return words if len(words) <= width else f"{words[: width - 3]}..."
