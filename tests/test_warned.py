"""Tests that reports and searches for the saturation load show warnings of the engine next to their numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

import weft
from conftest import made
from small import steady_point
from weft.cli import main
from weft.report import answer
from weft.report.sources import Sources
from weft.results import savings

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

SLEEPY_NETWORK = """\
topology: {hyperx: {widths: [4, 4], terminals_per_router: 2}}
links:
  default: {latency: 10cycles, vcs: 6, buffer: 32flits}
  terminal: {latency: 1cycle}
routing: dimension_order
traffic: {pattern: uniform, packet: 1flit}
measure: {warmup: 40000cycles, window: 20000cycles}
power: {policy: {idle_timeout: {idle: 60cycles, transition: 100cycles}}}
"""
SLEEPY = {"idle_timeout": {"idle": "60cycles"}}
RISK = {
    "path": "power.policy.idle_timeout.idle",
    "what": "a load that the network carries from then on may be too high after links have gone off",
    "help": "write an idle time of 100cycles or more",
}
ON = {"links_stay_on": True, "links_on_mean": 1.0}


def warned(load: float, **more: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Make a point that has the engine's warning `RISK`: results depend on the start of the run."""
    return steady_point(SLEEPY, load, warnings=[RISK], **more)


def test_a_report_shows_the_warnings_of_its_points(tmp_path: Path) -> None:
    """A report shows the warnings of its points, but does not repeat a warning that another sentence contains."""
    short = {"path": "measure.warmup", "what": "the warm-up is too short", "help": "write `measure.warmup: 9000cycles`"}
    points = [steady_point("always_on", 0.2, warnings=[short]), warned(0.2), warned(0.4)]
    shown = answer.sentences(Sources([made(tmp_path / "made", points)]))
    (risk,) = [line for line in shown if RISK["what"] in line]
    assert risk.startswith(f"Warning: {RISK['path']}: ")
    assert RISK["help"] in risk
    assert "and 1 more" in risk
    assert "\n".join(shown).count(short["what"]) == 1
    assert any(line.startswith(f"Warning: {short['path']}: {short['help']}") for line in shown)


def test_a_warned_point_is_not_called_best_without_its_warning(tmp_path: Path) -> None:
    best = made(tmp_path / "best", [steady_point("always_on", 0.2), warned(0.4)])
    equal = made(tmp_path / "equal", [steady_point("always_on", 0.4, **ON), warned(0.4, links_on_mean=0.5)])
    words = "a load that the network may not carry if the run begins differently (see the warning)"
    (line,) = [each for each in answer.sentences(Sources([best])) if each.startswith("Highest accepted")]
    assert f"), {words}" in line
    (line,) = [each for each in answer.sentences(Sources([equal])) if each.startswith("Highest accepted")]
    assert f"1 of these have {words}" in line
    saving = next(each for each in answer.sentences(Sources([equal])) if each.startswith("Compared with links"))
    assert saving.endswith(f"; this point has {words}.")


def test_a_search_warns_and_claims_no_load_that_was_not_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The network carries both ends of a search, but collapses between them.

    The sweep that the search's warning proposes shows the collapse.
    """
    file = tmp_path / "sleepy.yaml"
    file.write_text(SLEEPY_NETWORK, encoding="utf-8")
    search = ["--from", "0.05", "--to", "0.9", "--tolerance", "0.1", "--out", str(tmp_path / "out"), "--no-picture"]
    assert main(["saturation", str(file), *search]) == 0
    printed = capsys.readouterr()
    assert "warning: power.policy.idle_timeout.idle: a link goes off after 60cycles" in printed.err
    assert "\nnot at 0.05, 0.9 " in printed.out
    assert "only the loads 0.05, 0.9 were run" in printed.out
    words = "other loads, also lower ones or loads between them, may saturate the network: sweep traffic.load"
    assert words in printed.out
    assert "every load" not in printed.out
    (row,) = pl.read_csv(tmp_path / "out" / "saturation.csv").rows(named=True)
    assert (row["loads_run"], row["warned_of"]) == ("0.05 0.9", "power.policy.idle_timeout.idle")
    between = weft.load(file, overrides={"sweep.traffic.load": [0.2]}).run(tmp_path / "between")
    assert between.summaries[0]["saturated"] is True


def test_the_remedy_of_a_policy_that_collapses_names_its_parameter(tmp_path: Path) -> None:
    """The network carries a load with always-on links, but collapses under a policy.

    The remedy names a parameter of the policy, and works.
    """
    keys: dict[str, Any] = {"measure": {"warmup": "4000cycles", "window": "2000cycles"}, "traffic.load": 0.2}
    policies = ["always_on", {"idle_timeout": {"idle": "60cycles", "transition": "100cycles"}}]
    results = weft.load(SLEEPY_NETWORK, overrides=keys | {"sweep.power.policy": policies}).run(tmp_path / "collapsed")
    assert [summary["saturated"] for summary in results.summaries] == [False, True]
    text = " ".join(" ".join(savings.lines(results, width=200)).split())
    cause = "the cause may be power.policy.idle_timeout.idle: write an idle time of 100cycles"
    assert f"1 saturated. Remedies: {cause}" in text
    bill = {"price_per_kwh": "0.2EUR", "profile": [{"share": 1, "load": 0.2}]}
    assert "the cause may be power.policy.idle_timeout.idle: write" in str(results.bill(bill))
    longer = {"power.policy": {"idle_timeout": {"idle": "100cycles", "transition": "100cycles"}}}
    assert weft.load(SLEEPY_NETWORK, overrides=keys | longer).run(tmp_path / "longer").flaws == [None]


def test_of_a_warned_curve_only_the_loads_that_were_run_are_reported(tmp_path: Path) -> None:
    results = made(tmp_path / "made", [warned(0.05), warned(0.9), steady_point("always_on", 0.9)])
    rows = {row["curve"].split("(")[0]: row for row in answer.curves(Sources([results]))}
    others = "the network may not carry other loads (see the warning)"
    assert rows["idle_timeout"]["saturation"] == f"not at 0.05, 0.9; {others}"
    assert "see the warning" in rows["idle_timeout"]["accepted_flaw"]
    assert rows["always_on"]["saturation"] == "not up to 0.9"
    assert rows["always_on"]["accepted_flaw"] == ""
