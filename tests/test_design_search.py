"""Tests the search for designs of networks: the Pareto front, its bisections, and limits that no design meets."""

from __future__ import annotations

import json
import math
import re
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from weft import cli
from weft.design.comparison_of_designs import compare
from weft.design.design_search import MEASURED, pareto, search
from weft.design.families import FAMILIES
from weft.design.measured_design import Assumptions, in_words
from weft.design.packaging import Packaging
from weft.design.plan import EXACT
from weft.design.wanted import Wanted
from weft.errors import WeftError

if TYPE_CHECKING:
    from pathlib import Path

AIMS = {"cost_usd": 1, "power_w": 1, "diameter_hops": 1, "bisection_links": -1}


def test_the_front_is_what_nothing_dominates() -> None:
    aims = np.random.default_rng(1).integers(0, 6, size=(300, 3)).astype(float)
    kept = pareto(aims)
    for place, own in enumerate(aims):
        better = ((aims <= own).all(axis=1) & (aims < own).any(axis=1)).any()
        twin = any((aims[other] == own).all() for other in range(place))
        assert (place in kept) == (not better and not twin) or (twin and not better)
    assert len({tuple(aims[place]) for place in kept}) == len(kept)


def test_what_a_search_finds_keeps_to_the_limits() -> None:
    found = search(Wanted(200, 24, budget_usd=1.2e6, diameter_hops=3, bisection_links=40))
    front = found.front
    assert len(front) > 3
    assert (front["terminals"] >= 200).all()
    assert (front["radix_ports"] <= 24).all()
    assert (front["cost_usd"] <= 1.2e6).all()
    assert (front["diameter_hops"] <= 3).all()
    assert (front["bisection_links"] >= 40).all()
    assert set(front["bisection_is"]) <= {EXACT, MEASURED}
    within = found.candidates.filter("within_limits").to_dicts()
    for row in front.to_dicts():
        for other in within:
            steps = [sign * (row[column] - other[column]) for column, sign in AIMS.items()]
            assert not (min(steps) >= 0 and max(steps) > 0), (row, other)


def test_a_search_has_an_upper_limit_of_terminals_and_its_remedy_finds_a_design() -> None:
    found = search(Wanted(200, 24, most_terminals=210))
    assert found.front["terminals"].is_between(200, 210).all()
    with pytest.raises(WeftError, match="lowest number of terminals of any design is") as refused:
        search(Wanted(1001, 24, most_terminals=1001, families=("fat_tree",)))
    allowed = re.search(r"allow a number of terminals of ([\d,]+)", refused.value.help)
    assert allowed is not None
    most = int(allowed[1].replace(",", ""))
    assert (search(Wanted(1001, 24, most_terminals=most, families=("fat_tree",))).front["terminals"] == most).all()
    with pytest.raises(WeftError, match="at least 200 and at most 100 terminals"):
        Wanted(200, 24, most_terminals=100)


def test_numbers_of_the_front_are_those_of_the_graphs() -> None:
    found = search(Wanted(120, 16), Assumptions(seeds=4))
    for row, design in zip(found.front.to_dicts(), found.measured().designs, strict=True):
        for column in ("topology", "routers", "terminals", "radix_ports", "links", "diameter_hops"):
            assert row[column] == design.row[column], row
        assert row["cost_usd"] == pytest.approx(design.row["cost_usd"])
        assert row["power_w"] == pytest.approx(design.row["power_w"])
        assert row["bisection_links"] >= design.row["bisection_links"]


def refused(**wanted: Any) -> WeftError:
    with pytest.raises(WeftError) as problem:
        search(Wanted(**wanted))
    return problem.value


def test_a_budget_that_nothing_meets_is_reported_by_how_much() -> None:
    cheapest = search(Wanted(1000, 36)).front["cost_usd"][0]
    message = refused(terminals=1000, radix_ports=36, budget_usd=1e6)
    assert f"the lowest cost of any design is {cheapest:,.0f} $" in message.what
    assert f"misses 1,000,000 $ by {cheapest - 1e6:,.0f} $ ({cheapest / 1e6 - 1:.1%})" in message.what
    assert message.help.startswith(f"allow a cost of {math.ceil(cheapest):,} $")
    assert len(search(Wanted(1000, 36, budget_usd=cheapest)).front) >= 1


def test_limits_that_can_only_be_kept_alone_are_reported() -> None:
    message = refused(terminals=1000, radix_ports=36, budget_usd=1.2e6, bisection_links=300)
    assert "each limit can be met alone, but not all limits together" in message.what
    assert "misses cost by" in message.what
    message = refused(terminals=1000, radix_ports=36, bisection_links=1e6)
    assert "the highest bisection of any design is" in message.what


def test_a_radix_that_nothing_meets_is_reported() -> None:
    message = refused(terminals=1000, radix_ports=8, families=("slim_fly",))
    assert "no design of slim_fly has 1,000 terminals with 8 ports per router" in message.what
    radix = int(message.help.removeprefix("use a radix of at least ").split(",")[0])
    assert len(search(Wanted(1000, radix, families=("slim_fly",))).candidates) >= 1


def test_senseless_searches_are_refused() -> None:
    assert (
        "Weft has no formulas for the topology 'mesh'" in refused(terminals=9, radix_ports=9, families=("mesh",)).what
    )
    for terminals, radix in [(1, 9), (1000, 1), (1000, 5000), (10**9, 36)]:
        assert (
            "write 2 to 10,000,000 terminals, and 2 to 512 ports"
            in refused(terminals=terminals, radix_ports=radix).help
        )


