"""Points of a result set that a text chooses: ``results/quickstart:routing=ugal_p,load=0.3``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft import results as read
from weft.errors import ResultsError
from weft.labels import at, label

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weft.results import Results

# Commas between choices, not those between the options of a model.
_BETWEEN = re.compile(r",(?![^(]*\))")


@dataclass(frozen=True)
class Chosen:
    """Points of a result set.

    Attributes
    ----------
    results : Results
        The set.
    words : str
        What the command line calls it.
    points : list of int
        Numbers of the points.
    fixed : dict
        What was chosen, by coordinate.
    """

    results: Results
    words: str
    points: list[int]
    fixed: dict[str, str]

    @classmethod
    def all_of(cls, results: Results) -> Chosen:
        """All points of a set."""
        return cls(results, str(results.root), list(range(len(results))), {})

    @classmethod
    def named(cls, text: str, open: Callable[[str], Results] = read.open) -> Chosen:
        """Points that a text names: a folder, or ``folder:path=value,...``; the end of a path is enough.

        Raises
        ------
        ResultsError
            If the folder holds no results, or no point is meant.
        """
        folder, colon, words = (text, "", "") if Path(text).is_dir() else text.rpartition(":")
        if not colon:
            return cls.all_of(open(text))
        results = open(folder)
        fixed = dict(_setting(each, results) for each in _BETWEEN.split(words))
        points = [
            number
            for number, point in enumerate(results.points)
            if all(_same(point["coordinates"].get(path), value) for path, value in fixed.items())
        ]
        if not points:
            known = "; ".join(f"{path}: {', '.join(_values(results, path))}" for path in fixed)
            raise ResultsError.saying(f"no point of {folder} has {words}", f"the sweep has {known}")
        return cls(results, text, points, fixed)

    def value(self, point: int, path: str) -> Any:
        """What a point has at a path: what the sweep set, or else what the scenario says."""
        coordinates = self.results.points[point]["coordinates"]
        return coordinates[path] if path in coordinates else at(self.scenario(point), path)

    def scenario(self, point: int) -> dict[str, Any]:
        """The resolved scenario of a point; empty where it is not kept."""
        try:
            return self.results.scenario(point)
        except ResultsError:
            return {}


def _setting(text: str, results: Results) -> tuple[str, str]:
    """Path and value of ``path=value``."""
    path, equals, value = text.partition("=")
    if not equals:
        what = f"{text!r} chooses nothing"
        raise ResultsError.saying(what, "write folder:path=value, such as results/quickstart:routing=ugal_p")
    return named_path(path.strip(), results.coordinates), value.strip()


def named_path(text: str, known: Sequence[str]) -> str:
    """The coordinate that a text names, in full or by its end."""
    found = list(dict.fromkeys(path for path in known if path == text or path.endswith(f".{text}")))
    if text in found:
        return text
    if len(found) != 1:
        what = f"{text} is no coordinate of the sweep" if not found else f"{text} may be {' or '.join(found)}"
        raise ResultsError.saying(what, f"its coordinates are {', '.join(dict.fromkeys(known)) or 'none'}")
    return found[0]


def _same(value: Any, text: str) -> bool:
    """Whether a text means a value: the same number, the label of a model, or its name alone."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(text) == value
        except ValueError:
            return False
    return text in {label(value), label(value).partition("(")[0]}


def _values(results: Results, path: str) -> list[str]:
    return list(dict.fromkeys(label(point["coordinates"].get(path)) for point in results.points))
