"""Tests energy bills that Weft refuses.

Each refusal names the reason, the place in the file, and a remedy that works.
"""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest

import weft
from conftest import made
from small import NEAR_CAPACITY, PACKETS, steady_point
from weft.cli import main
from weft.errors import ResultsError, ScenarioError
from weft.results import soundness
from weft.results.bill_baseline import USUAL
from weft.results.bill_lines import lines
from weft.text.labels import label

if TYPE_CHECKING:
    from pathlib import Path

    from weft.api.results import Results

ASLEEP: dict[str, Any] = {"tcep": {}}
KEYS: dict[str, Any] = {
    "price_per_kwh": "0.2EUR",
    "profile": [{"name": "night", "share": 0.5, "load": 0.1}, {"name": "day", "share": 0.5, "load": 0.3}],
}
NIGHT: dict[str, Any] = KEYS | {"profile": [{"share": 1, "load": 0.1}]}

SHORT = {
    "path": "measure.warmup",
    "what": "too short",
    "help": "write `measure.warmup: auto`, or several times that length",
}
BURSTS = {"path": "measure.window", "what": "too short", "help": "write `measure.window: 90000cycles` or more"}
QUEUES = {"queues_settled": False, "queueing_mean_cycles": 50.0, "warmup_cycles": 3000}
PART = {"path": "measure.window", "what": "a part", "help": "write `measure.window: 20cycles`"}
CHANGES = {"phase": 1, "saturated": False, "accepted_load": 0.3}


@pytest.mark.parametrize(
    ("broken", "reason", "remedy"),
    [
        ({"saturated": True, "ending": "saturated"}, "is saturated", "choose a load that the network carries"),
        ({"ending": "stalled"}, "is stalled", "`weft explain stall ROOT` shows"),
        ({"ending": "interrupted"}, "is interrupted", "run the point to its end: weft run --force"),
        ({"power_settled": False}, "is not settled (power states)", "write `measure.warmup: auto`"),
        (
            {"warmup_settled": False, "warmup_cycles": 3000},
            "is not settled (latencies)",
            "`measure.warmup: auto` reached its limit: write `measure.warmup_limit: 6000cycles` or more",
        ),
        (QUEUES, "is not settled (queues)", "write `measure.warmup: "),
        (
            {"saturated": None},
            "is not judged (the run is too short to tell whether the network is saturated)",
            "write a longer `measure.window`",
        ),
        (
            {"saturated": None, "warnings": [BURSTS]},
            "is not judged (the run is too short to tell whether the network is saturated)",
            BURSTS["help"],
        ),
        (
            {"packets": 7, "window_cycles": 1000},
            "is with fewer than 30 packets",
            "write `measure.window: 9000cycles` or more",
        ),
        ({"warnings": [SHORT]}, "is not settled (power states)", SHORT["help"]),
        (
            {"whole_periods": False, "warnings": [PART]},
            "is measured over a part of a period",
            PART["help"],
        ),
        ({"phases": [CHANGES, CHANGES]}, "changes in 2 phases", "name phases in all parts of the profile"),
        ({"packets": 0}, "is without a measured packet", "write a longer `measure.window`"),
        ({"accepted_load": 0.0}, "delivered nothing", "write a longer `measure.window`"),
        ({"power_mean_w": None}, "has no measured power", "write a longer `measure.window`"),
    ],
)
def test_a_point_that_is_not_sound_is_never_used(
    tmp_path: Path, broken: dict[str, Any], reason: str, remedy: str
) -> None:
    results = made(tmp_path / "broken", [steady_point(ASLEEP, 0.1), steady_point(ASLEEP, 0.3, **broken)])
    with pytest.raises(ResultsError) as raised:
        results.bill(KEYS)
    assert raised.value.what.startswith(f"nothing can be billed: load 0.3 {reason}")
    assert raised.value.help.startswith(remedy.replace("ROOT", str(results.root)))
    assert ("load" in raised.value.help) == ("; a new load must also be" in raised.value.help)
    # Weft makes a bill in spite of a flaw at a load that the profile does not name
    assert results.bill(NIGHT).frame["power_kw"].to_list() == [1.0]


