"""Diagnoses loads at which a network is saturated, although the same network is not saturated at a higher load.

The engine judges the loads and writes the sentences.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft import _engine
from weft.results import soundness
from weft.text.labels import setting

if TYPE_CHECKING:
    from weft.results.result_set import ResultSet

_LOAD = "traffic.load"


def diagnoses(results: ResultSet) -> list[dict[str, Any]]:
    """A diagnosis for each network with a saturated load below a load that is not saturated.

    The key ``points`` of a diagnosis has the saturated point and the point at the higher load.
    """
    groups: dict[str, list[int]] = {}
    for row, point in enumerate(results.points):
        if _LOAD in point["coordinates"]:
            rest = {path: value for path, value in point["coordinates"].items() if path != _LOAD}
            groups.setdefault(repr(sorted(rest.items(), key=str)), []).append(row)
    return [found for rows in groups.values() if (found := _of_network(results, rows))]


def _of_network(results: ResultSet, rows: list[int]) -> dict[str, Any] | None:
    loads = [float(results.points[row]["coordinates"][_LOAD]) for row in rows]
    network = {path: value for path, value in results.points[rows[0]]["coordinates"].items() if path != _LOAD}
    verdicts = [soundness.verdict(results.summaries[row]) for row in rows]
    found = _engine.not_monotonic(loads, verdicts, setting(network))
    return None if found is None else found[1] | {"points": [rows[place] for place in found[0]]}
