"""Tests a sweep in which a load is saturated, but not a higher one: Weft reports it, with settings that decide."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

import weft
from conftest import made
from small import steady_point
from weft.results import codes, mixed_verdicts

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("verdicts", "is_named"), [((True, False), True), ((False, True), False)])
def test_a_saturated_load_below_a_carried_one_is_named(
    tmp_path: Path, verdicts: tuple[bool, bool], is_named: bool
) -> None:
    loads = (0.3, 0.4)
    points = [steady_point("always_on", load, saturated=each) for load, each in zip(loads, verdicts, strict=True)]
    shown = codes.sentences(mixed_verdicts.diagnoses(made(tmp_path / "mixed", points)))
    assert len(shown) == is_named
    for sentence in shown:
        assert "not monotonic (power.policy = always_on): load 0.3 is saturated" in sentence
        assert "and 0.4 is not" in sentence
        assert "measure.warmup" in sentence, "a remedy with numbers"


# Nine groups of eight terminals. All terminals of a group send to the next group, over the only global link between the
# two groups. The routing OFAR avoids this link only when queues are full, and queues hold 256 flits per VC.
ADVERSE = """\
topology: {dragonfly: {routers_per_group: 4, terminals_per_router: 2, global_links_per_router: 2}}
links:
  default: {vcs: 6, buffer: 64flits}
  terminal: {latency: 1cycle}
  local: {latency: 10cycles, buffer: 256flits}
  global: {latency: 100cycles, buffer: 256flits}
routing: dragonfly_ofar
traffic: {pattern: {group_shift: {shift: 1}}, packet: 4flits}
measure: {warmup: 1000cycles, window: 2000cycles}
sweep: {traffic.load: [0.2, 0.4]}
"""


def test_ofar_fills_its_queues_later_at_a_lower_load_and_the_remedy_tells_it(tmp_path: Path) -> None:
    """Eight terminals share a link of one flit per cycle, so only a share of 1 / (8 load) of the packets can take the
    minimal path, and the others must take detours.

    At the lower load, queues take longer to fill, so detours begin later. In longer runs, the network carries both
    loads.
    """
    early = weft.load(ADVERSE).run(tmp_path / "early")
    assert [summary["saturated"] for summary in early.summaries] == [True, False]
    (found,) = early.sweep_diagnoses
    assert (found["code"], found["points"]) == ("not_monotonic", [0, 1])
    (shown,) = codes.sentences([found])
    assert "not monotonic: load 0.2 is saturated" in shown
    assert "and 0.4 is not" in shown
    remedy = dict(re.findall(r"`(measure\.\w+): (\d+cycles)`", shown))
    assert remedy.keys() == {"measure.warmup", "measure.window"}
    assert found["remedy"]["settings"] == remedy
    later = weft.load(ADVERSE, overrides=remedy).run(tmp_path / "later")
    assert later.sweep_diagnoses == []
    for load, summary in zip((0.2, 0.4), later.summaries, strict=True):
        assert summary["saturated"] is False
        assert summary["minimal_share"] == pytest.approx(1 / (8 * load), rel=0.05)
