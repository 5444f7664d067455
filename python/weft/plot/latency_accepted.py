"""Draws latency over accepted load, which is the load that the network delivers (Burton Normal Form)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.plot import over_load
from weft.results import quantities as q

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice


def figure(choice: Choice) -> Figure:
    """Draws a panel per pattern, in which a curve connects the points in the order of the offered load."""
    return over_load.figure(choice, [over_load.View(q.LATENCY, x=q.ACCEPTED)])
