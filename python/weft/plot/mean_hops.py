"""Draws the mean number of hops per packet over offered load. Detours increase this number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.plot import over_load
from weft.results import quantities as q

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice


def figure(choice: Choice) -> Figure:
    """Draws mean hops over load, with a panel per pattern."""
    return over_load.figure(choice, [over_load.View(q.HOPS)])
