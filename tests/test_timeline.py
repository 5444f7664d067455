"""Tests timelines of runs: they are valid in the Trace Event Format, and agree with the results of the run."""

from __future__ import annotations

import itertools
import json
import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pytest

import weft
from weft.cli import main
from weft.timeline import trace_file
from weft.timeline import tracks as tracing

if TYPE_CHECKING:
    from pathlib import Path

    from weft.api.results import Results

SLEEPY = {
    "traffic.load": 0.05,
    "traffic.pattern": "uniform",
    "routing": "dimension_order",
    "power.policy": "{idle_timeout: {idle: 20cycles, transition: 10cycles}}",
    "measure.link_states": "{}",
}
# For each kind of event (field `ph`) that Weft writes, the fields that the format requires, with their types.
REQUIRED: dict[str, dict[str, Any]] = {
    "X": {"name": str, "cat": str, "ts": (int, float), "dur": (int, float), "pid": int, "tid": int, "args": dict},
    "M": {"name": str, "pid": int, "tid": int, "args": dict},
    "s": {"name": str, "cat": str, "ts": (int, float), "pid": int, "tid": int, "id": int},
    "f": {"name": str, "cat": str, "ts": (int, float), "pid": int, "tid": int, "id": int, "bp": str},
}
METADATA = {
    "process_name": ("name", str),
    "thread_name": ("name", str),
    "process_sort_index": ("sort_index", int),
    "thread_sort_index": ("sort_index", int),
}


def validate(trace: dict[str, Any]) -> dict[tuple[int, int], list[dict[str, Any]]]:
    """Check a trace against the format, and return the slices of each track in order of time."""
    assert trace["displayTimeUnit"] in {"ms", "ns"}
    assert all(isinstance(value, (str, bool, int, float, dict)) for value in trace["otherData"].values())
    tracks: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
    named = set()
    for event in trace["traceEvents"]:
        for key, kind in REQUIRED[event["ph"]].items():
            assert isinstance(event[key], kind), (key, event)
        if event["ph"] == "M":
            key, kind = METADATA[event["name"]]
            assert isinstance(event["args"][key], kind)
            named.add((event["name"], event["pid"], event["tid"]))
        elif event["ph"] in "sf":
            # in this format, an arrow starts or ends in the slice of the track that began last
            assert tracks[event["pid"], event["tid"]][-1]["ts"] == event["ts"]
        else:
            assert event["ts"] >= 0
            assert event["dur"] >= 0
            tracks[event["pid"], event["tid"]].append(event)
    for (pid, tid), slices in tracks.items():
        assert {("process_name", pid, 0), ("thread_name", pid, tid)} <= named
        _check_nesting(slices)
    return tracks


def _check_nesting(slices: list[dict[str, Any]]) -> None:
    """Check that the slices of a track are in order of time, and either nested or disjoint."""
    open_ends: list[int] = []
    last = 0
    for event in slices:
        begin, end = round(event["ts"] * 1000), round((event["ts"] + event["dur"]) * 1000)
        assert begin >= last, "in order of time"
        last = begin
        while open_ends and open_ends[-1] <= begin:
            open_ends.pop()
        assert not open_ends or end <= open_ends[-1], event
        open_ends.append(end)


def laid_out(recorded: trace_file.Timeline) -> dict[str, Any]:
    """Return a recorded timeline in the form of a trace file."""
    return {"displayTimeUnit": "ns", "otherData": recorded.about, "traceEvents": list(recorded.events())}


@pytest.fixture
def traced(small: Path, tmp_path: Path) -> dict[str, Any]:
    """Run `weft timeline`, and return the trace that it writes."""
    sets = [f"--set={path}={value}" for path, value in SLEEPY.items() if path != "measure.link_states"]
    out = tmp_path / "trace.json"
    assert main(["timeline", str(small), *sets, "--packets", "20", "--out", str(out)]) == 0
    trace: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return trace


def test_a_trace_is_valid_and_its_tracks_have_names(traced: dict[str, Any]) -> None:
    tracks = validate(traced)
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in traced["traceEvents"] if e["name"] == "thread_name"}
    packets = [name for (pid, _), name in names.items() if pid == tracing.PACKETS]
    links = [name for (pid, _), name in names.items() if pid == tracing.LINKS]
    # 16 routers with 6 links each: 48 links, each with a channel in both directions
    assert (len(packets), len(links), len(set(links))) == (20, 96, 96)
    assert "link 0 -> 1 (port 4)" in links
    assert set(tracks) == set(names)


