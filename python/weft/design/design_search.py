"""Searches all families for designs: N terminals, at most R ports per router, at most so much money.

Every candidate is priced by formula. Best is the Pareto front: no other design is at least as good in cost, power,
diameter and bisection, and better in one of them. Where the formula of a bisection is not exact, it is hardly ever too
low; so the designs on the front are built and measured, the front is drawn again with their true bisections, and so on
until all designs on it are exact or measured.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from weft.design.comparison_of_designs import Comparison, compare
from weft.design.families import FAMILIES
from weft.design.measured_design import Assumptions, in_words
from weft.design.plan import CUT, EXACT, LOWER
from weft.errors import WeftError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

MEASURED = "measured"
# Links of all designs that a search builds: more take more than some seconds.
MOST_LINKS = 300_000
# Seeds of the partitioner while a front is drawn.
_SEEDS = 4
# Limits of a search: the column, how far a design may go (1: at most, -1: at least), words and unit.
_LIMITS = {
    "budget_usd": ("cost_usd", 1, "cost", "$"),
    "power_w": ("power_w", 1, "power", "W"),
    "diameter_hops": ("diameter_hops", 1, "diameter", "hops"),
    "bisection_links": ("bisection_links", -1, "bisection", "links"),
}
# What is compared, and whether less (1) or more (-1) is better.
_AIMS = {"cost_usd": 1, "power_w": 1, "diameter_hops": 1, "bisection_links": -1}


@dataclass(frozen=True)
class Wanted:
    """What a design has to be.

    Attributes
    ----------
    terminals : int
        At least so many.
    radix_ports : int
        At most so many ports per router.
    budget_usd, power_w, diameter_hops : float or None
        At most so much [$, W, hops].
    bisection_links : float or None
        At least so many links between two halves.
    families : tuple of str
        Topologies that are searched; all if empty.
    """

    terminals: int
    radix_ports: int
    budget_usd: float | None = None
    power_w: float | None = None
    diameter_hops: float | None = None
    bisection_links: float | None = None
    families: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if unknown := [each for each in self.families if each not in FAMILIES]:
            what = f"no formulas are known for the topology {unknown[0]!r}"
            raise WeftError.saying(what, f"search {', '.join(FAMILIES)}")
        if self.terminals < 2 or self.radix_ports < 2:
            what = f"{self.terminals} terminals, {self.radix_ports} ports per router"
            raise WeftError.saying(what, "ask for 2 terminals or more, and 2 ports or more")


@dataclass(frozen=True)
class Found:
    """What a search found.

    Attributes
    ----------
    wanted : Wanted
        What was asked for.
    candidates : polars.DataFrame
        All designs that have enough terminals within the radix, by formula: ``topology``, ``routers``, ``terminals``,
        ``radix_ports``, ``links``, ``diameter_hops``, ``bisection_links``, ``bisection_is`` (how good the formula is,
        or that it was measured: then it is the best cut that was found), ``racks``, ``cost_usd``, ``power_w``,
        ``within_limits``, ``on_front``.
    topologies : list of dict
        Name and parameters of each candidate.
    assumed : Assumptions
        Prices, packaging, power.
    """

    wanted: Wanted
    candidates: pl.DataFrame
    topologies: list[dict[str, Any]]
    assumed: Assumptions

    @property
    def front(self) -> pl.DataFrame:
        """The candidates on the Pareto front, the cheapest first."""
        return self.candidates.filter("on_front").sort("cost_usd", "power_w", "topology")

    def measured(self, most: int | None = None) -> Comparison:
        """The designs on the front, built and measured; the cheapest `most` of them."""
        rows = self.candidates.with_row_index("place").filter("on_front").sort("cost_usd", "power_w", "topology")
        places = rows["place"].to_list()[:most]
        named = {
            f"{number} {next(iter(self.topologies[place]))}": self.topologies[place]
            for number, place in enumerate(places, 1)
        }
        return compare(named, self.assumed)


def search(wanted: Wanted, assumed: Assumptions | None = None, most_measured_links: int = MOST_LINKS) -> Found:
    """Search for designs.

    Parameters
    ----------
    wanted : Wanted
        What a design has to be.
    assumed : Assumptions, optional
        Prices, packaging, power; by default those of the FleX paper.
    most_measured_links : int
        Links of all designs that are built, at most; on a front that would need more, the bisections of the dearest are
        left as formulas say.

    Raises
    ------
    WeftError
        If no design has so many terminals within the radix, or none keeps to the limits; says which misses by how much.
    """
    assumed = assumed or Assumptions()
    rows, topologies = [], []
    for name in wanted.families or FAMILIES:
        for parameters in FAMILIES[name].candidates(wanted.terminals, wanted.radix_ports):
            topologies.append({name: parameters})
            rows.append(_row(name, parameters, assumed))
    if not rows:
        _refuse_radix(wanted)
    frame = pl.DataFrame(rows, orient="row", schema=_SCHEMA)
    # a lower bound would leave designs out that are on the front: all of these are measured, they are few
    frame = _with_measured(
        frame, topologies, _within(wanted, frame) & (frame["bisection_is"] == LOWER).to_numpy(), assumed
    )
    measured = 0
    while True:
        within = _within(wanted, frame)
        if not within.any():
            _refuse_limits(wanted, frame)
        aims = np.stack([sign * frame[column].to_numpy().astype(float) for column, sign in _AIMS.items()], axis=1)
        front = np.zeros(len(frame), dtype=bool)
        front[np.flatnonzero(within)[pareto(aims[within])]] = True
        todo = front & ~frame["bisection_is"].is_in([EXACT, MEASURED]).to_numpy()
        # the cheapest first, as long as there is work left
        cheapest = np.flatnonzero(todo)[np.argsort(frame["cost_usd"].to_numpy()[todo], kind="stable")]
        spent = measured + np.cumsum(frame["links"].to_numpy()[cheapest])
        todo[cheapest[spent > most_measured_links]] = False
        if not todo.any():
            break
        measured = int(spent[spent <= most_measured_links][-1])
        frame = _with_measured(frame, topologies, todo, assumed)
    marks = [pl.Series("within_limits", within), pl.Series("on_front", front)]
    return Found(wanted, frame.with_columns(marks), topologies, assumed)


def _within(wanted: Wanted, frame: pl.DataFrame) -> npt.NDArray[np.bool_]:
    """Which designs keep to the limits; those that miss the bisection by a lower bound may still keep to it."""
    within = np.ones(len(frame), dtype=bool)
    for limit, (column, sign, *_) in _LIMITS.items():
        if (bound := getattr(wanted, limit)) is not None:
            kept = sign * frame[column].to_numpy() <= sign * bound
            within &= kept | (frame["bisection_is"] == LOWER).to_numpy() if limit == "bisection_links" else kept
    return within


def _with_measured(
    frame: pl.DataFrame, topologies: list[dict[str, Any]], which: npt.NDArray[np.bool_], assumed: Assumptions
) -> pl.DataFrame:
    """The frame with the bisections that the partitioner finds for some of its designs."""
    places = np.flatnonzero(which)
    if not len(places):
        return frame
    few = replace(assumed, seeds=min(assumed.seeds, _SEEDS))
    found = compare({str(place): topologies[place] for place in places}, few).designs
    formula = frame["bisection_links"][places].to_list()
    is_cut = (frame["bisection_is"][places] == CUT).to_list()
    links = [
        min(each.cut, known) if a_cut else each.cut for each, known, a_cut in zip(found, formula, is_cut, strict=True)
    ]
    return frame.with_columns(
        frame["bisection_links"].scatter(places, links), frame["bisection_is"].scatter(places, [MEASURED] * len(places))
    )


_SCHEMA = {
    "topology": pl.String,
    "routers": pl.Int64,
    "terminals": pl.Int64,
    "radix_ports": pl.Int64,
    "links": pl.Int64,
    "diameter_hops": pl.Int64,
    "bisection_links": pl.Int64,
    "bisection_is": pl.String,
    "racks": pl.Int64,
    "cost_usd": pl.Float64,
    "power_w": pl.Float64,
}


def _row(name: str, parameters: dict[str, Any], assumed: Assumptions) -> tuple[Any, ...]:
    plan = FAMILIES[name].plan(parameters)
    return (
        in_words({name: parameters}),
        plan.routers,
        plan.terminals,
        plan.radix,
        plan.links,
        plan.diameter,
        plan.bisection,
        plan.bisection_kind,
        plan.racks,
        plan.cost_usd(assumed.prices, assumed.packaging),
        plan.power_w(assumed.port_w),
    )


def pareto(aims: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Rows that no other row dominates, less being better in each column; of equal rows the first.

    Parameters
    ----------
    aims : array of float, shape (designs, aims)
    """
    order = np.lexsort(aims.T[::-1])  # what dominates a row comes before it
    kept: list[int] = []
    front = np.empty((0, aims.shape[1]))
    for place in order:
        if not (front <= aims[place]).all(axis=1).any():
            kept.append(int(place))
            front = np.vstack([front, aims[place]])
    return np.array(sorted(kept), dtype=np.int64)


