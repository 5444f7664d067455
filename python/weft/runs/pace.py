"""Estimates the speed of a run from its own first cycles."""

from __future__ import annotations

# The time between the first and the last change is exact to a look, of which there are several in this time.
_TELLING_SECONDS = 1.0


class Pace:
    """The pace of a run whose count of cycles is looked at now and then.

    The count of a large network changes seldom, after as many cycles as take a second or two. So the times of its
    observed changes count: to use the time of the last look would add up to a whole such span.
    """

    def __init__(self) -> None:
        self._first: tuple[float, int] | None = None
        self._last = (0.0, 0)

    def look(self, seconds: float, cycle: int) -> None:
        """Note the cycle that a run has reached after some seconds."""
        if cycle > self._last[1]:
            self._last = seconds, cycle
            self._first = self._first or self._last

    @property
    def begun(self) -> bool:
        """Whether its network has been built, and the first cycles are done."""
        return self._first is not None

    def total(self, cycles: int) -> float | None:
        """Seconds for a number of cycles and the set-up; ``None`` until cycles of a second have been seen."""
        if self._first is None or self._last[0] - self._first[0] < _TELLING_SECONDS:
            return None
        per_cycle = (self._last[0] - self._first[0]) / (self._last[1] - self._first[1])
        return self._last[0] + per_cycle * max(cycles - self._last[1], 0)
