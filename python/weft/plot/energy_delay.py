"""Draws energy per bit over latency: the trade-off of link power management, and the best points at each load.

A ring marks a point if no other point that delivers the same load is at least as good in energy and latency and better
in one of them. A point without other points to compare has no ring. Saturated points are left out, because their
latency grows with the length of the run; the legend counts them. A cross (and no ring) marks a point whose run had not
settled: queues or link states were still changing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matplotlib.lines import Line2D
from matplotlib.textpath import TextPath

from weft.errors import ResultsError
from weft.plot import numbers, over_load, style
from weft.results import quantities as q
from weft.results import soundness

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice
    from weft.plot.style import Look
    from weft.results.curves import Panel

_RING: dict[str, Any] = {
    "marker": "o",
    "markersize": 9,
    "markerfacecolor": "none",
    "markeredgewidth": 0.8,
    "linestyle": "",
    "color": "#000000",
}
# Width and height of the space for the number of a load next to its point, as shares of the panel.
_ROOM = (0.15, 0.05)
# Look of the line from a number to its point. The line is drawn if the number is not next to the point.
_LEADER: dict[str, Any] = {"arrowstyle": "-", "color": "#777777", "linewidth": 0.4, "shrinkA": 0, "shrinkB": 2}
# Height of a line of numbers that are stacked [points].
_LINE = 7
_X, _Y = q.LATENCY.column, q.ENERGY.column


@dataclass(frozen=True)
class _Sound:
    """A point without flaws, which can be marked as best at a load (or at the loads of its phases)."""

    load: str | float
    latency: float
    energy: float
    accepted: float | None
    packets: float | None

    def is_best(self, points: Sequence[_Sound]) -> bool:
        """Whether other points deliver the same load, and none of them is better.

        A point is better if it is at least as good in energy and latency, and better in one of them.
        """
        equal = [other for other in points if other is not self and self._delivers_what(other)]
        ahead = [other for other in equal if other.latency <= self.latency and other.energy <= self.energy]
        return bool(equal) and all((other.latency, other.energy) == (self.latency, self.energy) for other in ahead)

    def _delivers_what(self, other: _Sound) -> bool:
        accepted, packets = (self.accepted, other.accepted), (self.packets, other.packets)
        return self.load == other.load and soundness.same_work(accepted, packets)


def figure(choice: Choice) -> Figure:
    """Draws energy over latency, with a panel per pattern.

    A curve connects the points in the order of load. At its first and last point, the figure has the load as a number.

    If no curve begins or ends at a load, the number of this load is written next to the first curve.
    """
    rows = [panel for panel in choice.panels() if any(over_load.steady(curve).height for curve in panel.curves)]
    if not rows:
        raise ResultsError.saying(f"{choice.title}: every point is saturated", "add lower loads to the sweep")
    looks = style.looks([curve.label for panel in rows for curve in panel.curves])
    ring = Line2D([], [], label="best at its load", **(_RING | {"markersize": 7}))
    number = Line2D(
        [],
        [],
        color="#000000",
        linestyle="",
        marker=TextPath((-10, -3.5), "0.1", size=10),
        markersize=12,
        markeredgewidth=0,
        label=q.SET_LOAD.axis,
    )
    if any(curve.changes for panel in rows for curve in panel.curves):
        number.set_label(over_load.LOADS_OF_PHASES)
    left_out = sum(over_load.saturated(curve).height for panel in choice.panels() for curve in panel.curves)
    crosses = over_load.cross_entries(over_load.steady(curve) for panel in rows for curve in panel.curves)
    width, columns = choice.appearance.layout(min(2, len(rows)))
    drawing = style.canvas(
        choice.title,
        [*style.entries(looks, saturated=False), *crosses, ring, number, *_note(left_out)],
        width=width,
        height=2.5 * -(-len(rows) // columns),
    )
    for axes, panel in zip(style.grid(drawing, len(rows), columns), rows, strict=True):
        _panel(axes, panel, looks)
    drawing.numbers = numbers.of_curves(rows, [q.OFFERED, q.LATENCY, q.ENERGY])
    return drawing


def _note(left_out: int) -> list[Artist]:
    """Legend entry that counts the points that the figure does not show."""
    if not left_out:
        return []
    words = f"{left_out} saturated {'point' if left_out == 1 else 'points'} not shown: the latency has no limit"
    return [Line2D([], [], linestyle="", label=words)]


def _panel(axes: Axes, panel: Panel, looks: dict[str, Look]) -> None:
    axes.set_title(panel.title, loc="left")
    axes.set_xlabel(q.LATENCY.axis)
    axes.set_ylabel(q.ENERGY.axis)
    axes.set_yscale("log")
    points: list[_Sound] = []
    ends: list[tuple[str | float, float, float]] = []
    between: list[tuple[str | float, float, float]] = []
    for curve in panel.curves:
        frame = over_load.steady(curve).drop_nulls([_X, _Y])
        look = looks[curve.label]
        axes.plot(frame[_X], frame[_Y], label=curve.label, **(look.full | look.line))
        over_load.cross_out(axes, frame, _X, _Y)
        sound = frame.filter(frame["flaw"] == "")
        numbers_of = (
            over_load.loads(sound),
            sound[_X],
            sound[_Y],
            _known(sound, q.ACCEPTED.column),
            _known(sound, "packets"),
        )
        points += map(_Sound, *numbers_of)
        loads = list(zip(over_load.loads(frame), frame[_X], frame[_Y], strict=True))
        ends += loads[:: max(1, len(loads) - 1)]
        between += loads[1:-1]
    style.plain_log(axes.yaxis)
    named = {load for load, _, _ in ends}
    once = {load: (load, x, y) for load, x, y in reversed(between) if load not in named}
    _write_loads(axes, [*ends, *once.values()])
    best = [point for point in points if point.is_best(points)]
    axes.plot([each.latency for each in best], [each.energy for each in best], label="_best", zorder=4, **_RING)


def _known(frame: pl.DataFrame, column: str) -> list[float | None]:
    """The values of a column; ``None`` for every row if the frame lacks the column."""
    return frame[column].to_list() if column in frame.columns else [None] * frame.height


def _write_loads(axes: Axes, ends: list[tuple[str | float, float, float]]) -> None:
    """Write the loads of points as numbers next to the points.

    Numbers that would overlap are stacked, and lines lead from them to their points.
    """
    across, up = _ROOM
    taken: list[tuple[float, float, str]] = []
    for load, x, y in ends:
        left, low = (axes.transScale + axes.transLimits).transform((x, y))
        words, lines = over_load.short(load), 0
        near = [(height, shown) for other, height, shown in taken if abs(left - other) <= across]
        if any(shown == words and abs(low - height) <= up for height, shown in near):
            continue
        while any(abs(low - lines * up - height) < up for height, _ in near):
            lines += 1
        taken.append((left, low - lines * up, words))
        place = (6, -lines * _LINE)
        led = _LEADER if lines else None
        axes.annotate(words, (x, y), xytext=place, textcoords="offset points", va="center", fontsize=6, arrowprops=led)
