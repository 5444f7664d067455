"""Computes Slim Flies (MMS graphs) by formula.

Source: M. Besta, T. Hoefler, "Slim Fly: A Cost Effective Low-Diameter Network Topology", SC'14. This paper also places
the routers in q racks. No formula for the bisection is known. The lower bound is q^3 / 2, because the second largest
eigenvalue of the graph is its degree minus q (P. R. Hafner, "Geometric Realisation of the Graphs of
McKay-Miller-Siran", JCTB 90, 2004; a test computes it).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.design.packaging import Layout, square, square_pairs
from weft.design.plan import LOWER, Plan, terminals_each

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def plan(parameters: Mapping[str, Any]) -> Plan:
    """Computes the numbers of a Slim Fly: routers, terminals, ports, links, distances."""
    q, each = parameters["q"], parameters["terminals_per_router"]
    degree = _degree(q)
    links, between = q * q * degree, q * q * (q - 1)
    return Plan(
        routers=2 * q * q,
        terminals=2 * q * q * each,
        radix=degree + each,
        most_terminals=each,
        links=links,
        degree=degree,
        diameter=2,
        bisection=(q**3 + 1) // 2,
        bisection_kind=LOWER,
        inside=links - between,
        distance=2 * q * square_pairs(q),
        longest=int(square(q).max(axis=0).sum()),
        racks=q,
    )


def _degree(q: int) -> int:
    """Links of a router to other routers: (3 q - d) / 2 for q = 4 w + d with d in (-1, 0, 1)."""
    return (3 * q - {0: 0, 1: 1, 3: -1}[q % 4]) // 2


def has_construction(q: int) -> bool:
    """Whether q is a power of a prime, not 2, of the form 4 w - 1, 4 w or 4 w + 1."""
    if q < 3 or q % 4 == 2:
        return False
    prime = next((factor for factor in range(2, q) if factor * factor <= q and q % factor == 0), q)
    while q % prime == 0:
        q //= prime
    return q == 1


def layout(_: Mapping[str, Any]) -> Layout | None:
    """``None``: the racks of a Slim Fly are its groups, in the order of the routers."""
    return None


def candidates(terminals: int, radix: int) -> Iterator[dict[str, Any]]:
    """Parameters of all Slim Flies with enough terminals."""
    for q in filter(has_construction, range(3, radix)):
        if each := terminals_each(terminals, 2 * q * q, radix - _degree(q)):
            yield {"q": q, "terminals_per_router": each}