def test_more_terminals_than_any_radix_connects_are_refused_soon() -> None:
    begin = time.process_time()
    message = refused(terminals=10**7, radix_ports=8, families=("slim_fly", "k_ary_n_tree"))
    assert message.help.startswith("use a radix of at least ")
    assert time.process_time() - begin < 60


def test_only_limits_that_are_missed_are_to_be_changed() -> None:
    message = refused(terminals=200, radix_ports=24, budget_usd=1e7, diameter_hops=1)
    assert "allow a diameter of" in message.help
    assert "cost" not in message.help


def test_where_racks_have_sizes_the_front_is_that_of_the_graphs() -> None:
    assumed = Assumptions(packaging=Packaging(terminals_per_rack=16, pitch_m=3), seeds=4)
    families = ("flex", "hyperx", "dragonfly")
    found = search(Wanted(64, 14, families=families), assumed, most_measured_links=10**9)
    assert not (found.candidates["terminals"] > 16 * found.candidates["routers"]).any()
    front = found.front
    assert set(front["cost_is"]) == {MEASURED}
    # the test builds all candidates: none is cheaper than the search assumed without building it, so the front is right
    built = compare({str(place): topology for place, topology in enumerate(found.topologies)}, assumed).designs
    costs = np.array([design.money["cost_usd"] for design in built])
    assert (costs >= found.candidates["cost_usd"].to_numpy() - 1e-6).all()
    for row in front.to_dicts():
        (place,) = (place for place, design in enumerate(built) if in_words(design.topology) == row["topology"])
        assert (row["cost_usd"], row["racks"]) == (pytest.approx(costs[place]), built[place].money["racks"])
    cheapest = min(cost for cost, known in zip(costs, found.candidates["diameter_hops"], strict=True) if known == 2)
    assert front.filter(pl.col("diameter_hops") == 2)["cost_usd"].min() == pytest.approx(cheapest)


def test_racks_that_no_router_fits_into_are_refused() -> None:
    with pytest.raises(WeftError, match=r"and 1 terminal in a rack(?s:.*)or allow more terminals per rack"):
        search(Wanted(40, 12, families=("fat_tree",)), Assumptions(packaging=Packaging(terminals_per_rack=1)))


def test_ten_thousand_candidates_are_searched_in_ten_seconds() -> None:
    begin = time.process_time()
    found = search(Wanted(10_000, 64, budget_usd=6e7))
    assert len(found.candidates) > 30_000
    assert time.process_time() - begin < 30  # three times as many took 3 s on an idle machine


def test_the_command_searches(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    asked = ["design", "search", "--terminals", "200", "--radix", "24", "--budget", "1.2e6"]
    page = tmp_path / "front.html"
    assert cli.main([*asked, "--json", "--out", str(page), "--shown", "3"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows == sorted(rows, key=lambda row: float(row["cost_usd"]))
    assert {row["topology"].split("(")[0] for row in rows} <= set(FAMILIES)
    assert "Candidates" in page.read_text(encoding="utf-8")
    assert cli.main([*asked, "--budget", "1"]) == 2
    assert "misses 1 $ by" in capsys.readouterr().err


def test_a_search_knows_leaves_and_spines() -> None:
    # leaves have 16 of their 32 ports down and 16 up, so 512 terminals need 32 leaves and 16 spines; the smallest cut
    # separates 16 leaves with 16 uplinks each
    found = search(Wanted(512, 32, bisection_links=256), most_measured_links=0).front
    cheapest = found.row(0, named=True)
    assert cheapest["topology"] == "fat_tree(radix 32, levels 2, terminals 512)"
    assert (cheapest["routers"], cheapest["bisection_links"], cheapest["bisection_is"]) == (48, 256, EXACT)


def _refused(capsys: pytest.CaptureFixture[str], words: str) -> str:
    assert cli.main(["design", "search", "--terminals", "100", "--radix", "16", *words.split()]) == 2
    return capsys.readouterr().err


@pytest.mark.parametrize("hardware", ["400Gb/s --cables sr", "400Gb/s --cables dr", "200Gb/s --cables acc"])
def test_a_search_without_prices_names_hardware_that_has_prices(
    hardware: str, capsys: pytest.CaptureFixture[str]
) -> None:
    message = _refused(capsys, f"--catalogue {hardware}")
    assert "designs are compared by cost, but the catalogue has no price in dollars for: " in message
    found = re.search(r"or write `(--catalogue [^`]*)`", message)
    assert found is not None, message
    limits = ["--terminals", "100", "--radix", "16", "--topologies", "fat_tree"]
    assert cli.main(["design", "search", *limits, *found[1].split()]) == 0


def test_a_search_at_a_speed_without_prices_needs_a_price_list(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hardware = "--catalogue 100Gb/s --cables dac"
    message = _refused(capsys, hardware)
    assert "at 100Gb/s the catalogue has no complete prices" in message
    assert "`weft design prices --list` shows one" in message
    assert cli.main(["design", "prices", "--list"]) == 0
    prices = tmp_path / "prices.csv"
    prices.write_text(capsys.readouterr().out, encoding="utf-8")
    words = f"--terminals 100 --radix 16 --topologies fat_tree {hardware} --prices {prices}"
    assert cli.main(["design", "search", *words.split()]) == 0
