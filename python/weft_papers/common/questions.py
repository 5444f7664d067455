"""Functions that take numbers for figures and claims from a frame: ratios, throughput, the points of a mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from weft.results import quantities as q
from weft_papers.common.frames import BASELINE, ENERGY
from weft_papers.common.measured import LackingError

# Two loads count as equal if they differ by at most this value [flits/terminal/cycle].
_SAME = 1e-9
# The saturation of a mechanism is between two loads that were run. Throughputs are compared only if the upper of these
# loads is at most this multiple of the lower load.
_APART = 1.25
# A load is too high if the network accepts less than this share of it.
_ACCEPTED = 0.95
# A load that the paper names, but that was not run, is replaced by the nearest load, if the two differ by at most this
# share.
_NEAR = 0.25


def of(frame: pl.DataFrame, mechanism: str) -> pl.DataFrame:
    """Return the points of a mechanism that did not stall, sorted by load.

    Raises
    ------
    LackingError
        If the mechanism was not run, or if all its points stalled.
    """
    # A scoreboard asks thousands of times. Columns compare in half the time of expressions, which Polars plans first.
    rows = frame["mechanism"] == mechanism
    if not rows.any():
        raise LackingError(f"{mechanism} was not run")
    found = frame.filter(rows & ~frame["stalled"].fill_null(value=False)).sort("load", "seed", nulls_last=True)
    if found.is_empty():
        raise LackingError(f"every run of {mechanism} stalled")
    return found


def unstalled(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the points that did not stall. If a network stalls, its accepted load has no meaning."""
    return frame.filter(~pl.col("stalled").fill_null(value=False))


def beside(frame: pl.DataFrame, mechanism: str, reference: str = BASELINE) -> pl.DataFrame:
    """Join the points of a mechanism and of a reference at equal loads and seeds.

    The names of the reference's columns end in ``_reference``.
    """
    both = of(frame, mechanism).join(of(frame, reference), on=["load", "seed"], suffix="_reference", nulls_equal=True)
    if both.is_empty():
        raise LackingError(f"{mechanism} and {reference} have no load in common")
    return both


def ratio(column: str, reference: str = "reference") -> pl.Expr:
    """Make the expression that divides a column by the same column of the reference (see `beside`).

    The ratio is null if one of the two values is unknown or 0.
    """
    found = pl.col(column) / pl.col(f"{column}_{reference}")
    return pl.when(found.is_finite() & (found > 0)).then(found)


def normalised(frame: pl.DataFrame, mechanism: str) -> pl.DataFrame:
    """Return the energy per bit of a mechanism, divided by that of the baseline at the same load.

    The columns are ``load``, ``energy``, ``saturated``.
    """
    both = beside(frame, mechanism)
    return both.select("load", ratio(ENERGY).alias("energy"), "saturated").drop_nulls("energy")


def relative_latency(frame: pl.DataFrame, mechanism: str) -> pl.DataFrame:
    """Return the latency of a mechanism divided by that of the baseline, at loads at which neither is saturated.

    The columns are ``load`` and ``latency``.
    """
    both = steady(beside(frame, mechanism))
    return both.select("load", ratio(q.LATENCY.column).alias("latency")).drop_nulls("latency")


@dataclass(frozen=True)
class Throughput:
    """Loads that describe the throughput of a mechanism [flits/terminal/cycle].

    A load is too high if it saturates the network, or if the network accepts less than 95 % of it.

    Attributes
    ----------
    last : float
        Highest load that was run below the lowest load that is too high. The rules of claims compare this value,
        because the papers do not define throughput, but a reader can see this load in their curves of latency over
        load.
    next : float
        The lowest load that is too high; the highest load that was run if even load 1 is not too high.
    over : float
        Accepted load at the lowest load that is too high.
    most : float
        Highest accepted load of all points. It can be far above the other three values: beyond saturation, sources
        whose packets avoid busy channels send more.
    """

    last: float
    next: float
    over: float
    most: float


def compared(frame: pl.DataFrame, mechanism: str, reference: str = BASELINE) -> tuple[float, str]:
    """Return the ratio of a mechanism's throughput to the reference's.

    The returned text has the loads of both, and the ratios for two other definitions of throughput.

    Raises
    ------
    LackingError
        If the two loads between which a mechanism saturates are too far apart.
    """
    ours, theirs = throughput(frame, mechanism), throughput(frame, reference)
    for name, found in ((mechanism, ours), (reference, theirs)):
        if found.next > _APART * found.last + _SAME:
            raise LackingError(
                f"{name} saturates between load {found.last:g} and load {found.next:g}, the next load that was run"
            )
    text = (
        f"last loads below saturation {ours.last:g} and {theirs.last:g}; ratio of the loads accepted at the next load "
    )
    text += f"{ours.over / theirs.over:.3f}, ratio of the highest accepted loads {ours.most / theirs.most:.3f}"
    return ours.last / theirs.last, text


