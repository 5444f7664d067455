"""Estimates the speed of a run from its first cycles."""

from __future__ import annotations

# Minimum time between the first and the last observed change of the cycle count [s]. Each observed time is late by up
# to the interval between two checks. Therefore the time between the changes must be several such intervals.
_TELLING_SECONDS = 1.0


class Pace:
    """Estimates the speed of a run from readings of its cycle count.

    In a large network, the cycle count changes only every second or two. Therefore the estimate uses the times at which
    changes of the count were observed, and not the time of the last check. The last check can be up to two seconds
    after the last change.
    """

    def __init__(self) -> None:
        self._first: tuple[float, int] | None = None
        self._last = (0.0, 0)

    def look(self, seconds: float, cycle: int) -> None:
        """Record the number of cycles that a run has finished after some seconds."""
        if cycle > self._last[1]:
            self._last = seconds, cycle
            self._first = self._first or self._last

    @property
    def begun(self) -> bool:
        """Whether the network of the run has been built and the first cycles have finished."""
        return self._first is not None

    def total(self, cycles: int) -> float | None:
        """Estimated time of a run with this number of cycles, including the construction of the network [s].

        The result is ``None`` until at least a second has passed between the first and the last observed change.
        """
        if self._first is None or self._last[0] - self._first[0] < _TELLING_SECONDS:
            return None
        per_cycle = (self._last[0] - self._first[0]) / (self._last[1] - self._first[1])
        return self._last[0] + per_cycle * max(cycles - self._last[1], 0)
