"""Finds the saturation load by bisection over a list of loads.

The code needs no network: it requests loads, and the caller runs them and returns the verdicts.
"""

from __future__ import annotations

import math
from enum import StrEnum
from itertools import takewhile
from typing import TYPE_CHECKING

from weft.text import given

if TYPE_CHECKING:
    from collections.abc import Sequence

# At its end, the search requests one more load below the edge and one above it. Their distance from the two loads at
# the edge is this number of places in the list.
_BESIDE = 2


class Verdict(StrEnum):
    """Result of a search for the saturation load, as a word in tables."""

    FOUND = "found"
    """The search has found an edge: loads below it are good (not too much), and loads above it are too much."""
    BELOW = "below_range"
    """All loads of the range are too much for the network."""
    ABOVE = "above_range"
    """No load of the range is too much."""
    MIXED = "not_monotonic"
    """A load is too much, and a higher one is not."""
    OPEN = "not_judged"
    """For some loads near the edge, it is unknown if they are too much."""


class Search:
    """Finds the edge in a list of loads: loads below it are good, and loads above it are too much for the network.

    The search first requests the lowest and the highest load. The search then repeatedly requests the load in the
    middle between a good load and one that is too much, until these are neighbours in the list. Finally the search
    requests a load below and a load above these two, to check that lower loads are good and higher loads are too much.

    Parameters
    ----------
    loads : sequence of float
        The loads in ascending order.
    """

    def __init__(self, loads: Sequence[float]) -> None:
        self._loads = [given.number(load, "loads", 0.5) for load in given.listed(loads, "loads", "0.1, 0.5")]
        self._known: dict[int, bool | None] = {}

    def learn(self, load: float, *, over: bool | None) -> None:
        """Store the verdict on a load: `over` is true if the load is too much, and ``None`` if that is unknown."""
        self._known[self._loads.index(load)] = over

    def wanted(self) -> list[float]:
        """Loads whose verdicts the search needs next; empty at the end of the search."""
        return [self._loads[step] for step in self._edge()[2]]

    def left(self) -> int:
        """Maximum number of loads that the search will still request."""
        low, high, wanted = self._edge()
        if not wanted:
            return 0
        ends = 2 - len(self._known.keys() & {0, len(self._loads) - 1})
        return ends + math.ceil(math.log2(max(1, high - low))) + 2 if high - low > 1 else len(wanted)

    def _edge(self) -> tuple[int, int, list[int]]:
        """The indices of the two loads between which the edge is, and the indices of the loads to request next.

        If the verdict on a load is unknown, the search continues with higher loads, as if the load were good.
        """
        low, high = 0, len(self._loads) - 1
        if missing := [step for step in dict.fromkeys((low, high)) if step not in self._known]:
            return low, high, missing
        if self._known[low] or not self._known[high]:
            return low, high, []
        while high - low > 1:
            middle = (low + high) // 2
            if middle not in self._known:
                return low, high, [middle]
            low, high = (low, middle) if self._known[middle] else (middle, high)
        beside = (low - _BESIDE, high + _BESIDE)
        return low, high, [step for step in beside if 0 <= step < len(self._loads) and step not in self._known]

    def bracket(self) -> tuple[float | None, float | None, Verdict]:
        """The highest load below which no known load is too much, the lowest above which all are, and the verdict.

        The first load is ``None`` if no load is good, and the second if no load is too much.
        """
        steps = sorted(step for step, over in self._known.items() if over is not None)
        good = list(takewhile(lambda step: not self._known[step], steps))
        bad = list(takewhile(lambda step: self._known[step], reversed(steps)))
        low = self._loads[good[-1]] if good else None
        high = self._loads[bad[-1]] if bad else None
        if len(good) + len(bad) < len(steps):
            return low, high, Verdict.MIXED
        first = good[-1] if good else -1
        last = bad[-1] if bad else len(self._loads)
        # an unknown verdict below a good load, or above a load that is too much, changes nothing
        if any(over is None and first < step < last for step, over in self._known.items()):
            return low, high, Verdict.OPEN
        return low, high, Verdict.FOUND if good and bad else (Verdict.ABOVE if good else Verdict.BELOW)
