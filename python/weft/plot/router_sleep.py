"""Draws how long whole routers could have slept: the share of the window in which all links of a router were off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from weft.errors import ResultsError
from weft.plot import numbers, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice, Spot


def figure(choice: Choice) -> Figure:
    """Draws a line per point: the share for each router of the point, in descending order.

    Routers without links that a power policy manages are left out.
    """
    spots = choice.spots()
    frames = [_frame(spot) for spot in spots]
    names = [_name(spot, frame) for spot, frame in zip(spots, frames, strict=True)]
    looks = style.looks(names)
    drawing = style.canvas(choice.title, style.entries(looks, saturated=False), width=style.COLUMN, height=2.3)
    axes = drawing.add_subplot()
    for name, frame in zip(names, frames, strict=True):
        shares = 100 * np.append(frame["asleep_share"], frame["asleep_share"][-1])
        # each router is one step of the line
        axes.plot(np.arange(len(shares)), shares, drawstyle="steps-post", label=name, **looks[name].dense)
    axes.set_xlabel("Routers, longest time asleep first")
    axes.set_ylabel("Time with all links off [%]")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    drawing.numbers = numbers.of_series((spot.label, frame) for spot, frame in zip(spots, frames, strict=True))
    return drawing


def _frame(spot: Spot) -> pl.DataFrame:
    """The routers of a point with outgoing links that the policy manages, in descending order of time asleep.

    Raises
    ------
    ResultsError
        If the policy manages no links, or if the share was not recorded.
    """
    kept = spot.results.recorded(spot.point, "router_sleep").filter(pl.col("managed_channels") > 0)
    if kept.is_empty():
        what = f"{spot.name} of {spot.results.root}: the power policy manages no link, so no router can sleep"
        remedy = "set power.policy, e.g. {idle_timeout: {idle: 20cycles}}, and run the point again"
        raise ResultsError.saying(what, remedy)
    return kept.sort("asleep_cycles", descending=True, maintain_order=True)


def _name(spot: Spot, frame: pl.DataFrame) -> str:
    mean = f"mean {100 * np.mean(frame['asleep_share'].to_numpy()):.3g} %"
    return f"{spot.label}: {mean}" if spot.label else mean
