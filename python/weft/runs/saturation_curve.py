"""A curve of a search for the saturation load: its loads, their runs, and its row in the table of results.

A curve has all points of a sweep that differ only in load and seed. In three cases a load is too much for a run. In the
first case its results say ``saturated``: the network accepts less than 97 % of the offered load, or does not deliver
the packets of the window in time. In the second case more than 3 % of the packets are dropped at faults. In the third
case the network gets stuck. With several seeds, a load is too much if it is too much in at least half of the runs. If
the verdict on a load depends on doubtful runs, the load is not judged. A run is doubtful if its window is too short for
its bursts. A run is also doubtful if it accepted less than 97 % of the offered load before it had settled. If the paths
of all packets are known before the run, a load above the bandwidth of their channels is too much, whatever a run shows.
A load at which at least half of the runs had not settled does not count as carried, because the result is the highest
load with settled runs. If terminals wait for replies, the load depends on the network, so Weft refuses the search.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from weft import _engine
from weft.results import quantities as q
from weft.results import soundness
from weft.results.choose import LOAD, SEED
from weft.runs.bisection import Search, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft._engine import Point
    from weft.results.store import Store
    from weft.scenario.scenario import Scenario

_ROUNDING = 1e-6


@dataclass
class Curve:
    """The search of one curve, with the points for all loads that the search has requested."""

    coordinates: dict[str, Any]
    search: Search
    points: dict[float, list[Point]] = field(default_factory=dict)

    def expand(
        self, scenario: Scenario, sets: Sequence[tuple[str, str]], load: float, seeds: Sequence[int]
    ) -> list[list[tuple[str, str]]]:
        """Make the points of a load for all seeds, and return the overrides of each point."""
        fixed = self.coordinates | {LOAD: load}
        placed = [fixed | {SEED: seed} for seed in seeds] if len(seeds) > 1 else [fixed]
        variants = [[*sets, *_sets(at)] for at in placed]
        self.points[load] = [point for variant in variants for point in scenario.points(variant)]
        return variants

    def wanted(self, loads: Sequence[float], store: Store) -> list[float]:
        """Loads whose verdicts the search of this curve needs next.

        First the bisection requests loads. Then the search requests loads between points that had settled and points
        that had not.
        """
        if (asked := self.search.wanted()) or self.search.bracket()[2] is not Verdict.FOUND:
            return asked
        low, late = self.carried(store), [load for load in sorted(self.points) if self.is_late(load, store)]
        begin = -1 if low is None else loads.index(low)
        end = next((place for load in late if (place := loads.index(load)) > begin), begin)
        return [loads[(begin + end) // 2]] if end - begin > 1 else []

    def carried(self, store: Store) -> float | None:
        """The highest load below saturation at which most runs had settled; ``None`` if no load qualifies."""
        low = self.search.bracket()[0]
        known = [load for load in self.points if low is not None and load <= low and not self.is_late(load, store)]
        return max(known, default=None)

    def is_late(self, load: float, store: Store) -> bool:
        """Whether the network seems to carry a load, although at least half of the runs had not settled."""
        summaries = [store.summary(point.hash) for point in self.points[load]]
        return over(self.points[load], store) is False and 2 * sum(map(soundness.is_unsettled, summaries)) >= len(
            summaries
        )

    def mean(self, load: float | None, column: str, store: Store) -> float | None:
        """Mean of a column over the runs (seeds) of a load; ``None`` if no run measured it."""
        if load is None:
            return None
        values = [value for point in self.points[load] if (value := store.summary(point.hash)[column]) is not None]
        return sum(values) / len(values) if values else None


def _sets(coordinates: dict[str, Any]) -> list[tuple[str, str]]:
    """Overrides of the scenario that leave only the point with these coordinates.

    For each coordinate, one override sets the value, and another override sets a sweep over only this value.
    """
    return [
        pair
        for path, value in coordinates.items()
        for pair in ((path, json.dumps(value)), (f"sweep.{path}", json.dumps([value])))
    ]


def over(points: Sequence[Point], store: Store) -> bool | None:
    """Whether a load is too much in at least half of its runs; ``None`` if runs without a verdict decide this."""
    return _engine.is_too_much([soundness.verdict(store.summary(point.hash)) for point in points])


def _lost(curve: Curve, load: float | None, store: Store) -> float | None:
    """Share of dropped packets at a load, if this share is the reason why the load is too much; otherwise ``None``."""
    summaries = [] if load is None else [store.summary(point.hash) for point in curve.points[load]]
    if not summaries or 2 * sum(map(soundness.is_over, summaries)) >= len(summaries):
        return None
    share = sum(map(soundness.dropped_share, summaries)) / len(summaries)
    return share or None


def _unsettled(curve: Curve, store: Store) -> int:
    """Number of loads of a curve at which some run had not settled, without loads that are too much."""
    return sum(
        any(soundness.is_unsettled(store.summary(point.hash)) for point in points)
        for points in curve.points.values()
        if over(points, store) is False
    )


def _stuck(points: Sequence[Point], store: Store) -> bool:
    return any(store.summary(point.hash)[q.ENDING.column] == q.STALLED for point in points)


def _flaw(points: Sequence[Point], store: Store) -> str | None:
    """The worst flaw of the points at the highest carried load, which makes the latency unreliable; else ``None``."""
    found = soundness.worst(store.summary(point.hash) for point in points)
    return found.words if found else None


def _risk(curve: Curve, store: Store) -> str | None:
    """Parameter of the power policy for which the engine warned that the network can also saturate at other loads.

    The result is ``None`` if the engine did not warn.
    """
    found = (soundness.risk(store.summary(point.hash)) for points in curve.points.values() for point in points)
    return next(filter(None, found), None)


def row(curve: Curve, store: Store, tolerance: float) -> dict[str, Any]:
    """The row of a curve in the table of the search; `weft.Sweep.saturation` describes its columns."""
    low, high, verdict = curve.search.bracket()
    if verdict is Verdict.FOUND:
        low = curve.carried(store)
        verdict = Verdict.OPEN if low is None else verdict
    wide = low is not None and high is not None and high - low > tolerance * (1 + _ROUNDING)
    unsettled = _unsettled(curve, store)
    return curve.coordinates | {
        "verdict": verdict.value,
        "steady_load": low,
        "saturated_load": high,
        q.ACCEPTED.column: curve.mean(high, q.ACCEPTED.column, store),
        q.LATENCY.column: curve.mean(low, q.LATENCY.column, store),
        "stuck": high is not None and _stuck(curve.points[high], store),
        "dropped_share": _lost(curve, high, store),
        "runs": sum(map(len, curve.points.values())),
        "unsettled_loads": unsettled,
        "wider_than_tolerance": verdict is Verdict.FOUND and wide and unsettled > 0,
        "flaw": None if low is None else _flaw(curve.points[low], store),
        "loads_run": " ".join(f"{load:g}" for load in sorted(curve.points)),
        "warned_of": _risk(curve, store),
    }
