"""Draws power or energy of the links over load, next to that of always-on links and of ideal links.

An ideal link costs energy only in the cycles in which it carries a flit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.lines import Line2D

from weft.plot import over_load, style
from weft.results import quantities as q

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice
    from weft.plot.style import Look
    from weft.results.curves import Panel
    from weft.results.quantities import Billed

# Dash patterns of the curves of always-on links and of ideal links.
_ALWAYS_ON: dict[str, Any] = {"linestyle": (0, (5, 1.5)), "linewidth": 0.9}
_IDEAL: dict[str, Any] = {"linestyle": (0, (1, 1.2)), "linewidth": 0.9}


def figure(choice: Choice, costs: Sequence[Billed], *, log: bool) -> Figure:
    """Draws a row of panels per pattern: one for all links and priced routers, and one for links between routers."""
    views = [
        over_load.View(
            cost.actual, log=log, extra=_references(cost), title=cost.links, beside=(cost.always_on, cost.ideal)
        )
        for cost in costs
    ]
    handles = [
        Line2D([], [], color=style.GREY, label=_name(choice), **_ALWAYS_ON),
        Line2D([], [], color=style.GREY, label="ideal: only while a flit passes", **_IDEAL),
    ]
    return over_load.figure(choice, views, handles=handles)


def _name(choice: Choice) -> str:
    """Legend entry of the curve for links that are always on. It also says at which points the curve is not drawn."""
    frames = [curve.frame for panel in choice.panels() for curve in panel.curves]
    failing = any(frame["failing"].any() for frame in frames)
    return "always on, the same flits" + (" (not where links fail)" if failing else "")


def _references(cost: Billed) -> Callable[[Axes, Panel, dict[str, Look]], None]:
    def draw(axes: Axes, panel: Panel, looks: dict[str, Look]) -> None:
        for curve in panel.curves:
            for quantity, line in ((cost.always_on, _ALWAYS_ON), (cost.ideal, _IDEAL)):
                frame = curve.frame.drop_nulls(quantity.column)
                options = line | {"color": looks[curve.label].line["color"], "zorder": 2}
                axes.plot(
                    frame[q.OFFERED.column],
                    frame[quantity.column],
                    label=f"_{quantity.column} {curve.label}",
                    **options,
                )

    return draw
