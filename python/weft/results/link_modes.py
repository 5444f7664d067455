"""Names of the modes (power states) of links: those of the engine, and those that the scenario of a point defines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft._engine import LINK_MODES, LINK_STATES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Summary = Mapping[str, Any]


def of(summary: Summary) -> tuple[str, ...]:
    """Names of the modes of links in a point, in the order of the columns in the point's tables."""
    named = summary.get("link_modes")
    return LINK_STATES if named is None else tuple(mode["name"] for mode in named)


def of_all(summaries: Iterable[Summary]) -> tuple[str, ...]:
    """Names of the modes of links in several points, each once; without points, the modes of the engine."""
    names = dict.fromkeys(name for summary in summaries for name in of(summary))
    return tuple(names) or LINK_STATES


def slower(summary: Summary) -> dict[str, float]:
    """Modes in which links run below their full bandwidth, fastest first: the share of the bandwidth, by mode."""
    named = summary.get("link_modes")
    modes = LINK_MODES if named is None else [(mode["name"], mode["rate"], mode["carries"]) for mode in named]
    rates = {name: rate for name, rate, carries in modes if carries and rate < 1}
    return dict(sorted(rates.items(), key=lambda mode: -mode[1]))
