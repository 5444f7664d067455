"""Loads that are saturated although a higher load of the same network is not: told below the tables of a sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.results import quantities as q
from weft.results import soundness
from weft.text.labels import setting

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weft.results.result_set import ResultSet

_LOAD = "traffic.load"


def sentences(results: ResultSet) -> list[str]:
    """A sentence for each network with such loads: the lowest saturated load, and the highest that is carried.

    Saturation is a verdict on one window. A routing that leaves the shortest paths only at long queues may still fill
    them when the window begins. Then it is saturated. At a higher load they fill sooner. Longer runs decide.
    """
    groups: dict[str, list[int]] = {}
    for row, point in enumerate(results.points):
        if _LOAD in point["coordinates"]:
            rest = {path: value for path, value in point["coordinates"].items() if path != _LOAD}
            groups.setdefault(repr(sorted(rest.items(), key=str)), []).append(row)
    return [shown for rows in groups.values() if (shown := _of_network(results, rows))]


def _of_network(results: ResultSet, rows: list[int]) -> str | None:
    loads = {row: float(results.points[row]["coordinates"][_LOAD]) for row in rows}
    saturated = [row for row in rows if soundness.SATURATED in soundness.flaws(results.summaries[row])]
    carried = [row for row in rows if results.summaries[row]["saturated"] is False]
    if not saturated or not carried:
        return None
    low, high = min(saturated, key=loads.__getitem__), max(carried, key=loads.__getitem__)
    if loads[low] >= loads[high]:
        return None
    summary = results.summaries[low]
    where = {path: value for path, value in results.points[low]["coordinates"].items() if path != _LOAD}
    of = f" ({setting(where)})" if where else ""
    return (
        f"not monotonic{of}: load {loads[low]:g} is saturated ({_accepted(summary)}), and {loads[high]:g} is not "
        f"({_accepted(results.summaries[high])}). The queues by which the routing chooses may still have been filling "
        f"at the lower load. To tell, {soundness.to_judge(summary)}"
    )


def _accepted(summary: Mapping[str, Any]) -> str:
    return f"{summary[q.ACCEPTED.column]:.4g} of {summary[q.OFFERED.column]:.4g} {q.ACCEPTED.unit} accepted"
