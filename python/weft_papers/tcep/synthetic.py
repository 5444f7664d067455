"""Judges claims about Figs. 9 to 12: latency, throughput and energy over load, and active links and their bound.

The mechanisms are TCEP and SLaC, which switch links off, and DVFS, which runs links at lower rates. The baseline keeps
all links on at the full rate.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import exp, log
from statistics import fmean
from typing import TYPE_CHECKING

import polars as pl

from weft.analysis import bound
from weft.results import quantities as q
from weft_papers.common.frames import BASELINE, ENERGY
from weft_papers.common.measured import LackingError
from weft_papers.common.questions import (
    beside,
    between,
    compared,
    greatest,
    least,
    near,
    normalised,
    of,
    ratio,
    relative_latency,
    steady,
    throughput,
    with_settled_links,
)
from weft_papers.common.rules import WITHIN_LATENCY, Part, approx, constructed, exact, remains, trend
from weft_papers.tcep.links import ADVERSARIAL, ROUTERS, adversarial_share, gaps, network
from weft_papers.tcep.links import UNIFORM as LINE
from weft_papers.tcep.mechanisms import DVFS, LITERAL, SLAC, TCEP

if TYPE_CHECKING:
    from collections.abc import Callable

    from weft_papers.common.measured import Measured
    from weft_papers.common.rules import Rule

UNIFORM, TORNADO, BITREV, BURSTY, ROOT, LEAST = "uniform", "tornado", "bit_reverse", "bursty", "root", "least"
# Experiment with runs at high loads that start with the fewest links.
FROM_FEW = "from_few"
_HARD = (TORNADO, BITREV)
# Meaning of the paper's words, as shares: "similar" and "the same" are differences of at most 0.1 and 0.05,
# "significantly lower" is lower by at least 0.2, and "none" is at most 0.05.
_SIMILAR, _SAME, _SIGNIFICANT, _NONE = 0.1, 0.05, 0.2, 0.05
# Range of moderate loads: from this load [flits/terminal/cycle], from which SLaC saves no energy, to this share of the
# baseline's throughput, up to which TCEP must save energy.
_FROM, _UP_TO = 0.05, 0.5
# A load is very low if it is at most this share of the highest load that SLaC accepts.
_VERY_LOW = 0.5
# A load is high if it is at least this share of the highest load that the baseline accepts. The second number is the
# load at which the paper prints the widest gap between TCEP's active links and their bound.
_HIGH, _WIDEST_GAP = 0.9, 0.41

_LEAST = (
    "with the fewest links SLaC has 18.75 % on and TCEP 25 %, as in the paper. SLaC stays in this state up to load "
    "0.1, at which TCEP needs 1.96 times its energy, and has all links on at load 0.2, at which TCEP needs 0.69 times "
    "its energy"
)


def _words(experiment: str) -> str:
    return experiment.replace("_", " ")


def _latency(mechanism: str) -> Callable[[Measured], tuple[float, str]]:
    def answer(measured: Measured) -> tuple[float, str]:
        load, (row,) = least(measured[UNIFORM], q.LATENCY.column, mechanism)
        return row[q.LATENCY.column], f"at load {load:g}"

    return answer


def _more_hops(measured: Measured) -> tuple[float, str]:
    load, (tcep, baseline) = least(measured[UNIFORM], q.HOPS.column, TCEP, BASELINE)
    return tcep[q.HOPS.column] - baseline[q.HOPS.column], f"at load {load:g}"


def _left(experiment: str) -> Callable[[Measured], tuple[float, str]]:
    """Make the function that returns SLaC's throughput as a share of the baseline's, and text on the two."""
    return lambda measured: compared(measured[experiment], SLAC)


def _similar_throughput(measured: Measured) -> list[Part]:
    """Judge whether the throughputs of TCEP and SLaC are similar to the baseline's.

    If the loads that were run are too far apart to decide within the tolerance, the claim has no verdict.

    If a mechanism and the baseline saturate between the same two loads, the ratio of their throughputs is exactly 1.
    This ratio proves nothing by itself, because throughput is a load that was run.
    """
    parts = []
    for mechanism in (TCEP, SLAC):
        share, remark = compared(measured[UNIFORM], mechanism)
        low, high = between(measured[UNIFORM], mechanism)
        near = abs(share - 1) <= _SIMILAR
        if near and not 1 - _SIMILAR <= low <= high <= 1 + _SIMILAR:
            raise LackingError(
                f"{mechanism} saturates at {low:.2f} to {high:.2f} of the baseline's load: the loads that were run are "
                "too far apart to judge; a full run has more loads"
            )
        text = f"{mechanism} {share:.3f} of the baseline's, between {low:.2f} and {high:.2f} by the loads that were run"
        parts.append(Part(near, f"{text} ({remark})"))
    return parts


def _same_throughput(measured: Measured) -> list[Part]:
    shares = {name: compared(measured[name], TCEP) for name in _HARD}
    return [
        Part(abs(share - 1) <= _SAME, f"{_words(name)} {share:.3f} of the baseline's ({remark})")
        for name, (share, remark) in shares.items()
    ]


def _all_on(measured: Measured) -> list[Part]:
    """Judge if TCEP and SLaC wake all links at a high load, and then have the baseline's latency within 5 %.

    The runs start with the fewest links, because links that are on from the start would prove nothing.

    The judged load is the highest at which neither these mechanisms nor the baseline are saturated. This load must not
    be far below the highest load that the baseline accepts, because the claim is about high loads.
    """
    frame = measured[FROM_FEW]
    high = _HIGH * greatest(steady(of(frame, BASELINE)), "load")
    parts = []
    for mechanism in (TCEP, SLAC):
        latencies = relative_latency(frame, mechanism).filter(pl.col("load") >= high)
        if latencies.is_empty():
            raise LackingError(f"no load of {high:.3g} or more was run below the saturation of {mechanism}")
        load, latency = latencies.sort("load").row(-1)
        on = near(of(frame, mechanism).drop_nulls("links_on_mean"), load)["links_on_mean"]
        holds = on >= 1 - 0.01 and abs(latency - 1) <= WITHIN_LATENCY
        text = f"{mechanism} at {load:g}: {on:.1%} of the links on, latency x {latency:.3f}"
        parts.append(Part(holds, text))
    return parts


def _advantage(measured: Measured) -> tuple[float, str]:
    return max(compared(measured[name], TCEP, SLAC) for name in _HARD)


def _lower_latency(measured: Measured) -> list[Part]:
    """Judge whether SLaC has a lower latency than TCEP, at each load up to half of SLaC's throughput."""
    parts = []
    for name in _HARD:
        top = _VERY_LOW * throughput(measured[name], SLAC).last
        both = steady(beside(measured[name], SLAC, TCEP)).filter(pl.col("load") <= top)
        times = both.select("load", ratio(q.LATENCY.column).alias("times")).drop_nulls().sort("load")
        if times.is_empty():
            raise LackingError(f"no load up to {top:.3g} that saturates neither was run under {_words(name)}")
        text = ", ".join(f"x {row['times']:.2f} at load {row['load']:g}" for row in times.iter_rows(named=True))
        parts.append(Part(greatest(times, "times") < 1, f"{_words(name)}: SLaC's latency is that of TCEP {text}"))
    return parts


