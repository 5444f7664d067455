"""Selects points of results by index (``3``), or by coordinates as text or mapping (``routing=ugal_p,load=0.3``)."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex

from weft.errors import ResultsError
from weft.text.labels import at, label, setting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from weft.results.result_set import ResultSet

LOAD, PATTERN, SEED, POLICY, ROUTING = "traffic.load", "traffic.pattern", "seed", "power.policy", "routing"
# Paths of models whose names are in the summary of every point, even if the sweep does not vary them, by the summary's
# key.
NAMED = {PATTERN: "pattern", ROUTING: "routing", POLICY: "policy", "topology": "topology"}
# All paths for which the summary of every point has a value, each with the key in the summary.
_SUMMARY = NAMED | {LOAD: "load", SEED: "seed"}

Wanted = SupportsIndex | str | Mapping[str, Any]


@dataclass(frozen=True)
class Chosen:
    """Selected points of a result set.

    Attributes
    ----------
    results : ResultSet
        The result set.
    points : list of int
        Indices of the points: their rows in the frame.
    name : str
        Name of the set if it is shown together with other sets; empty if it is the only one.
    fixed : dict
        Values that the user selected, by coordinate.
    """

    results: ResultSet
    points: list[int]
    name: str = ""
    fixed: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def all_of(cls, results: ResultSet, name: str | None = None) -> Chosen:
        """Selects all points of a result set. By default, the name is the folder of the set."""
        return cls(results, list(range(len(results))), str(results.root) if name is None else name)

    @classmethod
    def named(cls, text: str, opened: Callable[[str], ResultSet]) -> Chosen:
        """Selects the points that a string names: a folder, or ``folder:path=value,...``.

        Users can write only the last part of a path: ``load`` means ``traffic.load``.

        Raises
        ------
        ResultsError
            If the folder holds no results, or the text matches no point.
        """
        folder, colon, words = (text, "", "") if Path(text).is_dir() else text.rpartition(":")
        if not colon:
            return cls.all_of(opened(text))
        results = opened(folder)
        wanted = parsed(words, results.coordinates)
        (points,) = matching([results], wanted)
        fixed = results.points[points[0]]["coordinates"] if isinstance(wanted, int) else wanted
        return cls(results, points, text, fixed)

    def value(self, point: int, path: str) -> Any:
        """The value of a scenario key (dotted path) at a point: from the sweep, or otherwise from the scenario."""
        coordinates = self.results.points[point]["coordinates"]
        return coordinates[path] if path in coordinates else at(self.scenario(point), path)

    def scenario(self, point: int) -> dict[str, Any]:
        """The resolved scenario of a point; empty if it was not stored."""
        try:
            return self.results.scenario(point)
        except ResultsError:
            return {}


def parsed(wanted: Wanted, known: Iterable[str]) -> int | dict[str, Any]:
    """Reads the index of a point, or values by dotted path: ``3``, or ``routing=ugal_p,load=0.3`` as a mapping.

    Raises
    ------
    ResultsError
        If the text is neither a number nor a list of values by path, or if a path is unknown.
    """
    if isinstance(wanted, str) and not re.fullmatch(r"\s*-?\d+\s*", wanted):
        pairs = [each.partition("=") for each in re.split(r",(?=\s*[\w.]+\s*=)", wanted)]
        if not all(equals for _, equals, _ in pairs):
            what = f"{wanted!r} names no point: it is neither the number of a point nor path=value"
            raise ResultsError.saying(what, "write e.g. 3, or routing=ugal_p,load=0.3")
        wanted = {path.strip(): value.strip() for path, _, value in pairs}
    if isinstance(wanted, Mapping):
        known = list(known)
        return {path_of(path, known): value for path, value in wanted.items()}
    try:
        return int(wanted) if isinstance(wanted, str) else operator.index(wanted)
    except TypeError:
        what = f"{wanted!r} names no point: it is not a whole number"
        raise ResultsError.saying(what, 'give the number of a point, or coordinates such as "load=0.3"') from None


def path_of(text: str, known: Iterable[str]) -> str:
    """The path that a string names, either in full or by the last part of the path.

    If several paths have this last part, coordinates have priority over other properties of points.
    """
    coordinates = list(dict.fromkeys(known))
    for paths in (coordinates, _SUMMARY):
        found = [path for path in paths if f".{path}".endswith(f".{text}")]
        if text in found or len(found) == 1:
            return text if text in found else found[0]
        if found:
            raise ResultsError.saying(
                f"{text} is ambiguous: it can mean {' or '.join(found)}", "write more of the path"
            )
    others = [path for path in _SUMMARY if path not in coordinates]
    listed = f"the coordinates are {', '.join(coordinates) or 'none'}; every point also has {', '.join(others)}"
    raise ResultsError.saying(f"{text} is not a coordinate of the sweep", listed)


def same(value: Any, asked: Any, *, exactly: bool = False) -> bool:
    """Whether `asked` means this value: an equal number, its label or, unless `exactly` is set, its model's name."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        with suppress(TypeError, ValueError):
            if float(asked) == value or not isinstance(asked, str):
                return float(asked) == value
    names = {label(value), label(value, "widths")}
    return label(asked) in (names if exactly else names | {label(value).partition("(")[0]})