ROUTER, LINK = [{"router": 3, "at": "40us"}], [{"link": [0, 5], "at": "40us"}]
AWAKE: dict[str, Any] = {"tcep": {"initial": "all_on", "deactivate": False}}


def _failing(root: Path) -> Results:
    """Make points with a power policy and with always-on links, each without failures, with a failed link and with a
    failed router."""
    points = []
    for policy, power in ((ASLEEP, 1000.0), (AWAKE, 2000.0)):
        for failing, less in (([], 0.0), (LINK, 50.0), (ROUTER, 200.0)):
            coordinates, numbers = steady_point(policy, 0.1, power_mean_w=power - less)
            if failing is ROUTER:
                numbers |= {"accepted_load": 0.09, "packets": 90_000, "dropped_packets": 10_000}
            points.append(({**coordinates, "faults": failing}, numbers))
    return made(root, points)


def test_what_failed_is_no_saving_and_the_remedy_compares_the_same_faults(tmp_path: Path) -> None:
    results = _failing(tmp_path / "faults")
    yearly = results.bill(NIGHT)
    shares = yearly.frame["saving_share"].to_list()
    assert shares == [0.5, None, None, 0.0, None, None]
    failed = "no savings: failed links draw no power, which is not a saving, but no baseline was measured with these"
    notes = yearly.frame["note"].to_list()
    assert [bool(note and note.startswith(failed)) for note in notes] == [share is None for share in shares]
    text = "\n".join(lines(yearly))
    assert "router 3, at 40us: 10 % of its packets were dropped (a link or router had failed)" in text
    assert yearly.frame["dropped_share"].to_list() == pytest.approx([0, 0, 0.1, 0, 0, 0.1])
    named = text.partition("write bill.baseline: ")[2].partition(" (each")[0]
    for baseline in (named, f"{named},faults=none"):
        again = results.bill(NIGHT | {"baseline": baseline})
        if "faults" in baseline:
            assert "has different faults: none" in again.frame["note"][1]
            assert f"  write bill.baseline: {named} (each" in "\n".join(lines(again))
            assert again.frame["saving_share"].to_list() == [0.5, None, None, None, None, None]
        else:
            shares = again.frame["saving_share"].to_list()[:3]
            assert shares[:2] == pytest.approx([0.5, 1 - 950 / 1950])
            # a network that loses a tenth of its packets uses less energy, but the bill does not call this a saving
            assert shares[2] is None
            lost = "10 % of the packets of the baseline: a load is not carried if more than 3 % is lost"
            assert lost in again.frame["note"][2]
            assert [note is None for note in again.frame["note"]] == [True, True, False, True, True, True]
    # if no point with always-on links was run, the remedy cannot name one
    alone = made(tmp_path / "alone", [({**steady_point(ASLEEP, 0.1)[0], "faults": LINK}, steady_point(ASLEEP, 0.1)[1])])
    remedy = "with the same faults, measure a power policy that keeps all links on"
    assert remedy in "\n".join(lines(alone.bill(NIGHT)))


@pytest.mark.parametrize("flaw", soundness.FLAWS)
def test_every_flaw_has_a_remedy(flaw: soundness.Flaw) -> None:
    """Each flaw of a point has a remedy, which the error of the bill contains.

    The tests above cover flaws of a whole run, the tests below flaws of a phase.
    """
    assert flaw.help


def test_another_load_is_named_in_the_profile_too(tmp_path: Path) -> None:
    def keys(load: float) -> dict[str, Any]:
        return {"price_per_kwh": "0.2EUR", "profile": [{"share": 1, "load": load}]}

    with pytest.raises(ResultsError, match="queues") as raised:
        weft.load(NEAR_CAPACITY, overrides={"sweep.traffic.load": [0.5]}).run(tmp_path / "near").bill(keys(0.5))
    (lower,) = re.findall(r"5 % lower \(([\d.]+) in place of 0\.5\)", raised.value.help)
    assert raised.value.help.endswith("; a new load must also be in the profile")
    results = weft.load(NEAR_CAPACITY, overrides={"sweep.traffic.load": [float(lower)]}).run(tmp_path / "lower")
    with pytest.raises(ResultsError, match=r"load 0\.5 is not measured"):
        results.bill(keys(0.5))
    assert results.bill(keys(float(lower))).frame["cost_eur_per_year"][0] > 0


