"""Tests that the remedy of a diagnosis removes the diagnosis: each test applies the settings of the remedy, and runs
the point again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

import weft
from weft import _engine

if TYPE_CHECKING:
    from pathlib import Path

    from weft.api.results import Results

ROW = """\
topology: {hyperx: {widths: [4], terminals_per_router: 2}}
routing: minimal
traffic: {pattern: uniform, load: 0.1}
measure: {warmup: 2000cycles, window: 5000cycles}
"""
LONG_LINKS = {"links.default.latency": "1000cycles", "links.default.buffer": "2100flits"}
SLEEPY = {"power.policy": {"idle_timeout": {"idle": "1us", "transition": "500ns"}}, "measure.warmup": "1000cycles"}
REPLIES = {"traffic.reply": {"packet": "2flits", "turnaround": "3us"}, "traffic.load": 0.05}
AT_LIMIT = {"measure.warmup": "auto", "measure.warmup_limit": "13200cycles", "traffic.load": 0.3} | {
    "links.default.latency": "500cycles",
    "links.default.buffer": "1100flits",
}
# Overrides with which a link takes longer to wake than the window of 200 cycles and the drain last. A packet that waits
# for the link is therefore not delivered.
SHORT = {
    "power.policy": {"idle_timeout": {"idle": "5us", "transition": "5us"}},
    "traffic.load": 0.002,
    "measure.warmup": "60us",
    "measure.window": "200cycles",
}
# Codes of diagnoses, each with the overrides that give a point this diagnosis.
CASES: list[tuple[str, dict[str, Any]]] = [
    ("no_packet", {"traffic.load": 0.00001, "measure.window": "1000cycles"}),
    ("window_below_latency", LONG_LINKS | {"measure.window": "900cycles"}),
    ("filling", LONG_LINKS | {"measure.warmup": "0cycles"}),
    ("power_unsettled", SLEEPY),
    ("warmup_of_policy", SLEEPY),
    ("replies_unsettled", REPLIES | {"measure.warmup": "1000cycles"}),
    ("warmup_without_replies", REPLIES | {"measure.warmup": "1000cycles"}),
    ("may_be_saturated", REPLIES | {"measure.warmup": "1000cycles"}),
    ("not_judged", {"traffic.load": 0.5, "traffic.injection": {"on_off": {"peak": 0.9, "mean_on": "2000cycles"}}}),
    (
        "bursts_undecided",
        {"traffic.load": 0.4, "traffic.injection": {"on_off": {"peak": 1.0, "mean_on": "1000cycles"}}},
    ),
    ("not_judged", SHORT),
    ("window_too_short", SHORT),
    ("latencies_unsettled", AT_LIMIT),
    ("latencies_at_limit", AT_LIMIT),
]


def _codes(results: Results) -> list[str]:
    return [each["code"] for each in results.diagnoses[0]]


def _remedy(results: Results, code: str) -> tuple[dict[str, str], str]:
    """Return the settings of a remedy, or the first setting that its sentence names if it has none.

    The second returned value is the sentence.
    """
    found = next(each["remedy"] for each in results.diagnoses[0] if each["code"] == code)
    named = re.findall(r"`(measure\.\w+): (\w+)`", found["text"])[:1]
    return found["settings"] or dict(named), found["text"]


@pytest.mark.parametrize(("code", "keys"), CASES, ids=[code for code, _ in CASES])
def test_a_remedy_ends_its_diagnosis(code: str, keys: dict[str, Any], tmp_path: Path) -> None:
    flawed = weft.load(ROW, overrides=keys).run(tmp_path / "flawed", watch=False)
    assert code in _codes(flawed)
    settings, text = _remedy(flawed, code)
    assert settings, text
    mended = weft.load(ROW, overrides=keys | settings).run(tmp_path / "mended", watch=False)
    assert code not in _codes(mended), text


def test_the_load_that_a_search_finds_ends_saturation(tmp_path: Path) -> None:
    crossed = {"traffic.pattern": "tornado"}
    saturated = weft.load(ROW, overrides=crossed | {"traffic.load": 0.9}).run(tmp_path / "saturated", watch=False)
    assert "saturated" in _codes(saturated)
    (row,) = weft.load(ROW, overrides=crossed).saturation(tmp_path / "found", tolerance=0.05).iter_rows(named=True)
    carried = crossed | {"traffic.load": row["steady_load"]}
    assert "saturated" not in _codes(weft.load(ROW, overrides=carried).run(tmp_path / "carried", watch=False))


def test_the_numbered_remedies_of_a_warm_up_work_as_auto_does(tmp_path: Path) -> None:
    flawed = weft.load(ROW, overrides=SLEEPY).run(tmp_path / "flawed", watch=False)
    (cycles,) = re.findall(r"such as (\d+cycles)", _remedy(flawed, "power_unsettled")[1])
    mended = weft.load(ROW, overrides=SLEEPY | {"measure.warmup": cycles}).run(tmp_path / "mended", watch=False)
    assert not {"power_unsettled", "warmup_of_policy"} & set(_codes(mended))


def test_a_window_that_is_too_short_for_sleeping_links_is_not_saturated(tmp_path: Path) -> None:
    short = weft.load(ROW, overrides=SHORT).run(tmp_path / "short", watch=False)
    assert short.summaries[0]["saturated"] is None
    assert "saturated" not in _codes(short)
    # packets crossed links after the window, so the warning that no packet crossed a link of the policy would be wrong
    assert "no_managed_link_used" not in _codes(short)
    assert "even in a network without queues, because it may wait for links to wake" in str(short.diagnoses[0])
    settings = _remedy(short, "not_judged")[0]
    assert list(settings) == ["measure.window"]
    longer = weft.load(ROW, overrides=SHORT | settings).run(tmp_path / "longer", watch=False)
    assert longer.summaries[0]["saturated"] is False


FAULTS = """\
topology: {torus: {widths: [4, 4], terminals_per_router: 2, trunk_width: 2}}
links: {default: {latency: 20ns, vcs: 4, buffer: 64flits}, terminal: {latency: 5ns}}
routing: shortest_path
traffic: {pattern: uniform, packet: 4flits, load: 0.1}
measure: {warmup: 6000cycles, window: 10000cycles}
"""
BROKEN = {"share": "10%", "at": "8us", "until": "12us"}


@pytest.mark.parametrize(
    "faults",
    [
        {"fault_model": {"links": BROKEN}},
        {"faults": [{"link": link, "at": "8us", "until": "12us"} for link in ([0, 1], [0, 4], [5, 6], [10, 14])]},
        {"fault_model": {"links": BROKEN | {"at": "4us"}}},
    ],
    ids=["share", "listed", "broken before the window"],
)
def test_the_remedy_for_queues_keeps_the_faults_in_the_window(faults: dict[str, Any], tmp_path: Path) -> None:
    """Packets wait at broken links for new tables, at a tenth of the load that the paths carry."""
    flawed = weft.load(FAULTS, overrides=faults).run(tmp_path / "flawed", watch=False)
    assert "queues_unsettled" in _codes(flawed)
    settings, text = _remedy(flawed, "queues_unsettled")
    assert "capacity" not in text
    assert "warmup" not in text
    assert list(settings) == ["measure.window"]
    mended = weft.load(FAULTS, overrides=faults | settings).run(tmp_path / "mended", watch=False)
    assert "queues_unsettled" not in _codes(mended), text

    def seen(results: Results) -> list[tuple[Any, ...]]:
        episodes = results.summaries[0]["fault_episodes"]
        return [(each["failed"], each["from_cycle"], each["to_cycle"]) for each in episodes]

    assert seen(flawed) == seen(mended) != []


def test_packets_that_wait_for_new_tables_saturate_no_longer_window(tmp_path: Path) -> None:
    """The links break in cycle 8,000, and the window ends before the new tables of cycle 18,000."""
    faults = {"links.default.vcs": 8, "fault_model": {"links": {"share": "10%", "at": "8us"}}}
    flawed = weft.load(FAULTS, overrides=faults).run(tmp_path / "flawed", watch=False)
    assert "saturated" in _codes(flawed)
    settings, text = _remedy(flawed, "saturated")
    assert text.startswith("packets may wait at parts that fail or return in the window: write `measure.window: ")
    mended = weft.load(FAULTS, overrides=faults | settings).run(tmp_path / "mended", watch=False)
    assert "saturated" not in _codes(mended)
    assert mended.summaries[0]["fault_episodes_count"] == 1


CODES = {code["code"]: code for code in _engine.codes()}
PROGRAM = """\
topology: {hyperx: {widths: [4], terminals_per_router: 2}}
routing: minimal
traffic:
  packet: 16flits
  workload: {programs: {program: {collective: {operation: all_reduce, ranks: 8, bytes: 64KiB, repeat: 1}}}}
