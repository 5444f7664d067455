"""Checks that latencies settle in the same order in Weft and in the peer (another simulator) after a pattern changes.

Rows with the same change of the traffic pattern differ only in the routing. Settling times are known only to the width
of a bin. Two rows settle one after the other if their times differ by more than this width, otherwise they settle
together. Any two rows must have the same order in Weft as in the peer. The change itself counts as a row that settles
at time 0. Therefore a row has an order even if no other row has the same change.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from weft_peers.validate.judge import answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft_peers.validate.judge import Verdict

_WORDS = {-1: "before", 0: "together with", 1: "after"}


@dataclass(frozen=True)
class Row:
    """The time after a change of the traffic pattern at which the latency of a row settles, in both simulators.

    Attributes
    ----------
    place : int
        Index of the row in the list of verdicts.
    peer, name : str
        The simulator, and the name of the row (or of the change itself).
    bin : int
        Width of the peer's bins [cycles].
    theirs, ours : float
        Settling times in the peer and in Weft [cycles].
    """

    place: int
    peer: str
    name: str
    bin: int
    theirs: float
    ours: float


@dataclass(frozen=True)
class Pair:
    """Two rows of the same change of traffic, whose order of settling is compared."""

    first: Row
    second: Row

    @property
    def theirs(self) -> int:
        """Return the order in the peer: -1 if the first row settles before the second, 0 if together, 1 if after."""
        return self._order(self.first.theirs - self.second.theirs)

    @property
    def ours(self) -> int:
        """Return the order of the two rows in Weft as -1, 0 or 1 (see `theirs`)."""
        return self._order(self.first.ours - self.second.ours)

    @property
    def sentence(self) -> str:
        """Return a sentence with the settling times of the first row, for an order that differs from the peer's."""
        first, second = self.first, self.second
        return (
            f"settles {_WORDS[self.ours]} {second.name} ({first.ours:g} and {second.ours:g} cycles), "
            f"in {first.peer} {_WORDS[self.theirs]} it ({first.theirs:g} and {second.theirs:g} cycles)"
        )

    def _order(self, apart: float) -> int:
        return 0 if abs(apart) <= self.first.bin else 1 if apart > 0 else -1


def pairs(verdicts: Sequence[Verdict]) -> list[Pair]:
    """List all pairs of rows with the same change of traffic that both simulators ran."""
    return [Pair(*pair) for together in _of_changes(verdicts) for pair in combinations(together, 2)]


def in_order(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the verdicts, in which rows that settle in another order than in the peer fail, with a reason."""
    found: dict[int, list[str]] = defaultdict(list)
    both = [ordered for pair in pairs(verdicts) for ordered in (pair, Pair(pair.second, pair.first))]
    with_change = [
        Pair(row, replace(row, name="the change", theirs=0.0, ours=0.0))
        for together in _of_changes(verdicts)
        for row in together
    ]
    for each in (*both, *with_change):
        if each.theirs != each.ours:
            found[each.first.place].append(each.sentence)
    return [_failing(verdict, found.get(place, [])) for place, verdict in enumerate(verdicts)]


def _of_changes(verdicts: Sequence[Verdict]) -> list[list[Row]]:
    """Return a list for each change of traffic, with the rows that both simulators ran."""
    rows: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for place, verdict in enumerate(verdicts):
        case, change, ours = verdict.case, verdict.case.change, verdict.response
        if change and ours:
            row = Row(place, case.peer, case.name, change.bin, change.theirs.adapted, ours.adapted)
            rows[case.peer, change.of].append(row)
    return list(rows.values())


def _failing(verdict: Verdict, more: Sequence[str]) -> Verdict:
    if verdict.case.must_match == "info":
        return verdict
    reasons = (*verdict.reasons, *more)
    return replace(verdict, answer=answer(verdict.case, reasons), reasons=reasons)
