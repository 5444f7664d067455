"""Runs the interpretations ("readings") of the routing LBR that the text of the paper allows.

LBR is a routing that draws one of several candidate paths: paths with shorter queues in the last snapshot are more
likely.

The verdicts on four claims about latency and saturation depend on the reading: F-105, F-115, F-117 and F-118.

In the reading of the figures, paths are predefined: a pair of routers has the same paths during the whole run. The
length of a link's queue is the number of flits that wait for the link ("packets to be processed"). The paper also says
that a source determines its paths after every interval T.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any

import polars as pl

from weft.results import quantities as q
from weft_papers.common import bar_figures
from weft_papers.common.measured import LackingError
from weft_papers.common.questions import beside, ratio, steady
from weft_papers.common.rules import WITHIN, WITHIN_LATENCY
from weft_papers.flex.network_saturation import bounds, knee, known
from weft_papers.flex.networks import FAT_TREE, FLEX
from weft_papers.flex.performance_frame import LBR, MINIMAL, PARAMETERS, READINGS, mechanism

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from weft.plot.style import Picture as Drawing
    from weft_papers.common.measured import Measured
    from weft_papers.common.rules import Finding, Rule

RUNS = "readings"
OTHERS = READINGS[1:]
# Readings that differ only in the time at which LBR draws paths. In all of them, a queue is the flits that wait for a
# link.
_DRAWN = tuple(
    name for (_, sensor, ties), name in zip(PARAMETERS, READINGS, strict=True) if sensor == "output_queue" and not ties
)
COMPLEMENT, ASYMMETRIC = "bit_complement", "asymmetric"
PATTERNS = (
    "uniform",
    COMPLEMENT,
    "bit_reverse",
    "shuffle",
    "transpose",
    "random_permutation",
    ASYMMETRIC,
    "neighbor",
    "tornado",
)
# A load is "low" if it is at most this share of the saturation under minimal routing.
_LOW = 0.5


def of_the_tree() -> list[dict[str, Any]]:
    """Return the overrides that run LBR on the fat tree: a value of ``routing`` for each reading."""
    return [
        {
            "lbr": {
                "minimal": {"shortest_path": {}},
                "detours": 3,
                "candidates": {drawn: {}},
                "every": "10cycles",
                "delay": "1cycle",
                "prefer_min_on_tie": on_tie,
                "sensor": sensor,
            }
        }
        for drawn, sensor, on_tie in PARAMETERS
    ]


def by_pattern(measured: Measured) -> dict[str, pl.DataFrame]:
    """Return the rows of all readings, by pattern that was run."""
    rows = measured[RUNS]
    return {name: rows.filter(pattern=name) for name in PATTERNS if (rows["pattern"] == name).any()}


def saturations(measured: Measured, pattern: str, network: str) -> dict[str, float]:
    """Return the saturation load of a network under a pattern, by reading.

    Readings without a known saturation are omitted.
    """
    if not measured.has((RUNS,)):
        return {}
    rows = measured[RUNS].filter(pattern=pattern)
    found = {name: known(rows, mechanism(network, name)) for name in READINGS}
    return {name: value for name, value in found.items() if value is not None}


def over_minimal(rows: pl.DataFrame, routing: str) -> list[tuple[float, float]]:
    """Return pairs of a load and the ratio of FleX's latency under a routing to its latency under minimal routing.

    Loads at which one of the two saturates are omitted.
    """
    both = steady(beside(rows, mechanism(FLEX, routing), mechanism(FLEX, MINIMAL))).sort("load")
    found = both.select("load", ratio(q.LATENCY.column).alias("times")).drop_nulls().rows()
    if not found:
        raise LackingError("no load was run at which both networks are below saturation")
    return found


def mean_latency(rows: Mapping[str, pl.DataFrame], routing: str = LBR) -> tuple[float, str]:
    """Return the mean ratio of FleX's latency under a routing to its latency under minimal routing.

    The mean is over loads up to half of the saturation under minimal routing. If this saturation is unknown, only the
    lowest load counts.
    """
    means = {}
    for pattern, points in rows.items():
        found = over_minimal(points, routing)
        carried = known(points, mechanism(FLEX, MINIMAL))
        most = found[0][0] if carried is None else _LOW * carried
        if times := [each for load, each in found if load <= most]:
            means[pattern] = fmean(times)
    if not means:
        raise LackingError("no load up to half of the saturation load of minimal routing was run")
    text = ", ".join(f"{name} {times - 1:+.0%}" for name, times in means.items())
    return fmean(means.values()), f"by pattern {text}"


def mean_gain(rows: Mapping[str, pl.DataFrame], routing: str = LBR) -> tuple[float, float, str]:
    """Return two bounds of FleX's saturation relative to its saturation under minimal routing, as means over patterns.

    The returned text has the bounds of each pattern.
    """
    found = {
        pattern: bounds(points, mechanism(FLEX, routing)).beside(bounds(points, mechanism(FLEX, MINIMAL)))
        for pattern, points in rows.items()
    }
    text = ", ".join(
        f"{name} {low:.2f}" if low == high else f"{name} {low:.2f} to {high:.2f}" for name, (low, high) in found.items()
    )
    low, high = (fmean(each[end] for each in found.values()) for end in (0, 1))
    return low, high, f"by pattern {text}"


@dataclass(frozen=True)
class Quantity:
    """A number that a claim states, and that Weft computes under each reading of LBR.

    Attributes
    ----------
    claim, column : str
        Identifier of the claim; heading of its column in the table.
    of : callable
        Function that returns the number under a reading.
    printed, within : float
        Printed number, and allowed relative difference.
    """

    claim: str
    column: str
    of: Callable[[Measured, str], float]
    printed: float
    within: float = WITHIN

    def values(self, measured: Measured) -> dict[str, float]:
        """Return the number that the claim states, by reading for which it is known."""
        found: dict[str, float] = {}
        for name in READINGS if measured.has((RUNS,)) else ():
            with suppress(LackingError):
                found[name] = self.of(measured, name)
        return found

    def met(self, value: float) -> bool:
        """Return whether a number meets the claim within its tolerance."""
        return abs(value / self.printed - 1) <= self.within


def _complement(measured: Measured, reading: str) -> float:
    return knee(measured[RUNS].filter(pattern=COMPLEMENT), mechanism(FLEX, reading))


def _beside_the_tree(measured: Measured, reading: str) -> float:
    rows = measured[RUNS].filter(pattern=ASYMMETRIC)
    return knee(rows, mechanism(FLEX, reading)) / knee(rows, mechanism(FAT_TREE, reading))


def _latency(measured: Measured, reading: str) -> float:
    return mean_latency(by_pattern(measured), reading)[0]


def _gain(measured: Measured, reading: str) -> float:
    rows = by_pattern(measured)
    if len(rows) < len(PATTERNS):
        raise LackingError("the mean over all patterns needs results for all patterns")
    low, high, _ = mean_gain(rows, reading)
    if low != high:
        raise LackingError("some points had not settled")
    return low


QUANTITIES = (
    Quantity("F-105", "bit complement: saturation [flits/terminal/cycle]", _complement, 0.6),
    Quantity("F-115", "asymmetric: saturation of FleX over that of the fat tree [ratio]", _beside_the_tree, 1.0),
    Quantity("F-117", "latency over that of minimal routing [ratio]", _latency, 1.16, WITHIN_LATENCY),
    Quantity("F-118", "saturation over that of minimal routing [ratio]", _gain, 2.0),
)


def table(measured: Measured) -> pl.DataFrame:
    """Make the table of readings of LBR: for each, the numbers that claims state, and the claims that it meets."""
    found = {each: each.values(measured) for each in QUANTITIES}
    if not any(found.values()):
        raise LackingError("the readings of LBR were not run")
    rows = []
    for name in READINGS:
        met = [each.claim for each, values in found.items() if name in values and each.met(values[name])]
        printed = {f"{each.claim}, {each.column}": values.get(name) for each, values in found.items()}
        words = f"{name}, predefined paths, flits that wait (figures)" if name == LBR else name
        rows.append({"reading": words} | printed | {"meets": ", ".join(met) or "none"})
    return pl.DataFrame(rows, schema_overrides={f"{each.claim}, {each.column}": pl.Float64 for each in QUANTITIES})


def remark(measured: Measured) -> str:
    """Return the remark that a quick run does not judge saturation loads; empty for a full run."""
    return "A quick run has short windows, so its saturation loads are not judged." if measured.quick else ""


def explained(claim: str, rule: Rule) -> Rule:
    """Extend the rule of a claim.

    The finding then also has the claim's number under each reading. If the claim is missed, the cause names the
    readings that meet it.
    """
    (quantity,) = (each for each in QUANTITIES if each.claim == claim)

    def judge(measured: Measured) -> Finding:
        found = rule.judge(measured)
        values = quantity.values(measured)
        if not values:
            return found
        text = ", ".join(f"{value:.3f} ({name})" for name, value in values.items())
        found = replace(found, measured=f"{found.measured}; by reading {text}")
        if found.answer != "missed":
            return found
        met = [f"{name} gives {value:.3f}" for name, value in values.items() if quantity.met(value)]
        cause = (
            f"the reading of LBR: {', '.join(met)}"
            if met
            else f"not isolated: tried {len(values)} readings of LBR, which give "
            f"{min(values.values()):.3f} to {max(values.values()):.3f}"
        )
        return replace(found, cause=cause)

    return replace(rule, judge=judge)


def figure(measured: Measured) -> Drawing:
    """Draw the load at which FleX saturates under each pattern, with minimal routing and with LBR.

    LBR has a bar for each reading that differs in the time at which LBR draws paths.
    """
    rows = {
        name: points
        for name, points in by_pattern(measured).items()
        if any(known(points, mechanism(FLEX, routing)) for routing in (MINIMAL, *_DRAWN))
    }
    bars: dict[str, list[float | None]] = {
        routing: [known(points, mechanism(FLEX, routing)) for points in rows.values()] for routing in (MINIMAL, *_DRAWN)
    }
    if not rows:
        raise LackingError("no load saturated the network")
    names = [pattern.replace("_", " ") for pattern in rows]
    title = "FleX: saturation by the time at which LBR draws its paths"
    return bar_figures.grouped(title, names, bars, "Saturation [flits/terminal/cycle]", wide=True)[0]
