"""Diagnoses collapsed points, which carry too little load because the power policy keeps too many links dark (off).

The engine judges the points and writes the sentences.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft import _engine
from weft.errors import ResultsError
from weft.results import link_modes, soundness
from weft.text.labels import at, label

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weft.results.result_set import ResultSet

_POLICY = "power.policy"
# Name of a parameter of policies: the time without flits after which a link goes off.
_IDLE_TIME = "idle"


def diagnoses(results: ResultSet) -> list[dict[str, Any]]:
    """Diagnoses the collapsed points: one diagnosis per policy, about the first of its points.

    The key ``points`` of a diagnosis has all collapsed points of the policy.
    """
    found: dict[str, list[int]] = {}
    for row in range(len(results)):
        if _is_held_back(results, row):
            found.setdefault(_policy(results, row), []).append(row)
    return [_diagnosis(results, policy, rows) | {"points": rows} for policy, rows in found.items()]


def _is_held_back(results: ResultSet, row: int) -> bool:
    summary = results.summaries[row]
    if not summary.get("link_transitions"):
        return False
    beside = _always_on(results, row)
    other = None if beside is None else soundness.verdict(results.summaries[beside])
    return _engine.is_held_back(soundness.verdict(summary), _shares(summary), other)


def _shares(summary: Mapping[str, Any]) -> tuple[float, float, float, float]:
    """Shares of cycles in which links are on, off and dark, and the utilisation of the busiest channel."""
    on, off = (summary.get(f"links_{state}_share") for state in ("on", "off"))
    busiest = max((each.get("utilisation_max") or 0.0 for each in summary.get("link_classes") or []), default=1.0)
    if on is None:
        return 0.0, 0.0, 0.0, busiest
    carrying = ("shadow", *link_modes.slower(summary))
    return on, off or 0.0, 1 - on - sum(summary.get(f"links_{mode}_share") or 0 for mode in carrying), busiest


def _diagnosis(results: ResultSet, policy: str, rows: list[int]) -> dict[str, Any]:
    row = rows[0]
    summary, beside = results.summaries[row], _always_on(results, row)
    others = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
    carried_under = None if beside is None else _policy(results, beside)
    names = (results.describe(row) + others, policy, carried_under)
    return _engine.held_back(soundness.verdict(summary), _shares(summary), *names, _goes_off_idle(results, row))


def _goes_off_idle(results: ResultSet, row: int) -> bool:
    """Whether links go off while they have no flits, according to the parameters of the power policy."""
    policy = results.points[row]["coordinates"].get(_POLICY)
    if policy is None:
        try:
            policy = at(results.scenario(row), _POLICY)
        except ResultsError:
            return False
    models = policy.values() if isinstance(policy, dict) else []
    return any(isinstance(parameters, dict) and _IDLE_TIME in parameters for parameters in models)


def _policy(results: ResultSet, row: int) -> str:
    """The power policy of a point with its parameters, as a string."""
    coordinates = results.points[row]["coordinates"]
    if _POLICY in coordinates:
        return label(coordinates[_POLICY], _POLICY)
    try:
        return label(at(results.scenario(row), _POLICY), _POLICY)
    except ResultsError:
        return str(results.summaries[row].get("policy"))


def _always_on(results: ResultSet, row: int) -> int | None:
    """Row of a point that differs only in the power policy, and switched no link; ``None`` if none exists."""

    def rest(of: int) -> dict[str, Any]:
        coordinates = results.points[of]["coordinates"]
        return {path: value for path, value in coordinates.items() if not path.startswith("power.")}

    for other, summary in enumerate(results.summaries):
        if other != row and not summary.get("link_transitions") and rest(other) == rest(row):
            return other
    return None
