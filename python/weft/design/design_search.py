"""Searches all families of topologies for designs (networks) with N terminals and at most R ports per router.

The search computes cost, power, diameter and bisection of every candidate by formula. A candidate is on the Pareto
front if no other candidate is at least as good in all four quantities and better in one. Some formulas for the
bisection are not exact, but their results are rarely too low. Therefore a wrong formula rarely keeps a design off the
front. The search builds the graphs of only the designs on the front, measures their bisections, and computes the front
again. The search repeats this until all designs on the front have exact or measured bisections.

If the user gives sizes of racks, no formula gives the lengths of cables. The search then assumes minimum lengths for
all cables, and measures the costs of the designs on the front in the same way as their bisections.
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
from weft.design.unmet_limits import nearest, refuse_limits, refuse_radix
from weft.design.wanted import AT_LEAST, BY_FORMULA, LIMITS
from weft.errors import WeftError

if TYPE_CHECKING:
    import numpy.typing as npt

    from weft.design.plan import Plan
    from weft.design.price_list import Prices
    from weft.design.wanted import Wanted

MEASURED = "measured"
# Maximum number of links of all designs that a search builds, summed; building more would take too long.
MOST_LINKS = 300_000
# Number of random seeds with which the graph partitioner METIS searches each bisection while the search computes a
# front.
_SEEDS = 4
# The quantities by which the search compares designs, each with 1 if less is better, and -1 if more is better.
_AIMS = {"cost_usd": 1, "power_w": 1, "diameter_hops": 1, "bisection_links": -1}


@dataclass(frozen=True)
class Found:
    """Result of a search: all candidates, with the Pareto front marked.

    Attributes
    ----------
    wanted : Wanted
        The requested properties.
    candidates : polars.DataFrame
        All designs with enough terminals and not too many ports per router, with numbers by formula. The columns are:

        - ``topology``, ``routers``, ``terminals``, ``radix_ports``, ``links``, ``diameter_hops``.
        - ``bisection_links``: number of links of the bisection.
        - ``bisection_is``: how exact the formula of the bisection is, or ``measured``. A measured bisection is the best
          cut found.
        - ``bisection_per_terminal``: links of the bisection divided by half the terminals.
        - ``racks``: number of racks; ``None`` if the user gives the size of racks and the design was not built.
        - ``cost_usd``, ``cost_is``: cost, and words that say whether it is only a lower bound. It is one if the user
          gives the size of racks and the design was not built.
        - ``power_w``: power of the network without traffic.
        - ``within_limits``: whether these numbers meet the limits of `wanted`.
        - ``on_front``: whether the design is on the Pareto front.
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

    def remarks(self) -> list[str]:
        """Notes on the meaning of the Pareto front, and on the origin of its numbers."""
        front, within = self.front, int(self.candidates["within_limits"].sum())
        lines = [
            f"{len(front)} designs on the front; {within:,} of {len(self.candidates):,} designs are within the limits",
            *self.assumed.remarks(),
            "bisection: exact by formula, or measured (the smallest cut that METIS and Weft found)",
        ]
        open_cuts = int((~front["bisection_is"].is_in([EXACT, MEASURED])).sum())
        open_costs = int((front["cost_is"] == AT_LEAST).sum())
        if open_cuts:
            lines.append(
                f"{open_cuts} large designs on the front were not built, and their bisection comes from a formula: "
                f"if the true bisection is smaller, the design may not be on the front"
            )
        if open_costs:
            lines.append(f"{open_costs} large designs on the front were not built: they may cost more")
        return lines

    def measured(self, most: int | None = None) -> Comparison:
        """Builds and measures the designs on the front; at most the `most` cheapest designs."""
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
        Properties that a design must have.
    assumed : Assumptions, optional
        Assumptions about prices, packaging and power; by default those of the FleX paper (IEEE Access 2022).
    most_measured_links : int
        Maximum sum of the links of all designs that the search builds. If the designs on the front have more links, the
        most expensive ones keep the bisections that the formulas give.

    Raises
    ------
    WeftError
        If no design has the requested number of terminals within the radix, or no design meets the limits. The message
        names the nearest designs, and how far they miss the limits.
    """
    assumed = assumed or Assumptions()
    if assumed.prices is None:
        raise _unpriced(assumed)
    prices = assumed.prices
    room = assumed.packaging.terminals_per_rack
    rows, topologies = [], []
    for name in wanted.families or FAMILIES:
        for parameters in FAMILIES[name].candidates(wanted.terminals, wanted.radix_ports):
            plan = FAMILIES[name].plan(parameters)
            if room is None or plan.most_terminals <= room:
                topologies.append({name: parameters})
                rows.append(_row(topologies[-1], plan, assumed, prices))
    if not rows:
        refuse_radix(wanted, room)
    frame = pl.DataFrame(rows, orient="row", schema=_SCHEMA)
    # if a formula gives only a lower bound of the bisection, this bound could wrongly keep the design off the front.
    # The search measures all these designs; there are few of them
    lower = (frame["bisection_is"] == LOWER).to_numpy()
    frame = _with_measured(frame, topologies, _within(wanted, frame) & lower, assumed)
    measured = 0
    while True:
        within = _within(wanted, frame)
        front = np.zeros(len(frame), dtype=bool)
        if within.any():
            aims = np.stack([sign * frame[column].to_numpy().astype(float) for column, sign in _AIMS.items()], axis=1)
            front[np.flatnonzero(within)[pareto(aims[within])]] = True
        else:
            front[nearest(wanted, frame)] = True
        todo = front & ~_is_known(frame)
        # builds the cheapest designs first, until the maximum number of links is reached
        cheapest = np.flatnonzero(todo)[np.argsort(frame["cost_usd"].to_numpy()[todo], kind="stable")]
        spent = measured + np.cumsum(frame["links"].to_numpy()[cheapest])
        todo[cheapest[spent > most_measured_links]] = False
        if not todo.any():
            break
        measured = int(spent[spent <= most_measured_links][-1])
        frame = _with_measured(frame, topologies, todo, assumed)
    if not within.any():
        refuse_limits(wanted, frame)
    ratio = (frame["bisection_links"] / (frame["terminals"] / 2)).alias("bisection_per_terminal")
    frame = frame.insert_column(frame.columns.index("bisection_is"), ratio)
    marks = [pl.Series("within_limits", within), pl.Series("on_front", front)]
    return Found(wanted, frame.with_columns(marks), topologies, assumed)


def _is_known(frame: pl.DataFrame) -> npt.NDArray[np.bool_]:
    """Boolean mask of the designs with an exact or measured bisection, and a cost that is not only a lower bound."""
    known = frame["bisection_is"].is_in([EXACT, MEASURED]) & (frame["cost_is"] != AT_LEAST)
    return known.to_numpy()


def _within(wanted: Wanted, frame: pl.DataFrame) -> npt.NDArray[np.bool_]:
    """Boolean mask that selects the designs within the limits.

    If the bisection of a design is only a lower bound, the limit of the bisection is ignored.
    """
    within = np.ones(len(frame), dtype=bool)
    for limit, (column, sign, *_) in LIMITS.items():
        if (bound := getattr(wanted, limit)) is not None:
            kept = sign * frame[column].to_numpy() <= sign * bound
            within &= kept | (frame["bisection_is"] == LOWER).to_numpy() if limit == "bisection_links" else kept
    return within


def _with_measured(
    frame: pl.DataFrame, topologies: list[dict[str, Any]], which: npt.NDArray[np.bool_], assumed: Assumptions
) -> pl.DataFrame:
    """The frame with measured values for the designs selected by `which`.

    The partitioner measures the bisections of these designs.

    Exact or already measured bisections and costs are kept.
    """
    places = np.flatnonzero(which)
    if not len(places):
        return frame
    few = replace(assumed, seeds=min(assumed.seeds, _SEEDS))
    designs = compare({str(place): topologies[place] for place in places}, few).designs
    rows = frame[places].to_dicts()
    for row, design in zip(rows, designs, strict=True):
        if row["bisection_is"] not in (EXACT, MEASURED):
            known = row["bisection_links"] if row["bisection_is"] == CUT else design.cut
            row |= {"bisection_links": min(design.cut, known), "bisection_is": MEASURED}
        if row["cost_is"] == AT_LEAST:
            row |= {**design.money, "cost_is": MEASURED}
    found = pl.DataFrame(rows, schema=frame.schema)
    shown = ("bisection_links", "bisection_is", "racks", "cost_usd", "cost_is")
    return frame.with_columns([frame[column].scatter(places, found[column]) for column in shown])


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
    "cost_is": pl.String,
    "power_w": pl.Float64,
}


def _unpriced(assumed: Assumptions) -> WeftError:
    """The error about a search without prices. It proposes hardware of the same speed that has prices."""
    remedy = "name a price list with `--prices FILE` (`weft design prices --list` shows one)"
    why = "there is no price list"
    if assumed.hardware is not None:
        why = f"the catalogue has no price in dollars for: {', '.join(assumed.hardware.unpriced())}"
        priced = assumed.hardware.priced()
        speed = assumed.hardware.speed
        remedy += (
            f"; at {speed} the catalogue has no complete prices"
            if priced is None
            else f", or write `{priced.as_options()}`"
        )
    return WeftError.saying(f"designs are compared by cost, but {why}", remedy)


def _row(topology: dict[str, Any], plan: Plan, assumed: Assumptions, prices: Prices) -> tuple[Any, ...]:
    sized = assumed.packaging.has_sizes
    return (
        in_words(topology),
        plan.routers,
        plan.terminals,
        plan.radix,
        plan.links,
        plan.diameter,
        plan.bisection,
        plan.bisection_kind,
        None if sized else plan.racks,
        plan.cost_usd(prices, assumed.packaging),
        AT_LEAST if sized else BY_FORMULA,
        assumed.power_w(plan.routers, plan.radix, plan.links, plan.terminals),
    )


def pareto(aims: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Indices of the rows on the Pareto front: no other row is at most as large in all columns and smaller in one.

    If several rows are equal, only the first of them is in the result.

    Parameters
    ----------
    aims : array of float, shape (designs, aims)
    """
    order = np.lexsort(aims.T[::-1])  # every row comes after the rows that dominate it
    kept: list[int] = []
    front = np.empty((0, aims.shape[1]))
    for place in order:
        if not (front <= aims[place]).all(axis=1).any():
            kept.append(int(place))
            front = np.vstack([front, aims[place]])
    return np.array(sorted(kept), dtype=np.int64)
