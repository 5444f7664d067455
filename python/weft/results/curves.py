"""Arranges the points of sweeps (one simulation each) as curves over load.

There is a panel for each traffic pattern, with a curve for each combination of the other coordinates except the seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from weft.results import quantities as q
from weft.results import si_units, soundness
from weft.results.choose import LOAD, NAMED, PATTERN, SEED, Chosen
from weft.results.confidence import Mean
from weft.text.labels import brief, label

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from weft.results.quantities import Quantity
    from weft.results.result_set import ResultSet

_NOT_APART = (LOAD, PATTERN, SEED)
# Flaws have ranks, and the worst flaw has the lowest. This is the rank of a sound point (without flaws), above all
# others.
SOUND = 1000


@dataclass(frozen=True)
class Curve:
    """Points that differ only in load and seed, which a figure draws as a curve.

    Attributes
    ----------
    label : str
        String that distinguishes this series from the other series of the panel; empty if it is the only one.
    frame : polars.DataFrame
        Frame with a row per load, in ascending order. ``load`` is the load that the scenario sets
        [flits/terminal/cycle]. ``part`` is the name of the result set with the points. ``points`` has the row numbers
        of the points in that set, one for each seed.

        These boolean columns are true if they are true for any seed:

        - ``saturated``: the point is saturated, all the time or in a phase.
        - ``stalled``: the network got stuck.
        - ``cut``: the run was cut off before its batches or programs were complete, so that latencies are null.
        - ``failing``: links or routers fail.
        - ``dropping``: packets were dropped.
        - ``unsettled``, ``unjudged``: the run had not settled, or Weft cannot decide if the point is saturated.
        - ``few``: the run has too few packets.
        - ``partial``: the window is shorter than a period of the power policy.

        ``closed_loop`` is true if terminals wait for replies, so that the load depends on the network. ``phase_loads``
        has the loads of the measured phases as a string; null if the load does not change. ``flaw`` is the worst flaw
        of the point (`weft.results.soundness`); empty for a sound point. All other columns are numbers of the summary,
        as means over seeds. A mean is null if no run measured the number. If links fail, the energy that always-on
        links would need is also null. A column with the same name plus ``_runs`` has the list of the values of the
        single runs.
    """

    label: str
    frame: pl.DataFrame

    @property
    def changes(self) -> bool:
        """Whether the load changes in phases in any point of the curve."""
        return self.frame["phase_loads"].null_count() < self.frame.height

    def means(self, quantity: Quantity) -> list[Mean | None]:
        """For each load, the mean over the runs that measured the quantity; ``None`` if no run measured it."""
        nothing = [[None] * len(points) for points in self.frame["points"]]
        values, own = (
            self.frame[f"{column}_runs"].to_list() if f"{column}_runs" in self.frame.columns else nothing
            for column in (quantity.column, quantity.own_half_width)
        )
        return [Mean.over(zip(*runs, strict=True)) for runs in zip(values, own, strict=True)]

    def half_width(self, quantity: Quantity) -> pl.Series:
        """Half the width of the 95 % confidence interval at each load, from several runs or within a single run.

        An entry is null if the interval is unknown.
        """
        return pl.Series([mean and mean.half_width for mean in self.means(quantity)], dtype=pl.Float64)


@dataclass(frozen=True)
class Panel:
    """The curves of one traffic pattern; the title is empty if all curves have the same pattern."""

    title: str
    curves: list[Curve]

    @property
    def end(self) -> float:
        """The highest offered load of the panel, at which the axis ends; 1 if that load is 0."""
        return max(float(load) for curve in self.curves for load in curve.frame[q.OFFERED.column]) or 1.0


def panels(results: ResultSet) -> list[Panel]:
    """Arrange the finished points of a sweep as panels of curves."""
    return overlay([Chosen.all_of(results, "")])


def overlay(parts: Sequence[Chosen]) -> list[Panel]:
    """Arrange the points of several sets of results in the same panels."""
    paths = dict.fromkeys(path for part in parts for path in part.results.coordinates)
    frames = [_rows(part, paths) for part in parts if part.points]
    if not frames:
        return []
    frame = pl.concat(frames, how="diagonal_relaxed")
    if len(parts) > 1:
        paths |= dict.fromkeys(path for path in NAMED if path in frame.columns)
    varied = [path for path in paths if frame[path].n_unique() > 1]
    apart = [path for path in varied if path not in _NOT_APART]
    frame = frame.with_columns(
        *(pl.Series(path, short(path, frame[path])) for path in apart),
        pl.Series("panel", short(PATTERN, frame[PATTERN]) if PATTERN in varied else [""] * frame.height),
    )
    named = ["part", *apart] if len(parts) > 1 else apart
    series = pl.concat_str(named, separator=", ") if named else pl.lit("")
    frame = frame.with_columns(series.alias("series"))
    frame = frame.with_columns(pl.col(pl.Null).cast(pl.Float64))  # columns for which no point has a value
    others = {*paths, "load", "points", "flaw_rank"}
    numbers = [column for column, kind in frame.schema.items() if kind.is_numeric() and column not in others]
    distinct = frame.unique(["panel", "series", "load", "hash"], keep="first", maintain_order=True)
    rows = distinct.group_by("panel", "series", "load", maintain_order=True).agg(
        pl.col("part", "phase_loads").first(),
        pl.col("points"),
        pl.col("saturated", "stalled", "cut", "failing", "dropping", "unsettled", "unjudged", "few", "partial").any(),
        pl.col("closed_loop").all(),
        pl.col("flaw").sort_by("flaw_rank").first(),
        pl.col("flaw_rank").min(),
        pl.col(numbers).mean(),
        pl.col(numbers).name.suffix("_runs"),
    )
    return [
        Panel(str(title), [Curve(str(name), _sorted(curve)) for (name,), curve in _parts(panel, "series")])
        for (title,), panel in _parts(rows, "panel")
    ]


def short(path: str, values: Iterable[object]) -> list[str]:
    """Labels of the values of a coordinate: names of models without options, if these names distinguish the values.

    If a value is a number, a quantity or an empty list, the label begins with the name of the coordinate.

    Examples
    --------
    >>> short("routing", ["ugal_p(threshold 2flits)", "minimal"])
    ['ugal_p', 'minimal']
    >>> short("links.default.vcs", [2, 4])
    ['vcs 2', 'vcs 4']
    """
    words = brief([label(value, path) for value in values])
    what = path.rpartition(".")[2]
    return [f"{what} {word}" if word[:1].isdigit() or word in {"yes", "no", "none", "-"} else word for word in words]


def _rows(part: Chosen, paths: Iterable[str]) -> pl.DataFrame:
    """The chosen rows of the frame, with coordinates as strings, so that frames of several sets can be joined.

    If only another set varies a coordinate, its value comes from the scenario of the point.
    """
    frame = part.results.frame.with_row_index("points")[part.points]
    # if each job sets its load, the scenario has no common load, and the offered load replaces it
    load = pl.coalesce(pl.col("load").cast(pl.Float64), pl.col(q.OFFERED.column).round(4))
    others = [path for path in paths if path not in NAMED]
    hashes = [part.results.points[point]["hash"] for point in part.points]
    models = [
        pl.col(column).cast(pl.String).fill_null("jobs" if path == PATTERN else "-").alias(path)
        for path, name in NAMED.items()
        for column in [path if path in part.results.coordinates else name]
        if column in frame.columns
    ]
    summaries = [part.results.summaries[point] for point in part.points]
    failing = pl.Series("failing", [soundness.is_failing(summary) for summary in summaries])
    always_on = [each.always_on.column for each in (*q.POWERS, *q.ENERGIES) if each.always_on.column in frame.columns]
    verdicts = [soundness.verdict(summary) for summary in summaries]
    found = [soundness.FLAWS[verdict.flaws[0]] if verdict.flaws else None for verdict in verdicts]
    twins = [si_units.derived(summary) for summary in summaries]
    columns = dict.fromkeys(column for each in twins for column in each)
    rate = (pl.col("link_transitions") / pl.col("window_seconds")).alias(q.TRANSITIONS.column)
    frame = frame.with_columns(
        *(pl.Series(path, [label(part.value(point, path), path) for point in part.points]) for path in others),
        *models,
        pl.Series("hash", hashes),
        *(pl.Series(column, [each.get(column) for each in twins], dtype=pl.Float64) for column in columns),
        *([rate] if "window_seconds" in frame.columns else []),
        load.alias("load"),
        pl.lit(part.name).alias("part"),
        pl.Series("saturated", [verdict.is_over for verdict in verdicts]),
        pl.Series("cut", [verdict.sign == soundness.CUT_SIGN for verdict in verdicts]),
        pl.Series("closed_loop", [bool(summary.get("closed_loop")) for summary in summaries]),
        pl.Series("unjudged", [verdict.is_unjudged for verdict in verdicts]),
        failing,
        pl.Series("dropping", [soundness.is_dropping(summary) for summary in summaries]),
        pl.Series("few", [verdict.is_few for verdict in verdicts]),
        pl.Series("phase_loads", list(map(_of_phases, summaries)), dtype=pl.String),
        pl.Series("partial", [verdict.mark == soundness.PERIOD_MARK for verdict in verdicts]),
        pl.Series("unsettled", [verdict.is_unsettled for verdict in verdicts]),
        pl.Series("flaw", [flaw.words if flaw else "" for flaw in found], dtype=pl.String),
        pl.Series("flaw_rank", [flaw.rank if flaw else SOUND for flaw in found]),
        (pl.col(q.ENDING.column) == q.STALLED).alias("stalled"),
        # null if links fail, because failed links need energy in the always-on reference but not in the run; the
        # difference would not be a saving of the policy
        *(pl.when(~failing).then(pl.col(column)).alias(column) for column in always_on),
    )
    # null if a run was cut off, because the undelivered packets would have the longest latencies
    latencies = [column for column in frame.columns if column.startswith(soundness.LATENCIES)]
    return frame.with_columns(pl.when(~pl.col("cut")).then(pl.col(column)).alias(column) for column in latencies)


def _of_phases(summary: Mapping[str, Any]) -> str | None:
    """The loads of the measured phases, as set by the scenario, in a string; ``None`` if the load does not change."""
    measured = [phase["load"] for phase in summary.get("phases") or [] if phase.get("from_cycle") is not None]
    return ", ".join(f"{load:.3g}" for load in measured) or None


def _parts(frame: pl.DataFrame, column: str) -> list[tuple[tuple[object, ...], pl.DataFrame]]:
    return list(frame.group_by(column, maintain_order=True))


def _sorted(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.drop("panel", "series").sort("load")
