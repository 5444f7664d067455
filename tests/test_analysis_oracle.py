"""Compares the fluid model of traffic, and the links that the oracle finds, with paths and sums computed one by one.

The oracle searches for the fewest links that carry a known traffic matrix.
"""

from __future__ import annotations

import json
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest

import weft
from weft.analysis import fluid, oracle, static
from weft.analysis.paths import concentrated, star
from weft.cli import main
from weft.errors import ScenarioError, WeftError
from weft.text.labels import label

if TYPE_CHECKING:
    from pathlib import Path

    from weft.analysis.fluid import Rates
    from weft.analysis.paths import Active

# A flattened butterfly of 512 terminals. Under tornado, router r of a dimension sends to router r + 3 of the same
# dimension.
BUTTERFLY = """\
topology: {hyperx: {widths: [8, 8], terminals_per_router: 8}}
links: {default: {latency: 10cycles, vcs: 6, buffer: 32flits}}
traffic: {pattern: uniform, load: 0.02}
sweep:
  routing: [dimension_order, ugal_p]
  traffic.load: [0.02, 0.2, 0.9]
"""


@pytest.mark.parametrize("bandwidth", ["1/2flits/cycle", "2flits/cycle"])
def test_the_oracle_fills_links_to_a_share_of_their_bandwidth(bandwidth: str) -> None:
    """Channels of half a flit per cycle need the same links as channels of one flit per cycle at twice the load."""
    factor = 2 if bandwidth.startswith("1/2") else 0.5
    sets = {"sweep": None, "routing": "ugal_p", "router.speedup": 2, "traffic.load": 0.1}
    sets |= {"links.terminal.bandwidth": "1flit/cycle"}
    (half,) = static.answers(weft.load(BUTTERFLY, overrides=sets | {"links.default.bandwidth": bandwidth}).points)
    (full,) = static.answers(weft.load(BUTTERFLY, overrides=sets | {"traffic.load": 0.1 * factor}).points)
    assert half.found.links == full.found.links
    assert half.found.busiest == pytest.approx(full.found.busiest)


def test_the_oracle_refuses_links_of_several_bandwidths() -> None:
    """The error names the bandwidths. If all links have equal bandwidth, as the error proposes, the oracle answers."""
    sets = {"sweep": None, "routing": "ugal_p", "links.dim0.bandwidth": "1/2flits/cycle"}
    with pytest.raises(ScenarioError, match=r"equal bandwidth.*dim0 0\.5, dim1 1"):
        static.answers(weft.load(BUTTERFLY, overrides=sets).points)
    static.answers(weft.load(BUTTERFLY, overrides=sets | {"links.dim1.bandwidth": "1/2flits/cycle"}).points)


def _uniform(routers: int, terminals: int, load: float) -> Rates:
    """Return the traffic between routers [flits/cycle] if every terminal sends to all other terminals."""
    each = load / (routers * terminals - 1)
    rates = np.full((routers, routers), terminals * terminals * each)
    np.fill_diagonal(rates, terminals * (terminals - 1) * each)
    return rates


