"""Tests that a bill marks loads that are not delivered because terminals wait for replies (`outstanding`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import weft
from weft.cli import main
from weft.results import closed_loop
from weft.results.bill_lines import headline, lines
from weft.results.result_set import ResultSet

if TYPE_CHECKING:
    from pathlib import Path

    from weft.api.results import Results

# A terminal waits for 2 replies. A request and its reply take at least 2 * 20 cycles on the links, so the terminal
# sends less than 2 * 4 flits in 40 cycles, far below load 0.6.
WAITING: dict[str, Any] = {
    "name": "waiting",
    "topology": {"hyperx": {"widths": [4], "terminals_per_router": 4}},
    "links": {"default": {"latency": "20cycles", "vcs": 6, "buffer": "64flits"}},
    "routing": "dimension_order",
    "traffic": {"pattern": "uniform", "packet": "4flits", "reply": {"packet": "8flits", "outstanding": 2}},
    "measure": {"warmup": "2000cycles", "window": "8000cycles"},
    "bill": {
        "price_per_kwh": "0.2EUR",
        "profile": [{"name": "night", "share": 0.5, "load": 0.01}, {"name": "day", "share": 0.5, "load": 0.6}],
    },
    "sweep": {
        "power.policy": ["always_on", {"idle_timeout": {"idle": "200cycles", "transition": "20cycles", "to": "half"}}],
        "traffic.load": [0.01, 0.6],
    },
}


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return weft.load(WAITING).run(tmp_path_factory.mktemp("waiting"), watch=False)


def test_a_part_whose_load_is_not_delivered_is_marked_for_every_policy(waiting: Results) -> None:
    bill = waiting.bill()
    shown = lines(bill)
    begin = next(k for k, line in enumerate(shown) if line.startswith("site power over the day"))
    for line in shown[begin + 2 : begin + 4]:
        assert line.split()[-3] == "W", line
        assert line.split()[-1] == "W!", line
    for row in bill.rows:
        night, day = (reading.short if reading else None for reading in row.measured)
        assert night is None
        assert day is not None
        # each flit of a request causes two flits of its reply
        assert day.meant == pytest.approx(0.6 * 3)
        assert day.delivered < 0.5 * 1.8
    for note in bill.frame["note"]:
        assert "at day it delivers" in note
        assert "terminals wait for replies" in note
    assert any(line.startswith("!: the load of the profile is not delivered") for line in shown)


def test_savings_at_loads_that_are_not_delivered_are_in_no_headline(
    waiting: Results, capsys: pytest.CaptureFixture[str]
) -> None:
    assert headline(waiting.bill()) == []
    assert main(["analyse", "bill", str(waiting.root)]) == 0
    assert "a year costs" not in capsys.readouterr().out
    low = WAITING["bill"] | {"profile": [{"share": 1, "load": 0.01}]}
    delivered = waiting.bill(low)
    assert "a year costs" in " ".join(headline(delivered)), "a load of 0.01 is delivered"
    assert delivered.frame["note"].null_count() == 2


def test_without_a_limit_of_outstanding_requests_nothing_is_marked(tmp_path: Path) -> None:
    free = WAITING | {"traffic": WAITING["traffic"] | {"reply": {"packet": "8flits"}}}
    profile = WAITING["bill"] | {"profile": [{"share": 1, "load": 0.1}]}
    results = weft.load(free, overrides={"sweep.traffic.load": [0.1], "bill": profile}).run(tmp_path, watch=False)
    assert not any("!" in line for line in lines(results.bill()))
    # a remedy: with enough outstanding requests, the same load is delivered
    enough = {"sweep.traffic.load": [0.1], "bill": profile, "traffic.reply.outstanding": 64}
    results = weft.load(WAITING, overrides=enough).run(tmp_path / "enough", watch=False)
    assert not any("!" in line for line in lines(results.bill()))


def test_the_job_that_waits_is_judged_by_its_own_load() -> None:
    traffic = {
        "load": 0.2,
        "packet": {"mix": [{"size": "2flits", "weight": 1}, {"size": "6flits", "weight": 1}]},
        "jobs": [{"name": "a"}, {"name": "b", "load": 0.4, "reply": {"packet": "4flits", "outstanding": 1}}],
    }
    (job,) = closed_loop.waiting(traffic)
    assert job == closed_loop.Waiting(1, 0.4, 2.0)
    jobs = [{"job": "a", "accepted_load": 0.2, "packets": 9000}, {"job": "b", "accepted_load": 0.3, "packets": 9000}]
    assert closed_loop.short([closed_loop.deliveries({"jobs": jobs}, [job])]) == closed_loop.Short("b", 0.3, 0.8)
    jobs[1]["accepted_load"] = 0.8
    assert closed_loop.short([closed_loop.deliveries({"jobs": jobs}, [job])]) is None
    # stored warnings can have no code
    warned = {"jobs": jobs, "warnings": [{"path": "traffic.pattern", "what": "old"}]}
    assert closed_loop.unknown([closed_loop.deliveries(warned, [job])]) == ""
    # if ranges of terminals in jobs have different loads, the mean is not known
    (job,) = closed_loop.waiting(traffic | {"loads": [{"terminals": [0, 1], "load": 0.9}]}, 16)
    found = [closed_loop.deliveries({"jobs": jobs}, [job])]
    assert closed_loop.short(found) is None
    assert "traffic.loads" in closed_loop.unknown(found)


def test_the_delivered_load_is_a_mean_over_seeds() -> None:
    job = closed_loop.Waiting(0, 0.1, 2.0)
    runs = [{"accepted_load": accepted, "packets": 100_000} for accepted in (0.19, 0.21)]
    seeds = [closed_loop.deliveries(run, [job]) for run in runs]
    assert closed_loop.short(seeds[:1]) == closed_loop.Short("", 0.19, 0.2)
    assert closed_loop.short(seeds) is None
    worse = [*seeds, closed_loop.deliveries({"accepted_load": 0.14, "packets": 100_000}, [job])]
    found = closed_loop.short(worse)
    assert found is not None
    assert found.delivered == pytest.approx(0.18)


PHASES = [{"name": "night", "share": 0.5, "phase": 1}, {"name": "day", "share": 0.5, "phase": 2}]
RISING = {"phases": [{"from": "6000cycles", "load": 0.02}]}
JOBS = [{"name": "a", "terminals": {"range": [0, 7]}}, {"name": "b", "terminals": "rest", "load": 0.02}]


@pytest.mark.parametrize(
    ("traffic", "profile"),
    [
        ({"loads": [{"terminals": [0, 3], "load": 0.02}, {"terminals": [2, 4], "load": 0.03}]}, None),
        ({"pattern": {"within": {"terminals": 8, "pattern": "uniform"}}}, None),
        ({"jobs": JOBS, **RISING}, PHASES),
        ({"loads": [{"terminals": [0, 3], "load": 0.02}], **RISING}, PHASES),
        ({"pattern": {"hot_spot": {"targets": [0], "share": 0.1, "source_load": 0.5}}, **RISING}, PHASES),
    ],
    ids=["ranges", "silent", "jobs in phases", "ranges in phases", "pattern in phases"],
)
def test_a_mean_load_that_is_delivered_is_not_marked(
    tmp_path: Path, traffic: dict[str, Any], profile: list[dict[str, Any]] | None
) -> None:
    reply = {"reply": {"packet": "8flits", "outstanding": 16}}
    keys = WAITING | {"traffic": WAITING["traffic"] | reply | {"load": 0.01} | traffic}
    keys["bill"] = WAITING["bill"] | {"profile": profile or [{"share": 1, "load": 0.01}]}
    sweep = {"power.policy": WAITING["sweep"]["power.policy"]}
    bill = weft.load(keys | {"sweep": sweep}).run(tmp_path, watch=False).bill()
    shown = " ".join(lines(bill))
    assert "!" not in shown
    assert "may not be delivered" not in shown
    assert headline(bill)


def test_a_load_that_is_unknown_has_a_note_and_keeps_its_headline(tmp_path: Path) -> None:
    pattern = {"hot_spot": {"targets": [0], "share": 0.1, "source_load": 0.5}}
    keys = WAITING | {"traffic": WAITING["traffic"] | {"pattern": pattern}}
    keys["bill"] = WAITING["bill"] | {"profile": [{"share": 1, "load": 0.01}]}
    bill = weft.load(keys).run(tmp_path, watch=False).bill()
    shown = lines(bill)
    assert not any("!" in line for line in shown)
    assert headline(bill)
    (note,) = [line for line in shown if "may not be delivered" in line]
    assert "its mean load is unknown because its pattern can give terminals different loads" in note
    assert bill.frame["note"].null_count() == 2


def test_scenarios_are_read_only_if_the_sweep_changes_what_waits(
    waiting: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    stored = ResultSet.scenario

    def counted(results: ResultSet, point: int) -> dict[str, Any]:
        read.append(point)
        return stored(results, point)

    monkeypatch.setattr(ResultSet, "scenario", counted)
    found = closed_loop.of_points(waiting)
    assert read == [0]
    assert sorted(each[0].load or 0 for each in found) == [0.01, 0.01, 0.6, 0.6]
    keys = WAITING | {"bill": WAITING["bill"] | {"profile": [{"share": 1, "load": 0.01}]}}
    keys["sweep"] = {"traffic.load": [0.01], "traffic.reply.outstanding": [2, 3, 4]}
    several = weft.load(keys).run(tmp_path / "several", watch=False)
    read.clear()
    assert all(closed_loop.of_points(several))
    assert set(read) == {0, 1, 2}
    keys["sweep"] = {"traffic.pattern": ["uniform", "tornado"], "traffic.load": [0.01]}
    keys["traffic"] = {"packet": "4flits"}
    free = weft.load(keys).run(tmp_path / "free", watch=False)
    read.clear()
    assert closed_loop.of_points(free) == [[], []]
    assert read == [0]
