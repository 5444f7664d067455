"""Points of sweeps arranged as load curves: a panel per traffic pattern, a series per other combination."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from weft import quantities as q
from weft.labels import label
from weft.student import quantile95

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from weft.quantities import Quantity
    from weft.results import Results

LOAD = "traffic.load"
_PATTERN = "traffic.pattern"
_NOT_APART = (LOAD, _PATTERN, "seed")
# Where the summary names a model that the sweep need not have set.
NAMED = {_PATTERN: "pattern", "routing": "routing", "power.policy": "policy", "topology": "topology"}


@dataclass(frozen=True)
class Part:
    """Points of one set of results.

    Attributes
    ----------
    results : Results
        Where they are.
    points : list of int
        Their rows in the frame.
    name : str
        What sets these results apart from others in the same figure; empty if they are alone.
    """

    results: Results
    points: list[int]
    name: str = ""

    @classmethod
    def whole(cls, results: Results) -> Part:
        """All points."""
        return cls(results, list(range(len(results))))


@dataclass(frozen=True)
class Curve:
    """A series of points over load.

    Attributes
    ----------
    label : str
        What sets this series apart; empty if it is the only one.
    frame : polars.DataFrame
        Rows in the order of load. Columns: ``load`` [flits/terminal/cycle], ``part`` (name of the results) and
        ``points`` (rows there), ``saturated`` and ``stalled`` (true if any seed was), ``seeds`` (how many), the numbers
        of the summary as means over seeds (null where nothing was measured), and their standard deviations over seeds
        with the ending ``_std``.
    """

    label: str
    frame: pl.DataFrame

    def half_width(self, quantity: Quantity) -> pl.Series:
        """Half the width of the 95 % confidence interval: over seeds, or else over the batches of the one run.

        Null where neither is known.
        """
        inside = quantity.column.replace("_mean_", "_ci95_")
        alone = self.frame[inside] if inside in self.frame.columns else self.frame["seeds"].cast(pl.Float64) * None
        rows = zip(self.frame["seeds"], self.frame[f"{quantity.column}_std"], alone, strict=True)
        return pl.Series(
            [batches if seeds < 2 else quantile95(seeds - 1) * spread / seeds**0.5 for seeds, spread, batches in rows],
            dtype=pl.Float64,
        )


@dataclass(frozen=True)
class Panel:
    """The curves of one traffic pattern; the title is empty if there is only one."""

    title: str
    curves: list[Curve]

    @property
    def end(self) -> float:
        """The highest load."""
        return max(float(load) for curve in self.curves for load in curve.frame["load"])


def panels(results: Results) -> list[Panel]:
    """Arrange the finished points of a sweep."""
    return overlay([Part.whole(results)])


def overlay(parts: Sequence[Part]) -> list[Panel]:
    """Arrange points of several sets of results in the same panels."""
    frames = [_rows(part) for part in parts if part.points]
    if not frames:
        return []
    frame = pl.concat(frames, how="diagonal_relaxed")
    paths = dict.fromkeys(path for part in parts for path in part.results.coordinates)
    if len(parts) > 1:
        paths |= dict.fromkeys(path for path in NAMED if path in frame.columns)
    varied = [path for path in paths if frame[path].n_unique() > 1]
    apart = [path for path in varied if path not in _NOT_APART]
    frame = frame.with_columns(
        *(pl.Series(path, short(path, frame[path])) for path in apart),
        pl.Series("panel", short(_PATTERN, frame[_PATTERN]) if _PATTERN in varied else [""] * frame.height),
    )
    named = ["part", *apart] if len(parts) > 1 else apart
    series = pl.concat_str(named, separator=", ") if named else pl.lit("")
    frame = frame.with_columns(series.alias("series"))
    frame = frame.with_columns(pl.col(pl.Null).cast(pl.Float64))  # what no point measured
    others = {*paths, "load", "points"}
    numbers = [column for column, kind in frame.schema.items() if kind.is_numeric() and column not in others]
    rows = frame.group_by("panel", "series", "load", maintain_order=True).agg(
        pl.col("part").first(),
        pl.col("points"),
        pl.col("saturated", "stalled").any(),
        pl.len().alias("seeds"),
        pl.col(numbers).mean(),
        pl.col(numbers).std().name.suffix("_std"),
    )
    return [
        Panel(str(title), [Curve(str(name), _sorted(curve)) for (name,), curve in _parts(panel, "series")])
        for (title,), panel in _parts(rows, "panel")
    ]


def short(path: str, values: Iterable[object]) -> list[str]:
    """Labels of the values of a coordinate: names without their options where the names alone tell them apart.

    A number or a quantity says what it is of.

    Examples
    --------
    >>> short("routing", ["ugal_p(threshold 2flits)", "minimal"])
    ['ugal_p', 'minimal']
    >>> short("links.default.vcs", [2, 4])
    ['vcs 2', 'vcs 4']
    """
    words = [label(value) for value in values]
    names = [word.partition("(")[0] for word in words]
    words = names if len(set(names)) == len(set(words)) else words
    what = path.rpartition(".")[2]
    return [f"{what} {word}" if word[:1].isdigit() or word in {"yes", "no", "-"} else word for word in words]


def _rows(part: Part) -> pl.DataFrame:
    """The chosen rows of the frame, with coordinates as text so that several frames fit together."""
    frame = part.results.frame.with_row_index("points")[part.points]
    # jobs with loads of their own leave the scenario without one
    load = pl.coalesce(pl.col("load").cast(pl.Float64), pl.col(q.OFFERED.column).round(4))
    paths = [path for path in part.results.coordinates if path not in NAMED]
    models = [
        pl.col(column).cast(pl.String).alias(path)
        for path, name in NAMED.items()
        for column in [path if path in part.results.coordinates else name]
        if column in frame.columns
    ]
    rate = (pl.col("link_transitions") / pl.col("window_seconds")).alias(q.TRANSITIONS.column)
    return frame.with_columns(
        *(pl.Series(path, [label(value) for value in frame[path]]) for path in paths),
        *models,
        *([rate] if "window_seconds" in frame.columns else []),
        load.alias("load"),
        pl.lit(part.name).alias("part"),
        (pl.col(q.ENDING.column) == q.STALLED).alias("stalled"),
    )


def _parts(frame: pl.DataFrame, column: str) -> list[tuple[tuple[object, ...], pl.DataFrame]]:
    return list(frame.group_by(column, maintain_order=True))


def _sorted(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.drop("panel", "series").sort("load")
