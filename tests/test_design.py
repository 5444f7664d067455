"""Tests `weft design`, which analyses networks without simulation: formulas, graphs, cuts, prices, failures, page."""

from __future__ import annotations

import json
from itertools import combinations, islice
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from weft import _engine, cli
from weft.design import cuts, moore, price_list, resilience
from weft.design.comparison_of_designs import compare
from weft.design.families import FAMILIES
from weft.design.families.slim_flies import has_construction
from weft.design.measured_design import Assumptions, MeasuredDesign
from weft.design.packaging import Layout, Packaging, filled, folded, square, square_pairs
from weft.design.placed import layout
from weft.design.plan import CUT, EXACT, LOWER
from weft.errors import ScenarioError, WeftError

THOUSAND = Path(__file__).parent.parent / "examples" / "designs" / "thousand.yaml"
FLEX = {"flex": {"widths": [6, 6], "layers": 3, "terminals_per_router": 10}}


def one(topology: dict[str, Any], **assumed: Any) -> MeasuredDesign:
    return compare({"it": topology}, Assumptions(**assumed)).designs[0]


def flex(x: int, y: int, layers: int = 3, terminals: int = 1) -> dict[str, Any]:
    return {"flex": {"widths": [x, y], "layers": layers, "terminals_per_router": terminals}}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("terminals", "radix"), [(40, 14), (64, 24), (300, 20)])
def test_formulas_are_those_of_the_graphs(family: str, terminals: int, radix: int) -> None:
    packaging = Packaging(pitch_m=1.5, overhead_m=2.25, inside_m=0.5)
    for parameters in islice(FAMILIES[family].candidates(terminals, radix), 60):
        plan, design = FAMILIES[family].plan(parameters), one({family: parameters}, packaging=packaging)
        facts, money = design.facts, design.money
        assert (plan.routers, plan.terminals) == (facts["routers"], facts["terminals"]), parameters
        assert (plan.links, plan.radix) == (len(design.links), facts["radix_ports"]), parameters
        assert (plan.degree, plan.diameter) == (facts["degree_max_links"], facts["diameter_hops"]), parameters
        assert plan.terminals >= terminals
        assert plan.most_terminals == design.terminals.max(), parameters
        assert plan.racks == money["racks"], parameters
        assert plan.cable_m(packaging) == pytest.approx(money["cable_m"]), parameters
        longest = plan.longest * packaging.pitch_m + packaging.overhead_m
        assert longest >= design.cable_m.max() - 1e-9, parameters
        assert plan.cost_usd(price_list.default(), packaging) == pytest.approx(money["cost_usd"])
        power_w = Assumptions().power_w(plan.routers, plan.radix, plan.links, plan.terminals)
        assert power_w == pytest.approx(design.power_w)


@pytest.mark.parametrize("family", FAMILIES)
def test_formulas_of_bisections_hold(family: str) -> None:
    for parameters in islice(FAMILIES[family].candidates(64, 24), 60):
        plan, design = FAMILIES[family].plan(parameters), one({family: parameters}, seeds=5)
        bound = cuts.spectral_bound(design.links, design.terminals) or 0
        if plan.bisection_kind in (EXACT, CUT):
            assert plan.bisection >= bound, parameters
        if plan.bisection_kind in (EXACT, LOWER):
            assert min(design.cut, design.facts["bisection_links"]) >= plan.bisection, parameters
        if design.facts["bisection_exact"]:
            assert plan.bisection == design.facts["bisection_links"], parameters


def by_enumeration(design: MeasuredDesign) -> int:
    """Return the smallest number of links between two halves of the network, by enumeration of all divisions into
    halves.

    The halves may differ in terminals by at most the number of terminals of one router (of that with the most
    terminals).
    """
    weights, routers = design.terminals.astype(int), len(design.terminals)
    links = design.links[:, :2].astype(int)
    best = len(links)
    for size in range(routers + 1):
        for chosen in combinations(range(routers), size):
            side = np.zeros(routers, dtype=bool)
            side[list(chosen)] = True
            if abs(int(weights[side].sum()) - int(weights[~side].sum())) <= weights.max():
                best = min(best, int((side[links[:, 0]] != side[links[:, 1]]).sum()))
    return best


