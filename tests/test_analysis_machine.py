"""Compares the energy of a machine (network and nodes) with closed forms of a paper, and with the energy of runs.

The paper is that of Andujar et al. on torus networks (JPDC 2019).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
import pytest

import weft
from weft.analysis.machine_energy import Machine
from weft.analysis.machine_power import Fabric, Shares, Task
from weft.analysis.machine_watts import Hardware
from weft.cli import main
from weft.errors import WeftError

if TYPE_CHECKING:
    from pathlib import Path

    from weft import Results

SHARES = Shares()
# Table 2 of the paper, by network: ports of a switch, switches, terminals of a switch, links of a trunk, neighbours of
# a switch.
TABLE_2 = {
    "2D-4X": (20, 16, 4, 4, 4),
    "1D-16X": (48, 4, 16, 16, 2),
    "3D-4X": (28, 64, 4, 4, 6),
}
REFERENCES = {"2D-4X": Fabric(64, 448), "1D-16X": Fabric(64, 448), "3D-4X": Fabric(256, 2304)}


@pytest.mark.parametrize(("name", "ratio"), [("2D-4X", 0.714), ("1D-16X", 0.428), ("3D-4X", 0.777)])
def test_port_ratios_are_those_of_table_2(name: str, ratio: float) -> None:
    """The paper prints truncated ratios of ports: 192 / 448 = 0.42857, 1792 / 2304 = 0.77777."""
    ports, switches, *_ = TABLE_2[name]
    w_net = Fabric(switches, ports * switches).w_net(SHARES, REFERENCES[name])
    assert int(1000 * w_net) / 1000 == ratio


@pytest.mark.parametrize(("name", "floor"), [("2D-4X", 0.464), ("1D-16X", 0.272), ("3D-4X", 0.485)])
def test_floors_with_one_member_of_each_trunk(name: str, floor: float) -> None:
    """W_net is lowest if p - 1 links of each trunk of p links sleep.

    Ports of terminals stay on. In 2D-4X, 12 of 20 ports sleep. The power of the ports is W_ports = 0.1 + 0.9 * 8/20 =
    0.46, and the power of a switch is W_sw = 0.35 + 0.65 * 0.46 = 0.649, relative to all ports on. Multiplied by the
    ratio of the numbers of ports, 320/448, this is 0.4636.
    """
    ports, switches, _, members, neighbours = TABLE_2[name]
    sleeping = neighbours * (members - 1) / ports
    fabric = Fabric.asleep(switches, ports * switches, sleeping, SHARES)
    assert fabric.w_net(SHARES, REFERENCES[name]) == pytest.approx(floor, abs=0.001)


@pytest.mark.parametrize(("name", "printed", "members"), [("2D-4X", 0.50, 1.44), ("1D-16X", 0.32, 5.6)])
def test_printed_energies_give_the_members_that_are_on(name: str, printed: float, members: float) -> None:
    """The printed W_net gives the mean number of active links per trunk, because W_net is linear in this number."""
    ports, switches, _, width, neighbours = TABLE_2[name]

    def w_net(on: float) -> float:
        sleeping = neighbours * (width - on) / ports
        return Fabric.asleep(switches, ports * switches, sleeping, SHARES).w_net(SHARES, REFERENCES[name])

    one, all_ = w_net(1), w_net(width)
    assert 1 + (width - 1) * (printed - one) / (all_ - one) == pytest.approx(members, rel=0.03)


@pytest.mark.parametrize("idle", [0.0, 0.3, 1.0])
def test_energy_of_a_machine_without_saving_is_the_closed_form(idle: float) -> None:
    """The energy is W_cluster times the run time, with W_cluster = 0.15 W_net + 0.85 (w_S + (1 - w_S) Run_task).

    w_S is the power of an idle node, as a share of its maximum power. Run_task is the busy share of the nodes.
    """
    fabric, runtime, busy = Fabric(16, 320), 1.19, 0.4
    task = Task(fabric, fabric.w_net(SHARES, Fabric(64, 448)), runtime, busy)
    expected = (0.15 * 320 / 448 + 0.85 * (idle + (1 - idle) * busy)) * runtime
    assert task.e_cluster(SHARES, idle) == pytest.approx(expected, rel=1e-12)


def test_the_idle_share_at_which_a_slower_network_still_saves() -> None:
    """The energies of both machines are linear over w, the power of an idle node relative to a busy one.

    The machines have run times 1 and t, busy shares r and r/t (the same work), and network powers W_net 1 and v. The
    energies are equal if 0.15 (1 - v t) = 0.85 w (t - 1), because the busy parts are equal. Therefore w = 0.15 (1 - v
    t) / (0.85 (t - 1)).
    """
    r, t, v = 0.4, 1.1, 0.7
    reference = Task(Fabric(1, 10), 1.0, 1.0, r)
    task = Task(Fabric(1, 7), v, t, r / t)
    crossing = 0.15 * (1 - v * t) / (0.85 * (t - 1))
    assert task.equal_idle_share(reference, SHARES) == pytest.approx(crossing)
    assert task.saves(reference, SHARES) == f"below {crossing:.3f}"
    assert reference.saves(task, SHARES) == f"above {crossing:.3f}"
    assert reference.saves(reference, SHARES) == "equal"
    assert Task(Fabric(1, 7), v, 1.0, r).saves(reference, SHARES) == "always"


@pytest.mark.parametrize("name", ["port_asleep", "ports", "network"])
def test_shares_outside_0_to_1_are_refused_with_a_remedy_that_works(name: str) -> None:
    with pytest.raises(WeftError, match=r"write 0\.15, if 15 % is meant"):
        Shares(**{name: 15.0})
    assert getattr(Shares(**{name: 0.15}), name) == 0.15
    with pytest.raises(WeftError, match="from 0 to 1"):
        Shares(**{name: -0.1})


# A ring all-reduce on 4 x 4 routers. The policies make it slower, because packets wait for sleeping links.
RUN = """
name: machine
link_speed: 400Gb/s
cycle: 1ns
topology: {torus: {widths: [4, 4], terminals_per_router: 1}}
links: {default: {latency: 20cycles, vcs: 4, buffer: 64flits}}
routing: dimension_order
traffic:
  packet: 16flits
  workload:
    programs:
      program: {collective: {operation: all_reduce, ranks: 16, bytes: 16KiB, gap: 5us}}
      collectives: {algorithms: {all_reduce: {ring: {}}}}
      overhead: 200ns
