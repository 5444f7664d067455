"""Compares Weft's path counts, bounds, overheads and worked examples for the TCEP paper with sums computed by hand."""

from __future__ import annotations

import json
from math import ceil, comb

import numpy as np
import polars as pl
import pytest

from weft.analysis import bound, examples, overhead, paths
from weft.cli import main
from weft.errors import WeftError


def _totals(active: paths.Active) -> dict[str, int]:
    return {name: int(paths) for name, paths in paths.count(active).items()}


def test_fig3_concentrated() -> None:
    """The star of R0 and six further links of R1 are 13 links. R0 and R1 have 7 neighbours, all other routers 2."""
    active = paths.concentrated(8, 6)
    assert active[0].sum() == active[1].sum() == 7
    direct, two_hop = 7 + 6, 2 * comb(7, 2) + 6 * comb(2, 2)  # a path over a router connects two of its neighbours
    unlinked = comb(6, 2)  # pairs among R2 to R7, each of which has a path over R0 and one over R1
    assert _totals(active) == {
        "all": direct + two_hop,  # 61
        "two_hop": two_hop,
        "two_hop_unlinked": 2 * unlinked,
        "at_most_two": 2 * comb(8, 2),  # 56, as printed
    }
    assert paths.least(active) == {"paths": 2, "two_hop_unlinked": 2}


def test_fig3_distributed() -> None:
    """The test counts the paths of each placement of six links in addition to the star.

    The most even placement with the printed 40 paths has two triangles, and a router with only its link to R0.
    """
    placements = paths.every_placement(8, 6)
    assert len(placements) == comb(21, 6)
    assert not (placements == 0).any()
    counted = paths.count(paths.with_links(8, placements))
    assert (counted["all"].min(), counted["all"].max()) == (51, 61)
    assert (counted["at_most_two"].min(), counted["at_most_two"].max()) == (38, 56)
    forty = placements[counted["at_most_two"] == 40]
    assert len(forty) == comb(7, 3) * comb(4, 3) // 2
    even = paths.most_even(forty, 8)
    assert even.tolist() == [[1, 2], [1, 3], [2, 3], [4, 5], [4, 6], [5, 6]]
    # pairs with only one path: 1 + 6 pairs of R7, which has only its link to R0, and 9 pairs of routers from different
    # triangles
    active = paths.with_links(8, even)
    alone = 1 + 6 + 9
    assert _totals(active)["at_most_two"] == 2 * (comb(8, 2) - alone) + alone
    assert paths.least(active) == {"paths": 1, "two_hop_unlinked": 1}


