"""Distribution of packet latency: share of the packets per cycle of latency."""

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
    """A line per point, all with the same bins."""
    seen = [values for _, values, _ in distribution.latencies(choice)[0]]
    ends = _ends(min(values[0] for values in seen), max(values[-1] for values in seen))

    def line(values: Floats, packets: Floats) -> Line:
        counts, _ = np.histogram(values, bins=ends, weights=packets)
        density = np.concatenate([[0.0], 100 * counts / packets.sum() / np.diff(ends), [0.0]])
        # Bin [a, b) holds the latencies a to b - 1.
        return np.append(ends, ends[-1]) - 0.5, density, "steps-pre"

    drawing = distribution.figure(choice, "Packets [%/cycle]", "packets_percent_per_cycle", line)
    drawing.axes[0].set_ylim(bottom=0)
    return drawing


def _ends(low: float, high: float) -> Floats:
    """Edges of the bins, at whole cycles: of equal width, or equally many per decade if latencies span a wide range."""
    if distribution.wide(low, high):
        return np.unique(np.round(np.geomspace(max(1, low), high + 1, _BINS + 1)))
    width = np.ceil((high + 1 - low) / _BINS)
    return np.arange(low, high + 1 + width, width)
