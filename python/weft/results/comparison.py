"""Compares two result sets: pairs points with equal coordinates, and judges differences by confidence intervals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from weft import _engine
from weft.errors import ResultsError
from weft.results import of_flows, of_programs, si_units, soundness
from weft.results import quantities as q
from weft.results.choose import SEED, Chosen, path_of
from weft.results.confidence import Mean
from weft.results.rows import frame_of
from weft.results.set_times import changes
from weft.text import shell
from weft.text.labels import label

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

    from weft.results.quantities import Quantity

# Name of the coordinate in a comparison that has the phase of a changing load, and its value for the whole window.
PHASE, WHOLE = "phase", "all"
# Name of the coordinate in a comparison that has the flow (source and destination). In rows for the whole run, its
# value is `WHOLE`.
FLOW = "flow"
COMPARED = (q.ACCEPTED, q.LATENCY, q.P99, q.ENERGY)


@dataclass(frozen=True)
class Pair:
    """The runs of result sets A and B at one place (combination of coordinates).

    Attributes
    ----------
    place : dict
        The coordinates that A and B have in common, as labels.
    a, b : list of dict
        Summaries of the runs, one per seed.
    changes : str
        Text on changes that the scenario of one of the runs makes at given times; empty if there are none.
    units : str
        ``si`` if the cycles of A and B differ in length. With ``si``, latencies are compared in us, and loads in Gb/s.
    """

    place: dict[str, Any]
    a: list[dict[str, Any]]
    b: list[dict[str, Any]]
    changes: str = ""
    units: str = si_units.CYCLES

    def row(self, quantity: Quantity) -> dict[str, Any]:
        """Compares a quantity: means, difference B - A, its 95 % half width, and whether it exceeds random variation.

        If A or B is saturated or stuck, its latency is null, because it grows with the length of the run. A difference
        is meaningful only if A and B are sound: without flaws (`weft.results.soundness`). If A or B is not sound,
        ``difference``, ``relative`` and ``significant`` are null. Only accepted loads can also be compared if a network
        is saturated. All other quantities can be compared only if A and B do equal work (accept the same load).

        For a single run, the confidence interval is computed from parts of its window. If the scenario changes the load
        or the network at given times, the parts differ for that reason, and the interval is meaningless. If the
        interval is meaningless, ``unjudged`` names the reason, and the difference is not judged.
        """
        a, b = (self._mean(side, quantity) for side in (self.a, self.b))
        shown = si_units.in_units(quantity, self.units)
        row = {**self.place, "quantity": shown.column, "unit": shown.unit}
        row |= {"a": a and a.value, "b": b and b.value}
        row |= dict.fromkeys(("difference", "relative", "half_width", "significant", "unjudged"))
        if a is not None and b is not None:
            difference, half_width = b.value - a.value, a.difference_half_width(b)
            if self.changes and min(a.runs, b.runs) == 1 and half_width is not None:
                half_width = None
                row["unjudged"] = f"not judged: {self.changes} changed in the window, which is not chance"
            if self.unequal(quantity) is None:
                row |= {
                    "difference": difference,
                    "half_width": half_width,
                    "relative": difference / a.value if a.value else None,
                    "significant": None if half_width is None else abs(difference) > half_width,
                }
        return row | {"a_ending": ending(self.a), "b_ending": ending(self.b), "unequal": self.unequal(quantity)}

    def unequal(self, quantity: Quantity) -> str | None:
        """The reason why the values of a quantity cannot show whether A or B is better; ``None`` if they can."""
        if quantity in of_programs.ANSWERS:
            return self._unequal_programs()
        accepted = [self._mean(side, q.ACCEPTED) for side in (self.a, self.b)]
        packets = [min(run.get("packets") or 0 for run in side) for side in (self.a, self.b)]
        verdicts = [soundness.verdict(run) for run in (*self.a, *self.b)]
        means = [None if mean is None else mean.value for mean in accepted]
        found = _engine.unequal(verdicts, means, packets, quantity is q.ACCEPTED)
        return None if found is None else found[1]

    @property
    def runs_programs(self) -> bool:
        """Whether all jobs of all runs are programs, so that run time and energy are compared instead of loads."""
        return all(of_programs.are_programs(run) for run in (*self.a, *self.b))

    def _unequal_programs(self) -> str | None:
        """The reason why the results of programs cannot be compared; ``None`` if they can."""
        runs = [*self.a, *self.b]
        found = next(filter(None, map(of_programs.flaw, runs)), "")
        return found or (None if of_programs.same_work(runs) else of_programs.WORK)

    def _mean(self, runs: Sequence[dict[str, Any]], quantity: Quantity) -> Mean | None:
        if quantity in of_programs.ANSWERS:
            return Mean.over((of_programs.in_units(run)[quantity.column], None) for run in runs)
        if quantity in {q.LATENCY, q.P99} and ending(runs):
            return None
        return Mean.over(self._measured(run, quantity) for run in runs)

    def _measured(self, run: dict[str, Any], quantity: Quantity) -> tuple[float | None, float | None]:
        """The value of a quantity in a run, and the half width of its confidence interval from this run alone.

        The two numbers are in the units of the pair.
        """
        by = si_units.scale(run, quantity, self.units)
        value, half_width = (run.get(column) for column in (quantity.column, quantity.own_half_width))
        return value and value * by, half_width and half_width * by

    def of_flows(self) -> list[Pair]:
        """A pair for each flow that all runs of A and of B measured.

        In these pairs, numbers about the whole run (and not about a flow) are null.
        """
        sides = [[{flow["flow"]: flow for flow in of_flows.of(run)} for run in side] for side in (self.a, self.b)]
        every = [flows for side in sides for flows in side]
        shared = [name for name in every[0] if all(name in flows for flows in every)] if every else []
        unknown = dict.fromkeys([each.column for each in COMPARED] + [each.own_half_width for each in COMPARED])

        def runs(side: list[dict[str, Any]], flows: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
            return [run | unknown | dict(flow[name]) for run, flow in zip(side, flows, strict=True)]

        return [
            replace(
                self,
                place=self.place | {FLOW: name},
                a=runs(self.a, sides[0], name),
                b=runs(self.b, sides[1], name),
            )
            for name in shared
        ]

    def in_phases(self) -> list[Pair]:
        """The pair for the whole window and, if the loads of A and B change, a pair for each phase."""
        sides = [[soundness.in_phases(run) for run in side] for side in (self.a, self.b)]
        count = min((len(phases) for side in sides for phases in side), default=0)
        return [
            replace(self, place=self.place | {PHASE: WHOLE}),
            *(
                replace(
                    self,
                    place=self.place | {PHASE: str(number + 1)},
                    a=[run[number] for run in sides[0]],
                    b=[run[number] for run in sides[1]],
                )
                for number in range(count)
            ),
        ]


@dataclass(frozen=True)
class Comparison:
    """Two result sets whose points are paired.

    Attributes
    ----------
    a, b : Chosen
        The chosen points of the two result sets (sides).
    on : list of str
        Coordinates. The two points of a pair have equal values of these coordinates.
    pairs : list of Pair
        Pairs of points at the places common to A and B.
    only_a, only_b : list of dict
        Places with points of only one side.
    differ : dict
        Differences between the scenarios of the first pair: values of A and of B, by dotted path.
    """

    a: Chosen
    b: Chosen
    on: list[str]
    pairs: list[Pair]
    only_a: list[dict[str, Any]]
    only_b: list[dict[str, Any]]
    differ: dict[str, tuple[Any, Any]]

    @property
    def quantities(self) -> Sequence[Quantity]:
        """The quantities that are compared between A and B.

        For programs, these quantities are run time and energy to solution.
        """
        return of_programs.ANSWERS if all(pair.runs_programs for pair in self.pairs) else COMPARED

    def shown(self, quantity: Quantity) -> Quantity:
        """The quantity in the units in which A and B are compared."""
        return si_units.in_units(quantity, self.pairs[0].units)

    @property
    def frame(self) -> pl.DataFrame:
        """Table with a row per place (combination of coordinates) and quantity, which has the result of `Pair.row`."""
        return frame_of([pair.row(quantity) for quantity in self.quantities for pair in self.pairs])


def compare(a: Chosen, b: Chosen, on: Sequence[str] | None = None) -> Comparison:
    """Pair the points of two result sets.

    Parameters
    ----------
    a, b : Chosen
        The two sides to compare.
    on : sequence of str, optional
        Coordinates by which points are paired; by default all coordinates with common values, except the seed.

    Raises
    ------
    ResultsError
        If no points can be paired, or if points of a set with the same place differ in more than their seeds.
    """
    for side in (a, b):
        if not side.points:
            what = f"{side.name} has no finished point"
            remedy = f"`{shell.command('status', side.results.root)}` shows the progress of the sweep"
            raise ResultsError.saying(what, remedy)
    keys = (
        _keys(a, b) if on is None else [path_of(each, [*a.results.coordinates, *b.results.coordinates]) for each in on]
    )
    if on is None:
        _check_apart(a, b, keys)
    places_a, places_b = _places(a, keys), _places(b, keys)
    shared = [place for place in places_a if place in places_b]
    if not shared:
        what = f"{a.name} and {b.name} have no point in common"
        if keys:
            what += "".join(f"; {path} is {_some(a, path)} in one and {_some(b, path)} in the other" for path in keys)
        raise ResultsError.saying(what, "name the coordinates that pair the points, such as --on traffic.load")
    changing = changes(a.results), changes(b.results)
    units = si_units.chosen(None, (side.results.summaries[point] for side in (a, b) for point in side.points))
    pairs = [
        Pair(
            dict(zip(keys, place, strict=True)),
            [a.results.summaries[point] for point in places_a[place]],
            [b.results.summaries[point] for point in places_b[place]],
            max(changing[0][places_a[place][0]], changing[1][places_b[place][0]], key=len),
            units,
        )
        for place in shared
    ]
    only_a = [dict(zip(keys, place, strict=True)) for place in places_a if place not in places_b]
    only_b = [dict(zip(keys, place, strict=True)) for place in places_b if place not in places_a]
    first = (a.scenario(places_a[shared[0]][0]), b.scenario(places_b[shared[0]][0]))
    if any(len(pair.in_phases()) > 1 for pair in pairs):
        keys, pairs = [*keys, PHASE], [part for pair in pairs for part in pair.in_phases()]
    if any(pair.of_flows() for pair in pairs):
        # pairs of phases have no flows, because flows are measured only over the whole window
        apart = [
            [replace(pair, place=pair.place | {FLOW: WHOLE})]
            + (pair.of_flows() if pair.place.get(PHASE, WHOLE) == WHOLE else [])
            for pair in pairs
        ]
        keys, pairs = [*keys, FLOW], [part for parts in apart for part in parts]
    return Comparison(a, b, keys, pairs, only_a, only_b, _differences(*map(_flat, first)))


def ending(summaries: Iterable[dict[str, Any]]) -> str:
    """The worst ending of some runs; empty if all runs ended normally.

    An ending is ``stalled``, ``saturated`` (in the whole run or a phase) or ``not_complete``.
    """
    runs = list(summaries)
    if any(each[q.ENDING.column] == q.STALLED for each in runs):
        return q.STALLED
    if any(map(soundness.is_over, runs)):
        return q.SATURATED
    return q.NOT_COMPLETE if any(each[q.ENDING.column] == q.NOT_COMPLETE for each in runs) else ""


def _keys(a: Chosen, b: Chosen) -> list[str]:
    """Coordinates by which points are paired: those with common values, except the seed and those in `fixed`."""
    paths = dict.fromkeys([*a.results.coordinates, *b.results.coordinates])
    return [
        path
        for path in paths
        if path != SEED and path not in a.fixed and path not in b.fixed and _at(a, path) & _at(b, path)
    ]


def _check_apart(a: Chosen, b: Chosen, keys: Sequence[str]) -> None:
    """Refuse two result sets in which a coordinate varies, but without a value that is in both sets."""
    for path in a.results.coordinates:
        if path in {SEED, *keys, *a.fixed, *b.fixed} or path not in b.results.coordinates:
            continue
        if max(len(_at(a, path)), len(_at(b, path))) > 1:
            what = f"{a.name} and {b.name} have no value of {path} in common: {_some(a, path)} and {_some(b, path)}"
            raise ResultsError.saying(what, "run both at the same values, or choose one point of each (DIR:path=value)")


def _at(side: Chosen, path: str) -> set[float | str]:
    """The values that a scenario key (dotted path) has at the points of one side."""
    return {_plain(side.value(point, path)) for point in side.points}


def _some(side: Chosen, path: str) -> str:
    """The values that a scenario key has at the points of one side, as a string."""
    return ", ".join(sorted({label(side.value(point, path), path) for point in side.points}))


def _plain(value: Any) -> float | str:
    """A value in a form that can be compared: a number, or the label of a model."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else label(value)


