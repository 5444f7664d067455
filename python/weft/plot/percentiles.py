"""Draws percentiles of packet latency over load as bands, with a panel per curve; all panels have the same axes."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from matplotlib import colormaps
from matplotlib.lines import Line2D

from weft.errors import ResultsError
from weft.plot import numbers, over_load, style
from weft.results import quantities as q

if TYPE_CHECKING:
    from typing import Any

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice
    from weft.results.curves import Curve

_SHADES = colormaps["viridis_r"]


def figure(choice: Choice) -> Figure:
    """Draws the bands of each curve.

    Saturated points are not part of the bands. They have hollow markers at the upper edge.

    Crosses mark points with a flaw, as in `over_load`.
    """
    rows = choice.panels()
    in_units = choice.appearance.shown
    known = {name: in_units(quantity) for name, quantity in q.PERCENTILES.items()}
    shown = {name: quantity for name, quantity in known.items() if over_load.known(rows, quantity)}
    load = in_units(q.OFFERED)
    curves = [(panel, curve) for panel in rows for curve in panel.curves]
    if not shown:
        raise ResultsError.saying(f"{choice.title}: no packet was delivered", "choose other points")
    width, columns = choice.appearance.layout(min(3, len(curves)))
    looks = {name: _look(number, len(shown)) for number, name in enumerate(shown)}
    handles = [Line2D([], [], label=f"{name} %", **look) for name, look in reversed(looks.items())]
    seeds = max(len(runs) for _, curve in curves for runs in curve.frame["points"])
    if seeds > 1:
        handles.append(Line2D([], [], linestyle="", label=f"means of the percentiles of {seeds} runs"))
    over = any(len(over_load.saturated(curve)) for _, curve in curves)
    crosses = over_load.cross_entries(over_load.steady(curve) for _, curve in curves)
    drawing = style.canvas(
        choice.title,
        [*handles, *style.entries({}, saturated=over), *crosses],
        width=width,
        height=2.2 * -(-len(curves) // columns),
    )
    panels = style.grid(drawing, len(curves), columns)
    for axes, (panel, curve) in zip(panels, curves, strict=True):
        axes.sharex(panels[0]) if axes is not panels[0] else None
        axes.sharey(panels[0]) if axes is not panels[0] else None
        axes.set_title("\n".join(word for word in (panel.title, curve.label) if word), loc="left")
        axes.set_xlabel(load.axis)
        axes.set_ylabel(f"{q.PACKET_LATENCY.label} [{next(iter(shown.values())).unit}]")
        axes.set_yscale("log")
        _bands(axes, curve, load, shown, looks)
    low, high = panels[0].get_ylim()
    panels[0].set_ylim(low, 1.3 * high)
    for axes, (_, curve) in zip(panels, curves, strict=True):
        loads = over_load.saturated(curve)[load.column]
        axes.plot(loads, [1.3 * high] * len(loads), **style.SATURATED_ON_EDGE)
    ends = [float(curve.frame[load.column].max()) for _, curve in curves]  # type: ignore[arg-type] # numbers
    panels[0].set_xlim(0, over_load.ROOM * (max(ends) or 1.0))
    style.plain_log(panels[0].yaxis)
    drawing.numbers = numbers.of_curves(rows, [load, *shown.values()])
    return drawing


def _look(number: int, of: int) -> dict[str, Any]:
    shade = _SHADES(0.15 + 0.85 * number / max(1, of - 1))
    return {"color": shade, "marker": style.MARKERS[number], "markersize": 3, "linewidth": 1}


def _bands(
    axes: Axes, curve: Curve, load: q.Quantity, shown: dict[str, q.Quantity], looks: dict[str, dict[str, Any]]
) -> None:
    frame = over_load.steady(curve).drop_nulls([quantity.column for quantity in shown.values()])
    for (_, lower), (name, upper) in pairwise(shown.items()):
        colour = looks[name]["color"]
        low, high = frame[lower.column], frame[upper.column]
        axes.fill_between(frame[load.column], low, high, color=colour, alpha=0.25, linewidth=0)
    for name, quantity in shown.items():
        axes.plot(frame[load.column], frame[quantity.column], label=f"{name} %", **looks[name])
        over_load.cross_out(axes, frame, load.column, quantity.column)
