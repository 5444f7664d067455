"""Tests the comparison of two result sets."""

from __future__ import annotations

import io
import json
import math
import shutil
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import weft
from conftest import made
from weft.cli import main
from weft.cli.compare import _signed
from weft.results.choose import Chosen
from weft.results.comparison import COMPARED, compare
from weft.results.confidence import Mean, quantile95

if TYPE_CHECKING:
    from pathlib import Path

    from weft.api.results import Results

LATENCY, ACCEPTED = "packet_latency_mean_cycles", "accepted_load"


def rows(a: Results, b: Results, quantity: str = LATENCY) -> list[dict[str, Any]]:
    return a.compare(b).filter(pl.col("quantity") == quantity).to_dicts()


def test_the_quantile_of_student() -> None:
    """The quantiles of Student's distribution are known: one degree of freedom gives Cauchy's distribution, two have a
    closed form, and many give the normal distribution."""
    assert quantile95(1) == pytest.approx(math.tan(0.95 * math.pi / 2), rel=1e-6)
    assert quantile95(2) == pytest.approx(0.95 * math.sqrt(2 / (1 - 0.95**2)), rel=1e-6)
    assert quantile95(1e6) == pytest.approx(1.96, abs=0.003)
    assert quantile95(2) > quantile95(2.5) > quantile95(3)


def test_intervals_cover_the_truth_as_often_as_they_say() -> None:
    """Welch's interval contains the true difference of means in 95 % of the cases, for samples of 4 and of 7 normal
    values with unequal spreads.
    """
    import numpy as np

    draws, trials = np.random.default_rng(1), 600
    held = 0
    for _ in range(trials):
        a, b = Mean.of(list(draws.normal(10, 1, 4)), None), Mean.of(list(draws.normal(13, 3, 7)), None)
        half_width = a.difference_half_width(b)
        assert half_width is not None
        held += abs(b.value - a.value - 3) <= half_width
    assert held / trials == pytest.approx(0.95, abs=4 * math.sqrt(0.95 * 0.05 / trials))


def test_single_runs_differ_if_the_difference_exceeds_both_intervals(tmp_path: Path) -> None:
    a = made(tmp_path / "a", [({"traffic.load": load}, {"packet_latency_ci95_cycles": 3.0}) for load in (0.1, 0.2)])
    own = {"packet_latency_ci95_cycles": 4.0}
    b = made(
        tmp_path / "b", [({"traffic.load": 0.1}, {LATENCY: 26.0, **own}), ({"traffic.load": 0.2}, {LATENCY: 14, **own})]
    )
    first, second = rows(a, b)
    assert (first["difference"], first["half_width"], first["relative"]) == (6.0, 5.0, 0.3), "3, 4, 5"
    assert (first["significant"], second["significant"]) == (True, True)
    assert second["difference"] == -6.0
    accepted = rows(a, b, ACCEPTED)[0]
    assert (accepted["half_width"], accepted["significant"]) == (None, None), "a single run does not know"


