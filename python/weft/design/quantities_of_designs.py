"""Names and units of the columns of a comparison, in the order in which they are printed."""

from __future__ import annotations

from typing import Any, NamedTuple


class Row(NamedTuple):
    """A quantity, which is a row of the printed table of designs.

    Attributes
    ----------
    column : str
        Name of the column in the frame.
    words, unit : str
        Description of the quantity, and its unit; the unit is empty if there is none.
    """

    column: str
    words: str
    unit: str = ""


ROWS = (
    Row("topology", "topology"),
    Row("terminals", "terminals"),
    Row("routers", "routers"),
    Row("radix_ports", "maximum ports of a router"),
    Row("links", "links between routers"),
    Row("diameter_hops", "diameter", "hops"),
    Row("mean_distance_hops", "mean distance of routers", "hops"),
    Row("moore_share", "share of the Moore bound"),
    Row("paths_min", "shortest paths of a pair, minimum"),
    Row("paths_mean", "shortest paths of a pair, mean"),
    Row("single_path_share", "pairs with one shortest path"),
    Row("bisection_links", "bisection, at most", "links"),
    Row("bisection_low_links", "bisection, at least", "links"),
    Row("bisection_formula_links", "bisection by formula", "links"),
    Row("bisection_formula", "the formula is"),
    Row("bisection_partition_links", "bisection by METIS", "links"),
    Row("bisection_ratio", "bisection / links"),
    Row("bisection_per_terminal", "bisection / half the terminals", "links/terminal"),
    Row("tolerated_failures_share", "maximum failed links with all routers connected"),
    Row("tolerated_failures_terminals_share", "maximum failed links with all terminals connected"),
    Row("racks", "racks"),
    Row("packaging", "packaging"),
    Row("cable_m", "cables between routers", "m"),
    Row("cable_mean_m", "mean length of a cable", "m"),
    Row("cost_routers_usd", "cost of routers", "$"),
    Row("cost_cables_usd", "cost of cables between routers", "$"),
    Row("cost_terminal_cables_usd", "cost of cables of terminals", "$"),
    Row("cost_usd", "cost", "$"),
    Row("cost_per_terminal_usd", "cost per terminal", "$"),
    Row("port_count", "wired ports"),
    Row("power_w", "power without traffic", "W"),
    Row("power_per_terminal_w", "power without traffic per terminal", "W"),
)


def cell(value: Any, column: str) -> str:
    """A value as a string for tables; shares are in percent."""
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    if column.endswith("_share"):
        return f"{100 * value:.4g} %"
    if isinstance(value, int) or float(value).is_integer() or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"
