"""Tests the last lines of `weft run`: savings of a policy compared with always-on links, and their cost in latency."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import weft
from conftest import made
from small import NEAR_CAPACITY
from weft.cli import main
from weft.report import answer
from weft.report.sources import Sources
from weft.results import notes, savings

ON: dict[str, Any] = {
    "energy_total_fj": "100",
    "energy_always_on_fj": "100",
    "power_mean_w": 2000.0,
    "links_on_mean": 1.0,
    "packet_latency_mean_cycles": 20.0,
    "warmup_settled": True,
    "power_settled": None,
}
GATED = ON | {
    "energy_total_fj": "60",
    "power_mean_w": 1500.0,
    "links_on_mean": 0.25,
    "packet_latency_mean_cycles": 30.0,
    "power_settled": True,
}
QUICKSTART = Path(__file__).parent.parent / "examples" / "quickstart.yaml"
LOADS = (0.1, 0.2)


def sentences(root: Path, *changed: dict[str, Any], on: dict[str, Any] | None = None) -> str:
    """Return the text on the savings of a sweep over two loads, with always-on links and with a policy that switches
    links.

    `changed` has changes of the policy's numbers at each load, `on` changes of always-on links.
    """
    runs = [({"power.policy": "on", "traffic.load": load}, ON | (on or {})) for load in LOADS]
    runs += [
        ({"power.policy": {"gated": {"epoch": "9cycles"}}, "traffic.load": load}, GATED | numbers)
        for load, numbers in zip(LOADS, changed, strict=True)
    ]
    runs = [(coordinates, numbers | {"hash": place}) for place, (coordinates, numbers) in enumerate(runs)]
    return "\n".join(savings.lines(made(root / "made", runs), width=1000))


def test_it_says_links_watts_and_cycles(tmp_path: Path) -> None:
    text = sentences(tmp_path, {}, {"power_mean_w": 1900.0, "links_on_mean": 0.75, "packet_latency_mean_cycles": 20.0})
    most = (
        "Where it saves most (load 0.1): 25 % of the links that it manages draw power; the network draws 1500 W instead"
        " of 2000 W (500 W less, 25 %), and the mean packet latency is 30.0 cycles instead of 20.0 cycles"
        " (10.0 cycles more, 50 %)."
    )
    least = (
        "Where it saves least (load 0.2): 75 % of the links that it manages draw power; the network draws 1900 W"
        " instead of 2000 W (100 W less, 5 %), and the mean packet latency is 20.0 cycles (no difference)."
    )
    assert text.splitlines() == [
        "gated compared with on, for the same traffic",
        "  links that draw power (load 0.1):",
        f"  on     {'#' * 40} 100 %",
        f"  gated  {'#' * 10}{'.' * 30} 25 %",
        f"  {most}",
        f"  {least}",
    ]


QUEUES = {"queueing_mean_cycles": 4909.5, "queue_memory_cycles": 82639112.0, "warmup_cycles": 60208}
SHORT_WARMUP = {"path": "measure.warmup", "what": "a warm-up of 9 cycles is too short", "help": "write `auto`"}


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ({"saturated": True, "ending": "saturated"}, "1 saturated."),
        ({"ending": "stalled"}, "1 stalled."),
        ({"ending": "interrupted"}, "1 interrupted."),
        ({"power_settled": False}, "1 not settled (power states)."),
        ({"warmup_settled": False}, "1 not settled (latencies)."),
        ({"queues_settled": False, **QUEUES}, "1 not settled (queues)."),
        ({"packets": 2}, "1 with fewer than 30 packets."),
        ({"packet_latency_mean_cycles": None}, "1 without a measured packet."),
        ({"accepted_load": 0.4}, "1 of unequal work (accepted loads differ) [unequal_work]."),
        ({"warnings": [SHORT_WARMUP]}, "1 not settled (power states)."),
    ],
)
def test_a_point_that_says_nothing_is_not_praised_but_counted(
    tmp_path: Path, broken: dict[str, Any], reason: str
) -> None:
    # if the flawed point counted, it would have the greatest saving
    text = sentences(tmp_path, {}, {"power_mean_w": 1.0, **broken})
    assert "1 W" not in text
    assert "(load 0.2)" not in text
    assert f"Not compared, of 2 pairs of points: {reason}" in text


def test_the_way_out_fits_what_has_not_settled(tmp_path: Path) -> None:
    unsettled = sentences(tmp_path / "late", {}, {"warmup_settled": False, "warmup_cycles": 299708, "load": 0.48})
    assert "for load 0.2: `measure.warmup: auto` reached its limit" in unsettled, "not that auto should be written"
    assert "write `measure.warmup_limit: 600000cycles` or more; if that is not enough, the load may be " in unsettled
    assert "near the capacity: write a load 5 % lower (0.456 in place of 0.48)" in unsettled
    fixed = {"warmup_settled": None, "power_settled": None}
    stale = sentences(tmp_path / "stale", {}, {"queues_settled": False, "load": 0.5, **QUEUES, **fixed})
    # for a fixed warm-up, the remedy is a warm-up of a hundred times the wait in queues
    assert "write `measure.warmup: 500000cycles`, or more; " in stale
    assert "if that is not enough, the load may be near the capacity: write a load 5 % lower (0.475 in pl" in stale
    by_itself = {"warmup_settled": True, "power_settled": True, "warmup_limit_cycles": 90000}
    stale = sentences(tmp_path / "by itself", {}, {"queues_settled": False, "load": 0.5, **QUEUES, **by_itself})
    assert "write `measure.warmup: 500000cycles`" in stale, "its limit did not end the warm-up"
    ended = {"warmup_settled": False, "warmup_cycles": 5000, "warmup_limit_cycles": 5000, "load": 0.5}
    other = sentences(tmp_path / "other limit", {}, ended, on={"warmup_limit_cycles": 800_000})
    assert "`measure.warmup_limit: 800000cycles`" in other, "nor less than links that are always on had"
    at_limit = by_itself | {"power_settled": False, "warmup_limit_cycles": 700_000}
    stale = sentences(tmp_path / "at its limit", {}, {"queues_settled": False, "load": 0.5, **QUEUES, **at_limit})
    assert "`measure.warmup_limit: 1400000cycles`" in stale, "never less than the limit that it had"


def test_queues_that_built_up_while_links_woke_are_no_latency_of_a_policy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A load of 0.5 is the capacity of the network, so queues that built up in the warm-up never become shorter.

    The remedy therefore names a lower load, with which the point settles.
    """
    file = tmp_path / "near.yaml"
    file.write_text(NEAR_CAPACITY, encoding="utf-8")
    own = "{tcep: {activation_epoch: 200cycles, deactivation_epoch: 2000cycles, wake: 200cycles}}"
    run = ["run", str(file), "--no-picture"]
    both = [*run, "--set", f"sweep.power.policy=[always_on, {own}]"]
    assert main([*both, "--set", "traffic.load=0.5", "--out", str(tmp_path / "full")]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "no point can be compared. Not compared, of 1 pairs of points: 1 not settled (queues)." in output
    assert "write a load 5 % lower (0.475 in place of 0.5): near the capacity" in output
    lower = ["--set", "traffic.load=0.475", "--out", str(tmp_path / "lower")]
    assert main([*run, *lower]) == 0
    assert weft.open_results(tmp_path / "lower").flaws == [None]


def test_the_lower_load_that_is_reported_where_latencies_still_grow_settles(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a very short window, queues are short, so that they seem to have settled.

    The load is nevertheless too high: latencies grow during the window.
    """
    file = tmp_path / "growing.yaml"
    file.write_text(
        NEAR_CAPACITY.partition("measure:")[0] + "measure: {warmup: 200cycles, window: 2us}\n", encoding="utf-8"
    )
    run = ["run", str(file), "--no-picture"]
    assert main([*run, "--set", "traffic.load=0.5", "--out", str(tmp_path / "full")]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "queues not settled: the latency still grows" in output
    assert weft.open_results(tmp_path / "full").summaries[0]["latency_growth_share"] > 0.05
    ((warmup, window),) = re.findall(r"write `measure.warmup: (\w+)` and `measure.window: (\w+)`, or more; if", output)
    (lower,) = re.findall(r"if that is not enough, .* 5 % lower \((\S+) in place of 0.5\)", output)
    longer = [f"measure.warmup={warmup}", f"measure.window={window}"]
    sets = [word for setting in (f"traffic.load={lower}", *longer) for word in ("--set", setting)]
    assert main([*run, *sets, "--out", str(tmp_path / "lower")]) == 0
    assert weft.open_results(tmp_path / "lower").flaws == [None]


def test_nothing_is_compared_with_a_reference_that_is_saturated(tmp_path: Path) -> None:
    text = sentences(tmp_path, {}, {}, on={"saturated": True, "ending": "saturated"})
    assert text == (
        "gated compared with on, for the same traffic: no point can be compared. "
        "Not compared, of 2 pairs of points: 2 saturated."
    )


def test_the_way_out_of_a_short_warm_up_works(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    two = "[always_on, {idle_timeout: {idle: 200cycles, transition: 100cycles}}]"
    run = ["run", str(QUICKSTART), "--no-picture", "--set", "sweep.traffic.load=[0.02]", "--set", "routing=ugal_p"]
    run += ["--set", f"sweep.power.policy={two}", "--set", "topology.hyperx.widths=[2, 2]"]
    assert main([*run, "--set", "measure.warmup=200cycles", "--out", str(tmp_path / "fixed")]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "no point can be compared" in output
    assert "write `measure.warmup: auto`, or several times that length" in output
    assert main([*run, "--set", "measure.warmup=auto", "--out", str(tmp_path / "auto")]) == 0
    assert "idle_timeout compared with always_on, for the same traffic links that draw power" in " ".join(
        capsys.readouterr().out.split()
    )


def test_where_nothing_is_saved_no_place_saves_most(tmp_path: Path) -> None:
    text = sentences(tmp_path, {"power_mean_w": 2000.0}, {"power_mean_w": 2100.0})
    assert "It saves no power at any of these points. Where it costs least (load 0.1)" in text
    assert "Where it costs most (load 0.2)" in text
    assert "saves most" not in text


def test_most_and_least_are_those_of_the_shares_that_are_shown(tmp_path: Path) -> None:
    """The text names the greatest and the smallest saving by share: 51.4 W of 1000 W is a smaller share than 50 W of
    967 W, although it is more power."""
    on = [ON | {"power_mean_w": power} for power in (1000.0, 967.0)]
    own = [GATED | {"power_mean_w": 948.6}, GATED | {"power_mean_w": 917.0}]
    runs = [
        ({"power.policy": policy, "traffic.load": load}, numbers)
        for policy, several in (("on", on), ("gated", own))
        for load, numbers in zip(LOADS, several, strict=True)
    ]
    runs = [(coordinates, numbers | {"hash": place}) for place, (coordinates, numbers) in enumerate(runs)]
    text = "\n".join(savings.lines(made(tmp_path / "shares", runs), width=1000))
    assert "Where it saves most, as a share (load 0.2): " in text
    assert "917 W instead of 967 W (50 W less, 5.17 %)" in text
    assert "Where it saves least, as a share (load 0.1): " in text
    assert "949 W instead of 1000 W (51.4 W less, 5.14 %)" in text


def test_what_is_equal_as_shown_is_reported_once(tmp_path: Path) -> None:
    text = sentences(tmp_path / "saves", {}, {"power_mean_w": 1499.99})
    assert "It saves the same share at each of these points, for example (load 0.2): " in text
    assert "Where it saves" not in text
    text = sentences(tmp_path / "costs", {"power_mean_w": 2100.0}, {"power_mean_w": 2100.0})
    assert "draws the same share more at each of these points, for example (load 0.1): " in text
    assert "(100 W more, 5 %)" in text
    text = sentences(tmp_path / "equal", {"power_mean_w": 2000.0}, {"power_mean_w": 2000.0})
    assert "It draws neither less nor more power at any of these points, for example (load 0.1): " in text
    assert "10.0 cycles more, 50 %" in text, "power alone is no cost"


def test_two_numbers_that_differ_are_written_so_that_one_sees_it(tmp_path: Path) -> None:
    text = sentences(tmp_path, {"power_mean_w": 31352.5}, {"power_mean_w": 31352.5}, on={"power_mean_w": 31400.0})
    assert "31.35 kW instead of 31.4 kW (47.5 W less, 0.151 %)" in text


def _phase(number: int, load: float, **numbers: Any) -> dict[str, Any]:
    by_name = {"phase": number, "load": load, "packets": 1000, "saturated": False, "accepted_load": load}
    return by_name | {"links_off_share": 0.75, "packet_latency_mean_cycles": 30.0, "power_mean_w": 1500.0} | numbers


def test_each_phase_of_a_load_is_a_pair(tmp_path: Path) -> None:
    on = [_phase(1, 0.1, power_mean_w=2000.0), _phase(2, 0.3, power_mean_w=2000.0), _phase(3, 0.1, power_mean_w=2000.0)]
    own = [_phase(1, 0.1), _phase(2, 0.3, saturated=True), _phase(3, 0.1, power_mean_w=1.0)]
    text = sentences(tmp_path, {"phases": own}, {"phases": own}, on={"phases": on})
    assert "same share at each of these points, for example (load 0.1, phase 1 of load 0.1): 25 % of the links" in text
    # the third phase delivers packets that remain from the second phase
    unsettled = "2 not settled (delivers the backlog of a saturated phase)"
    assert f"of 6 pairs of points or phases: 2 saturated, {unsettled}." in text


def test_a_policy_that_costs_more_is_said_to(tmp_path: Path) -> None:
    assert "(100 W more, 5 %)" in sentences(tmp_path, {"power_mean_w": 2100.0}, {})


def test_a_setting_that_belongs_to_a_policy_does_not_keep_points_apart(tmp_path: Path) -> None:
    runs = [
        ({"routing": "blind", "power.policy": "on", "traffic.load": 0.1}, ON | {"hash": 0}),
        ({"routing": "aware", "power.policy": "gated", "traffic.load": 0.1}, GATED | {"hash": 1}),
    ]
    text = "\n".join(savings.lines(made(tmp_path / "tied", runs), width=1000))
    assert "500 W less" in text
    # policy and routing changed together, so the text names both, not the policy alone
    assert text.startswith("gated with aware compared with on with blind, for the same traffic")
    runs = [
        ({"traffic.pattern": "uniform", "power.policy": "on"}, ON | {"hash": 0}),
        ({"traffic.pattern": "tornado", "power.policy": "gated"}, GATED | {"hash": 1}),
    ]
    text = "\n".join(savings.lines(made(tmp_path / "apart", runs), width=1000))
    assert "No two points have the same traffic and differ only in the policy" in text
    command = text.partition("`weft ")[2].partition("`")[0]
    assert main(shlex.split(command)) == 0, command


def test_without_links_that_are_always_on_there_is_nothing_to_compare_with(tmp_path: Path) -> None:
    assert savings.lines(made(tmp_path / "loads", [({"traffic.load": 0.1}, ON)])) == []
    runs = [({"power.policy": policy}, GATED | {"hash": place}) for place, policy in enumerate(("gated", "other"))]
    assert savings.lines(made(tmp_path / "gated", runs)) == []


def test_of_several_policies_without_sleep_the_usual_one_is_the_reference(tmp_path: Path) -> None:
    stay = ON | {"links_stay_on": True}
    runs = [({"power.policy": name}, stay | {"hash": n}) for n, name in enumerate(("timid", "always_on"))]
    runs.append(({"power.policy": "gated"}, GATED | {"links_stay_on": False, "hash": 2}))
    results = made(tmp_path / "three", runs)
    text = "\n".join(savings.lines(results, width=1000))
    assert "timid compared with always_on" in text
    assert "It saves no power" not in text.partition("gated compared with always_on")[2]
    assert "Compared with links that are always on, 25.0 % less power at best" in "\n".join(
        answer.sentences(Sources([results]))
    )
    two = made(tmp_path / "two", runs[:2])
    assert "on, no less power at any point, at the same traffic" in "\n".join(answer.sentences(Sources([two])))


def test_the_quickstart_ends_with_what_sleeping_links_save(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few = ["--set", "sweep.traffic.load=[0.02, 0.05]", "--no-picture", "--out", str(tmp_path / "few")]
    assert main(["run", str(QUICKSTART), *few]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "warm-up settled in 4 of 4 points" in text
    assert "power state settled in 2 of 2 points" in text
    assert "tcep compared with always_on" in text
    assert "Not compared" not in text
    assert "25 % of the links that it manages draw power; the network draws 14" in text
    # the policy leaves only a star of links on in each row and column; under tornado, most packets then take a second
    # hop over the hub in each dimension
    assert "cycles more" in text


def test_one_limit_of_a_warm_up_is_named(tmp_path: Path) -> None:
    """The remedy names only one limit of a warm-up.

    Three limits are possible: twice the warm-up, the engine's, which is longer, and that for unsettled queues, which is
    the longest.
    """
    engine = {
        "path": "measure.warmup_limit",
        "what": "the latencies had not settled",
        "help": "write a longer limit, such as `measure.warmup_limit: 225000cycles`",
    }
    late = {"load": 0.4, "warmup_settled": False, "warmup_cycles": 56250, "window_cycles": 5000, "warnings": [engine]}
    late |= {"packets": 1000, "accepted_load": 0.4, "energy_total_j": 1.0}
    queues = {"queues_settled": False, "queueing_mean_cycles": 9000.0, "queue_memory_cycles": 1e8}
    for name, more, limits in (("latencies", {}, {"225000"}), ("queues", queues, {"900000"})):
        results = made(tmp_path / name, [({"traffic.load": 0.4}, late | more)])
        text = "\n".join(notes.lines(results))
        assert set(re.findall(r"measure\.warmup_limit: (\d+)cycles", text)) == limits, text
