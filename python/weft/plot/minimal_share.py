"""Draws the share of packets on minimal paths over offered load.

The share falls when the load is so high that an adaptive routing starts to use detours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.plot import over_load
from weft.results import quantities as q

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice


def figure(choice: Choice) -> Figure:
    """Draws the share of minimal paths over load, with a panel per pattern."""
    return over_load.figure(choice, [over_load.View(q.MINIMAL)])
