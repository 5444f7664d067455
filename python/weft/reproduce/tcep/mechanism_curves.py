"""Figs. 9, 10 and 11: latency and energy over load, a curve per mechanism."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from weft.reproduce.common import line_figures
from weft.reproduce.common.frames import BASELINE
from weft.reproduce.common.line_figures import Series, over_load
from weft.reproduce.common.measured import LackingError
from weft.reproduce.common.questions import normalised, of
from weft.reproduce.tcep.mechanisms import DVFS, SLAC, TCEP, from_all
from weft.results import quantities as q

if TYPE_CHECKING:
    from collections.abc import Callable

    from weft.plot.style import Picture as Drawing
    from weft.reproduce.common.measured import Measured

# In a fixed order, so that they look the same in all figures.
MECHANISMS = (BASELINE, TCEP, SLAC, DVFS)
# The axis of latency ends at so many times the least latency.
_MOST = 5.0
ENERGY = "Energy per flit / baseline's"


def latency(title: str, experiment: str) -> Callable[[Measured], Drawing]:
    """Makes the function that draws latency over load."""
    return partial(_latency, title, experiment)


def energy(title: str, experiment: str) -> Callable[[Measured], Drawing]:
    """Makes the function that draws energy per flit over load; the baseline's is 1."""
    return partial(_energy, title, experiment)


def remark(experiment: str) -> Callable[[Measured], str]:
    """Makes the function that says which points started with all links on, and how many had not settled."""
    return partial(_remark, experiment)


def _remark(experiment: str, measured: Measured) -> str:
    begun = measured[experiment].filter(from_all())["load"].to_list()
    words = (
        [f"TCEP and SLaC start with all links on at loads from {min(begun):g}, with the fewest below"] if begun else []
    )
    words.append(measured.unsettled([experiment]))
    return " ".join(f"{each}." for each in words if each)


def _latency(title: str, experiment: str, measured: Measured) -> Drawing:
    frame = measured[experiment].filter(pl.col(q.LATENCY.column) > 0)
    series = [
        over_load(of(frame, mechanism), mechanism, q.LATENCY.column) for mechanism in _shown(frame) if mechanism != DVFS
    ]
    least = min((y for each in series for y in each.y), default=1.0)
    drawing, _ = line_figures.curves(
        title, q.OFFERED.axis, q.LATENCY.axis, series, at_top=True, most=_MOST * least, looks=MECHANISMS
    )
    return drawing


def _energy(title: str, experiment: str, measured: Measured) -> Drawing:
    frame = measured[experiment]
    series = [energies(frame, mechanism) for mechanism in _shown(frame)]
    return line_figures.curves(title, q.OFFERED.axis, ENERGY, series, looks=MECHANISMS)[0]


def energies(frame: pl.DataFrame, mechanism: str) -> Series:
    """Energy per flit of a mechanism over load; the baseline's is 1. Means over seeds."""
    return over_load(normalised(frame, mechanism), mechanism, "energy")


def _shown(frame: pl.DataFrame) -> list[str]:
    found = [mechanism for mechanism in MECHANISMS if (frame["mechanism"] == mechanism).any()]
    if not found:
        raise LackingError("no mechanism was run")
    return found
