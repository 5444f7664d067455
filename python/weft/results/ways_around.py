"""Which routings would lose no packet where one drops packets at a fault although the network is still connected.

The engine decides it: a routing qualifies if it runs in the scenario of the point, computes new paths after each fault,
and these join all terminals in every state of the network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft import _engine
from weft.errors import WeftError
from weft.results import soundness
from weft.results.choose import LOAD, ROUTING
from weft.scenario.scenario import Scenario

if TYPE_CHECKING:
    from weft.results.result_set import ResultSet

# In larger networks the paths of all routings take too long to compute for a remark.
_MOST_TERMINALS = 5000
# Routings of which it is told, and routings that are named.
_TOLD, _NAMED = 3, 4


def lines(results: ResultSet) -> list[str]:
    """For the first losing point of each routing, the routings that would lose nothing, and how to run one of them."""
    first: dict[str, int] = {}
    for row, summary in enumerate(results.summaries):
        if soundness.is_dropping(summary) and (summary.get("terminals") or 0) <= _MOST_TERMINALS:
            first.setdefault(str(summary.get("routing")), row)
    told = []
    for own, row in list(first.items())[:_TOLD]:
        if names := able(results, row):
            known = ", ".join(names[:_NAMED])
            where = f"{own} drops packets although the network is still connected ({results.describe(row)})"
            told.append(f"{where}; no packet would be lost under: {known}")
            told += [f"  {line.strip()}" for line in results.with_another(row, ROUTING, names[0], LOAD).splitlines()]
    return told


def able(results: ResultSet, row: int) -> list[str]:
    """The routings, with their default parameters, that run in place of that of a point and lose nothing."""
    try:
        scenario = Scenario.from_file(results.file(row, "scenario.yaml"))
    except WeftError:  # a file that is damaged, or of another version
        return []
    names = (model["name"] for model in _engine.models()[ROUTING])
    return [name for name in names if name != results.summaries[row].get("routing") and _loses_nothing(scenario, name)]


def _loses_nothing(scenario: Scenario, name: str) -> bool:
    try:
        (point,) = scenario.points([(ROUTING, name)])
        return point.loses_nothing()
    except WeftError:  # it does not fit the network, or needs parameters
        return False
