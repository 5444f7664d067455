"""Computes dragonflies by formula.

Source: J. Kim et al., "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA'08; M. Besta, T. Hoefler, "Slim
Fly", SC'14, for a rack per group. The bisection is the cut between two sets of whole groups, as in FleX (IEEE Access
2022), Table 4. If the number of groups is odd, one group is split into two halves. The cut then also contains the local
links between these halves, and (with the best split) at most half of the group's global links. If there are many small
groups, a cut through all groups has fewer links than this formula gives.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

from weft.design.packaging import Layout, square, square_pairs
from weft.design.plan import CUT, Plan, terminals_each

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def plan(parameters: Mapping[str, Any]) -> Plan:
    """Computes the numbers of a dragonfly by formula.

    If the global ports of a group cannot be divided evenly among the other groups, the remaining ports are unused.
    """
    a, p, h = (parameters[f"{name}_per_{of}"] for name, of in _KEYS)
    g = parameters.get("groups") or a * h + 1
    each = a * h // (g - 1)
    pairs = g * (g - 1) // 2
    corner = square(g).max(axis=0)
    return Plan(
        routers=a * g,
        terminals=a * g * p,
        radix=p + a - 1 + h,
        most_terminals=p,
        links=g * a * (a - 1) // 2 + each * pairs,
        degree=a - 1 + h,
        # if each router has a link to each other group, two hops are enough
        diameter=2 if h >= g - 1 else 3,
        bisection=each * (g // 2) * (g - g // 2) + g % 2 * (a // 2) * (a - a // 2),
        bisection_kind=CUT,
        inside=g * a * (a - 1) // 2,
        distance=each * square_pairs(g),
        longest=int(corner.sum()),
        racks=g,
    )


_KEYS = (("routers", "group"), ("terminals", "router"), ("global_links", "router"))


def layout(_: Mapping[str, Any]) -> Layout | None:
    """``None``: the racks of a dragonfly are its groups, in the order of the routers."""
    return None


def candidates(terminals: int, radix: int) -> Iterator[dict[str, Any]]:
    """All dragonflies with 3 or more groups in which all global ports are used."""
    for a in range(2, min(radix - 1, terminals // 3 + 1)):
        for h in range(1, radix - a + 1):
            room = radix - (a - 1 + h)
            for g in _groups(a * h, -(-terminals // (a * room)), terminals // a):
                if each := terminals_each(terminals, a * g, room):
                    yield {
                        "groups": g,
                        "routers_per_group": a,
                        "terminals_per_router": each,
                        "global_links_per_router": h,
                    }


def _groups(ports: int, least: int, most: int) -> Iterator[int]:
    """Numbers of groups (3 or more) for which the global ports of a group are divided evenly among the other groups."""
    if least > ports + 1:
        return iter(())
    return (others + 1 for others in _divisors(ports) if max(2, least - 1) <= others < most)


@cache
def _divisors(number: int) -> tuple[int, ...]:
    """All divisors of a number, in ascending order."""
    small = [each for each in range(1, math.isqrt(number) + 1) if number % each == 0]
    return tuple(dict.fromkeys([*small, *(number // each for each in reversed(small))]))
