"""Tests ``weft run --watch`` and `Sweep.journeys`, which show the path of single packets through the network."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

import pytest

import weft
from small import ROW_UNDER_TCEP
from weft.cli import main
from weft.errors import ScenarioError
from weft.runs import watch
from weft.text import packet_lives

if TYPE_CHECKING:
    from pathlib import Path

ADAPTIVE = {"routing": "ugal_p", "traffic.load": 0.3, "traffic.pattern": "tornado", "traffic.packet": "4flits"}
PACKETS = ["5:0-9", "17:3"]


def test_packets_are_named_alone_and_in_ranges() -> None:
    assert watch.packets(["3:7", "0:2-4", "3:7"]) == [(3, 7), (0, 2), (0, 3), (0, 4)]


@pytest.mark.parametrize("name", ["3", "3:", ":3", "3:-1", "3:5-4", "a:1", "3:1-2-3", "3:99999999999"])
def test_what_names_no_packet_is_refused(name: str) -> None:
    with pytest.raises(ScenarioError, match=r"is not a packet\n  = help: write TERMINAL:NUMBER"):
        watch.packets([name])


def test_too_many_packets_are_refused() -> None:
    with pytest.raises(ScenarioError, match="more than 10000 packets"):
        watch.packets(["3:0-10000"])
    with pytest.raises(ScenarioError, match="more than 10000 packets"):
        watch.packets(["3:0-9999", "4:0"])
    assert len(watch.packets(["3:0-9999"])) == 10_000
    assert len(watch.packets(["3:0-9999", "3:5-9", "3:0-9999"])) == 10_000, "each packet counts once"


def test_steps_follow_each_other_and_add_up(small: Path) -> None:
    journeys = weft.load(small, overrides=ADAPTIVE).journeys(PACKETS)
    assert [(each["terminal"], each["seq"]) for each in journeys] == [*((5, k) for k in range(10)), (17, 3)]
    for life in (journey["life"] for journey in journeys):
        latency = life["latency"]
        parts = [latency[f"{part}_cycles"] for part in ("source", "routers", "wires", "tail", "ejection")]
        assert sum(parts) == latency["total_cycles"] == life["delivered_cycle"] - life["created_cycle"]
        cycles = [life["created_cycle"], life["first_cycle"], life["injected_cycle"]]
        for visit in life["routers"]:
            leaving = visit["exit"]
            steps = ["vc_cycle", "head_crossed_cycle", "head_left_cycle", "head_arrives_cycle"]
            cycles += [visit["arrived_cycle"], visit["front_cycle"], *(leaving[step] for step in steps)]
        assert cycles == sorted(cycles)


def test_threads_and_blocks_tell_the_same(small: Path) -> None:
    sweep = weft.load(small, overrides=ADAPTIVE)
    assert sweep.journeys(PACKETS) == sweep.journeys(PACKETS, threads=2, blocks=5)


def test_the_words_are_those_of_the_data(small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sets = [f"--set={path}={value}" for path, value in ADAPTIVE.items()]
    out = str(tmp_path / "out")
    assert main(["run", str(small), *sets, "--out", out, "--watch", *PACKETS]) == 0
    text = capsys.readouterr().out
    journeys = weft.load(small, overrides=ADAPTIVE).journeys(PACKETS)
    for journey in journeys:
        assert "\n".join(packet_lives.lines(journey, {})) in text
    adaptive = [choice for journey in journeys for choice in _choices(journey) if len(choice["candidates"]) > 1]
    assert adaptive, "tornado makes UGAL compare"
    for choice in adaptive:
        for each in choice["candidates"]:
            cost = each["queue_flits"] * each["hops"] + each["bias_flits"]
            assert each["cost_flits"] == cost
            numbers = [each["queue_flits"], each["hops"], each["bias_flits"], cost]
            assert re.search(rf"of router {each['queue_router']} +" + " +".join(map(str, numbers)), text)
    (total,) = re.findall(r"latency (\d+) cycles? = ", "\n".join(packet_lives.lines(journeys[-1], {})))
    assert int(total) == journeys[-1]["life"]["latency"]["total_cycles"]
    # for a finished point, `--watch` works without a change of the point's files
    assert main(["run", str(small), *sets, "--out", out, "--watch", "5:0"]) == 0
    assert "packet 5:0 from terminal 5" in capsys.readouterr().out


def _choices(journey: dict[str, Any]) -> list[dict[str, Any]]:
    return [choice for visit in journey["life"]["routers"] for choice in visit["choices"]]


def test_a_head_that_chooses_again_tells_each_change(small: Path) -> None:
    sets = {"routing": "minimal_adaptive", "traffic.load": 0.6, "traffic.pattern": "uniform"}
    journeys = weft.load(small, overrides=sets).journeys(["5:100-120"])
    choices = [choice for journey in journeys for choice in _choices(journey)]
    assert any(each["credits"] is not None for choice in choices for each in choice["candidates"])
    for journey in journeys:
        for visit in journey["life"]["routers"]:
            ways = [(choice["port"], choice["vc_class"]) for choice in visit["choices"]]
            assert all(one != next for one, next in itertools.pairwise(ways))
            assert not visit["exit"] or ways[-1][0] == visit["exit"]["port"]


def test_packets_of_a_stuck_network_are_reported_as_far_as_they_came(ring: Path) -> None:
    sweep = weft.load(ring, overrides={"traffic.load": 1.0})
    lines = packet_lives.lines(sweep.journeys(["0:2"])[0], {})
    assert "not delivered when the run ended" in lines[-1]


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("64:0", "there is no terminal 64: the network has 64 terminals"),
        ("3:100000", r"terminal 3 created \d+ packets in this run\n  = help: name one from 3:0 to 3:\d+"),
        ("nonsense", "'nonsense' is not a packet"),
    ],
)
def test_a_packet_that_is_not_there_is_named(
    small: Path, name: str, what: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["run", str(small), "--out", str(tmp_path / "out"), "--watch", name]) == 2
    assert re.search(what, capsys.readouterr().err)
    assert not (tmp_path / "out").exists(), "nothing runs for a packet that is not there"


def test_packets_that_exist_are_reported_beside_one_that_does_not(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journeys = weft.load(small).journeys(["3:0", "3:100000"])
    assert [journey["life"] is None for journey in journeys] == [False, True]
    assert main(["run", str(small), "--no-picture", "--out", str(tmp_path), "--watch", "3:0", "3:100000"]) == 0
    output = capsys.readouterr().out
    assert re.search(r"packet 3:100000 was not created: terminal 3 created \d+ packets in this run", output)
    assert "packet 3:0 from terminal 3" in output


def test_a_longer_window_is_no_remedy_for_a_stuck_network(ring: Path) -> None:
    with pytest.raises(ScenarioError, match="the network got stuck in cycle") as refused:
        weft.load(ring, overrides={"traffic.load": 1.0}).journeys(["0:100000"])
    assert "measure.window" not in refused.value.text


def test_a_stuck_packet_waits_until_the_run_ends(ring: Path) -> None:
    sweep = weft.load(ring, overrides={"traffic.load": 1.0})
    finished = watch.run(sweep.points[0], watch.packets(["0:0-9"]))
    made = [journey["life"] for journey in finished.journeys if journey["life"]]
    last = [life["routers"][-1] for life in made if life["routers"]]
    stuck = [visit for visit in last if visit["exit"] is None and visit["front_cycle"] is not None]
    assert stuck
    for visit in stuck:
        assert visit["waits"][-1]["to_cycle"] == finished.summary["cycles_total"]


FAULTY = (
    ROW_UNDER_TCEP
    + """\
