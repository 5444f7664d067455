"""Computes half widths of 95 % confidence intervals of means (by Student) and of their differences (by Welch)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean, variance
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_STEPS = 2000
# Maximum number of degrees of freedom for the quantile; for more degrees the exact quantile differs by less than 0.003.
_MANY = 1000.0


@dataclass(frozen=True)
class Mean:
    """A mean over runs of different seeds, or the mean of a single run.

    Attributes
    ----------
    value : float
        The mean.
    half_width : float or None
        Half width of the 95 % confidence interval of the mean, computed from the values of the runs, or by the engine
        for a single run; ``None`` if it is unknown.
    runs : int
        Number of runs.
    error : float
        Variance of the mean (variance of the runs divided by their number); 0 for a single run.
    """

    value: float
    half_width: float | None
    runs: int
    error: float

    @classmethod
    def of(cls, values: Sequence[float], half_width: float | None) -> Mean:
        """The mean of the values of several runs.

        If there is only one run, its half width is `half_width`, which the engine computed during the run.
        """
        if len(values) == 1:
            return cls(values[0], half_width, 1, 0.0)
        error = variance(values) / len(values)
        return cls(fmean(values), quantile95(len(values) - 1) * math.sqrt(error), len(values), error)

    @classmethod
    def over(cls, runs: Iterable[tuple[float | None, float | None]]) -> Mean | None:
        """The mean over the runs that have a value; ``None`` if no run has one.

        Each entry of `runs` has the value of a run, and the half width that the engine computed during the run.
        """
        known = [(value, half_width) for value, half_width in runs if value is not None]
        return cls.of([value for value, _ in known], known[0][1]) if known else None

    def difference_half_width(self, other: Mean) -> float | None:
        """Half width of the 95 % confidence interval of the difference of two means of independent runs.

        If both means are over several runs, the interval is Welch's. Otherwise the squares of the two half widths are
        added.
        """
        if self.half_width is None or other.half_width is None:
            return None
        if min(self.runs, other.runs) == 1:
            return math.hypot(self.half_width, other.half_width)
        total = self.error + other.error
        if total == 0:
            return 0.0
        freedom = total**2 / (self.error**2 / (self.runs - 1) + other.error**2 / (other.runs - 1))
        return quantile95(freedom) * math.sqrt(total)


@lru_cache
def quantile95(freedom: float) -> float:
    """The value that the magnitude of Student's t exceeds in 5 % of cases, with `freedom` degrees of freedom.

    With t = sqrt(freedom) * tan(angle), the density over the angle is proportional to cos(angle) to the power of
    freedom - 1.
    """
    freedom = min(freedom, _MANY)
    step = math.pi / 2 / _STEPS
    density = [math.cos((number + 0.5) * step) ** (freedom - 1) for number in range(_STEPS)]
    wanted = 0.95 * sum(density)
    below = 0.0
    for number, each in enumerate(density):
        if below + each >= wanted:
            return math.sqrt(freedom) * math.tan((number + (wanted - below) / each) * step)
        below += each
    raise AssertionError("the densities add up to more than 95 % of their sum")