def test_nothing_is_interpolated_nor_extrapolated(tmp_path: Path) -> None:
    results = made(tmp_path / "gap", [steady_point(ASLEEP, load) for load in (0.1, 0.3, 0.4)])
    for load, near in ((0.2, "nearest are 0.1 and 0.3"), (0.05, "nearest is 0.1"), (0.5, "nearest is 0.4")):
        with pytest.raises(ResultsError, match=rf"load {load} is not measured: the {near}") as raised:
            results.bill(KEYS | {"profile": [{"share": 1, "load": load}]})
        wanted = ", ".join(f"{each:g}" for each in sorted([0.1, 0.3, 0.4, load]))
        assert raised.value.help.startswith(f"sweep `traffic.load: [{wanted}]` (finished points stay)")


def test_points_without_results_say_so_and_how_to_run_them(tmp_path: Path) -> None:
    file = tmp_path / "two.yaml"
    file.write_text(TWO)
    results = weft.load(file).run(tmp_path / "two")
    gone, torn = (results.folder(point) for point in (1, 3))  # load 0.3 under each policy
    shutil.rmtree(gone)
    (torn / "summary.json").write_text("{}")
    with pytest.raises(ResultsError) as raised:
        weft.open_results(results.root).bill()
    assert "always_on: load 0.3 was not run yet; idle_timeout: load 0.3 is damaged (" in raised.value.what
    assert raised.value.help == f"run it: {weft.open_results(results.root).command}"
    assert weft.load(file).run(tmp_path / "two").bill().frame["note"].to_list() == [None, None]


def test_a_load_of_which_some_seeds_ran_says_which_did_not(tmp_path: Path) -> None:
    runs = [steady_point("always_on", 0.1) for _ in range(3)]
    seeds = [({**coordinates, "seed": seed}, numbers) for seed, (coordinates, numbers) in enumerate(runs, start=1)]
    results = made(tmp_path / "seeds", seeds)
    for row in (1, 2):
        shutil.rmtree(results.folder(row))
    with pytest.raises(ResultsError, match=r"load 0\.1 \(seed 2 and 1 more\) was not run yet"):
        weft.open_results(results.root).bill(NIGHT)


def test_results_of_which_none_is_finished_are_refused_in_words(tmp_path: Path) -> None:
    results = made(tmp_path / "none", [steady_point("always_on", 0.1)])
    shutil.rmtree(results.root / "points")
    with pytest.raises(ResultsError, match=r"nothing can be billed: load 0\.1 was not run yet"):
        weft.open_results(results.root).bill(NIGHT)


def test_one_series_that_can_not_be_billed_leaves_the_others(tmp_path: Path) -> None:
    on = [steady_point("always_on", load) for load in (0.1, 0.3)]
    full = steady_point(ASLEEP, 0.3, saturated=True, ending="saturated")
    yearly = made(tmp_path / "one", [*on, steady_point(ASLEEP, 0.1), full]).bill(KEYS)
    on_row, asleep = yearly.frame.iter_rows(named=True)
    assert on_row["cost_eur_per_year"] is not None
    assert (asleep["cost_eur_per_year"], asleep["saving_share"]) == (None, None)
    assert asleep["note"] == "load 0.3 is saturated"
    shown = lines(yearly)
    assert shown[shown.index("tcep: load 0.3 is saturated") + 1].startswith("  choose a load that the network carries")


def test_a_baseline_that_can_not_carry_the_load_gives_no_savings(tmp_path: Path) -> None:
    full = steady_point("always_on", 0.3, saturated=True, ending="saturated")
    points = [steady_point("always_on", 0.1), full, steady_point(ASLEEP, 0.1), steady_point(ASLEEP, 0.3)]
    row = made(tmp_path / "base", points).bill(KEYS).frame.to_dicts()[1]
    assert (row["saved_kwh_per_year"], row["saving_share"]) == (None, None)
    assert row["cost_eur_per_year"] is not None
    assert row["note"] == "no savings: of the baseline, load 0.3 is saturated"


