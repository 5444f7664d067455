"""Judges and draws section VII: kinds and cost of the escape ring, few VCs, broken rings, and triggers of detours.

The routings are MIN (minimal), VAL (Valiant), PB (piggybacking, adaptive at the source), OFAR (adaptive at every
router), and OFAR-L (OFAR without local detours). Under the pattern ADV+N, each group sends to the group that is N
groups further. The escape ring carries packets that are blocked elsewhere, on its own wires or on VCs of other links.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from weft.results import quantities as q
from weft_papers.common import line_figures
from weft_papers.common.line_figures import Series, over_load
from weft_papers.common.measured import LackingError
from weft_papers.common.questions import greatest, of, unstalled
from weft_papers.common.rules import Part, trend
from weft_papers.ofar import readings
from weft_papers.ofar.closed_forms import ring_cost
from weft_papers.ofar.routings_run import MIN, OFAR, OFAR_E, VAL, adversarial
from weft_papers.ofar.scale import PAPER_H, paper_only, scaled, sizes, words
from weft_papers.ofar.steady import ACCEPTED, OFFERED, SATURATION, SIGNIFICANT, SWEEPS, at

if TYPE_CHECKING:
    from weft.plot.style import Picture as Drawing
    from weft_papers.common.measured import Measured
    from weft_papers.common.rules import Rule

EMBEDDED, TRIGGERS, SCARCE, FAILURES = "embedded", "triggers", "scarce", "failures"
_PHYSICAL = "physical ring"
_IN_LINKS = "embedded ring"
_CONTROLS = {"free": "no control", "bubble": "bubble at the source", "escape_occupancy": "by escape occupancy"}
# Values of h (global links of a router) for which `cost_figure` computes the hardware of a physical ring.
_SIZES = range(2, 25)


def _beside(measured: Measured, experiment: str) -> dict[str, tuple[pl.DataFrame, pl.DataFrame]]:
    """Return, by pattern, OFAR's points of Figs. 3 to 5 and of another experiment, at the loads that both have.

    Raises
    ------
    LackingError
        If the two experiments have no load in common.
    """
    found = {}
    for name in SWEEPS:
        ours = of(measured[name], OFAR)
        theirs = measured[experiment].filter(pl.col("pattern") == ours["pattern"][0])
        theirs = theirs.filter(pl.col("load").is_in(ours["load"].implode()))
        if not theirs.is_empty():
            loads = theirs["load"].implode()
            found[ours["pattern"][0]] = (ours.filter(pl.col("load").is_in(loads)), of(theirs, theirs["mechanism"][0]))
    if not found:
        raise LackingError(f"{experiment} has no load in common with Figs. 3 to 5")
    return found


def ring_figure(measured: Measured) -> Drawing:
    """Draw OFAR's accepted load over offered load, with a curve for each kind of ring."""
    panels = {
        pattern: [over_load(a, _PHYSICAL, "accepted_load"), over_load(b, _IN_LINKS, "accepted_load")]
        for pattern, (a, b) in _beside(measured, EMBEDDED).items()
    }
    title = f"Section VII: rings of wires and rings of VCs (h = {sizes(measured, EMBEDDED)[0]})"
    return line_figures.panels(title, panels, OFFERED, ACCEPTED)


def trigger_figure(measured: Measured) -> Drawing:
    """Draw OFAR's accepted load with each interpretation of its trigger, compared with MIN or VAL."""
    panels = {}
    for name, (pattern, (granted, others)) in zip(SWEEPS, _beside(measured, TRIGGERS).items(), strict=False):
        base = MIN if (measured[name]["mechanism"] == MIN).any() else VAL
        panels[pattern] = [
            over_load(of(measured[name], base), base, "accepted_load"),
            over_load(granted, readings.TRIGGERS["granted"], "accepted_load"),
            *(
                over_load(rows, shown, "accepted_load")
                for trigger, shown in readings.TRIGGERS.items()
                if not (rows := others.filter(trigger=trigger)).is_empty()
            ),
        ]
    title = f"Readings of OFAR's condition for a detour (h = {sizes(measured, TRIGGERS)[0]})"
    return line_figures.panels(title, panels, OFFERED, ACCEPTED, looks=(MIN, VAL, *readings.TRIGGERS.values()))


