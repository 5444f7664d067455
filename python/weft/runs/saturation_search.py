"""Searches for the load at which a network saturates, for each curve (points that differ only in load and seed)."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from weft.errors import ScenarioError
from weft.results import of_sweep
from weft.results.choose import LOAD, SEED
from weft.results.quantities import TOLERANCE
from weft.results.rows import frame_of
from weft.results.store import Store
from weft.runs import beacon, executors, in_process, memory, overload, saturation_curve, searchable
from weft.runs.bisection import Search, Verdict
from weft.runs.execute import Status
from weft.runs.saturation_curve import Curve, over
from weft.text import given

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Executor

    import polars as pl

    from weft._engine import Point
    from weft.runs.how import How
    from weft.scenario.scenario import Scenario

_DIGITS = 12


@dataclass(frozen=True)
class Asked:
    """Parameters of a search for saturation, which `weft.Sweep.saturation` describes."""

    tolerance: float = TOLERANCE
    lower: float | None = None
    upper: float | None = None
    seeds: int = 1


@dataclass(frozen=True)
class Round:
    """A round: the points that a search needs next. They are run in parallel.

    Attributes
    ----------
    points : list of Point
        Points of the round without results.
    variants : list of list of tuple
        Lists of overrides of the scenario; each list defines one point of the round.
    reused, before, total : int
        Number of points of the round that already have results, of points in earlier rounds, and of all points that the
        search needs at most.
    """

    points: list[Point]
    variants: list[list[tuple[str, str]]]
    reused: int
    before: int
    total: int

    def of_all(self, watch: Callable[[Status], None]) -> Callable[[Status], None]:
        """Returns a function that converts the status of this round to the status of the whole search, for `watch`."""
        return lambda status: watch(
            replace(
                status,
                total=self.total,
                done=self.before + status.done,
                left_seconds=None,
                most_left_seconds=None,
            )
        )


class SaturationSearch:
    """The search for the saturation loads of all curves of a scenario.

    The caller runs the points of each round, in this process or elsewhere.

    Parameters
    ----------
    scenario, sets
        The scenario, and its overrides.
    out : path, optional
        Folder of the results, by default ``results/<name of the file>-saturation``.
    asked : Asked
        Parameters of the search.

    Attributes
    ----------
    store : Store
        Folder with the results of all points that the search runs.
    scenario, sets, asked
        The parameters of the same names.
    named : Named
        Name of the search.
    ends : list of Point
        The points of all curves at the lowest and the highest load of the range.

    Raises
    ------
    ScenarioError
        If a point cannot run, if `traffic.load` has no effect, or if the range is not valid.
    """

    def __init__(
        self, scenario: Scenario, sets: Sequence[tuple[str, str]], out: str | Path | None, asked: Asked
    ) -> None:
        given.whole(asked.seeds, "seeds")
        searchable.check_demand(scenario, sets)
        given.number(asked.tolerance, "tolerance", 0.5)
        _check_tolerance(asked.tolerance)
        lower = asked.tolerance if asked.lower is None else asked.lower
        upper = _most_load(scenario, sets, lower) if asked.upper is None else asked.upper
        for name, value in (("lower", lower), ("upper", upper)):
            given.number(value, name, 0.5)
        self.scenario, self.sets, self.asked = scenario, list(sets), asked
        self._loads = steps(lower, upper, asked.tolerance)
        self._first = scenario.points([*sets, (LOAD, json.dumps(self._loads[0]))])
        for point in self._first:
            searchable.check(point)
            point.check_network()
        searchable.check_own_loads(scenario, sets, self._first)
        searchable.check_loads(scenario, sets, self._loads)
        self.ends = [*self._first, *scenario.points([*sets, (LOAD, json.dumps(self._loads[-1]))])]
        self._curves = _curves(self._first, self._loads)
        self._seed = self._first[0].resolved["seed"]
        self.named = scenario.named(self._first[0], sets).search()
        self.store = Store(out if out is not None else Path("results") / self.named.folder)

    def fixed_loads(self, frame: pl.DataFrame) -> dict[str, list[float]]:
        """The distinct loads that the search does not change, by path, in curves that saturate at its lowest load.

        `frame` is the table of the search. Curves are left out if faults drop too many of their packets.
        """
        verdicts = zip(frame["verdict"], frame["dropped_share"], strict=True)
        below = [verdict == Verdict.BELOW and dropped is None for verdict, dropped in verdicts]
        curves = [curve.coordinates for curve, is_below in zip(self._curves, below, strict=True) if is_below]
        found: dict[str, list[float]] = {}
        for point in self._first:
            if point.coordinates in curves:
                for path, load in overload.own_loads(point.resolved).items():
                    found[path] = sorted({*found.get(path, []), load})
        return found

    def most_at_once(self) -> list[Point]:
        """The points of the largest possible round: two loads of each curve, with all seeds."""
        return self.asked.seeds * self.ends

    def left(self) -> tuple[int, int]:
        """Maximum number of rounds, and of runs, that the search still needs."""
        loads = [curve.search.left() for curve in self._curves]
        return max(loads), self.asked.seeds * sum(loads)

    def rounds(self) -> Iterator[Round]:
        """Yields the rounds of the search.

        Before the next round is requested, all points of the current round must have results.
        """
        self._curves = _curves(self._first, self._loads)
        known: set[str] = set()
        while wanted := [(curve, load) for curve in self._curves for load in curve.wanted(self._loads, self.store)]:
            variants = []
            for curve, load in wanted:
                own = curve.coordinates.get(SEED, self._seed)
                variants += curve.expand(self.scenario, self.sets, load, range(own, own + self.asked.seeds))
            fresh = {point.hash: point for curve, load in wanted for point in curve.points[load]}
            missing = [point for key, point in fresh.items() if key not in known and not self.store.sound(key)]
            yield Round(missing, variants, len(fresh) - len(missing), len(known), len(known) + self.left()[1])
            known |= fresh.keys()
            for curve, load in wanted:
                curve.search.learn(load, over=over(curve.points[load], self.store))

    def write_list(self, *words: str) -> None:
        """Write the list of points that the search has requested up to now.

        `words` are further words of the command that continues the search.
        """
        points = [point for curve in self._curves for load in sorted(curve.points) for point in curve.points[load]]
        asked = ["--tolerance", f"{self.asked.tolerance:g}", "--from", f"{self._loads[0]:g}"]
        asked += ["--to", f"{self._loads[-1]:g}", "--seeds", f"{self.asked.seeds}"]
        command = self.scenario.command("saturation", self.sets, *asked, *words)
        self.store.write_manifest(self.named, points, command)

    def table(self) -> pl.DataFrame:
        """The table with a row per curve. The table is also written to the folder.

        The caller must read the table only after the last round.
        """
        frame = frame_of([saturation_curve.row(curve, self.store, self.asked.tolerance) for curve in self._curves])
        self.store.replace(of_sweep.FILE, frame.write_csv())
        return frame


def find(
    search: SaturationSearch,
    how: How,
    *,
    jobs: int | None = None,
    executor: Executor | None = None,
    watch: Callable[[Status], None] | None = None,
) -> pl.DataFrame:
    """Make a search in this process or with an executor, and return the table with a row per curve.

    Raises
    ------
    WeftError
        As for `weft.Sweep.saturation`.
    """
    given.execution(jobs, how.threads, how.blocks, watch)
    if executor is not None:
        executors.check(executor, jobs, pin=False)
    elif not how.force_memory:
        memory.refuse_too_much(search.most_at_once(), jobs=jobs, threads=how.threads, blocks=how.blocks)
    often = ("--checkpoint-every", how.checkpoint_every) if how.checkpoint_every else ()
    done = 0
    beacon.clear(search.store.root)
    with beacon.Beacon(search.store, watch) as shown:
        for each in search.rounds():
            search.write_list(*often)
            watching, done = each.of_all(shown), each.before + each.reused + len(each.points)
            if executor is None:
                in_process.run(search.store, each.points, jobs=jobs, how=how, reused=each.reused, watch=watching)
            else:
                executors.run(
                    executor,
                    search.store,
                    search.scenario,
                    each.variants,
                    each.points,
                    client=shown.name,
                    how=how,
                    reused=each.reused,
                    watch=watching,
                )
        shown(Status(done, done, 0, 0.0))
    return search.table()


def steps(lower: float, upper: float, tolerance: float) -> list[float]:
    """The loads that a search can run: from `lower` to `upper`, with distances of at most `tolerance`.

    Raises
    ------
    ScenarioError
        If the range is not valid.
    """
    _check_tolerance(tolerance)
    if not 0 < lower < upper <= 1:
        what = f"there is no load to search from {lower:g} up to {upper:g}"
        raise ScenarioError.saying(what, "write a lower end above 0, and a higher upper end of at most 1")
    if tolerance > (upper - lower) * (1 + 1e-9):
        what = f"a tolerance of {tolerance:g} is wider than the range of loads from {lower:g} to {upper:g}"
        raise ScenarioError.saying(what, f"write at most {upper - lower:g}, such as {TOLERANCE}")
    count = math.ceil((upper - lower) / tolerance - 1e-6)
    return [round(lower + step * tolerance, _DIGITS) for step in range(count)] + [upper]


def _check_tolerance(tolerance: float) -> None:
    if not tolerance >= 1e-6:
        what = f"a tolerance of {tolerance:g} is finer than a simulation can resolve"
        raise ScenarioError.saying(what, f"write at least 0.000001, such as {TOLERANCE}")
    if tolerance >= 1:
        what = f"a tolerance of {tolerance:g} is not below the highest load, which is at most 1"
        raise ScenarioError.saying(what, f"write less, such as {TOLERANCE}")


def _most_load(scenario: Scenario, sets: Sequence[tuple[str, str]], load: float) -> float:
    """The largest load that the terminals of every point can send [flits/terminal/cycle].

    `load` is only needed to make the points; the maximum does not depend on it.
    """
    given.number(load, "lower", 0.5)
    return min(point.most_load() for point in scenario.points([*sets, (LOAD, json.dumps(load))]))


def _curves(points: Sequence[Point], loads: Sequence[float]) -> list[Curve]:
    """The curves of a search: one for each combination of the other swept values."""
    coordinates = {json.dumps(point.coordinates): point.coordinates for point in points}
    return [Curve(each, Search(loads)) for each in coordinates.values()]
