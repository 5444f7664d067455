"""Writes the labels of curves next to a panel of a figure, each at the height at which its curve ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib import rcParams
from matplotlib.font_manager import FontProperties

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

# Horizontal position of the labels, as a share of the width of a panel.
_BESIDE = 1.03
# Height of a line of text as a multiple of the font size; share of the figure's height that panels occupy.
_LINE, _PANELS = 1.15, 0.75


def write(panels: Sequence[Axes], words: Collection[str], height: float) -> set[str]:
    """Label the curves of the last panel of each row, with a thin line from each label to the end of its curve.

    Parameters
    ----------
    panels : sequence of Axes
        Panels of the figure, whose axis limits must be final.
    words : collection of str
        Labels that the function is allowed to write.
    height : float
        Height of the figure [inches].

    Returns
    -------
    set of str
        The labels that were written.
    """
    written: set[str] = set()
    size = FontProperties(size=rcParams["legend.fontsize"]).get_size_in_points()
    for axes in panels:
        place = axes.get_subplotspec()
        rows = 1 if place is None else place.get_gridspec().get_geometry()[0]
        if place is not None and not place.is_last_col() and axes is not panels[-1]:
            continue
        curves = {str(line.get_label()): line for line in axes.lines if str(line.get_label()) in words}
        ends = {label: end for label, line in curves.items() if (end := _end(axes, line)) is not None}
        step = _LINE * size / 72 / (_PANELS * height / rows)
        levels = _apart([end[1] for end in ends.values()], step)
        for (label, end), level in zip(ends.items(), levels, strict=True):
            colour = curves[label].get_color()
            axes.annotate(
                label,
                end,
                xytext=(_BESIDE, level),
                xycoords="axes fraction",
                textcoords="axes fraction",
                color=colour,
                fontsize=size,
                va="center",
                annotation_clip=False,
                arrowprops={
                    "arrowstyle": "-",
                    "linestyle": ":",
                    "color": colour,
                    "linewidth": 0.6,
                    "shrinkA": 0,
                    "shrinkB": 2,
                },
            )
        written |= ends.keys()
    return written


def _end(axes: Axes, line: Line2D) -> tuple[float, float] | None:
    """Position of the end of a curve, as shares of the panel's size; ``None`` if the curve is not visible."""
    points = np.column_stack([np.asarray(each, dtype=float) for each in (line.get_xdata(), line.get_ydata())])
    points = points[np.isfinite(points).all(axis=1)]
    if not len(points):
        return None
    places = (axes.transScale + axes.transLimits).transform(points)
    seen = np.flatnonzero(((places >= -0.001) & (places <= 1.001)).all(axis=1))
    if not len(seen):
        return None
    end = places[seen[-1]]
    if seen[-1] + 1 < len(places):  # the curve continues beyond the panel, so its label is at the panel's edge
        step = places[seen[-1] + 1] - end
        beyond = np.where(step > 0, 1.0, 0.0) - end
        with np.errstate(divide="ignore", invalid="ignore"):
            end = end + step * np.nanmin(np.where(step == 0, np.nan, beyond / step))
    return float(end[0]), float(end[1])


def _apart(levels: Sequence[float], step: float) -> list[float]:
    """Heights of labels, at least `step` apart and as near as possible to the wanted heights, in their order."""
    order = np.argsort(levels, kind="stable")
    # labels that would overlap form a group around the mean of their wanted heights
    groups: list[list[float]] = []
    for place in order:
        groups.append([levels[place]])
        while (
            len(groups) > 1
            and _middle(groups[-1]) - _middle(groups[-2]) < step * (len(groups[-1]) + len(groups[-2])) / 2
        ):
            last = groups.pop()
            groups[-1] += last
    placed = [_middle(group) + step * (n - (len(group) - 1) / 2) for group in groups for n in range(len(group))]
    result = [0.0] * len(levels)
    for place, level in zip(order, placed, strict=True):
        result[place] = level
    return result


def _middle(group: Sequence[float]) -> float:
    return sum(group) / len(group)