def scarce_figure(measured: Measured) -> Drawing:
    """Draw OFAR's accepted load with 2 local VCs and 1 global VC, with and without injection control."""
    frame = unstalled(measured[SCARCE])
    panels = {}
    for pattern in frame["pattern"].unique(maintain_order=True):
        points = frame.filter(pl.col("pattern") == pattern)
        panels[pattern] = [
            over_load(found, words, "accepted_load")
            for control, words in _CONTROLS.items()
            if not (found := points.filter(pl.col("injection") == control)).is_empty()
        ]
    if not panels:
        raise LackingError("every run with few VCs stalled")
    title = f"Section VII: 2 local VCs, 1 global VC and an embedded ring (h = {sizes(measured, SCARCE)[0]})"
    return line_figures.panels(title, panels, OFFERED, ACCEPTED, looks=tuple(_CONTROLS.values()))


def cost_figure(measured: Measured) -> Drawing:  # noqa: ARG001 # as all figures
    """Draw the hardware that a physical ring adds (wires and ports), over the size h of the network."""
    costs = [ring_cost(h) for h in _SIZES]
    places = [float(each.h) for each in costs]
    series = [
        Series("wires", places, [100 * each.wires for each in costs]),
        Series("global wires", places, [100 * each.global_wires for each in costs]),
        Series("ports of a router", places, [100 * each.ports for each in costs]),
    ]
    title = "Section VII: hardware that a physical ring adds"
    drawing, axes = line_figures.curves(title, "Global links of a router h", "Added share [%]", series)
    axes.set_xlim(left=1)
    drawing.numbers = pl.DataFrame(
        {
            "h": [each.h for each in costs],
            "routers": [each.routers for each in costs],
            "terminals": [each.terminals for each in costs],
            "added_wires_share": [each.wires for each in costs],
            "added_global_wires_share": [each.global_wires for each in costs],
            "added_ports_share": [each.ports for each in costs],
        }
    )
    return drawing


def failures_figure(measured: Measured) -> Drawing:
    """Draw the accepted load over the number of broken ring links, for one ring and for several rings."""
    frame = unstalled(measured[FAILURES]).drop_nulls("accepted_load")
    series = []
    for rings in sorted(frame["rings"].drop_nulls().unique()):
        points = frame.filter(pl.col("rings") == rings).sort("broken")
        label = "1 ring" if rings == 1 else f"{rings} rings without a common link"
        series.append(Series(label, points["broken"].to_list(), points["accepted_load"].to_list()))
    if not series:
        raise LackingError("nothing was accepted with broken links")
    title = f"Section VII: broken links of the ring (h = {sizes(measured, FAILURES)[0]})"
    drawing, axes = line_figures.curves(title, "Broken links", ACCEPTED, series)
    axes.set_xlim(left=-0.2)
    axes.set_xticks(sorted(frame["broken"].unique()))
    return drawing


def failures_remark(measured: Measured) -> str:
    """Return text with the number of dropped packets, for each number of rings and of broken links."""
    frame = measured[FAILURES].sort("rings", "broken")
    lines = [
        f"{rings} ring{'s' if rings > 1 else ''} and {broken} broken: {dropped:,.0f}"
        for rings, broken, dropped in frame.select("rings", "broken", "dropped_packets").drop_nulls().rows()
        if broken
    ]
    return f"Run at {words(measured, FAILURES)}. Packets dropped in the window: {'; '.join(lines)}."


def _no_difference(measured: Measured) -> list[Part]:
    """Judge whether physical and embedded rings differ by less than 10 %.

    Accepted loads are compared at all loads, also far beyond saturation, and latencies below saturation.
    """
    for name in SWEEPS:
        _refuse_stuck(measured[name].filter(pl.col("mechanism") == OFAR))
    _refuse_stuck(measured[EMBEDDED])
    parts = []
    for pattern in (adversarial(2), adversarial(PAPER_H)):
        wires, vcs = (at(measured, name, pattern)[0] for name in (OFAR, OFAR_E))
        text = f"{pattern} at h = {PAPER_H}: accepted {wires:.3f} and {vcs:.3f}"
        hops = of(measured[SATURATION].filter(pl.col("pattern") == pattern), OFAR)["ring_hops"].drop_nulls()
        used = f", {max(hops):.4f} hops per packet on the physical ring" if len(hops) else ""
        parts.append(Part(abs(vcs / wires - 1) < SIGNIFICANT, text + used))
    for pattern, (physical, embedded) in _beside(measured, EMBEDDED).items():
        both = physical.join(embedded, on=["load", "seed"], suffix="_embedded")
        apart = both.select(
            "load",
            (pl.col("accepted_load_embedded") / pl.col("accepted_load") - 1).alias("accepted"),
            pl.when(~pl.any_horizontal("^saturated.*$"))
            .then(pl.col(f"{q.LATENCY.column}_embedded") / pl.col(q.LATENCY.column) - 1)
            .alias("latency"),
        )
        for quantity in ("accepted", "latency"):
            known = apart.drop_nulls(quantity)
            if known.is_empty():
                continue
            load, share = max(known.select("load", quantity).rows(), key=lambda row: abs(row[1]))
            parts.append(
                Part(abs(share) < SIGNIFICANT, f"{pattern}: {quantity} {share:+.1%} at most, at load {load:g}")
            )
    if not parts:
        raise LackingError("no load was accepted with both kinds of ring")
    return parts


