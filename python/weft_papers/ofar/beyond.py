"""Draws results beyond the paper: OFAR and other routings under all patterns and with broken links.

Further figures show OFAR with other rules for detours, and with the power policy TCEP.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from weft.results import quantities as q
from weft.results import soundness
from weft_papers.common import bar_figures, line_figures
from weft_papers.common.line_figures import Series
from weft_papers.common.measured import LackingError
from weft_papers.common.questions import greatest, ratio, unstalled
from weft_papers.ofar.routings_run import OFAR_E
from weft_papers.ofar.scale import sizes, words
from weft_papers.ofar.steady import ACCEPTED, OFFERED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weft.plot.style import Picture as Drawing
    from weft_papers.common.measured import Measured

PATTERNS, BROKEN, VARIANT, WITH_TCEP = "patterns", "broken", "variant", "tcep"
_ALWAYS_ON = '{"always_on": {}}'
_BESIDE = (
    ("local links on", "links_on_mean"),
    ("power of all links", "energy_network_j"),
    ("latency", q.LATENCY.column),
)


def _labelled(frame: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield, for each routing and number of escape rings, a label for the legend and the rows."""
    for (mechanism, rings), rows in frame.group_by("mechanism", "rings", maintain_order=True):
        several = mechanism == OFAR_E and isinstance(rings, int) and rings > 1
        yield f"{mechanism}, {rings} rings" if several else str(mechanism), rows


def patterns_figure(measured: Measured) -> Drawing:
    """Draw the accepted load of each routing at the highest load, with a group of bars for each pattern."""
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
    title = f"Beyond the paper: accepted load, {most:g} phits/(node cycle) offered (h = {sizes(measured, PATTERNS)[0]})"
    names = [group.replace("_", " ") for group in groups]
    return bar_figures.grouped(title, names, bars, ACCEPTED, wide=True)[0]


def patterns_remark(measured: Measured) -> str:
    """Return text on the number of patterns, and on those under which another routing accepts more than OFAR.

    Differences of at most 3 % do not count.
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
    text = f"all {means['pattern'].n_unique()} patterns"
    if others:
        text = f"all of {means['pattern'].n_unique()} patterns except {', '.join(others)}"
    better = "OFAR, with the better number of rings, has the highest accepted load, or at most 3 % less,"
    return f"Run at {words(measured, PATTERNS)}. {better} under {text}."


def broken_figure(measured: Measured) -> Drawing:
    """Draw, for each pattern, the share of dropped packets over the share of links that are broken at the same time."""
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
    title = f"Beyond the paper: links with random failures and repairs (h = {sizes(measured, BROKEN)[0]})"
    return line_figures.panels(title, panels, "Links broken at a time [%]", "Packets dropped [%]")


def variant_figure(measured: Measured) -> Drawing:
    """Draw OFAR's accepted load far beyond saturation. Each pattern has a bar for each rule for detours."""
    means = _by_rule(measured)
    groups = means["pattern"].unique(maintain_order=True).to_list()
    bars: dict[str, list[float | None]] = {}
    for rule in means["rule"].unique(maintain_order=True).to_list():
        by_pattern = dict(means.filter(pl.col("rule") == rule).select("pattern", "accepted_load").rows())
        bars[rule] = [by_pattern.get(pattern) for pattern in groups]
    title = f"Beyond the paper: rules for allowed detours (h = {sizes(measured, VARIANT)[0]})"
    return bar_figures.grouped(title, groups, bars, ACCEPTED)[0]


def _by_rule(measured: Measured) -> pl.DataFrame:
    """Return OFAR's accepted load by ``pattern`` and ``rule``: its mean, ``least`` and ``most`` over ``seeds`` seeds.

    Raises
    ------
    LackingError
        If no accepted load is known.
    """
    frame = unstalled(measured[VARIANT]).drop_nulls(["accepted_load", "rule"])
    if frame.is_empty():
        raise LackingError("nothing was accepted under any rule")
    load = pl.col("accepted_load")
    return frame.group_by("pattern", "rule", maintain_order=True).agg(
        load.mean(), load.min().alias("least"), load.max().alias("most"), pl.col("seed").n_unique().alias("seeds")
    )


def variant_remark(measured: Measured) -> str:
    """Return text on the number of seeds, and on the largest difference of accepted load between seeds."""
    means = _by_rule(measured)
    seeds = greatest(means, "seeds")
    offered = "far beyond saturation: offered load 0.6 of adversarial traffic, 1 of uniform traffic"
    text = f"Run at {words(measured, VARIANT)}, {offered}."
    if seeds < 2:
        return f"{text} One seed."
    apart = max(((means["most"] - means["least"]) / means["accepted_load"]).to_list())
    return f"{text} Means of {seeds:g} seeds, which differ by at most {apart:.1%}.".replace("%", " %")


def tcep_figure(measured: Measured) -> Drawing:
    """Draw active links, power and latency of OFAR with TCEP, in percent of OFAR with all links on."""
    frame = unstalled(measured[WITH_TCEP])
    keys = ["pattern", "load", "seed"]
    always_on = frame.filter(pl.col("policy") == _ALWAYS_ON).select(*keys, *(column for _, column in _BESIDE))
    both = frame.filter(pl.col("policy") != _ALWAYS_ON).join(always_on, on=keys, suffix="_always_on").sort("load")
    panels: dict[str, list[Series]] = {}
    for (pattern,), rows in both.group_by("pattern", maintain_order=True):
        panels[str(pattern)] = [
            Series(label, known["load"].to_list(), (100 * known["share"]).to_list(), known["saturated"].to_list())
            for label, column in _BESIDE
            if not (
                known := rows.with_columns(ratio(column, "always_on").alias("share")).drop_nulls("share")
            ).is_empty()
        ]
    if not any(panels.values()):
        raise LackingError("TCEP and always_on have no load in common")
    title = f"Beyond the paper: TCEP within the groups, with OFAR (h = {sizes(measured, WITH_TCEP)[0]})"
    return line_figures.panels(title, panels, OFFERED, "Beside always_on [%]")
