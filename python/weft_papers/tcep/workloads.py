"""Judges claims about batch jobs on random halves of the machine (Fig. 15).

TCEP and SLaC are power policies that switch links off. A mapping is a random division of the terminals into two jobs.
"""

from __future__ import annotations

from math import exp, log
from statistics import fmean
from typing import TYPE_CHECKING

from weft_papers.common.measured import LackingError
from weft_papers.common.questions import spread
from weft_papers.common.rules import WITHIN, Part, approx, trend
from weft_papers.tcep import hottest_links
from weft_papers.tcep.hottest_links import MAPPINGS
from weft_papers.tcep.job_figures import PERMUTATION, UNIFORM, counted, mappings

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from weft_papers.common.measured import Measured
    from weft_papers.common.rules import Rule

# Mean run times are "similar" if they differ by at most `_SIMILAR` (a share). `_SLOWER` has the smallest and the
# greatest ratio of run times that the paper prints for permutations.
_SIMILAR = 0.1
_SLOWER = (1.9, 3.6)


def _all(measured: Measured, experiment: str) -> pl.DataFrame:
    """Return the results of all mappings of jobs to terminals.

    With fewer mappings than in the paper, extremes are smaller.

    Raises
    ------
    LackingError
        If fewer mappings were run than in the paper, as in a quick run, whose batches are also shorter.
    """
    ran = measured[experiment]["seed"].n_unique()
    if ran < MAPPINGS:
        raise LackingError(f"{ran} mappings were run, but the paper has {MAPPINGS}: a full run has them all")
    return mappings(measured[experiment])


def _most_energy(experiment: str) -> Callable[[Measured], tuple[float, str]]:
    def answer(measured: Measured) -> tuple[float, str]:
        energy = _all(measured, experiment)["energy"]
        return float(energy.max()), f"{spread(energy)}; {counted(measured[experiment])}"  # type: ignore[arg-type] # never null

    return answer


def _mean_energy(measured: Measured) -> tuple[float, str]:
    energy = _all(measured, PERMUTATION)["energy"]
    return exp(fmean(map(log, energy))), f"geometric mean; {spread(energy)}; {counted(measured[PERMUTATION])}"


def _similar_time(measured: Measured) -> tuple[bool, str]:
    times = _all(measured, UNIFORM)["time"]
    text = f"SLaC / TCEP: {fmean(times):.3f} on average, {spread(times)}"
    return abs(fmean(times) - 1) <= _SIMILAR, f"{text}; {counted(measured[UNIFORM])}"


def _slower(measured: Measured) -> list[Part]:
    times = _all(measured, PERMUTATION)["time"]
    ends = (min(times), max(times))
    near = all(abs(found - printed) <= WITHIN * printed for found, printed in zip(ends, _SLOWER, strict=True))
    return [Part(near, f"{spread(times)}; {counted(measured[PERMUTATION])}", hottest_links.sentence())]


RULES: dict[str, Rule] = {
    "T-078": approx(1.12, _most_energy(UNIFORM), UNIFORM, unit="times"),
    "T-079": approx(3.7, _most_energy(PERMUTATION), PERMUTATION, unit="times"),
    "T-080": trend("SLaC's mean run time within 10 % of TCEP's", _similar_time, UNIFORM),
    "T-081": trend("smallest and largest ratio within 10 % of 1.9 and 3.6", _slower, PERMUTATION),
    "T-082": approx(3.0, _mean_energy, PERMUTATION, unit="times"),
}