def _refuse_stuck(points: pl.DataFrame) -> None:
    """Raise LackingError if a run stalled or its accepted load is unknown, because the claim then has no verdict."""
    unknown = points.filter(pl.col("stalled").fill_null(value=False) | pl.col("accepted_load").is_null())
    if not unknown.is_empty():
        raise LackingError(f"{unknown['mechanism'][0]} stalled at load {unknown['load'][0]:g}, or accepted nothing")


def _drops(points: pl.DataFrame) -> tuple[float, str]:
    """Return the accepted load at the highest offered load as a share of the highest accepted load, and text with both.

    Raises
    ------
    LackingError
        If a run stalled, or its accepted load is unknown.
    """
    _refuse_stuck(points)
    points = points.group_by("load").agg(pl.col("accepted_load").mean()).sort("load")
    most, last = greatest(points, "accepted_load"), points["accepted_load"][-1]
    if most <= 0:
        raise LackingError("nothing was accepted")
    return last / most, f"{last:.3f} at load {points['load'][-1]:g}, highest {most:.3f}"


def _falls(measured: Measured) -> tuple[bool, str]:
    frame = measured[SCARCE]
    found = {}
    for pattern in frame["pattern"].unique(maintain_order=True):
        points = frame.filter(pl.col("pattern") == pattern)
        found[pattern] = {
            control: _drops(points.filter(pl.col("injection") == control))
            for control in _CONTROLS
            if not points.filter(pl.col("injection") == control).is_empty()
        }
    text = "; ".join(
        f"{pattern}: {', '.join(f'{_CONTROLS[control]} {words}' for control, (_, words) in each.items())}"
        for pattern, each in found.items()
    )
    return any(each["free"][0] < 1 - SIGNIFICANT for each in found.values() if "free" in each), text


def _constant(measured: Measured) -> list[Part]:
    """Judge if OFAR, with each kind of ring, accepts at the highest load at most 10 % less than its maximum."""
    parts = []
    for name in SWEEPS:
        points = measured[name].filter(pl.col("mechanism") == OFAR)
        if points.is_empty():
            raise LackingError(f"{OFAR} was not run")
        share, shown = _drops(points)
        parts.append(Part(share >= 1 - SIGNIFICANT, f"{points['pattern'][0]}, {_PHYSICAL}: {shown}"))
    frame = measured[EMBEDDED]
    for pattern in frame["pattern"].unique(maintain_order=True):
        share, shown = _drops(frame.filter(pl.col("pattern") == pattern))
        parts.append(Part(share >= 1 - SIGNIFICANT, f"{pattern}, {_IN_LINKS}: {shown}"))
    return parts


_NO_FALL = (
    "not isolated: tried the other trigger, and fewer exits from the ring; the load did not fall within 20,000 cycles "
    "at h = 2 and 3, and not in 5,000 cycles of the authors' public simulator"
)
FALLS = trend(
    "without injection control, under at least one pattern, the accepted load at the highest offered load is over 10 % "
    "below that at another load",
    _falls,
    SCARCE,
    cause=_NO_FALL,
)
RULES: dict[str, Rule] = {
    "O-036": scaled(
        trend(
            "accepted loads differ by less than 10 %, and so do latencies below saturation",
            _no_difference,
            SATURATION,
            *SWEEPS,
            EMBEDDED,
        )
    ),
    "O-037": readings.read(FALLS, scaled(FALLS)),
    "O-038": paper_only(
        trend(
            "the accepted load at the highest offered load is at most 10 % below that at any other load",
            _constant,
            *SWEEPS,
            EMBEDDED,
        )
    ),
}