def _similar_energy(measured: Measured) -> tuple[bool, str]:
    frame = measured[UNIFORM]
    ratios = steady(beside(frame, TCEP, SLAC)).select(ratio(ENERGY)).to_series().drop_nulls().to_list()
    if not ratios:
        raise LackingError("TCEP and SLaC have no load in common at which neither is saturated")
    mean = exp(fmean(map(log, ratios)))
    grows = all(_grows(normalised(frame, mechanism)) for mechanism in (TCEP, SLAC))
    text = f"TCEP {mean:.3f} of SLaC's (geometric mean over loads; {min(ratios):.3f} to {max(ratios):.3f})"
    text += f", {'both grow with the load' if grows else 'which do not always grow with the load'}"
    return abs(mean - 1) <= _SIMILAR and grows, text


def _grows(energy: pl.DataFrame) -> bool:
    values = energy.filter(~pl.col("saturated")).sort("load")["energy"].to_list()
    return all(after >= before * (1 - _SAME) for before, after in pairwise(values))


def _no_saving(measured: Measured, reading: str = SLAC) -> list[Part]:
    parts = []
    for name in _HARD:
        energy = normalised(measured[name], reading).filter(pl.col("load") >= _FROM)
        saving = energy.with_columns(saving=1 - pl.col("energy"))
        most = greatest(saving, "saving")
        load = saving.filter(pl.col("saving") == most)["load"][0]
        parts.append(Part(most <= _NONE, f"{reading}, {_words(name)}: at most {most:.1%}, at load {load:g}"))
    return parts


