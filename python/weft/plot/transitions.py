"""Draws over load how often links change between power states (for example go off and wake), per second."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.plot import over_load
from weft.results import quantities as q

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice


def figure(choice: Choice) -> Figure:
    """Draws the number of transitions per second over load, with a panel per traffic pattern."""
    return over_load.figure(choice, [over_load.View(q.TRANSITIONS)])
