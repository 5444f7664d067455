"""Functions with which figures and claims read a frame: points of a mechanism, ratios, throughput, settled points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from weft.results import quantities as q
from weft_papers.common.frames import BASELINE, ENERGY
from weft_papers.common.measured import LackingError

# Loads of different mechanisms count as equal if they differ by at most this value [flits/terminal/cycle].
_SAME = 1e-9
# Maximum ratio of the two loads around a saturation that is compared.
_APART = 1.25
# A load is too much if the network accepts less than this share of it.
_ACCEPTED = 0.95
# If a load that the paper names was not run, the nearest load replaces it, if it differs by no more than this share.
_NEAR = 0.25


def of(frame: pl.DataFrame, mechanism: str) -> pl.DataFrame:
    """The points of a mechanism that did not stall, in the order of load.

    Raises
    ------
    LackingError
        If there are no such points.
    """
    found = frame.filter(pl.col("mechanism") == mechanism)
    if found.is_empty():
        raise LackingError(f"{mechanism} was not run")
    found = unstalled(found).sort("load", "seed", nulls_last=True)
    if found.is_empty():
        raise LackingError(f"every run of {mechanism} stalled")
    return found


def unstalled(frame: pl.DataFrame) -> pl.DataFrame:
    """The points that did not stall. The load that a network accepted before it got stuck has no meaning."""
    return frame.filter(~pl.col("stalled").fill_null(value=False))


def beside(frame: pl.DataFrame, mechanism: str, reference: str = BASELINE) -> pl.DataFrame:
    """Points of a mechanism at loads at which the reference also ran; the reference's columns end in ``_reference``."""
    both = of(frame, mechanism).join(of(frame, reference), on=["load", "seed"], suffix="_reference", nulls_equal=True)
    if both.is_empty():
        raise LackingError(f"{mechanism} and {reference} have no load in common")
    return both


def ratio(column: str, reference: str = "reference") -> pl.Expr:
    """A column divided by the column of the same name with a suffix; null if one of the two is unknown or 0."""
    found = pl.col(column) / pl.col(f"{column}_{reference}")
    return pl.when(found.is_finite() & (found > 0)).then(found)


def normalised(frame: pl.DataFrame, mechanism: str) -> pl.DataFrame:
    """Energy per flit of a mechanism: ``load``, ``energy`` (1 is the energy of the baseline), ``saturated``."""
    both = beside(frame, mechanism)
    return both.select("load", ratio(ENERGY).alias("energy"), "saturated").drop_nulls("energy")


def relative_latency(frame: pl.DataFrame, mechanism: str) -> pl.DataFrame:
    """Latency divided by the baseline's, if neither is saturated: ``load``, ``latency`` (1 is the baseline's)."""
    both = steady(beside(frame, mechanism))
    return both.select("load", ratio(q.LATENCY.column).alias("latency")).drop_nulls("latency")


@dataclass(frozen=True)
class Throughput:
    """Loads that describe the throughput of a mechanism [flits/terminal/cycle].

    Attributes
    ----------
    last : float
        Highest load below the lowest load that is too much, as a reader sees it in a curve of latency over load. Claims
        are judged by this value, because the papers do not define their throughput but show such curves.
    next : float
        The lowest load that is too much; `last` itself if load 1 is not too much.
    over : float
        Accepted load at the lowest load that is too much.
    most : float
        Highest accepted load. It may be far above the others, because sources that avoid busy channels then send more.
    """

    last: float
    next: float
    over: float
    most: float


def compared(frame: pl.DataFrame, mechanism: str, reference: str = BASELINE) -> tuple[float, str]:
    """Throughput divided by that of the reference; and text with the loads and with the ratios by other definitions.

    Raises
    ------
    LackingError
        If the loads that were run do not show precisely enough where one of the two mechanisms saturates.
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
    """Bounds of the ratio of the throughputs of a mechanism and the reference, from the loads that were run.

    Each mechanism saturates between its last load below saturation and the next load that was run.
    """
    ours, theirs = throughput(frame, mechanism), throughput(frame, reference)
    return ours.last / theirs.next, ours.next / theirs.last


def throughput(frame: pl.DataFrame, mechanism: str) -> Throughput:
    """The last load that is not too much, the load that is accepted at the next one, and the highest accepted load.

    A load is too much if the point is saturated or accepts less than 0.95 of it. It is possible that no load up to 1 is
    too much.

    Raises
    ------
    LackingError
        If no load was too much (so that the throughput is unknown), if all loads were, or if nothing was accepted.
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
    """Points that are not saturated, and whose reference is not saturated either."""
    return frame.filter(~pl.any_horizontal("^saturated.*$"))


def with_settled_links(frame: pl.DataFrame) -> pl.DataFrame:
    """The same points, if the power states of all points had settled. Latencies need not have settled.

    Raises
    ------
    LackingError
        If the window of a point that is not saturated began before its power states had settled.
    """
    if late := frame.filter(~pl.col("saturated") & ~pl.col("power_settled").fill_null(value=True)).height:
        raise LackingError(f"the links of {late} of {frame.height} points had not settled")
    return frame


def least(frame: pl.DataFrame, column: str, *mechanisms: str) -> tuple[float, list[dict[str, Any]]]:
    """The lowest load at which a column is known for all these mechanisms, and their rows at this load.

    Raises
    ------
    LackingError
        If there is no such load.
    """
    rows = [of(frame, each).drop_nulls(column).unique("load", keep="first") for each in mechanisms]
    common = set.intersection(*({*each["load"]} for each in rows))
    if not common:
        raise LackingError(f"no load with a known {column} of {' and '.join(mechanisms)} was run")
    load = min(common)
    return load, [each.row(by_predicate=pl.col("load") == load, named=True) for each in rows]


def greatest(frame: pl.DataFrame, column: str) -> float:
    """The greatest value of a column.

    Raises
    ------
    LackingError
        If the column has no value.
    """
    values = frame[column].drop_nulls().to_list()
    if not values:
        raise LackingError(f"{column} is unknown: all points that were run are saturated")
    return float(max(values))


def spread(values: pl.Series) -> str:
    """String with the minimum, the maximum and the quartiles of some values."""
    least_, *quartiles, most = (values.quantile(share, "linear") or 0.0 for share in (0, 0.25, 0.5, 0.75, 1))
    return f"{least_:.2f} to {most:.2f}, quartiles {', '.join(f'{value:.2f}' for value in quartiles)}"


def near(frame: pl.DataFrame, load: float) -> dict[str, Any]:
    """The row whose load is nearest to a load that the paper names.

    Raises
    ------
    LackingError
        If no load is within a quarter of it.
    """
    if not frame.is_empty():
        row = frame.sort((pl.col("load") - load).abs()).row(0, named=True)
        if abs(row["load"] - load) <= _NEAR * load + _SAME:
            return row
    raise LackingError(f"no load near {load:g} was run below saturation")