def _unsaturated(measured: Measured, name: str, mechanism: str) -> pl.DataFrame:
    """Return the energy of a mechanism relative to the baseline, at loads at which neither of the two is saturated.

    Beyond saturation the energy is divided among fewer flits, so energy per flit does not describe the links.
    """
    return steady(normalised(measured[name], mechanism))


def _moderate(measured: Measured, name: str, mechanism: str) -> pl.DataFrame:
    """Return the same energy as `_unsaturated`, but only at loads from 0.05 to half of the baseline's throughput."""
    top = _UP_TO * throughput(measured[name], BASELINE).last
    found = _unsaturated(measured, name, mechanism).filter(pl.col("load").is_between(_FROM, top))
    if found.is_empty():
        raise LackingError(
            f"{mechanism} was run at no load from {_FROM:g} to {top:.3g} below saturation under {_words(name)}"
        )
    return found


def _common(name: str, ours: tuple[str, pl.DataFrame], theirs: tuple[str, pl.DataFrame]) -> pl.DataFrame:
    """Join the energies of two mechanisms at their common loads.

    The names of the second mechanism's columns end in ``_reference``.
    """
    both = ours[1].join(theirs[1], on="load", suffix="_reference").sort("load")
    if both.is_empty():
        raise LackingError(f"{ours[0]} and {theirs[0]} have no load in common under {_words(name)}")
    return both


def _loads(points: pl.DataFrame) -> str:
    found = points["load"].unique().sort().to_list()
    return f"load {found[0]:g}" if len(found) == 1 else f"{len(found)} loads, {found[0]:g} to {found[-1]:g}"


def _lower_energy(measured: Measured, reading: str = SLAC) -> list[Part]:
    parts = []
    for name in _HARD:
        ours, theirs = _moderate(measured, name, TCEP), _moderate(measured, name, reading)
        both = _common(name, (TCEP, ours), (reading, theirs))
        shares = (both["energy"] / both["energy_reference"]).to_list()
        mean, most = fmean(shares), max(shares)
        text = f"{_words(name)}: {mean:.2f} of the energy of {reading} on average, at most {most:.2f}, {_loads(both)}"
        parts.append(Part(mean <= 1 - _SIGNIFICANT and most < 1, text))
    return parts


def _dvfs_saves_less(measured: Measured) -> list[Part]:
    """Judge if the greatest saving of energy is smaller with DVFS than with TCEP, under each pattern.

    The text has the greatest savings of both, and the lowest load at which DVFS saves more than TCEP.
    """
    parts = []
    for name in (UNIFORM, *_HARD):
        both = _common(name, (TCEP, _unsaturated(measured, name, TCEP)), (DVFS, _unsaturated(measured, name, DVFS)))
        tcep, dvfs = (1 - min(both[column]) for column in ("energy", "energy_reference"))
        more = both.filter(pl.col("energy_reference") < pl.col("energy"))["load"]
        crossing = f"DVFS saves more from load {more[0]:g} on" if len(more) else "DVFS never saves more"
        parts.append(Part(dvfs < tcep, f"{_words(name)}: DVFS up to {dvfs:.1%}, TCEP up to {tcep:.1%}; {crossing}"))
    return parts


def _least_links(measured: Measured) -> str:
    """Return text on the share of active links at the lowest load.

    In the runs of this claim, TCEP starts with all links on. SLaC starts with its first stage on, and its stages never
    go off, as in the runs of other claims.
    """
    rows = [least(measured[LEAST], "links_on_mean", TCEP)[1][0], least(measured[UNIFORM], "links_on_mean", SLAC)[1][0]]
    if late := [row for row in rows if False in (row["warmup_settled"], row["power_settled"])]:
        raise LackingError(f"the points at load {late[0]['load']:g} had not settled")
    return " / ".join(f"{100 * row['links_on_mean']:.4g}%" for row in rows)


def _bursty_slac(measured: Measured) -> tuple[float, str]:
    row = near(relative_latency(measured[BURSTY], SLAC), 0.05)
    return row["latency"], f"at load {row['load']:g}, with one seed, on which the value depends (README)"


def _bursty_tcep(measured: Measured) -> float:
    return greatest(relative_latency(measured[BURSTY], TCEP), "latency")


def _bursty_energy(measured: Measured) -> tuple[bool, str]:
    both = steady(beside(measured[BURSTY], SLAC, TCEP))
    shares = both.select("load", ratio(ENERGY).alias("share")).drop_nulls()
    if shares.is_empty():
        raise LackingError("no load that saturates neither was run with packets of 5,000 flits")
    load, share = shares.sort("share").row(0)
    return share < 1, f"{share:.2f} of TCEP's at load {load:g}"


