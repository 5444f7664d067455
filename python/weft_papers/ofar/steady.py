"""Draws Figs. 2b to 5 and judges claims about steady traffic: latency and throughput over load.

The routings are MIN (minimal), VAL (Valiant), PB (piggybacking, adaptive at the source), OFAR (adaptive at every
router), and OFAR-L (OFAR without local detours). Under the pattern ADV+N, each group sends to the group that is N
groups further.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from math import inf
from statistics import fmean
from typing import TYPE_CHECKING

import polars as pl

from weft.results import quantities as q
from weft_papers.common import line_figures
from weft_papers.common.line_figures import Series, latency_over_load, over_load
from weft_papers.common.measured import LackingError
from weft_papers.common.questions import beside, greatest, of, ratio, steady, throughput, unstalled
from weft_papers.common.rules import Part, approx, constructed, exact, trend
from weft_papers.ofar import readings
from weft_papers.ofar.closed_forms import valiant_bound
from weft_papers.ofar.routings_run import MIN, OFAR, OFAR_L, PB, PB_125, UNIFORM, VAL, adversarial
from weft_papers.ofar.scale import PAPER_H, paper_only, sizes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weft.plot.style import Picture as Drawing
    from weft_papers.common.measured import Measured
    from weft_papers.common.rules import Rule

UN, ADV2, ADVH = "uniform", "adv2", "advh"
SWEEPS = (UN, ADV2, ADVH)
SATURATION, EDGE, OFFSETS, KNEES = "saturation", "edge", "offsets", "knees"
# Names of the routings in a fixed order, which gives each routing the same look in all figures.
LOOKS = (MIN, VAL, PB, PB_125, OFAR, OFAR_L)
UNIT = "phits/(node cycle)"
OFFERED = f"Offered load [{UNIT}]"
ACCEPTED = f"Accepted load [{UNIT}]"
# The latency axis of a figure ends at this multiple of the figure's smallest latency.
_MOST = 5.0
# Two results differ significantly if they differ by at least this share, which is also the tolerance of approximate
# claims.
SIGNIFICANT = 0.10
# A load is low if it is at most this share of the highest load that MIN accepts.
_LOW = 0.5
_PB_LESS = (
    "the coefficient of PB's bit, which the paper does not print: 0.348 with 125 %, which is within 10 %, and 0.319 "
    "with 200 %. The rest of the difference comes from the loads of local links: they bound VAL at "
    f"{valiant_bound(PAPER_H, 2).load:.3f}, and the minimal path of a group carries 1/72 more. With local links twice "
    "as fast the accepted load is 0.371 with 125 %. Absolute and circulant wiring (0.352, 0.330), one and two rounds "
    "of allocation (0.343, 0.348) and waiting flits instead of used credits (0.278) do not raise it. The authors' "
    "public simulator accepts 0.33 with 125 % and 0.27 with 200 %"
)
_L2_ALONE = (
    "the printed bound counts only the load of l2, and counts the groups of source and destination as intermediate "
    "groups; local links also carry first and last hops"
)


def latency(title: str, experiment: str) -> Callable[[Measured], Drawing]:
    """Make the function that draws the packet latency of each routing over load."""
    return partial(_drawn, title, experiment, q.LATENCY.column, q.LATENCY.axis)


def accepted(title: str, experiment: str) -> Callable[[Measured], Drawing]:
    """Make the function that draws the accepted load of each routing over the offered load."""
    return partial(_drawn, title, experiment, "accepted_load", ACCEPTED)


def _drawn(title: str, experiment: str, column: str, axis: str, measured: Measured) -> Drawing:
    is_latency = column == q.LATENCY.column
    frame = measured[experiment] if is_latency else measured[experiment].filter(pl.col(column) > 0)
    shown = [each for each in LOOKS if (frame["mechanism"] == each).any()]
    if not shown:
        raise LackingError("no routing was run")
    points = {each: of(frame, each) for each in shown}
    series = [
        latency_over_load(rows, each) if is_latency else over_load(rows, each, column) for each, rows in points.items()
    ]
    if not is_latency and PAPER_H not in frame["h"].to_list():
        series += _levels(measured, frame, shown)
    lowest = min((y for each in series for y in each.y), default=inf)
    title = f"{title}, {_patterns(frame)} (h = {frame['h'][0]})"
    most = _MOST * lowest if is_latency else inf
    return line_figures.curves(title, OFFERED, axis, series, at_top=is_latency, most=most, looks=LOOKS)[0]


def _levels(measured: Measured, frame: pl.DataFrame, shown: Sequence[str]) -> list[Series]:
    """Make horizontal lines for a figure of a smaller network.

    They show the loads that the paper's network accepts far beyond saturation.

    Figures of uniform traffic have no lines, because the runs far beyond saturation have only adversarial traffic.
    """
    if _patterns(frame) == UNIFORM:
        return []
    far = {"ADV+2": adversarial(2)}.get(_patterns(frame), adversarial(PAPER_H))
    ends = [0.0, greatest(frame, "load")]
    levels = []
    for name in shown if measured.has((SATURATION,)) else ():
        with suppress(LackingError):
            levels.append(Series(f"{name}, h = {PAPER_H}", ends, [at(measured, name, far)[0]] * 2, theory_of=name))
    return levels


def _patterns(frame: pl.DataFrame) -> str:
    return " and ".join(frame["pattern"].unique(maintain_order=True).to_list())


def remark(*experiments: str) -> Callable[[Measured], str]:
    """Make the function that returns text on the size of the network, if it is not the paper's network."""
    return partial(_remark, experiments)