def _with_phases(root: Path, *phases: dict[str, Any], **more: Any) -> Results:
    coordinates, numbers = steady_point(ASLEEP, 0.1, **more)
    lines = [{"phase": 1 + number, "power_mean_w": 1000.0} | phase for number, phase in enumerate(phases)]
    return made(root, [(coordinates, {**numbers, "phases": lines})])


def test_each_way_in_which_a_phase_has_no_power_has_its_reason(tmp_path: Path) -> None:
    keys = KEYS | {"profile": [{"share": 0.25, "phase": 1}, {"share": 0.75, "phase": 2}]}
    phases: tuple[dict[str, Any], ...]
    sound: dict[str, Any] = {"accepted_load": 0.1, "saturated": False, "packets": PACKETS}
    for number, (phases, words, remedy) in enumerate(
        (
            (
                (sound, sound | {"saturated": True}),
                "phase 2 is saturated",
                "choose a load that the network carries",
            ),
            (
                (sound, {"packets": 0, "start_cycle": 9}),
                "does not reach phase 2, which begins in cycle 9",
                "`measure.window`",
            ),
            ((sound, sound | {"accepted_load": 0.0}), "phase 2 delivered nothing", "longer `measure.window`"),
            ((sound, sound | {"packets": 7}), "phase 2 is with fewer than 30 packets", "for 9 times as long or more"),
            ((sound, sound | {"packets": 0}), "phase 2 is without a measured packet", "longer `measure.window`"),
            ((sound, sound)[:1], "the load never changes, so it has no phases", "name loads"),
            ((), "the load never changes, so it has no phases", "name loads"),
        )
    ):
        with pytest.raises(ResultsError, match=words) as raised:
            _with_phases(tmp_path / str(number), *phases).bill(keys)
        assert remedy in raised.value.help
    # phase 3 is billed, and delivers packets that phase 2 left behind, which is not billed
    late = KEYS | {"profile": [{"share": 0.5, "phase": 1}, {"share": 0.5, "phase": 3}]}
    backlog = r"phase 3 is not settled \(delivers the backlog of a saturated phase\)"
    with pytest.raises(ResultsError, match=backlog) as raised:
        _with_phases(tmp_path / "backlog", sound, sound | {"saturated": True}, sound).bill(late)
    assert raised.value.help == "lower the load of the previous phase until that phase is not saturated"
    too_short = r"the point is not judged \(the run is too short to tell whether the network is saturated\)"
    with pytest.raises(ResultsError, match=too_short):
        _with_phases(tmp_path / "bursts", sound | {"saturated": None}, sound, saturated=None).bill(keys)
    with pytest.raises(ResultsError, match="there is no phase 3: the last phase is 2") as raised:
        _with_phases(tmp_path / "third", sound, sound).bill(KEYS | {"profile": [{"share": 1, "phase": 3}]})
    assert raised.value.help == "name a phase from 1 to 2"
    with pytest.raises(ResultsError, match="the point is not settled"):
        _with_phases(tmp_path / "unsettled", sound, sound, power_settled=False).bill(keys)


