"""Claims about Figs. 9 to 12: latency, throughput and energy over load, and active links against their bound."""

from __future__ import annotations

from itertools import pairwise
from math import exp, log
from statistics import fmean
from typing import TYPE_CHECKING

import polars as pl

from weft import quantities as q
from weft.analysis import bound
from weft.reproduce.measured import LackingError
from weft.reproduce.rules import WITHIN_LATENCY, approx, exact, trend
from weft.reproduce.tcep.frames import (
    BASELINE,
    DVFS,
    SLAC,
    TCEP,
    beside,
    greatest,
    least,
    near,
    normalised,
    of,
    relative_latency,
    throughput,
)
from weft.reproduce.tcep.links import ADVERSARIAL, ROUTERS, TERMINALS, gaps
from weft.reproduce.tcep.links import UNIFORM as LINE

if TYPE_CHECKING:
    from collections.abc import Callable

    from weft.reproduce.measured import Measured
    from weft.reproduce.rules import Rule

UNIFORM, TORNADO, BITREV, BURSTY, ROOT = "uniform", "tornado", "bit_reverse", "bursty", "root"
_HARD = (TORNADO, BITREV)
# "Similar" and "the same" are within so much; "significantly lower" is so much lower; "none" is no more than so much.
_SIMILAR, _SAME, _SIGNIFICANT, _NONE = 0.1, 0.05, 0.2, 0.05
# Loads from which on SLaC saves nothing; and the share of the baseline's throughput up to which TCEP is held to saving.
_FROM, _UP_TO = 0.05, 0.5


def _latency(mechanism: str) -> Callable[[Measured], float]:
    return lambda measured: least(measured[UNIFORM], mechanism, q.LATENCY.column)


def _more_hops(measured: Measured) -> float:
    frame = measured[UNIFORM]
    return least(frame, TCEP, q.HOPS.column) - least(frame, BASELINE, q.HOPS.column)


def _relative(measured: Measured, experiment: str, mechanism: str, reference: str = BASELINE) -> float:
    frame = measured[experiment]
    return throughput(frame, mechanism) / throughput(frame, reference)


def _loss(experiment: str) -> Callable[[Measured], float]:
    return lambda measured: _relative(measured, experiment, SLAC) - 1


def _similar_throughput(measured: Measured) -> tuple[bool, str]:
    shares = {mechanism: _relative(measured, UNIFORM, mechanism) for mechanism in (TCEP, SLAC)}
    told = ", ".join(f"{mechanism} {share:.3f}" for mechanism, share in shares.items())
    return all(abs(share - 1) <= _SIMILAR for share in shares.values()), f"{told} of the baseline's"


def _same_throughput(measured: Measured) -> tuple[bool, str]:
    shares = {name: _relative(measured, name, TCEP) for name in _HARD}
    told = ", ".join(f"{name.replace('_', ' ')} {share:.3f}" for name, share in shares.items())
    return all(share >= 1 - _SAME for share in shares.values()), f"{told} of the baseline's"


def _all_on(measured: Measured) -> tuple[bool, str]:
    """At the highest load that neither a mechanism nor the baseline saturates at."""
    holds, told = True, []
    for mechanism in (TCEP, SLAC):
        steady = relative_latency(measured[UNIFORM], mechanism)
        if steady.is_empty():
            raise LackingError(f"{mechanism} and the baseline have no load in common at which neither is saturated")
        load, latency = steady.sort("load").row(-1)
        on = near(of(measured[UNIFORM], mechanism).drop_nulls("links_on_mean"), load)["links_on_mean"]
        holds = holds and on >= 1 - 0.01 and abs(latency - 1) <= WITHIN_LATENCY
        told.append(f"{mechanism} at {load:g}: {on:.1%} of the links on, latency x {latency:.3f}")
    return holds, "; ".join(told)


def _advantage(measured: Measured) -> float:
    return max(_relative(measured, name, TCEP, SLAC) for name in _HARD)


def _lower_latency(measured: Measured) -> tuple[bool, str]:
    pairs = {name: [least(measured[name], each, q.LATENCY.column) for each in (SLAC, TCEP)] for name in _HARD}
    told = "; ".join(f"{name.replace('_', ' ')}: SLaC {a:.1f}, TCEP {b:.1f} cycles" for name, (a, b) in pairs.items())
    return all(slac < tcep for slac, tcep in pairs.values()), told


