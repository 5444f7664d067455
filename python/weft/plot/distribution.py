"""How the latencies of a point are distributed: what the three figures of it share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from weft import quantities as q
from weft.errors import ResultsError
from weft.plot import style

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice, Spot

    Floats = npt.NDArray[np.float64]
    # Corners, and how they are joined.
    Line = tuple[Floats, Floats, Literal["steps-pre", "steps-post"]]

# Steps that a printed line can show across and up, and how wide latencies may be spread on a linear axis.
_ACROSS, _UP = 1500, 1500
_WIDE = 30


def latencies(spot: Spot) -> tuple[Floats, Floats]:
    """Latencies that were seen [cycles], lowest first, and the packets of each.

    Raises
    ------
    ResultsError
        If there are none.
    """
    pairs = np.asarray(spot.summary.get("latency_histogram", []), dtype=np.float64)
    if not pairs.size:
        what = f"{spot.name} of {spot.results.root} has no latencies: no packet of the window was delivered"
        raise ResultsError.saying(what, "choose another point with --point")
    return pairs[:, 0], pairs[:, 1]


def figure(choice: Choice, label: str, line: Callable[[Floats, Floats], Line]) -> Figure:
    """A panel with a line per point over latency; `line` makes it of latencies and their packets."""
    spots = choice.spots()
    looks = style.looks([spot.label for spot in spots])
    drawing = style.canvas(choice.title, style.entries(looks, saturated=False), width=style.COLUMN, height=2.3)
    axes = drawing.add_subplot()
    axes.set_xlabel(q.PACKET_LATENCY.axis)
    axes.set_ylabel(label)
    seen = [latencies(spot) for spot in spots]
    if wide(min(values[0] for values, _ in seen), max(values[-1] for values, _ in seen)):
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
    for spot, (values, packets) in zip(spots, seen, strict=True):
        x, y, steps = line(values, packets)
        axes.plot(x, y, drawstyle=steps, label=spot.label, **looks[spot.label].dense)
    return drawing


def wide(low: float, high: float) -> bool:
    """Whether latencies are spread too wide for a linear axis."""
    return high > _WIDE * max(1.0, low)


def thin(values: Floats, heights: Floats) -> npt.NDArray[np.intp]:
    """Which of very many steps to draw: the first of those that fall on the same place, and the last of all."""
    if len(values) <= 2 * _ACROSS:
        return np.arange(len(values))
    places = [
        np.floor(steps * (each - each[0]) / ((each[-1] - each[0]) or 1))
        for each, steps in ((np.log(np.maximum(values, 1)), _ACROSS), (heights, _UP))
    ]
    new = np.any([np.diff(place, prepend=-1) != 0 for place in places], axis=0)
    new[-1] = True
    return np.flatnonzero(new)