def between(frame: pl.DataFrame, mechanism: str, reference: str = BASELINE) -> tuple[float, float]:
    """Return the bounds of the ratio of a mechanism's throughput to the reference's throughput.

    The ratio itself is unknown, because a mechanism saturates at an unknown load between two loads that were run.
    """
    ours, theirs = throughput(frame, mechanism), throughput(frame, reference)
    return ours.last / theirs.next, ours.next / theirs.last


def throughput(frame: pl.DataFrame, mechanism: str) -> Throughput:
    """Find the loads that describe the throughput of a mechanism.

    A load is too high if the point is saturated or accepts less than 0.95 of it. Some mechanisms accept even load 1.

    Raises
    ------
    LackingError
        If the throughput is unknown: no load was too high and load 1 was not run, all loads were too high, or the
        network accepted nothing.
    """
    points = of(frame, mechanism).drop_nulls("accepted_load")
    over = points.filter(pl.col("saturated") | (pl.col("accepted_load") < _ACCEPTED * pl.col("load")))
    end = over["load"][0] if over.height else greatest(points, "load")
    if over.is_empty() and end < 1 - _SAME:
        raise LackingError(f"{mechanism} accepted the whole offered load up to load {end:g}")
    knee = greatest(points.filter(pl.col("load") == end), "accepted_load")
    if knee <= 0:
        raise LackingError(f"{mechanism} accepted nothing")
    below = points.filter(pl.col("load") < end) if over.height else points
    if below.is_empty():
        raise LackingError(f"{mechanism} is saturated at load {end:g}, the lowest load that was run")
    return Throughput(greatest(below, "load"), end, knee, greatest(points, "accepted_load"))


def steady(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the points where neither the mechanism nor its reference is saturated."""
    return frame.filter(~pl.any_horizontal("^saturated.*$"))


def with_settled_links(frame: pl.DataFrame) -> pl.DataFrame:
    """Check that the power states of all points of a frame had settled, and return the frame.

    Latencies are not checked.

    Raises
    ------
    LackingError
        If a point is not saturated, and its window began before its power states had settled.
    """
    if late := frame.filter(~pl.col("saturated") & ~pl.col("power_settled").fill_null(value=True)).height:
        raise LackingError(f"the links of {late} of {frame.height} points had not settled")
    return frame


def least(frame: pl.DataFrame, column: str, *mechanisms: str) -> tuple[float, list[dict[str, Any]]]:
    """Return the lowest load at which all mechanisms have a value in a column, and the row of each at this load.

    Raises
    ------
    LackingError
        If there is no load at which all mechanisms have a value in the column.
    """
    rows = [of(frame, each).drop_nulls(column).unique("load", keep="first") for each in mechanisms]
    common = set.intersection(*({*each["load"]} for each in rows))
    if not common:
        raise LackingError(f"no load with a known {column} of {' and '.join(mechanisms)} was run")
    load = min(common)
    return load, [each.row(by_predicate=pl.col("load") == load, named=True) for each in rows]


def greatest(frame: pl.DataFrame, column: str) -> float:
    """Return the greatest value in a column of a frame.

    Raises
    ------
    LackingError
        If no row has a value in this column.
    """
    values = frame[column].drop_nulls().to_list()
    if not values:
        raise LackingError(f"{column} is unknown: all points that were run are saturated")
    return float(max(values))


def spread(values: pl.Series) -> str:
    """Return a string with the minimum, the maximum and the quartiles of some values."""
    least_, *quartiles, most = (values.quantile(share, "linear") or 0.0 for share in (0, 0.25, 0.5, 0.75, 1))
    return f"{least_:.2f} to {most:.2f}, quartiles {', '.join(f'{value:.2f}' for value in quartiles)}"


def near(frame: pl.DataFrame, load: float) -> dict[str, Any]:
    """Return the row whose load is nearest to a load that the paper names.

    Raises
    ------
    LackingError
        If every load in the frame differs from the paper's load by more than a quarter.
    """
    if not frame.is_empty():
        row = frame.sort((pl.col("load") - load).abs()).row(0, named=True)
        if abs(row["load"] - load) <= _NEAR * load + _SAME:
            return row
    raise LackingError(f"no load near {load:g} was run below saturation")