def _similar_energy(measured: Measured) -> tuple[bool, str]:
    frame = measured[UNIFORM]
    both = beside(frame, TCEP, SLAC).filter(~pl.col("saturated") & ~pl.col("saturated_reference"))
    ratios = (both["energy_network_per_bit_pj"] / both["energy_network_per_bit_pj_reference"]).to_list()
    if not ratios:
        raise LackingError("TCEP and SLaC have no load in common at which neither is saturated")
    mean = exp(fmean(map(log, ratios)))
    grows = all(_grows(normalised(frame, mechanism)) for mechanism in (TCEP, SLAC))
    told = f"TCEP {mean:.3f} of SLaC's (geometric mean over loads), {'both grow' if grows else 'not always growing'}"
    return abs(mean - 1) <= _SIMILAR and grows, told


def _grows(energy: pl.DataFrame) -> bool:
    values = energy.filter(~pl.col("saturated")).sort("load")["energy"].to_list()
    return all(after >= before * (1 - _SAME) for before, after in pairwise(values))


def _no_saving(measured: Measured) -> tuple[bool, str]:
    most = {}
    for name in _HARD:
        energy = normalised(measured[name], SLAC).filter(pl.col("load") >= _FROM)
        most[name] = greatest(energy.with_columns(saving=1 - pl.col("energy")), "saving")
    told = ", ".join(f"{name.replace('_', ' ')} {saving:.1%}" for name, saving in most.items())
    return all(saving <= _NONE for saving in most.values()), f"at most {told}"


def _moderate(measured: Measured, name: str, mechanism: str) -> pl.DataFrame:
    """Energy up to half of the baseline's throughput, from 5 % on."""
    top = _UP_TO * throughput(measured[name], BASELINE)
    found = normalised(measured[name], mechanism).filter(pl.col("load").is_between(_FROM, top))
    if found.is_empty():
        raise LackingError(f"{mechanism} has no load from {_FROM:g} to {top:.3g} under {name}")
    return found


def _lower_energy(measured: Measured) -> tuple[bool, str]:
    holds, told = True, []
    for name in _HARD:
        both = _moderate(measured, name, TCEP).join(_moderate(measured, name, SLAC), on="load", suffix="_slac")
        shares = (both["energy"] / both["energy_slac"]).to_list()
        if not shares:
            raise LackingError(f"TCEP and SLaC have no load in common under {name}")
        holds = holds and fmean(shares) <= 1 - _SIGNIFICANT and max(shares) < 1
        told.append(f"{name.replace('_', ' ')}: {fmean(shares):.2f} of SLaC's on average, at most {max(shares):.2f}")
    return holds, "; ".join(told)


def _dvfs_saves_less(measured: Measured) -> tuple[bool, str]:
    holds, told = True, []
    for name in (UNIFORM, *_HARD):
        tcep, dvfs = (fmean(1 - value for value in _moderate(measured, name, each)["energy"]) for each in (TCEP, DVFS))
        holds = holds and dvfs < tcep
        told.append(f"{name.replace('_', ' ')}: DVFS {dvfs:.1%}, TCEP {tcep:.1%}")
    return holds, "; ".join(told)


def _least_links(measured: Measured) -> str:
    return " / ".join(f"{100 * least(measured[UNIFORM], each, 'links_on_mean'):.4g}%" for each in (TCEP, SLAC))


def _bursty_slac(measured: Measured) -> float:
    return float(near(relative_latency(measured[BURSTY], SLAC), 0.05)["latency"])


def _bursty_tcep(measured: Measured) -> float:
    return greatest(relative_latency(measured[BURSTY], TCEP), "latency")


def _bursty_energy(measured: Measured) -> tuple[bool, str]:
    both = beside(measured[BURSTY], SLAC, TCEP)
    shares = both.select("load", pl.col("energy_network_per_bit_pj") / pl.col("energy_network_per_bit_pj_reference"))
    if (shares := shares.drop_nulls()).is_empty():
        raise LackingError("no energy of packets of 5,000 flits is known")
    load, share = shares.sort("energy_network_per_bit_pj").row(0)
    return share < 1, f"{share:.2f} of TCEP's at load {load:g}"


