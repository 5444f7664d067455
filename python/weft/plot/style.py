"""Colours, markers, sizes and titles that all figures share.

Colour-blind readers can distinguish the colours (Okabe, Ito 2008).

Colour is never the only difference. Series also differ in marker and line, and power states in hatching. Saturated
points are hollow.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from io import BytesIO
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from weft.plot import sheet
from weft.plot.appearance import COLUMN, PAGE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

# Colour and hatching of a power state.
StateLook = tuple[str, str]

__all__ = ["COLUMN", "PAGE"]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
# No marker of a series is a cross, because a cross marks flawed points (`weft.plot.over_load`).
MARKERS = ("o", "s", "^", "D", "v", "P", "*")
LINES = ("-", "--", ":", "-.")
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "++++")
# Colour and hatching of the usual power states. All other states get the looks in `_OTHERS`, one after the other.
_OWN = {
    "on": ("#0072B2", ""),
    "shadow": ("#56B4E9", "...."),
    "draining": ("#E69F00", "////"),
    "waking": ("#D55E00", "xxxx"),
    "off": ("#DDDDDD", ""),
}
_OTHERS = [(colour, hatch) for hatch in ("----", "++++", "\\\\\\\\") for colour in ("#009E73", "#CC79A7", "#F0E442")]


def state_looks(states: Sequence[str]) -> dict[str, StateLook]:
    """Colour and hatching of each power state, in the order in which states are stacked: `off` is on top."""
    others = chain.from_iterable(repeat(_OTHERS))
    return {state: _OWN.get(state) or next(others) for state in sorted(states, key=lambda state: state == "off")}


GREY = "#777777"
# Colours from pale to dark. Readers can distinguish these colours even in black and white.
HEAT = "cividis_r"

# If the ratio of the ends of a logarithmic axis is smaller than this value, the ticks of the axis are round numbers
# instead of powers of ten.
_NARROW = 8
# Number of letters of the title of a panel that fit into an inch.
_LETTERS_PER_INCH = 15
# Line widths and marker sizes [points] if no style sheet sets them.
_LINE, _MARKER = 1.55, 4.5

RC: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "figure.titlesize": 8.5,
    "figure.titleweight": "bold",
    "legend.fontsize": 7,
    "legend.labelspacing": 0.25,
    "legend.handlelength": 2,
    "legend.handletextpad": 0.5,
    "legend.columnspacing": 1.2,
    "legend.borderaxespad": 0.2,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "hatch.linewidth": 0.5,
    "hatch.color": "#444444",
    "legend.frameon": False,
    "figure.dpi": 100,
    "savefig.dpi": 300,
    # How files store text: PDF files embed fonts; SVG files can't, so matplotlib draws their text as outlines.
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    # Users can choose names with a dollar sign. The dollar sign must not start a formula.
    "text.parse_math": False,
    # A fixed salt, so that the same figure gives the same file.
    "svg.hashsalt": "weft",
}

# Look of the line at a cycle in which the load changes, or in which a part fails or works again.
_CHANGE: dict[str, Any] = {"color": "#D55E00", "linewidth": 0.9, "linestyle": (0, (1, 1.5)), "zorder": 5}

# Look of error bars, which show half of a 95 % confidence interval on either side of a mean.
ERROR_BAR: dict[str, Any] = {"fmt": "none", "ecolor": "#222222", "elinewidth": 0.8, "capsize": 2, "capthick": 0.8}

# Look of the legend entry for the hollow markers of all series.
SATURATED: dict[str, Any] = {"color": "#555555", "marker": "o", "markerfacecolor": "white", "linestyle": ""}
# Look of a marker on the upper edge of a panel. The marker extends beyond the panel, and the layout ignores it.
SATURATED_ON_EDGE = SATURATED | {"label": "_saturated", "clip_on": False, "in_layout": False, "markersize": 4}


@dataclass(frozen=True)
class Plan:
    """Title, legend and size that a kind of figure has by default. `weft.plot.finish` applies them to the figure.

    Attributes
    ----------
    title : str
        Title of the figure, which names its subject.
    handles : list of Artist
        Entries of the legend.
    width, height : float
        Width of the figure, and height of its part below title and legend [inches].
    """

    title: str
    handles: list[Artist]
    width: float
    height: float


class Picture(Figure):
    """A matplotlib figure with its settings and its plotted numbers.

    A notebook displays the figure without further calls.

    Attributes
    ----------
    numbers : polars.DataFrame or None
        The data of the figure, with a row per point, bar or cell.
    plan : Plan
        Settings of the kind of figure.
    rc : dict
        Settings of matplotlib with which the figure is drawn.
    panels_chosen : bool
        True if the code that drew the figure has already left out the panels that `Appearance.panels` does not name.
    """

    def __init__(self, plan: Plan) -> None:
        super().__init__(figsize=(plan.width, plan.height), layout="constrained")
        self.plan = plan
        self.numbers: pl.DataFrame | None = None
        self.panels_chosen = False
        self.rc: Mapping[str, Any] = RC

    def savefig(self, fname: Any, **options: Any) -> None:
        """Write the figure to a file as matplotlib does, but with the settings in `rc`."""
        with sheet.applied(self.rc):
            FigureCanvasAgg(self)
            super().savefig(fname, **options)

    def _repr_png_(self) -> bytes:
        stream = BytesIO()
        self.savefig(stream, format="png", dpi=150)
        return stream.getvalue()


@dataclass(frozen=True)
class Look:
    """The look of a series (curve) in all panels, as arguments of matplotlib's ``plot``.

    Attributes
    ----------
    line, full, hollow : dict
        Looks of the line without markers, of the markers of points that are not saturated, and of those of saturated
        points.
    """

    line: dict[str, Any]
    full: dict[str, Any]
    hollow: dict[str, Any]

    @property
    def dense(self) -> dict[str, Any]:
        """Look of a line through very many points, in which only a few points have markers."""
        return self.full | self.line | {"markevery": 0.15, "markersize": 4}


def look(series: int, of: int) -> Look:
    """The look of the series (curve) with the index `series`, in a figure with `of` series.

    Each series has a different pair of colour and marker. When all pairs are used, the pairs are repeated with other
    dashes.

    Earlier series are drawn larger and below later series, so that all of several coinciding curves are visible.
    """
    colours, markers = sheet.cycle("color", COLOURS), sheet.cycle("marker", MARKERS)
    colour = colours[series % len(colours)]
    line = LINES[series // len(colours) % len(LINES)]
    above = 1 - series / max(1, of - 1) if of > 1 else 0.5
    marks = {
        "color": colour,
        "marker": markers[series % len(markers)],
        "markersize": (3 + 3 * above) * sheet.scale("lines.markersize", _MARKER),
        "linestyle": "",
    }
    return Look(
        line={
            "color": colour,
            "linestyle": line,
            "linewidth": (0.9 + 1.3 * above) * sheet.scale("lines.linewidth", _LINE),
        },
        full=marks,
        hollow=marks | {"markerfacecolor": "white"},
    )


def looks(labels: Sequence[str]) -> dict[str, Look]:
    """The look of the curve of each label. A label has the same look in all panels of a figure."""
    different = list(dict.fromkeys(labels))
    return {label: look(number, len(different)) for number, label in enumerate(different)}


def canvas(title: str, handles: Sequence[Artist], *, width: float, height: float) -> Picture:
    """Creates a figure without panels; `Plan` describes the parameters."""
    return Picture(Plan(title, list(handles), width, height))


class _PlainLog(LogLocator):
    """Ticks of a logarithmic axis at 1, 2 and 5 times the powers of ten.

    If there is little space, the ticks are only at powers of ten.
    """

    def __init__(self) -> None:
        super().__init__(subs=(1, 2, 5))

    def tick_values(self, vmin: float, vmax: float) -> Sequence[float]:
        ticks = super().tick_values(vmin, vmax)
        if len(ticks):
            return ticks
        powers = LogLocator()  # on a short axis matplotlib leaves out powers of ten, and would draw no ticks at 2 and 5
        powers.set_axis(self.axis)
        return powers.tick_values(vmin, vmax)


def plain_log(axis: Axis) -> None:
    """Write plain numbers at a logarithmic axis, even if it spans less than a decade.

    Call this function after everything is drawn, because it reads the ends of the axis.
    """
    low, high = axis.get_view_interval()
    axis.set_major_locator(_PlainLog() if high > _NARROW * low else MaxNLocator(6))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())


def grid(drawing: Figure, count: int, columns: int) -> list[Axes]:
    """Creates axes for `count` panels, with `columns` panels in a row."""
    rows = -(-count // columns)
    return [drawing.add_subplot(rows, columns, number) for number in range(1, count + 1)]


def folded(words: str, width: float) -> str:
    """A title with line breaks, so that it fits a panel of a given width [inches]."""
    return "\n".join(textwrap.wrap(words, max(10, int((width - 0.5) * _LETTERS_PER_INCH))))


def entries(looks: dict[str, Look], *, saturated: bool = True) -> list[Artist]:
    """Entries of the legend for series, and one for the hollow markers of saturated points."""
    handles: list[Artist] = [
        Line2D([], [], label=label, **(style.full | style.line)) for label, style in looks.items() if label
    ]
    return [*handles, Line2D([], [], label="saturated", **SATURATED)] if saturated else handles


def fill(series: int) -> dict[str, Any]:
    """Colour and hatching of the bars of a series, as arguments for matplotlib."""
    colours = sheet.cycle("color", COLOURS)
    return {"facecolor": colours[series % len(colours)], "hatch": HATCHES[series], "linewidth": 0}


def state_entries(looks: Mapping[str, StateLook]) -> list[Artist]:
    """Entries of the legend for power states."""
    return [Patch(label=state, **state_fill(look)) for state, look in looks.items()]


def state_fill(look: StateLook) -> dict[str, Any]:
    """Look of an area that shows a power state."""
    colour, hatch = look
    return {"facecolor": colour, "hatch": hatch, "linewidth": 0}


def mark_window(axes: Axes, warmup: float, window: float) -> None:
    """Draw lines on a time axis at the two ends of the measured window."""
    for cycle in (warmup, warmup + window):
        axes.axvline(cycle, color="#444444", linewidth=0.8, linestyle=(0, (4, 2)), zorder=5, label="_window")


def mark_changes(axes: Axes, cycles: Sequence[float]) -> None:
    """Draw a line at each cycle in which the scenario changes the load, or in which a part fails or works again."""
    for cycle in cycles:
        axes.axvline(cycle, label="_change", **_CHANGE)


def change_entry() -> Artist:
    """Entry of the legend for the lines of `mark_changes`."""
    return Line2D([], [], label="change of load, or fault or repair of links", **_CHANGE)


def window_entry() -> Artist:
    """Entry of the legend for the lines of `mark_window`."""
    return Line2D([], [], color="#444444", linewidth=0.8, linestyle=(0, (4, 2)), label="start and end of the window")