def test_slices_are_the_steps_and_the_states_of_the_run(small: Path, tmp_path: Path, traced: dict[str, Any]) -> None:
    sweep = weft.load(small, overrides=SLEEPY)
    results: Results = sweep.run(tmp_path / "run")
    tracks = validate(traced)
    spans = results.link_states(0)
    lines = [
        (event["args"]["channel"], event["name"], event["args"]["from_cycle"], event["args"]["to_cycle"])
        for (pid, _), slices in tracks.items()
        if pid == tracing.LINKS
        for event in slices
    ]
    assert sorted(lines) == sorted(spans.iter_rows())
    # the outermost slices of a packet follow each other without gaps from creation to delivery; times in the trace are
    # in us, and a cycle is 1 ns
    outer = {"queue", "link", "router", "tail"}
    for (pid, _), slices in tracks.items():
        if pid == tracing.PACKETS:
            steps = [event for event in slices if event["cat"] in outer]
            ends = [(event["ts"], event["ts"] + event["dur"]) for event in steps]
            assert all(one[1] == pytest.approx(next[0]) for one, next in itertools.pairwise(ends))
            assert steps[0]["ts"] == steps[0]["args"]["from_cycle"] / 1000


def test_named_packets_in_a_part_of_the_run(small: Path) -> None:
    point = weft.load(small, overrides=SLEEPY).points[0]
    trace = laid_out(trace_file.record(point, ["3:0-2"], from_cycle=100, to_cycle=200))
    tracks = validate(trace)
    slices = [event for track in tracks.values() for event in track]
    assert slices
    assert all(100 <= event["args"]["from_cycle"] < event["args"]["to_cycle"] <= 200 for event in slices)
    threads = [e for e in trace["traceEvents"] if e["name"] == "thread_name" and e["pid"] == tracing.PACKETS]
    assert [e["args"]["name"].split()[0] for e in threads] == ["3:0", "3:1", "3:2"]