def test_counts_of_random_placements_are_those_of_a_plain_loop() -> None:
    active = paths.at_random(7, 5, 20, seed=3)
    assert (active == active.swapaxes(1, 2)).all()
    assert (active.sum(axis=(1, 2)) == 2 * (6 + 5)).all()
    assert active[:, 0, 1:].all()
    counted = paths.count(active)
    for sample, one in enumerate(active):
        expected = dict.fromkeys(paths.COUNTS, 0)
        for a in range(7):
            for b in range(a):
                over = sum(bool(one[a, m] and one[m, b]) for m in range(7))
                expected["all"] += over + one[a, b]
                expected["two_hop"] += over
                expected["two_hop_unlinked"] += 0 if one[a, b] else over
                expected["at_most_two"] += min(2, over + one[a, b])
        assert {name: counted[name][sample] for name in expected} == expected
    # each pair of neighbours of a router has a path over this router
    degree = active.sum(axis=2)
    assert (counted["two_hop"] == (degree * (degree - 1) // 2).sum(axis=1)).all()


def test_a_hub_is_any_router() -> None:
    for hub in range(5):
        active = paths.concentrated(5, 3, hub)
        assert active[hub].sum() == 4
        first = 1 if hub == 0 else 0
        assert active[first].sum() == 4  # after the hub, the router with the lowest number gets the links
        assert _totals(active) == _totals(paths.concentrated(5, 3))


def test_fig4() -> None:
    frame = paths.over_fraction(32, 200)
    links = 32 * 31 // 2
    for name in paths.COUNTS:
        of = frame.filter(pl.col("count") == name)
        assert of["active_links"].to_list() == [31 + more for more in paths.whole_hubs(32)]
        assert of["active_share"][0] == 31 / links
        assert of["active_share"][-1] == 1
        first = of.row(0, named=True)
        assert first["ratio"] == first["ratio_to_min"] == first["ratio_to_max"] == 1  # only the star
        last = of.row(-1, named=True)
        assert last["concentrated"] == last["random_mean"] == last["random_max"]
    of_all = frame.filter(pl.col("count") == "all")
    assert of_all["concentrated"][0] == 31 + comb(31, 2)
    assert of_all["concentrated"][-1] == links * (1 + 30)
    # for a given number of links, concentrated links give the most two-hop paths, because they maximise the sum of
    # squared degrees
    assert (frame.filter(pl.col("count") == "two_hop")["ratio_to_max"] >= 1).all()
    # as in the paper, the ratio is highest with three hubs among 32 routers, which have 90 of 496 links
    peak = of_all.row(of_all["ratio"].arg_max() or 0, named=True)
    assert peak["active_links"] == 31 + 30 + 29
    # mean of many random placements: each link between the 31 other routers exists with probability p; links are
    # independent except that their number is fixed, hence `pair`
    p = (90 - 31) / (links - 31)
    pair = p * (59 - 1) / (links - 31 - 1)  # probability of two given links
    expected = 90 + comb(31, 2) + 31 * comb(31 - 1, 1) * p + 31 * comb(30, 2) * pair
    assert peak["random_mean"] == pytest.approx(expected, rel=0.005)


def test_samples_depend_on_their_seed_alone() -> None:
    assert (paths.at_random(9, 7, 30, seed=5) == paths.at_random(9, 7, 30, seed=5)).all()
    assert (paths.at_random(9, 7, 30, seed=5) != paths.at_random(9, 7, 30, seed=6)).any()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--routers", "2"], "no links to choose in addition to the star"),
        (["--hub", "32"], "router 32 as the hub"),
        (["--routers", "8", "--more", "22"], "8 routers have 28 links, 21 of them not in the star"),
        (["--more", "60", "--exact"], "more than 200000"),
        (["--routers", "3000"], "paths of 3000 routers"),
    ],
)
def test_paths_that_make_no_sense(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyse", "paths", *arguments]) == 2
    errors = capsys.readouterr().err
    assert words in errors
    assert "help:" in errors


def test_a_seed_is_not_negative(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["analyse", "paths", "--seed=-1"])
    assert ended.value.code == 2
    assert "write a whole number from 0" in capsys.readouterr().err


# For each load, the fewest of the 496 links that can carry it: the paper's inequality solved by hand.
BOUNDS = {
    0.05: 48, 0.1: 91, 0.2: 166, 0.3: 229, 0.4: 284, 0.41: 289,
    0.5: 331, 0.6: 372, 0.7: 409, 0.8: 441, 0.9: 470,
}  # fmt: skip


@pytest.mark.parametrize("load", BOUNDS)
def test_bound_of_the_1024_node_butterfly(load: float) -> None:
    assert bound.active_share(load, 32, 1024) == pytest.approx(2 * load / (1 + load))
    assert bound.active_links(load, 32, 1024) == BOUNDS[load]


@pytest.mark.parametrize(("routers", "terminals", "load"), [(8, 64, 0.3), (16, 64, 0.7), (32, 1024, 0.41)])
def test_bound_fulfils_the_inequality_and_one_link_less_does_not(routers: int, terminals: int, load: float) -> None:
    links = routers * (routers - 1) // 2

    def carries(active: int) -> bool:
        f = active / links
        return terminals * load / 2 * (f + 2 * (1 - f)) <= routers**2 / 2 * f and active >= routers - 1

    least = bound.active_links(load, routers, terminals)
    assert least is not None
    assert carries(least)
    assert not carries(least - 1)


# With R = 32 routers, load l and the high-water mark U_hwm = 0.99, k = 32 l / 0.99 (rounded up) inner routers have
# links to all routers. A share of 1 - (R - k) (R - k - 1) / (R (R - 1)) of the links is then active.
@pytest.mark.parametrize(("load", "inner"), [(0, 1), (0.05, 2), (0.41, 14), (0.5, 17), (0.9, 30), (0.99, 32)])
def test_consolidated_links_join_all_routers_to_the_inner_ones(load: float, inner: int) -> None:
    links = bound.consolidated(load, 32, 32, 0.99)
    assert len(links) == 496 - (32 - inner) * (31 - inner) // 2 == len(set(links))
    assert {a for a, _ in links} == set(range(min(inner, 31)))
    assert all(a < b < 32 for a, b in links)
    least = bound.active_links(load, 32, 1024)
    assert least is not None
    assert len(links) >= least


def test_consolidated_links_refuse_what_is_no_share() -> None:
    with pytest.raises(WeftError, match="high-water mark can't be 0"):
        bound.consolidated(0.5, 32, 32, 0)
    with pytest.raises(WeftError, match="has no bound"):
        bound.consolidated(1.5, 32, 32, 0.99)


def test_bound_without_minimal_traffic() -> None:
    # If every flit takes two hops, the bound of the share of active links is 2 N l / R^2, for N terminals, R routers
    # and load l. This bound is 1 + N l / R^2 times the bound for uniform traffic.
    for load in (0.1, 0.3, 0.5):
        assert bound.active_share(load, 32, 1024, 0) == pytest.approx(2 * load)
        assert bound.active_share(load, 32, 1024, 0) / bound.active_share(load, 32, 1024) == pytest.approx(1 + load)
    assert bound.active_links(0.5, 32, 1024, 0) == 496
    assert bound.active_links(0.51, 32, 1024, 0) is None
    assert bound.active_links(0.6, 32, 1024, 1) == ceil(0.6 * 496)
    # at load 0 the links of a star remain on, so that the network is connected
    assert bound.active_links(0.0, 32, 1024) == 31
    frame = bound.over_load([0.1, 0.6], 32, 1024)
    assert frame["non_minimal_links"].to_list() == [100, None]
    assert frame["active_links"].to_list() == [91, 372]


def test_overhead_of_the_paper() -> None:
    cost = overhead.overhead(64, 22)
    assert cost.counter_bits_per_link == (2 * 2 * 2 + 1) * 16 == 144
    assert cost.request_bits == 8 + 3
    assert cost.router_bytes == (144 + 11) * 64 / 8 == 1240
    assert cost.control_packets_per_epoch == 1 + 1 + 21
    assert cost.table_updates_per_epoch == 2 * 22 / 2
    assert cost.largest_network_terminals == 22**3 == 10648
    assert overhead.overhead(64) == cost  # 22 + 2 * 21 = 64 ports


def test_overhead_of_other_routers() -> None:
    cost = overhead.overhead(48, 16, dimensions=3, counter_bits=24, id_bits=4, router_storage_bytes=1e5)
    assert cost.router_bytes == (9 * 24 + 4 + 3) * 48 / 8
    assert cost.router_share == cost.router_bytes / 1e5
    assert cost.table_updates_per_epoch == 24
    assert cost.control_packets_per_epoch == 17
    assert cost.largest_network_terminals == 12**4  # 12 + 3 * 11 = 45 ports, and 13 + 36 are too many
    with pytest.raises(WeftError, match="ids of 4 bits distinguish 16"):
        overhead.overhead(48, 17, id_bits=4)
    with pytest.raises(WeftError, match="counters of 0 bits"):
        overhead.overhead(48, counter_bits=0)


def test_fig5() -> None:
    loads = examples.dropped_link()
    assert {name: round(float(load.sum()), 9) for name, load in loads.items()} == {
        "before": 0.55,
        "naive": 0.7,
        "type_aware": 0.55,
    }
    assert loads["naive"][0, 1] == loads["naive"][1, 0] == 0
    assert loads["type_aware"][0, 2] == 0
    assert loads["type_aware"][0, 1] == pytest.approx(0.15 + 0.2)


def test_fig6() -> None:
    parted = examples.partition(examples.FIG6)
    assert parted.boundary == 3
    assert parted.inner_budget == pytest.approx(1.9)
    assert parted.outer_utilisation == pytest.approx(1.2)
    # with one inner link less, the free capacity of inner links would be less than the load of outer links
    assert sum(1 - used for used in examples.FIG6[:2]) < sum(examples.FIG6[2:])
    # a link above the high-water mark has no free capacity; if no link has free capacity, all links are inner
    assert tuple(examples.partition([0.8, 0.1, 0.1], 0.75)) == pytest.approx((2, 0.65, 0.1))
    assert examples.partition([0.8, 0.9, 0.8], 0.75).boundary == 3
    assert tuple(examples.partition([0.1], 0.75)) == pytest.approx((1, 0.65, 0))


@pytest.mark.parametrize("kind", ["examples", "bound", "overhead", "paths"])
def test_commands_print_tables_json_and_csv(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["analyse", kind, *(["--routers", "6", "--samples", "5"] if kind == "paths" else [])]
    assert main([*words, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert main([*words, "--csv"]) == 0
    csv = pl.read_csv(capsys.readouterr().out.encode())
    assert csv.height == len(rows) > 0
    assert csv.columns == list(rows[0])
    assert main(words) == 0
    table = capsys.readouterr().out.splitlines()
    assert max(map(len, table)) <= 120
    assert table[2 + len(rows)] == ""  # after the rows, an empty line and the notes follow


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--load", "1.5"], "write a load from 0 to 1"),
        (["--load", "some"], "write numbers such as 0.1,0.2"),
        (["--routers", "1"], "2 or more routers"),
    ],
)
def test_bounds_that_make_no_sense(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        status = main(["analyse", "bound", *arguments])
    except SystemExit as exit:
        status = int(str(exit.code))
    assert status == 2
    assert words in capsys.readouterr().err


def test_a_large_count_is_counted_in_parts() -> None:
    active = paths.at_random(64, 100, 1500, seed=2)  # more placements than Weft counts at the same time
    whole, parts = paths.count(active), [paths.count(part) for part in np.array_split(active, 4)]
    assert all((whole[name] == np.concatenate([part[name] for part in parts])).all() for name in paths.COUNTS)
