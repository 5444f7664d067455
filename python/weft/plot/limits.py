"""Sets the lower and upper ends of the axes of a figure."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import MaxNLocator

from weft.errors import WeftError
from weft.plot import style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

    from weft.plot.appearance import Appearance, Limits


# Width of a digit, including a part of the space between two numbers, as a multiple of the font size. Then points per
# inch.
_DIGIT = 0.85
_POINTS = 72


def limit(panels: Sequence[Axes], asked: Appearance) -> None:
    """Set the lower and upper ends of the axes to the requested values."""
    if asked.xlim is not None:
        _set_ends("--xlim", [axes.xaxis for axes in panels], asked.xlim)
    labels = list(dict.fromkeys(_plain(axes.yaxis) for axes in panels))
    for words, ends in asked.ylim.items():
        chosen = [axes.yaxis for axes in panels if words.lower() in _plain(axes.yaxis).lower()]
        if not chosen:
            raise WeftError.saying(f"--ylim: there is no vertical axis {words!r}", f"the axes are {'; '.join(labels)}")
        if not words and len(labels) > 1:
            example = f"--ylim '{labels[0].partition(' [')[0]}={_written(ends)}'"
            what = f"--ylim: the panels have different vertical axes: {'; '.join(labels)}"
            raise WeftError.saying(what, f"name one axis by words of its label: {example}")
        _set_ends("--ylim", chosen, ends)
    if asked.xlim is not None or asked.ylim:
        for axes in panels:
            _keep_on_edge(axes)


def _plain(axis: Axis) -> str:
    return axis.get_label_text().replace("\n", " ")


def _written(ends: Limits) -> str:
    return ",".join("" if end is None else f"{end:g}" for end in ends)


def _set_ends(option: str, several: Sequence[Axis], ends: Limits) -> None:
    """Set the ends of all axes that show the same quantity."""
    before = [sorted(axis.get_view_interval()) for axis in several]
    low, high = (-inf if ends[0] is None else ends[0]), (inf if ends[1] is None else ends[1])
    seen = min(old[0] for old in before), max(old[1] for old in before)
    if low >= seen[1] or high <= seen[0]:
        what = f"{option}: the figure has no data between {ends[0]} and {ends[1]}".replace("None", "its end")
        raise WeftError.saying(what, f"{_plain(several[0])} goes from {seen[0]:g} to {seen[1]:g}")
    for axis, (old_low, old_high) in zip(several, before, strict=True):
        logarithmic = axis.get_scale() == "log"
        if logarithmic and low <= 0 and ends[0] is not None:
            what = f"{option}: {_plain(axis)} is logarithmic, so its lower end can't be {low:g}"
            upper = high if ends[1] is not None else old_high
            raise WeftError.saying(what, f"write a lower end above 0, or none: {option} ,{upper:g}")
        new = old_low if ends[0] is None else low, old_high if ends[1] is None else high
        if new[0] >= new[1]:
            what = f"{option}: the upper end of the axis, {new[1]:g}, is not above its lower end {new[0]:g}"
            raise WeftError.saying(what, f"give both ends: {option} LOW,HIGH")
        _apply(axis, new)
        if logarithmic:
            style.plain_log(axis)


def _apply(axis: Axis, ends: tuple[float, float]) -> None:
    """Set the two ends of an axis. If the numbers of the axis descend, the ends are set in reverse order."""
    first, last = reversed(ends) if axis.get_inverted() else ends
    set_ends = axis.axes.set_xlim if axis is axis.axes.xaxis else axis.axes.set_ylim
    set_ends(first, last)


def thin_out(axes: Axes, width: float) -> None:
    """Draw fewer ticks on the horizontal axis if long numbers would touch each other.

    Numbers are long if an axis shows only a short part of a long run, such as cycles 1,000,000 to 1,000,500.

    Parameters
    ----------
    axes : Axes
        The panel.
    width : float
        Width of the figure [inches].
    """
    if axes.get_xscale() != "linear":
        return
    low, high = sorted(axes.get_xlim())
    ticks = [tick for tick in axes.get_xticks() if low <= tick <= high]
    size = float(axes.xaxis.get_major_ticks()[0].label1.get_fontsize())
    number = max((len(f"{tick:.12g}") for tick in ticks), default=1) * _DIGIT * size
    if (most := int(axes.get_position().width * width * _POINTS / number)) < len(ticks):
        axes.xaxis.set_major_locator(MaxNLocator(max(1, most)))


def _keep_on_edge(axes: Axes) -> None:
    """Move markers of saturated points to the new upper edge of the panel, and remove markers outside the panel."""
    left, right = sorted(axes.get_xlim())
    for line in axes.lines:
        if str(line.get_label()).startswith("_saturated") and not line.get_clip_on():
            x = np.asarray(line.get_xdata(), dtype=float)
            x = x[(x >= left) & (x <= right)]
            line.set_data(x, np.full(len(x), axes.get_ylim()[1]))
