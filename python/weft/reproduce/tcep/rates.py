"""Beyond the paper: TCEP with rate scaling: each link that is on runs at the lowest rate that carries its traffic.

Computed from the runs of Figs. 9 and 10 with `weft.analysis.dvfs`, as for the baseline, and under the same ideal
assumptions: the rate is known beforehand, and changing it costs nothing.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING

import polars as pl

from weft.plot import style
from weft.reproduce.common import line_figures
from weft.reproduce.common.frames import BASELINE
from weft.reproduce.common.measured import LackingError
from weft.reproduce.tcep.mechanism_curves import ENERGY, energies
from weft.reproduce.tcep.mechanisms import COMBINED, DVFS, TCEP
from weft.results import quantities as q

if TYPE_CHECKING:
    from weft.plot.style import Picture as Drawing
    from weft.reproduce.common.measured import Measured

PATTERNS = ("uniform", "tornado", "bit_reverse")
_MECHANISMS = (BASELINE, DVFS, TCEP, COMBINED)
_HEIGHT = 2.0


def figure(measured: Measured) -> Drawing:
    """A panel per pattern, a curve per mechanism."""
    panels = {
        name: [energies(measured[name], mechanism) for mechanism in _MECHANISMS]
        for name in PATTERNS
        if name in measured.frames
    }
    if not panels:
        raise LackingError(f"none of {', '.join(PATTERNS)} was run")
    looks = style.looks(_MECHANISMS)
    # an entry for each curve, and one for saturated points if any panel has some
    named = {each.label: each for series in panels.values() for each in series}
    over = [any(any(each.over) for series in panels.values() for each in series)]
    entries = line_figures.legend([replace(named[each], over=over) for each in _MECHANISMS], looks)
    drawing = style.canvas("TCEP and rate scaling (not in the paper)", entries, width=style.PAGE, height=_HEIGHT)
    for axes, (name, series) in zip(style.grid(drawing, len(panels), len(panels)), panels.items(), strict=True):
        axes.set_title(name.replace("_", " "), loc="left")
        axes.set_xlabel(q.OFFERED.axis)
        axes.set_ylabel(ENERGY)
        for each in series:
            line_figures.line(axes, each, looks[each.label])
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
    tables = {name: line_figures.numbers_of(q.OFFERED.axis, ENERGY, series) for name, series in panels.items()}
    labelled = [table.select(pl.lit(name).alias("pattern"), pl.all()) for name, table in tables.items()]
    drawing.numbers = pl.concat(labelled, how="diagonal")  # a panel without a point has no column of series
    return drawing


def remark(measured: Measured) -> str:
    """For each pattern, what each mechanism saves on average over the loads at which none is saturated."""
    told = []
    for name in PATTERNS:
        if name not in measured.frames:
            continue
        curves = [energies(measured[name], mechanism) for mechanism in (DVFS, TCEP, COMBINED)]
        steady = [
            {load: energy for load, energy, over in zip(each.x, each.y, each.over, strict=True) if not over}
            for each in curves
        ]
        if not (loads := set.intersection(*map(set, steady))):
            continue
        saved = {
            each.label: 1 - fmean(energy[load] for load in sorted(loads))
            for each, energy in zip(curves, steady, strict=True)
        }
        words = ", ".join(f"{mechanism} {share:.0%}" for mechanism, share in saved.items())
        told.append(f"{name.replace('_', ' ')}: {words} ({len(loads)} loads, {min(loads):g} to {max(loads):g})")
    return f"Saved on average where none is saturated: {'; '.join(told)}." if told else ""