def _refuse_radix(wanted: Wanted) -> None:
    """Say which radix would do."""
    families = wanted.families or tuple(FAMILIES)
    radix = wanted.radix_ports + 1
    while radix <= 4096 and not any(
        next(iter(FAMILIES[name].candidates(wanted.terminals, radix)), None) for name in families
    ):
        radix += 1
    asked = f"{wanted.terminals} terminals with {wanted.radix_ports} ports per router"
    what = f"no design of {', '.join(families)} has {asked}"
    most = f"the smallest radix with which one has is {radix}: {radix - wanted.radix_ports} ports more"
    raise WeftError.saying(what, f"{most}; or ask for fewer terminals")


def _refuse_limits(wanted: Wanted, frame: pl.DataFrame) -> None:
    """Say by how much the limits are missed: each alone, and the design that misses its worst one by the least."""
    told: list[str] = []
    excess = np.zeros(len(frame))
    for limit, (column, sign, words, unit) in _LIMITS.items():
        if (bound := getattr(wanted, limit)) is None:
            continue
        values = frame[column].to_numpy().astype(float)
        best = int(np.argmin(sign * values))
        if (missed := sign * (values[best] - bound)) > 0:
            most = "lowest" if sign > 0 else "highest"
            told.append(
                f"the {most} {words} of all is {values[best]:,.0f} {unit} ({frame['topology'][best]}), "
                f"which misses {bound:,.0f} {unit} by {missed:,.0f} {unit} ({missed / max(bound, 1):.1%})"
            )
        excess = np.maximum(excess, sign * (values - bound) / max(bound, 1))
    nearest = int(np.argmin(excess))
    if not told:
        told = [f"each limit can be kept alone, but not all of them together: {_misses(wanted, frame, nearest)}"]
    what = f"none of {len(frame):,} designs for {wanted.terminals} terminals keeps to the limits: {'; '.join(told)}"
    raise WeftError.saying(what, f"allow for {_needs(wanted, frame, nearest)} ({frame['topology'][nearest]})")


def _misses(wanted: Wanted, frame: pl.DataFrame, place: int) -> str:
    """By how much a design misses its limits."""
    told = []
    for limit, (column, sign, words, unit) in _LIMITS.items():
        bound = getattr(wanted, limit)
        if bound is not None and (missed := sign * (frame[column][place] - bound)) > 0:
            told.append(f"{words} by {missed:,.0f} {unit} ({missed / max(bound, 1):.1%})")
    return f"the nearest, {frame['topology'][place]}, misses {' and '.join(told)}"


def _needs(wanted: Wanted, frame: pl.DataFrame, place: int) -> str:
    """What a design needs of the limits that were set."""
    asked: Sequence[tuple[str, str, str]] = [
        (column, words, unit)
        for limit, (column, _, words, unit) in _LIMITS.items()
        if getattr(wanted, limit) is not None
    ]
    return " and ".join(f"a {words} of {frame[column][place]:,.0f} {unit}" for column, words, unit in asked)
