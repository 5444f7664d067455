"""The bill of a year as lines of text, for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.analysis.bill import HOURS_PER_YEAR, PERIODS, REFERENCE
from weft.text.columns import columns

if TYPE_CHECKING:
    from weft.analysis.bill import YearlyBill


def lines(yearly: YearlyBill) -> list[str]:
    """Two tables: power, energy and money of each series, and its power in each part of the profile; then notes."""
    return [*columns(*totals(yearly)), "", *columns(*parts(yearly)), "", *notes(yearly)]


def totals(yearly: YearlyBill) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the table of energy and money."""
    money = yearly.bill.currency
    head = [
        "per year",
        "network [kW]",
        "site [kW]",
        "energy [kWh]",
        f"cost [{money}]",
        "saved [kWh]",
        f"saved [{money}]",
        "saved [%]",
    ]
    rows = []
    for row, numbers in zip(yearly.rows, yearly.frame.iter_rows(named=True), strict=True):
        share = numbers["saving_share"]
        shown = [
            numbers["power_kw"],
            numbers["site_power_kw"],
            numbers["site_energy_kwh_per_year"],
            numbers[f"cost_{money.lower()}_per_year"],
            numbers["saved_kwh_per_year"],
            numbers[f"saved_{money.lower()}_per_year"],
        ]
        rows.append([row.label, *map(written, shown), "-" if share is None else f"{100 * share:.1f}"])
    return head, rows


def parts(yearly: YearlyBill) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the table of power over the profile; a column per part."""
    bill = yearly.bill
    hours = PERIODS[bill.period]
    head = [f"site power [kW] over the {bill.period}"]
    for part in bill.parts:
        load = f", load {part.load:g}" if part.load is not None and part.name != f"load {part.load:g}" else ""
        head.append(f"{part.name} ({part.share * hours:.3g} h{load})")
    empty = ["-"] * len(bill.parts)
    rows = [[row.label, *([written(r.power_w * bill.pue / 1e3) for r in row.readings] or empty)] for row in yearly.rows]
    return head, rows


def notes(yearly: YearlyBill) -> list[str]:
    """What the numbers mean, and what is missing."""
    bill = yearly.bill
    year = f"a year has {HOURS_PER_YEAR} h; {bill.price:g} {bill.currency}/kWh"
    told = [f"network: links and routers that have a price; site: times the PUE of {bill.pue:g}; {year}"]
    if against := list(dict.fromkeys(row.baseline for row in yearly.rows if row.baseline_powers_w)):
        told.append(f"saved: at the same delivered work, against {' or '.join(against)}")
        if REFERENCE in against:
            told.append(f"  {REFERENCE}: from the same run, as no point at {bill.baseline} has its other coordinates")
    told += between(yearly)
    told += [f"{row.label}: {row.refused or row.unequal}" for row in yearly.rows if row.refused or row.unequal]
    return told


def between(yearly: YearlyBill) -> list[str]:
    """Which parts were not measured at their own load."""
    found: dict[str, None] = {}
    for row in yearly.rows:
        for part, reading in zip(yearly.bill.parts if row.readings else (), row.readings, strict=True):
            low, high = reading.between
            if low != high:
                found[f"{part.name}: power interpolated linearly between the loads {low:g} and {high:g}"] = None
    return list(found)


def written(value: float | None) -> str:
    """A number with four significant digits, whole from a thousand on; a dash for ``None``."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
