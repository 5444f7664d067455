"""Writes the section of a report on the yearly cost of the network: two tables, and a picture of power over time."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from weft.errors import WeftError
from weft.report import bill_picture
from weft.results import bill_lines
from weft.results.bill_baseline import REFERENCE
from weft.results.bill_keys import Bill
from weft.results.yearly_bill import YearlyBill

if TYPE_CHECKING:
    from weft.report.sources import Sources
    from weft.results.result_set import ResultSet


def html(sources: Sources) -> Markup:
    """The HTML of the section; empty if no scenario has a bill."""
    pairs = zip(sources.results, sources.names, strict=True)
    parts = [_part(each, name) for each, name in pairs if len(each) and Bill.kept(each)]
    if not parts:
        return Markup("")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    text = files("weft.report").joinpath("assets", "bill.html.jinja").read_text(encoding="utf-8")
    return Markup(environment.from_string(text).render(parts=parts, several=len(parts) > 1))


def _part(results: ResultSet, name: str) -> dict[str, Any]:
    """The content of the section for one set of results."""
    try:
        yearly = YearlyBill(results)
    except WeftError as problem:
        return {"name": name, "refused": f"{problem.what}: {problem.help}"}
    return {
        "name": name,
        "refused": "",
        "tables": [
            (f"Cost per year, over the profile of a {yearly.bill.period}", *bill_lines.totals(yearly)),
            (f"Power over the {yearly.bill.period}", *bill_lines.parts(yearly)),
            *(
                [(f"Latency over the {yearly.bill.period}", *bill_lines.latencies(yearly))]
                if bill_lines.has_latencies(yearly)
                else []
            ),
        ],
        "headline": bill_lines.headline(yearly),
        "notes": _joined(bill_lines.notes(yearly)),
        "picture": Markup(_picture(yearly)),
    }


def _joined(lines: list[str]) -> list[str]:
    """The notes, each as one string: a note is joined with the indented lines below it, which give its remedies."""
    notes: list[str] = []
    for line in lines:
        if line.startswith(" ") and notes:
            notes[-1] += f"; {line.strip()}"
        else:
            notes.append(line)
    return notes


def _picture(yearly: YearlyBill) -> str:
    """Picture of power over the day or week, with a panel for each group of series with the same baseline."""
    panels: dict[str, dict[str, list[float]]] = {}
    for row in yearly.rows:
        lines = panels.setdefault(row.group, {})
        if row.readings:
            own = row.label.removesuffix(row.group).removesuffix(", ") or row.label
            lines[own] = yearly.site_kw([each.power_w for each in row.readings])
        if row.readings and row.baseline == REFERENCE:
            lines[REFERENCE if len(panels) > 1 or len(yearly.rows) == 1 else f"{own}: {REFERENCE}"] = yearly.site_kw(
                row.baseline_powers_w
            )
    return bill_picture.svg(
        {group: lines for group, lines in panels.items() if lines}, yearly.hours, yearly.bill.period
    )
