"""Draws Fig. 15: energy and run time of SLaC relative to TCEP. Two batch jobs run on random halves of the machine.

TCEP and SLaC are power policies that switch links off. A mapping is a random division of the terminals into two jobs.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from matplotlib.ticker import MaxNLocator

from weft.plot import style
from weft_papers.common import line_figures
from weft_papers.common.line_figures import Series
from weft_papers.common.measured import LackingError
from weft_papers.common.questions import of, ratio
from weft_papers.tcep.mechanisms import SLAC, TCEP

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from weft.plot.style import Picture as Drawing
    from weft_papers.common.measured import Measured

UNIFORM, PERMUTATION = "jobs_uniform", "jobs_permutation"


def mappings(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each mapping of jobs that both mechanisms completed: ``seed``, ``energy``, ``time``.

    The columns ``energy`` and ``time`` have the values of SLaC divided by those of TCEP.

    Raises
    ------
    LackingError
        If there is no mapping that both mechanisms completed.
    """
    both = of(frame, SLAC).join(of(frame, TCEP), on="seed", suffix="_tcep")
    found = both.select(
        "seed",
        ratio("energy_network_j", "tcep").alias("energy"),
        ratio("completion_cycles", "tcep").alias("time"),
    ).drop_nulls()
    if found.is_empty():
        raise LackingError("no mapping was completed under both mechanisms")
    return found


def counted(frame: pl.DataFrame) -> str:
    """Return text with the number of mappings that both mechanisms completed, and with the number that were run."""
    return f"{mappings(frame).height} of {frame['seed'].n_unique()} mappings"


def ratios(title: str, experiment: str) -> Callable[[Measured], Drawing]:
    """Make the function that draws SLaC's energy and run time relative to TCEP for every mapping, sorted by energy."""
    return partial(_ratios, title, experiment)


def _ratios(title: str, experiment: str, measured: Measured) -> Drawing:
    found = mappings(measured[experiment]).sort("energy")
    places = list(range(1, found.height + 1))
    series = [Series(name, places, found[name].to_list()) for name in ("energy", "time")]
    words = {"energy": "network energy", "time": "run time"}
    series = [Series(words[each.label], each.x, each.y) for each in series]
    drawing, axes = line_figures.curves(title, "Mapping, in the order of energy", "SLaC / TCEP", series)
    axes.axhline(1, color=style.GREY, linewidth=0.8, label="_the same")
    axes.set_xlim(0.5, found.height + 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True, min_n_ticks=1))
    return drawing
