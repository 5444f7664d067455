"""Computes tori by formula.

Source: M. C. Azizoglu, O. Egecioglu, "The Bisection Width and the Isoperimetric Number of Arrays", Discrete Applied
Mathematics 138, 2004, for the bisection. The layout folds each ring, so that its cables are at most two pitches
(distances of neighbouring places) long.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from weft.design.plan import EXACT, Plan, rising, terminals_each

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from weft.design.packaging import Layout

_DIMENSIONS = (2, 3, 4)
# Maximum number of routers in a ring of a candidate.
_WIDEST = 32


def plan(parameters: Mapping[str, Any]) -> Plan:
    """Computes the numbers of a torus whose rings have at least three routers."""
    widths, each = parameters["widths"], parameters["terminals_per_router"]
    routers, dimensions = math.prod(widths), len(widths)
    return Plan(
        routers=routers,
        terminals=routers * each,
        radix=2 * dimensions + each,
        most_terminals=each,
        links=routers * dimensions,
        degree=2 * dimensions,
        diameter=sum(width // 2 for width in widths),
        bisection=2 * _array_cut(widths),
        bisection_kind=EXACT,
        inside=0,
        # a folded ring of w routers has two cables of one pitch and w - 2 cables of two pitches, together 2 (w - 1)
        # pitches
        distance=sum(routers // width * 2 * (width - 1) for width in widths),
        longest=2,
        racks=routers // widths[0],
    )


def _array_cut(widths: list[int]) -> int:
    """Number of links of a bisection of a mesh. The cut halves the mesh along its widest dimension.

    If the number of routers along this dimension is odd, the cut divides the middle layer in the same way, along the
    next dimension.
    """
    rest, links = math.prod(widths), 0
    for width in sorted(widths, reverse=True):
        rest //= width
        links += rest
        if width % 2 == 0:
            break
    return links


def layout(_: Mapping[str, Any]) -> Layout | None:
    """``None``: the routers of a torus have their places on the grid of the network."""
    return None


def candidates(terminals: int, radix: int) -> Iterator[dict[str, Any]]:
    """Parameters of all tori of 2 to 4 dimensions with rings of 3 to `_WIDEST` routers, widths in ascending order."""
    for dimensions in _DIMENSIONS:
        for widths in rising(3, dimensions, terminals, _WIDEST * dimensions):
            if widths[-1] > _WIDEST:
                continue
            if each := terminals_each(terminals, math.prod(widths), radix - 2 * dimensions):
                yield {"widths": list(widths), "terminals_per_router": each}