def test_a_cut_record_of_links_is_reported(small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sets = [f"--set={path}={value}" for path, value in SLEEPY.items() if path != "measure.link_states"]
    out = str(tmp_path / "trace.json")
    assert main(["timeline", str(small), *sets, "--set=measure.link_states.max_spans=100", "--out", out]) == 0
    assert "raise measure.link_states.max_spans" in capsys.readouterr().out


def test_an_empty_part_is_refused(small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["timeline", str(small), "--out", str(tmp_path / "x"), "--from-cycle", "5", "--to-cycle", "5"]
    assert main(arguments) == 2
    assert "there is no cycle from 5 to before 5" in capsys.readouterr().err


def test_a_trace_names_its_point_and_has_no_text_for_what_is_absent(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "trace.json"
    point = weft.load(small).points[0]
    recorded = trace_file.record(point, ["3:0"])
    slices = recorded.write(out)
    trace = json.loads(out.read_text(encoding="utf-8"))
    assert slices == sum(event["ph"] == "X" for event in trace["traceEvents"])
    assert trace == laid_out(recorded)
    assert trace["otherData"]["coordinates"] == {
        "traffic.pattern": "uniform",
        "routing": "dimension_order",
        "traffic.load": "0.05",
    }
    assert not {"name", "link_states_complete"} & set(trace["otherData"]), "no name was given, no record asked for"
    assert [file.name for file in tmp_path.iterdir() if "trace" in file.name] == ["trace.json"]


def test_the_point_is_reported_where_there_are_several(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["timeline", str(small), "--packets", "1", "--out", str(tmp_path / "x.json")]) == 0
    assert "traffic.load = 0.05, first of 12 points" in capsys.readouterr().out
    trace = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))
    assert trace["otherData"]["link_states_complete"] is True


def test_a_stuck_network_is_reported_and_its_packets_are_drawn_to_the_end(
    ring: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "trace.json"
    arguments = ["timeline", str(ring), "--set=traffic.load=1.0", "--watch", "0:0-9", "--out", str(out)]
    assert main(arguments) == 4
    assert "can never move again" in capsys.readouterr().err
    trace = json.loads(out.read_text(encoding="utf-8"))
    end = trace["otherData"]["cycles_total"]
    tracks = validate(trace)
    lives = weft.load(ring, overrides={"traffic.load": 1.0}).journeys(["0:0-9"])
    made = [each["life"] for each in lives if each["life"]]
    stuck = [tid for tid, life in enumerate(made, start=1) if life["delivered_cycle"] is None]
    assert stuck
    for tid in stuck:
        slices = tracks[tracing.PACKETS, tid]
        assert max(event["args"]["to_cycle"] for event in slices) == end
        assert any(event["args"].get("unfinished") == "when the run ended" for event in slices)
    inside = [event for tid in stuck for event in tracks[tracing.PACKETS, tid] if event["cat"] == "router"]
    assert any(event["args"]["to_cycle"] == end for event in inside), "the router in which it is stuck"


def test_cycles_that_are_no_whole_nanoseconds_are_drawn_as_one(small: Path) -> None:
    point = weft.load(small, overrides={"cycle": "250ps"}).points[0]
    trace = laid_out(trace_file.record(point, first=20))
    slices = [event for track in validate(trace).values() for event in track]
    assert all(
        event["dur"] * 1000 == pytest.approx(event["args"]["to_cycle"] - event["args"]["from_cycle"])
        for event in slices
    )
    assert all(event["dur"] > 0 for event in slices)
    names = [event["args"]["name"] for event in trace["traceEvents"] if event["name"] == "process_name"]
    assert names == ["packets (each cycle of 250 ps drawn as 1 ns)"]


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (
            ["--from-cycle", "999999"],
            r"the run ended after \d+ cycles: there is nothing to show from cycle 999999 on\n  = help: write",
        ),
        (["--packets", "10001"], "10001 packets are too many to watch\n  = help: watch at most 10000"),
        (["--out", "/no/such/folder/x.json"], "there is no folder /no/such/folder\n  = help: create it first"),
        (["--out", "."], r"--out: \. is not a file\n  = help: name a file"),
    ],
)
def test_what_can_not_be_drawn_is_refused(
    small: Path, arguments: list[str], what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = [] if "--out" in arguments else ["--out", str(tmp_path / "x.json")]
    assert main(["timeline", str(small), *out, *arguments]) == 2
    assert re.search(what, capsys.readouterr().err)
    assert not (tmp_path / "x.json").exists()


def test_a_file_that_can_not_be_written_is_reported_before_the_run(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("it ran")

    monkeypatch.setattr("weft.timeline.trace_file.record", never)
    assert main(["timeline", str(small), "--out", "/no/such/folder/x.json"]) == 2


# A row of three routers under TCEP. A router whose packets take detours requests its direct link, the link is
# activated, and all routers get a message about it.
TALK = """\
topology: {hyperx: {widths: [3], terminals_per_router: 4}}
links:
  default: {latency: 10cycles, vcs: 6, buffer: 32flits}
  terminal: {latency: 1cycle}
routing: pal
traffic: {pattern: tornado, load: 0.9, loads: [{terminals: [0, 3], load: 0}, {terminals: [8, 11], load: 0}]}
power: {policy: {tcep: {activation_epoch: 250cycles, deactivation_epoch: 1000cycles, wake: 120cycles}}}
measure: {warmup: 0cycles, window: 1000cycles}
"""


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    """Write the file of a scenario in which routers send control packets."""
    path = tmp_path / "talk.yaml"
    path.write_text(TALK, encoding="utf-8")
    return path


def trace_of(folder: Path, talk: Path, *options: str) -> dict[str, Any]:
    """Run `weft timeline`, and return the trace that it writes."""
    out = folder / "trace.json"
    assert main(["timeline", str(talk), *options, "--out", str(out)]) == 0
    trace: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    validate(trace)
    return trace


def marks(trace: dict[str, Any]) -> list[tuple[int, str, int]]:
    """Return the control packets in a trace: router, text, cycle."""
    control = [event for event in trace["traceEvents"] if event["pid"] == tracing.CONTROL and event["ph"] == "X"]
    return [(event["tid"] - 1, event["name"], event["args"]["from_cycle"]) for event in control]


def test_control_packets_are_arrows_from_where_they_leave_to_where_they_come(talk: Path, tmp_path: Path) -> None:
    trace = trace_of(tmp_path, talk)
    results = weft.load(talk, overrides={"measure.control_packets": {}}).run(tmp_path / "run")
    sent = results.control_packets(0)
    assert sent["kind"].to_list() == ["activate", "ack", "state", "state"]
    ends: dict[int, dict[str, tuple[int, float]]] = defaultdict(dict)
    for event in trace["traceEvents"]:
        if event["ph"] in "sf":
            ends[event["id"]][event["ph"]] = (event["tid"] - 1, round(event["ts"] * 1000))
    for number, row in enumerate(sent.iter_rows(named=True)):
        assert ends[number] == {
            "s": (row["from_router"], row["sent_cycle"]),
            "f": (row["to_router"], row["arrived_cycle"]),
        }
    came = sent["arrived_cycle"].to_list()
    assert marks(trace) == [
        (1, "activate, to 2", 250),
        (2, "activate, from 1", came[0]),
        (2, "ack, to 1", 500),
        (1, "ack, from 2", came[1]),
        (1, "link 1-2 is active, to 0, 2", 642),
        (0, "link 1-2 is active, from 1", came[2]),
        (2, "link 1-2 is active, from 1", came[3]),
    ]
    assert trace["otherData"]["control_packets_complete"] is True


def test_control_packets_are_chosen_by_kind_router_number_and_time(
    talk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kinds = marks(trace_of(tmp_path, talk, "--kinds", "ack"))
    assert [text for _, text, _ in kinds] == ["ack, to 1", "ack, from 2"]
    trace = trace_of(tmp_path, talk, "--routers", "0")
    assert [text for _, text, _ in marks(trace)] == ["link 1-2 is active, to 0", "link 1-2 is active, from 1"]
    links = [
        e["args"]["name"] for e in trace["traceEvents"] if e["pid"] == tracing.LINKS and e["name"] == "thread_name"
    ]
    assert {name.split(" (")[0] for name in links} == {"link 0 -> 1", "link 1 -> 0", "link 0 -> 2", "link 2 -> 0"}
    capsys.readouterr()
    assert len(marks(trace_of(tmp_path, talk, "--control-packets", "1"))) == 2
    assert "3 control packets omitted" in capsys.readouterr().out
    # a control packet that is in flight at the end of the traced time has no arrow
    cut = trace_of(tmp_path, talk, "--from-cycle", "500", "--to-cycle", "510")
    assert marks(cut) == [(2, "ack, to 1", 500)]
    assert not [event for event in cut["traceEvents"] if event["ph"] in "sf"]
    # nor has a control packet that left its router before the beginning
    late = trace_of(tmp_path, talk, "--from-cycle", "501")
    assert marks(late)[0][:2] == (1, "ack, from 2")
    arrows = [(event["ph"], event["id"]) for event in late["traceEvents"] if event["ph"] in "sf"]
    ends = {phase: sorted(number for each, number in arrows if each == phase) for phase in "sf"}
    assert len(ends["s"]) == 2, "of the two that tell the state"
    assert ends["s"] == ends["f"]
    assert marks(trace_of(tmp_path, talk, "--control-packets", "0")) == []


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (
            ["--kinds", "hello"],
            r"there is no control packet 'hello'\n  = help: the kinds are .*activate, activate_yours",
        ),
        (["--routers", "3"], r"there is no router 3: the network has 3\n  = help: write a number from 0 to 2"),
    ],
)
def test_control_packets_that_can_not_be_are_refused(
    talk: Path, tmp_path: Path, options: list[str], what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["timeline", str(talk), "--out", str(tmp_path / "x.json"), *options]) == 2
    assert re.search(what, capsys.readouterr().err)


def test_a_cut_record_of_control_packets_is_reported(
    talk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace_of(tmp_path, talk, "--set=measure.control_packets.max_packets=2")
    assert "raise measure.control_packets.max_packets" in capsys.readouterr().out


def test_a_policy_that_sends_no_control_packets_is_reported(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sets = [f"--set={path}={value}" for path, value in SLEEPY.items()]
    assert main(["timeline", str(small), *sets, "--out", str(tmp_path / "x.json")]) == 0
    assert "routers send no control packets under idle_timeout\n" in capsys.readouterr().out


@pytest.mark.parametrize("option", ["--packets", "--threads", "--blocks"])
def test_numbers_that_no_run_can_take_are_refused(small: Path, option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["timeline", str(small), option, str(1 << 64)])
    assert left.value.code == 2
    assert "is not a whole number from 1 to 4294967295" in capsys.readouterr().err
