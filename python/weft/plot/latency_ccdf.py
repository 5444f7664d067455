"""Complementary cumulative distribution of packet latency: the tail."""

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
    """A line per point; it ends above the slowest packet, behind which there is none."""
    drawing = distribution.figure(choice, _draw, "Share of packets that are slower")
    drawing.axes[0].set_yscale("log")
    return drawing


def _draw(axes: Axes, spot: Spot, look: Look) -> None:
    values, packets = distribution.latencies(spot)
    slower = np.concatenate([[packets.sum()], packets.sum() - np.cumsum(packets)[:-1]]) / packets.sum()
    shown = distribution.thin(values, np.log(slower))
    # From each latency on the share is that of the next: the line falls where the packets are.
    axes.plot(values[shown], slower[shown], drawstyle="steps-pre", label=spot.label, **look.dense)
