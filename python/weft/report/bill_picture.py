"""Draws power over the hours of a day or a week as an SVG picture.

The text of the picture has the text colour of the page.
"""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.ticker import MultipleLocator

from weft.plot import style
from weft.plot.finish import wrapped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Colour of text in the picture that matplotlib writes. The colour is then replaced by the text colour of the page, and
# so is black.
_TEXT = "#010203"
_RC: dict[str, Any] = {
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), _TEXT),
    "grid.color": "#888888",
    "grid.alpha": 0.35,
}
# Sizes [inches]: width of a figure with several panels (coordinate systems), and with one panel; height of a row of
# panels. Then the maximum number of panels per row, and in total.
_WIDTH, _NARROW, _HEIGHT, _COLUMNS, _PANELS = 8.0, 5.5, 2.5, 2, 12
# Space [inches] next to a panel, and next to the labels of the legend.
_AROUND, _HANDLE = 0.9, 0.6
# The upper end of the power axis is the highest value times this factor.
_ROOM = 1.08
# Hours between two ticks of the time axis, by the length of the profile.
_TICKS = {"day": 3, "week": 24}


def svg(panels: Mapping[str, Mapping[str, Sequence[float]]], edges: Sequence[float], period: str) -> str:
    """Draws a picture of step curves.

    Parameters
    ----------
    panels : mapping of str to mapping of str to sequence of float
        Power [kW] in each part of the profile (a list of loads with their times), for each curve of each panel.
    edges : sequence of float
        Begin of each part of the profile, and end of the last part [h].
    period : str
        ``day`` or ``week``.

    Returns
    -------
    str
        The element ``svg``. The picture shows at most the first twelve panels; if there are more, its text says so.
    """
    shown = dict(list(panels.items())[:_PANELS])
    looks = style.looks([label for lines in shown.values() for label in lines])
    with mpl.rc_context(style.RC | _RC):  # type: ignore[arg-type] # the type accepts only literal keys
        rows = -(-len(shown) // _COLUMNS)
        columns = min(_COLUMNS, len(shown))
        width = _WIDTH if columns > 1 else _NARROW
        words = {label: _fitted(label, mpl.rcParams["legend.fontsize"], width - _HANDLE) for label in looks}
        heads = {title: _fitted(title, mpl.rcParams["axes.titlesize"], width / columns - _AROUND) for title in shown}
        legend = 0.3 + 0.18 * sum(map(_lines, words.values()))
        height = rows * (_HEIGHT + 0.16 * (max(map(_lines, heads.values())) - 1))
        figure = Figure(figsize=(width, height + legend), layout="constrained")
        for place, (title, lines) in enumerate(shown.items(), start=1):
            axes = figure.add_subplot(rows, columns, place)
            for label, powers in lines.items():
                axes.stairs(powers, edges, baseline=None, **looks[label].line)
            axes.set(xlim=(0, edges[-1]), xlabel="Hour", ylabel="Site power [kW]", title=heads[title])
            axes.set_ylim(0, _ROOM * max(power for powers in lines.values() for power in powers))
            axes.xaxis.set_major_locator(MultipleLocator(_TICKS[period]))
        handles = [Line2D([], [], label=words[label], **look.line) for label, look in looks.items()]
        left_out = f"The first {_PANELS} of {len(panels)} panels" if len(panels) > _PANELS else None
        figure.legend(handles=handles, loc="outside upper left", title=left_out, alignment="left")
        FigureCanvasSVG(figure)
        stream = StringIO()
        figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None})
    text = stream.getvalue()
    for colour in (_TEXT, "#000000"):
        text = text.replace(colour, "currentColor")
    across = f"width: {8 * figure.get_figwidth():g}rem; max-width: 100%; height: auto"
    element = f'<svg role="img" aria-label="power over the hours" style="{across}" '
    return text[text.index("<svg") :].replace("<svg ", element, 1)


def _fitted(text: str, size: float | str, room: float) -> str:
    """A string with line breaks, so that lines are at most `room` wide [inches] in a font size [points]."""
    return "\n".join(wrapped(text, FontProperties(size=size), room))


def _lines(text: str) -> int:
    return text.count("\n") + 1
