"""Draws the cumulative distribution of packet latency."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from weft.plot import distribution

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice
    from weft.plot.distribution import Floats, Line


def figure(choice: Choice) -> Figure:
    """Draws a line per point; the packets of all seeds are combined."""
    drawing = distribution.figure(choice, "Packets up to this latency [%]", "packets_percent", _line)
    drawing.axes[0].set_ylim(0, 102)
    return drawing


def _line(values: Floats, packets: Floats) -> Line:

    def shares(packets: Floats) -> Floats:
        below: Floats = 100 * np.cumsum(packets) / packets.sum()
        return below

    shown = distribution.thin(values, shares(packets))
    steps = np.insert(values[shown], 0, values[0])
    return steps, lambda packets: np.insert(shares(packets)[shown], 0, 0.0), "steps-post"
