"""Converts traffic patterns of BookSim2 to matrices: an integer weight for each pair of terminals."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from weft_peers.booksim.models import Pattern

# Maximum number of terminals of a matrix. The file of a matrix of this size has some megabytes.
MOST = 2048


def csv(pattern: Pattern, terminals: int, homes: Sequence[int] | None) -> str:
    """Return the matrix of a pattern as CSV text.

    If `homes` is given, which lists the router of each terminal, terminals are renumbered router by router.
    """
    order = sorted(range(terminals), key=lambda terminal: (homes[terminal] if homes else 0, terminal))
    rows = []
    for source in order:
        weights = destinations(pattern, source, terminals)
        rows.append(",".join(str(weights.get(destination, 0)) for destination in order))
    return "\n".join(rows) + "\n"


def destinations(pattern: Pattern, source: int, terminals: int) -> Mapping[int, int]:
    """Return the weight of each destination of a terminal. The sum of the weights is equal for all source terminals."""
    found: Counter[int] = Counter()
    for destination, weight in _DESTINATIONS[pattern.name](pattern, source, terminals):
        found[destination] += weight
    return found


def _uniform(pattern: Pattern, source: int, terminals: int) -> Iterable[tuple[int, int]]:  # noqa: ARG001
    return ((place, 1) for place in range(terminals) if place not in pattern.excluded)


def _diagonal(pattern: Pattern, source: int, terminals: int) -> Iterable[tuple[int, int]]:  # noqa: ARG001
    return ((source + 1) % terminals, 1), (source, 2)


def _asymmetric(pattern: Pattern, source: int, terminals: int) -> Iterable[tuple[int, int]]:  # noqa: ARG001
    half = terminals // 2
    return (source % half, 1), (source % half + half, 1)


def _taper64(pattern: Pattern, source: int, terminals: int) -> Iterable[tuple[int, int]]:  # noqa: ARG001
    """Return the weights of the destinations of a terminal in an 8 x 8 grid.

    Half of the packets go to all 64 terminals, half go to the 3 x 3 terminals around the source, including itself.
    """
    around = [8 * row + column for row in (-1, 0, 1) for column in (-1, 0, 1)]
    return [(place, 9) for place in range(64)] + [((source + step) % 64, 64) for step in around]


def _badperm_yarc(pattern: Pattern, source: int, terminals: int) -> Iterable[tuple[int, int]]:  # noqa: ARG001
    return ((place * pattern.radix + source // pattern.radix, 1) for place in range(pattern.radix))


def _bad_dragon(pattern: Pattern, source: int, terminals: int) -> Iterable[tuple[int, int]]:
    group = 2 * pattern.radix**2
    return (((place + (source // group + 1) * group) % terminals, 1) for place in range(group))


def _hotspot(pattern: Pattern, source: int, terminals: int) -> Iterable[tuple[int, int]]:  # noqa: ARG001
    return pattern.targets


def _bitcomp(pattern: Pattern, source: int, terminals: int) -> Iterable[tuple[int, int]]:  # noqa: ARG001
    return ((terminals - 1 - source, 1),)


def _bitrev(pattern: Pattern, source: int, terminals: int) -> Iterable[tuple[int, int]]:  # noqa: ARG001
    bits = terminals.bit_length() - 1
    return ((int(f"{source:0{bits}b}"[::-1], 2), 1),)


def _shuffle(pattern: Pattern, source: int, terminals: int) -> Iterable[tuple[int, int]]:  # noqa: ARG001
    return ((source * 2 % terminals + source * 2 // terminals, 1),)


def _transpose(pattern: Pattern, source: int, terminals: int) -> Iterable[tuple[int, int]]:  # noqa: ARG001
    half = 1 << (terminals.bit_length() - 1) // 2
    return ((source % half * half + source // half, 1),)


def _shift(pattern: Pattern, source: int, terminals: int) -> Iterable[tuple[int, int]]:  # noqa: ARG001
    step = 1 if pattern.name == "neighbor" else (pattern.radix + 1) // 2 - 1
    strides = [pattern.radix**digit for digit in range(pattern.digits)]
    return ((sum((source // stride % pattern.radix + step) % pattern.radix * stride for stride in strides), 1),)


_DESTINATIONS: dict[str, Callable[[Pattern, int, int], Iterable[tuple[int, int]]]] = {
    "uniform": _uniform,
    "background": _uniform,
    "diagonal": _diagonal,
    "asymmetric": _asymmetric,
    "taper64": _taper64,
    "badperm_yarc": _badperm_yarc,
    "bad_dragon": _bad_dragon,
    "hotspot": _hotspot,
    "bitcomp": _bitcomp,
    "bitrev": _bitrev,
    "shuffle": _shuffle,
    "transpose": _transpose,
    "tornado": _shift,
    "neighbor": _shift,
}