def test_runs_with_a_flaw_are_counted_below_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Saturated runs are not counted there, because they already have a mark in the table."""
    made(tmp_path / "a", [({"traffic.load": 0.1}, {}), ({"traffic.load": 0.2}, {})])
    made(
        tmp_path / "b",
        [
            ({"traffic.load": 0.1}, {"power_settled": False}),
            ({"traffic.load": 0.2}, {"ending": "saturated", "saturated": True}),
        ],
    )
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    out = capsys.readouterr().out
    assert "B: 1 run is not settled (power states); such runs are never called the best [power_unsettled]" in out
    assert out.count("such runs are never called the best") == 1
    assert " sat " in out


def test_several_seeds_give_an_interval_for_everything(tmp_path: Path) -> None:
    loads = [(1, 0.50), (2, 0.52), (3, 0.54)]
    a = made(tmp_path / "a", [({"seed": seed}, {ACCEPTED: load}) for seed, load in loads])
    b = made(tmp_path / "b", [({"seed": seed}, {ACCEPTED: load + 0.1}) for seed, load in loads])
    (row,) = rows(a, b, ACCEPTED)
    # both result sets have a variance of 0.02^2 over 3 runs, which gives 2 + 2 = 4 degrees of freedom
    assert row["half_width"] == pytest.approx(quantile95(4) * math.sqrt(2 * 0.02**2 / 3))
    assert row["difference"] == pytest.approx(0.1)
    assert row["significant"]


def test_saturated_points_have_no_latency_to_compare(tmp_path: Path) -> None:
    over = {"ending": "saturated", "saturated": True, LATENCY: 5000.0}
    a, b = made(tmp_path / "a", [({}, {})]), made(tmp_path / "b", [({}, over)])
    (row,) = rows(a, b)
    assert (row["a"], row["b"], row["difference"], row["b_ending"]) == (20.0, None, None, "saturated")
    assert rows(a, b, ACCEPTED)[0]["difference"] == 0
    stuck = made(tmp_path / "c", [({}, {"ending": "stalled"})])
    assert rows(stuck, a)[0]["a_ending"] == "stalled"


def test_points_of_only_one_are_named(tmp_path: Path) -> None:
    a = made(tmp_path / "a", [({"traffic.load": load}, {}) for load in (0.1, 0.2, 0.3)])
    b = made(tmp_path / "b", [({"traffic.load": load}, {}) for load in (0.2, 0.3, 0.4)])
    compared = compare(Chosen.all_of(a), Chosen.all_of(b))
    assert [pair.place["traffic.load"] for pair in compared.pairs] == [0.2, 0.3]
    assert (compared.only_a, compared.only_b) == ([{"traffic.load": 0.1}], [{"traffic.load": 0.4}])
    assert compared.frame.height == 2 * len(COMPARED)


def test_models_that_both_never_share_are_what_is_compared(small: Path, tmp_path: Path) -> None:
    """Two result sets have different routings over the same patterns and loads.

    The comparison finds in the scenarios that the routing is the compared property.
    """
    sides = [
        weft.load(small, overrides={"routing": each}).run(tmp_path / each) for each in ("dimension_order", "ugal_p")
    ]
    compared = compare(Chosen.all_of(sides[0]), Chosen.all_of(sides[1]))
    assert compared.on == ["traffic.pattern", "traffic.load"]
    assert len(compared.pairs) == 6
    assert all(path.startswith("routing.") for path in compared.differ)
    for row in compared.frame.iter_rows(named=True):
        for side, results in zip("ab", sides, strict=True):
            here = (pl.col("traffic.pattern") == row["traffic.pattern"]) & (
                pl.col("traffic.load") == row["traffic.load"]
            )
            expected = results.frame.filter(here)[row["quantity"]].item()
            assert row[side] == (None if row[f"{side}_ending"] and "latency" in row["quantity"] else expected)


@pytest.fixture
def swept(small: Path, tmp_path: Path) -> Path:
    return weft.load(small).run(tmp_path / "swept").root


def test_parts_of_one_folder_are_compared(swept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = [f"{swept}:routing={each},pattern=uniform" for each in ("dimension_order", "ugal_p")]
    assert main(["compare", *chosen, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["on"] == ["traffic.load"]
    assert document["a"]["chosen"] == {"routing": "dimension_order", "traffic.pattern": "uniform"}
    frame = weft.open_results(swept).frame
    of_a = frame.filter((pl.col("routing") == "dimension_order") & (pl.col("traffic.pattern") == "uniform"))
    assert [row["a"] for row in document["rows"] if row["quantity"] == LATENCY] == of_a[LATENCY].to_list()
    assert main(["compare", *chosen, "--csv"]) == 0
    assert pl.read_csv(io.StringIO(capsys.readouterr().out)).height == len(document["rows"]) == 3 * len(COMPARED)
    assert main(["compare", *chosen]) == 0
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("Mean packet latency [cycles]")
    assert lines[at + 1].split() == ["traffic.load", "A", "B", "B", "-", "A", "+-", "change"]
    assert [float(line.split()[1]) for line in lines[at + 3 : at + 6]] == pytest.approx(
        of_a[LATENCY].to_list(), abs=0.01
    )


def test_a_set_equals_itself(swept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(swept), str(swept), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["differ"] == {}
    assert {row["difference"] for row in document["rows"]} == {0, None}
    assert not any(row["significant"] for row in document["rows"])


def test_a_difference_that_rounds_to_zero_has_no_sign() -> None:
    shown = [_signed(value, 4) for value in (-0.00001667, 0.00001667, 0.0, -0.00005001, 0.0737, None)]
    assert shown == ["0.0000", "0.0000", "0.0000", "-0.0001", "+0.0737", "-"]


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        ("routing=dimension_order", "routing=nonsense", ["no finished point", "dimension_order, ugal_p"]),
        ("rooting=ugal_p", "routing=ugal_p", ["rooting is not a coordinate", "traffic.pattern, routing, traffic.load"]),
        ("ugal_p", "routing=ugal_p", ["names no point", "path=value"]),
        ("load=0.1", "load=0.1,routing=ugal_p", ["choose one", ":load=0.1,", "routing=dimension_order"]),
    ],
)
def test_what_can_not_be_chosen_is_reported(
    swept: Path, capsys: pytest.CaptureFixture[str], a: str, b: str, words: list[str]
) -> None:
    assert main(["compare", f"{swept}:{a}", f"{swept}:{b}"]) == 2
    errors = capsys.readouterr().err
    assert all(word in errors for word in words), errors


def test_sets_without_common_points_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = made(tmp_path / "a", [({"traffic.load": load}, {}) for load in (0.1, 0.2)])
    b = made(tmp_path / "b", [({"traffic.load": load}, {}) for load in (0.3, 0.4)])
    assert main(["compare", str(a.root), str(b.root)]) == 2
    assert "no value of traffic.load in common: 0.1, 0.2 and 0.3, 0.4" in capsys.readouterr().err
    shutil.rmtree(b.root / "points")
    assert main(["compare", str(a.root), str(b.root)]) == 2
    assert "no finished point" in capsys.readouterr().err
    assert main(["compare", str(a.root), str(tmp_path / "nowhere")]) == 2
    assert "weft run" in capsys.readouterr().err