def _remark(experiments: tuple[str, ...], measured: Measured) -> str:
    others = [h for h in sizes(measured, *experiments) if h != PAPER_H]
    return f"Run at h = {others[0]}, so ADV+h is ADV+{others[0]}; the paper has h = {PAPER_H}." if others else ""


def fig2b(measured: Measured) -> Drawing:
    """Draw VAL's accepted load over the offset N of ADV+N: bounds computed from channel loads, and simulated values."""
    series: list[Series] = []
    found = unstalled(measured[OFFSETS]).drop_nulls("accepted_load")
    simulated = sorted(found["h"].unique())
    for h in sorted({PAPER_H, *simulated}, reverse=True):
        offsets = list(range(1, 2 * PAPER_H + 1))
        label = f"VAL, h = {h}"
        points = found.filter(pl.col("h") == h)
        if not points.is_empty():
            shifts = [int(name.removeprefix("ADV+")) for name in points["pattern"]]
            offsets = sorted(shifts)
            loads = dict(zip(shifts, points["accepted_load"], strict=True))
            series.append(Series(label, offsets, [loads[shift] for shift in offsets]))
        theory = Series(
            f"bound, h = {h}", offsets, [valiant_bound(h, shift).load for shift in offsets], theory_of=label
        )
        series.append(theory)
    title = "Fig. 2b: throughput of VAL under ADV+N"
    drawing, axes = line_figures.curves(title, "Offset N of the groups", ACCEPTED, series)
    axes.set_xlim(0.5, 2 * PAPER_H + 0.5)
    axes.set_xticks(range(1, 2 * PAPER_H + 1))
    return drawing


def at(measured: Measured, mechanism: str, pattern: str) -> tuple[float, str]:
    """Return the load that a routing accepts far beyond saturation in the paper's network, and text on its seeds."""
    points = of(measured[SATURATION].filter(pl.col("pattern") == pattern), mechanism).filter(
        pl.col("accepted_load") > 0
    )
    if points.is_empty():
        raise LackingError(f"{mechanism} accepted nothing under {pattern}")
    loads = points["accepted_load"].to_list()
    seeds = f"{len(loads)} seeds, {min(loads):.3f} to {max(loads):.3f}" if len(loads) > 1 else "1 seed"
    return sum(loads) / len(loads), f"offered load {points['load'][0]:g}, h = {points['h'][0]}, {seeds}"


def _saturates_at(mechanism: str, pattern: str) -> Callable[[Measured], tuple[float, str]]:
    return lambda measured: at(measured, mechanism, pattern)


def _with_125(measured: Measured) -> tuple[float, str]:
    value, remark = at(measured, PB, adversarial(2))
    return value, f"{remark}; {at(measured, PB_125, adversarial(2))[0]:.3f} with a coefficient of 125 %"


