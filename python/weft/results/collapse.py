"""Explains points that collapse: they carry next to nothing while the power policy keeps links dark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.errors import ResultsError
from weft.results import quantities as q
from weft.results import soundness
from weft.text.labels import at, label

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weft.results.result_set import ResultSet

_POLICY = "power.policy"
# An overloaded network in which no channel is busier than this [flits/cycle] is not limited by its bandwidth.
_IDLE = 0.5
# Links are to blame if they were not on for this share of their cycles.
_DARK = 0.2
# The kind of figure that shows it.
FIGURE = "residency"


def sentences(results: ResultSet) -> list[str]:
    """What happened at the points that collapsed: a sentence for the first of each policy, with how many others."""
    found: dict[str, list[int]] = {}
    for row, summary in enumerate(results.summaries):
        if has_collapsed(summary):
            found.setdefault(_policy(results, row), []).append(row)
    return [_sentence(results, policy, rows) for policy, rows in found.items()]


def has_collapsed(summary: Mapping[str, Any]) -> bool:
    """Whether a point is overloaded although no channel is busy, while links were off or switching."""
    dark = _dark(summary)
    busiest = max((each.get("utilisation_max") or 0 for each in summary.get("link_classes") or []), default=1)
    return soundness.is_over(summary) and dark is not None and dark >= _DARK and busiest < _IDLE


def _dark(summary: Mapping[str, Any]) -> float | None:
    """The share of their cycles in which the managed links were not on; ``None`` if no link was ever switched."""
    on = summary.get("links_on_share")
    return None if on is None or not summary.get("link_transitions") else 1 - on - summary.get("links_shadow_share", 0)


def _sentence(results: ResultSet, policy: str, rows: list[int]) -> str:
    row = rows[0]
    summary = results.summaries[row]
    busiest = max(each["utilisation_max"] for each in summary["link_classes"])
    on, off = (summary[f"links_{state}_share"] for state in ("on", "off"))
    switching = _dark(summary) - off
    others = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
    told = (
        f"Collapse at {results.describe(row)}{others}: {summary[q.ACCEPTED.column]:.4g} of "
        f"{summary[q.OFFERED.column]:.4g} {q.ACCEPTED.unit} are accepted although no channel is busy for more than "
        f"{100 * busiest:.2g} % of the window. Under {policy} the links were on for {100 * on:.0f} % of their cycles, "
        f"off for {100 * off:.0f} % and switching for {100 * switching:.0f} %: packets wait for links that sleep, "
        "block those behind them, and so the links further on get no flits and go to sleep, too."
    )
    if switching > on:
        told += " Links spend more time switching than on, as they do if they go off after less idle time than a switch takes."
    beside = _always_on(results, row)
    if beside is not None:
        told += f" The same load is carried under {_policy(results, beside)}, which switches no link."
    return f"{told} `weft plot {FIGURE} {results.root}` shows the states of the links."


def _policy(results: ResultSet, row: int) -> str:
    """The power policy of a point with its parameters."""
    coordinates = results.points[row]["coordinates"]
    if _POLICY in coordinates:
        return label(coordinates[_POLICY], _POLICY)
    try:
        return label(at(results.scenario(row), _POLICY), _POLICY)
    except ResultsError:
        return str(results.summaries[row].get("policy"))


def _always_on(results: ResultSet, row: int) -> int | None:
    """The sound point that differs in nothing but the power policy, and in which no link was switched."""

    def rest(of: int) -> dict[str, Any]:
        coordinates = results.points[of]["coordinates"]
        return {path: value for path, value in coordinates.items() if not path.startswith("power.")}

    for other, summary in enumerate(results.summaries):
        if not summary.get("link_transitions") and soundness.is_sound(summary) and rest(other) == rest(row):
            return other
    return None
