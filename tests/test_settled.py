"""Tests points whose window began with a backlog, or that are offered the full capacity of their paths.

Such points are flawed.

The tests apply each remedy exactly as Weft prints it.
"""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

import weft
from weft._engine import ALL_ON_POLICIES
from weft.cli import main
from weft.plot import draw
from weft.plot.choice import Choice
from weft.report import answer
from weft.report.sources import Sources
from weft.results import notes, soundness, tables
from weft.runs.estimate import Estimate
from weft.runs.execute import Flight, Status
from weft.runs.progress import flight_words, words

if TYPE_CHECKING:
    from pathlib import Path

    from weft._engine import Point

# Under tornado, two terminals share a channel of half a flit per cycle, so the network accepts at most 0.25 flits per
# terminal and cycle.
ROW = """\
topology: {hyperx: {widths: [4], terminals_per_router: 2}}
links:
  default: {latency: 10cycles, vcs: 6, buffer: 32flits}
  terminal: {latency: 1cycle}
  dim0: {bandwidth: 1/2flits/cycle}
routing: minimal
traffic: {pattern: tornado, packet: 4flits, load: 0.1}
measure: {warmup: auto, window: 10us}
"""
# A burst: when the load falls to that of the second phase, 3,200 flits per terminal wait.
BURST = """\
topology: {hyperx: {widths: [4], terminals_per_router: 4}}
links:
  default: {latency: 10cycles, vcs: 6, buffer: 32flits}
  terminal: {latency: 1cycle}
routing: minimal
traffic: {pattern: tornado, packet: 4flits, load: 0.9, phases: [{from: 5us, load: 0.15}]}
measure: {warmup: 10us, window: 10us}
"""


def _notes(results: weft.Results) -> str:
    return "\n".join(notes.lines(results))


def test_a_window_that_begins_with_the_backlog_of_an_unmeasured_phase_is_flawed(tmp_path: Path) -> None:
    results = weft.load(BURST).run(tmp_path / "burst")
    summary = results.summaries[0]
    assert summary["backlog_before_packets"] > 9000
    assert summary["accepted_load"] > 1.5 * summary["offered_load"], "it delivers what was left"
    assert results.flaws == ["not settled (began with a backlog)"]
    assert results.phases["flaw"].to_list() == ["without a measured packet", "not settled (began with a backlog)"]
    shown = _notes(results)
    left = summary["backlog_before_packets"]
    assert f"phase 2 of the load began with a backlog of {left} packets left by the previous phase" in shown
    assert f"{summary['packet_latency_mean_cycles']:.1f}~" in tables.loads(results)
    assert "Lowest" not in " ".join(answer.sentences(Sources([results])))
    with pytest.raises(weft.ResultsError, match="began with a backlog"):
        results.bill({"price_per_kwh": "0.25EUR", "profile": [{"share": 1, "phase": 2}]})
    # the remedy works
    (longer,) = set(re.findall(r"write `measure.warmup: (\w+)`", shown))
    later = weft.load(BURST, overrides={"measure.warmup": longer}).run(tmp_path / "later")
    assert later.flaws == [None]
    assert later.phases["flaw"].to_list() == ["without a measured packet", None]


def test_a_backlog_that_a_window_hardly_delivers_is_seen_by_its_queues(tmp_path: Path) -> None:
    """At a load of 98 % of the capacity, a backlog shrinks only by 2 % of the capacity in each cycle.

    The accepted load is therefore only a little above the offered load, and only the queues show the backlog.
    """
    phases = [{"from": "5us", "load": 0.245}]
    results = weft.load(BURST, overrides={"traffic.phases": phases}).run(tmp_path / "near")
    summary = results.summaries[0]
    assert summary["accepted_load"] < 1.03 * summary["offered_load"]
    assert results.flaws == ["not settled (began with a backlog)"]
    remedy = "lower the load of the previous phase: the network hardly delivers the packets that were left"
    assert remedy in _notes(results)
    # the remedy works
    lower = weft.load(BURST, overrides={"traffic.phases": phases, "traffic.load": 0.2}).run(tmp_path / "lower")
    assert lower.flaws == [None]


