"""Computes HyperX networks by formula.

Source: J. H. Ahn et al., "HyperX", SC'09; J. H. Lindsey, "Assignment of Numbers to Vertices", Amer. Math. Monthly 71,
1964, for the bisection; the FleX paper (IEEE Access 2022), section IV-A, for the layout.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from weft.design.plan import EXACT, Plan, rising, terminals_each

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from weft.design.packaging import Layout

# Maximum number of dimensions of a candidate. More dimensions increase the diameter, but do not lower the cost.
_DIMENSIONS = 4


def plan(parameters: Mapping[str, Any]) -> Plan:
    """Computes the numbers of a HyperX: routers, terminals, ports, links, distances."""
    widths, each = parameters["widths"], parameters["terminals_per_router"]
    routers, degree = math.prod(widths), sum(widths) - len(widths)
    # in a line of w places, the distances of all pairs add up to w (w^2 - 1) / 6
    distance = sum(routers * (width * width - 1) // 6 for width in widths)
    return Plan(
        routers=routers,
        terminals=routers * each,
        radix=degree + each,
        most_terminals=each,
        links=routers * degree // 2,
        degree=degree,
        diameter=sum(width > 1 for width in widths),
        bisection=half_cut(sorted(widths), routers // 2),
        bisection_kind=EXACT,
        inside=0,
        distance=distance,
        longest=max(widths) - 1,
        racks=routers // widths[0],
    )


def half_cut(widths: Sequence[int], first: int) -> int:
    """Number of links between the `first` routers in lexicographic order and the other routers.

    In lexicographic order the first dimension changes slowest.
    """
    if not widths:
        return 0
    width, inner = widths[0], math.prod(widths[1:])
    whole, rest = divmod(first, inner)
    across = rest * (whole + 1) * (width - whole - 1) + (inner - rest) * whole * (width - whole)
    return across + half_cut(widths[1:], rest)


def layout(_: Mapping[str, Any]) -> Layout | None:
    """``None``: the routers of a HyperX have their places on the grid of the network."""
    return None


def candidates(terminals: int, radix: int) -> Iterator[dict[str, Any]]:
    """Parameters of all HyperX of up to `_DIMENSIONS` dimensions, with widths in ascending order."""
    for dimensions in range(1, _DIMENSIONS + 1):
        for widths in rising(2, dimensions, terminals, radix - 1 + dimensions):
            room = radix - (sum(widths) - dimensions)
            if each := terminals_each(terminals, math.prod(widths), room):
                yield {"widths": list(widths), "terminals_per_router": each}
