"""Calls the Python function of a pattern, and makes a table of destinations from its results.

The engine calls `destinations` before a run.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from weft.errors import ScenarioError
from weft.scenario.python_calls import AGAIN, Place, UserFunction, brief, unequal

if TYPE_CHECKING:
    from collections.abc import Iterator

# Constant in the seeds of the random generators of patterns, so that they differ from other generators with the same
# seed.
_PATTERN = 0x70617474


def destinations(
    text: bytes, file: str, name: str, given: dict[str, Any], known: dict[str, Any]
) -> list[list[tuple[int, float]]]:
    """Computes the destinations of each source by the function of a pattern, each with its share of the packets.

    Raises
    ------
    ScenarioError
        If the file of the function is wrong, or if the function returns a wrong result. The error names the call, and
        the line in the file.
    """
    draws = known.pop("draws")
    function = UserFunction(Place(text, file, name, "pattern"), given, known, {"source", "rng"})
    if "source" not in function.takes:
        what = f"`{name}` of {file} has no parameter `source`"
        raise ScenarioError.saying(what, f"write def {name}(source, rng), which returns the destination of a packet")
    pattern = _Pattern(function, known["terminals"], known["seed"], draws)
    rows = [pattern.row(source) for source in range(pattern.terminals)]
    if not any(rows):
        what = f"`{name}` of {file} returns None for every source: no terminal sends"
        raise ScenarioError.saying(what, "return a terminal for at least one source")
    for source in range(pattern.terminals)[:: -max(pattern.terminals // AGAIN, 1)]:
        if pattern.row(source) != rows[source]:
            raise unequal(function, f"source {source}")
    return rows


class _Pattern:
    """The function of a pattern, for a network with `terminals` terminals."""

    def __init__(self, function: UserFunction, terminals: int, seed: int, draws: int) -> None:
        self.function, self.terminals, self.seed = function, terminals, seed
        self.draws = draws if "rng" in function.takes else 1

    def row(self, source: int) -> list[tuple[int, float]]:
        """The destinations of a source with their shares, each once, in ascending order."""
        shares: dict[int, float] = {}
        for number, result in enumerate(self._results(source)):
            for terminal, share in self._checked(source, number, result):
                shares[terminal] = shares.get(terminal, 0.0) + share
        return [(terminal, share / self.draws) for terminal, share in sorted(shares.items())]

    def _results(self, source: int) -> Iterator[Any]:
        """The results of all calls for a source.

        A second iteration gives the same results, because the random generator starts with the same seed.
        """
        arguments = self.function.fixed | {"source": source}
        if "rng" in self.function.takes:
            import numpy as np

            arguments["rng"] = np.random.default_rng([_PATTERN, self.seed, source])
        for _ in range(self.draws):
            yield self.function.call(lambda: self._call(source), arguments)

    def _call(self, source: int) -> str:
        return f"`{self.function.name}` for source {source}"

    def _checked(self, source: int, number: int, result: Any) -> Iterator[tuple[int, float]]:
        if result is None:
            return
        weights = result if isinstance(result, Mapping) else {result: 1.0} if isinstance(result, Integral) else None
        if weights is None:
            raise self._wrong(source, number, result, "return a terminal, None, or a dict of terminals with weights")
        known = range(self.terminals)
        for terminal in weights:
            if isinstance(terminal, bool) or not isinstance(terminal, Integral) or int(terminal) not in known:
                shown = int(terminal) if isinstance(terminal, Integral) else terminal
                raise self._wrong(source, number, shown, f"return a terminal: 0 to {self.terminals - 1}")
        values = [_weight(weight) for weight in weights.values()]
        total = sum(values)
        if not all(value >= 0 for value in values) or not 0 < total < float("inf"):
            raise self._wrong(source, number, dict(weights), "return weights of 0 or more, and at least one above 0")
        yield from ((int(terminal), value / total) for terminal, value in zip(weights, values, strict=True) if value)

    def _wrong(self, source: int, number: int, result: Any, help: str) -> ScenarioError:
        def again() -> None:
            for _, _ in zip(range(number + 1), self._results(source), strict=False):
                pass

        place = self.function.returned(again)
        return ScenarioError.saying(f"{self._call(source)} returned {brief(result)} ({place})", help)


def _weight(value: Any) -> float:
    """A weight as a float; -1 for a value that is not a number."""
    try:
        return float(value) if isinstance(value, Real) else -1.0
    except OverflowError:
        return -1.0
