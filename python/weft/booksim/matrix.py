"""Traffic patterns of BookSim2 written out: who sends how much to whom, in whole weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weft.booksim.models import Pattern

# Terminals whose matrix is still a file of some megabytes.
MOST = 2048


def destinations(pattern: Pattern, source: int, terminals: int) -> Mapping[int, int]:
    """Weights of the destinations of a terminal; the sum is the same for all terminals."""
    name, found = pattern.name, dict[int, int]()

    def add(destination: int, weight: int) -> None:
        found[destination] = found.get(destination, 0) + weight

    if name in ("uniform", "background"):
        for destination in range(terminals):
            if destination not in pattern.excluded:
                add(destination, 1)
    elif name == "diagonal":
        add((source + 1) % terminals, 1)
        add(source, 2)
    elif name == "taper64":
        for destination in range(64):
            add(destination, 9)
        for step in (8 * row + column for row in (-1, 0, 1) for column in (-1, 0, 1)):
            add((source + step) % 64, 64)
    elif name == "badperm_yarc":
        for place in range(pattern.radix):
            add(place * pattern.radix + source // pattern.radix, 1)
    elif name == "bad_dragon":
        group = 2 * pattern.radix**2
        for place in range(group):
            add((place + (source // group + 1) * group) % terminals, 1)
    elif name == "hotspot":
        for target, weight in pattern.targets:
            add(target, weight)
    else:
        add(_permuted(pattern, source, terminals), 1)
    return found


def _permuted(pattern: Pattern, source: int, terminals: int) -> int:
    bits = terminals.bit_length() - 1
    if pattern.name == "bitcomp":
        return terminals - 1 - source
    if pattern.name == "bitrev":
        return int(f"{source:0{bits}b}"[::-1], 2) if bits else 0
    if pattern.name == "shuffle":
        return source * 2 % terminals + source * 2 // terminals
    if pattern.name == "transpose":
        half = 1 << bits // 2
        return source % half * half + source // half
    step = 1 if pattern.name == "neighbor" else (pattern.radix + 1) // 2 - 1
    strides = [pattern.radix**digit for digit in range(pattern.digits)]
    return sum((source // stride % pattern.radix + step) % pattern.radix * stride for stride in strides)


def csv(pattern: Pattern, terminals: int, homes: Sequence[int] | None) -> str:
    """The matrix as text; terminals renumbered router by router if their routers are given."""
    order = sorted(range(terminals), key=lambda terminal: (homes[terminal] if homes else 0, terminal))
    rows = []
    for source in order:
        weights = destinations(pattern, source, terminals)
        rows.append(",".join(str(weights.get(destination, 0)) for destination in order))
    return "\n".join(rows) + "\n"
