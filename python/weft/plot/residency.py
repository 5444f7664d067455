"""Draws the share of time in each power state of links that a policy manages, as stacked bars over load."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from weft.errors import ResultsError
from weft.plot import numbers, over_load, style
from weft.results import link_modes
from weft.results import quantities as q
from weft.results.curves import Panel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice
    from weft.results.curves import Curve


# Sizes [inches]: space next to a panel; width of a digit of the numbers below it; width of a number that is written
# upright.
_BESIDE, _LETTER, _UPRIGHT = 0.7, 0.065, 0.13


def figure(choice: Choice) -> Figure:
    """Draws a panel per curve whose links left the state ``on`` at least once.

    At each load, the shares of all states add up to 100 %.
    """
    every = [(panel, curve) for panel in choice.panels() for curve in panel.curves]
    known = [(panel, curve) for panel, curve in every if curve.frame[_share("on")].null_count() < curve.frame.height]
    if not known:
        what = f"{choice.title}: the power policy manages no link"
        remedy = "set power.policy, e.g. {idle_timeout: {idle: 20cycles}}, and run the points again"
        raise ResultsError.saying(what, remedy)
    changed = [(panel, curve) for panel, curve in known if (curve.frame[_share("on")] < 1).any()]
    shown = changed or known
    every_look = style.state_looks(link_modes.of_all(choice.summaries))
    states = {state: look for state, look in every_look.items() if any(_ever_in(state, curve) for _, curve in shown)}
    width, columns = choice.appearance.layout(min(3, len(shown)))
    over = any(len(over_load.saturated(curve)) for _, curve in shown)
    drawing = style.canvas(
        choice.title,
        [
            *style.state_entries(states),
            *style.entries({}, saturated=over),
            *over_load.cross_entries(over_load.steady(curve) for _, curve in shown),
        ],
        width=width,
        height=2.1 * -(-len(shown) // columns),
    )
    for axes, (panel, curve) in zip(style.grid(drawing, len(shown), columns), shown, strict=True):
        words = [word for word in (panel.title, curve.label) if word]
        axes.set_title("\n".join(style.folded(word, width / columns) for word in words), loc="left")
        x = over_load.LOADS_OF_PHASES if curve.changes else q.SET_LOAD.axis
        axes.set_xlabel(x.replace(" [", "\n["))
        axes.set_ylabel("Share of time [%]")
        _stack(axes, curve, states, width / columns)
    shares = [q.Quantity(_share(state), state, "", state, 3) for state in states]
    drawn = [Panel(panel.title, [curve]) for panel, curve in shown]
    drawing.numbers = numbers.of_curves(drawn, [q.OFFERED, *shares])
    return drawing


def _ever_in(state: str, curve: Curve) -> bool:
    """Whether the links of a curve spend time in the power state `state`.

    The curve can lack the column, because the points of some scenarios do not have the state.
    """
    return _share(state) in curve.frame.columns and bool((curve.frame[_share(state)] > 0).any())


def _stack(axes: Axes, curve: Curve, states: Mapping[str, style.StateLook], width: float) -> None:
    """Draw the bars at equal distances, not at their loads, because some loads are often too close to each other.

    The panel is `width` inches wide. If the numbers of the loads do not fit side by side, they are written upright. If
    upright numbers do not fit, only every second or third bar has a number.
    """
    frame = curve.frame.drop_nulls(_share("on"))
    places, floor = range(frame.height), [0.0] * frame.height
    for state, look in states.items():
        known = frame[_share(state)].fill_null(0) if _share(state) in frame.columns else [0.0] * frame.height
        shares = [100 * share for share in known]
        axes.bar(places, shares, bottom=floor, width=0.9, label=state, **style.state_fill(look))
        floor = [below + share for below, share in zip(floor, shares, strict=True)]
    loads = [over_load.short(load, digits=4) for load in over_load.loads(frame)]
    room = max(0.5, width - _BESIDE)
    upright = sum(map(len, loads)) * _LETTER + len(loads) * _LETTER > room
    every = max(1, -(-len(loads) * _UPRIGHT // room)) if upright else 1
    shown = range(0, len(loads), int(every))
    axes.set_xticks(shown, [loads[place] for place in shown])
    axes.tick_params(axis="x", rotation=90 if upright else 0)
    axes.set_ylim(0, 100)
    over = [place for place, above in zip(places, frame["saturated"] | frame["stalled"], strict=True) if above]
    axes.plot(over, [100] * len(over), **style.SATURATED_ON_EDGE)
    edge = frame.with_columns(pl.Series("place", places, dtype=pl.Int64), pl.lit(100).alias("edge"))
    over_load.cross_out(axes, over_load.calm(edge), "place", "edge", on_edge=True)
    axes.grid(visible=False, axis="x")


def _share(state: str) -> str:
    return f"links_{state}_share"
