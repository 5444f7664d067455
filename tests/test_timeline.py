"""Traces of runs: valid in the Trace Event Format, and saying what the run did."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pytest

import weft
from weft import timeline
from weft.cli import main

if TYPE_CHECKING:
    from pathlib import Path

    from weft.results import Results

SLEEPY = {
    "traffic.load": 0.05,
    "traffic.pattern": "uniform",
    "routing": "dimension_order",
    "power.policy": "{idle_timeout: {idle: 20cycles, transition: 10cycles}}",
    "measure.link_states": "{}",
}
# What the format asks of an event of each phase that is used here, and its types.
REQUIRED: dict[str, dict[str, Any]] = {
    "X": {"name": str, "cat": str, "ts": (int, float), "dur": (int, float), "pid": int, "tid": int, "args": dict},
    "M": {"name": str, "pid": int, "tid": int, "args": dict},
}
METADATA = {
    "process_name": ("name", str),
    "thread_name": ("name", str),
    "process_sort_index": ("sort_index", int),
    "thread_sort_index": ("sort_index", int),
}


def validate(trace: dict[str, Any]) -> dict[tuple[int, int], list[dict[str, Any]]]:
    """Check a trace against the format; the slices of each track, in order of time."""
    assert trace["displayTimeUnit"] in {"ms", "ns"}
    assert all(isinstance(value, str) for value in trace["otherData"].values())
    tracks: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
    named = set()
    for event in trace["traceEvents"]:
        for key, kind in REQUIRED[event["ph"]].items():
            assert isinstance(event[key], kind), (key, event)
        if event["ph"] == "M":
            key, kind = METADATA[event["name"]]
            assert isinstance(event["args"][key], kind)
            named.add((event["name"], event["pid"], event["tid"]))
        else:
            assert event["ts"] >= 0
            assert event["dur"] >= 0
            tracks[event["pid"], event["tid"]].append(event)
    for (pid, tid), slices in tracks.items():
        assert {("process_name", pid, 0), ("thread_name", pid, tid)} <= named
        _check_nesting(slices)
    return tracks


def _check_nesting(slices: list[dict[str, Any]]) -> None:
    """Slices of a track stand in order, one in another or apart: never in part."""
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


@pytest.fixture
def traced(small: Path, tmp_path: Path) -> dict[str, Any]:
    """The trace that the command writes."""
    sets = [f"--set={path}={value}" for path, value in SLEEPY.items() if path != "measure.link_states"]
    out = tmp_path / "trace.json"
    assert main(["timeline", str(small), *sets, "--packets", "20", "--out", str(out)]) == 0
    trace: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return trace


def test_a_trace_is_valid_and_its_tracks_have_names(traced: dict[str, Any]) -> None:
    tracks = validate(traced)
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in traced["traceEvents"] if e["name"] == "thread_name"}
    packets = [name for (pid, _), name in names.items() if pid == timeline.PACKETS]
    links = [name for (pid, _), name in names.items() if pid == timeline.LINKS]
    # 16 routers with 6 links each, a channel each way
    assert (len(packets), len(links), len(set(links))) == (20, 96, 96)
    assert "link 0 -> 1 (port 4)" in links
    assert set(tracks) == set(names)


def test_slices_are_the_steps_and_the_states_of_the_run(small: Path, tmp_path: Path, traced: dict[str, Any]) -> None:
    sweep = weft.load(small, set=SLEEPY)
    results: Results = sweep.run(tmp_path / "run")
    tracks = validate(traced)
    spans = results.link_states(0)
    told = [
        (event["args"]["channel"], event["name"], event["args"]["from_cycle"], event["args"]["to_cycle"])
        for (pid, _), slices in tracks.items()
        if pid == timeline.LINKS
        for event in slices
    ]
    assert sorted(told) == sorted(spans.iter_rows())
    # a packet's outermost slices abut from creation to delivery, in microseconds of cycles of 1 ns
    outer = {"queue", "link", "router", "tail"}
    for (pid, _), slices in tracks.items():
        if pid == timeline.PACKETS:
            steps = [event for event in slices if event["cat"] in outer]
            ends = [(event["ts"], event["ts"] + event["dur"]) for event in steps]
            assert all(one[1] == pytest.approx(next[0]) for one, next in itertools.pairwise(ends))
            assert steps[0]["ts"] == steps[0]["args"]["from_cycle"] / 1000


def test_named_packets_in_a_part_of_the_run(small: Path) -> None:
    point = weft.load(small, set=SLEEPY).points[0]
    trace = timeline.trace(point, ["3:0-2"], from_cycle=100, to_cycle=200)
    tracks = validate(trace)
    slices = [event for track in tracks.values() for event in track]
    assert slices
    assert all(100 <= event["args"]["from_cycle"] < event["args"]["to_cycle"] <= 200 for event in slices)
    threads = [e for e in trace["traceEvents"] if e["name"] == "thread_name" and e["pid"] == timeline.PACKETS]
    assert [e["args"]["name"].split()[0] for e in threads] == ["3:0", "3:1", "3:2"]


def test_a_cut_record_of_links_is_told(small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sets = [f"--set={path}={value}" for path, value in SLEEPY.items() if path != "measure.link_states"]
    out = str(tmp_path / "trace.json")
    assert main(["timeline", str(small), *sets, "--set=measure.link_states.max_spans=100", "--out", out]) == 0
    assert "raise measure.link_states.max_spans" in capsys.readouterr().out


def test_an_empty_part_is_refused(small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["timeline", str(small), "--out", str(tmp_path / "x"), "--from-cycle", "5", "--to-cycle", "5"]
    assert main(arguments) == 2
    assert "no cycle is from 5 to before 5" in capsys.readouterr().err
