"""Compares the traffic that the oracle's links have to carry with sums by hand and with a run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import weft
from weft.analysis import offered, static
from weft.cli import main
from weft.errors import ScenarioError

if TYPE_CHECKING:
    from pathlib import Path

# A line of 4 routers with 2 terminals each.
LINE: dict[str, Any] = {
    "topology": {"hyperx": {"widths": [4], "terminals_per_router": 2}},
    "links": {"default": {"latency": "10cycles", "vcs": 6, "buffer": "32flits"}},
    "routing": "dimension_order",
    "measure": {"warmup": "2000cycles", "window": "8000cycles"},
}
TO_FIRST = {"hot_spot": {"targets": [0], "share": 1}}


def of(traffic: dict[str, Any], **other: Any) -> offered.Offered:
    (point,) = weft.load(LINE | {"traffic": traffic} | other).points
    return offered.of(point)


def test_replies_return_on_the_reverse_pair_with_their_own_size() -> None:
    """A packet has (1 + 3 * 3) / 4 = 2.5 flits on average, and its reply has 5, so replies are twice the requests."""
    mixed = {"mix": [{"size": "1flit", "weight": 1}, {"size": "3flits", "weight": 3}]}
    traffic = {"pattern": TO_FIRST, "load": 0.1, "packet": mixed}
    requests, both = of(traffic), of(traffic | {"reply": {"packet": "5flits"}})
    assert requests.routers[1:, 0] == pytest.approx([0.2] * 3)
    assert both.routers == pytest.approx(requests.routers + 2 * requests.routers.T)
    # terminal 0 also sends to itself; its replies are twice the requests that it receives, and it sends requests
    assert requests.terminals == pytest.approx(0.8)
    assert both.terminals == pytest.approx(2 * 0.8 + 0.1)


def test_only_the_jobs_with_replies_are_answered() -> None:
    """The first job inherits its load and its packets, and the second job is a batch, which sends 1 flit/cycle."""
    asking: dict[str, Any] = {"name": "asking", "terminals": {"list": [0, 2]}, "pattern": "uniform"}
    asking["workload"] = {"request_reply": {"packet": "4flits"}}
    silent = {"name": "silent", "terminals": {"list": [4, 6]}, "pattern": "uniform", "batch": {"per_terminal": 10}}
    found = of({"load": 0.1, "packet": "2flits", "jobs": [asking, silent | {"load": 0.5}]})
    expected = np.zeros((4, 4))
    expected[0, 1] = expected[1, 0] = 0.1 + 2 * 0.1
    expected[2, 3] = expected[3, 2] = 0.5
    assert found.routers == pytest.approx(expected)
    assert found.terminals == pytest.approx(0.5)


def test_a_run_with_replies_loads_channels_as_the_oracle_says(tmp_path: Path) -> None:
    traffic = {"pattern": "uniform", "load": 0.1, "packet": "1flit", "reply": {"packet": "2flits"}}
    scenario = weft.load(LINE | {"traffic": traffic})
    (answer,) = static.answers(scenario.points, 0.5)
    assert answer.found.carried
    channels = weft.load(static.write([answer], tmp_path / "oracle.yaml")).run(tmp_path / "run").channels(0)
    between = channels.drop_nulls(["from_router", "to_router"])
    assert max(between["flits"]) / 8000 == pytest.approx(answer.found.busiest, rel=0.05)
    to_terminals = channels.filter(channels["to_router"].is_null())
    assert max(to_terminals["flits"]) / 8000 == pytest.approx(answer.row["busiest_terminal"], rel=0.1)


def test_the_phase_of_most_load_counts() -> None:
    traffic = {"pattern": "uniform", "load": 0.05}
    phased = traffic | {"phases": [{"from": "3us", "load": 0.7}, {"from": "4us", "load": 0.2}]}
    assert of(phased).routers == pytest.approx(of(traffic | {"load": 0.7}).routers)
    assert of(phased).terminals == pytest.approx(0.7)
    jobs: list[dict[str, Any]] = [
        {"name": name, "terminals": {"range": ends}} for name, ends in (("a", [0, 3]), ("b", [4, 7]))
    ]
    # both jobs inherit the phases, and the second job has a phase of its own
    jobs[1]["phases"] = [{"from": "1us", "load": 0.1}]
    found = of(phased | {"jobs": jobs})
    assert found.routers.sum(axis=1) == pytest.approx([1.4, 1.4, 0.2, 0.2])


def test_several_jobs_load_the_channel_of_one_terminal() -> None:
    """Terminal 0 receives packets of two message classes: 8 * 0.1 flits/cycle of one, and 0.2 of the other."""
    incast: dict[str, Any] = {"name": "incast", "terminals": {"range": [0, 7]}, "pattern": TO_FIRST, "load": 0.1}
    classes: dict[str, Any] = {"classes": {"own": {}, "other": {}}}
    other: dict[str, Any] = {
        "name": "other",
        "terminals": {"range": [0, 7]},
        "pattern": "uniform",
        "load": 0.2,
        "class": "other",
    }
    found = of({"jobs": [incast | {"class": "own"}, other]}, **classes)
    assert found.terminals == pytest.approx(8 * 0.1 + 0.2)


@pytest.mark.parametrize("bandwidth", ["1/2flits/cycle", "1flit/cycle"])
def test_terminals_of_another_bandwidth(bandwidth: str) -> None:
    links = {"links": LINE["links"] | {"terminal": {"bandwidth": bandwidth}}}
    found = of({"pattern": "uniform", "load": 0.2}, **links)
    assert found.terminals == pytest.approx(0.4 if bandwidth.startswith("1/2") else 0.2)
    # a batch sends as much as the channel of a terminal carries
    assert of({"pattern": "uniform", "batch": {"per_terminal": 9}}, **links).terminals == pytest.approx(1)


PATTERNS = {"pattern": "uniform", "load": 0.1, "phases": [{"from": "3us", "pattern": "tornado"}]}
LOADS = {"pattern": "uniform", "load": 0.1, "loads": [{"terminals": [0, 3], "load": 0.6}]}
JOBS: list[dict[str, Any]] = [
    {"name": "a", "terminals": {"range": [0, 3]}, "reply": {"packet": "3flits"}},
    {"name": "b", "terminals": "rest", "phases": [{"from": "1us", "pattern": TO_FIRST}]},
]
FAULT = {"link": [0, 1], "at": "0cycles"}


@pytest.mark.parametrize(
    ("keys", "what", "remedy"),
    [
        ({"traffic": PATTERNS}, "different patterns", "traffic.phases=null"),
        ({"traffic": LOADS | {"phases": [{"from": "3us", "load": 0.3}]}}, "different loads", "traffic.phases=null"),
        ({"traffic": LOADS | {"loads": [], "jobs": JOBS}}, "different patterns", "traffic.jobs.1.phases=null"),
        ({"traffic": LOADS | {"jobs": [JOBS[0], JOBS[1] | {"phases": []}]}}, "which job", "traffic.loads=null"),
        ({"faults": [FAULT]}, "without faults", "faults=null"),
        ({"fault_model": {"links": {"share": "20%"}}}, "without faults", "fault_model=null"),
        (
            {"topology": {"hyperx": {"widths": [4, 4], "terminals_per_router": 1}}, "power": {"manages": ["dim1"]}},
            "manages dim0",
            "power.manages",
        ),
    ],
)
def test_what_the_oracle_does_not_know_is_refused_with_a_remedy_that_works(
    keys: dict[str, Any], what: str, remedy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "line.yaml"
    file.write_text(json.dumps(LINE | {"traffic": {"pattern": "uniform", "load": 0.1}} | keys), encoding="utf-8")
    assert main(["analyse", "oracle", str(file)]) == 2
    errors = capsys.readouterr().err
    assert what in errors
    assert f"--set {remedy}" in errors
    setting = remedy if "=" in remedy else 'power.manages=["dim0", "dim1"]'
    out = tmp_path / "oracle.yaml"
    assert main(["analyse", "oracle", str(file), "--set", setting, "--out", str(out)]) == 0
    weft.load(out).check()


def test_the_command_says_which_channels_are_above_the_target(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "line.yaml"
    phases = [{"from": "1us", "load": 0.5}]
    file.write_text(json.dumps(LINE | {"traffic": {"pattern": TO_FIRST, "load": 0.1, "phases": phases}}), "utf-8")
    assert main(["analyse", "oracle", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "phases: each job counts at its phase of most load" in shown
    (row,) = (line.split() for line in shown.splitlines() if line.rstrip().endswith("no"))
    assert float(row[3]) == pytest.approx(8 * 0.5)


def test_what_is_written_can_run_and_has_the_points_of_the_sweep(tmp_path: Path) -> None:
    text = LINE | {
        "traffic": {"pattern": "uniform", "load": 0.1},
        "sweep": {"links.default.buffer": ["32flits", "64flits"]},
    }
    out = tmp_path / "oracle.yaml"
    with pytest.raises(ScenarioError, match=r"repeats values of a swept key \(links.default.buffer\)"):
        static.write(static.answers(weft.load(text).points), out)
    narrow = {"sweep": None, "links.default.buffer": "64flits", "links.default.vcs": 1}
    with pytest.raises(ScenarioError, match="pal needs 2 VC classes"):
        static.write(static.answers(weft.load(text, overrides=narrow).points), out)
    assert not out.exists()
    static.write(static.answers(weft.load(text, overrides=narrow | {"links.default.vcs": 2}).points), out)