@pytest.mark.parametrize(
    "topology",
    [
        {"hyperx": {"widths": [4, 3], "terminals_per_router": 2}},
        {"hyperx": {"widths": [3, 2], "terminals_per_router": 1, "trunk_width": 3}},
        {"torus": {"widths": [4, 3], "terminals_per_router": 1}},
        {"k_ary_n_tree": {"k": 2, "n": 3}},
        {"dragonfly": {"routers_per_group": 2, "terminals_per_router": 1, "global_links_per_router": 2}},
        {"mesh": {"widths": [4, 3], "terminals_per_router": 1}},
        flex(2, 2),
        flex(3, 2, 2),
    ],
    ids=lambda topology: json.dumps(topology)[:40],
)
def test_cuts_are_never_below_the_true_minimum(topology: dict[str, Any]) -> None:
    design = one(topology, seeds=10)
    true = by_enumeration(design)
    assert design.cut >= true
    assert design.bisection["bisection_links"] >= true
    least = design.bisection["bisection_low_links"]
    assert least is None or least <= true
    # for these networks at least one of Weft's two searches finds the true minimum
    assert min(design.cut, design.facts["bisection_links"]) == true


@pytest.mark.parametrize(("x", "y", "printed"), [(4, 4, 96), (5, 4, 120), (20, 20, 12_000)])
def test_bisections_of_table_3(x: int, y: int, printed: int) -> None:
    design = one(flex(x, y))
    assert design.cut == design.bisection["bisection_links"] == printed
    # the value of eq. (8) that the FleX paper prints equals the spectral lower bound
    assert cuts.spectral_bound(design.links, design.terminals) == printed


def test_the_cut_of_an_odd_axis_is_smaller_than_that_of_the_paper() -> None:
    design = one(flex(15, 20))
    assert design.cut <= 7_280
    assert cuts.spectral_bound(design.links, design.terminals) == 6_750  # the value of eq. (8)
    assert design.bisection["bisection_formula_links"] == 7_320


@pytest.mark.parametrize("q", [q for q in range(3, 24) if has_construction(q)])
def test_the_bound_of_slim_flies_is_that_of_their_eigenvalues(q: int) -> None:
    design = one({"slim_fly": {"q": q, "terminals_per_router": 1}})
    assert cuts.spectral_bound(design.links, design.terminals) == (q**3 + 1) // 2


def test_table_6_of_the_flex_paper() -> None:
    frame = compare(THOUSAND, Assumptions(seeds=2)).frame
    rows = {row["design"]: row for row in frame.to_dicts()}
    # the FleX paper prints these costs [$], cut off after two decimals, and a power of 16 ports x 320 routers x 2.8 W
    assert rows["fat tree"]["cost_usd"] == pytest.approx(6.88e6, rel=1e-3)
    assert rows["HyperX"]["cost_usd"] == pytest.approx(2.757e6, rel=1e-3)
    assert rows["FleX"]["cost_usd"] == pytest.approx(3.0595e6, rel=1e-4)
    # the paper prints 5.16e6 $ for the dragonfly, without the cables of the terminals
    dragonfly = rows["dragonfly"]
    assert dragonfly["cost_routers_usd"] + dragonfly["cost_cables_usd"] == pytest.approx(5.15e6, rel=1e-3)
    powers = {name: round(row["power_w"]) for name, row in rows.items()}
    assert powers == {"fat tree": 14_336, "dragonfly": 11_088, "HyperX": 7_840, "Slim Fly": 8_618, "FleX": 9_072}


