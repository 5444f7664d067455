"""Latency over accepted load (Burton Normal Form): how fast a network is at the load that it really carries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.plot import over_load
from weft.results import quantities as q

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice


def figure(choice: Choice) -> Figure:
    """A panel per pattern; a curve goes from load to load."""
    return over_load.figure(choice, [over_load.View(q.LATENCY, x=q.ACCEPTED)])
