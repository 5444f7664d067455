"""Draws Fig. 6 and judges its claims: latency by the time of sending, around a change of the traffic pattern.

PB is piggybacking, which is adaptive at the source. OFAR is adaptive at every router.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from weft.plot import numbers, style
from weft.results import quantities as q
from weft.results.response import OFF, merged
from weft_papers.common import line_figures
from weft_papers.common.line_figures import Series
from weft_papers.common.measured import LackingError
from weft_papers.common.questions import of
from weft_papers.common.rules import Part, trend
from weft_papers.ofar import readings
from weft_papers.ofar.routings_run import OFAR, OFAR_L, PB, UNIFORM
from weft_papers.ofar.scale import scaled
from weft_papers.ofar.steady import LOOKS

if TYPE_CHECKING:
    from collections.abc import Callable

    from weft.plot.style import Picture as Drawing
    from weft.results.response import Response
    from weft_papers.common.measured import Measured
    from weft_papers.common.rules import Rule

TRANSIENTS = "transients"
MECHANISMS = (PB, OFAR, OFAR_L)
# Times that Fig. 6 shows before and after the change of the pattern [cycles].
_BEFORE, _AFTER = 400, 2500
# Limits of the time that a routing needs to adapt [cycles]: one and two round trips of credits over a global link.
_AT_ONCE, _FAST = 200, 400
# A routing "needs a period" to adapt if it takes at least this multiple of the time of another routing.
_PERIOD = 2.0
_TIME = "Time of sending after the change [cycles]"
_HEIGHT = 2.2


def response(measured: Measured, mechanism: str, before: str, to_adversarial: bool) -> Response:
    """Return a routing's latency before and after a change from the pattern `before`: means over packets of all seeds.

    Raises
    ------
    LackingError
        If no run has this change of the pattern.
    """
    points = _points(measured, before, to_adversarial)
    points = of(points, mechanism)
    bins = points.select("change_cycle", "sent_cycle", packets="sent_packets", latency="sent_latency")
    bins = bins.explode("sent_cycle", "packets", "latency")
    bins = bins.with_columns((pl.col("sent_cycle") - pl.col("change_cycle")).alias("time"))
    return merged(bins, -_BEFORE, _AFTER)


def _points(measured: Measured, before: str, to_adversarial: bool) -> pl.DataFrame:
    is_adversarial = pl.col("then") != UNIFORM
    found = measured[TRANSIENTS].filter((pl.col("pattern") == before) & (is_adversarial == to_adversarial))
    if found.is_empty():
        raise LackingError(f"no change from {before} was run")
    return found


def figure(title: str, before: str, *, to_adversarial: bool) -> Callable[[Measured], Drawing]:
    """Make the function that draws latency over time of sending, with a curve for each routing."""
    return partial(_drawn, title, before, to_adversarial)


def _drawn(title: str, before: str, to_adversarial: bool, measured: Measured) -> Drawing:
    points = _points(measured, before, to_adversarial)
    shown = [name for name in MECHANISMS if (points["mechanism"] == name).any()]
    known = style.looks(LOOKS)
    series = []
    for name in shown:
        found = response(measured, name, before, to_adversarial)
        series.append(Series(name, found.times, found.latencies))
    change = f"{points['pattern'][0]} to {points['then'][0]}, load {points['load'][0]:.2g} (h = {points['h'][0]})"
    entries = line_figures.legend(series, known)
    drawing = style.canvas(f"{title}: {change}", entries, width=style.COLUMN, height=_HEIGHT)
    axes = drawing.add_subplot()
    for each in series:
        look = known[each.label].dense | {"marker": "", "linewidth": 1.2}
        axes.plot(each.x, each.y, label=each.label, **look)
    axes.axvline(0, color=style.GREY, linewidth=0.8, label="_change")
    axes.set_xlim(-_BEFORE, _AFTER)
    axes.set_ylim(bottom=0)
    axes.set_xlabel(_TIME)
    axes.set_ylabel(q.LATENCY.axis)
    drawing.numbers = numbers.of_series(
        (each.label, pl.DataFrame({_TIME: each.x, q.LATENCY.axis: each.y})) for each in series
    )
    return drawing


def _sentence(name: str, found: Response) -> str:
    return f"{name} after {found.adapted:.0f} cycles (peak {found.peak:.0f}, at the end {found.final:.0f} cycles)"


def _ofar_first(before: str) -> Callable[[Measured], list[Part]]:
    """Return the judge of a claim: OFAR must adapt almost at once, and PB must need a period.

    "Almost at once" means within `_AT_ONCE` cycles. "A period" means more than `_AT_ONCE` cycles, and at least
    `_PERIOD` times as long as OFAR needs.
    """

    def answer(measured: Measured) -> list[Part]:
        ours, theirs = (response(measured, name, before, True) for name in (OFAR, PB))
        is_slow = theirs.adapted > _AT_ONCE and theirs.adapted >= _PERIOD * ours.adapted
        return [Part(ours.adapted <= _AT_ONCE, _sentence(OFAR, ours)), Part(is_slow, _sentence(PB, theirs))]

    return answer


def _all_fast(before: str) -> Callable[[Measured], list[Part]]:
    def answer(measured: Measured) -> list[Part]:
        found = {name: response(measured, name, before, False) for name in MECHANISMS}
        return [Part(each.adapted <= _FAST, _sentence(name, each)) for name, each in found.items()]

    return answer


_FIRST = (
    f"OFAR's latency stays within {100 * OFF:g} % of its final value after {_AT_ONCE} cycles or less; PB's latency "
    f"later, and after at least {_PERIOD:g} times as long as OFAR's"
)
_ALL = f"latencies stay within {100 * OFF:g} % of their final values after {_FAST} cycles or less"
_NO_PERIOD = (
    "PB's latency is at once near its new mean, and oscillates around it; the same holds in the authors' public "
    "simulator (h = 3, loads 0.14 and 0.12)"
)
LATE = trend(_FIRST, _ofar_first("ADV+2"), TRANSIENTS, cause=_NO_PERIOD)
RULES: dict[str, Rule] = {
    "O-021": scaled(trend(_FIRST, _ofar_first(UNIFORM), TRANSIENTS, cause=_NO_PERIOD)),
    "O-022": scaled(trend(_ALL, _all_fast("ADV+2"), TRANSIENTS)),
    "O-023": readings.read(LATE, scaled(LATE)),
}
