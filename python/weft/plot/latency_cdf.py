"""Cumulative distribution of packet latency."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from weft.plot import distribution

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice, Spot
    from weft.plot.style import Look


def figure(choice: Choice) -> Figure:
    """A line per point."""
    return distribution.figure(choice, _draw, "Packets that are as fast [%]")


def _draw(axes: Axes, spot: Spot, look: Look) -> None:
    values, packets = distribution.latencies(spot)
    shares = 100 * np.cumsum(packets) / packets.sum()
    shown = distribution.thin(values, shares)
    x, y = np.insert(values[shown], 0, values[0]), np.insert(shares[shown], 0, 0.0)
    axes.plot(x, y, drawstyle="steps-post", label=spot.label, **look.dense)
    axes.set_ylim(0, 102)
