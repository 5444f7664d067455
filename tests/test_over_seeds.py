"""Tests exports of results with means over seeds."""

from __future__ import annotations

import pytest

from weft.results import over_seeds

RUNS = [
    {
        "point": 0,
        "traffic.load": 0.1,
        "seed": seed,
        "energy_total_fj": energy,
        "accepted_load": accepted,
        "packets": packets,
        "packet_latency_p99_cycles": p99,
        "network_latency_ci95_cycles": accepted,
        "saturated": seed == 2,
    }
    for seed, energy, accepted, packets, p99 in ((1, "100.5", 0.1, 500, 40), (2, "101.5", 0.3, 510, 43))
]


def test_exact_energies_have_a_mean_and_an_interval() -> None:
    """Exact energies are strings in a summary, but their export has a mean and a half-width: Student's t with one
    degree of freedom, 12.706, times the standard error of the two values, 0.5.
    """
    row = over_seeds.frame(list(RUNS[0]), RUNS, ["traffic.load"]).row(0, named=True)
    assert row["energy_total_fj"] == pytest.approx(101.0)
    assert row["energy_total_fj" + over_seeds.HALF_WIDTH] == pytest.approx(12.706 * 0.5, rel=1e-3)
    assert row["accepted_load"] == pytest.approx(0.2)


def test_an_energy_that_all_runs_share_stays_exact() -> None:
    same = [run | {"energy_total_fj": "100.123456789123456789"} for run in RUNS]
    row = over_seeds.frame(list(same[0]), same, ["traffic.load"]).row(0, named=True)
    assert row["energy_total_fj"] == "100.123456789123456789"


def test_counts_and_percentiles_are_whole_numbers_with_a_mean_and_an_interval() -> None:
    """The standard error of two values is half of their difference, here 5 packets and 1.5 cycles.

    The half-width of a confidence interval is the standard error times Student's t = 12.706.
    """
    row = over_seeds.frame(list(RUNS[0]), RUNS, ["traffic.load"]).row(0, named=True)
    assert row["packets"] == pytest.approx(505)
    assert row["packets" + over_seeds.HALF_WIDTH] == pytest.approx(12.706 * 5, rel=1e-3)
    assert row["packet_latency_p99_cycles"] == pytest.approx(41.5)
    assert row["packet_latency_p99_cycles" + over_seeds.HALF_WIDTH] == pytest.approx(12.706 * 1.5, rel=1e-3)
    # booleans, intervals, and the load, which is equal for all seeds, have no interval
    assert row["saturated"] is True
    assert [name for name in row if name.endswith(over_seeds.HALF_WIDTH)] == [
        f"{name}{over_seeds.HALF_WIDTH}"
        for name in ("energy_total_fj", "accepted_load", "packets", "packet_latency_p99_cycles")
    ]
