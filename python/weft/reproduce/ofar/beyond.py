"""Beyond the paper: OFAR beside UGAL, PAR and PB under all patterns, and where links break at random."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from weft.reproduce.common import bar_figures, line_figures
from weft.reproduce.common.line_figures import Series
from weft.reproduce.common.measured import LackingError
from weft.reproduce.common.questions import greatest, unstalled
from weft.reproduce.ofar.routings_run import OFAR_E
from weft.reproduce.ofar.scale import sizes, words
from weft.reproduce.ofar.steady import ACCEPTED
from weft.results import soundness

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weft.plot.style import Picture as Drawing
    from weft.reproduce.common.measured import Measured

PATTERNS, BROKEN = "patterns", "broken"


def _labelled(frame: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """The rows of each routing and number of rings, with its label."""
    for (mechanism, rings), rows in frame.group_by("mechanism", "rings", maintain_order=True):
        several = mechanism == OFAR_E and isinstance(rings, int) and rings > 1
        yield f"{mechanism}, {rings} rings" if several else str(mechanism), rows


def patterns_figure(measured: Measured) -> Drawing:
    """What each routing accepts of the highest load, a group of bars for each pattern."""
    frame = unstalled(measured[PATTERNS]).drop_nulls("accepted_load")
    if frame.is_empty():
        raise LackingError("nothing was accepted under any pattern")
    most = greatest(frame, "load")
    frame = frame.filter(pl.col("load") == most)
    groups = frame["pattern"].unique(maintain_order=True).to_list()
    bars: dict[str, list[float | None]] = {}
    for label, rows in _labelled(frame):
        by_pattern = dict(rows.group_by("pattern").agg(pl.col("accepted_load").mean()).rows())
        bars[label] = [by_pattern.get(pattern) for pattern in groups]
    title = f"Beyond the paper: accepted of {most:g} phits/(node cycle) (h = {sizes(measured, PATTERNS)[0]})"
    names = [group.replace("_", " ") for group in groups]
    return bar_figures.grouped(title, names, bars, ACCEPTED, wide=True)[0]


def patterns_remark(measured: Measured) -> str:
    """Under how many patterns OFAR accepts most, and where it does not.

    What differs by less than what counts as the same work is no difference.
    """
    frame = unstalled(measured[PATTERNS]).drop_nulls("accepted_load")
    frame = frame.filter(pl.col("load") == greatest(frame, "load"))
    means = frame.group_by("pattern", "mechanism", "rings", maintain_order=True).agg(pl.col("accepted_load").mean())
    others = []
    for pattern in means["pattern"].unique(maintain_order=True).to_list():
        rows = means.filter(pl.col("pattern") == pattern).sort("accepted_load")
        ours: list[float] = rows.filter(pl.col("mechanism") == OFAR_E)["accepted_load"].to_list()
        best, most = rows.select("mechanism", "accepted_load").row(-1)
        if not ours or not soundness.same_work((max(ours), most), (None, None)):
            others.append(f"{pattern} ({best})")
    told = f"all {means['pattern'].n_unique()} patterns"
    if others:
        told = f"all of {means['pattern'].n_unique()} patterns but {', '.join(others)}"
    better = "OFAR, with the better number of rings, accepts most or at most 3 % less than the most"
    return f"Run at {words(measured, PATTERNS)}. {better} under {told}."


def broken_figure(measured: Measured) -> Drawing:
    """The share of packets that are lost over the share of links that are broken at a time, by pattern."""
    frame = unstalled(measured[BROKEN]).drop_nulls(["dropped_share", "down_share"]).sort("down_share")
    if frame.is_empty():
        raise LackingError("no run with broken links was finished")
    panels: dict[str, list[Series]] = {}
    for (pattern,), of_pattern in frame.group_by("pattern", maintain_order=True):
        panels[str(pattern)] = [
            Series(
                label,
                (100 * rows["down_share"]).to_list(),
                (100 * rows["dropped_share"]).to_list(),
                rows["saturated"].to_list(),
            )
            for label, rows in _labelled(of_pattern)
        ]
    title = f"Beyond the paper: links that break and are mended (h = {sizes(measured, BROKEN)[0]})"
    return line_figures.panels(title, panels, "Links broken at a time [%]", "Packets dropped [%]")
