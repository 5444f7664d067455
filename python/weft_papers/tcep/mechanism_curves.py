"""Draws Figs. 9, 10 and 11: latency and energy over load, with a curve for each mechanism.

The mechanisms are TCEP and SLaC, which switch links off, and DVFS, which runs links at lower rates. The baseline keeps
all links on at the full rate.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from weft.results import quantities as q
from weft_papers.common import line_figures
from weft_papers.common.frames import BASELINE
from weft_papers.common.line_figures import Series, latency_over_load, over_load
from weft_papers.common.measured import LackingError
from weft_papers.common.questions import beside, normalised, of
from weft_papers.tcep.mechanisms import DVFS, LITERAL, SLAC, TCEP, from_all

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from weft.plot.style import Picture as Drawing
    from weft_papers.common.measured import Measured

# Names of the mechanisms in a fixed order, which gives each mechanism the same look in all figures.
MECHANISMS = (BASELINE, TCEP, SLAC, DVFS)
# The latency axis of a figure ends at this multiple of the figure's smallest latency.
_MOST = 5.0
ENERGY = "Energy per flit / baseline's"
# Columns that the remark on the two interpretations of SLaC compares.
_LITERAL = ("links_on_mean", "accepted_load")


def latency(title: str, experiment: str) -> Callable[[Measured], Drawing]:
    """Make the function that draws the packet latency of each mechanism over load."""
    return partial(_latency, title, experiment)


def energy(title: str, experiment: str) -> Callable[[Measured], Drawing]:
    """Make the function that draws energy per flit over load, relative to the baseline."""
    return partial(_energy, title, experiment)


def remark(experiment: str) -> Callable[[Measured], str]:
    """Make the function that returns a remark on TCEP's initial links, SLaC's threshold, and unsettled points."""
    return partial(_remark, experiment)


def _remark(experiment: str, measured: Measured) -> str:
    begun = measured[experiment].filter(from_all())["load"].to_list()
    from_all_on = f"TCEP starts with all links on from load {min(begun):g} on, with the fewest below" if begun else ""
    words = [from_all_on, _literal(measured[experiment]), measured.unsettled([experiment])]
    return " ".join(f"{each}." for each in words if each)


def _literal(frame: pl.DataFrame) -> str:
    """Return text that compares two interpretations of SLaC: stages go off below the low threshold, or stay on."""
    if not {LITERAL, SLAC} <= {*frame["mechanism"]}:
        return ""
    both = beside(frame, LITERAL, SLAC).sort("load")
    columns = ("load", *(f"{name}{of}" for name in _LITERAL for of in ("", "_reference")))
    lines = [
        f"at load {load:g} {on:.0%} of the links on ({kept_on:.0%}), accepted load {accepted:.3f} ({kept_accepted:.3f})"
        for load, on, kept_on, accepted, kept_accepted in both.select(columns).drop_nulls().iter_rows()
    ]
    reading = "SLaC with the literal low threshold (`release: below_low`; in brackets the drawn curve)"
    return f"{reading}: {'; '.join(lines)}" if lines else ""


def _latency(title: str, experiment: str, measured: Measured) -> Drawing:
    frame = measured[experiment]
    series = [latency_over_load(of(frame, mechanism), mechanism) for mechanism in _shown(frame) if mechanism != DVFS]
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
    """Return the curve of a mechanism's energy per flit over load, relative to the baseline, as means over seeds."""
    return over_load(normalised(frame, mechanism), mechanism, "energy")


def _shown(frame: pl.DataFrame) -> list[str]:
    found = [mechanism for mechanism in MECHANISMS if (frame["mechanism"] == mechanism).any()]
    if not found:
        raise LackingError("no mechanism was run")
    return found
