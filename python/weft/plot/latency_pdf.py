"""Distribution of packet latency: share of the packets per cycle of latency."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from weft.plot import distribution

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice, Spot
    from weft.plot.style import Look

_BINS = 80


def figure(choice: Choice) -> Figure:
    """A line per point."""
    drawing = distribution.figure(choice, _draw, "Packets [%/cycle]")
    drawing.axes[0].set_ylim(bottom=0)
    return drawing


def _draw(axes: Axes, spot: Spot, look: Look) -> None:
    """Bins hold whole cycles: equally many, or with a logarithmic axis, equally many per decade."""
    values, packets = distribution.latencies(spot)
    low, high = values[0], values[-1] + 1
    ends = np.geomspace(low, high, _BINS + 1) if axes.get_xscale() == "log" and low > 0 else np.linspace(low, high, _BINS + 1)
    ends = np.unique(np.round(ends))
    counts, _ = np.histogram(values, bins=ends, weights=packets)
    density = 100 * counts / packets.sum() / np.diff(ends)
    # Bin [a, b) holds the latencies a to b - 1.
    axes.plot(np.append(ends, ends[-1]) - 0.5, np.concatenate([[0.0], density, [0.0]]), drawstyle="steps-pre", label=spot.label, **look.dense)