sweep:
  power.policy: [always_on, {idle_timeout: {idle: 500cycles, transition: 200cycles}}]
"""


# Prices of a link that keeps three quarters of its power while it is off, and of a switch.
OWN_PRICES = {
    "power.prices": {state: {"static": "4W", "per_bit": "0fJ/bit"} for state in ("on", "shadow", "draining", "waking")}
    | {"off": {"static": "3W", "per_bit": "0fJ/bit"}},
    "power.router_price": {"static": "20W"},
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder = tmp_path_factory.mktemp("machine")
    file = folder / "machine.yaml"
    file.write_text(RUN, encoding="utf-8")
    return weft.load(file).run(folder / "results", watch=False)


def test_a_run_is_priced_by_the_states_of_its_ports_and_the_times_of_its_ranks(results: Results) -> None:
    frame = results.machine(Machine(idle_shares=(0.5,)))
    for point, row in enumerate(frame.iter_rows(named=True)):
        channels = results.channels(point).drop_nulls("from_router")
        window = results.summaries[point]["window_cycles"]
        on = 1 - channels["cycles_off"].sum() / (channels.height * window)
        assert (row["switches"], row["ports"]) == (16, 16 * 5)
        assert row["w_ports"] == pytest.approx(0.1 + 0.9 * on, rel=1e-12)
        assert row["w_net"] == pytest.approx(0.35 + 0.65 * row["w_ports"], rel=1e-12)
        ranks = pl.read_parquet(results.file(point, "ranks.parquet"))
        end = max(ranks["finish_cycles"])
        assert row["runtime_s"] == pytest.approx(1e-9 * end)
        busy = (ranks["compute_cycles"] + ranks["overhead_cycles"]).sum() / (16 * end)
        assert row["run_task"] == row["run_task_of_tasks"] == pytest.approx(busy, rel=1e-12)
        times = end / results.summaries[0]["jobs"][0]["run_time_cycles"]
        assert row["e_cluster"] == pytest.approx((0.15 * row["w_net"] + 0.85 * (0.5 + 0.5 * busy)) * times, rel=1e-12)
    assert frame["w_net"][0] == 1
    assert frame["w_net"][1] < 1
    assert frame["reference"].unique().to_list() == ["power.policy = always_on"]


def test_cores_without_a_rank_are_idle_and_too_few_cores_are_refused(results: Results) -> None:
    usual = results.machine(Machine(idle_shares=(0.5,)))
    more = results.machine(Machine(idle_shares=(0.5,), cores_per_terminal=4))
    assert more["run_task"].to_list() == pytest.approx((usual["run_task"] / 4).to_list())
    assert more["run_task_of_tasks"].to_list() == usual["run_task_of_tasks"].to_list()


def test_a_reference_may_be_a_size_a_point_or_in_other_results(results: Results) -> None:
    by_size = results.machine(reference="10x16")
    assert by_size["w_net"][0] == pytest.approx(80 / 160)
    assert by_size["e_cluster"].null_count() == by_size.height
    second = results.machine(Machine(idle_shares=(0.5,)), reference=1)
    assert second["runtime"][1] == 1
    assert second["e_cluster_ratio"][1] == 1
    elsewhere = results.machine(Machine(idle_shares=(0.5,)), "power.policy=idle_timeout", others=results)
    assert elsewhere["runtime"].to_list() == second["runtime"].to_list()
    # w_net is relative to a network with all ports on, whatever policy the reference has
    assert second["w_net"].to_list() == results.machine(Machine(idle_shares=(0.5,)))["w_net"].to_list()


def test_watts_follow_from_the_catalogue_and_from_a_node(results: Results) -> None:
    """The network's share of power follows from the power of its switches, and from 16 nodes of 500 W each."""
    hardware = Hardware("100Gb/s", node_w=500.0, price_per_kwh=0.25)
    row = results.machine(Machine(idle_shares=(0.5,), hardware=hardware)).row(0, named=True)
    most = hardware.most_w(Fabric(16, 80, 16))
    assert row["power_network_w"] == pytest.approx(most)
    assert row["power_nodes_w"] == pytest.approx(16 * 500 * (0.5 + 0.5 * row["run_task"]))
    assert row["energy_machine_kwh"] == pytest.approx(row["power_machine_w"] * row["runtime_s"] / 3.6e6)
    assert row["energy_cost"] == pytest.approx(0.25 * row["energy_machine_kwh"])


