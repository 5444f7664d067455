"""Claims about batch jobs (Fig. 15), and about traces: these wait, and say what synthetic traffic gives instead."""

from __future__ import annotations

import re
from math import exp, log
from statistics import fmean
from typing import TYPE_CHECKING

import polars as pl

from weft_papers.common.measured import LackingError
from weft_papers.common.questions import of, spread, steady
from weft_papers.common.rules import WITHIN, Part, approx, trend, waits
from weft_papers.tcep import hottest_links
from weft_papers.tcep.hottest_links import MAPPINGS
from weft_papers.tcep.job_figures import PERMUTATION, UNIFORM, counted, mappings
from weft_papers.tcep.links import CONTROL, variations
from weft_papers.tcep.mechanisms import TCEP

if TYPE_CHECKING:
    from collections.abc import Callable

    from weft_papers.common.measured import Measured
    from weft_papers.common.rules import Rule
    from weft_papers.tcep.links import Variation

_EPOCHS = "epochs"
# Within this share mean run times are similar; the least and greatest value that the paper prints for permutations.
_SIMILAR = 0.1
_SLOWER = (1.9, 3.6)
_DEFAULTS = {"activation_epoch": 1000, "deactivation_epoch": 10000}


def _all(measured: Measured, experiment: str) -> pl.DataFrame:
    """The mappings, if as many were run as the paper's: extremes of fewer are no extremes of a hundred.

    Raises
    ------
    LackingError
        If fewer were run, as in a quick run, whose batches are shorter, too.
    """
    ran = measured[experiment]["seed"].n_unique()
    if ran < MAPPINGS:
        raise LackingError(f"{ran} mappings were run, and the paper tells of {MAPPINGS}: a full run has them")
    return mappings(measured[experiment])


def _most_energy(experiment: str) -> Callable[[Measured], tuple[float, str]]:
    def told(measured: Measured) -> tuple[float, str]:
        energy = _all(measured, experiment)["energy"]
        return float(energy.max()), f"{spread(energy)}; {counted(measured[experiment])}"  # type: ignore[arg-type] # never null

    return told


def _mean_energy(measured: Measured) -> tuple[float, str]:
    energy = _all(measured, PERMUTATION)["energy"]
    return exp(fmean(map(log, energy))), f"geometric mean; {spread(energy)}; {counted(measured[PERMUTATION])}"


def _similar_time(measured: Measured) -> tuple[bool, str]:
    times = _all(measured, UNIFORM)["time"]
    told = f"SLaC / TCEP: {fmean(times):.3f} on average, {spread(times)}"
    return abs(fmean(times) - 1) <= _SIMILAR, f"{told}; {counted(measured[UNIFORM])}"


def _slower(measured: Measured) -> list[Part]:
    times = _all(measured, PERMUTATION)["time"]
    ends = (min(times), max(times))
    near = all(abs(found - printed) <= WITHIN * printed for found, printed in zip(ends, _SLOWER, strict=True))
    return [Part(near, f"{spread(times)}; {counted(measured[PERMUTATION])}", hottest_links.told())]


def _control(measured: Measured) -> str:
    points = pl.concat([of(measured[name], TCEP) for name in CONTROL]).pipe(steady)
    shares = points["control_share"].drop_nulls()
    if shares.is_empty():
        raise LackingError("no run counted control packets")
    mean, most = 100 * fmean(shares), 100 * max(shares)
    return f"synthetic traffic that is not saturated, three patterns: {mean:.3f} % / {most:.3f} %"


def _change(name: str, factors: tuple[float, ...], quantity: str) -> Callable[[Measured], str]:
    """Change of latency or energy with the length of an epoch."""

    def told(measured: Measured) -> str:
        found = variations(measured[_EPOCHS])
        picked = [(factor, each) for factor in factors for each in found if _factor(each, name) == factor]
        if not picked:
            raise LackingError(f"no variation of {name} was run")
        words = ", ".join(f"x{factor:g}: {100 * (getattr(each, quantity) - 1):+.1f} %" for factor, each in picked)
        return f"synthetic traffic: {words}"

    return told


def _factor(variation: Variation, name: str) -> float | None:
    """How many times as long as the default an epoch is; ``None`` if another parameter was varied.

    Where the activation epoch is varied, the deactivation epoch stays ten times as long.
    """
    cycles = {key: float(found[0]) for key, value in variation.changed.items() if (found := re.match(r"\d+", value))}
    varied = "activation_epoch" if "activation_epoch" in cycles else next(iter(cycles), None)
    return cycles[name] / _DEFAULTS[name] if varied == name and name in _DEFAULTS else None


RULES: dict[str, Rule] = {
    **{f"T-{number:03}": waits() for number in (12, 13, 14, *range(61, 67), 68, 69, 70, 74)},
    "T-067": waits(_control, *CONTROL),
    "T-071": waits(_change("activation_epoch", (1.5,), "latency"), _EPOCHS),
    "T-072": waits(_change("activation_epoch", (2.0,), "latency"), _EPOCHS),
    "T-073": waits(_change("activation_epoch", (1.5, 2.0), "energy"), _EPOCHS),
    "T-075": waits(_change("deactivation_epoch", (0.5,), "latency"), _EPOCHS),
    "T-076": waits(_change("deactivation_epoch", (1.5,), "latency"), _EPOCHS),
    "T-077": waits(_change("deactivation_epoch", (0.5, 1.5), "energy"), _EPOCHS),
    "T-078": approx(1.12, _most_energy(UNIFORM), UNIFORM, unit="times"),
    "T-079": approx(3.7, _most_energy(PERMUTATION), PERMUTATION, unit="times"),
    "T-080": trend("SLaC's mean run time within 10 % of TCEP's", _similar_time, UNIFORM),
    "T-081": trend("least and most within 10 % of 1.9 and 3.6", _slower, PERMUTATION),
    "T-082": approx(3.0, _mean_energy, PERMUTATION, unit="times"),
}