measure: {warmup: 500cycles, window: 1500cycles}
faults: [{router: 1, at: 1us}]
"""
)


def test_a_discarded_packet_is_reported_as_such(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "faulty.yaml").write_text(FAULTY, encoding="utf-8")
    command = ["run", str(tmp_path / "faulty.yaml"), "--out", str(tmp_path / "out"), "--no-picture"]
    # router 1 has terminals 4 to 7
    assert main([*command, "--watch", "4:0-180"]) == 0
    text = capsys.readouterr().out
    (summary,) = weft.open_results(tmp_path / "out").summaries
    assert summary["dropped_packets"] > 0
    assert summary["missing_packets"] == 0
    lives = [life for life in re.split(r"\n\n(?=packet )", text) if life.startswith("packet ")]
    measured = [life for life in lives if "(measured)" in life and "latency" not in life]
    assert measured
    for life in measured:
        assert "when it was discarded: a link or router had failed" in life
        assert "run ended" not in life
    assert f"{summary['dropped_packets']} packets dropped at 1 point (a link or router had failed)" in text


def test_what_is_not_known_of_a_packet_is_not_said() -> None:
    counted, other = {"measured": True}, {"measured": False}
    lost = {"dropped_packets": 2, "missing_packets": 0}
    assert packet_lives.until(counted, lost) == "when it was discarded: a link or router had failed"
    either = "when the run ended, or the packet was lost because a link or router had failed"
    assert packet_lives.until(other, lost) == packet_lives.until(counted, lost | {"missing_packets": 1}) == either
    assert packet_lives.until(counted, lost | {"dropped_packets": 0}) == "when the run ended"
