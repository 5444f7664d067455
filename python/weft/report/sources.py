"""Combines several results folders into one list of points with their load curves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import polars as pl

from weft.errors import ResultsError
from weft.results import si_units
from weft.results.choose import Chosen, names
from weft.results.curves import Curve, overlay
from weft.results.set_times import changes
from weft.text.labels import label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft.results.confidence import Mean
    from weft.results.quantities import Quantity
    from weft.results.result_set import ResultSet


@dataclass(frozen=True)
class Line:
    """A load curve: lists with an entry for each load.

    Attributes
    ----------
    panel, label : str
        The traffic pattern, and the name of the curve, which is unique among the curves of this pattern.
    load : list of float
        Loads of the scenarios [flits/terminal/cycle], in ascending order.
    over : list of bool
        Whether the point at a load is saturated or stalled.
    unjudged : list of bool
        Whether Weft cannot decide if the point at a load is saturated.
    closed_loop : list of bool
        True if terminals wait for replies before they send more. The offered load then depends on the network.
    flaw : list of str
        Flaw of the point at a load, as words; empty for a point without a flaw. A report never names a point with a
        flaw as best.
    rank : list of int
        Rank of this flaw (a number by which flaws are ordered); `curves.SOUND` for a point without a flaw.
    points : list of list of int
        Indices of the points at each load, one per seed.
    curve : Curve
        The measured values of the curve.
    """

    panel: str
    label: str
    load: list[float]
    over: list[bool]
    unjudged: list[bool]
    closed_loop: list[bool]
    flaw: list[str]
    rank: list[int]
    points: list[list[int]]
    curve: Curve


class Sources:
    """The points of several results, numbered from 0 over all results.

    Raises
    ------
    ResultsError
        If no point is finished.
    """

    def __init__(self, results: Sequence[ResultSet], units: str | None = None) -> None:
        self.results = list(results)
        if not any(map(len, self.results)):
            places = ", ".join(str(each.root) for each in self.results)
            what = f"{places}: no point is finished, so there is nothing to report"
            raise ResultsError.saying(what, "run the sweep to its end: the same `weft run` computes the missing points")
        self.places = [(each, row) for each in self.results for row in range(len(each))]
        self.summaries: list[dict[str, Any]] = [summary for each in self.results for summary in each.summaries]
        self.units = si_units.chosen(units, self.summaries)
        if units == si_units.SI:
            si_units.check(self.summaries)

    def __len__(self) -> int:
        return len(self.places)

    @cached_property
    def names(self) -> list[str]:
        """Names that distinguish the results."""
        return names(self.results)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """A frame with the rows (points) of all results."""
        frame = pl.concat([each.frame for each in self.results if len(each)], how="diagonal_relaxed")
        if self.units != si_units.SI:
            return frame
        return frame.hstack(pl.DataFrame(list(map(si_units.derived, self.summaries)), infer_schema_length=None))

    @cached_property
    def varied(self) -> list[str]:
        """Paths of coordinates that differ between points, in the order of the sweeps."""
        paths = list(dict.fromkeys(path for each in self.results for path in each.coordinates))
        return [path for path in paths if self.frame[path].n_unique() > 1]

    @cached_property
    def described(self) -> list[str]:
        """For each point, a string with the coordinates in which it differs from the other points."""
        words = []
        for number, (results, row) in enumerate(self.places):
            coordinates = results.points[row]["coordinates"]
            lines = [
                f"{path.rpartition('.')[2]} {label(coordinates[path], path)}"
                for path in self.varied
                if path in coordinates
            ]
            if len(self.results) > 1:
                lines.insert(0, self.names[self.results.index(results)])
            words.append(", ".join(lines) or results.describe(row) or f"point {number}")
        return words

    @cached_property
    def changes(self) -> list[str]:
        """For each point, a string with the changes that its scenario makes at given times; empty if there are none."""
        return [words for each in self.results for words in changes(each)]

    @cached_property
    def lines(self) -> list[Line]:
        """The load curves of all results."""
        several = len(self.results) > 1
        parts = [
            Chosen.all_of(each, name if several else "") for each, name in zip(self.results, self.names, strict=True)
        ]
        begin = dict(zip([part.name for part in parts], accumulate(map(len, self.results), initial=0), strict=False))
        return [
            Line(
                panel.title,
                curve.label,
                curve.frame["load"].to_list(),
                (curve.frame["saturated"] | curve.frame["stalled"]).to_list(),
                curve.frame["unjudged"].to_list(),
                curve.frame["closed_loop"].to_list(),
                curve.frame["flaw"].to_list(),
                curve.frame["flaw_rank"].to_list(),
                [
                    [begin[part] + row for row in rows]
                    for part, rows in zip(curve.frame["part"], curve.frame["points"].to_list(), strict=True)
                ],
                curve,
            )
            for panel in overlay(parts)
            for curve in panel.curves
        ]

    def means(self, line: Line, quantity: Quantity) -> list[Mean | None]:
        """Means of a quantity over the seeds, at each load of a curve; ``None`` if it was not measured."""
        return line.curve.means(quantity)
