"""Finds the events of a run that happen at given times: changes of load, faults, and links that a policy switches then.

Such an event is not random, so the variation that it causes does not belong into a confidence interval. Failed links
and routers draw no power, which is no saving of a power policy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.errors import ResultsError
from weft.results.choose import POLICY
from weft.results.soundness import is_failing
from weft.text.labels import at, label

if TYPE_CHECKING:
    from weft.results.result_set import ResultSet

FAULTS = "faults"
FAULT_MODEL = "fault_model"
_RANDOM = f"{FAULT_MODEL}.random"
_SHARES = (f"{FAULT_MODEL}.links", f"{FAULT_MODEL}.routers")
# Names of parameters by which a power policy switches links at given times: entries of a list of times, or the period
# after which the list repeats.
_ROW, _PERIOD = {"from", "until"}, "period"


def faults(results: ResultSet) -> list[str]:
    """For each point, text on the parts that fail during its run, named or drawn at random; empty without faults."""
    shares = [values_at(results, path) for path in _SHARES]
    all_kinds = zip(results.summaries, values_at(results, FAULTS), values_at(results, _RANDOM), *shares, strict=True)
    return [
        ", ".join(
            [
                *_named(failing),
                *(f"{path.rpartition('.')[2]} {label(of)}" for path, of in zip(_SHARES, drawn, strict=True) if of),
                *([f"random {label(of)}"] if of and is_failing(summary) else []),
            ]
        )
        for summary, failing, of, *drawn in all_kinds
    ]


def _named(failing: Any) -> list[str]:
    return [label(failing, FAULTS)] if failing else []


def changes(results: ResultSet) -> list[str]:
    """For each point, text on the changes that its scenario makes at given times; empty if it makes none."""
    values = []
    known = zip(results.summaries, faults(results), values_at(results, POLICY), strict=True)
    for summary, failing, policy in known:
        found = {
            "the load": bool(summary.get("phases")),
            "the failed parts": bool(failing),
            "the links that are on": _by_the_clock(policy),
        }
        values.append(" and ".join(words for words, is_there in found.items() if is_there))
    return values


def values_at(results: ResultSet, path: str) -> list[Any]:
    """The value of a scenario key at each point: from the sweep, or otherwise from the scenario if it is stored."""
    rows = range(len(results))
    if path in results.coordinates:
        return [results.points[row]["coordinates"][path] for row in rows]
    if any(each.partition(".")[0] == path.partition(".")[0] for each in results.coordinates):
        return [_written(results, row, path) for row in rows]
    # if the sweep sets no key of this section, all points have the value of the first point
    return [_written(results, 0, path)] * len(rows) if rows else []


def _written(results: ResultSet, row: int, path: str) -> Any:
    try:
        return at(results.scenario(row), path)
    except ResultsError:
        return None


def _by_the_clock(policy: Any) -> bool:
    """Whether a policy switches links at given times, according to its parameters."""
    parameters = [each for each in _nested(policy) if isinstance(each, dict)]
    return any(_PERIOD in each or each.keys() >= _ROW for each in parameters)


def _nested(value: Any) -> list[Any]:
    """A value and all values that are nested in it, as a list."""
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return [value, *(each for one in inner for each in _nested(one))]