def test_a_backlog_of_the_warm_up_is_one_without_phases(tmp_path: Path) -> None:
    """A link fails in the warm-up, and new routing tables later avoid the link.

    Packets that waited for the link are a backlog with which the window begins.
    """
    faults = [{"link": [0, 1], "at": "1000cycles", "until": "6000cycles"}]
    keys = {"routing": "shortest_path", "faults": faults, "traffic.load": 0.2, "traffic.pattern": "uniform"}
    keys |= {"measure.window": "5000cycles"}
    results = weft.load(ROW, overrides=keys | {"measure.warmup": "6000cycles"}).run(tmp_path / "fault")
    assert results.flaws == ["not settled (began with a backlog)"]
    left = results.summaries[0]["backlog_before_packets"]
    shown = _notes(results)
    assert f"began with a backlog of {left} packets left by the warm-up: 0.2979 of 0.1988" in shown
    (longer,) = re.findall(r"write `measure.warmup: (\w+)` or more", shown)
    later = weft.load(ROW, overrides=keys | {"measure.warmup": longer}).run(tmp_path / "later")
    assert later.flaws == [None]


def test_queues_are_judged_under_random_faults(tmp_path: Path) -> None:
    model = {"random": {"of": "links", "mtbf": "200us", "mttr": "5us"}, "rebuild_delay": "1us"}
    keys = {"fault_model": model, "routing": "shortest_path", "sweep.traffic.load": [0.05, 0.235]}
    results = weft.load(ROW, overrides=keys).run(tmp_path / "random")
    low, near = results.summaries
    assert low["queue_memory_cycles"] is not None
    assert low["queues_settled"] is True
    assert near["queues_settled"] is not None, "it is judged"
    assert low["path_bound_load"] is None, "what fails changes the paths"


def test_a_load_at_the_bound_of_its_paths_is_not_settled(tmp_path: Path) -> None:
    policies: list[Any] = ["always_on", {"rate_ladder": {"epoch": "1us", "transition": "100ns"}}]
    keys = {"sweep.power.policy": policies, "sweep.traffic.load": [0.1, 0.25]}
    results = weft.load(ROW, overrides=keys).run(tmp_path / "full")
    assert [summary["path_bound_load"] for summary in results.summaries] == pytest.approx([0.25] * 4)
    assert [summary["below_path_bound"] for summary in results.summaries] == [True, False] * 2
    full = "not settled (the load is at or above the limit of the paths)"
    assert [flaw and flaw.partition(", ")[0] for flaw in results.flaws[::2]] == [None, None]
    assert all(flaw and full in flaw for flaw in results.flaws[1::2])
    shown = _notes(results)
    limit = r"and the paths carry at most 0\.25 flits/terminal/cycle"
    assert re.search(rf"not settled: the offered load is 0\.2\d+, {limit}", shown)
    assert "measure.warmup" not in shown, "no time is long enough"
    # the remedy works
    (lower,) = set(re.findall(r"write a load of ([\d.]+) or less", shown))
    fine = weft.load(ROW, overrides=keys | {"sweep.traffic.load": [float(lower)]}).run(tmp_path / "below")
    assert fine.flaws == [None, None]


