"""Power over the hours of a day or a week, as SVG that takes the colour of its text from the page."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MultipleLocator

from weft.plot import style

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# A colour that stands for that of the text of the page; the black of a series becomes it, too.
_TEXT = "#010203"
_RC: dict[str, Any] = {
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), _TEXT),
    "grid.color": "#888888",
    "grid.alpha": 0.35,
}
# Inches: width of the figure, height of a row of panels; and panels side by side, and in all.
_WIDTH, _HEIGHT, _COLUMNS, _PANELS = 8.0, 2.5, 2, 12
# The axis of power ends so far above the highest.
_ROOM = 1.08
# Hours between ticks.
_TICKS = {"day": 3, "week": 24}


def svg(panels: Mapping[str, Mapping[str, Sequence[float]]], edges: Sequence[float], period: str) -> str:
    """A figure with steps.

    Parameters
    ----------
    panels : mapping of str to mapping of str to sequence of float
        Power of each line of each panel in the parts of the profile [kW].
    edges : sequence of float
        Where the parts begin, and the end of the last one [h].
    period : str
        ``day`` or ``week``.

    Returns
    -------
    str
        The element ``svg``. Of more than twelve panels it shows the first twelve, and says so.
    """
    shown = dict(list(panels.items())[:_PANELS])
    looks = style.looks([label for lines in shown.values() for label in lines])
    with mpl.rc_context(style.RC | _RC):  # type: ignore[arg-type] # its keys are a closed list of literals
        rows = -(-len(shown) // _COLUMNS)
        columns = min(_COLUMNS, len(shown))
        legend = 0.3 + 0.18 * len(looks)
        figure = Figure(figsize=(_WIDTH if columns > 1 else 5.5, _HEIGHT * rows + legend), layout="constrained")
        for place, (title, lines) in enumerate(shown.items(), start=1):
            axes = figure.add_subplot(rows, columns, place)
            for label, powers in lines.items():
                axes.stairs(powers, edges, baseline=None, **looks[label].line)
            axes.set(xlim=(0, edges[-1]), xlabel="Hour", ylabel="Site power [kW]", title=title)
            axes.set_ylim(0, _ROOM * max(power for powers in lines.values() for power in powers))
            axes.xaxis.set_major_locator(MultipleLocator(_TICKS[period]))
        handles = [Line2D([], [], label=label, **look.line) for label, look in looks.items()]
        left_out = f"The first {_PANELS} of {len(panels)} panels" if len(panels) > _PANELS else None
        figure.legend(handles=handles, loc="outside upper left", title=left_out, alignment="left")
        FigureCanvasSVG(figure)
        stream = StringIO()
        figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None})
    text = stream.getvalue()
    for colour in (_TEXT, "#000000"):
        text = text.replace(colour, "currentColor")
    width = f"width: {8 * figure.get_figwidth():g}rem; max-width: 100%; height: auto"
    words = f'<svg role="img" aria-label="power over the hours" style="{width}" '
    return text[text.index("<svg") :].replace("<svg ", words, 1)