"""
PERIODIC = {
    "timetable": {
        "off": [{"classes": ["dim0"], "from": "1us", "until": "2us"}],
        "period": "5us",
        "transition": "100ns",
    }
}


def _repeated(times: int) -> dict[str, Any]:
    collective = {"operation": "all_reduce", "ranks": 8, "bytes": "64KiB", "repeat": times}
    return {"traffic.workload.programs.program": {"collective": collective}}


def test_a_longer_program_settles_the_power_states(tmp_path: Path) -> None:
    """A run of a program can have no warm-up, so the remedy and the page of the code propose a longer program."""
    policy = {"power.policy": {"idle_timeout": {"idle": "2us", "transition": "2us"}}}
    with pytest.raises(weft.ScenarioError, match="write 0cycles, or leave the warm-up out"):
        weft.load(PROGRAM, overrides=policy | {"measure.warmup": "10us"})
    flawed = weft.load(PROGRAM, overrides=policy).run(tmp_path / "flawed", watch=False)
    _, text = _remedy(flawed, "power_unsettled")
    found = re.fullmatch(r"write a program that runs at least (\d+) times as long", text)
    assert found is not None, text
    longer = weft.load(PROGRAM, overrides=policy | _repeated(int(found[1]))).run(tmp_path / "longer", watch=False)
    assert "power_unsettled" not in _codes(longer)
    assert "write a longer program or larger batches" in CODES["power_unsettled"]["helps"]


def test_a_program_of_a_part_of_a_period_has_no_remedy_that_programs_refuse(tmp_path: Path) -> None:
    """Even without `measure.stop`, the window ends with the program, so only a longer program helps."""
    policy = {"power.policy": PERIODIC}
    flawed = weft.load(PROGRAM, overrides=policy).run(tmp_path / "flawed", watch=False)
    _, text = _remedy(flawed, "part_of_period")
    found = re.match(r"write a program that lasts (\d+) cycles \(.*\) or longer", text)
    assert found is not None, text
    assert "measure.stop" not in text
    times = 2 + int(found[1]) // int(flawed.summaries[0]["window_cycles"])
    longer = weft.load(PROGRAM, overrides=policy | _repeated(times)).run(tmp_path / "longer", watch=False)
    assert "part_of_period" not in _codes(longer)


JOBS = {
    "pattern": "uniform",
    "jobs": [
        {"name": "busy", "terminals": {"range": [0, 3]}, "load": 0.1},
        {"name": "rare", "terminals": {"range": [4, 7]}, "load": 0.0001},
    ],
}


@pytest.mark.parametrize(
    ("code", "keys", "longer"),
    [
        ("job_without_packets", {"traffic": JOBS, "measure.window": "500cycles"}, "100000cycles"),
        ("phase_without_packets", {"traffic.phases": [{"from": "20us", "load": 0.2}]}, "25000cycles"),
        ("after_window", {"traffic.phases": [{"from": "20us", "load": 0.2}]}, "25000cycles"),
    ],
)
def test_a_window_that_sees_what_was_silent_ends_its_diagnosis(
    code: str, keys: dict[str, Any], longer: str, tmp_path: Path
) -> None:
    assert code in _codes(weft.load(ROW, overrides=keys).run(tmp_path / "flawed", watch=False))
    seen = weft.load(ROW, overrides=keys | {"measure.window": longer}).run(tmp_path / "seen", watch=False)
    assert code not in _codes(seen)