def test_the_command_prints_rows_and_refuses_what_it_cannot_price(
    results: Results, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(results.root)
    assert main(["analyse", "machine", folder, "--json", "--node-idle", "0.5"]) == 0
    assert json.loads(capsys.readouterr().out) == results.machine(Machine(idle_shares=(0.5,))).to_dicts()
    assert main(["analyse", "machine", folder]) == 0
    assert "saves: the idle shares" in capsys.readouterr().out
    for words, shown in (
        (["--reference", "0x64"], "name a reference network with ports, such as 7x64"),
        (["--node-idle", "50"], "write 0.5, if 50 % is meant"),
        (["--network", "1.5"], "share network: 1.5 is not a share"),
        (["--price-per-kwh", "1"], "such as --catalogue 100Gb/s"),
        (["--state", "dozing=0.7"], "no state dozing"),
    ):
        assert main(["analyse", "machine", folder, *words]) == 2
        assert shown in capsys.readouterr().err
    capsys.readouterr()
    # the output names the prices from which it computes watts, because the run can have had other prices
    assert main(["analyse", "machine", folder, "--catalogue", "100Gb/s", "--price-per-kwh", "1"]) == 0
    shown = capsys.readouterr().out
    assert "energy cost" in shown.splitlines()[0]
    assert "watts: catalogue, 100Gb/s, dac between switches, dac to terminals" in shown
    assert "in the results of the run, energy and power are priced by: links of the TCEP paper" in shown
    assert main(["analyse", "machine", folder, "--reference", "7x64"]) == 0
    assert main(["analyse", "machine", folder, "--node-idle", "0.5"]) == 0


def test_the_catalogue_of_the_scenario_is_that_of_the_machine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "priced.yaml"
    file.write_text(RUN, encoding="utf-8")
    priced = {"power.catalogue": {"cables": "sr"}}
    folder = str(weft.load(file, overrides=priced).run(tmp_path / "priced", watch=False).root)
    assert main(["analyse", "machine", folder, "--price-per-kwh", "1"]) == 0
    shown = capsys.readouterr().out
    assert "400 Gb/s, sr between routers, dac to terminals\nwatts: at the prices of the runs" in shown
    assert "price of switches: catalogue, 400Gb/s" in shown
    assert main(["analyse", "machine", folder, "--catalogue", "100Gb/s", "--cables", "dac"]) == 0
    assert "watts: catalogue, 100Gb/s, dac between switches, dac to terminals" in capsys.readouterr().out


@pytest.fixture(scope="module", params=[{"power.catalogue": {"cables": "dr"}}, OWN_PRICES], ids=["catalogue", "own"])
def priced(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder = tmp_path_factory.mktemp("priced")
    file = folder / "machine.yaml"
    file.write_text(RUN, encoding="utf-8")
    return weft.load(file, overrides=request.param).run(folder / "results", watch=False)


def test_the_energy_of_the_network_is_that_of_the_run(priced: Results) -> None:
    """The energy is added up by hand: cycles and flits of each channel and each router, times their prices."""
    watts = {"on": 11.0, "off": 11.0, "port": 1.82, "terminal": 0.1, "router": 5 * 6.04734765625, "bit": 10e-12}
    if "catalogue" not in priced.scenario(0)["power"]:
        watts = {"on": 4.0, "off": 3.0, "port": 0.0, "terminal": 4.0, "router": 20.0, "bit": 0.0}
    by_hand = [_energy_j(priced, point, watts) for point in range(2)]
    frame = priced.machine(Machine(idle_shares=(0.5,)))
    for point, row in enumerate(frame.iter_rows(named=True)):
        assert row["e_net"] == pytest.approx(by_hand[point] / by_hand[0], rel=1e-3)
        assert row["e_net"] == pytest.approx(
            priced.summaries[point]["energy_total_j"] / priced.summaries[0]["energy_total_j"], rel=1e-3
        )
    # packets wait for links that draw almost full power while they are off
    assert frame["e_net"][1] > 1
    assert frame["saves"].to_list() == ["equal", "never"]
    assert frame["w_ports"].null_count() == 2


def _energy_j(results: Results, point: int, watts: dict[str, float]) -> float:
    """Energy of all channels and of the 16 routers [J]; bits are the bits of flits on the channels of routers."""
    channels, second = results.channels(point), results.summaries[point]["cycle_seconds"]
    between = channels.drop_nulls(["from_router", "to_router"])
    of_routers = channels.drop_nulls("from_router")
    window = results.summaries[point]["window_cycles"]
    off = int(between["cycles_off"].sum())
    spent = (between.height * window - off) * watts["on"] + off * watts["off"]
    spent += (channels.height - between.height) * window * watts["terminal"] + 16 * window * watts["router"]
    spent += (of_routers.height * window - off) * watts["port"]
    return float(spent * second + int(of_routers["flits"].sum()) * 400 * watts["bit"])


def test_shares_that_are_set_replace_the_prices_of_the_run(
    priced: Results, results: Results, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, in_paper = str(priced.root), results.machine(Machine(idle_shares=(0.5,)))
    words = ["analyse", "machine", folder, "--node-idle", "0.5"]
    assert main([*words, "--port-asleep", "0.1", "--ports", "0.65", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["w_net"] for row in rows] == in_paper["w_net"].to_list()
    for more, shown in (
        ([], "power of networks: as in the runs"),
        (["--port-asleep", "0.1"], "--port-asleep: 0.1 (as set)"),
        (["--catalogue", "100Gb/s", "--cables", "sr"], "--port-asleep: from the catalogue, 100Gb/s, sr"),
        (["--reference", "5x16"], "power of networks: as in the runs"),
    ):
        assert main([*words, *more]) == 0
        assert shown in capsys.readouterr().out
    assert main(["analyse", "machine", str(results.root)]) == 0
    assert "--port-asleep: 0.1 (default, Andujar et al. (2019))" in capsys.readouterr().out


def test_a_reference_without_prices_lets_all_points_have_shares(
    priced: Results, results: Results, capsys: pytest.CaptureFixture[str]
) -> None:
    machine = Machine(idle_shares=(0.5,))
    for these, others in ((priced, results), (results, priced)):
        frame = these.machine(machine, "power.policy=always_on", others=others)
        assert frame["w_net"].to_list() == results.machine(machine)["w_net"].to_list()
        assert frame["w_ports"].null_count() == 0
    words = ["analyse", "machine", str(priced.root), "--reference-results", str(results.root)]
    assert main([*words, "--reference", "power.policy=always_on"]) == 0
    shown = capsys.readouterr().out
    assert "shares for all points, because power.policy = always_on" in shown
    assert f"({results.root}) has no prices of its own" in shown


def test_a_sweep_of_prices_that_includes_the_default_has_shares(
    tmp_path: Path, results: Results, capsys: pytest.CaptureFixture[str]
) -> None:
    default = results.scenario(0)["power"]["prices"]
    file = tmp_path / "prices.yaml"
    swept = json.dumps([OWN_PRICES["power.prices"], default])
    file.write_text(f"{RUN}  power.prices: {swept}\n", encoding="utf-8")
    both = weft.load(file).run(tmp_path / "results", watch=False)
    frame = both.machine(Machine(idle_shares=(0.5,)), "power.policy=always_on")
    assert frame["w_ports"].null_count() == 0
    in_paper = results.machine(Machine(idle_shares=(0.5,)))["w_net"].to_list()
    assert sorted(frame["w_net"]) == sorted(2 * in_paper)
    assert main(["analyse", "machine", str(both.root)]) == 0
    assert "has no prices of its own" in capsys.readouterr().out
    assert "has no prices of its own" in both.report().read_text(encoding="utf-8")


def test_a_reference_with_other_cables_keeps_the_prices_of_its_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "machine.yaml"
    file.write_text(RUN, encoding="utf-8")
    dac, dr = (
        weft.load(file, overrides={"power.catalogue": {"cables": each}}).run(tmp_path / each, watch=False)
        for each in ("dac", "dr")
    )
    words = ["analyse", "machine", str(dr.root), "--reference-results", str(dac.root), "--node-idle", "0.5", "--json"]
    assert main([*words, "--reference", "power.policy=always_on"]) == 0
    for point, row in enumerate(json.loads(capsys.readouterr().out)):
        power = dr.summaries[point]["power_mean_w"]
        assert row["w_ports"] is None
        assert row["w_net"] == pytest.approx(power / dac.summaries[0]["power_always_on_mean_w"])
        assert row["power_network_w"] == pytest.approx(power)


def test_watts_follow_from_the_prices_of_the_run(
    priced: Results, results: Results, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--node-power", "500", "--price-per-kwh", "0.25", "--node-idle", "0.5", "--json"]
    for reference in ("0", "5x16", "7x64"):
        assert main(["analyse", "machine", str(priced.root), *words, "--reference", reference]) == 0
        for point, row in enumerate(json.loads(capsys.readouterr().out)):
            assert row["power_network_w"] == pytest.approx(priced.summaries[point]["power_mean_w"])
            assert row["power_nodes_w"] == pytest.approx(16 * 500 * (0.5 + 0.5 * row["run_task"]))
            assert row["energy_cost"] == pytest.approx(0.25 * row["power_machine_w"] * row["runtime_s"] / 3.6e6)
    assert main(["analyse", "machine", str(priced.root), "--reference", "7x64"]) == 0
    shown = capsys.readouterr().out
    assert "the reference is only a size: w_net is w_sw times the number of ports" in shown
    assert "watts: at the prices of the runs" in shown
    # without prices of the run, the speed of the switches is needed
    with pytest.raises(WeftError, match="the scenario has no prices of its own"):
        results.machine(Machine(hardware=Hardware(node_w=500.0)))


def test_the_power_of_a_switch_has_the_shares_of_its_own_network(results: Results) -> None:
    """The power of a reference changes neither the power of a switch nor the watts of the run."""
    machine = Machine(idle_shares=(0.5,), hardware=Hardware("400Gb/s", "dr"))
    by_point, by_size = results.machine(machine), results.machine(machine, "5x16")
    for column in ("w_sw", "w_net", "power_network_w"):
        assert by_size[column].to_list() == pytest.approx(by_point[column].to_list(), rel=1e-12)


def test_modules_of_other_hardware_draw_power_in_sleeping_ports(results: Results) -> None:
    """At 100 Gb/s, a port draws 1.035 W, and its module keeps its power while the link is off."""
    hardware = Hardware("100Gb/s", "sr")
    frame = results.machine(Machine(idle_shares=(0.5,), hardware=hardware))
    off = 1 - frame["ports_on_share"][1]
    first, second = frame["power_network_w"]
    assert first == pytest.approx(hardware.most_w(Fabric(16, 80, 16)))
    assert first - second == pytest.approx(80 * off * 1.035)


def test_a_run_that_did_not_end_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "short.yaml"
    file.write_text(RUN, encoding="utf-8")
    limits = {"measure.stop": {"complete": {"max_window": "2us"}}}
    short = weft.load(file, overrides=limits).run(tmp_path / "short", watch=False)
    with pytest.raises(WeftError, match="is not finished") as refused:
        short.machine()
    assert "measure.stop.complete.max_window=" in refused.value.help


def test_a_report_has_a_section_on_the_machine(results: Results) -> None:
    page = results.report().read_text(encoding="utf-8")
    assert 'id="machine"' in page
    assert "Energy of the whole machine" in page
    assert "because the scenario has no prices of its own" in page
    assert "power of the network is that of the runs" not in page


def test_a_report_says_that_the_network_has_the_prices_of_the_run(priced: Results) -> None:
    assert "The power of the network is that of the runs" in priced.report().read_text(encoding="utf-8")


JOBS = """\
  jobs:
    - {name: two, terminals: {range: [0, 7]}, workload: {programs: {program: {compute: PROGRAM}, rails: 2}}}
    - {name: one, terminals: {range: [8, 15]}, workload: {programs: {program: {compute: PROGRAM}}}}
"""


@pytest.mark.parametrize("has_jobs", [False, True])
def test_a_node_with_several_interfaces_is_one_node(tmp_path: Path, has_jobs: bool) -> None:
    """Each node has a rank that only computes, so all cores of the machine are always busy.

    Without jobs, 8 nodes have two terminals each. With jobs, 4 nodes have two terminals and 8 nodes have one.
    """
    before, _, _ = RUN.partition("  workload:")
    if has_jobs:
        text = before + JOBS.replace("PROGRAM", "{ranks: 4, time: 10us}", 1)
        text = text.replace("PROGRAM", "{ranks: 8, time: 10us}")
    else:
        text = before + "  workload: {programs: {program: {compute: {ranks: 8, time: 10us}}, rails: 2}}\n"
    file = tmp_path / "nodes.yaml"
    file.write_text(text, encoding="utf-8")
    frame = weft.load(file).run(tmp_path / "results", watch=False).machine(Machine(idle_shares=(0.5,)))
    assert frame["run_task"].item() == pytest.approx(frame["run_task_of_tasks"].item())