def test_paths_of_flex_are_those_of_the_paper() -> None:
    rows = {row["hops"]: row for row in one(FLEX).diversity.to_dicts()}
    assert (rows[1]["paths_min"], rows[1]["paths_max"]) == (1, 1)
    # number of shortest paths to a router in another layer: 2 if x and y differ, 10 if x and y are the same; in the
    # same layer: 4 or 2 (6 - 2)
    assert (rows[2]["paths_min"], rows[2]["paths_max"]) == (2, 10)
    assert rows[1]["pairs"] == 108 * 20
    assert rows[2]["pairs"] == 108 * 87


def test_moore_shares_of_fig_3() -> None:
    assert moore.bound(100, 2) == 10_001
    assert moore.share(26 * 26 * 3, 100, 2) == pytest.approx(0.2028, abs=5e-5)


def test_failures_are_counted_as_links_that_are_taken_away() -> None:
    design = one({"torus": {"widths": [5], "terminals_per_router": 1}})  # a ring: the second failed link disconnects it
    found = resilience.curve(design.design, 5, resilience.Failures(step=0.2, trials=50))
    assert found["failed_links"].to_list() == [1, 2, 3, 4, 5]
    assert found["connected_share"].to_list() == [1, 0, 0, 0, 0]
    assert resilience.tolerated(found) == pytest.approx(0.2)
    star = {"fat_tree": {"k": 2}}
    assert one(star).failures["connected_share"].to_list()[-1] == 0


def test_terminals_stay_connected_longer_than_routers_without_any() -> None:
    found = one({"k_ary_n_tree": {"k": 4, "n": 3}}).failures
    assert (found["terminals_connected_share"] >= found["connected_share"]).all()
    assert found["terminals_connected_share"].sum() > found["connected_share"].sum()


def test_steps_of_any_size_come_from_the_same_trials() -> None:
    design = one(FLEX)
    coarse, fine = (resilience.curve(design.design, 1080, resilience.Failures(step=step)) for step in (0.05, 0.01))
    joined = coarse.join(fine.with_columns(pl.col("failed_share").round(6)), on="failed_share")
    assert len(joined) == 20
    assert (joined["connected_share"] == joined["connected_share_right"]).all()


def test_intervals_are_those_of_wilson() -> None:
    low, high = resilience.wilson(5, 10, 0.95)
    assert (round(low, 4), round(high, 4)) == (0.2366, 0.7634)  # Wilson (1927), z = 1.96
    assert resilience.wilson(0, 100, 0.95)[0] == 0
    assert resilience.wilson(100, 100, 0.95)[1] == 1


def test_tolerances_of_table_5() -> None:
    # share of links that can fail in networks of about 10,000 terminals: the paper prints 65, 65, 80, 75 and 85 %; for
    # the third, all our trials give 85 %
    topologies = {
        "fat tree": {"fat_tree": {"k": 34}},
        "dragonfly": {"dragonfly": {"routers_per_group": 14, "terminals_per_router": 7, "global_links_per_router": 7}},
        "HyperX": {"hyperx": {"widths": [22, 22], "terminals_per_router": 21}},
        "Slim Fly": {"slim_fly": {"q": 19, "terminals_per_router": 14}},
        "FleX": flex(12, 12, terminals=22),
    }
    found = [resilience.tolerated(each.failures) for each in compare(topologies).designs]
    assert found == pytest.approx([0.65, 0.65, 0.85, 0.75, 0.85])


def test_racks_stand_in_a_square_and_rings_are_folded() -> None:
    at = square(7)
    assert at.max(axis=0).tolist() == [2, 2]
    pairs = sum(int(np.abs(a - b).sum()) for a, b in combinations(at, 2))
    assert square_pairs(7) == pairs
    for width in (3, 4, 7, 8):
        places = folded(width)
        assert sorted(places) == list(range(width))
        assert max(abs(int(places[i]) - int(places[i - 1])) for i in range(width)) <= 2