def _at_most(measured: Measured, mechanism: str, experiment: str = UN) -> float:
    """Return the load that a routing accepts at the highest offered load of uniform traffic, as a mean over seeds."""
    points = of(measured[experiment], mechanism).filter(pl.col("accepted_load") > 0)
    load = greatest(measured[experiment], "load")
    last = points.filter(pl.col("load") == load)["accepted_load"].to_list()
    if not last:
        raise LackingError(f"{mechanism} accepted nothing at load {load:g}, or stalled")
    return fmean(last)


def _higher(measured: Measured) -> list[Part]:
    """Judge if OFAR and OFAR-L accept more load than MIN and PB under uniform traffic, far beyond saturation."""
    found = {name: _at_most(measured, name, readings.UNIFORM) for name in (MIN, PB, OFAR, OFAR_L)}
    return [
        Part(found[ours] > found[theirs], f"{ours} {found[ours]:.3f}, {theirs} {found[theirs]:.3f}")
        for ours in (OFAR, OFAR_L)
        for theirs in (MIN, PB)
    ]


def _larger(measured: Measured) -> list[Part]:
    """Judge whether PB has a latency at least 10 % above each other routing, under uniform traffic.

    The judged load is the highest load that was run, up to half of the highest load that MIN accepts.
    """
    frame = measured[UN]
    high = _LOW * throughput(frame, MIN).most
    parts = []
    for other in (MIN, OFAR, OFAR_L):
        both = steady(beside(frame, PB, other)).filter(pl.col("load") <= high)
        ratios = both.select("load", ratio(q.LATENCY.column).alias("ratio")).drop_nulls().sort("load")
        if ratios.is_empty():
            raise LackingError(f"no load up to {high:.2f} was run")
        load, times = ratios.row(-1)
        parts.append(Part(times >= 1 + SIGNIFICANT, f"{times:.3f} times the latency of {other} at load {load:g}"))
    return parts


def _same(measured: Measured) -> list[Part]:
    """Judge whether OFAR and OFAR-L differ by less than 10 % under uniform traffic.

    Throughputs are compared beyond saturation, latencies below it.
    """
    ours, theirs = (_at_most(measured, name) for name in (OFAR, OFAR_L))
    parts = [Part(abs(ours / theirs - 1) < SIGNIFICANT, f"throughput {ours:.3f} and {theirs:.3f}")]
    both = steady(beside(measured[UN], OFAR, OFAR_L)).sort("load")
    ratios = both.select("load", ratio(q.LATENCY.column).alias("ratio")).drop_nulls()
    if ratios.is_empty():
        raise LackingError("all latencies are unknown at loads that saturate neither")
    load, times = max(ratios.rows(), key=lambda row: abs(row[1] - 1))
    parts.append(Part(abs(times - 1) < SIGNIFICANT, f"latency at most {times - 1:+.1%} apart, at load {load:g}"))
    return parts


def _slightly_better(measured: Measured) -> tuple[bool, str]:
    ours, theirs = (at(measured, name, adversarial(2))[0] for name in (OFAR, OFAR_L))
    return theirs < ours, f"{OFAR} {ours:.3f}, {OFAR_L} {theirs:.3f} at an offered load of 0.6 and h = {PAPER_H}"


def _all_at_local_bound(measured: Measured) -> list[Part]:
    printed = 0.166
    found = {name: at(measured, name, adversarial(PAPER_H))[0] for name in (VAL, PB, OFAR_L)}
    bound = valiant_bound(PAPER_H, PAPER_H).load
    causes = {VAL: f"the loads of all channels bound VAL at {bound:.3f}, which is {bound / printed - 1:+.1%}"}
    with suppress(LackingError):
        causes[OFAR_L] = f"traffic that continues on the ring, by the trigger: {readings.on_ring(measured)}"
    return [
        Part(
            abs(value / printed - 1) <= SIGNIFICANT,
            f"{name} {value:.3f} ({value / printed - 1:+.1%})",
            causes.get(name, ""),
        )
        for name, value in found.items()
    ]


def _knees(measured: Measured) -> tuple[bool, str]:
    """Judge whether the last load below saturation is at least twice as high at the best offset of ADV as at the worst.

    The text also has the range of accepted loads over all offsets, at a load far beyond saturation.
    """
    rows = measured[KNEES]
    found = {name: throughput(rows.filter(pattern=name), VAL) for name in rows["pattern"].unique(maintain_order=True)}
    high, low = (end(found, key=lambda name: found[name].last) for end in (max, min))
    text = ", ".join(f"{found[name].last:g} and {found[name].next:g} under {name}" for name in (high, low))
    words = f"the last loads below saturation and the first loads beyond it are {text}"
    return found[high].last >= 2 * found[low].last, f"{words}; {_depends(measured)}"


