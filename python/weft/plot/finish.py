"""Finishes a drawn figure: applies the words, axis limits, title, legend and size that the user requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import rcParams
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from weft.errors import WeftError
from weft.plot import direct, limits, relabel
from weft.plot.appearance import LEGENDS, Appearance
from weft.plot.style import Picture
from weft.text.columns import folded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# If a legend occupies more than this share of the figure, its font is made smaller, but not smaller than this size
# [points].
_SHARE, _SMALL = 1 / 3, 5.5
# Maximum share of the width of the figure for a legend next to the panels.
_BESIDE = 0.4
# Maximum height of all panels together, and minimum height of a panel if this maximum limits it [inches]. A panel is a
# pair of axes with its curves.
_PAGE, _LOW = 8.5, 1.2
# Maximum share of the width of a panel for the names next to its bars, and maximum number of lines of each name.
_BESIDE_ROWS, _LINES = 0.3, 2
# Space next to a panel for the numbers and the label of a second axis in other units [inches].
_AROUND = 0.5


def finish(drawing: Figure, appearance: Appearance | None = None) -> None:
    """Finish a figure.

    Raises
    ------
    WeftError
        If the figure lacks requested labels, axes or curves, or points between the requested limits.
    """
    assert isinstance(drawing, Picture), "made by weft.plot.style.canvas"
    asked = appearance or Appearance()
    panels = [axes for axes in drawing.axes if axes.get_label() != "<colorbar>"]
    handles = [handle for handle in drawing.plan.handles if str(handle.get_label())]
    relabel.check_order(asked, relabel.all_words(panels, handles))
    title = relabel.rename(drawing, panels, handles, asked)
    handles.sort(key=lambda handle: asked.rank(str(handle.get_label())))
    limits.limit(panels, asked)
    title = title if asked.title is None else asked.title
    width = asked.width or _sheet_size(drawing)[0] or drawing.plan.width
    if asked.legend == "direct":
        handles = _direct(panels, handles, asked.height or drawing.plan.height)
    head = _head(drawing, title, [] if asked.legend in ("inside", "none") else handles, width, asked.legend)
    height = asked.height or _sheet_size(drawing)[1] or _on_a_page(drawing.plan.height, panels) + head
    drawing.set_size_inches(width, height)
    if asked.xlim is not None:
        for axes in panels:
            limits.thin_out(axes, width)
    if asked.legend == "inside" and handles:
        _inside(panels, handles)
    _fit_names(panels, width)
    _fit_labels(drawing, panels, width, height - head)


def _on_a_page(height: float, panels: Sequence[Axes]) -> float:
    """Height of all panels [inches].

    The result is less than `height` if panels of the usual height would not fit on a page one below the other.
    """
    rows = [place.get_gridspec().get_geometry()[0] for axes in panels if (place := axes.get_subplotspec()) is not None]
    return min(height, max(_PAGE, _LOW * max(rows, default=1)))


def _sheet_size(drawing: Picture) -> tuple[float | None, float | None]:
    """Width and height of a figure that the style sheet sets [inches]; ``None`` if the sheet does not set them."""
    size = drawing.rc.get("figure.figsize")
    return (None, None) if size is None else (float(size[0]), float(size[1]))


def _direct(panels: Sequence[Axes], handles: list[Artist], height: float) -> list[Artist]:
    """Write the labels of curves next to their ends, and return the entries that the legend still needs."""
    words = {str(handle.get_label()) for handle in handles}
    written = direct.write(panels, words, height)
    if not written:
        raise WeftError.saying(
            "--legend direct: the figure has no curves for direct labels",
            f"choose {', '.join(each for each in LEGENDS if each != 'direct')}",
        )
    return [handle for handle in handles if str(handle.get_label()) not in written]


def _head(drawing: Picture, title: str, handles: Sequence[Artist], width: float, place: str) -> float:
    """Write the title and the legend outside the panels, and return their height [inches]."""
    bold = FontProperties(weight=rcParams["figure.titleweight"], size=rcParams["figure.titlesize"])
    room = width * (_BESIDE if place == "right" else 1) - 0.15
    size, columns, labels, across, height = _fitted(handles, room, drawing.plan.height, alone=place == "right")
    beside = across if place == "right" and handles else 0.0
    lines = [part for line in title.splitlines() for part in wrapped(line, bold, width - beside - 0.1)]
    top = handles if place in ("above", "direct") else []
    words: dict[str, Any] = {"title": "\n".join(lines), "title_fontproperties": bold, "alignment": "left"}
    taken = len(lines) * bold.get_size_in_points() * 1.25 / 72
    if lines and not top:
        drawing.legend(handles=[], loc="outside upper left", **words)
    if not handles:
        return taken + 0.06 if lines else 0.0
    loc = {"right": "outside right upper", "below": "outside lower center"}.get(place, "outside upper left")
    options: dict[str, Any] = {"loc": loc, "ncols": columns, "fontsize": size, **(words if top and lines else {})}
    drawing.legend(handles=list(handles), labels=labels, **options)
    return taken + (0 if beside else height) + 0.1


def _fitted(
    handles: Sequence[Artist], room: float, panels: float, *, alone: bool
) -> tuple[float, int, list[str], float, float]:
    """Font size [points], columns, labels, width and height [inches] of a legend that is at most `room` wide."""
    if not handles:
        return 0.0, 1, [], 0.0, 0.0
    size = FontProperties(size=rcParams["legend.fontsize"]).get_size_in_points()
    while True:
        font = FontProperties(size=size)
        handle = (rcParams["legend.handlelength"] + rcParams["legend.handletextpad"] + 0.4) * size / 72
        labels = ["\n".join(wrapped(str(each.get_label()), font, room - handle)) for each in handles]
        widths = [_width(label, font) + handle for label in labels]
        gap = rcParams["legend.columnspacing"] * size / 72
        columns = 1 if alone else _columns(widths, room, gap)
        rows = np.array_split([label.count("\n") + 1 for label in labels], columns)
        spacing = 1.2 + rcParams["legend.labelspacing"]
        height = max(int(column.sum()) for column in rows) * spacing * size / 72
        if size - 0.5 < _SMALL or height <= _SHARE / (1 - _SHARE) * panels:
            return size, columns, labels, max(widths) + 0.1, height
        size -= 0.5


def _columns(widths: Sequence[float], room: float, gap: float) -> int:
    """The maximum number of columns of the legend that fit. Matplotlib fills the columns one after the other."""
    for count in range(len(widths), 1, -1):
        if sum(max(part) for part in np.array_split(widths, count)) + (count - 1) * gap <= room:
            return count
    return 1


def _width(text: str, font: FontProperties) -> float:
    """Width of a string [inches]."""
    lines = text.splitlines() or [""]
    return float(max(text_to_path.get_text_width_height_descent(line, font, ismath=False)[0] for line in lines)) / 72


def wrapped(text: str, font: FontProperties, room: float, *, whole: bool = False) -> list[str]:
    """Breaks a string into lines that are, if possible, at most `room` wide [inches].

    Lines are broken at spaces and behind slashes. A word that is too long is also broken, unless `whole` is set.
    """
    letters = len(text)
    lines = [text]
    while letters > 8 and max(_width(line, font) for line in lines) > room:
        letters = min(letters - 1, int(letters * max(0.5, room / max(_width(line, font) for line in lines))))
        lines = folded(text, max(8, letters), hyphens=not whole, cut_words=letters < 20 and not whole)
    return lines


def _inside(panels: Sequence[Axes], handles: Sequence[Artist]) -> None:
    """Put the legend inside the first panel, at the place with the most room."""
    size = FontProperties(size=rcParams["legend.fontsize"]).get_size_in_points() - 0.5
    options: dict[str, Any] = {"frameon": True, "framealpha": 0.8, "edgecolor": "none", "borderpad": 0.2}
    panels[0].legend(handles=list(handles), loc="best", fontsize=size, **options)


def _fit_names(panels: Sequence[Axes], width: float) -> None:
    """Break and shorten the names of bars next to a panel, so that they take only a part of its width.

    The legend has the names in full length.
    """
    for axes in panels:
        place = axes.get_subplotspec()
        room = _BESIDE_ROWS * width / (1 if place is None else place.get_gridspec().get_geometry()[1])
        font = FontProperties(size=rcParams["ytick.labelsize"])
        for axis, words in relabel.named_axes(axes):
            if axis is axes.yaxis and any(_width(word, font) > room for word in words):
                small = FontProperties(size=_SMALL)
                axis.set_ticks(axis.get_majorticklocs(), [_shortened(word, small, room) for word in words])
                axis.set_tick_params(labelsize=_SMALL)


def _shortened(text: str, font: FontProperties, room: float) -> str:
    """Shortens a string to few lines of at most `room` [inches]; an ellipsis replaces omitted words in its middle.

    The middle is omitted, because the beginnings and ends of names distinguish them.
    """
    lines = wrapped(text, font, room)
    if len(lines) <= _LINES and all(_width(line, font) <= room for line in lines):
        return "\n".join(lines)
    count = len(text)
    while True:
        count -= 1
        begin, end = text[: count - count // 2], text[len(text) - count // 2 :]
        lines = [f"{begin.rstrip()} \N{HORIZONTAL ELLIPSIS}", end.lstrip()]
        if count < 8 or max(_width(line, font) for line in lines) <= room:
            return "\n".join(lines)


def _fit_labels(drawing: Picture, panels: Sequence[Axes], width: float, height: float) -> None:
    """Break axis labels that are longer than their panel."""
    for axes in drawing.axes:
        place = axes.get_subplotspec()
        rows, columns = (1, 1) if place is None or axes not in panels else place.get_gridspec().get_geometry()
        for axis, room in ((axes.xaxis, width / columns), (axes.yaxis, height / rows)):
            words, font = axis.get_label_text(), axis.label.get_fontproperties()
            if _width(words, font) > room - _AROUND:
                parts = words.replace(" [", "\n[").splitlines()
                lines = [line for part in parts for line in wrapped(part, font, room - _AROUND, whole=True)]
                axis.set_label_text("\n".join(lines))
