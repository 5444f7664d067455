"""Hops per packet over offered load: detours cost hops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft import quantities as q
from weft.plot import over_load

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice


def figure(choice: Choice) -> Figure:
    """A panel per pattern."""
    return over_load.figure(choice, [over_load.View(q.HOPS)])