def test_demands_of_lines_are_those_of_a_walk_in_dimension_order() -> None:
    widths = (3, 2, 4)
    routers = 24
    rates = np.random.default_rng(1).random((routers, routers))

    def digits(router: int) -> list[int]:
        return [router % 3, router // 3 % 2, router // 6]

    def number(place: list[int]) -> int:
        return place[0] + 3 * place[1] + 6 * place[2]

    walked: dict[tuple[int, int], float] = {}
    for source, target in product(range(routers), repeat=2):
        at = digits(source)
        for dimension in range(3):
            before = number(at)
            at[dimension] = digits(target)[dimension]
            if number(at) != before:
                hop = (before, number(at))
                walked[hop] = walked.get(hop, 0) + rates[source, target]
    lines = list(fluid.lines(widths, rates))
    assert [line.dimension for line in lines] == [0] * 8 + [1] * 12 + [2] * 6
    demands = {
        (int(line.routers[a]), int(line.routers[b])): line.demand[a, b]
        for line in lines
        for a, b in product(range(len(line.routers)), repeat=2)
        if a != b
    }
    assert demands.keys() == walked.keys()  # every link belongs to exactly one line
    assert all(demands[hop] == pytest.approx(walked[hop]) for hop in walked)
    assert all((np.diag(line.demand) == 0).all() for line in lines)


def test_a_pair_without_a_link_uses_all_its_two_hop_paths_alike() -> None:
    active = concentrated(5, 3)  # all links of routers 0 and 1
    demand = np.zeros((5, 5))
    demand[2, 3], demand[0, 4] = 0.6, 0.3
    loads = fluid.spread(demand, active, 0.75)
    expected = np.zeros((5, 5))
    expected[2, 0] = expected[0, 3] = expected[2, 1] = expected[1, 3] = 0.3
    expected[0, 4] = 0.3
    assert loads.channels == pytest.approx(expected)
    assert loads.direct.sum() == pytest.approx(0.3)


def test_a_link_is_filled_to_the_target_and_the_rest_goes_around() -> None:
    demand = np.zeros((4, 4))
    demand[0, 1] = 1.5
    loads = fluid.spread(demand, ~np.eye(4, dtype=bool), 0.75)
    assert loads.channels[0, 1] == pytest.approx(0.75)
    around = [(0, 2), (2, 1), (0, 3), (3, 1)]
    assert [loads.channels[hop] for hop in around] == pytest.approx([0.375] * 4)
    # without a possible detour, the direct link carries all flits
    assert fluid.spread(demand, star(4), 0.75).channels[0, 1] == pytest.approx(1.5)


def _active(seed: int, routers: int) -> Active:
    draws = np.random.default_rng(seed).random((routers, routers)) < 0.5
    active = np.triu(draws, 1) | star(routers)
    return active | active.T


@pytest.mark.parametrize("seed", range(4))
def test_flow_is_conserved(seed: int) -> None:
    routers = 7
    active, demand = _active(seed, routers), np.random.default_rng([seed, 1]).random((routers, routers)) / 4
    np.fill_diagonal(demand, 0)
    loads = fluid.spread(demand, active, 0.5)
    assert (loads.channels[~active] == 0).all()
    assert (loads.direct <= demand + 1e-12).all()
    # a packet on the detour crosses two channels
    assert loads.channels.sum() == pytest.approx(2 * demand.sum() - loads.direct.sum())
    # a router sends its terminals' flits and the flits that pass through it
    net = loads.channels.sum(axis=1) - loads.channels.sum(axis=0)
    assert net == pytest.approx(demand.sum(axis=1) - demand.sum(axis=0))


@pytest.mark.parametrize("load", [0.05, 0.2, 0.4])
def test_what_is_found_carries_the_traffic_and_no_link_of_it_is_too_many(load: float) -> None:
    rates, target = _uniform(12, 12, load), 0.75
    found = oracle.find([12], rates, target)
    active = np.zeros((12, 12), dtype=bool)
    for a, b in found.links:
        active[a, b] = active[b, a] = True
    assert found.carried
    assert (active & star(12) == star(12)).all()
    (line,) = fluid.lines([12], rates)
    loads = fluid.spread(line.demand, active, target)
    assert loads.busiest == found.busiest <= target + 1e-9
    assert found.hops == pytest.approx(loads.channels.sum() / rates.sum())
    # the active channels have room for all flits and hops
    assert 2 * target * len(found.links) >= found.hops * rates.sum()
    for a, b in set(found.links) - {(0, b) for b in range(1, 12)}:
        fewer = active.copy()
        fewer[a, b] = fewer[b, a] = False
        assert fluid.spread(line.demand, fewer, target).busiest > target


def test_least_and_most() -> None:
    """With very little traffic the oracle keeps only a star on in each line of routers: 112 of 448 links.

    With too much traffic, it keeps all links on, and its answer says that they are not enough.
    """
    shift = np.zeros((64, 64))
    for x, y in product(range(8), repeat=2):
        shift[x + 8 * y, (x + 3) % 8 + 8 * ((y + 3) % 8)] = 8
    for rates in (_uniform(64, 8, 1), shift):
        least, most = (oracle.find([8, 8], load * rates) for load in (0.02, 0.9))
        assert (len(least.links), least.all_links, least.share) == (112, 448, 0.25)
        assert least.carried
        assert len(most.links) <= 448
    assert not most.carried
    assert len(most.links) == 448
    # tornado over stars: in each dimension, 6 of the 8 routers send over the hub and need a second hop, so the mean is
    # 2 + 2 * 6/8 hops
    assert oracle.find([8, 8], 0.02 * shift).hops == pytest.approx(2 + 2 * 6 / 8)


def test_links_concentrate_on_low_routers() -> None:
    found = oracle.find([16], _uniform(16, 16, 0.15))
    degree = np.bincount(np.array(found.links).ravel(), minlength=16)
    assert 15 < len(found.links) < 120
    assert (np.sort(degree)[::-1] == degree).all()
    assert degree[0] == 15  # the star
    assert degree[:8].sum() > 1.5 * degree[8:].sum()


def test_a_hub_elsewhere() -> None:
    found = oracle.find([4, 3], 1e-3 * np.ones((12, 12)), hub=2)
    rows = {(4 * y + min(x, 2), 4 * y + max(x, 2)) for y in range(3) for x in (0, 1, 3)}
    columns = {(x + 4 * y, x + 8) for x in range(4) for y in (0, 1)}
    assert set(found.links) == rows | columns


@pytest.mark.parametrize(("target", "hub"), [(0.0, 0), (1.1, 0), (0.75, 3), (0.75, -1)])
def test_a_search_that_makes_no_sense(target: float, hub: int) -> None:
    with pytest.raises(WeftError, match=r"can't be filled|the smallest subnetwork"):
        oracle.find([4, 3], np.ones((12, 12)), target, hub)


def test_over_load() -> None:
    frame = oracle.over_load([8], _uniform(8, 8, 1), [0.02, 0.3, 1.5])
    assert frame["active_links"].to_list()[0] == 7
    assert frame["active_share"].to_list()[2] == 1
    assert frame["carried"].to_list() == [True, True, False]


def test_scenarios_of_the_oracle() -> None:
    answers = static.answers(weft.load(BUTTERFLY).points)
    assert [answer.coordinates for answer in answers] == [{"traffic.load": load} for load in (0.02, 0.2, 0.9)]
    first = answers[0].found
    assert first.links == oracle.find([8, 8], _uniform(64, 8, 0.02)).links
    written = static.scenario(answers)
    assert written["routing"] == {"pal": {"sensor": "history_window"}}
    assert written["zip"]["traffic.load"] == [0.02, 0.2, 0.9]
    policies = [{"static": {"on": {"links": list(map(list, each.found.links))}, "hub": 0}} for each in answers]
    assert written["zip"]["power.policy"] == policies
    assert written["topology"] == answers[0].point.resolved["topology"]
    single = static.scenario(static.answers(weft.load(BUTTERFLY, overrides={"routing": "ugal_p"}).points[:1]))
    assert single["routing"] == {"pal": {"threshold": "2flits", "sensor": "history_window"}}
    assert "zip" not in single
    assert single["power"]["policy"] == policies[0]


def test_many_links_have_a_short_label() -> None:
    links = [[0, router] for router in range(1, 32)]
    others = [[1, router] for router in range(2, 33)]
    first, second = (label({"static": {"on": {"links": pairs}}}) for pairs in (links, others))
    assert first.startswith("static(on links (31 entries, ")
    assert first != second
    assert label(links[:2]) == "0, 1, 0, 2"


def test_the_oracle_knows_grids_of_complete_lines_only() -> None:
    torus = "topology: {torus: {widths: [4, 4], terminals_per_router: 1}}\nrouting: dimension_order\n"
    torus += "traffic: {pattern: uniform, load: 0.1}\n"
    with pytest.raises(ScenarioError, match="torus is not such a grid"):
        static.answers(weft.load(torus).points)


def test_a_full_mesh_is_one_line(tmp_path: Path) -> None:
    text = """\
topology: {full_mesh: {routers: 6, terminals_per_router: 2}}
links: {default: {latency: 10cycles, vcs: 6, buffer: 32flits}}
routing: minimal
traffic: {pattern: uniform, load: 0.1}
"""
    points = weft.load(text).points
    answers = static.answers(points)
    assert len(answers[0].found.links) == 5, "the star carries so little"
    assert static.scenario(answers)["routing"] == {"pal": {"sensor": "history_window"}}
    weft.load(static.write(answers, tmp_path / "oracle.yaml")).check()


def test_parameters_that_the_routing_shares_with_pal_are_kept() -> None:
    options = {"threshold": "5flits", "sensor": "used_credits", "intermediate": "any"}
    points = weft.load(BUTTERFLY, overrides={"routing": {"ugal": options}}).points[:1]
    assert static.scenario(static.answers(points))["routing"] == {
        "pal": {"threshold": "5flits", "sensor": "used_credits"}
    }


def test_oracle_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "butterfly.yaml"
    file.write_text(BUTTERFLY, encoding="utf-8")
    assert main(["analyse", "oracle", str(file), "--target", "0.5", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    answers = static.answers(weft.load(BUTTERFLY).points, 0.5)
    assert rows == [answer.row for answer in answers]
    assert [row["carried"] for row in rows] == [True, True, False]
    assert main(["analyse", "oracle", str(file), "--target", "2"]) == 2
    assert "write a target above 0, at most 1" in capsys.readouterr().err
    (tmp_path / "blocked").touch()
    assert main(["analyse", "oracle", str(file), "--out", str(tmp_path / "blocked" / "x.yaml")]) == 2
    errors = capsys.readouterr().err
    assert "can't be written" in errors
    assert "help: choose another folder" in errors


@pytest.mark.parametrize("hub", [0, 3])
def test_what_the_oracle_writes_runs_on_just_these_links(tmp_path: Path, hub: int) -> None:
    """A simulation with only the links that the oracle found on has about the mean hops of the fluid model."""
    text = """\
topology: {hyperx: {widths: [6, 4], terminals_per_router: 2}}
links: {default: {latency: 10cycles, vcs: 6, buffer: 32flits}}
routing: {ugal_p: {sensor: history_window}}
traffic: {pattern: uniform, load: 0.1}
measure: {warmup: 1000cycles, window: 5000cycles}
zip: {traffic.load: [0.05, 0.4], seed: [1, 2]}
"""
    answers = static.answers(weft.load(text).points, 0.6, hub)
    file = static.write(answers, tmp_path / "oracle.yaml")
    results = weft.load(file).run(tmp_path / "results")
    assert [point["coordinates"]["traffic.load"] for point in results.points] == [0.05, 0.4]
    assert answers[0].found.share < answers[1].found.share < 1
    for point, answer in enumerate(answers):
        channels = results.channels(point).drop_nulls(["from_router", "to_router"])
        on = channels.filter(channels["cycles_off"] == 0)
        ends = {(min(a, b), max(a, b)) for a, b in on.select("from_router", "to_router").iter_rows()}
        assert sorted(ends) == answer.found.links
        assert channels.filter(channels["cycles_off"] > 0)["flits"].sum() == 0
        summary = results.summaries[point]
        assert not summary["saturated"]
        # the adaptive routing of the simulation takes a few detours that the fluid model does not have
        assert summary["hops_mean"] == pytest.approx(answer.found.hops, rel=0.05)


def test_a_scenario_whose_files_are_missing_is_refused(tmp_path: Path) -> None:
    matrix = np.ones((4, 4)) - np.eye(4)
    text = """\
topology: {hyperx: {widths: [4], terminals_per_router: 1}}
routing: dimension_order
traffic: {pattern: uniform, load: 0.1}
"""
    answers = static.answers(weft.load(text, matrix=matrix).points)
    assert answers[0].found.links == [(0, 1), (0, 2), (0, 3)]
    with pytest.raises(ScenarioError):
        static.write(answers, tmp_path / "oracle.yaml")
