"""Draws the utilisation of channels, busiest channel first, with a line per point and link class.

The figure shows how evenly a routing spreads traffic.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from weft.plot import numbers, style
from weft.results import quantities as q

if TYPE_CHECKING:
    import numpy.typing as npt
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice


def figure(choice: Choice) -> Figure:
    """Draws a line per point and link class.

    The horizontal axis is the share of the channels, because classes differ in size.
    """
    spots = choice.spots()
    frames = [spot.results.channels(spot.point) for spot in spots]
    classes = list(dict.fromkeys(name for frame in frames for name in frame["link_class"]))
    pairs = product([spot.label for spot in spots], classes)
    names = {pair: ", ".join(word for word in pair if word) for pair in pairs}
    looks = style.looks(list(names.values()))
    drawing = style.canvas(choice.title, style.entries(looks, saturated=False), width=style.COLUMN, height=2.3)
    axes = drawing.add_subplot()
    steps = []
    for (spot, frame), link_class in product(zip(spots, frames, strict=True), classes):
        values = frame.filter(frame["link_class"] == link_class)["utilisation"].sort(descending=True).to_numpy()
        name = names[spot.label, link_class]
        # Each channel is a step of the line. The width of the step is the channel's share of all channels of the class.
        shares = 100 * np.arange(len(values) + 1) / max(1, len(values))
        steps.append((spot.label, _numbers(values, link_class)))
        if len(values):
            axes.plot(shares, np.append(values, values[-1]), drawstyle="steps-post", label=name, **looks[name].dense)
    axes.set_xlabel("Channels of the class, busiest first [%]")
    axes.set_ylabel(q.UTILISATION.axis)
    axes.set_xlim(0, 100)
    axes.set_ylim(bottom=0)
    drawing.numbers = numbers.of_series(steps)
    return drawing


def _numbers(values: npt.NDArray[np.float64], link_class: str) -> pl.DataFrame:
    """Numbers of the figure for a link class: a row per channel, the busiest first.

    In the figure each channel is a step of a line. The column with the share of the channels has the end of this step.
    """
    shares = np.arange(1, len(values) + 1) / max(1, len(values))
    columns = {"link_class": [link_class] * len(values), "channels_share": shares, q.UTILISATION.column: values}
    return pl.DataFrame(columns)
