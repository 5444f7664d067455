"""Two result sets side by side: points lined up by what the sweeps set, differences against their confidence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft import quantities as q
from weft import results as read
from weft.errors import ResultsError
from weft.labels import at, label
from weft.results import Results, frame_of
from weft.student import Mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

    from weft.quantities import Quantity

COMPARED = (q.ACCEPTED, q.LATENCY, q.P99, q.ENERGY)
_SEED = "seed"
# Commas between choices, not those between the options of a model.
_BETWEEN = re.compile(r",(?![^(]*\))")
# Half widths that a single run knows.
_OWN = {q.LATENCY.column: "packet_latency_ci95_cycles"}


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
    def named(cls, text: str, open: Any = read.open) -> Chosen:
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


@dataclass(frozen=True)
class Pair:
    """The runs of A and of B at one place.

    Attributes
    ----------
    place : dict
        The coordinates by which they are lined up, as labels.
    a, b : list of dict
        Summaries of the runs, one per seed.
    """

    place: dict[str, Any]
    a: list[dict[str, Any]]
    b: list[dict[str, Any]]

    def row(self, quantity: Quantity) -> dict[str, Any]:
        """A quantity of both: means, difference B - A, its 95 % half width, and whether it is more than chance.

        Where one is saturated or stuck, its latency has no meaning and is null.
        """
        means = [_mean(side, quantity) for side in (self.a, self.b)]
        a, b = means
        row = {**self.place, "quantity": quantity.column, "unit": quantity.unit}
        row |= {"a": a and a.value, "b": b and b.value}
        row |= dict.fromkeys(("difference", "relative", "half_width", "significant"))
        if a is not None and b is not None:
            difference, half_width = b.value - a.value, a.difference_half_width(b)
            row |= {
                "difference": difference,
                "relative": difference / a.value if a.value else None,
                "half_width": half_width,
                "significant": None if half_width is None else abs(difference) > half_width,
            }
        return row | {"a_ending": ending(self.a), "b_ending": ending(self.b)}


@dataclass(frozen=True)
class Comparison:
    """Two result sets, lined up.

    Attributes
    ----------
    a, b : Chosen
        What is compared.
    on : list of str
        Coordinates by which points are lined up.
    pairs : list of Pair
        Places that both have.
    only_a, only_b : list of dict
        Places that one has.
    differ : dict
        What the scenarios say differently at the first such place: values of A and B by dotted path.
    """

    a: Chosen
    b: Chosen
    on: list[str]
    pairs: list[Pair]
    only_a: list[dict[str, Any]]
    only_b: list[dict[str, Any]]
    differ: dict[str, tuple[Any, Any]]

    @property
    def frame(self) -> pl.DataFrame:
        """A row per place and quantity: coordinates and what `Pair.row` says."""
        return frame_of([pair.row(quantity) for quantity in COMPARED for pair in self.pairs])


def compare(a: Chosen, b: Chosen, on: Sequence[str] | None = None) -> Comparison:
    """Line two result sets up.

    Parameters
    ----------
    a, b : Chosen
        What to compare.
    on : sequence of str, optional
        Coordinates that pair the points, by default all that have values in common, but for the seed.

    Raises
    ------
    ResultsError
        If nothing fits together, or points differ in more than their seeds.
    """
    for side in (a, b):
        if not side.points:
            what = f"{side.words} has no finished point"
            raise ResultsError.saying(what, f"`weft status {side.results.root}` says how far the sweep is")
    keys = _keys(a, b) if on is None else [_path(each, [*a.results.coordinates, *b.results.coordinates]) for each in on]
    places_a, places_b = _places(a, keys), _places(b, keys)
    shared = [place for place in places_a if place in places_b]
    if not shared:
        what = f"{a.words} and {b.words} have no point in common"
        if keys:
            what += "".join(f"; {path}: {_some(a, path)} and {_some(b, path)}" for path in keys)
        raise ResultsError.saying(what, "name what pairs the points with --on, such as --on traffic.load")
    summaries = (a.results.summaries, b.results.summaries)
    pairs = [
        Pair(
            dict(zip(keys, place, strict=True)),
            [summaries[0][point] for point in places_a[place]],
            [summaries[1][point] for point in places_b[place]],
        )
        for place in shared
    ]
    only_a = [dict(zip(keys, place, strict=True)) for place in places_a if place not in places_b]
    only_b = [dict(zip(keys, place, strict=True)) for place in places_b if place not in places_a]
    first = (a.scenario(places_a[shared[0]][0]), b.scenario(places_b[shared[0]][0]))
    return Comparison(a, b, keys, pairs, only_a, only_b, _differences(*map(_flat, first)))


def ending(summaries: Iterable[dict[str, Any]]) -> str:
    """The worst ending of some runs: ``stalled``, ``saturated`` or, if all is well, nothing."""
    runs = list(summaries)
    if any(each[q.ENDING.column] == q.STALLED for each in runs):
        return q.STALLED
    return "saturated" if any(each["saturated"] for each in runs) else ""


def _mean(runs: Sequence[dict[str, Any]], quantity: Quantity) -> Mean | None:
    if quantity in {q.LATENCY, q.P99} and ending(runs):
        return None
    values = [each.get(quantity.column) for each in runs]
    known = [value for value in values if value is not None]
    own = runs[0].get(_OWN.get(quantity.column, ""))
    return Mean.of(known, own) if known else None


def _keys(a: Chosen, b: Chosen) -> list[str]:
    """Coordinates that have values in common, besides seeds and what was chosen."""
    paths = dict.fromkeys([*a.results.coordinates, *b.results.coordinates])
    return [
        path
        for path in paths
        if path != _SEED and path not in a.fixed and path not in b.fixed and _at(a, path) & _at(b, path)
    ]


def _at(side: Chosen, path: str) -> set[float | str]:
    """Values of the points of a side."""
    return {_plain(side.value(point, path)) for point in side.points}


def _some(side: Chosen, path: str) -> str:
    """The values of a side in words."""
    return ", ".join(sorted({label(side.value(point, path)) for point in side.points}))


def _plain(value: Any) -> float | str:
    """A value that can be told from another: numbers by size, models by their labels."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else label(value)


