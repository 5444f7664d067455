"""Draws how evenly terminals inject flits: the load of each terminal, greatest first, with Jain's fairness index."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from weft.plot import numbers, style
from weft.results import quantities as q

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice, Spot


def figure(choice: Choice) -> Figure:
    """Draws a line per point; terminals that send no flits are at the end of the line."""
    spots = choice.spots()
    looks = style.looks([_name(spot) for spot in spots])
    drawing = style.canvas(choice.title, style.entries(looks, saturated=False), width=style.COLUMN, height=2.3)
    axes = drawing.add_subplot()
    frames = []
    for spot in spots:
        injection = spot.results.channels(spot.point).filter(pl.col("from_router").is_null())
        loads = injection["utilisation"].sort(descending=True).to_numpy()
        frames.append((spot.label, pl.DataFrame({"rank": np.arange(len(loads)), "injected_load": loads})))
        axes.plot(np.arange(len(loads)), loads, label=_name(spot), **looks[_name(spot)].dense)
    axes.set_xlabel("Terminals, highest load first")
    axes.set_ylabel(f"Injected load [{q.OFFERED.unit}]")
    axes.set_ylim(bottom=0)
    drawing.numbers = numbers.of_series(frames)
    return drawing


def _name(spot: Spot) -> str:
    jain = spot.summary["source_fairness_jain"]
    index = "nothing sent" if jain is None else f"Jain index {jain:.4f}"
    return f"{spot.label}: {index}" if spot.label else index