def matching(results: Sequence[ResultSet], wanted: int | Mapping[str, Any]) -> list[list[int]]:
    """The points of each set that the user requests; a negative number counts from the last point.

    The name of a model selects all its variants (with any parameters), or only the variant without parameters if there
    is one.

    Raises
    ------
    ResultsError
        If no set has a requested point.
    """
    found = [_matching(Chosen.all_of(each), wanted) for each in results]
    if any(found):
        return found
    what = f"{', '.join(str(each.root) for each in results)}: no finished point matches "
    paths = dict.fromkeys(path for each in results for path in each.coordinates)
    values = {path: [point["coordinates"].get(path) for each in results for point in each.points] for path in paths}
    lines = [f"points are {', '.join(f'0 to {len(each) - 1}' for each in results)}"]
    lines += [f"{path}: {', '.join(dict.fromkeys(label(each, path) for each in values[path]))}" for path in paths]
    asked = setting(wanted) if isinstance(wanted, Mapping) else str(wanted)
    raise ResultsError.saying(what + asked, "\n  ".join(lines))


def _matching(side: Chosen, wanted: int | Mapping[str, Any]) -> list[int]:
    """The points of one set of results that the user requests.

    If some points have exactly a requested value, points with the same model but other parameters are not selected.
    """
    if isinstance(wanted, int):
        row = wanted + len(side.points) if wanted < 0 else wanted
        return [row] if row in side.points else []
    rows = side.points
    for path, asked in wanted.items():
        rows = [row for row in rows if same(_known(side, row, path), asked)]
    for path, asked in wanted.items():
        rows = [row for row in rows if same(_known(side, row, path), asked, exactly=True)] or rows
    return rows


def _known(side: Chosen, row: int, path: str) -> Any:
    """The value of a scenario key at a point; the scenario file is read only if the summary lacks the value."""
    coordinates = side.results.points[row]["coordinates"]
    if path in coordinates or path not in _SUMMARY:
        return side.value(row, path)
    return side.results.summaries[row].get(_SUMMARY[path])


def names(sets: Sequence[ResultSet], *, brief: bool = False) -> list[str]:
    """Names that distinguish sets of results: titles (names if `brief` is true), or folders if some titles are equal.

    Raises
    ------
    ResultsError
        If two sets have the same folder.
    """
    roots = [each.root.resolve() for each in sets]
    for each, root in zip(sets, roots, strict=True):
        if roots.count(root) > 1:
            raise ResultsError.saying(f"{each.root} is named twice", "name each folder of results only once")
    for shown in ([each.name if brief else each.title for each in sets], [each.root.name for each in sets]):
        if len(set(shown)) == len(shown):
            return shown
    return [str(each.root) for each in sets]
