"""Draws latency, accepted load and energy per bit over offered load.

The panel of latency is always next to that of the accepted load. The two panels together are the Chaos Normal Form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.plot import over_load, style
from weft.results import quantities as q

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice
    from weft.plot.style import Look
    from weft.results.curves import Panel


def figure(choice: Choice) -> Figure:
    """Draws latency, accepted load and energy over load, with a row of panels per pattern."""
    return over_load.figure(choice, (over_load.View(q.LATENCY), accepted(), over_load.View(q.ENERGY, log=True)))


def accepted() -> over_load.View:
    """The panel of accepted over offered load, with the line on which the two loads are equal."""
    return over_load.View(q.ACCEPTED, extra=_diagonal)


def _diagonal(axes: Axes, panel: Panel, looks: dict[str, Look]) -> None:  # noqa: ARG001 # as every `View.extra`
    end = axes.get_xlim()[1] / over_load.ROOM
    axes.plot([0, end], [0, end], color=style.GREY, linewidth=0.7, zorder=1, label="_accepted = offered")
