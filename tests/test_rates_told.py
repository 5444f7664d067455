"""Tests output on links at lower rates, labels of figures that must fit, and baselines of runs with faults."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from matplotlib.backends.backend_agg import FigureCanvasAgg

import weft
from weft.plot import draw
from weft.plot.appearance import Appearance
from weft.plot.choice import Choice
from weft.results import savings
from weft.results.bill_lines import lines
from weft.results.yearly_bill import YearlyBill

if TYPE_CHECKING:
    from pathlib import Path

    from weft.plot.style import Picture

SLOW = """\
topology: {hyperx: {widths: [4], terminals_per_router: 2}}
links:
  default: {latency: 10cycles, vcs: 6, buffer: 32flits}
  terminal: {latency: 1cycle}
routing: minimal
traffic: {pattern: uniform, packet: 4flits}
measure: {warmup: auto, window: 4us}
sweep:
  power.policy:
    - always_on
    - rate_ladder: {epoch: 1us, transition: 100ns}
    - idle_timeout: {idle: 200ns, transition: 100ns, to: quarter}
  traffic.load: [0.01, 0.02, 0.03, 0.05, 0.06, 0.08, 0.1, 0.12, 0.2, 0.3]
"""
FAULTY = """\
topology: {hyperx: {widths: [4, 4], terminals_per_router: 4}}
links:
  default: {latency: 10cycles, vcs: 6, buffer: 64flits}
  terminal: {latency: 1cycle}
routing: {pal: {sensor: history_window}}
traffic: {pattern: uniform, packet: 4flits, load: 0.2}
faults: [{link: [0, 1], at: 20us, until: 30us}]
measure: {warmup: 12us, window: 20us}
bill: {price_per_kwh: 0.2EUR, profile: [{share: 1, load: 0.2}]}
power:
  policy: {tcep: {activation_epoch: 300cycles, deactivation_epoch: 900cycles, wake: 200cycles, initial: all_on}}
"""


def _overlaps(drawing: Picture) -> list[str]:
    """Return text on tick labels and titles that overlap, and on titles that extend beyond the figure."""
    canvas = FigureCanvasAgg(drawing)
    canvas.draw()  # type: ignore[no-untyped-call]
    renderer = canvas.get_renderer()  # type: ignore[no-untyped-call]
    found = []
    titles = [axes._left_title.get_window_extent(renderer) for axes in drawing.axes]  # type: ignore[attr-defined]
    found += ["title" for one, other in pairwise(titles) if one.overlaps(other)]
    found += ["cut" for title in titles if title.x1 > drawing.bbox.x1]
    for axes in drawing.axes:
        boxes = [tick.get_window_extent(renderer) for tick in axes.get_xticklabels()]
        found += ["tick" for one, other in pairwise(boxes) if one.overlaps(other)]
    return found


def test_links_at_lower_rates_are_reported_with_their_shares_and_drawn_without_overlaps(tmp_path: Path) -> None:
    results = weft.load(SLOW).run(tmp_path / "slow")
    shown = "\n".join(savings.lines(results, width=200))
    assert "at full rate" in shown
    assert "at quarter rate" in shown
    bars = [line for line in shown.splitlines() if line.startswith("  rate_ladder") and "-" * 10 in line]
    assert bars, "a bar shows the links at a quarter of their rate"
    for width in ("page", "column"):
        drawing = draw.figure("residency", Choice.of([results], appearance=Appearance.of(width=width)))
        assert _overlaps(drawing) == []
    drawing = draw.figure("energy_delay", Choice.of([results], appearance=Appearance.of(width="column")))
    shown_loads = {text.get_text() for axes in drawing.axes for text in axes.texts}
    assert shown_loads == {f"{load:g}" for load in (0.01, 0.02, 0.03, 0.05, 0.06, 0.08, 0.1, 0.12, 0.2, 0.3)}


def test_a_policy_that_leaves_all_links_on_is_the_baseline_where_the_routing_refuses_the_usual_one(
    tmp_path: Path,
) -> None:
    alone = weft.load(FAULTY).run(tmp_path / "alone")
    text = "\n".join(lines(YearlyBill(alone)))
    assert "or, if the routing refuses that, `tcep: {initial: all_on, deactivate: false}`" in text
    sleeps = "{tcep: {activation_epoch: 300cycles, deactivation_epoch: 900cycles, wake: 200cycles, initial: all_on}}"
    both = f"[{{tcep: {{initial: all_on, deactivate: false}}}}, {sleeps}]"
    results = weft.load(FAULTY, overrides={"sweep.power.policy": both}).run(tmp_path / "both")
    assert YearlyBill(results).frame["saving_share"].to_list()[-1] > 0
    assert "compared with tcep(initial all_on, deactivate no)" in savings.lines(results, width=200)[0]
