"""Draws the distribution (probability density) of packet latency: share of the packets per cycle of latency."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from weft.plot import distribution

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice
    from weft.plot.distribution import Floats, Line

_BINS = 100


def figure(choice: Choice) -> Figure:
    """Draws a line per point; the packets of all seeds are combined. All lines have the same bins."""
    seen = distribution.latencies(choice)[0]
    ends = _ends(min(each.values[0] for each in seen), max(each.values[-1] for each in seen))

    def line(values: Floats, _: Floats) -> Line:
        def density(packets: Floats) -> Floats:
            counts, _ = np.histogram(values, bins=ends, weights=packets)
            return np.concatenate([[0.0], 100 * counts / packets.sum() / np.diff(ends), [0.0]])

        # The bin [a, b) counts the packets with latencies from a to b - 1.
        return np.append(ends, ends[-1]) - 0.5, density, "steps-pre"

    drawing = distribution.figure(choice, "Packets [%/cycle]", "packets_percent_per_cycle", line)
    drawing.axes[0].set_ylim(bottom=0)
    return drawing


def _ends(low: float, high: float) -> Floats:
    """Edges of the bins of latency, at whole cycles.

    The bins have equal widths, or an equal number per decade if the latencies span a wide range.
    """
    if distribution.wide(low, high):
        return np.unique(np.round(np.geomspace(max(1, low), high + 1, _BINS + 1)))
    width = np.ceil((high + 1 - low) / _BINS)
    return np.arange(low, high + 1 + width, width)
