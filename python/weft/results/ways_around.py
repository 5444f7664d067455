"""Finds routings that would not drop packets in a network with faults, because all terminals stay connected.

The engine judges each routing. A routing qualifies if it works in the scenario of the point and computes new routing
tables after faults. The new tables must connect all terminals in every state of the network. A routing does not qualify
if its paths carry less than the load of the point. For example, packets over random intermediates need twice the links.
Until the new tables are ready, packets wait, and some can be lost. Therefore Weft proposes a run only if all failures
happen before its window, and its warm-up is long enough for the new tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weft import _engine
from weft.errors import WeftError
from weft.results import soundness
from weft.results.choose import LOAD, ROUTING
from weft.scenario.scenario import Scenario
from weft.text.labels import shortened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weft._engine import Point
    from weft.results.result_set import ResultSet

# Maximum number of terminals for which `lines` proposes routings, because the paths of all routings in larger networks
# take too long to compute.
_MOST_TERMINALS = 5000
# Maximum number of terminals for which the load that the paths can carry is computed, because it takes seconds per
# routing.
_MOST_BOUNDED = 1024
# Maximum number of routings that drop packets for which Weft looks for others. Then the maximum number of other
# routings that a line lists.
_TOLD, _NAMED = 3, 4


@dataclass(frozen=True)
class Way:
    """A routing that has a path for every pair of terminals with its new tables after faults.

    Attributes
    ----------
    name : str
        The routing, with its default parameters.
    tables : int
        Cycle from which on all routers have the final tables; 0 if the first tables already avoid all failed parts.
    fits : bool
        Whether the routing can be proposed: all failures happen before the window, and the warm-up can be long enough.
    warmup : int or None
        The warm-up to set [cycles]; ``None`` if the warm-up of the scenario is long enough.
    """

    name: str
    tables: int
    fits: bool
    warmup: int | None


def lines(results: ResultSet) -> list[str]:
    """Lines for each routing that dropped packets, about the first point with this routing.

    The lines name other routings that keep all terminals connected, and the command that runs the point with the first
    of them. The search takes time, so it covers only the first routings that drop packets. A last line names the
    others.
    """
    first: dict[str, int] = {}
    for row, summary in enumerate(results.summaries):
        if soundness.is_dropping(summary) and (summary.get("terminals") or 0) <= _MOST_TERMINALS:
            first.setdefault(str(summary.get("routing")), row)
    values = []
    searched, others = list(first.items())[:_TOLD], list(first)[_TOLD:]
    for own, row in searched:
        if ways := able(results, row):
            values.append(f"{own} drops packets although the network is still connected ({results.describe(row)})")
            values += [f"  {line}" for line in _lines_of(results, row, ways)]
    if others:
        verb, what = ("drops", "this routing") if len(others) == 1 else ("drop", "these routings")
        also = "also " if values else ""
        values.append(f"{', '.join(others)} {also}{verb} packets: Weft did not look for other routings for {what}")
    return values


def _lines_of(results: ResultSet, row: int, ways: list[Way]) -> list[str]:
    names = shortened([way.name for way in ways], _NAMED)
    way = ways[0]
    if way.tables == 0:
        lines = [f"the first tables of these routings include the faults, and have a path for every pair: {names}"]
    else:
        lines = [
            f"these routings compute new tables for the remaining network, with a path for every pair: {names}",
            f"all routers have the last tables from cycle {way.tables} on; until then packets wait, and may be lost",
        ]
    if (results.summaries[row].get("terminals") or 0) > _MOST_BOUNDED:
        lines.append("Weft does not compute the load that their paths carry in a network of this size")
    if not way.fits:
        late = "parts fail in the window, so a run with these routings also measures the time before the new tables"
        return [*lines, late]
    others = [] if way.warmup is None else [f"{soundness.WARMUP}={way.warmup}cycles"]
    again = results.with_another(row, ROUTING, way.name, LOAD, *others)
    return [*lines, *(line.strip() for line in again.splitlines())]


def able(results: ResultSet, row: int) -> list[Way]:
    """Other routings for a point: they carry its load, and connect all terminals after faults."""
    try:
        scenario = Scenario.from_file(results.file(row, "scenario.yaml"))
    except WeftError:  # a damaged file, or a file of another version
        return []
    summary = results.summaries[row]
    names = [model["name"] for model in _engine.models()[ROUTING] if model["name"] != summary.get("routing")]
    ways = [_way(scenario, name, summary) for name in names]
    return sorted(filter(None, ways), key=lambda way: not way.fits)


def _way(scenario: Scenario, name: str, summary: Mapping[str, Any]) -> Way | None:
    try:
        (point,) = scenario.points([(ROUTING, name)])
        shown = point.rebuilds()
        if shown is None:
            return None
        if _is_full(point, summary):
            return None
        begin, (change, tables) = summary["warmup_cycles"], shown
        if change >= begin:
            return Way(name, tables, fits=False, warmup=None)
        # not with an automatic warm-up, because it can end earlier under another routing
        if tables == 0 or (tables <= begin and summary.get("warmup_settled") is None):
            return Way(name, tables, fits=True, warmup=None)
        # the new warm-up lasts until the new tables are ready, plus the old warm-up; in this longer run more parts can
        # fail at random
        warmup = tables + begin
        (point,) = scenario.points([(ROUTING, name), (soundness.WARMUP, f"{warmup}cycles")])
        later = point.rebuilds()
        fits = later is not None and later[1] <= warmup
        return Way(name, tables, fits=fits, warmup=warmup if fits else None)
    except WeftError:  # the routing does not fit the network, or needs parameters
        return None


def _is_full(point: Point, summary: Mapping[str, Any]) -> bool:
    """Whether the load is more than a routing's paths carry after the last fault; false if Weft cannot compute this."""
    if (summary.get("terminals") or 0) > _MOST_BOUNDED:
        return False
    share = point.load_share_after_faults()
    return share is not None and share >= 1
