"""Writes the line below every table of energy, power or money that names the source of the prices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft import _engine

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def are_own(scenario: Mapping[str, Any]) -> bool:
    """Whether a resolved scenario has prices of its own, in place of the default prices."""
    power = scenario["power"]
    if any(power.get(key) for key in ("catalogue", "class_prices", "router_price")):
        return True
    default = _engine.schema()["$defs"]["PowerConfig"]["properties"]["prices"]["default"]
    return bool(power.get("prices", default) != default)


def lines(summaries: Iterable[Mapping[str, Any]]) -> list[str]:
    """A line that names the prices, or the kinds of prices, of some points; empty if no summary has prices."""
    kinds = list(dict.fromkeys(found for each in summaries if (found := each.get("prices_from"))))
    return [f"energy and power are priced by: {'; '.join(kinds)}"] if kinds else []
