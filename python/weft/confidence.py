"""Student's t, for the confidence of means over seeds."""

from __future__ import annotations

# Two-sided 95 % quantiles for 1 to 30 degrees of freedom.
_T95 = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131),
    *(2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)
_NORMAL = 1.959964


def student_t95(degrees: int) -> float:
    """Two-sided 95 % quantile; above the table Abramowitz and Stegun 26.7.5, good to 0.001 there."""
    if degrees <= len(_T95):
        return _T95[degrees - 1]
    z = _NORMAL
    return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)
