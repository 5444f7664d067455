"""Draws latency and accepted load of several results in the same panels, with 95 % confidence bands.

If a sweep has several seeds, the band is computed from the results of the seeds. Otherwise only latency has a band,
which is computed from the mean latencies in several parts of the window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.patches import Patch

from weft.plot import load, numbers, over_load, style
from weft.results import quantities as q

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice
    from weft.plot.style import Look
    from weft.results.curves import Panel
    from weft.results.quantities import Quantity

_PALE = 0.25


def figure(choice: Choice) -> Figure:
    """Draws latency and accepted load, with a row of panels per pattern."""
    diagonal = load.accepted().extra
    shown_load = choice.appearance.shown(q.OFFERED)

    def latency(axes: Axes, panel: Panel, looks: dict[str, Look]) -> None:
        _bands(axes, panel, looks, choice.appearance.shown(q.LATENCY), shown_load)

    def accepted(axes: Axes, panel: Panel, looks: dict[str, Look]) -> None:
        assert diagonal
        diagonal(axes, panel, looks)
        _bands(axes, panel, looks, choice.appearance.shown(q.ACCEPTED), shown_load)

    views = [
        over_load.View(q.LATENCY, extra=latency, spread=True),
        over_load.View(q.ACCEPTED, extra=accepted, spread=True),
    ]
    band = Patch(facecolor=style.GREY, alpha=_PALE, label="95 % confidence of the mean")
    return over_load.figure(choice, views, handles=[band])


def _bands(axes: Axes, panel: Panel, looks: dict[str, Look], quantity: Quantity, over: Quantity) -> None:
    for curve in panel.curves:
        frame = curve.frame.with_columns(curve.half_width(quantity).alias("half"))
        if quantity in numbers.LATENCIES:
            frame = frame.join(over_load.steady(curve).select("load"), on="load", how="semi")
        frame = frame.drop_nulls(["half", quantity.column])
        low, high = (frame[quantity.column] + sign * frame["half"] for sign in (-1, 1))
        colour = looks[curve.label].line["color"]
        axes.fill_between(
            frame[over.column], low, high, color=colour, alpha=_PALE, linewidth=0, label=f"_band {curve.label}"
        )
