"""Draws results beyond the paper: TCEP combined with rate scaling of links.

Each active link runs at the lowest rate that carries its traffic.

The values are computed from the runs of Figs. 9 and 10 with `weft.analysis.dvfs`, as for the baseline with DVFS. The
computation is ideal: the necessary rates are known in advance, and a change of rate takes no time or energy.
"""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from weft.results import quantities as q
from weft_papers.common import line_figures
from weft_papers.common.frames import BASELINE
from weft_papers.common.measured import LackingError
from weft_papers.tcep.mechanism_curves import ENERGY, energies
from weft_papers.tcep.mechanisms import COMBINED, DVFS, TCEP

if TYPE_CHECKING:
    from weft.plot.style import Picture as Drawing
    from weft_papers.common.measured import Measured

PATTERNS = ("uniform", "tornado", "bit_reverse")
_MECHANISMS = (BASELINE, DVFS, TCEP, COMBINED)


def figure(measured: Measured) -> Drawing:
    """Draw energy per flit over load, with a panel for each pattern and a curve for each mechanism."""
    panels = {
        name: [energies(measured[name], mechanism) for mechanism in _MECHANISMS]
        for name in PATTERNS
        if name in measured.frames
    }
    if not panels:
        raise LackingError(f"none of {', '.join(PATTERNS)} was run")
    title = "TCEP and rate scaling (not in the paper)"
    return line_figures.panels(title, panels, q.OFFERED.axis, ENERGY, looks=_MECHANISMS)


def remark(measured: Measured) -> str:
    """Return text on the mean energy saving of each mechanism under each pattern, over loads without saturation."""
    values = []
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
        values.append(f"{name.replace('_', ' ')}: {words} ({len(loads)} loads, {min(loads):g} to {max(loads):g})")
    return f"Mean saving at loads at which no mechanism is saturated: {'; '.join(values)}." if values else ""
