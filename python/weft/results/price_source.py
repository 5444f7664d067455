"""Writes the line below every table of energy, power or money that names the source of the prices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def lines(summaries: Iterable[Mapping[str, Any]]) -> list[str]:
    """A line that names the prices, or the kinds of prices, of some points; empty if no summary has prices."""
    kinds = list(dict.fromkeys(found for each in summaries if (found := each.get("prices_from"))))
    return [f"energy and power are priced by: {'; '.join(kinds)}"] if kinds else []
