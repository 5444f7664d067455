"""Writes the energy bill of a year as lines of text. A series is a set of points that differ only in load and seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.results import price_source, soundness
from weft.results.bill_baseline import REFERENCE, USUAL
from weft.results.bill_keys import HOURS_PER_YEAR, PERIODS
from weft.text.columns import columns
from weft.text.labels import setting
from weft.text.si import si

if TYPE_CHECKING:
    from collections.abc import Callable

    from weft.results.bill_points import Reading
    from weft.results.yearly_bill import Billed, YearlyBill

# Number of significant digits of power, energy and money.
_DIGITS = 4
# Mark of numbers for which terminals waited for replies and did not deliver the load of the profile.
SHORT_MARK = soundness.OVERLOADED_MARK
_SHORT = "the load of the profile is not delivered, so this is no bill for this profile"
# Maximum number of series that the headline mentions.
_TOLD = 3


def lines(yearly: YearlyBill) -> list[str]:
    """The lines of the headline and of all tables.

    The tables have power, energy and money of each series, and its power and latency over the profile.
    """
    tables = [totals(yearly), parts(yearly), *([latencies(yearly)] if has_latencies(yearly) else [])]
    shown = headline(yearly)
    head = [*shown, ""] if shown else []
    return head + [line for table in tables for line in (*columns(*table), "")] + notes(yearly)


def headline(yearly: YearlyBill) -> list[str]:
    """A sentence for each series that is compared with another series, the greatest yearly saving first.

    Series that do not deliver the loads of the profile are left out.
    """
    known = zip(yearly.rows, yearly.frame.iter_rows(named=True), strict=True)
    compared = [
        (row, numbers) for row, numbers in known if numbers["saving_share"] is not None and not yearly.shortfalls(row)
    ]
    compared.sort(key=lambda each: -each[1]["saving_share"])
    values = []
    for row, numbers in compared[:_TOLD]:
        cost, saved = (numbers[yearly.money(what)] for what in ("cost", "saved"))
        currency = yearly.bill.currency
        money = f"a year costs {amount(cost)} {currency} instead of {amount(cost + saved)} {currency}"
        values.append(f"{row.label}: {money} ({saving(numbers['saving_share'])})")
    more = len(compared) - _TOLD
    return [*values, f"and {more} more series: see the table"] if more > 0 else values


def saving(share: float) -> str:
    """Text on a yearly saving as a share of the baseline."""
    if not share:
        return "no difference beyond chance"
    return f"{100 * abs(share):.1f} % {'less' if share > 0 else 'more'}"


def totals(yearly: YearlyBill) -> tuple[list[str], list[list[str]]]:
    """Heading and rows of the table with energy and money of each series per year."""
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
        mark = SHORT_MARK if row.readings and yearly.shortfalls(row) else ""
        rows.append(
            [
                row.label,
                kilo(numbers["power_kw"], "W"),
                kilo(numbers["site_power_kw"], "W"),
                kilo(numbers["site_energy_kwh_per_year"], "Wh"),
                amount(numbers[yearly.money("cost")]) + mark,
                kilo(numbers["saved_kwh_per_year"], "Wh"),
                amount(numbers[yearly.money("saved")]),
                "-" if share is None else f"{100 * share:.1f}{mark}",
            ]
        )
    return head, rows


def parts(yearly: YearlyBill) -> tuple[list[str], list[list[str]]]:
    """Heading and rows of the table of power over the profile, with a column per part."""
    pue = yearly.bill.pue

    def power(reading: Reading) -> str:
        return si(reading.power_w * pue, "W", _DIGITS) + _short(reading)

    return _over_the_profile(yearly, f"site power over the {yearly.bill.period}", power)


def has_latencies(yearly: YearlyBill) -> bool:
    """Whether a latency was measured for any part of the profile."""
    return any(each and each.latency_cycles is not None for row in yearly.rows for each in row.measured)


def latencies(yearly: YearlyBill) -> tuple[list[str], list[list[str]]]:
    """Heading and rows of the table of mean packet latencies over the profile, with a column per part."""

    def latency(reading: Reading) -> str:
        dropping = soundness.DROPPING_MARK if reading.dropped_share else ""
        return cycles(reading.latency_cycles) + dropping + _short(reading)

    return _over_the_profile(yearly, "mean packet latency [cycles]", latency)


def _short(reading: Reading) -> str:
    """The mark of a reading that does not deliver its load; empty for other readings."""
    return SHORT_MARK if reading.short else ""


def cycles(latency: float | None) -> str:
    """A latency in cycles as a string; a dash for ``None``."""
    return "-" if latency is None else f"{latency:,.1f}"


def _over_the_profile(
    yearly: YearlyBill, title: str, written: Callable[[Reading], str]
) -> tuple[list[str], list[list[str]]]:
    """Heading and rows of a table with a column per part of the profile.

    If the power in a part of the profile is unknown, the row has a dash.
    """
    bill = yearly.bill
    hours = PERIODS[bill.period]
    head = [title]
    for part in bill.parts:
        load = f", load {part.load:g}" if part.load is not None and part.name != f"load {part.load:g}" else ""
        head.append(f"{part.name} ({part.share * hours:.3g} h{load})")
    rows = [[row.label, *(written(each) if each else "-" for each in row.measured)] for row in yearly.rows]
    return head, rows


def notes(yearly: YearlyBill) -> list[str]:
    """Notes on the meaning of the numbers in the tables, and on missing numbers."""
    bill = yearly.bill
    year = f"a year has {HOURS_PER_YEAR} h; {bill.price:g} {bill.currency}/kWh"
    shown = [f"network: links and routers with a price; site: network times the PUE of {bill.pue:g}; {year}"]
    shown += price_source.lines(yearly.results.summaries)
    if against := list(dict.fromkeys(row.baseline for row in yearly.rows if row.baseline_powers_w)):
        shown.append(f"saved: compared with {' or '.join(against)}, for the same delivered load")
        if REFERENCE in against:
            shown.append(f"  {REFERENCE}: from the same run, because no point differs from it only in {setting(USUAL)}")
    shown += _price_in_latency(yearly)
    if has_latencies(yearly) and any(each and each.dropped_share for row in yearly.rows for each in row.measured):
        shown.append(f"{soundness.DROPPING_MARK}: {soundness.MARKS[soundness.DROPPING_MARK]}")
    shown += _of_faults(yearly)
    shown += _of_short(yearly) + _of_unknown(yearly)
    for row in yearly.rows:
        if reason := row.refused or row.unequal:
            shown += [f"{row.label}: {reason}", *(f"  {remedy}" for remedy in row.remedies)]
    return shown


def _price_in_latency(yearly: YearlyBill) -> list[str]:
    """Lines on the latency that each saving costs: its largest increase over the baseline in a part of the profile."""
    values = []
    for row, numbers in zip(yearly.rows, yearly.frame.iter_rows(named=True), strict=True):
        saved = numbers[yearly.money("saved")]
        if saved is None:
            continue
        pairs = [
            (reading.latency_cycles / base, part.name, reading.latency_cycles, base)
            for part, reading, base in zip(yearly.bill.parts, row.readings, row.baseline_latencies_cycles, strict=False)
            if reading.latency_cycles is not None and base
        ]
        money = _money(row, saved, yearly.bill.currency) + (f" ({SHORT_MARK})" if yearly.shortfalls(row) else "")
        if pairs:
            _, where, own, base = max(pairs)
            lost = yearly.mean([each.dropped_share for each in row.readings])
            dropped = f"; {100 * lost:.3g} % of its packets are dropped" if lost else ""
            latency = f"mean latency {cycles(own)} instead of {cycles(base)} cycles at {where}"
            values.append(f"{row.label} {money}; {latency}{dropped}")
        elif row.baseline == REFERENCE:
            values.append(
                f"{row.label} {money}; its cost in latency is unknown: no point differs from it only in"
                f" {setting(USUAL)}"
            )
    return values


def _money(row: Billed, saved: float, currency: str) -> str:
    """Text on the yearly saving of a policy in money."""
    if not saved:
        return "saves nothing" + ("" if row.baseline == REFERENCE else " beyond chance")
    return f"{'saves' if saved > 0 else 'costs'} {amount(abs(saved))} {currency} a year{'' if saved > 0 else ' more'}"


def _of_short(yearly: YearlyBill) -> list[str]:
    """Notes on series that do not deliver the loads of the profile, with the remedy."""
    short = {row.label: shown for row in yearly.rows if (shown := yearly.shortfalls(row))}
    if not short:
        return []
    remedy = "  name loads that are delivered, or remove `outstanding`: requests then wait for no reply"
    return [f"{SHORT_MARK}: {_SHORT}", *(f"  {name}: {'; '.join(shown)}" for name, shown in short.items()), remedy]


def _of_unknown(yearly: YearlyBill) -> list[str]:
    """A note on the first part of the profile whose mean load is unknown, if its terminals wait for replies."""
    for row in yearly.rows:
        for part, reading in zip(yearly.bill.parts, row.measured, strict=False):
            if reading and reading.unknown_load:
                where = f"{row.label}, {part.name}" if row.label else part.name
                why = f"its mean load is unknown because {reading.unknown_load}"
                return [f"terminals wait for replies: the load of the profile ({where}) may not be delivered: {why}"]
    return []


def _of_faults(yearly: YearlyBill) -> list[str]:
    """Notes on the bills of networks with faults, and on the share of lost packets."""
    failing = [row for row in yearly.rows if row.faults and row.readings]
    if not failing:
        return []
    lines = [
        (
            "faults: the bill assumes that they last the same share of the year as of the window; failed links and "
            "routers draw no power"
        )
    ]
    lost = [(row.label, yearly.mean([each.dropped_share for each in row.readings])) for row in failing]
    return [
        *lines,
        *(
            f"  {name}: {100 * each:.3g} % of its packets were dropped (a link or router had failed)"
            for name, each in lost
            if each
        ),
    ]


def kilo(value: float | None, unit: str) -> str:
    """A value [thousands of the unit] as a string with the suitable prefix, such as k or M."""
    return si(None if value is None else 1e3 * value, unit, _DIGITS)


def amount(value: float | None) -> str:
    """An amount of money as a string with four significant digits; a dash for ``None``.

    An amount of a thousand or more has no decimals.
    """
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{_DIGITS}g}"
