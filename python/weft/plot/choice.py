"""The points that a figure shows, and their names in it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, product
from typing import TYPE_CHECKING, Any

from weft.errors import ResultsError
from weft.plot.appearance import Appearance
from weft.plot.kinds import PROGRAMS
from weft.results import of_programs, soundness
from weft.results import quantities as q
from weft.results.choose import SEED, Chosen, matching, names, parsed
from weft.results.curves import Panel, overlay, short
from weft.text import shell
from weft.text.labels import label

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weft.results.choose import Wanted
    from weft.results.result_set import ResultSet

# Most curves of a panel that can be distinguished; most points that a message lists.
MOST, _LISTED = 14, 8


@dataclass(frozen=True)
class Spot:
    """A point in a figure.

    Attributes
    ----------
    results : ResultSet
        Where it is.
    point : int
        Its row in the frame.
    label : str
        What distinguishes it from the others in the figure, and how it ended; empty if it is the only one.
    place : str
        The same without its ending.
    """

    results: ResultSet
    point: int
    label: str
    place: str = ""

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
    """Points of one or more sets of results, and how the figure shows them.

    Attributes
    ----------
    parts : list of Chosen
        The points by set.
    appearance : Appearance
        What the figure is to look like.
    jobs : tuple of str
        Jobs that have a curve each in place of one of all packets; ``all``: every job.
    at : int or None
        Cycle of a map; ``None``: the time at which it shows most.
    full : float or None
        Share of its buffer from which on a queue is full; ``None``: the default of the kind.
    """

    parts: list[Chosen]
    appearance: Appearance = field(default_factory=Appearance)
    jobs: tuple[str, ...] = ()
    at: int | None = None
    full: float | None = None

    @classmethod
    def of(
        cls,
        results: Sequence[ResultSet],
        wanted: Sequence[Wanted] = (),
        appearance: Appearance | None = None,
    ) -> Choice:
        """The points that `wanted` chooses, by number or by coordinates as text or mapping; all if it is empty.

        Raises
        ------
        ResultsError
            If no point is finished, or none is among those that `wanted` chooses.
        """
        if not any(map(len, results)):
            what = f"{', '.join(str(each.root) for each in results)}: no finished point"
            raise ResultsError.saying(what, "run the scenario")
        known = [path for each in results for path in each.coordinates]
        rows = [list(range(len(each))) for each in results]
        if wanted:
            found = [matching(results, parsed(each, known)) for each in wanted]
            rows = [sorted(set(chain(*each))) for each in zip(*found, strict=True)]
        called = names(results) if len(results) > 1 else [""]
        parts = [Chosen(each, points, name) for each, points, name in zip(results, rows, called, strict=True)]
        return cls([part for part in parts if part.points], appearance or Appearance())

    @property
    def title(self) -> str:
        """Names of the results, coordinates that the choice fixes, and how the point ended if it is the only one."""
        called = dict.fromkeys(part.name or part.results.title for part in self.parts)
        fixed = {
            words[0]: None
            for part in self.parts
            for path in part.results.coordinates
            if len(set(every := _labels(part, path))) > 1
            and len(set(words := [every[point] for point in part.points])) == 1
        }
        points = self.summaries
        ending = f" ({ended})" if len(points) == 1 and (ended := _ending(points[0])) else ""
        return ": ".join([" and ".join(called), *([", ".join(fixed)] if fixed else [])]) + ending

    @property
    def summaries(self) -> list[Mapping[str, Any]]:
        """The measured numbers of the chosen points."""
        return [part.results.summaries[point] for part in self.parts for point in part.points]

    def panels(self) -> list[Panel]:
        """Curves over load, in the wanted order.

        Raises
        ------
        ResultsError
            If every job runs a program, which has no load.
        """
        if all(of_programs.answer(part.results) for part in self.parts):
            what = f"{self.title}: every job runs a program, so there is no load for an axis"
            remedy = f"`{shell.command('plot', PROGRAMS, self.parts[0].results.root)}` shows run times and energies"
            raise ResultsError.saying(what, remedy)
        rank = self.appearance.rank
        ordered = [
            replace(panel, curves=sorted(panel.curves, key=lambda curve: rank(curve.label)))
            for panel in overlay(self.parts)
        ]
        return sorted(ordered, key=lambda panel: rank(panel.title))

    def spots(self, most: int = MOST) -> list[Spot]:
        """The points one by one, in the wanted order.

        Raises
        ------
        ResultsError
            If there are more than `most`.
        """
        count = sum(len(part.points) for part in self.parts)
        if count > most:
            fits = "one point" if most == 1 else f"{most} points"
            raise ResultsError.saying(f"this figure shows {fits} at most, and {count} are chosen", self._example())
        return self._spots(())

    def seeds(self, most: int) -> dict[str, list[Spot]]:
        """The points by their names without the seed: points that differ in it alone have one name.

        Raises
        ------
        ResultsError
            If there are more than `most`.
        """
        count = sum(len(part.points) for part in self.parts)
        if count > most:
            raise ResultsError.saying(
                f"this figure shows {most} points at most, and {count} are chosen", self._example()
            )
        groups: dict[str, list[Spot]] = {}
        for spot in self._spots((SEED,)):
            groups.setdefault(spot.place, []).append(spot)
        return groups

    def over_seeds(self, most: int = MOST) -> list[list[Spot]]:
        """The points in the wanted order, those that differ in their seed alone together.

        Raises
        ------
        ResultsError
            If there are more than `most` of these groups.
        """
        count = sum(len(part.points) for part in self.parts)
        groups = list(self.seeds(count).values())
        if len(groups) > most:
            together = " (all seeds of a point together)" if count > len(groups) else ""
            what = f"this figure shows {most} points at most, and {len(groups)} are chosen{together}"
            raise ResultsError.saying(what, self._example())
        return groups

    def _spots(self, but: Sequence[str]) -> list[Spot]:
        """The chosen points, named by the coordinates that vary, except those in `but`."""
        words = [self._words(part, point) for part in self.parts for point in part.points]
        paths = [path for path in dict.fromkeys(path for each in words for path in each) if path not in but]
        varied = [path for path in paths if len({each.get(path) for each in words}) > 1]
        places = [(part.results, point) for part in self.parts for point in part.points]
        labels = [", ".join(each[path] for path in varied if path in each) for each in words]
        spots = [
            Spot(
                results,
                point,
                f"{name} ({ending})" if name and (ending := _ending(results.summaries[point])) else name,
                name,
            )
            for (results, point), name in zip(places, labels, strict=True)
        ]
        return sorted(spots, key=lambda spot: self.appearance.rank(spot.label))

    def spot(self) -> Spot:
        """The only point.

        Raises
        ------
        ResultsError
            If there are several.
        """
        return self.spots(1)[0]

    def _words(self, part: Chosen, point: int) -> dict[str, str]:
        alone = {"results": part.name} if len(self.parts) > 1 else {}
        return alone | {path: _labels(part, path)[point] for path in part.results.coordinates}

    def _example(self) -> str:
        """A message that says how to choose fewer points."""
        part = self.parts[0]
        first = part.points[0]
        words = _naming(part, first)
        option = "" if words is None else f" or --point {shell.word(words)}"
        lines = [f"  {point}  {part.results.describe(point)}" for point in part.points[:_LISTED]]
        more = [f"  and {len(part.points) - _LISTED} more"] if part.points[_LISTED:] else []
        how = f"choose with --point {first}{option}, in Python with point={first}"
        return "\n".join([how, *lines, *more])


def _naming(part: Chosen, point: int) -> str | None:
    """The shortest words that choose this point and no other by its coordinates; ``None`` if there are none."""
    results = part.results
    coordinates = results.points[point]["coordinates"].items()
    for whole_path, options in product((False, True), repeat=2):
        names = (path if whole_path else path.rpartition(".")[2] for path, _ in coordinates)
        labels = (label(value, path) for path, value in coordinates)
        values = (each if options else each.partition("(")[0] for each in labels)
        words = ",".join(map("=".join, zip(names, values, strict=True)))
        with suppress(ResultsError):
            if matching([results], parsed(words, results.coordinates)) == [[point]]:
                return words
    return None


def _ending(summary: Mapping[str, Any]) -> str:
    """End of a point, or its missing data, if that limits the meaning of its numbers."""
    if summary[q.ENDING.column] != q.DRAINED:
        return str(summary[q.ENDING.column]).replace("_", " ")
    return {
        "": "",
        soundness.DROPPING_MARK: "packets dropped",
        soundness.UNJUDGED_MARK: "not judged",
        soundness.UNSETTLED_MARK: "not settled",
        soundness.FEW_MARK: "few packets",
        soundness.PERIOD_MARK: "part of a period",
    }[soundness.mark(summary)]


def _labels(part: Chosen, path: str) -> list[str]:
    """Label of a coordinate for each point of the results, chosen or not."""
    return short(path, [point["coordinates"].get(path) for point in part.results.points])
