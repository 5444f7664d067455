"""Distribution of packet latency: share of the packets per cycle of latency."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from weft.plot import distribution

if TYPE_CHECKING:
    import numpy.typing as npt
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice, Spot
    from weft.plot.style import Look

_BINS = 100


def figure(choice: Choice) -> Figure:
    """A line per point, all with the same bins."""
    seen = [distribution.latencies(spot)[0] for spot in choice.spots()]
    ends = _ends(min(values[0] for values in seen), max(values[-1] for values in seen))

    def draw(axes: Axes, spot: Spot, look: Look) -> None:
        values, packets = distribution.latencies(spot)
        counts, _ = np.histogram(values, bins=ends, weights=packets)
        density = np.concatenate([[0.0], 100 * counts / packets.sum() / np.diff(ends), [0.0]])
        # Bin [a, b) holds the latencies a to b - 1.
        axes.plot(np.append(ends, ends[-1]) - 0.5, density, drawstyle="steps-pre", label=spot.label, **look.dense)

    drawing = distribution.figure(choice, draw, "Packets [%/cycle]")
    drawing.axes[0].set_ylim(bottom=0)
    return drawing


def _ends(low: float, high: float) -> npt.NDArray[np.float64]:
    """Bins hold whole cycles: equally many, or equally many per decade where latencies are spread wide."""
    if distribution.wide(low, high):
        return np.unique(np.round(np.geomspace(max(1, low), high + 1, _BINS + 1)))
    width = np.ceil((high + 1 - low) / _BINS)
    return np.arange(low, high + 1 + width, width)
