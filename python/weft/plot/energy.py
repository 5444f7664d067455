"""Draws energy per delivered bit over load, next to that of always-on links and of ideal links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.plot import billed
from weft.results import quantities as q

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice


def figure(choice: Choice) -> Figure:
    """Draws energies over load, with a row of panels per pattern."""
    return billed.figure(choice, q.ENERGIES, log=True)
