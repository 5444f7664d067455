"""Tests comparisons of points whose windows cover different cycles.

Such points have different offered loads, because packets are created at random.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import weft
from weft.cli import main
from weft.results import savings

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

SLEEPY = """\
topology: {hyperx: {widths: [4], terminals_per_router: 4}}
routing: minimal
traffic: {pattern: uniform, load: 0.01}
measure: {warmup: auto, window: 5000cycles}
sweep:
  power.policy: [always_on, {idle_timeout: {idle: 100cycles, transition: 1000cycles}}]
"""


def test_what_chance_offered_is_said_and_the_remedy_offers_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = weft.load(SLEEPY).run(tmp_path / "sleepy", watch=False)
    first, second = (summary["offered_load"] for summary in results.summaries)
    assert first != second
    text = " ".join(" ".join(savings.lines(results)).split())
    assert f"({first:.4g} and {second:.4g} flits/terminal/cycle)" in text
    (warmup,) = re.findall(r"write a fixed `measure.warmup` for all points, such as `(\d+cycles)`", text)
    sides = [f"{results.root}:policy={policy}" for policy in ("always_on", "idle_timeout")]
    assert main(["compare", *sides]) == 0
    assert f"such as `{warmup}`" in capsys.readouterr().out
    page = results.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "in different cycles" in page
    # the remedy works
    same = weft.load(SLEEPY, overrides={"measure.warmup": warmup}).run(tmp_path / "same", watch=False)
    assert len({summary["offered_load"] for summary in same.summaries}) == 1
    assert "in different cycles" not in " ".join(savings.lines(same))


def test_loads_that_differ_by_the_scenario_are_not_put_down_to_chance(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = {"sweep.power.policy": ["always_on"], "sweep.traffic.load": [0.01, 0.011]}
    results = weft.load(SLEEPY, overrides=sweep).run(tmp_path / "loads", watch=False)
    assert main(["compare", *(f"{results.root}:load={load}" for load in (0.01, 0.011))]) == 0
    assert "by chance" not in capsys.readouterr().out