def test_racks_with_a_size_are_filled_with_what_belongs_together() -> None:
    # 5 groups of 4 routers with 2 terminals each; two groups share a rack, which holds 8 routers
    topology = {
        "dragonfly": {
            "groups": 5,
            "routers_per_group": 4,
            "terminals_per_router": 2,
            "global_links_per_router": 1,
        }
    }
    wide = one(topology, packaging=Packaging(routers_per_rack=8, inside_m=0.5))
    assert wide.money["racks"] == 3
    # inside racks are all local links, the link between groups 0 and 1, and the link between groups 2 and 3
    local, between = 5 * 6, 10
    lengths = sorted(wide.cable_m.tolist())
    assert lengths[: local + 2] == [0.5] * (local + 2)
    # the links of 4 pairs of groups connect racks 0 and 1; those of 2 pairs connect racks 0 and 2, and of 2 pairs racks
    # 1 and 2
    assert lengths[local + 2 :] == [3.0] * 6 + [4.0] * 2
    assert len(lengths) == local + between
    # a rack for 5 terminals holds two routers, so each group is divided between racks
    narrow = one(topology, packaging=Packaging(terminals_per_rack=5))
    assert narrow.money["racks"] == 10
    with pytest.raises(WeftError, match="a router with 2 terminals does not fit into a rack of 1 terminals"):
        one(topology, packaging=Packaging(terminals_per_rack=1)).row  # noqa: B018


@pytest.mark.parametrize("family", FAMILIES)
def test_with_sizes_no_rack_holds_more_and_no_cable_is_shorter_than_formulas_say(family: str) -> None:
    packaging = Packaging(routers_per_rack=5, terminals_per_rack=24, pitch_m=2)
    for parameters in islice(FAMILIES[family].candidates(64, 16), 30):
        design = one({family: parameters}, packaging=packaging)
        racks = filled(design_layout(design), design.terminals, packaging).racks
        assert np.bincount(racks).max() <= 5
        assert np.bincount(racks, weights=design.terminals).max() <= 24
        assert FAMILIES[family].plan(parameters).cost_usd(price_list.default(), packaging) <= design.money["cost_usd"]


def design_layout(design: MeasuredDesign) -> Layout:
    return layout(design.topology, design.design.places(), design.terminals, Packaging())


def prices(tmp_path: Path, *lines: str, head: str = ",".join(price_list.COLUMNS)) -> Path:
    path = tmp_path / "prices.csv"
    path.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    return path


GOOD = ("router,16,,,1000,", "router,32,,,1800,", "cable,,1,100,60,", "cable,,11,100,110,")


def test_a_price_list_gives_lines(tmp_path: Path) -> None:
    found = price_list.read(prices(tmp_path, *GOOD))
    assert (found.router.slope, found.router.intercept) == pytest.approx((50, 200))
    assert (found.cable.slope, found.cable.intercept) == pytest.approx((0.05, 0.55))
    assert found.cables(2, 10) == pytest.approx(100 * (2 * 0.55 + 10 * 0.05))
    assert found.remarks(64, 5) == ["routers of 64 ports are priced by extrapolation from a list of 16 to 32 ports"]
    own = price_list.default()
    assert (own.router.slope, own.router.intercept) == pytest.approx((128, 15029))
    assert (own.cable.slope, own.cable.intercept) == pytest.approx((0.1167, 4.3410))


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([], "no size of routers"),
        (GOOD[:1] + GOOD[2:], "one size of routers, but a line needs two"),
        (GOOD[:3], "one size of cables"),
        ((*GOOD, "router,48,,,,"), ":6: the router has no price_usd"),
        ((*GOOD, "router,,,,900,"), ":6: the router has no ports"),
        ((*GOOD, "cable,,3,,90,"), ":6: the cable has no bandwidth_gbps"),
        ((*GOOD, "cable,,3,200,90,"), "cables of 100, 200 Gb/s"),
        ((*GOOD, "cable,,3,100,-5,"), "price_usd is '-5', but must be a number above 0"),
        ((*GOOD, "lamp,,,,5,"), "'lamp' is not a part"),
        ((*GOOD, "router,48,,,19,637,x"), ":6: there are more commas than columns"),
        (("router,16,,,1000,", "router,32,,,600,", *GOOD[2:]), "falls: prices are negative above a size of 56"),
    ],
)
def test_price_lists_with_gaps_are_refused(tmp_path: Path, lines: tuple[str, ...], said: str) -> None:
    with pytest.raises(WeftError) as refused:
        price_list.read(prices(tmp_path, *lines))
    assert said in refused.value.what
    assert "a price list has the columns" in refused.value.help


