"""Tests that bounds and loads of a scenario can be compared before a run, also if terminals have different loads."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import weft
from weft.cli import main
from weft.runs import overload
from weft.runs.saturation_search import Asked, SaturationSearch

if TYPE_CHECKING:
    from pathlib import Path

# Terminal 0 receives the packets of 8 terminals; the incast job has 8 of 64 terminals.
INCAST: dict[str, Any] = {
    "name": "incast",
    "terminals": {"list": [0, 5, 10, 15, 20, 25, 30, 35]},
    "pattern": {"hot_spot": {"targets": [0], "share": 1}},
    "packet": "4flits",
}
REST: dict[str, Any] = {"name": "rest", "terminals": "rest", "pattern": "uniform", "packet": "4flits"}
# Under tornado, the 4 terminals of a router share a channel: it is full at load 1/4.
TORNADO: dict[str, Any] = {"pattern": "tornado", "packet": "4flits"}
WARNED = "the network can't carry this load"


def scenario(traffic: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A HyperX of 4x4 routers and 64 terminals."""
    network = {"topology": {"hyperx": {"widths": [4, 4], "terminals_per_router": 4}}, "routing": "dimension_order"}
    windows = {"measure": {"warmup": "1000cycles", "window": "2000cycles"}}
    return {"name": "loads", **network, "traffic": traffic, **windows, **more}


