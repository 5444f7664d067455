"""Draws Fig. 12 (active links and their lower bound), the sensitivity to TCEP's parameters, and control packets."""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import exp, isqrt
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from weft.analysis import bound
from weft.plot import style
from weft.results import quantities as q
from weft_papers.common import line_figures
from weft_papers.common.frames import ENERGY
from weft_papers.common.line_figures import Series
from weft_papers.common.measured import LackingError
from weft_papers.common.questions import greatest, of, ratio, steady
from weft_papers.tcep.mechanisms import TCEP

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from weft.plot.style import Picture as Drawing
    from weft_papers.common.measured import Measured

# Number of routers and number of terminals in the network of Fig. 12. This network, and the smaller network of a quick
# run, have as many terminals per router as routers.
ROUTERS, TERMINALS = 32, 1024
UNIFORM, ADVERSARIAL = "bound_uniform", "bound_adversarial"
# Experiments from which the figure of control packets takes its points.
CONTROL = ("uniform", "tornado", "bit_reverse")
_SHARE = "Share of active links"
# For each varied parameter of TCEP, its name in the figure of the sensitivity to parameters.
_NAMES = {"activation_epoch": "activation", "deactivation_epoch": "deactivation", "high_water": "U_hwm"}


def gaps(frame: pl.DataFrame) -> pl.DataFrame:
    """Return TCEP's unsaturated points.

    The columns are ``load``, ``links_on_mean``, ``bound`` (lower bound for uniform traffic) and ``gap`` (between the
    two).
    """
    points = steady(of(frame, TCEP)).drop_nulls("links_on_mean")
    if points.is_empty():
        raise LackingError("the number of links that were on is unknown at all points of TCEP below saturation")
    routers, terminals = network(points)
    bounds = [bound.active_share(load, routers, terminals) for load in points["load"]]
    points = points.with_columns(pl.Series("bound", bounds))
    return points.select("load", "links_on_mean", "bound", (pl.col("links_on_mean") - pl.col("bound")).alias("gap"))


def network(frame: pl.DataFrame) -> tuple[int, int]:
    """Return the number of routers and the number of terminals of the network that was run.

    The network has as many terminals per router as routers.
    """
    terminals = round(greatest(frame, "terminals"))
    if terminals < 1:
        raise LackingError("the number of terminals is unknown")
    return isqrt(terminals), terminals


def adversarial_share(load: float, routers: int, terminals: int) -> float:
    """Return the lower bound of the share of active links if all terminals of a router send to one other router.

    The direct channel to this router carries up to 1 flit/cycle, and detours of two hops carry the rest.
    """
    offered = load * terminals / routers
    return bound.active_share(load, routers, terminals, min(1.0, 1 / offered) if offered else 1.0)


def fig12(measured: Measured) -> Drawing:
    """Draw TCEP's share of active links over load under uniform and adversarial traffic, each with its lower bound.

    The paper draws only uniform traffic.
    """
    series = []
    bounds: dict[str, Callable[[float, int, int], float]] = {
        UNIFORM: bound.active_share,
        ADVERSARIAL: adversarial_share,
    }
    for name, words in ((UNIFORM, "uniform"), (ADVERSARIAL, "adversarial")):
        if name not in measured.frames:
            continue
        points = of(measured[name], TCEP).drop_nulls("links_on_mean")
        x, y, over = (points[column].to_list() for column in ("load", "links_on_mean", "saturated"))
        series.append(Series(f"TCEP, {words}", x, y, over))
        loads = np.linspace(0, greatest(points, "load"), 100)[1:].tolist()
        shares = [bounds[name](load, *network(points)) for load in loads]
        within = [load for load, share in zip(loads, shares, strict=True) if share <= 1]
        series.append(Series(f"bound, {words}", within, shares[: len(within)], theory_of=f"TCEP, {words}"))
    if not series:
        raise LackingError(f"neither {UNIFORM} nor {ADVERSARIAL} was run")
    drawing, axes = line_figures.curves("Fig. 12: active links, 1D flattened butterfly", q.OFFERED.axis, _SHARE, series)
    axes.set_ylim(0, 1.05)
    return drawing


