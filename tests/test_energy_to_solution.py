"""Tests the study on the page "energy to solution": networks of equal cost, points, and the arithmetic of the table."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

import weft
from weft.design.comparison_of_designs import compare

ROOT = Path(__file__).parents[1]
EXAMPLE, DESIGNS = ROOT / "examples" / "energy_to_solution.yaml", ROOT / "examples" / "designs" / "seventy.yaml"


def script() -> Any:
    """Load the script that makes the table and the figure of the study's page."""
    spec = importlib.util.spec_from_file_location("table_of_page", ROOT / "docs" / "howto" / "energy_to_solution.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_networks_cost_the_same_and_are_those_of_the_designs() -> None:
    designs = yaml.safe_load(DESIGNS.read_text(encoding="utf-8"))["designs"]
    found = compare(DESIGNS)
    costs = found.frame["cost_usd"].to_list()
    assert all(abs(cost / 345_000 - 1) < 0.04 for cost in costs), costs
    assert found.frame["terminals"].min() == 64
    zipped = yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))["zip"]["topology"]
    assert [each for number, each in enumerate(zipped) if each not in zipped[:number]] == [*designs.values()]


def test_every_network_has_links_always_on_and_the_same_three_policies() -> None:
    points = weft.load(EXAMPLE, overrides={"sweep.seed": [1]}).points
    assert len(points) == 23 * 4
    policies: dict[str, set[str]] = {}
    for point in points:
        policies.setdefault(next(iter(point.resolved["topology"])), set()).add(
            next(iter(point.resolved["power"]["policy"]))
        )
    common = {"always_on", "idle_timeout", "rate_ladder", "width"}
    assert set.intersection(*policies.values()) == common
    assert policies["k_ary_n_tree"] - common == {"elastic_tree"}
    assert policies["hyperx"] - common == {"tcep", "slac"}


def test_the_table_has_means_paired_changes_and_the_front() -> None:
    """With always-on links, the runs of two seeds take 100 and 120 us.

    Under the policy the same seeds take 10 % longer and use half the energy.
    """
    rows = pl.DataFrame(
        {
            "application": ["MG"] * 4,
            "network": ["tree"] * 4,
            "policy": ["always_on", "width", "always_on", "width"],
            "seed": [1, 1, 2, 2],
            "time": [100.0, 110.0, 120.0, 132.0],
            "energy": [10.0, 5.0, 12.0, 6.0],
        }
    )
    page = script()
    found = page.means(rows)
    on, width = found.to_dicts()
    assert (on["time"], width["energy"]) == (110, 5.5)
    # the half-width is the standard error of 10 us times the quantile of Student's t with one degree of freedom
    assert on["time_error"] == pytest.approx(12.706 * 10, rel=1e-3)
    assert (width["time_change"], width["energy_change"]) == pytest.approx((10, -50))
    assert width["time_change_error"] == pytest.approx(0, abs=1e-9), "seed by seed the change is the same"
    assert page.front(found) == [("tree", "always_on"), ("tree", "width")]
    slower = found.with_columns(energy=pl.when(pl.col("policy") == "width").then(12.0).otherwise("energy"))
    assert page.front(slower) == [("tree", "always_on")]


def test_what_was_not_run_leaves_its_cells_empty() -> None:
    """The results have MG on the tree, with two seeds under the policy `width` but only one with always-on links.

    On the torus they lack always-on links, so the torus has no reference.
    """
    rows = pl.DataFrame(
        {
            "application": ["MG", "MG", "MG", "BigFFT"],
            "network": ["tree", "tree", "tree", "torus"],
            "policy": ["always_on", "width", "width", "width"],
            "seed": [1, 1, 2, 1],
            "time": [100.0, 110.0, 120.0, 50.0],
            "energy": [10.0, 5.0, 6.0, 4.0],
        }
    )
    page = script()
    found = page.means(rows)
    assert found["seeds"].to_list() == [1, 2, 1]
    assert page.table(found).splitlines()[2:] == [
        "| tree | `always_on` |  |  | **100.0<br>10.0** |  |",
        "| tree | `width` |  |  | **115.0 ± 63.5<br>5.5 ± 6.4** |  |",
        "| torus | `width` | **50.0<br>4.0** |  |  |  |",
    ]
    assert page.changes(found).splitlines()[2:] == [
        "| tree | `width` |  |  | +10.0<br>-50.0 |  |",
        "| torus | `width` |  |  |  |  |",
    ]
    assert [axes.get_title("left") for axes in page.picture(found).axes] == ["BigFFT", "MG"]


def test_a_small_run_has_a_row_per_run_and_a_picture(tmp_path: Path) -> None:
    small = {"multigrid": {"ranks": 8, "points": 4, "cycles": 1, "time_per_point": "1ns"}}
    sets = {
        "traffic.jobs.0.terminals": {"random": {"count": 8}},
        f"sweep.{script().PROGRAM}": [
            small,
            {"big_fft": {"ranks": 8, "points": 8, "iterations": 1, "time_per_point": "1ns"}},
            {"nekbone": {"ranks": 8, "elements": 1, "order": 2, "iterations": 1, "time_per_point": "1ns"}},
            {"collective": {"operation": "all_reduce", "ranks": 8, "bytes": "1KiB"}},
        ],
        "sweep.seed": [1, 2],
        "zip.topology": [{"torus": {"widths": [3, 3], "terminals_per_router": 1}}] * 2,
        "zip.routing": ["minimal_adaptive"] * 2,
        "zip.power.policy": ["always_on", {"width": {"window": "10us", "wake": "1us", "sleep": "1us"}}],
    }
    weft.load(EXAMPLE, overrides=sets).run(tmp_path / "runs", watch=False)
    page = script()
    found = page.means(page.runs(str(tmp_path / "runs")))
    assert page.table(found).count("\n") == 3, "two lines of the head, two policies"
    assert page.changes(found).count("\n") == 2
    assert [axes.get_title("left") for axes in page.picture(found).axes] == [*page.APPLICATIONS.values()]