def checked(file: Path, keys: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> tuple[dict[str, str], str]:
    """The rows of the facts that `weft check` prints, by heading, and the whole output."""
    file.write_text(json.dumps(keys), encoding="utf-8")  # JSON is also YAML
    assert main(["check", str(file)]) == 0
    output = capsys.readouterr().out
    rows = (line.strip().split("  ", 1) for line in output.partition("facts\n")[2].splitlines() if "  " in line.strip())
    return {head: value.strip() for head, value in rows}, output


BOUND = "channel-load bound [flits/terminal/cycle]"
ACCEPTED = "load that the destinations can accept [flits/terminal/cycle]"


def test_bounds_of_jobs_with_own_loads_are_in_the_unit_of_the_load_of_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    traffic = {"jobs": [INCAST | {"load": 0.4}, REST | {"load": 0.01}]}
    keys = scenario(traffic)
    rows, output = checked(tmp_path / "jobs.yaml", keys, capsys)
    # results have the mean load; the channel to terminal 0 is full if each of 8 terminals sends 1/8
    load = (8 * 0.4 + 56 * 0.01) / 64
    bound = load / (0.4 / 0.125)
    assert rows[BOUND].startswith(f"{bound:.4g}, if all loads change in proportion: load {load:.4g} is 3.2 times")
    accepted = (1 + 56 * 0.01) / 64
    assert rows[ACCEPTED] == f"{accepted:.4g} of {load:.4g} that the terminals send, mean over terminals"
    assert WARNED in output
    assert "3.2 times the load at which the fullest channel is full" in output
    (row,) = weft.load(keys).run(tmp_path / "out", watch=False).summaries
    assert row["saturated"]
    assert row["load"] == pytest.approx(load)
    assert row["path_bound_load"] == pytest.approx(bound)


def test_a_bound_of_ranges_with_own_loads_is_the_bound_of_traffic_load(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loads = {"load": 0.01, "loads": [{"terminals": [0, 7], "load": 0.4}]}
    rows, output = checked(tmp_path / "loads.yaml", scenario(TORNADO | loads), capsys)
    assert rows[BOUND].startswith(f"{0.01 * 0.25 / 0.4:.4g}, if all loads change in proportion: load 0.01 is 1.6 times")
    assert WARNED in output


def test_if_the_scenario_has_traffic_load_the_bound_is_in_its_unit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    traffic = {"load": 0.1, "jobs": [INCAST, REST | {"load": 0.6}]}
    rows, output = checked(tmp_path / "job.yaml", scenario(traffic), capsys)
    assert rows[BOUND].startswith("0.125, if all loads change in proportion: load 0.1 is 0.8 times")
    assert WARNED not in output
    # the destinations accept all packets except those to terminal 0, which gets 8 * 0.4; the mean load is not known
    rows, output = checked(
        tmp_path / "job.yaml", scenario({"load": 0.1, "jobs": [INCAST | {"load": 0.4}, REST]}), capsys
    )
    assert rows[ACCEPTED] == f"{(1 + 56 * 0.1) / 64:.4g}, less than the terminals send, mean over terminals"
    assert WARNED in output
    rows, _ = checked(tmp_path / "job.yaml", scenario({"load": 0.0, "jobs": [INCAST | {"load": 0.4}, REST]}), capsys)
    assert rows[BOUND] == "0.125, for the terminals that send most"


def test_equal_loads_have_the_bound_alone_and_a_sweep_beyond_saturation_no_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "equal.yaml"
    rows, output = checked(file, scenario(TORNADO | {"load": 0.2}), capsys)
    assert (rows[BOUND], WARNED in output) == ("0.25", False)
    rows, output = checked(file, scenario(TORNADO | {"load": 0.3}), capsys)
    assert (rows[BOUND], WARNED in output) == ("0.25", True)
    rows, output = checked(file, scenario(TORNADO, sweep={"traffic.load": [0.3, 0.2]}), capsys)
    assert (rows[BOUND], WARNED in output) == ("0.25", False)
    rows, output = checked(file, scenario(TORNADO, sweep={"traffic.load": [0.3, 0.4]}), capsys)
    assert f"{WARNED}: at the start of the run the terminals send 1.2 times" in output
    assert "(at 2 of 2 points)" in output


def test_the_warning_has_a_code_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, output = checked(tmp_path / "above.yaml", scenario(TORNADO | {"load": 0.3}), capsys)
    assert output.count("weft explain code load_above_bound") == 1
    assert main(["explain", "code", "load_above_bound"]) == 0
    assert "at the start of the run" in capsys.readouterr().out


def test_a_sweep_of_the_load_beside_fixed_loads_has_facts_for_each_load() -> None:
    traffic = {"jobs": [INCAST | {"load": 0.05}, REST]}
    found = weft.load(scenario(traffic, sweep={"traffic.load": [0.1, 0.2]})).check()
    assert [(each.facts["load"], len(each.points)) for each in found] == [(0.1, 1), (0.2, 1)]
    equal = weft.load(scenario(TORNADO, sweep={"traffic.load": [0.1, 0.2]})).check()
    assert [len(each.points) for each in equal] == [2]
    phases = {"phases": [{"from": "1500cycles", "load": 0.05}]}
    equal = weft.load(scenario(TORNADO | phases, sweep={"traffic.load": [0.1, 0.2]})).check()
    assert [len(each.points) for each in equal] == [2]


def test_terminals_that_wait_for_replies_are_not_overloaded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    waiting = TORNADO | {"load": 0.5, "reply": {"packet": "4flits", "outstanding": 2}}
    _, output = checked(tmp_path / "wait.yaml", scenario(waiting), capsys)
    assert WARNED not in output, "they send only what the network carries"


def test_a_search_refuses_fixed_loads_that_saturate_the_network_by_themselves(tmp_path: Path) -> None:
    # 8 terminals send 0.4 to one terminal, whatever the other terminals send
    fixed = scenario({"load": 0.1, "jobs": [INCAST | {"load": 0.4}, REST]}, sweep={"traffic.load": [0.1]})
    for lower in (None, 0.001):
        with pytest.raises(weft.ScenarioError, match=r"traffic\.jobs\.0\.load = 0\.4.*3\.2 times") as caught:
            weft.load(fixed).saturation(tmp_path / "jobs", lower=lower)
        assert caught.value.path == "traffic.jobs.0.load"
    loads = {"load": 0.01, "loads": [{"terminals": [0, 7], "load": 0.4}]}
    with pytest.raises(weft.ScenarioError, match=r"1\.6 times") as caught:
        weft.load(scenario(TORNADO | loads)).saturation(tmp_path / "loads")
    assert caught.value.path == "traffic.loads.0"
    # the remedies: loads that vary, or lower ones
    for out, job in {"varied": INCAST, "lower": INCAST | {"load": 0.05}}.items():
        network = weft.load(scenario({"load": 0.1, "jobs": [job, REST]}))
        (row,) = network.saturation(tmp_path / out, tolerance=0.1, upper=0.2, lower=0.02).iter_rows(named=True)
        assert row["verdict"] != "below_range"


def test_a_search_names_fixed_loads_that_may_saturate_an_adaptive_routing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # the bound of an adaptive routing is no limit, so only a run shows that these terminals saturate the network
    loads = {"load": 0.01, "loads": [{"terminals": [0, 7], "load": 0.95}]}
    file = tmp_path / "adaptive.yaml"
    file.write_text(json.dumps(scenario(TORNADO | loads) | {"routing": "ugal"}), encoding="utf-8")
    search = ["saturation", str(file), "--tolerance", "0.1", "--no-picture", "--out", str(tmp_path / "out")]
    assert main(search) == 0
    output = capsys.readouterr().out
    assert "below 0.1" in output
    assert "the search does not change traffic.loads.0 = 0.95; if these loads saturate" in output
    idle = ["run", str(file), "--set", "sweep.traffic.load=[0]", "--no-picture", "--out", str(tmp_path / "idle")]
    assert main(idle) == 0
    assert " sat " in capsys.readouterr().out


# The two curves of this search differ in the load of a job. It saturates the network only in the second curve.
TWO_CURVES: dict[str, Any] = {
    "traffic": {"load": 0.1, "jobs": [INCAST | {"load": 0.1}, REST]},
    "sweep": {"traffic.jobs.0.load": [0.05, 0.4]},
}


def test_a_search_with_a_curve_that_fixed_loads_saturate_finds_the_other_curves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "curves.yaml"
    file.write_text(json.dumps(scenario(**TWO_CURVES)), encoding="utf-8")
    search = ["saturation", str(file), "--tolerance", "0.1", "--from", "0.02", "--to", "0.22", "--no-picture"]
    assert main([*search, "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr()
    (note,) = [line for line in printed.err.splitlines() if "no load of the search" in line]
    assert note.startswith("warning: at traffic.jobs.0.load = 0.4, loads that the search does not change")
    assert "3.2 times the load" in note
    (row,) = [line for line in printed.out.splitlines() if "below 0.02" in line]
    assert row.split()[0] == "0.4"
    assert "the search does not change traffic.jobs.0.load = 0.4; if these loads" in printed.out
    # if all curves are affected, the message names a point
    for loads, text in ([0.3, 0.4], r"at traffic\.jobs\.0\.load = 0\.3, "), ([0.4], r"jobs\.0\.load = 0\.4"):
        saturated = weft.load(scenario(**TWO_CURVES) | {"sweep": {"traffic.jobs.0.load": loads}})
        with pytest.raises(weft.ScenarioError, match=text):
            saturated.saturation(tmp_path / "all")


def test_the_note_on_fixed_loads_has_the_distinct_loads_of_curves_below_the_range(tmp_path: Path) -> None:
    traffic = {"load": 0.1, "jobs": [INCAST | {"load": 0.1}, REST]}
    sweep = {"traffic.jobs.0.load": [0.05, 0.3, 0.4], "measure.window": ["2000cycles", "3000cycles"]}
    sweep_of = weft.load(scenario(traffic, sweep=sweep))
    with pytest.warns(weft.WeftWarning) as caught:
        search = SaturationSearch(sweep_of.scenario, sweep_of.sets, tmp_path, Asked(0.1, 0.02, 0.22))
    assert ["load = 0.3, " in str(each.message) for each in caught] == [True, True, False, False]
    verdicts = ["above_range"] * 2 + ["below_range"] * 4
    found = search.fixed_loads(pl.DataFrame({"verdict": verdicts, "dropped_share": [None] * 6}))
    assert found == {"traffic.jobs.0.load": [0.3, 0.4]}
    assert overload.listed(found) == "traffic.jobs.0.load = 0.3 or 0.4"


def test_fixed_loads_include_those_of_phases() -> None:
    phases = [{"from": "1500cycles", "load": 0.7}]
    (point,) = weft.load(scenario({"load": 0.1, "jobs": [INCAST | {"phases": phases}, REST]})).points
    assert overload.own_loads(point.resolved) == {"traffic.jobs.0.phases.0.load": 0.7}
    own = [{"from": "1500cycles", "pattern": "uniform"}]
    jobs = [INCAST, REST | {"phases": own}]
    (point,) = weft.load(scenario({"load": 0.1, "phases": phases, "jobs": jobs})).points
    assert overload.own_loads(point.resolved) == {"traffic.phases.0.load": 0.7}
    jobs = [INCAST | {"phases": own}, REST | {"phases": own}]
    (point,) = weft.load(scenario({"load": 0.1, "phases": phases, "jobs": jobs})).points
    assert overload.own_loads(point.resolved) == {}, "no job has the phases of `traffic`"
