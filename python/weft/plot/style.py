"""Colours, markers and sizes of all figures; colours are told apart by colour-blind eyes (Okabe and Ito 2008)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_LINES = ("-", "--", ":", "-.")

RC: dict[str, Any] = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.grid": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "figure.dpi": 100,
    "savefig.dpi": 160,
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
}

# The entry of the legend for the hollow markers of all series.
SATURATED: dict[str, Any] = {"color": "#555555", "marker": "o", "markerfacecolor": "white", "linestyle": ""}


@dataclass(frozen=True)
class Look:
    """How a series is drawn in every panel, as arguments of matplotlib's ``plot``.

    Attributes
    ----------
    line, full, hollow : dict
        The line without markers; the markers of steady points; those of saturated ones.
    """

    line: dict[str, Any]
    full: dict[str, Any]
    hollow: dict[str, Any]


def look(series: int, of: int) -> Look:
    """Look of series number `series` of `of`: colour and marker change together, then the line.

    Earlier series are drawn larger and below later ones, so that curves that coincide can all be seen.
    """
    colour = _COLOURS[series % len(_COLOURS)]
    line = _LINES[series // len(_COLOURS) % len(_LINES)]
    above = 1 - series / max(1, of - 1) if of > 1 else 0.5
    marks = {
        "color": colour,
        "marker": _MARKERS[series % len(_MARKERS)],
        "markersize": 3.5 + 3.5 * above,
        "linestyle": "",
    }
    return Look(
        line={"color": colour, "linestyle": line, "linewidth": 1.0 + 1.6 * above},
        full=marks,
        hollow=marks | {"markerfacecolor": "white"},
    )
