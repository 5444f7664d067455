"""Tests a network in which no terminal sends.

Weft must draw each figure of its results without a warning, or refuse the figure with an error message.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import pytest

import weft
from weft.plot.kinds import KINDS

if TYPE_CHECKING:
    from pathlib import Path

    from weft.api.results import Results
    from weft.plot.kinds import KindName

SILENT = """\
topology: {hyperx: {widths: [4, 4], terminals_per_router: 1}}
links: {default: {latency: 10cycles, vcs: 6, buffer: 32flits}}
routing: dimension_order
traffic: {pattern: uniform, load: 0.1, loads: [{terminals: [0, 15], load: 0}]}
power: {policy: {idle_timeout: {idle: 20cycles, transition: 10cycles}}}
measure:
  warmup: 100cycles
  window: 500cycles
  link_states: {}
  series: {every: 100cycles, of: channel}
  transient: {bin: 50cycles}
"""


@pytest.fixture(scope="module")
def silent(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return weft.load(SILENT).run(tmp_path_factory.mktemp("silent") / "silent")


@pytest.mark.parametrize("kind", KINDS)
def test_a_figure_of_nothing_is_drawn_or_refused(silent: Results, kind: KindName, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            silent.plot.draw(kind, tmp_path / "figure.png")
        except weft.WeftError as problem:
            text = problem.help
        else:
            text = "drawn"
    assert text


def test_points_without_packets_stand_in_the_legend_of_latency_over_time(tmp_path: Path) -> None:
    loads = [[], [{"terminals": [0, 15], "load": 0}]]
    results = weft.load(SILENT, overrides={"sweep.traffic.loads": loads}).run(tmp_path)
    legend = results.plot.figure("transient").legends[0]
    assert sum("no packet delivered" in text.get_text() for text in legend.get_texts()) == 1