def _places(side: Chosen, keys: Sequence[str]) -> dict[tuple[float | str, ...], list[int]]:
    """Points of each place; they may differ in their seeds only."""
    places: dict[tuple[float | str, ...], dict[str, int]] = {}
    for point in side.points:
        place = tuple(_plain(side.value(point, path)) for path in keys)
        places.setdefault(place, {})[side.results.points[point]["hash"]] = point
    points = {place: list(distinct.values()) for place, distinct in places.items()}
    for place, several in points.items():
        for path in side.results.coordinates:
            if path != _SEED and len({_plain(side.value(point, path)) for point in several}) > 1:
                where = ", ".join(f"{key} = {label(value)}" for key, value in zip(keys, place, strict=True))
                found = sorted({label(side.value(point, path)) for point in several})
                what = f"{side.words} has {len(several)} points {f'at {where}' if where else 'to compare'}: {path} is "
                one = f"choose one ({side.results.root}:{path}={found[0]}), or pair the points by it with --on {path}"
                raise ResultsError.saying(what + ", ".join(found), one)
    return points


def _setting(text: str, results: Results) -> tuple[str, str]:
    """Path and value of ``path=value``."""
    path, equals, value = text.partition("=")
    if not equals:
        what = f"{text!r} chooses nothing"
        raise ResultsError.saying(what, "write folder:path=value, such as results/quickstart:routing=ugal_p")
    return _path(path.strip(), results.coordinates), value.strip()


def _path(text: str, known: Sequence[str]) -> str:
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


def _flat(tree: Any, path: str = "") -> dict[str, Any]:
    """Values of a scenario by dotted path."""
    if isinstance(tree, dict) and tree:
        return {key: value for name, each in tree.items() for key, value in _flat(each, f"{path}.{name}").items()}
    return {path.removeprefix("."): tree}


def _differences(a: dict[str, Any], b: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Values that differ, ``None`` where one has none; names say nothing."""
    return {path: (a.get(path), b.get(path)) for path in {**a, **b} if path != "name" and a.get(path) != b.get(path)}