def _widest(measured: Measured) -> dict[str, float]:
    """Return the point of Fig. 12's network with the widest gap between TCEP's active links and their lower bound.

    Smaller networks have wider gaps, because a policy switches only whole links.
    """
    frame = with_settled_links(measured[LINE])
    routers, _ = network(frame)
    if routers != ROUTERS:
        raise LackingError(f"Fig. 12 has {ROUTERS} routers, but {routers} were run: a full run has all routers")
    return gaps(frame).sort("gap").row(-1, named=True)


def _gap(measured: Measured) -> tuple[float, str]:
    widest = _widest(measured)
    return widest["gap"], f"at load {widest['load']:g}"


def _gap_load(measured: Measured) -> tuple[float, str]:
    """Return the load of the widest gap, if loads on both sides of the printed load were run."""
    loads = sorted(gaps(with_settled_links(measured[LINE]))["load"].unique())
    if not loads[0] < _WIDEST_GAP < loads[-1]:
        raise LackingError(f"no loads below saturation on both sides of {_WIDEST_GAP:g} were run: a full run has them")
    return _widest(measured)["load"], f"of {len(loads)} loads from {loads[0]:g} to {loads[-1]:g}"


def _doubled(measured: Measured) -> list[Part]:
    """Judge whether TCEP's active links and their bound are nearly doubled by adversarial traffic, instead of uniform.

    The judged load is the one at which the active links differ most.
    """
    adversarial, uniform = (of(steady(measured[name]), TCEP) for name in (ADVERSARIAL, LINE))
    both = adversarial.join(uniform, on="load", suffix="_reference")
    times = both.select("load", ratio("links_on_mean").alias("times")).drop_nulls().sort("times")
    if times.is_empty():
        raise LackingError("the two patterns have no load in common")
    load, most = times.row(-1)
    size = network(both)
    bounded = adversarial_share(load, *size) / bound.active_share(load, *size)
    return [
        Part(bounded >= _NEARLY_TWICE, f"the bound x {bounded:.2f} at load {load:g}"),
        Part(most >= _NEARLY_TWICE, f"TCEP x {most:.2f}"),
    ]


def _hops(measured: Measured) -> str:
    """Return text on the maximum number of links that a packet crossed, in the root network and in the full network.

    The claim is about hops to an intermediate router. Any router can be intermediate, so hops to destinations have the
    same maximum as hops to intermediate routers.
    """
    root, full = (least(measured[ROOT], "hops_max", each)[1][0]["hops_max"] for each in ("root network", BASELINE))
    return f"{root:g} ({full:g} in the full network)"


# The number of active links has "nearly doubled" if it grows by at least this factor.
_NEARLY_TWICE = 1.8
_STEPS = (
    "Algorithm 1 ends with k inner routers that have links to all routers, with k = R l / U_hwm rounded up; in theory "
    "the widest gap of 32 routers is then at load 0.5 (0.122; 0.110 at load 0.41)"
)
_NOT_DOUBLED = (
    "the bound itself does not double: even traffic without minimal paths needs only 1 + N l / R^2 = 1 + l times the "
    "links of uniform traffic, and saturates at l = 0.5"
)
_AT_THE_KNEE = (
    "at load 0.95, which is near the knee, the baseline's latency is 84 to 98 cycles over 5 seeds, so TCEP's (84) is "
    "within random variation; SLaC uses minimal paths, whose latency with all links on is 49 cycles also without a "
    "policy"
)
_SIX_TIMES = (
    "capacity: under bit reversal all terminals of half of the routers send to one other router of their row. The "
    "direct link, which is SLaC's only path, carries 1/8 flits per terminal and cycle, and all paths in the row carry "
    "6/8, so the factor is 6.0 (tornado: 4.0). With loads closer together the throughputs are 0.76 and 0.13. At load "
    "0.8 TCEP accepts 0.764, and at most 0.774 with other delays, buffers, VCs, speedups, sensors or packets"
)
_STAGES_ON = (
    "the number of SLaC's stages that are on at this time, which varies by chance: over 8 seeds the factor is 2.27 to "
    "2.40 with only the first stage, 1.65 and 1.71 with the second stage (2 of the seeds), and 1.02 with all stages"
)
_RELEASED = (
    "the rule that releases SLaC's stages: with kept stages the claim is met. With the literal low threshold buffers "
    "are below the threshold at every load below saturation, so stages go off and on forever: 74 % of the links are on "
    "at load 0.2 of uniform traffic, at which kept stages have all links on"
)
_NO_SAVING = "saving at most 5 % at any load from 0.05 on"
_LOWER = (
    "from load 0.05 to half of the baseline's throughput, if neither is saturated, always below SLaC's energy, on "
    "average by 20 %"
)


