"""Beyond the paper: TCEP whose links, those that are on, run at the lowest rate that carries their traffic.

Worked out from the runs of Figs. 9 and 10 as `weft.analysis.dvfs` does for the baseline, with the same ideal: the rate
is known beforehand and costs nothing to change.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING

import polars as pl

from weft import quantities as q
from weft.plot import style
from weft.reproduce import draw
from weft.reproduce.draw import Series
from weft.reproduce.measured import LackingError
from weft.reproduce.tcep.curves import ENERGY
from weft.reproduce.tcep.frames import BASELINE, COMBINED, DVFS, TCEP, normalised

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

    from weft.reproduce.measured import Measured

PATTERNS = ("uniform", "tornado", "bit_reverse")
_MECHANISMS = (BASELINE, DVFS, TCEP, COMBINED)
_HEIGHT = 2.0


def means(frame: pl.DataFrame, mechanism: str) -> pl.DataFrame:
    """Energy per flit over load against the baseline's, means over seeds: ``load``, ``energy``, ``saturated``."""
    points = normalised(frame, mechanism).group_by("load")
    return points.agg(pl.col("energy").mean(), pl.col("saturated").any()).sort("load")


def figure(measured: Measured) -> Drawing:
    """A panel per pattern, a curve per mechanism."""
    panels = {name: _series(measured[name]) for name in PATTERNS if name in measured.frames}
    if not panels:
        raise LackingError(f"none of {', '.join(PATTERNS)} was run")
    looks = style.looks(_MECHANISMS)
    # an entry for each curve, and one for saturated points if any panel has some
    named = {each.label: each for series in panels.values() for each in series}
    over = [any(any(each.over) for series in panels.values() for each in series)]
    entries = draw.legend([replace(named[each], over=over) for each in _MECHANISMS], looks)
    drawing = style.canvas("TCEP and rate scaling (not in the paper)", entries, width=style.PAGE, height=_HEIGHT)
    for axes, (name, series) in zip(style.grid(drawing, len(panels), len(panels)), panels.items(), strict=True):
        axes.set_title(name.replace("_", " "), loc="left")
        axes.set_xlabel(q.OFFERED.axis)
        axes.set_ylabel(ENERGY)
        for each in series:
            draw.line(axes, each, looks[each.label])
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
    return drawing


def _series(frame: pl.DataFrame) -> list[Series]:
    found = []
    for mechanism in _MECHANISMS:
        points = means(frame, mechanism)
        x, y, over = (points[column].to_list() for column in ("load", "energy", "saturated"))
        found.append(Series(mechanism, x, y, over))
    return found


def remark(measured: Measured) -> str:
    """What each saves on average over the loads at which none is saturated, by pattern."""
    told = []
    for name in PATTERNS:
        if name not in measured.frames:
            continue
        energies = {mechanism: means(measured[name], mechanism) for mechanism in (DVFS, TCEP, COMBINED)}
        steady = [set(points.filter(~pl.col("saturated"))["load"]) for points in energies.values()]
        if not (loads := set.intersection(*steady)):
            continue
        saved = {
            mechanism: 1 - fmean(points.filter(pl.col("load").is_in(sorted(loads)))["energy"])
            for mechanism, points in energies.items()
        }
        words = ", ".join(f"{mechanism} {share:.0%}" for mechanism, share in saved.items())
        told.append(f"{name.replace('_', ' ')}: {words} ({len(loads)} loads, {min(loads):g} to {max(loads):g})")
    return f"Saved on average where none is saturated: {'; '.join(told)}." if told else ""
