"""Estimates the run times of points from the times of finished points.

The estimate takes into account that points with a higher load take longer.
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING

from weft.text.labels import at

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from weft._engine import Point

# The run time of a point is assumed to be proportional to its weight: this number plus the load [flits/terminal/cycle].
# Points without load also take time, because sources draw random numbers and the states of links are counted.
_IDLE = 0.1
# The remaining time of a running point is extrapolated only after this share of its cycles, because the first cycles
# give a bad estimate.
_TELLING = 0.05
# If the warm-up ends automatically, a point also has a maximum time, which is extrapolated after this number of cycles.
_FIRST_CYCLES = 1000
# A maximum time is printed only if it is more than this factor times the likely time.
_WORTH_TELLING = 2.0


class Estimate:
    """Estimates the run times of points.

    The estimate for a point is its weight, which grows with the load, times the measured time per weight of similar
    points.

    Parameters
    ----------
    points : sequence of Point
        Points to run. The methods identify a point by its index in this sequence.
    """

    def __init__(self, points: Sequence[Point]) -> None:
        self._weights = [_IDLE + offered(point) for point in points]
        self._kinds = [kind_of(point) for point in points]
        self._ends_by_itself = [at(point.resolved, "measure.warmup") == "auto" for point in points]
        self._ends_when_done = [ends_when_done(point) for point in points]
        self._waiting: dict[str, float] = defaultdict(float)
        for kind, weight in zip(self._kinds, self._weights, strict=True):
            self._waiting[kind] += weight
        self._paced: dict[int, float] = {}
        self._seconds: dict[str, float] = defaultdict(float)
        self._learned: dict[str, float] = defaultdict(float)

    def begin(self, place: int) -> None:
        """Record that a point has begun to run."""
        self._waiting[self._kinds[place]] -= self._weights[place]

    def pace(self, place: int, seconds: float | None) -> None:
        """Record the total time of a running point [s] that is estimated from its first cycles.

        `seconds` is ``None`` if the time is unknown.
        """
        if seconds is not None and not self._ends_when_done[place]:
            self._paced[place] = seconds

    def fraction(self, place: int, cycles: int, of: int) -> float:
        """Share of the cycles of a running point that are done; 0 if only the maximum number of its cycles is known."""
        return 0.0 if self._ends_when_done[place] else min(1.0, cycles / max(1, of))

    def learn(self, place: int, seconds: float) -> None:
        """Record the run time of a finished point [s]."""
        for key in (self._kinds[place], ""):  # "" means all kinds together
            self._seconds[key] += seconds
            self._learned[key] += self._weights[place]

    def left(self, place: int, fraction: float, seconds: float) -> float | None:
        """Time that a running point still needs [s]; ``None`` if unknown.

        Parameters
        ----------
        place : int
            Index of the point.
        fraction : float
            Share of its warm-up and window that is done; 1 while the last packets are delivered.
        seconds : float
            Run time so far [s].
        """
        alike = self._ratio(self._kinds[place])
        expected = None if alike is None else alike * self._weights[place]
        own = self._paced.get(place, seconds / fraction if fraction >= _TELLING else None)
        if expected is None:
            total = own
        elif own is None or fraction >= 1:  # only other points show how long the last deliveries take
            total = expected
        else:
            total = fraction * own + (1 - fraction) * expected
        return None if total is None else max(0.0, total - seconds)

    def most_left(self, place: int, cycles: int, of: int, seconds: float) -> float | None:
        """Time that a running point still needs if its warm-up lasts up to the limit of the warm-up [s].

        The result is ``None`` if it is unknown, or not much more than the likely time.

        Parameters
        ----------
        place : int
            Index of the point.
        cycles, of : int
            Cycles that are done, and all cycles of warm-up and window. An automatic warm-up counts with its limit until
            it has ended.
        seconds : float
            Run time so far [s].
        """
        if not self._ends_by_itself[place] or cycles < _FIRST_CYCLES:
            return None
        most = seconds * max(0, of - cycles) / cycles
        likely = self.left(place, cycles / max(1, of), seconds)
        return most if likely is None or most > _WORTH_TELLING * likely else None

    def all_left(self, running: Iterable[tuple[int, float, float]], workers: int) -> float | None:
        """Time until all points are done [s].

        `running` has the index, the finished share and the run time of each running point.
        """
        flights = [(place, seconds, self.left(place, fraction, seconds)) for place, fraction, seconds in running]
        known = [(place, seconds + left) for place, seconds, left in flights if left is not None]
        if not known and not self._learned:
            return None
        weight = sum(self._weights[place] for place, _ in known)
        guess = sum(seconds for _, seconds in known) / weight if known else 0.0
        waiting = sum(
            weight * (guess if (ratio := self._ratio(kind)) is None else ratio)
            for kind, weight in self._waiting.items()
        )
        rest = [left or 0.0 for _, _, left in flights]
        # the weight of the waiting points can be slightly negative when none is left, because of rounding errors
        return max([(sum(rest) + max(0.0, waiting)) / workers, *rest])

    def _ratio(self, kind: str) -> float | None:
        """Measured run time per weight [s] of points of a kind, or of all points, if no such point is done."""
        key = kind if kind in self._learned else ""
        return self._seconds[key] / self._learned[key] if key in self._learned else None


def ends_when_done(point: Point) -> bool:
    """Whether a point runs until its batches or programs are done.

    The number of cycles in the scenario of such a point is only a maximum, which is often much larger than the real
    number.
    """
    return at(point.resolved, "measure.stop.complete") is not None


def offered(point: Point) -> float:
    """Load of a point; 0 if each of its jobs sets its load."""
    load = at(point.resolved, "traffic.load")
    return float(load) if isinstance(load, int | float) else 0.0


def kind_of(point: Point) -> str:
    """The kind of a point, as a string: its whole scenario except name, load and seed."""
    traffic = {key: value for key, value in point.resolved["traffic"].items() if key != "load"}
    rest = {key: value for key, value in point.resolved.items() if key not in {"name", "seed", "traffic"}}
    return json.dumps([rest, traffic])