def _of_both(judged: Callable[..., list[Part]]) -> Callable[[Measured], list[Part]]:
    """Return the judge of a claim that must hold with each of two rules by which SLaC releases (switches off) stages.

    If the claim fails only with the literal rule, this rule is the cause, because nothing else differs between the
    runs.
    """

    def parts(measured: Measured) -> list[Part]:
        kept, literal = judged(measured, SLAC), judged(measured, LITERAL)
        if all(part.holds for part in kept):
            literal = [replace(part, cause="" if part.holds else _RELEASED) for part in literal]
        return [*kept, *literal]

    return parts


def by_reading() -> dict[str, Rule]:
    """Return the rules for claims about SLaC that judge a claim under one rule for the release of stages, not both."""
    found = {name: RULES[name] for name in _OF_SLAC}
    found["T-039"] = trend(_NO_SAVING, _no_saving, *_HARD)
    found["T-040"] = trend(_LOWER, _lower_energy, *_HARD)
    return dict(sorted(found.items()))


# Claims about SLaC that also depend on low and medium loads, at which it matters when SLaC switches stages off.
_OF_SLAC = ("T-029", "T-031", "T-033", "T-034", "T-035", "T-037", "T-038", "T-042", "T-043", "T-045")
RULES: dict[str, Rule] = {
    "T-025": exact("4 (2 in the full network)", _hops, ROOT),
    "T-027": constructed(approx(23.3, _latency(BASELINE), UNIFORM, within=WITHIN_LATENCY, unit="cycles")),
    "T-028": approx(37.8, _latency(TCEP), UNIFORM, within=WITHIN_LATENCY, unit="cycles"),
    "T-029": approx(32.7, _latency(SLAC), UNIFORM, within=WITHIN_LATENCY, unit="cycles"),
    "T-030": approx(1.3, _more_hops, UNIFORM, unit="hops"),
    "T-031": trend("both throughputs within 10 % of the baseline's", _similar_throughput, UNIFORM),
    "T-032": trend(
        "starting with the fewest links: 99 % of the links on, and latency within 5 % of the baseline's",
        _all_on,
        FROM_FEW,
        cause=_AT_THE_KNEE,
    ),
    "T-033": remains(0.22, _left(TORNADO), TORNADO),
    "T-034": remains(0.15, _left(BITREV), BITREV),
    "T-035": approx(7.0, _advantage, *_HARD, unit="times", cause=_SIX_TIMES),
    "T-036": trend("throughput within 5 % of the baseline's under both patterns", _same_throughput, *_HARD),
    "T-037": trend(
        "SLaC's latency below TCEP's at every load up to half of SLaC's throughput, under both patterns",
        _lower_latency,
        *_HARD,
    ),
    "T-038": trend(
        "energy on average within 10 % of SLaC's; neither falls by more than 5 % with the load",
        _similar_energy,
        UNIFORM,
        cause=_LEAST,
    ),
    "T-039": trend(f"{_NO_SAVING}, under both readings of SLaC", _of_both(_no_saving), *_HARD),
    "T-040": trend(f"{_LOWER}, under both readings of SLaC", _of_both(_lower_energy), *_HARD),
    "T-041": trend(
        "the greatest saving of DVFS at any load below saturation is below TCEP's, under each pattern",
        _dvfs_saves_less,
        UNIFORM,
        *_HARD,
    ),
    "T-042": exact("25% / 18.75%", _least_links, LEAST, UNIFORM),
    "T-043": approx(1.81, _bursty_slac, BURSTY, unit="times", cause=_STAGES_ON),
    "T-044": approx(1.1, _bursty_tcep, BURSTY, unit="times"),
    "T-045": trend("energy below TCEP's at one load or more that saturates neither", _bursty_energy, BURSTY),
    "T-046": approx(0.117, _gap, LINE),
    "T-047": approx(_WIDEST_GAP, _gap_load, LINE, unit="flits/terminal/cycle", cause=_STEPS),
    "T-060": trend(
        "at the load with the largest difference, at least 1.8 times the links, in the bound and with TCEP",
        _doubled,
        ADVERSARIAL,
        LINE,
        cause=_NOT_DOUBLED,
    ),
}
