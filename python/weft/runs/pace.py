"""Estimates the speed of a run from its own first cycles."""

from __future__ import annotations

# The times of the first and the last change are exact to one check. Several checks must fit into the time between the
# changes.
_TELLING_SECONDS = 1.0


class Pace:
    """The pace of a run whose cycle count is checked from time to time.

    The cycle count of a large network is updated only every second or two. So the estimate uses the times of observed
    changes. With the time of the last check instead, the error could be a whole interval between updates.
    """

    def __init__(self) -> None:
        self._first: tuple[float, int] | None = None
        self._last = (0.0, 0)

    def look(self, seconds: float, cycle: int) -> None:
        """Record the cycle that a run has reached after some seconds."""
        if cycle > self._last[1]:
            self._last = seconds, cycle
            self._first = self._first or self._last

    @property
    def begun(self) -> bool:
        """Whether the network of the run has been built, and the first cycles are done."""
        return self._first is not None

    def total(self, cycles: int) -> float | None:
        """Seconds for a number of cycles and the set-up; ``None`` until the changes observed cover a second."""
        if self._first is None or self._last[0] - self._first[0] < _TELLING_SECONDS:
            return None
        per_cycle = (self._last[0] - self._first[0]) / (self._last[1] - self._first[1])
        return self._last[0] + per_cycle * max(cycles - self._last[1], 0)