@pytest.mark.parametrize(
    ("baseline", "what", "remedy"),
    [
        ("power.policy=allways_on", "no point is at power.policy = allways_on", "did you mean `always_on`?"),
        ("policy=static", "no point is at power.policy = static", "power.policy is always_on or idle_timeout"),
        ("power.polici=always_on", "power.polici is not a coordinate", "did you mean `power.policy`"),
        ("colour=blue", "colour is not a coordinate of the sweep", "the coordinates are power.policy"),
        ("always_on", "'always_on' names no point", "write e.g. 3, or routing"),
        ("0", "'0' is the number of a point", "write coordinates, such as power.policy=always_on"),
        ("policy=always_on,load=0.1", "names traffic.load", "remove this coordinate"),
    ],
)
def test_a_baseline_that_no_point_has_is_refused_before_and_after_a_run(
    baseline: str, what: str, remedy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "two.yaml"
    file.write_text(TWO.replace("bill: {", f"bill: {{baseline: '{baseline}', "))
    for command in ("check", "run"):
        assert main([command, str(file), *(["--out", str(tmp_path / "out")] if command == "run" else [])]) == 2
        errors = capsys.readouterr().err
        assert "error: bill.baseline: " in errors
        assert what in errors
        assert remedy in errors
        assert f"{file}:8" in errors
    assert not (tmp_path / "out").exists()
    policies: tuple[Any, ...] = ("always_on", {"idle_timeout": {}})
    points = [steady_point(policy, load) for policy in policies for load in (0.1, 0.3)]
    with pytest.raises(ResultsError) as caught:
        made(tmp_path / "made", points).bill(KEYS | {"baseline": baseline})
    assert what in caught.value.what
    assert remedy in caught.value.help


def test_a_baseline_that_means_two_series_or_has_another_routing_gives_no_savings(tmp_path: Path) -> None:
    ways = ({"idle_timeout": {"idle": "9cycles"}}, {"idle_timeout": {"idle": "99cycles"}}, ASLEEP)
    results = made(tmp_path / "ways", [steady_point(way, 0.1) for way in ways])
    yearly = results.bill(NIGHT | {"baseline": "policy=idle_timeout"})
    ambiguous = "no savings: the baseline (power.policy = idle_timeout) is ambiguous: 2 series match"
    assert yearly.frame["note"][2] == ambiguous
    remedy = "power.policy=idle_timeout(idle 9cycles)"
    assert any(remedy in line for line in lines(yearly))
    assert results.bill(NIGHT | {"baseline": remedy}).frame["saving_share"].to_list() == [None, 0, 0]
    points = [
        ({"routing": name, **coordinates}, numbers)
        for name, (coordinates, numbers) in (
            ("minimal", steady_point("always_on", 0.1)),
            ("pal", steady_point(ASLEEP, 0.1)),
        )
    ]
    other = made(tmp_path / "routing", points)
    note = other.bill(NIGHT | {"baseline": "policy=always_on"}).frame["note"][1]
    without = "no savings: no point at the baseline (power.policy = always_on) has routing = pal, as this series does"
    assert note == without
    named = "policy=always_on,routing=minimal"
    assert other.bill(NIGHT | {"baseline": named}).frame["saving_share"][1] == 0


TWO = """\
topology: {hyperx: {widths: [4], terminals_per_router: 2}}
links: {default: {latency: 2cycles, vcs: 4, buffer: 16flits}}
routing: minimal
traffic: {pattern: uniform}
power: {router_price: {static: 1W, per_port: 0.1W}}
measure: {warmup: 1000cycles, window: 2000cycles}
sweep: {power.policy: [always_on, {idle_timeout: {idle: 50cycles, transition: 10cycles}}], traffic.load: [0.1, 0.3]}
bill: {price_per_kwh: 0.2EUR, profile: [{share: 0.5, load: 0.1}, {share: 0.5, load: 0.3}]}
"""


def test_a_profile_beyond_the_sweep_is_refused_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "two.yaml", tmp_path / "out"
    file.write_text(TWO.replace("load: 0.3}]", "load: 0.2}]"))
    for command in (["check", str(file)], ["run", str(file), "--out", str(out)]):
        assert main(command) == 2
        errors = capsys.readouterr().err
        assert "error: bill.profile.1.load: load 0.2 is not measured: the nearest are 0.1 and 0.3" in errors
        assert f"{file}:8:" in errors
        assert "= help: sweep `traffic.load: [0.1, 0.2, 0.3]` (finished points stay), or name a measured load" in errors
    assert not out.exists()
    # the remedies work work
    file.write_text(file.read_text().replace("[0.1, 0.3]}", "[0.1, 0.2, 0.3]}"))
    assert main(["check", str(file)]) == 0
    assert main(["check", str(file), "--set", "traffic.load=0.1"]) == 2
    assert "add `--set bill=null`" in capsys.readouterr().err
    assert main(["check", str(file), "--set", "traffic.load=0.1", "--set", "bill=null"]) == 0


def test_a_load_that_is_swept_later_is_billed_and_finished_points_stay(tmp_path: Path) -> None:
    file = tmp_path / "two.yaml"
    file.write_text(TWO)
    results = weft.load(file).run(tmp_path / "out")
    before = {path: path.stat().st_mtime_ns for path in results.root.glob("points/*/summary.json")}
    keys = KEYS | {"profile": [{"share": 1, "load": 0.2}]}
    with pytest.raises(ResultsError) as raised:
        results.bill(keys)
    wanted = raised.value.help.partition("`")[2].partition("`")[0]
    file.write_text(TWO.replace("traffic.load: [0.1, 0.3]", wanted))
    again = weft.load(file).run(tmp_path / "out")
    assert len(again.bill(keys).frame) == 2
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_what_is_said_of_an_unsettled_point_settles_it(tmp_path: Path) -> None:
    idle = "idle_timeout: {idle: 500cycles, transition: 10cycles}"
    short = TWO.replace("idle_timeout: {idle: 50cycles, transition: 10cycles}", idle).replace("1000cycles", "10cycles")
    yearly = weft.load(short).run(tmp_path / "short").bill()
    assert yearly.frame["note"][1].startswith("load 0.1 is not settled (power states)")
    assert any("`measure.warmup: auto`" in line for line in lines(yearly))
    settled = weft.load(short, overrides={"measure.warmup": "auto"}).run(tmp_path / "auto").bill()
    assert settled.frame["note"].to_list() == [None, None]


def test_the_window_that_is_reported_for_few_packets_holds_enough(tmp_path: Path) -> None:
    few = {"sweep.traffic.load": [0.001], "bill.profile": [{"share": 1, "load": 0.001}]}
    with pytest.raises(ResultsError, match="is with fewer than 30 packets") as raised:
        weft.load(TWO, overrides=few).run(tmp_path / "few").bill()
    window = raised.value.help.partition("measure.window: ")[2].partition("`")[0]
    enough = weft.load(TWO, overrides=few | {"measure.window": window}).run(tmp_path / "enough")
    assert enough.bill().frame["note"].to_list() == [None, None]


def test_phases_that_the_load_does_not_have_are_refused_before_anything_runs() -> None:
    changing = {"traffic.phases": [{"from": "1500cycles", "load": 0.2}]}
    phases = {"bill.profile": [{"share": 1, "phase": 3}]}
    for sets, words in (
        (phases, "bill.profile.0.phase: the load never changes"),
        (phases | changing, "bill.profile.0.phase: there is no phase 3: the last phase is 2"),
        (changing, "bill.profile.0.load: load 0.1 changes in 2 phases"),
    ):
        with pytest.raises(ScenarioError, match=words):
            weft.load(TWO, overrides=sets).check()
    weft.load(TWO, overrides=changing | {"bill.profile": [{"share": 1, "phase": 2}]}).check()


def test_one_series_with_all_loads_of_the_profile_is_enough(tmp_path: Path) -> None:
    policies = (
        "power.policy: [always_on, {idle_timeout: {idle: 50cycles, transition: 10cycles}}], traffic.load: [0.1, 0.3]"
    )
    zipped = TWO.replace("sweep", "zip").replace(policies, "power.policy: [always_on, slac], traffic.load: [0.1, 0.3]")
    zipped = zipped.replace("slac", "{idle_timeout: {idle: 50cycles, transition: 10cycles}}")
    weft.load(zipped, overrides={"bill.profile": [{"share": 1, "load": 0.1}]}).check()
    with pytest.raises(ScenarioError, match=r"load 0\.3 is not measured: the nearest is 0\.1") as raised:
        weft.load(zipped).run(tmp_path / "out")
    # the remedy does not propose a sweep over loads, because the scenario has a `zip` over loads, and Weft refuses both
    # together
    assert raised.value.help.startswith("name a measured load, or also measure this load")


def test_the_usual_baseline_is_the_usual_policy() -> None:
    (path, name) = next(iter(USUAL.items()))
    assert path == "power.policy"
    resolved = weft.load(
        TWO.replace("power.policy: [always_on, {idle_timeout: {idle: 50cycles, transition: 10cycles}}], ", "")
    )
    assert label(resolved.points[0].resolved["power"]["policy"]) == name
