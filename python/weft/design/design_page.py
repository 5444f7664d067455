"""Writes a comparison of designs or a search for designs as one HTML file, with tables and pictures."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from weft.design.quantities_of_designs import ROWS, cell
from weft.report.html_page import checked
from weft.results.store import replaced

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from weft.design.comparison_of_designs import Comparison
    from weft.design.design_search import Found
    from weft.design.price_list import Prices


def write(comparison: Comparison, path: Path, title: str, found: Found | None = None) -> None:
    """Write the page of a comparison, or of a search with the designs on its Pareto front.

    Raises
    ------
    ResultsError
        If the file name does not end in ``.html`` or ``.htm``.
    WriteError
        If the file can't be written.
    """
    checked(path)
    frame = comparison.frame
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(_asset("weft.design", "assets/design.html.jinja"))
    html = template.render(
        title=title,
        names=frame["design"].to_list(),
        rows=[(row.words, row.unit, [cell(value, row.column) for value in frame[row.column]]) for row in ROWS],
        assumptions=_assumptions(comparison),
        remarks=comparison.remarks(),
        searched=None if found is None else _searched(found),
        style=Markup(_asset("weft.report", "assets/page.css") + _asset("weft.design", "assets/design.css")),
        plotly=Markup(_asset("weft.report", "vendor/plotly-basic.min.js")),
        script=Markup(_asset("weft.design", "assets/design.js")),
        data=Markup(_json(_data(comparison, frame, found))),
    )
    with replaced(path) as partial:
        partial.write_text(html, encoding="utf-8", errors="backslashreplace")


# Columns of the table of a Pareto front: name, words and unit of each.
_FRONT = (
    ("topology", "topology", ""),
    ("routers", "routers", ""),
    ("terminals", "terminals", ""),
    ("radix_ports", "ports of a router", ""),
    ("diameter_hops", "diameter", "hops"),
    ("bisection_links", "bisection", "links"),
    ("bisection_per_terminal", "bisection / half the terminals", "links/terminal"),
    ("bisection_is", "the bisection is", ""),
    ("cost_usd", "cost", "$"),
    ("power_w", "power without traffic", "W"),
)


def _searched(found: Found) -> dict[str, Any]:
    """Data of the page about a search: its limits, and the Pareto front as a table."""
    names = [name for name, *_ in _FRONT]
    rows = [[cell(value, name) for value, name in zip(row, names, strict=True)] for row in found.front[names].rows()]
    return {
        "candidates": found.candidates.height,
        "limits": "; ".join(found.wanted.limits),
        "heads": [(words, unit) for _, words, unit in _FRONT],
        "rows": rows,
        "remarks": found.remarks(),
    }


def _assumptions(comparison: Comparison) -> list[str]:
    assumed = comparison.assumed
    prices, packaging, failures = assumed.prices, assumed.packaging, assumed.failures
    between = f"a cable between racks is {packaging.overhead_m:g} m longer than their Manhattan distance"
    inside = f"a cable inside a rack is {packaging.inside_m:g} m long, a cable of a terminal {packaging.terminal_m:g} m"
    trials = f"{failures.trials} random orders of all links, in steps of {failures.step:.3g} of the links"
    return [
        *([] if prices is None else [_priced(prices)]),
        f"Racks, and routers on a grid, are {packaging.pitch_m:g} m apart; {between}, {inside}.",
        f"A rack holds {packaging.sizes if packaging.has_sizes else 'routers that belong together, without a limit'}.",
        *(f"{each[0].upper()}{each[1:]}." for each in assumed.remarks()),
        f"Failures: {trials}; intervals of {failures.confidence:.0%} (Wilson).",
        f"Partitioning: METIS, best of {assumed.seeds} seeds, balanced and improved.",
    ]


def _priced(prices: Prices) -> str:
    """The straight lines fitted to a price list, as a string."""
    lines = f"lines fitted to the prices of {prices.name}"
    routers = f"{prices.router.slope:.4g} $ per port + {prices.router.intercept:,.6g} $"
    cables = f"{prices.cable.slope:.4g} $ per metre + {prices.cable.intercept:.5g} $ for each Gb/s"
    fits = f"R² {prices.router.determination:.3f} and {prices.cable.determination:.3f}"
    return f"Routers cost {routers}, cables of {prices.bandwidth_gbps:g} Gb/s cost {cables}: {lines}, {fits}."


def _data(comparison: Comparison, frame: pl.DataFrame, found: Found | None) -> dict[str, Any]:
    """Data from which the page draws its pictures."""
    designs = []
    for each in comparison.designs:
        metres = each.cable_m.round(6)
        lengths = sorted(set(metres.tolist()))
        designs.append(
            {
                "name": each.name,
                "row": each.row,
                "failures": each.failures.to_dict(as_series=False),
                "distances": each.distances.to_dict(as_series=False),
                "cables": {"metres": lengths, "links": [int((metres == length).sum()) for length in lengths]},
            }
        )
    points = None if found is None else _points(found)
    return {
        "designs": designs,
        "columns": frame.columns,
        "candidates": points,
        "confidence": comparison.assumed.failures.confidence,
    }


def _points(found: Found) -> dict[str, Any]:
    """Points in the scatter plot of a search: candidates within the user's limits, and the whole Pareto front.

    If there are too many candidates, only an evenly spaced sample of them is included.
    """
    shown = found.candidates.filter("within_limits").sort("cost_usd")
    step = max(1, shown.height // 5000)
    kept = shown.with_row_index("place").filter(
        (shown["on_front"]) | (shown.with_row_index("place")["place"] % step == 0)
    )
    names = ["topology", "cost_usd", "power_w", "diameter_hops", "bisection_links", "on_front"]
    return kept.select(names).to_dict(as_series=False)


def _json(value: object) -> str:
    """JSON text that cannot close the HTML element that contains it."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c")


def _asset(package: str, name: str) -> str:
    return files(package).joinpath(*name.split("/")).read_text(encoding="utf-8")