def control(measured: Measured) -> Drawing:
    """Draw the share of control packets over load for each pattern, and the share that the paper prints for traces."""
    series = []
    for name in CONTROL:
        if name in measured.frames:
            points = steady(of(measured[name], TCEP)).drop_nulls("control_share")
            shares = (100 * points["control_share"]).to_list()
            series.append(Series(name.replace("_", " "), points["load"].to_list(), shares))
    if not series:
        raise LackingError(f"none of {', '.join(CONTROL)} was run")
    drawing, axes = line_figures.curves("Control packets of TCEP", q.OFFERED.axis, "Share of all packets [%]", series)
    for printed, words in ((0.34, "printed mean, with traces"), (0.65, "printed maximum, with traces")):
        axes.axhline(printed, color=style.GREY, linewidth=0.8, linestyle=(0, (4, 2)), label=f"_{words}")
        axes.text(axes.get_xlim()[1], printed, words, ha="right", va="bottom", fontsize=6.5, color="#444444")
    axes.set_ylim(top=max(axes.get_ylim()[1], 0.8))
    return drawing


@dataclass(frozen=True)
class Variation:
    """The changes of latency and energy if one or more parameters of TCEP change, as means over all loads.

    Attributes
    ----------
    words : str
        The parameters that differ from the default, with their values.
    changed : dict
        The same parameters and values, by name.
    latency, energy : float
        Latency and network energy per flit, divided by the values with default parameters; geometric means over the
        loads.
    """

    words: str
    changed: Mapping[str, str]
    latency: float
    energy: float


def variations(frame: pl.DataFrame) -> list[Variation]:
    """Compare every set of TCEP's parameters with the default parameters, at loads at which neither is saturated."""
    points = of(frame, TCEP)
    first, *others = frame["policy"].unique(maintain_order=True).to_list()
    default = points.filter(pl.col("policy") == first)
    found = []
    for policy in others:
        both = points.filter(pl.col("policy") == policy).join(default, on=["load", "seed"], suffix="_default")
        both = steady(both)
        latency, energy = (_geometric(both, name) for name in (q.LATENCY.column, ENERGY))
        if latency is None or energy is None:
            continue
        changed = _changed(json.loads(first)["tcep"], json.loads(policy)["tcep"])
        words = ",\n".join(f"{_NAMES.get(name, name)} {value}" for name, value in changed.items())
        found.append(Variation(words, changed, latency, energy))
    if not found:
        raise LackingError("no variation has a load in common with the default")
    return found


def _geometric(both: pl.DataFrame, column: str) -> float | None:
    """Return the geometric mean of a column divided by its value with defaults; ``None`` if no point has a value."""
    known = both.select(ratio(column, "default").log()).to_series().drop_nulls().to_list()
    return exp(fmean(known)) if known else None


def _changed(default: Mapping[str, object], other: Mapping[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in other.items() if value != default.get(name)}


def epochs(measured: Measured) -> Drawing:
    """Draw latency and energy for every variation of TCEP's parameters, relative to the default parameters."""
    found = variations(measured["epochs"])
    height = 0.7 + 0.24 * len(found)
    drawing = style.canvas("Sensitivity of TCEP on uniform traffic", [], width=style.PAGE, height=height)
    for axes, (name, words) in zip(
        style.grid(drawing, 2, 2), (("latency", "Mean packet latency"), ("energy", "Energy per flit")), strict=True
    ):
        changes = [100 * (getattr(each, name) - 1) for each in found]
        axes.barh(range(len(found)), changes, height=0.6, label=f"_{name}", **style.fill(0))
        axes.axvline(0, color="black", linewidth=0.8, label="_default")
        axes.set_xlabel(f"{words}, change [%]")
        rows = {place: each.words for place, each in enumerate(found)} if name == "latency" else {}
        axes.set_yticks(list(rows), list(rows.values()))
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
    drawing.numbers = pl.DataFrame(
        [
            {
                "changed": each.words.replace("\n", " "),
                "latency_change_percent": 100 * (each.latency - 1),
                "energy_change_percent": 100 * (each.energy - 1),
            }
            for each in found
        ]
    )
    return drawing
