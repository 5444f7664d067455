"""Draws the complementary cumulative distribution of packet latency, in which the slowest packets are visible."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from weft.plot import distribution

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice
    from weft.plot.distribution import Floats, Line


def figure(choice: Choice) -> Figure:
    """Draws a line per point; the packets of all seeds are combined. The line ends at the slowest packet."""
    drawing = distribution.figure(choice, "Share of packets above this latency", "packets_share", _line)
    drawing.axes[0].set_yscale("log")
    drawing.axes[0].yaxis.set_major_formatter("{x:g}")
    drawing.axes[0].yaxis.set_minor_formatter("")
    return drawing


def _line(values: Floats, packets: Floats) -> Line:
    """Computes the steps of the line.

    The height of the line between two latencies is the share of packets with at least the higher latency.
    """

    def slower(packets: Floats) -> Floats:
        shares: Floats = np.cumsum(packets[::-1])[::-1] / packets.sum()
        return shares

    shown = distribution.thin(values, np.log(slower(packets)))
    return values[shown], lambda packets: slower(packets)[shown], "steps-pre"