def test_what_spreadsheets_add_to_a_price_list_does_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    head = ",".join(price_list.COLUMNS)
    path.write_bytes(("\ufeff" + "\r\n".join([head, *GOOD, ",,,,,", "", "Router,48,,,2600,"])).encode())
    assert price_list.read(path).router.most == 48


def test_a_price_list_with_semicolons_shows_its_columns(tmp_path: Path) -> None:
    with pytest.raises(WeftError, match="its columns, separated by commas: 'part;ports'"):
        price_list.read(prices(tmp_path, head="part;ports"))


def test_a_price_list_without_a_column_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WeftError, match="no column 'price_usd'"):
        price_list.read(prices(tmp_path, head="part,ports,length_m,bandwidth_gbps"))
    with pytest.raises(WeftError, match="can't be read"):
        price_list.read(tmp_path / "nowhere.csv")


@pytest.mark.parametrize(
    ("q", "said"), [(6, "not a power of a prime"), (2, "4 \\* 0 \\+ 2"), (12, "not a power of a prime")]
)
def test_a_q_without_a_construction_is_refused(q: int, said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        compare({"it": {"slim_fly": {"q": q, "terminals_per_router": 1}}})
    assert not has_construction(q)


def test_files_that_hold_no_designs_are_refused(tmp_path: Path) -> None:
    for text, said in [
        ("", "is empty"),
        ("design: {}", "unknown key `design`"),
        ("designs: 3", "not a mapping of names to topologies"),
    ]:
        path = tmp_path / "designs.yaml"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ScenarioError) as refused:
            compare(path)
        assert said in refused.value.what
    path.write_text("designs:\n  bad: {hyperx: {widths: [300], terminals_per_router: 1}}\n", encoding="utf-8")
    with pytest.raises(ScenarioError) as refused:
        compare(path)
    assert (refused.value.line, refused.value.path) == (2, "topology.hyperx.widths")


SMALL = {
    "single_router": {"terminals": 4},
    "hyperx": {"widths": [3, 1, 2], "terminals_per_router": 2, "trunk_width": 2},
    "torus": {"widths": [4, 2], "terminals_per_router": 1},
    "mesh": {"widths": [3, 4], "terminals_per_router": 1},
    "dragonfly": {"routers_per_group": 2, "terminals_per_router": 1, "global_links_per_router": 2, "escape_rings": 1},
    "dragonfly_plus": {
        "leaves_per_group": 2,
        "spines_per_group": 2,
        "terminals_per_leaf": 2,
        "global_links_per_spine": 2,
    },
    "k_ary_n_tree": {"k": 2, "n": 4},
    "fat_tree": {"k": 6},
    "full_mesh": {"routers": 5, "terminals_per_router": 2},
    "flex": {"widths": [3, 2], "layers": 5, "terminals_per_router": 1},
    "slim_fly": {"q": 4, "terminals_per_router": 1},
    "polarfly": {"q": 4, "terminals_per_router": 1},
    "graph": {"file": "ring.anynet"},
    "planes": {"count": 2, "of": {"torus": {"widths": [4, 2], "terminals_per_router": 1}}},
}


@pytest.mark.parametrize("name", [model["name"] for model in _engine.models()["topology"]])
def test_every_topology_can_be_measured(name: str, tmp_path: Path) -> None:
    (tmp_path / "ring.anynet").write_text("router 0 node 0 router 1\nrouter 1 node 1 router 2\nrouter 2 router 0\n")
    path = tmp_path / "designs.yaml"
    path.write_text(json.dumps({"designs": {"it": {name: SMALL[name]}}}), encoding="utf-8")
    row = compare(path, Assumptions(seeds=2, failures=resilience.Failures(trials=3))).designs[0].row
    assert row["cost_usd"] > 0
    assert row["bisection_low_links"] is None or row["bisection_low_links"] <= row["bisection_links"]


