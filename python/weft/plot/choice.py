"""Selects the points that a figure shows, and names them. A point is one simulation of a sweep."""

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

# Maximum number of curves that readers can distinguish in a panel; maximum number of points that a message lists.
MOST, _LISTED = 14, 8


@dataclass(frozen=True)
class Spot:
    """A point that a figure shows, with its name.

    Attributes
    ----------
    results : ResultSet
        Results that contain the point.
    point : int
        Row of the point in the frame.
    label : str
        String that distinguishes the point from other points of the figure, and says how its run ended if this matters;
        empty for a single point.
    place : str
        The label without the words about the end of the run.
    """

    results: ResultSet
    point: int
    label: str
    place: str = ""

    @property
    def summary(self) -> dict[str, Any]:
        """The numbers that were measured for the point."""
        return self.results.summaries[self.point]

    @property
    def name(self) -> str:
        """Coordinates of the point as a string, for a message."""
        return self.results.describe(self.point)


@dataclass(frozen=True)
class Choice:
    """Points of one or more sets of results, and the settings of the figure that shows them.

    Attributes
    ----------
    parts : list of Chosen
        The chosen points of each set of results.
    appearance : Appearance
        Requested appearance of the figure.
    jobs : tuple of str
        Jobs with separate curves, instead of one curve for all packets. ``all`` means every job.
    at : int or None
        Cycle of a map of queues. ``None`` means the cycle with the most full ports.
    full : float or None
        Least filled share of a buffer at which its queue counts as full. ``None`` means the default of the kind.
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
        """Selects points by number or by coordinates (text or mapping); if `wanted` is empty, all points.

        Raises
        ------
        ResultsError
            If no point is finished, or `wanted` chooses no finished point.
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
        """Title of the figure: names of results, chosen coordinates, and (for a single point) how its run ended."""
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
        """The numbers that were measured for the chosen points."""
        return [part.results.summaries[point] for part in self.parts for point in part.points]

    def panels(self) -> list[Panel]:
        """Panels of curves over load, in the requested order.

        Raises
        ------
        ResultsError
            If every job runs a program, which has no load.
        """
        if all(of_programs.answer(part.results) for part in self.parts):
            what = f"{self.title}: every job runs a program, so there is no load for an axis"
            remedy = f"`{shell.command('plot', PROGRAMS, self.parts[0].results.root)}` draws run times and energies"
            raise ResultsError.saying(what, remedy)
        rank = self.appearance.rank
        ordered = [
            replace(panel, curves=sorted(panel.curves, key=lambda curve: rank(curve.label)))
            for panel in overlay(self.parts)
        ]
        return sorted(ordered, key=lambda panel: rank(panel.title))

    def spots(self, most: int = MOST) -> list[Spot]:
        """The chosen points one by one, in the requested order.

        Raises
        ------
        ResultsError
            If there are more than `most` points.
        """
        count = sum(len(part.points) for part in self.parts)
        if count > most:
            fits = "one point" if most == 1 else f"{most} points"
            raise ResultsError.saying(f"this figure shows at most {fits}, but {count} are chosen", self._example())
        return self._spots(())

    def seeds(self, most: int) -> dict[str, list[Spot]]:
        """The chosen points, grouped by their label without the seed.

        Points that differ only in the seed have the same label.

        Raises
        ------
        ResultsError
            If there are more than `most` groups.
        """
        count = sum(len(part.points) for part in self.parts)
        if count > most:
            raise ResultsError.saying(
                f"this figure shows at most {most} points, but {count} are chosen", self._example()
            )
        groups: dict[str, list[Spot]] = {}
        for spot in self._spots((SEED,)):
            groups.setdefault(spot.place, []).append(spot)
        return groups

    def over_seeds(self, most: int = MOST) -> list[list[Spot]]:
        """Groups of the chosen points, in the requested order. Points that differ only in their seed form one group.

        Raises
        ------
        ResultsError
            If there are more than `most` groups.
        """
        count = sum(len(part.points) for part in self.parts)
        groups = list(self.seeds(count).values())
        if len(groups) > most:
            together = " (counting all seeds of a point as one)" if count > len(groups) else ""
            what = f"this figure shows at most {most} points, but {len(groups)} are chosen{together}"
            raise ResultsError.saying(what, self._example())
        return groups

    def _spots(self, but: Sequence[str]) -> list[Spot]:
        """The chosen points, with labels that contain the coordinates in which they differ, but not those in `but`."""
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
        """The chosen point, for a figure that shows only one.

        Raises
        ------
        ResultsError
            If there are several points.
        """
        return self.spots(1)[0]

    def _words(self, part: Chosen, point: int) -> dict[str, str]:
        alone = {"results": part.name} if len(self.parts) > 1 else {}
        return alone | {path: _labels(part, path)[point] for path in part.results.coordinates}

    def _example(self) -> str:
        """Text that shows how to choose fewer points, for a message."""
        part = self.parts[0]
        first = part.points[0]
        words = _naming(part, first)
        option = "" if words is None else f" or --point {shell.word(words)}"
        lines = [f"  {point}  {part.results.describe(point)}" for point in part.points[:_LISTED]]
        more = [f"  and {len(part.points) - _LISTED} more"] if part.points[_LISTED:] else []
        how = f"choose with --point {first}{option}, in Python with point={first}"
        return "\n".join([how, *lines, *more])


def _naming(part: Chosen, point: int) -> str | None:
    """Shortest string with coordinates that select only this point; ``None`` if there is no such string."""
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
    """Words about the end of the run of a point, or about missing data, if readers need them to judge its numbers."""
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
    """Label of the value of a coordinate at each point of the results, including points that are not chosen."""
    return short(path, [point["coordinates"].get(path) for point in part.results.points])
