"""Judges the claims about latency and saturation (sections IV-B and IV-C).

Latencies are compared at the lowest load at which all compared networks were run and none of them is saturated.
"Similar", "comparable" and "close" are within 10 %, the tolerance of approximate claims. "Slightly" is up to 25 %.

LBR is a routing that draws one of several candidate paths: paths with shorter queues in the last snapshot are more
likely.
"""

from __future__ import annotations

from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING

import polars as pl

from weft.results import quantities as q
from weft_papers.common.measured import LackingError
from weft_papers.common.questions import least, near, of
from weft_papers.common.rules import ARITHMETIC, WITHIN, WITHIN_LATENCY, Part, Undecided, approx, exact, trend
from weft_papers.flex import lbr_readings
from weft_papers.flex.equal_concentration import reversed_at_equal
from weft_papers.flex.latency_figures import (
    COMPLEMENT,
    LARGER_RUNS,
    LAYERS,
    NEXT_GROUP,
    PERIODS,
    UNIFORM,
    at_half,
    hops_at_half,
    routers_visited,
    structure,
    visited,
)
from weft_papers.flex.network_saturation import Saturation, bounds, knee, refuse_short, saturation
from weft_papers.flex.networks import DRAGONFLY, FAT_TREE, FLEX, HYPERX, NETWORKS, SLIM_FLY
from weft_papers.flex.performance_frame import (
    HYPERX_2D,
    HYPERX_3D,
    LARGER,
    LBR,
    MINIMAL,
    ROUTINGS,
    UGAL,
    mechanism,
    of_layers,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from weft_papers.common.measured import Measured
    from weft_papers.common.rules import Rule

# Networks of Fig. 1 from the most hops to the fewest.
_ORDER = ((FAT_TREE,), (DRAGONFLY,), (SLIM_FLY,), (HYPERX, FLEX))
HOT_SPOT, PERMUTATION, ASYMMETRIC = "hot_spot", "random_permutation", "asymmetric"
# Experiments with two interpretations of the patterns neighbor and tornado, which shift digits of terminal ids. Either
# the digits are those that BookSim shifts, or all three decimal digits of the first 1,000 ids.
LOCAL = (("neighbor", "neighbor_of_ids"), ("tornado", "tornado_of_ids"))
PATTERNS = (
    UNIFORM,
    COMPLEMENT,
    "bit_reverse",
    "shuffle",
    "transpose",
    HOT_SPOT,
    PERMUTATION,
    ASYMMETRIC,
    "neighbor",
    "tornado",
)
_SLIGHTLY = 0.25
# Cause of a missed claim that separate runs showed: LBR's latency at low loads depends on the definition of a queue,
# and on the path that LBR takes if all queues are equal.
_OF_LATENCY = (
    "ties: with paths by snapshot, flits that wait for a link as the queue, and the minimal path if all paths are "
    "equal, LBR has 16 % more latency than minimal routing (uniform traffic, load 0.02)"
)
_OF_THE_TREE = (
    "the paths of LBR: with predefined paths FleX accepts 0.580 and the tree 0.509, with paths by snapshot and used "
    "credits 0.80 and 0.99 (full runs)"
)
# Causes of claims that full runs miss. They name the attempts to find a cause, and are used if the code finds no other
# cause.
_OF_COMPLEMENT = (
    "not isolated: tried the other routings, under which the fat tree accepts 0.950; under LBR with predefined paths "
    "it accepts 0.255"
)
_OF_REVERSE = (
    "not isolated: tried all three routings: FleX is below dragonfly by 3 % under LBR and by 21 % or more under UGAL, "
    "and below HyperX by less than 1 % under LBR; the fat tree falls from 0.993 to 0.534 under LBR"
)
_OF_SHUFFLE = (
    "not isolated: tried both routings: under UGAL FleX is above dragonfly and HyperX, under LBR 15 % below dragonfly "
    "and 3 % below HyperX; the fat tree accepts 0.949 under UGAL"
)
_OF_DIGITS = (
    "the paths of LBR: with neighbor traffic and predefined paths the fat tree accepts 0.161, with paths by snapshot "
    "0.90 (short windows); under the other routings it accepts 0.959"
)
_OF_VCS = "not isolated: tried other numbers of VCs: with single VCs FleX accepts 0.66 and HyperX 0.59 of load 1"
# Causes that runs with one changed parameter showed (warm-up of 500 cycles, window of 800 cycles, eight loads).
_OF_UGAL = (
    "the threshold of UGAL and the internal speed-up: FleX, HyperX and Slim Fly saturate at 0.480, 0.467 and 0.649, "
    "with a threshold of 50 flits instead of 0 at 0.385, 0.361 and 0.463, and with speed-up 1 instead of 2 at "
    "0.414, 0.400 and 0.449; queues measured by waiting flits, and single VCs, do not lower all three"
)
# A load is "low" if it is at most this share of the highest load that was run.
_LOW = 0.5
_UNIT = "flits/terminal/cycle"
# Printed ratio of the saturation under LBR to the saturation under minimal routing.
_GAIN = 2.0


def _run(measured: Measured, pattern: str, *routings: str) -> list[str]:
    """Check that all given routings were run under a pattern, and return them."""
    ran = {*measured[pattern]["routing"]}
    if lacking := [each for each in routings if each not in ran]:
        raise LackingError(f"{' and '.join(lacking)} was not run")
    return list(routings)


def _latencies(measured: Measured, pattern: str, routing: str, networks: Iterable[str]) -> tuple[float, list[float]]:
    """Return the lowest load at which all networks have a latency, and their latencies at this load."""
    below = measured[pattern].filter(~pl.col("saturated"))
    load, rows = least(below, q.LATENCY.column, *(mechanism(name, routing) for name in networks))
    return load, [float(row[q.LATENCY.column]) for row in rows]


def _compared(
    holds: bool | None, text: str, *of_: Saturation, cause: Callable[[], str] = lambda: ""
) -> Part | Undecided:
    """Make a part of a claim's trend from the result of a comparison.

    The part is undecided if `holds` is None, because points had not settled.
    """
    if holds is None:
        return Undecided("; ".join(each.late for each in of_ if each.late))
    return Part(holds, text, "" if holds else cause())


def _saturates(
    measured: Measured, pattern: str, routing: str, above: Iterable[str], *, than: str = FLEX, near_: str = ""
) -> list[Part | Undecided]:
    """Judge if the network `than` saturates at higher loads than each of `above`, and within 10 % of `near_`."""
    ours = saturation(measured, pattern, than, routing)
    parts: list[Part | Undecided] = []
    for name in above:
        theirs = saturation(measured, pattern, name, routing)
        text = f"{pattern}, {routing}: {than} {ours}, {name} {theirs}"

        def cause(name: str = name) -> str:
            causes = (
                reversed_at_equal(measured, pattern, routing, than, name),
                _by_paths(measured, pattern, routing, than, name),
                _by_readings(measured, pattern, routing, than, name),
            )
            return "; ".join(filter(None, causes))

        parts.append(_compared(ours.above(theirs), text, ours, theirs, cause=cause))
    if near_:
        theirs = saturation(measured, pattern, near_, routing)
        low, high = ours.beside(theirs)
        percent = f"{high - 1:+.0%}" if low == high else f"{low - 1:+.0%} to {high - 1:+.0%}"
        text = f"{pattern}, {routing}: {than} {ours}, {near_} {theirs} ({percent})"
        parts.append(
            _compared(
                _within_bounds(low, high),
                text,
                ours,
                theirs,
                cause=lambda: _by_readings(measured, pattern, routing, than, near_, alike=True),
            )
        )
    return parts


def _within_bounds(low: float, high: float, printed: float = 1.0) -> bool | None:
    """Return whether a ratio with these bounds is within 10 % of the printed ratio; `None` if undecided."""
    least, most = (1 - WITHIN) * printed, (1 + WITHIN) * printed
    if least <= low and high <= most:
        return True
    return False if high < least or low > most else None


def _by_readings(measured: Measured, pattern: str, routing: str, ours: str, other: str, *, alike: bool = False) -> str:
    """Return text on the interpretations ("readings") of LBR under which a claim holds; not on that of the figures."""
    if routing != LBR:
        return ""
    found, theirs = (lbr_readings.saturations(measured, pattern, name) for name in (ours, other))
    lines = [
        f"{name}: {ours} accepts {found[name]:.3f}, {other} {theirs[name]:.3f}"
        for name in lbr_readings.OTHERS
        if name in found.keys() & theirs.keys()
        and (abs(found[name] / theirs[name] - 1) <= WITHIN if alike else found[name] > theirs[name])
    ]
    return "; ".join(["the reading of LBR", *lines]) if lines else ""


def _by_paths(measured: Measured, pattern: str, routing: str, less: str, more: str) -> str:
    """Return text if channel loads explain why `less` accepts less load than `more`; else an empty string."""
    rows = measured[pattern]
    bounds = [rows.filter(mechanism=mechanism(name, routing))["path_bound"].drop_nulls() for name in (less, more)]
    if any(each.is_empty() for each in bounds):
        return ""
    low, high = (fmean(each.to_list()) for each in bounds)
    text = f"under {routing} the paths of {less} can carry {low:.3f}, the paths of {more} {high:.3f} (`weft check`)"
    return text if low < high else ""


def _below(measured: Measured, pattern: str, routing: str, others: Iterable[str]) -> list[Part | Undecided]:
    """Judge if FleX saturates at a lower load than each of the other networks."""
    ours = saturation(measured, pattern, FLEX, routing)
    parts: list[Part | Undecided] = []
    for name in others:
        theirs = saturation(measured, pattern, name, routing)
        text = f"{pattern}, {routing}: FleX {ours}, {name} {theirs}"
        parts.append(_compared(theirs.above(ours), text, ours, theirs))
    return parts


def _lowest(
    measured: Measured, pattern: str, routing: str, *alike: str, than: str = FLEX, beside_: Iterable[str] = NETWORKS
) -> list[Part]:
    """Judge if `than` has a lower latency than the networks `beside_`. For those in `alike`, 10 % higher is allowed."""
    others = [name for name in beside_ if name != FLEX]
    load, (ours, *theirs) = _latencies(measured, pattern, routing, (than, *others))
    parts = []
    for name, latency in zip(others, theirs, strict=True):
        text = f"{pattern}, {routing}, latency at {load:g}: {than} {ours:.1f}, {name} {latency:.1f} cycles"
        parts.append(Part(ours <= (1 + WITHIN) * latency if name in alike else ours < latency, text))
    return parts


def _uniform(measured: Measured) -> list[Part | Undecided]:
    parts: list[Part | Undecided] = []
    for routing in _run(measured, UNIFORM, *ROUTINGS):
        parts += _lowest(measured, UNIFORM, routing, HYPERX, beside_=(DRAGONFLY, SLIM_FLY, HYPERX))
        parts += _saturates(measured, UNIFORM, routing, (DRAGONFLY, SLIM_FLY))
    return parts


def _uniform_less(measured: Measured) -> list[Part | Undecided]:
    routings = _run(measured, UNIFORM, MINIMAL, UGAL)
    return [part for each in routings for part in _below(measured, UNIFORM, each, (FAT_TREE, HYPERX))]


def _as_much(pattern: str, *others: str) -> Callable[[Measured], list[Part | Undecided]]:
    """Return the judge of a claim: under LBR, FleX must saturate at the same load as each of `others`, within 10 %."""
    return lambda measured: [part for each in others for part in _saturates(measured, pattern, LBR, (), near_=each)]


def _complement(measured: Measured) -> list[Part | Undecided]:
    parts: list[Part | Undecided] = []
    for routing in _run(measured, COMPLEMENT, *ROUTINGS):
        parts += _saturates(measured, COMPLEMENT, routing, (DRAGONFLY, SLIM_FLY, HYPERX))
        parts += _below(measured, COMPLEMENT, routing, (FAT_TREE,))
    return parts


def _nearly(measured: Measured) -> float:
    refuse_short(measured)
    return knee(measured[COMPLEMENT], mechanism(FLEX, LBR))


def _slightly_higher(measured: Measured) -> list[Part]:
    """Judge whether UGAL and LBR raise FleX's latency slightly, compared with minimal routing, under bit complement."""
    parts = []
    for routing in _run(measured, COMPLEMENT, UGAL, LBR):
        load, times = lbr_readings.over_minimal(measured[COMPLEMENT], routing)[0]
        parts.append(Part(1 < times <= 1 + _SLIGHTLY, f"{routing}: {times - 1:+.1%} at {load:g}"))
    return parts


def _reverse(measured: Measured) -> list[Part | Undecided]:
    pattern = "bit_reverse"
    parts = _saturates(measured, pattern, MINIMAL, (SLIM_FLY,))
    for routing in _run(measured, pattern, *ROUTINGS):
        parts += _lowest(measured, pattern, routing, HYPERX)
    for routing in (UGAL, LBR):
        parts += _saturates(measured, pattern, routing, (DRAGONFLY, HYPERX), near_=FAT_TREE)
    return parts


def _shuffle(measured: Measured) -> list[Part | Undecided]:
    pattern = "shuffle"
    parts = _below(measured, pattern, MINIMAL, (FAT_TREE,))
    for routing in _run(measured, pattern, *ROUTINGS):
        parts += _lowest(measured, pattern, routing, HYPERX)
    for routing in (UGAL, LBR):
        parts += _saturates(measured, pattern, routing, (FAT_TREE, DRAGONFLY, SLIM_FLY, HYPERX))
    return parts


def _transpose(measured: Measured) -> list[Part | Undecided]:
    pattern = "transpose"
    parts: list[Part | Undecided] = []
    for routing in _run(measured, pattern, MINIMAL, UGAL):
        load, found = _latencies(measured, pattern, routing, NETWORKS)
        order = sorted(zip(found, NETWORKS, strict=True))
        text = ", ".join(f"{name} {latency:.1f}" for latency, name in order)
        first, ours = order[0][1], found[NETWORKS.index(FLEX)]
        second = all(ours <= (1 + WITHIN) * latency for latency, name in order if name != DRAGONFLY)
        parts.append(Part(first == DRAGONFLY and second, f"{routing}, latency at {load:g}: {text} cycles"))
    for routing in (MINIMAL, UGAL):
        parts += _saturates(measured, pattern, routing, (SLIM_FLY, HYPERX))
    return parts


def _local_decisions(measured: Measured) -> list[Part | Undecided]:
    """Judge whether UGAL is worse than minimal routing, in the dragonfly under transpose traffic.

    The latency must be higher, and the saturation lower.
    """
    both = [mechanism(DRAGONFLY, routing) for routing in _run(measured, "transpose", UGAL, MINIMAL)]
    below = measured["transpose"].filter(~pl.col("saturated"))
    load, rows = least(below, q.LATENCY.column, *both)
    ours, theirs = (float(row[q.LATENCY.column]) for row in rows)
    refuse_short(measured)
    ugal, minimal = (bounds(measured["transpose"], each) for each in both)
    return [
        Part(ours > theirs, f"latency at {load:g}: UGAL {ours:.1f}, minimal {theirs:.1f} cycles"),
        _compared(minimal.above(ugal), f"saturation: UGAL {ugal}, minimal {minimal}", ugal, minimal),
    ]


def _hot_spot(measured: Measured) -> list[Part]:
    """Judge FleX's latency at the lowest load: at most 10 % above HyperX and Slim Fly, and below the other networks."""
    parts = []
    for routing in _run(measured, HOT_SPOT, *ROUTINGS):
        parts += _lowest(measured, HOT_SPOT, routing, HYPERX, SLIM_FLY)
    return parts


def _few(measured: Measured) -> list[Part | Undecided]:
    routings = _run(measured, PERMUTATION, MINIMAL, UGAL)
    limit = Saturation(0.4, 0.4)
    parts: list[Part | Undecided] = []
    for routing in routings:
        for name in NETWORKS:
            if name != FAT_TREE:
                found = saturation(measured, PERMUTATION, name, routing)
                parts.append(_compared(limit.above(found), f"{name}, {routing}: {found}", found))
    return parts


def _hyperx_more(measured: Measured) -> list[Part | Undecided]:
    return _saturates(measured, ASYMMETRIC, UGAL, (FLEX,), than=HYPERX)


def _local(measured: Measured) -> list[Part | Undecided]:
    """Judge the claim on neighbor and tornado traffic.

    The patterns shift the same digits of terminal ids as in BookSim.

    The text also has the results of the patterns that shift all digits, if they were run.
    """
    parts: list[Part | Undecided] = []
    for booksim, of_ids in LOCAL:
        for reading in (booksim, *([of_ids] if of_ids in measured.frames else [])):
            found = {name: saturation(measured, reading, name, LBR) for name in NETWORKS}
            tree = found[FAT_TREE]
            half = Saturation(_LOW * tree.low, _LOW * tree.high, tree.late)
            answers = [half.above(each) for name, each in found.items() if name != FAT_TREE]
            answers += [found[FLEX].above(found[name]) for name in (DRAGONFLY, SLIM_FLY, HYPERX)]
            holds = False if False in answers else None if None in answers else True
            text = ", ".join(f"{name} {value}" for name, value in found.items())
            words = "digits as in BookSim" if reading == booksim else "all digits of ids"
            shown = f"{booksim}, {words}, LBR: {text}"
            parts.append(_compared(reading == of_ids or holds, shown, *found.values()))
    return parts


def _mean_latency(measured: Measured) -> tuple[float, str]:
    return lbr_readings.mean_latency({pattern: measured[pattern] for pattern in PATTERNS})


def _mean_saturation(measured: Measured) -> tuple[float, str]:
    """Return the mean gain in saturation load of LBR over minimal routing, and text on it.

    If only two bounds of the gain are known, the bound nearer to the printed gain is returned.
    """
    refuse_short(measured)
    low, high, text = lbr_readings.mean_gain({pattern: measured[pattern] for pattern in PATTERNS})
    if _within_bounds(low, high, _GAIN) is None:
        why = "because some points had not settled"
        raise LackingError(f"the mean is between {low:.2f} and {high:.2f}, {why}; {text}")
    return min((low, high), key=lambda value: abs(value - _GAIN)), text


def _hops(measured: Measured) -> tuple[bool, str]:
    visited_ = routers_visited(measured, FLEX)
    return visited_ < 3, f"{visited_:.3f} routers visited, {visited_ - 1:.3f} links"


def _bar(network: str) -> Rule:
    """Make a rule for the rank of a network's bar in Fig. 1, because the figure prints no numbers.

    From the most hops to the fewest, the order is: fat tree, dragonfly, Slim Fly, then HyperX and FleX, which are equal
    within 1 %.
    """
    place = next(number for number, names in enumerate(_ORDER) if network in names)
    alike = [name for name in _ORDER[place] if name != network]
    order = [name for names in _ORDER for name in names]

    def judged(measured: Measured) -> list[Part]:
        hops = {name: routers_visited(measured, name) for name in order}
        ours = hops[network]
        above = all(hops[name] > ours for names in _ORDER[:place] for name in names)
        below = all(hops[name] < ours for names in _ORDER[place + 1 :] for name in names)
        near_ = all(abs(hops[name] / ours - 1) <= ARITHMETIC for name in alike)
        text = ", ".join(f"{name} {mean:.3f}" for name, mean in hops.items())
        return [Part(above and below and near_, f"routers visited: {text}")]

    words = f"place {place + 1} of 4 from the most hops" + (f", within 1 % of {alike[0]}" if alike else "")
    return trend(words, judged, UNIFORM)


def _most_hops(measured: Measured) -> float:
    return float(len(visited(measured)))


def _next_group(measured: Measured) -> list[Part | Undecided]:
    parts: list[Part | Undecided] = []
    for routing in _run(measured, NEXT_GROUP, *ROUTINGS):
        parts += _lowest(measured, NEXT_GROUP, routing, beside_=(DRAGONFLY,))
        parts += _saturates(measured, NEXT_GROUP, routing, (DRAGONFLY,))
    return parts


def _larger(measured: Measured) -> list[Part | Undecided]:
    """Judge whether the larger FleX of Fig. 13 has lower latency and higher saturation than the networks of Fig. 8b."""
    rows = pl.concat([measured[COMPLEMENT], measured[LARGER_RUNS]])
    both = type(measured)(dict(measured.frames) | {COMPLEMENT: rows}, measured.quick)
    parts: list[Part | Undecided] = []
    for routing in _run(measured, COMPLEMENT, *ROUTINGS):
        parts += _lowest(both, COMPLEMENT, routing, HYPERX, than=LARGER)
        parts += _saturates(both, COMPLEMENT, routing, (DRAGONFLY, SLIM_FLY, HYPERX), than=LARGER)
    return [*parts, *_saturates(both, COMPLEMENT, LBR, (FAT_TREE,), than=LARGER)]


def _periods(measured: Measured) -> list[Part]:
    """Judge whether LBR's latency never falls and its saturation never rises, from one snapshot period to the next."""
    rows = of(measured[PERIODS], mechanism(FLEX, LBR)).drop_nulls(q.LATENCY.column)
    periods = sorted(rows["period"].drop_nulls().unique())
    below = rows.filter(~pl.col("saturated")).group_by("load").agg(pl.col("period").n_unique())
    loads = below.filter(pl.col("period") == len(periods))["load"].to_list()
    if len(periods) < 2 or not loads:
        raise LackingError("fewer than two periods were run, or at each load at least one period is saturated")
    load = max(loads)
    refuse_short(measured)
    latencies = [float(near(rows.filter(period=period), load)[q.LATENCY.column]) for period in periods]
    knees = [knee(rows.filter(period=period), mechanism(FLEX, LBR)) for period in periods]
    text = ", ".join(f"{latency:.1f} (T = {period})" for period, latency in zip(periods, latencies, strict=True))
    full = ", ".join(f"{knee:.3f} (T = {period})" for period, knee in zip(periods, knees, strict=True))
    return [
        Part(all(a <= b for a, b in pairwise(latencies)), f"latency at {load:g}: {text}"),
        Part(all(a >= b for a, b in pairwise(knees)), f"saturation: {full}"),
    ]


def _more_hops(first: str, second: str) -> Callable[[Measured], tuple[bool, str]]:
    def judged(measured: Measured) -> tuple[bool, str]:
        more, less = hops_at_half(measured, first), hops_at_half(measured, second)
        return more > less, f"{first} {more:.3f}, {second} {less:.3f} links"

    return judged


def _within(measured: Measured) -> tuple[bool, str]:
    low, *middle = (hops_at_half(measured, of_layers(layers)) for layers in range(3, 8))
    high = hops_at_half(measured, HYPERX_3D)
    text = f"{low:.3f}, then {', '.join(f'{each:.3f}' for each in middle)}; HyperX 6x6x6 {high:.3f} links"
    return all(low < each < high for each in middle), text


def _grow(measured: Measured) -> tuple[bool, str]:
    found = [hops_at_half(measured, of_layers(layers)) for layers in (3, 5, 4, 6, 7)]
    text = ", ".join(f"{hops_at_half(measured, of_layers(layers)):.3f}" for layers in range(3, 8))
    return all(a < b for a, b in pairwise(found)), f"{text} links with 3 to 7 layers"


def _slower(first: str, second: str) -> Callable[[Measured], tuple[bool, str]]:
    """Return the judge of a claim: at load 0.5, network `first` must have a higher latency than network `second`."""

    def judged(measured: Measured) -> tuple[bool, str]:
        more, less = (at_half(structure(measured, name), q.LATENCY.column) for name in (first, second))
        return more > less, f"{first} {more:.2f}, {second} {less:.2f} cycles"

    return judged


def _both_lower(measured: Measured) -> list[Part]:
    slower, longer = _slower(of_layers(3), HYPERX_2D)(measured), _more_hops(of_layers(3), HYPERX_2D)(measured)
    return [Part(*slower), Part(*longer)]


_ALIKE = "FleX below all networks except HyperX, and at most 10 % above HyperX"
RULES: dict[str, Rule] = {
    "F-014": trend("fewer than 3 routers visited", _hops, UNIFORM),
    **{f"F-{number:03}": _bar(name) for number, name in enumerate(NETWORKS, 15)},
    "F-101": trend(
        "under each routing FleX has a latency below dragonfly and Slim Fly, and at most 10 % above HyperX, and "
        "accepts more than dragonfly and Slim Fly",
        _uniform,
        UNIFORM,
        cause=_OF_VCS,
    ),
    "F-102": trend("FleX accepts less, under minimal and UGAL", _uniform_less, UNIFORM),
    "F-103": trend("with LBR FleX accepts within 10 % of each", _as_much(UNIFORM, HYPERX, FAT_TREE), UNIFORM),
    "F-104": trend(
        "under each routing FleX accepts more than dragonfly, Slim Fly and HyperX, and less than the fat tree",
        _complement,
        COMPLEMENT,
        cause=_OF_COMPLEMENT,
    ),
    "F-105": lbr_readings.explained("F-105", approx(0.6, _nearly, COMPLEMENT, unit=_UNIT)),
    "F-106": trend("latency up to 25 % higher, at the lowest load", _slightly_higher, COMPLEMENT, cause=_OF_LATENCY),
    "F-107": trend(
        f"latency of {_ALIKE}; with minimal routing FleX accepts more than Slim Fly; with UGAL and LBR more than "
        "dragonfly and HyperX, and within 10 % of the fat tree",
        _reverse,
        "bit_reverse",
        cause=_OF_REVERSE,
    ),
    "F-108": trend(
        f"with minimal routing FleX accepts less than the fat tree, with UGAL and LBR more than all others; latency of "
        f"{_ALIKE}",
        _shuffle,
        "shuffle",
        cause=_OF_SHUFFLE,
    ),
    "F-109": trend(
        "under minimal routing and UGAL the latency of dragonfly is lowest, and that of FleX at most 10 % above the "
        "next; FleX accepts more than Slim Fly and HyperX",
        _transpose,
        "transpose",
    ),
    "F-110": trend("UGAL has a higher latency and accepts less", _local_decisions, "transpose"),
    "F-111": trend(
        "latency of FleX below fat tree and dragonfly, and at most 10 % above HyperX and Slim Fly", _hot_spot, HOT_SPOT
    ),
    "F-112": trend("all networks except the fat tree accept less than 0.4", _few, PERMUTATION, cause=_OF_UGAL),
    "F-113": trend("within 10 %", _as_much(PERMUTATION, FAT_TREE), PERMUTATION, cause=_OF_THE_TREE),
    "F-114": trend("HyperX accepts more than FleX, with UGAL", _hyperx_more, ASYMMETRIC),
    "F-115": lbr_readings.explained("F-115", trend("within 10 %", _as_much(ASYMMETRIC, FAT_TREE), ASYMMETRIC)),
    "F-116": trend(
        "with BookSim's digits and LBR all others accept at most half as much as the fat tree, and FleX more than "
        "dragonfly, Slim Fly and HyperX",
        _local,
        *(booksim for booksim, _ in LOCAL),
        cause=_OF_DIGITS,
    ),
    "F-117": lbr_readings.explained(
        "F-117",
        approx(1.16, _mean_latency, *PATTERNS, within=WITHIN_LATENCY, unit="times the latency", cause=_OF_LATENCY),
    ),
    "F-118": lbr_readings.explained("F-118", approx(_GAIN, _mean_saturation, *PATTERNS, unit="times as much")),
    "F-120": exact(3.0, _most_hops, UNIFORM, unit="routers visited"),
    "F-121": trend("FleX has a lower latency and accepts more, under each routing", _next_group, NEXT_GROUP),
    "F-125": trend(
        f"under each routing latency of the larger {_ALIKE}; it accepts more than dragonfly, Slim Fly and HyperX, and "
        "with LBR more than the fat tree",
        _larger,
        COMPLEMENT,
        LARGER_RUNS,
    ),
    "F-126": trend(
        "with each longer period T the latency is not lower and the saturation load not higher", _periods, PERIODS
    ),
    "F-131": trend("more hops with 4 layers", _more_hops(of_layers(4), of_layers(5)), LAYERS),
    "F-132": trend("more hops than with 3 layers, fewer than in HyperX 6x6x6", _within, LAYERS),
    "F-133": trend("more hops in the order of 3, 5, 4, 6 and 7 layers", _grow, LAYERS),
    "F-134": trend("higher latency with 4 layers, at load 0.5", _slower(of_layers(4), of_layers(5)), LAYERS),
    "F-135": trend("higher latency of HyperX, at load 0.5", _slower(HYPERX_3D, of_layers(6)), LAYERS),
    "F-136": trend("lower latency and fewer hops of HyperX, at load 0.5", _both_lower, LAYERS),
}
