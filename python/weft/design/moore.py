"""The Moore bound: maximum number of routers of a graph with a given degree and diameter.

Source: M. Miller, J. Siran, "Moore Graphs and Beyond", Electronic Journal of Combinatorics DS14.
"""

from __future__ import annotations


def bound(degree: int, diameter: int) -> int:
    """Maximum number of routers of a graph with this degree and diameter."""
    reached: int = 1 + degree * sum((degree - 1) ** step for step in range(diameter))
    return reached


def share(routers: int, degree: int, diameter: int) -> float:
    """Number of routers as a share of the Moore bound."""
    return routers / bound(degree, diameter)