def test_a_search_never_carries_more_than_the_paths(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "row.yaml"
    file.write_text(ROW, encoding="utf-8")
    run = ["saturation", str(file), "--tolerance", "0.02", "--out", str(tmp_path / "found"), "--no-picture"]
    assert main(run) == 0
    text = capsys.readouterr().out
    assert "picture" not in text
    assert "measure.warmup" not in text
    (row,) = weft.load(file).saturation(tmp_path / "found", tolerance=0.02).iter_rows(named=True)
    assert row["verdict"] == "found"
    assert row["steady_load"] < 0.25 < row["saturated_load"] <= 0.26 + 1e-9
    assert row["flaw"] is None, "the lower end has settled"


def test_points_of_few_packets_are_marked_everywhere(tmp_path: Path) -> None:
    few = weft.load(ROW, overrides={"sweep.traffic.load": [0.0005, 0.1], "measure.warmup": "1us"}).run(tmp_path / "few")
    assert few.flaws == ["with fewer than 30 packets", None]
    (line,) = [line for line in tables.loads(few).splitlines() if line.startswith("0.0005")]
    assert "*" in line
    assert "*: fewer than 30 packets" in tables.loads(few)
    out = tmp_path / "few.md"
    assert main(["export", str(few.root), "--out", str(out)]) == 0
    assert "fewer than 30 packets" in out.read_text(encoding="utf-8")
    drawing = draw.figure("load", Choice.of([few]))
    assert "few packets" in [handle.get_label() for handle in drawing.plan.handles]


def _summary(**changes: Any) -> dict[str, Any]:
    settled = {"warmup_settled": True, "power_settled": True, "warmup_cycles": 6000, "warmup_limit_cycles": 300_000}
    queues = {"queues_settled": False, "queueing_mean_cycles": 300.0, "load": 0.5}
    return {"ending": "drained", "saturated": False, "packets": 999} | settled | queues | changes


def test_a_remedy_names_no_limit_that_did_not_end_the_warm_up_and_none_that_is_too_short() -> None:
    (shown,) = soundness.to_settle(_summary())
    assert shown.startswith("write `measure.warmup: 30000cycles`, or more (in place of `auto` and of any ")
    assert "measure.warmup_limit: " not in shown
    (shown,) = soundness.to_settle(_summary(power_settled=False), least_limit=0)
    assert "`measure.warmup_limit: 600000cycles`" in shown, "more than the limit in force"
    (shown,) = soundness.to_settle(_summary(queues_settled=True, warmup_settled=False), least_limit=900_000)
    assert "`measure.warmup_limit: 900000cycles`" in shown, "no less than another policy of the sweep has"
    assert "measure.warmup_limit" not in soundness.to_judge(_summary(window_cycles=1000))


@pytest.mark.parametrize(
    ("sign", "is_near"),
    [
        ({}, False),
        ({"queue_memory_cycles": 10**9}, False),
        ({"path_bound_share": 0.9}, False),
        ({"path_bound_share": 0.96}, True),
        ({"offered_load": 0.5, "accepted_load": 0.42}, True),
        ({"backlog_before_packets": 0, "backlog_packets": 99}, True),
        ({"backlog_before_packets": 999, "backlog_packets": 990}, True),
        ({"backlog_before_packets": 999, "backlog_packets": 99}, False),
    ],
)
def test_a_lower_load_comes_first_only_near_the_capacity(sign: dict[str, Any], is_near: bool) -> None:
    (shown,) = soundness.to_settle(_summary(window_cycles=1000, **sign))
    assert shown.startswith("write a load 5 % lower (0.475 in place of 0.5)" if is_near else "write `measure.warmup: ")
    assert ("write `measure.warmup: 30000cycles` and `measure.window: 4000cycles`, or more" in shown) is not is_near
    assert "5 % lower (0.475 in place of 0.5)" in shown


# Links go to sleep while other links wake, so packets wait for links even at loads far below the capacity.
SLEEPY = """\
topology: {hyperx: {widths: [4, 4], terminals_per_router: 1}}
links:
  default: {latency: 10cycles, vcs: 6, buffer: 32flits}
  terminal: {latency: 1cycle}
routing: slac
traffic: {pattern: tornado, load: 0.3}
measure: {warmup: auto, window: 2000cycles}
power: {policy: {slac: {release: below_low}}}
"""


def test_a_longer_run_settles_a_load_far_below_the_capacity(tmp_path: Path) -> None:
    short = weft.load(SLEEPY).run(tmp_path / "short")
    assert short.flaws == ["not settled (queues)"]
    ((warmup, window),) = re.findall(
        r"write `measure.warmup: (\w+)` and `measure.window: (\w+)`, or more", _notes(short)
    )
    lower = weft.load(SLEEPY, overrides={"traffic.load": 0.285}).run(tmp_path / "lower")
    assert lower.flaws == ["not settled (queues)"], "no lower load helps"
    longer = weft.load(SLEEPY, overrides={"measure.warmup": warmup, "measure.window": window}).run(tmp_path / "longer")
    assert longer.flaws == [None]


def test_a_longer_phase_settles_a_load_far_below_the_capacity(tmp_path: Path) -> None:
    begin, warmup = 5000, 8000
    keys: dict[str, Any] = {"traffic.load": 0.1, "traffic.phases": [{"from": f"{begin}cycles", "load": 0.3}]}
    keys["measure.warmup"] = f"{warmup}cycles"
    short = weft.load(SLEEPY, overrides=keys | {"measure.window": "16000cycles"}).run(tmp_path / "short")
    assert short.flaws == ["not settled (queues)"]
    (lasting,) = re.findall(r"to settle: let phase 2 last for (\d+) cycles or more", _notes(short))
    window = f"{begin + int(lasting) - warmup}cycles"
    assert weft.load(SLEEPY, overrides=keys | {"measure.window": window}).run(tmp_path / "longer").flaws == [None]


def test_a_window_in_which_nothing_is_created_takes_a_longer_one_or_a_higher_load(tmp_path: Path) -> None:
    low: dict[str, Any] = {"traffic.load": 1e-4, "measure.window": "1us"}
    silent = weft.load(ROW, overrides=low).run(tmp_path / "silent")
    assert silent.summaries[0]["offered_load"] == 0
    shown = _notes(silent)
    assert "lower" not in shown
    ((window, load),) = re.findall(r"write `measure.window: (\w+)` or more, or a load of (\S+) or more", shown)
    for number, keys in enumerate(({"measure.window": window}, {"traffic.load": float(load)})):
        results = weft.load(ROW, overrides=low | keys).run(tmp_path / str(number))
        assert results.flaws == [None]


def _slow_point() -> Point:
    resolved = {"topology": "t", "seed": 1, "traffic": {"load": 0.1}, "measure": {"warmup": "auto"}}
    return cast("Point", SimpleNamespace(resolved=resolved))


def test_a_warm_up_without_end_in_sight_is_reported_with_its_worst_case() -> None:
    estimate = Estimate([_slow_point(), _slow_point()])
    estimate.begin(0)
    estimate.learn(0, 4.0)
    # the run took 12 s for 60,000 of at most 30,000,000 cycles, so the rest takes at most 5,988 s
    assert estimate.most_left(1, 60_000, 30_000_000, 12.0) == pytest.approx(5988)
    flight = Flight("a", "slow", 0.002, 60_000, 12.0, 4.0, 5988.0)
    assert flight_words(flight).endswith("between 4.0 s and 1:39:48 left")
    status = Status(2, 1, 0, 0.0, [flight], 4.0, 5988.0)
    assert words(status, 12.0).endswith("between 4.0 s and 1:39:48 left")


def test_every_policy_that_is_said_to_leave_all_links_on_does(tmp_path: Path) -> None:
    assert [policy.partition(": ")[0] for policy in ALL_ON_POLICIES] == ["always_on", "slac", "tcep"]
    routings = {"slac": "slac", "tcep": "pal"}
    for number, policy in enumerate(ALL_ON_POLICIES):
        name, _, parameters = policy.partition(": ")
        text = ROW.replace("routing: minimal", f"routing: {routings.get(name, 'minimal')}")
        text = text.replace("widths: [4]", "widths: [4, 2]")
        value = f"{{{name}: {parameters}}}" if parameters else name
        results = weft.load(f"{text}power: {{policy: {value}}}\n", overrides={"traffic.load": 0.1}).run(
            tmp_path / f"{number}"
        )
        summary = results.summaries[0]
        assert summary["links_stay_on"] is True
        assert summary["links_on_share"] in (None, 1.0)


# The credit round trip of the long link is 2002 cycles: 1 in the router, 1000 on the link, and 1001 back.
WIDE_AREA = """\
topology: {mesh: {widths: [2], terminals_per_router: 1}}
links:
  default: {latency: 1cycle, vcs: 1, buffer: 4000flits}
  dim0: {latency: 1000cycles}
routing: dimension_order
traffic: {pattern: neighbor, packet: 10flits, load: 0.9}
measure: {warmup: 20000cycles, window: 50000cycles}
sweep: {links.dim0.buffer: [500flits, 1800flits]}
"""


def test_a_load_above_what_a_vc_carries_has_no_longer_run_as_its_remedy(tmp_path: Path) -> None:
    """With a credit round trip of 2002 cycles, a VC of 1800 flits carries 1800 / 2002 = 0.8991 flits per cycle, and a
    VC of 500 flits carries 0.2498.

    The remedies are loads 5 % below these: 0.854 and 0.237.
    """
    results = weft.load(WIDE_AREA).run(tmp_path / "wide")
    assert [summary["saturated"] for summary in results.summaries] == [True, False]
    shown = _notes(results)
    why = "0.8991 flits/terminal/cycle (`links.dim0.buffer` is shorter than the round trip of a credit)"
    assert f"not settled: the offered load is 0.9, and the paths carry at most {why}" in shown
    assert "saturated: the offered load is 0.9, and the paths carry at most 0.2498 flits/terminal/cycle" in shown
    assert "measure.warmup" not in shown, "no time is long enough"
    assert re.findall(r"write a load of ([\d.]+) or less: the paths carry at most ([\d.]+)", shown) == [
        ("0.237", "0.2498"),
        ("0.854", "0.8991"),
    ]
    assert set(re.findall(r"`(links.dim0.buffer: \d+flits)`", shown)) == {"links.dim0.buffer: 2002flits"}
    for buffer, load in (("2002flits", 0.9), ("1800flits", 0.854), ("500flits", 0.237)):
        remedy = {"sweep": None, "links.dim0.buffer": buffer, "traffic.load": load}
        assert weft.load(WIDE_AREA, overrides=remedy).run(tmp_path / buffer).flaws == [None]


# Each link between routers has one VC with room for one packet, so it carries 4 flits in the 22 cycles until a credit
# returns.
SHORT_BUFFERS = """\
topology: {hyperx: {widths: [4, 4], terminals_per_router: 4}}
links: {default: {latency: 10cycles, vcs: 1, buffer: 4flits}, terminal: {latency: 1cycle}}
routing: dimension_order
traffic: {pattern: uniform, packet: 4flits, load: 0.25}
measure: {warmup: 5000cycles, window: 20000cycles}
"""


def test_a_load_that_is_proposed_is_carried_where_packets_wait_for_each_other(tmp_path: Path) -> None:
    saturated = weft.load(SHORT_BUFFERS).run(tmp_path / "short")
    shown = _notes(saturated)
    assert "(`links.dim0.buffer` and `links.dim1.buffer` are shorter than the round trip of a credit)" in shown
    ((lower, accepted, most),) = re.findall(
        r"write a load of ([\d.]+) or less: the network accepts ([\d.]+), "
        r"and the paths carry at most ([\d.]+), or less",
        shown,
    )
    assert float(lower) < float(accepted) < float(most) / 1.5, "far below the bound of the paths"
    assert "`weft saturation` finds the highest load that the network carries" in shown
    carried = weft.load(SHORT_BUFFERS, overrides={"traffic.load": float(lower)}).run(tmp_path / "carried")
    assert carried.summaries[0]["saturated"] is False
    longer = dict(re.findall(r"`(links[.\w]+): (\d+flits)`", shown))
    assert longer == {"links.dim0.buffer": "22flits", "links.dim1.buffer": "22flits"}
    assert weft.load(SHORT_BUFFERS, overrides=longer).run(tmp_path / "longer").summaries[0]["saturated"] is False