def _depends(measured: Measured) -> str:
    """Return text on VAL's accepted loads over all offsets, far beyond saturation, and on their ratio to the bounds."""
    points = of(measured[OFFSETS], VAL).drop_nulls("accepted_load")
    if points.is_empty():
        raise LackingError("no offset accepted anything")
    loads = {name: (load, h) for name, load, h in points.select("pattern", "accepted_load", "h").rows()}
    high, low = (end(loads, key=lambda name: loads[name][0]) for end in (max, min))
    shares = [load / valiant_bound(h, int(name.removeprefix("ADV+"))).load for name, (load, h) in loads.items()]
    text = f"{loads[high][0]:.3f} under {high}, {loads[low][0]:.3f} under {low}"
    return f"accepted loads at overload are {text}, which are {min(shares):.1%} to {max(shares):.1%} of the bounds"


def _bound_of_global(measured: Measured) -> float:  # noqa: ARG001 # as all measurements
    return valiant_bound(PAPER_H, PAPER_H).over_global


def _saturates_pb(measured: Measured) -> tuple[bool, str]:
    points = of(measured[EDGE], PB).drop_nulls("accepted_load")
    words = {True: "saturated", False: "not saturated", None: "not judged"}
    flags = points.select("load", "saturated").rows()
    high = greatest(points, "load")
    numbers = points.select("load", "accepted_load", q.LATENCY.column).rows()
    lines = [
        f"{accepted:.3f} of {load:g} accepted" + ("" if latency is None else f", latency {latency:.0f} cycles")
        for load, accepted, latency in numbers
    ]
    states = ", ".join(f"{words[over]} at {load:g}" for load, over in flags)
    is_over = all(over is True for load, over in flags if load == high)
    return is_over, f"{states} ({'; '.join(lines)}; h = {points['h'][0]})"


_BY_TRIGGER = (
    "the trigger, which decides how much traffic of OFAR-L continues on the ring: OFAR-L accepts 0.099 with granted "
    "and 0.156 with unavailable"
)
HIGHER = trend(
    "OFAR and OFAR-L accept more than MIN and PB at the highest load",
    _higher,
    readings.UNIFORM,
    SATURATION,
    *readings.EXPERIMENTS_READ,
)
AT_LOCAL_BOUND = trend("each within 10 % of 0.166", _all_at_local_bound, SATURATION, cause=_BY_TRIGGER)
FARTHEST = approx(0.36, _saturates_at(OFAR, adversarial(PAPER_H)), SATURATION, unit=UNIT)
RULES: dict[str, Rule] = {
    "O-007": constructed(exact(0.5, _bound_of_global, digits=1, unit=UNIT)),
    "O-008": exact(0.166, lambda _: valiant_bound(PAPER_H, PAPER_H).load, digits=3, unit=UNIT, cause=_L2_ALONE),
    "O-009": trend(
        "the last load below saturation is at least twice as high at one offset as at another", _knees, KNEES, OFFSETS
    ),
    "O-012": readings.read(HIGHER, readings.granted(HIGHER)),
    "O-013": paper_only(
        trend(
            "PB's latency is higher by 10 % or more, at the highest load up to half of the highest accepted load of "
            "MIN",
            _larger,
            UN,
        )
    ),
    "O-014": paper_only(
        trend("accepted loads at the highest load, and latencies, differ by less than 10 %", _same, UN)
    ),
    "O-015": approx(0.45, _saturates_at(OFAR, adversarial(2)), SATURATION, unit=UNIT),
    "O-016": approx(0.38, _with_125, SATURATION, unit=UNIT, cause=_PB_LESS),
    "O-017": trend("OFAR accepts more than OFAR-L", _slightly_better, SATURATION),
    "O-018": readings.read(AT_LOCAL_BOUND),
    "O-019": readings.read(FARTHEST),
    "O-020": constructed(exact(0.5, _bound_of_global, digits=1, unit=UNIT)),
    "O-024": trend("PB is saturated at 0.14", _saturates_pb, EDGE),
}
