"""The bill of a year as lines of text, for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.results.bill_baseline import USUAL
from weft.results.bill_keys import HOURS_PER_YEAR, PERIODS
from weft.results.yearly_bill import REFERENCE
from weft.text.columns import columns
from weft.text.labels import setting
from weft.text.si import si

if TYPE_CHECKING:
    from weft.results.yearly_bill import YearlyBill

# Significant digits of power, energy and money.
_DIGITS = 4


def lines(yearly: YearlyBill) -> list[str]:
    """Two tables: power, energy and money of each series, and its power in each part of the profile; then notes."""
    return [*columns(*totals(yearly)), "", *columns(*parts(yearly)), "", *notes(yearly)]


def totals(yearly: YearlyBill) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the table of energy and money."""
    money = yearly.bill.currency
    head = [
        "per year",
        "network",
        "site",
        "energy",
        f"cost [{money}]",
        "saved energy",
        f"saved [{money}]",
        "saved [%]",
    ]
    rows = []
    for row, numbers in zip(yearly.rows, yearly.frame.iter_rows(named=True), strict=True):
        share = numbers["saving_share"]
        rows.append(
            [
                row.label,
                kilo(numbers["power_kw"], "W"),
                kilo(numbers["site_power_kw"], "W"),
                kilo(numbers["site_energy_kwh_per_year"], "Wh"),
                amount(numbers[yearly.money("cost")]),
                kilo(numbers["saved_kwh_per_year"], "Wh"),
                amount(numbers[yearly.money("saved")]),
                "-" if share is None else f"{100 * share:.1f}",
            ]
        )
    return head, rows


def parts(yearly: YearlyBill) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the table of power over the profile; a column per part."""
    bill = yearly.bill
    hours = PERIODS[bill.period]
    head = [f"site power over the {bill.period}"]
    for part in bill.parts:
        load = f", load {part.load:g}" if part.load is not None and part.name != f"load {part.load:g}" else ""
        head.append(f"{part.name} ({part.share * hours:.3g} h{load})")
    empty = ["-"] * len(bill.parts)
    rows = [
        [row.label, *([si(r.power_w * bill.pue, "W", _DIGITS) for r in row.readings] or empty)] for row in yearly.rows
    ]
    return head, rows


def notes(yearly: YearlyBill) -> list[str]:
    """What the numbers mean, and what is missing."""
    bill = yearly.bill
    year = f"a year has {HOURS_PER_YEAR} h; {bill.price:g} {bill.currency}/kWh"
    told = [f"network: links and routers that have a price; site: times the PUE of {bill.pue:g}; {year}"]
    if against := list(dict.fromkeys(row.baseline for row in yearly.rows if row.baseline_powers_w)):
        told.append(f"saved: at the same delivered work, against {' or '.join(against)}")
        if REFERENCE in against:
            told.append(f"  {REFERENCE}: from the same run, as no point at {setting(USUAL)} was measured beside it")
    told += _of_faults(yearly)
    for row in yearly.rows:
        if reason := row.refused or row.unequal:
            told += [f"{row.label}: {reason}", *(f"  {remedy}" for remedy in row.remedies)]
    return told


def _of_faults(yearly: YearlyBill) -> list[str]:
    """What the numbers of networks mean in which something fails, and which share of their packets was lost."""
    failing = [row for row in yearly.rows if row.faults and row.readings]
    if not failing:
        return []
    told = ["faults: billed as if they filled the same share of the year as of the window; what failed draws no power"]
    lost = [(row.label, yearly.mean([each.dropped_share for each in row.readings])) for row in failing]
    return [
        *told,
        *(
            f"  {name}: {100 * each:.3g} % of its packets were dropped (a router had failed)"
            for name, each in lost
            if each
        ),
    ]


def kilo(value: float | None, unit: str) -> str:
    """A number of thousands of a unit, with the prefix that suits it."""
    return si(None if value is None else 1e3 * value, unit, _DIGITS)


def amount(value: float | None) -> str:
    """Money, with four significant digits, whole from a thousand on; a dash for ``None``."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{_DIGITS}g}"