def _gap(measured: Measured, column: str) -> float:
    return float(gaps(measured[LINE]).sort("gap").row(-1, named=True)[column])


def _doubled(measured: Measured) -> tuple[bool, str]:
    """At the load at which TCEP's links differ most."""
    adversarial, uniform = (of(_steady(measured[name]), TCEP) for name in (ADVERSARIAL, LINE))
    joined = adversarial.join(uniform, on="load", suffix="_uniform")
    joined = joined.with_columns((pl.col("links_on_mean") / pl.col("links_on_mean_uniform")).alias("ratio"))
    joined = joined.drop_nulls("ratio").sort("ratio")
    if joined.is_empty():
        raise LackingError("the two traffics have no load in common")
    load, ratio = joined.select("load", "ratio").row(-1)
    bounds = [bound.active_share(load, ROUTERS, TERMINALS, minimal) for minimal in (0.0, None)]
    bounded = bounds[0] / bounds[1]
    told = f"x {ratio:.2f} (the bound x {bounded:.2f}) at load {load:g}"
    return all(2 * (1 - _SIMILAR) <= each <= 2 for each in (ratio, bounded)), told


def _steady(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.filter(~pl.col("saturated"))


def _hops(measured: Measured) -> str:
    root, full = (least(measured[ROOT], each, "hops_max") for each in ("root network", BASELINE))
    return f"{root:g} ({full:g} in the full network)"


_NOT_DOUBLED = (
    "traffic without minimal paths needs 1 + N l / R^2 = 1 + l times the links of uniform traffic, and saturates at "
    "l = 0.5: the bounds differ by a factor of 1.5 at most"
)
RULES: dict[str, Rule] = {
    "T-025": exact("4 (2 in the full network)", _hops, ROOT),
    "T-027": approx(23.3, _latency(BASELINE), UNIFORM, within=WITHIN_LATENCY, unit="cycles"),
    "T-028": approx(37.8, _latency(TCEP), UNIFORM, within=WITHIN_LATENCY, unit="cycles"),
    "T-029": approx(32.7, _latency(SLAC), UNIFORM, within=WITHIN_LATENCY, unit="cycles"),
    "T-030": approx(1.3, _more_hops, UNIFORM, unit="hops"),
    "T-031": trend("both within 10 % of the baseline's", _similar_throughput, UNIFORM),
    "T-032": trend("99 % of the links on, latency within 5 % of the baseline's", _all_on, UNIFORM),
    "T-033": approx(-0.78, _loss(TORNADO), TORNADO, unit="%"),
    "T-034": approx(-0.85, _loss(BITREV), BITREV, unit="%"),
    "T-035": approx(7.0, _advantage, *_HARD, unit="times"),
    "T-036": trend("95 % of the baseline's or more under both patterns", _same_throughput, *_HARD),
    "T-037": trend("SLaC's below TCEP's at the lowest load, under both patterns", _lower_latency, *_HARD),
    "T-038": trend("on average within 10 % of SLaC's; neither falls by more than 5 %", _similar_energy, UNIFORM),
    "T-039": trend("at most 5 % at any load from 0.05 on", _no_saving, *_HARD),
    "T-040": trend(
        "from load 0.05 to half of the baseline's throughput always below SLaC's, on average by 20 %",
        _lower_energy,
        *_HARD,
    ),
    "T-041": trend("on average over the same loads, under each pattern", _dvfs_saves_less, UNIFORM, *_HARD),
    "T-042": exact("25% / 18.75%", _least_links, UNIFORM),
    "T-043": approx(1.81, _bursty_slac, BURSTY, unit="times"),
    "T-044": approx(1.1, _bursty_tcep, BURSTY, unit="times"),
    "T-045": trend("below TCEP's at some load", _bursty_energy, BURSTY),
    "T-046": approx(0.117, lambda measured: _gap(measured, "gap"), LINE),
    "T-047": approx(0.41, lambda measured: _gap(measured, "load"), LINE, unit="flits/terminal/cycle"),
    "T-060": trend(
        "between 1.8 and 2 times the links of uniform traffic", _doubled, ADVERSARIAL, LINE, because=_NOT_DOUBLED
    ),
}