def test_topologies_of_a_sweep_are_designs(tmp_path: Path) -> None:
    text = """
topology: {hyperx: {widths: [3, 3], terminals_per_router: 1}}
routing: minimal
traffic: {pattern: uniform, packet: 1flit}
sweep: {traffic.load: [0.1, 0.2]}
"""
    path = tmp_path / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    assert [each.name for each in compare([path, THOUSAND]).designs] == [
        "mine", "fat tree", "dragonfly", "HyperX", "Slim Fly", "FleX",
    ]  # fmt: skip


def test_topologies_that_move_with_other_keys_are_named_by_their_kind(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        """
traffic: {pattern: uniform, packet: 1flit}
zip:
  topology:
    - {hyperx: {widths: [3, 3], terminals_per_router: 1}}
    - {torus: {widths: [4, 4], terminals_per_router: 1}}
    - {torus: {widths: [5, 4], terminals_per_router: 1}}
  routing: [minimal, dimension_order, dimension_order]
sweep: {traffic.load: [0.1, 0.2]}
""",
        encoding="utf-8",
    )
    names = ["hyperx", "torus(widths 4x4, terminals_per_router 1)", "torus(widths 5x4, terminals_per_router 1)"]
    assert [each.name for each in compare(path).designs] == names


def test_a_network_without_links_has_every_table(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "one.yaml"
    path.write_text(json.dumps({"designs": {"one": {"single_router": {"terminals": 4}}, "two": FLEX}}), "utf-8")
    for table in ("designs", "failures", "diversity", "distances"):
        assert cli.main(["design", "compare", str(path), "--table", table, "--trials", "2", "--seeds", "1"]) == 0
    assert compare(path).frame["tolerated_failures_share"].to_list()[0] is None
    capsys.readouterr()


def test_the_command_prints_tables_for_people_and_programs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    page = tmp_path / "designs.html"
    assert cli.main(["design", "compare", str(THOUSAND), "--seeds", "2", "--out", str(page)]) == 0
    assert "bisection by METIS [links]" in capsys.readouterr().out
    html = page.read_text(encoding="utf-8")
    assert "src=" not in html.split("<body>")[1].split("<script>")[0]
    assert "Slim Fly" in html
    assert cli.main(["design", "compare", str(THOUSAND), "--seeds", "2", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["diameter_hops"] for row in rows] == [4, 3, 2, 2, 2]
    assert cli.main(["design", "compare", str(THOUSAND), "--table", "failures", "--step", "0.1", "--csv"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1 + 5 * 10
    assert cli.main(["design", "prices"]) == 0
    assert "128 k + 15029 $" in capsys.readouterr().out


def test_every_form_of_a_fat_tree_is_compared() -> None:
    forms = {
        "leaves and spines": {"fat_tree": {"radix": 6, "levels": 2}},
        "uneven": {"fat_tree": {"radix": 8, "levels": 2, "oversubscription": [3.0], "terminals": 22}},
        "three levels": {"fat_tree": {"radix": 6, "levels": 3, "oversubscription": [2.0]}},
        "pods": {"fat_tree": {"radix": 4}},
    }
    designs = compare(forms, Assumptions(seeds=2)).designs
    # routers of 6 ports have 3 ports down and 3 up, so the tree has 6 leaves with 3 terminals each; a cut with 3 leaves
    # on each side cuts 9 links
    assert (designs[0].row["terminals"], designs[0].bisection["bisection_links"]) == (18, 9)
    assert [design.plan is not None for design in designs] == [True, True, False, True]
    assert designs[3].bisection == one({"fat_tree": {"k": 4}}, seeds=2).bisection
