"""Which points a figure shows, and what they are called in it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from weft import quantities as q
from weft.curves import LOAD, NAMED, Panel, Part, overlay, short
from weft.errors import ResultsError
from weft.labels import label

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weft.results import Results

# Curves in one panel that an eye can tell apart; lines of a message.
_MOST, _LISTED = 14, 8
# What the summary tells of every point, by path.
_SUMMARY = NAMED | {LOAD: "load", "seed": "seed"}

Wanted = int | str | dict[str, Any]


@dataclass(frozen=True)
class Spot:
    """One point in a figure.

    Attributes
    ----------
    results : Results
        Where it is.
    point : int
        Its row in the frame.
    label : str
        What sets it apart from the others in the figure; empty if it is alone.
    """

    results: Results
    point: int
    label: str

    @property
    def summary(self) -> dict[str, Any]:
        """The measured numbers."""
        return self.results.summaries[self.point]

    @property
    def name(self) -> str:
        """Coordinates in words, for a message."""
        return self.results.describe(self.point)


@dataclass(frozen=True)
class Choice:
    """Points of one or more sets of results."""

    parts: list[Part]

    @classmethod
    def of(cls, results: Sequence[Results], wanted: Sequence[Wanted] = ()) -> Choice:
        """The points that are wanted: numbers, or coordinates as text or mapping; all if nothing is said.

        Raises
        ------
        ResultsError
            If nothing is left.
        """
        parts = [replace(Part.whole(each), name=name) for each, name in zip(results, _names(results), strict=True)]
        if wanted:
            parts = [replace(part, points=_matching(part, wanted)) for part in parts]
        chosen = [part for part in parts if part.points]
        if chosen:
            return cls(chosen)
        what = f"{', '.join(str(each.root) for each in results)}: no finished point"
        if not wanted:
            raise ResultsError.saying(what, "run the scenario")
        points = f"points are {', '.join(f'0 to {len(part.results) - 1}' for part in parts)}"
        known = [
            f"{path}: {', '.join(dict.fromkeys(_labels(part, path)))}"
            for part in parts
            for path in part.results.coordinates
        ]
        asked = " or ".join(map(_said, wanted))
        raise ResultsError.saying(f"{what} is {asked}", "\n  ".join([points, *dict.fromkeys(known)]))

    @property
    def title(self) -> str:
        """Names of the results, and the coordinates that the choice has fixed."""
        names = dict.fromkeys(part.name or part.results.title for part in self.parts)
        fixed = {
            words[0]: None
            for part in self.parts
            for path in part.results.coordinates
            if len(set(every := _labels(part, path))) > 1
            and len(set(words := [every[point] for point in part.points])) == 1
        }
        return ": ".join([" and ".join(names), *([", ".join(fixed)] if fixed else [])])

    def panels(self) -> list[Panel]:
        """Curves over load."""
        return overlay(self.parts)

    def spots(self, most: int = _MOST) -> list[Spot]:
        """The points one by one.

        Raises
        ------
        ResultsError
            If there are more than `most`.
        """
        count = sum(len(part.points) for part in self.parts)
        if count > most:
            fits = "one point" if most == 1 else f"{most} points"
            raise ResultsError.saying(f"this figure shows {fits} at most, and {count} are chosen", self._example())
        words = [self._words(part, point) for part in self.parts for point in part.points]
        paths = dict.fromkeys(path for each in words for path in each)
        varied = [path for path in paths if len({each.get(path) for each in words}) > 1]
        places = [(part.results, point) for part in self.parts for point in part.points]
        labels = [", ".join(each[path] for path in varied if path in each) for each in words]
        return [
            Spot(
                results, point, f"{name} ({ending})" if name and (ending := _ending(results.summaries[point])) else name
            )
            for (results, point), name in zip(places, labels, strict=True)
        ]

    def spot(self) -> Spot:
        """The only point.

        Raises
        ------
        ResultsError
            If there are several.
        """
        return self.spots(1)[0]

    def _words(self, part: Part, point: int) -> dict[str, str]:
        alone = {"results": part.name} if len(self.parts) > 1 else {}
        return alone | {path: _labels(part, path)[point] for path in part.results.coordinates}

    def _example(self) -> str:
        """How to choose fewer."""
        part = self.parts[0]
        first = part.points[0]
        coordinates = part.results.points[first]["coordinates"].items()
        words = ",".join(f"{path.rpartition('.')[2]}={label(value).partition('(')[0]}" for path, value in coordinates)
        lines = [f"  {point}  {part.results.describe(point)}" for point in part.points[:_LISTED]]
        more = [f"  and {len(part.points) - _LISTED} more"] if part.points[_LISTED:] else []
        return "\n".join([f"choose with --point {first} or --point {words}", *lines, *more])


def _ending(summary: Mapping[str, Any]) -> str:
    """How a point ended, where that limits what its numbers say."""
    return "" if summary[q.ENDING.column] == q.DRAINED else str(summary[q.ENDING.column])


def _names(results: Sequence[Results]) -> list[str]:
    """Names that tell sets of results apart: their own, or else those of their folders; none for one alone."""
    if len(results) == 1:
        return [""]
    for names in ([each.title for each in results], [each.root.name for each in results]):
        if len(set(names)) == len(names):
            return names
    return [str(each.root) for each in results]


def _labels(part: Part, path: str) -> list[str]:
    """Label of a coordinate for each point of the results, chosen or not."""
    return short(path, [point["coordinates"].get(path) for point in part.results.points])


def _matching(part: Part, wanted: Sequence[Wanted]) -> list[int]:
    asked = list(map(_parsed, wanted))

    def fits(row: int) -> bool:
        return any(row == each if isinstance(each, int) else _fits(_values(part.results, row), each) for each in asked)

    return [row for row in part.points if fits(row)]


def _values(results: Results, row: int) -> dict[str, Any]:
    """Values of a point by path: its coordinates, and what the summary says where the sweep set nothing."""
    summary = results.summaries[row]
    coordinates: dict[str, Any] = results.points[row]["coordinates"]
    return {path: summary.get(name) for path, name in _SUMMARY.items()} | coordinates


def _parsed(wanted: Wanted) -> int | dict[str, Any]:
    """``3``, or ``routing=ugal_p,load=0.3`` as a mapping."""
    if not isinstance(wanted, str):
        return wanted
    if wanted.strip().isdecimal():
        return int(wanted)
    pairs = [each.partition("=") for each in re.split(r",(?=[\w.]+=)", wanted)]
    if not all(equals for _, equals, _ in pairs):
        what = f"--point {wanted}: neither a number nor coordinates"
        raise ResultsError.saying(what, "write e.g. --point 3 or --point routing=ugal_p,load=0.3")
    return {path.strip(): value.strip() for path, _, value in pairs}


def _fits(values: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether every wanted value, named by its path or the end of it, is there."""
    return all(
        any(_equal(value, target) for path, value in values.items() if f".{path}".endswith(f".{key}"))
        for key, target in wanted.items()
    )


def _equal(value: Any, target: Any) -> bool:
    words, asked = label(value), label(target)
    if asked in {words, words.partition("(")[0]}:
        return True
    try:
        return float(words) == float(asked)
    except ValueError:
        return False


def _said(wanted: Wanted) -> str:
    if isinstance(wanted, dict):
        return ", ".join(f"{path} = {label(value)}" for path, value in wanted.items())
    return f"{wanted}"
