"""Tests that energies below a femtojoule are exact in results, tables and output."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import polars as pl
import pytest

import weft
from weft.analysis.dvfs import Rates, rate_scaled
from weft.report.data import collect
from weft.report.sources import Sources
from weft.results import tables

if TYPE_CHECKING:
    from pathlib import Path

    from weft.api.results import Results

# A network on a chip at 2 GHz: 80 channels of 0.9 uW for 10 us. A flit of 32 b at 0.04 fJ/bit costs 1.28 fJ.
CHIP = """
name: chip
cycle: 0.5ns
flit: 32b
topology: {mesh: {widths: [4, 4], terminals_per_router: 1}}
links: {default: {latency: 1cycle, vcs: 2, buffer: 8flits}}
routing: dimension_order
traffic: {pattern: uniform, packet: 4flits, load: 0.1}
power:
  policy: always_on
  groups: {by: router}
  prices: {"on": {static: 0.9uW, per_bit: 0.04fJ/bit}}
measure: {warmup: 1000cycles, window: 20000cycles}
"""


@pytest.fixture(scope="module")
def chip(tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder: Path = tmp_path_factory.mktemp("chip")
    (folder / "chip.yaml").write_text(CHIP)
    return weft.load(folder / "chip.yaml").run(folder / "results")


def test_every_table_of_a_chip_has_its_energy(chip: Results) -> None:
    summary, channels, groups = chip.summaries[0], chip.channels(0), chip.groups(0)
    assert summary["energy_static_fj"] == "720000"
    flits = sum(channels["flits"].to_list())
    assert Fraction(summary["energy_dynamic_fj"]) == flits * Fraction("1.28") == Fraction("189173.76")
    for table in (channels, groups):
        for column in ("energy_static_fj", "energy_dynamic_fj", "energy_fj"):
            key = column if column != "energy_fj" else "energy_total_fj"
            assert table[column].dtype == pl.Decimal(38, 9)
            assert Fraction(table[column].sum()) == Fraction(summary[key]), column
    # a channel draws 0.9 uW for 20,000 cycles of 0.5 ns: 9,000 fJ
    assert {Fraction(each) for each in channels["energy_static_fj"]} == {Fraction(9000)}


def test_what_is_derived_from_it_has_the_same_energy(chip: Results) -> None:
    summary, channels = chip.summaries[0], chip.channels(0)
    scaled = rate_scaled(chip, Rates((1.0,), (1.0,))).row(0, named=True)
    between = channels.drop_nulls(["from_router", "to_router"])
    assert scaled["energy_network_j"] == pytest.approx(float(between["energy_fj"].sum()) * 1e-15, rel=1e-12)
    assert summary["power_mean_w"] == pytest.approx(909173.76e-15 / 10e-6, rel=1e-12)
    # the energy is less than 0.05 pJ/bit, which one decimal place would show as 0
    shown = f"{summary['energy_per_bit_pj']:.2g}"
    assert float(shown) > 0
    assert shown in tables.loads(chip)


def test_a_report_has_the_energy_of_groups(chip: Results, tmp_path: Path) -> None:
    held = collect(Sources([chip]))
    (listing,) = (each for each in held["listings"] if each["name"] == "groups")
    (rows,) = listing["rows"]
    energies = sum(row["energy_j"] for row in rows)
    assert energies == pytest.approx(909173.76e-15, rel=1e-5)
    assert chip.report(tmp_path / "page.html").is_file(), "its decimals are numbers in JSON"