def _places(side: Chosen, keys: Sequence[str]) -> dict[tuple[float | str, ...], list[int]]:
    """The points of one side at each place (combination of coordinates).

    Points at one place can differ only in their seeds.
    """
    places: dict[tuple[float | str, ...], dict[str, int]] = {}
    for point in side.points:
        place = tuple(_plain(side.value(point, path)) for path in keys)
        places.setdefault(place, {})[side.results.points[point]["hash"]] = point
    points = {place: list(distinct.values()) for place, distinct in places.items()}
    for place, several in points.items():
        for path in side.results.coordinates:
            if path != SEED and len({_plain(side.value(point, path)) for point in several}) > 1:
                where = ", ".join(f"{key} = {label(value, key)}" for key, value in zip(keys, place, strict=True))
                found = sorted({label(side.value(point, path), path) for point in several})
                what = f"{side.name} has {len(several)} points {f'at {where}' if where else 'to compare'}: {path} is "
                one = shell.word(f"{side.name}{',' if side.fixed else ':'}{path}={found[0]}")
                raise ResultsError.saying(what + ", ".join(found), f"choose one: {one}")
    return points


def _flat(tree: Any, path: str = "") -> dict[str, Any]:
    """Values of a nested scenario, by dotted path."""
    if isinstance(tree, dict) and tree:
        return {key: value for name, each in tree.items() for key, value in _flat(each, f"{path}.{name}").items()}
    return {path.removeprefix("."): tree}


def _differences(a: dict[str, Any], b: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Values in which two scenarios differ, by dotted path; ``None`` if a side lacks the value.

    The names of the scenarios are not compared.
    """
    return {path: (a.get(path), b.get(path)) for path in {**a, **b} if path != "name" and a.get(path) != b.get(path)}
