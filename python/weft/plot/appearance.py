"""The requested appearance of a figure: size, labels, legend, order, limits of axes, style sheet.

`Appearance.of` reads the values from the command line or from Python, and refuses invalid ones. `weft.plot.finish`
applies the appearance to the figure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeVar

from weft.errors import WeftError
from weft.results import si_units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from weft.results.quantities import Quantity

    # Lower and upper end of an axis; an end that is ``None`` is not changed.
    Limits = tuple[float | None, float | None]
    AskedLimits = str | Sequence[float | None]

Row = TypeVar("Row")
View = TypeVar("View")

# Widths of figures [inches]: a column of a two-column paper, and the whole page.
COLUMN, PAGE = 3.5, 7.16
WIDTHS = {"column": COLUMN, "page": PAGE}
LEGENDS = ("above", "inside", "right", "below", "direct", "none")
# Inches per unit of length, for lengths that users write with a unit. The unit pt is the point of TeX, because TeX
# prints \columnwidth in it.
_UNITS = {"": 1.0, "in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72.27}
# Limits in inches: smallest and greatest width or height of a figure, and smallest width of a panel if a row has
# several panels.
_LEAST, _GREATEST = 1.0, 60.0
_PANEL = 2.2


@dataclass(frozen=True)
class Appearance:
    """Requested appearance of a figure.

    If a value is left at its default, the kind of figure determines this property.

    Attributes
    ----------
    width, height : float or None
        Size of the whole figure [inches].
    labels : dict
        New words for the legend and for the titles of panels and axes. The keys are the words that they replace.
    title : str or None
        Title of the figure. Empty: no title. ``None``: the default title of the kind.
    legend : str
        One of `LEGENDS`.
    order : tuple of str
        Labels that come first, in this order.
    xlim : tuple or None
        Lower and upper end of the horizontal axes. An end that is ``None`` is not changed.
    ylim : dict
        Lower and upper end of vertical axes, by words of the label of the axis. The key ``""`` selects all axes.
    style : str or None
        File of a matplotlib style sheet.
    panels : tuple of str
        Words that identify the panels to draw, in this order; empty for all panels.
    units : str or None
        ``cycles``: cycles and flits, as the simulator counts; ``si``: microseconds and Gb/s; ``None``: the default of
        `si_units`.
    """

    width: float | None = None
    height: float | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    title: str | None = None
    legend: str = LEGENDS[0]
    order: tuple[str, ...] = ()
    xlim: Limits | None = None
    ylim: Mapping[str, Limits] = field(default_factory=dict)
    style: str | None = None
    panels: tuple[str, ...] = ()
    units: str | None = None

    @classmethod
    def of(
        cls,
        *,
        width: str | float | None = None,
        height: str | float | None = None,
        labels: Mapping[str, str] | Iterable[str] | None = None,
        title: str | bool | None = None,
        legend: str | None = None,
        order: str | Iterable[str] | None = None,
        xlim: AskedLimits | None = None,
        ylim: AskedLimits | Mapping[str, AskedLimits] | Iterable[str] | None = None,
        style: str | Path | None = None,
        panels: str | Iterable[str] | None = None,
        units: str | None = None,
    ) -> Appearance:
        """Read the requested appearance.

        Parameters
        ----------
        width : str or float, optional
            Width of the figure: ``"column"`` (3.5 in), ``"page"`` (7.16 in), or a length [inches], also as ``"88mm"``.
        height : str or float, optional
            Height of the figure [inches].
        labels : dict or list of str, optional
            Words to replace, with their new words: ``{"ugal_p": "UGAL"}`` or ``["ugal_p=UGAL"]``.
        title : str or bool, optional
            Title of the figure; ``False`` or an empty string for no title.
        legend : str, optional
            ``above`` (default), ``inside``, ``right``, ``below``, ``direct`` (labels at the ends of the curves) or
            ``none``.
        order : str or list of str, optional
            Labels of curves, points or panels that come first, in this order; they get the first colours.
        xlim, ylim : tuple or str, optional
            Lower and upper end of the axes: ``(0, 0.5)`` or ``"0,0.5"``. An end that is ``None`` or empty is not
            changed. `ylim` can also have different ends for axes, by words of their labels: ``{"latency": (0, 60)}``,
            or ``"latency=0,60"``.
        style : path, optional
            File of a matplotlib style sheet, which overrides Weft's settings.
        panels : str or list of str, optional
            Draw only these panels, identified by words of their axis or title, in this order: ``"latency,accepted"``.
        units : str, optional
            ``"si"``: latencies in us and loads in Gb/s per terminal; by default ``"cycles"``.

        Raises
        ------
        WeftError
            If a value is not valid.
        """
        if legend is not None and legend not in LEGENDS:
            raise WeftError.saying(f"--legend: there is no place {legend!r}", f"choose {', '.join(LEGENDS)}")
        if title is True:
            title = None
        return cls(
            width=None if width is None else _length("--width", width, WIDTHS),
            height=None if height is None else _length("--height", height, {}),
            labels=_labels(labels or {}),
            title="" if title is False else title,
            legend=legend or LEGENDS[0],
            order=tuple(_listed(order)),
            xlim=None if xlim is None else _limits("--xlim", xlim),
            ylim={} if ylim is None else _all_limits(ylim),
            style=None if style is None else str(style),
            panels=tuple(_listed(panels)),
            units=si_units.checked(units),
        )

    def shown(self, quantity: Quantity) -> Quantity:
        """The quantity in the requested units."""
        return si_units.in_units(quantity, self.units or si_units.CYCLES)

    def chosen(
        self, rows: Sequence[Row], views: Sequence[View], *, title: Callable[[View], str], beside: Callable[[Row], str]
    ) -> tuple[list[Row], list[View]]:
        """Selects the rows and views (columns) of a figure that `panels` names.

        If `panels` names no row, all rows are returned; if it names no view, all views are.

        Raises
        ------
        WeftError
            If a word of `panels` names neither a row nor a view.
        """
        called = [(word, [view for view in views if word.lower() in title(view).lower()]) for word in self.panels]
        named = [(word, [row for row in rows if word.lower() in beside(row).lower()]) for word, _ in called]
        for (word, some), (_, others) in zip(called, named, strict=True):
            if not (some or others):
                known = [*map(title, views), *filter(None, map(beside, rows))]
                remedy = f"name words of {'; '.join(each.strip() for each in known)}"
                raise WeftError.saying(f"--panels: the figure has no panel {word!r}", remedy)
        found = list(dict.fromkeys(view for _, some in called for view in some))
        kept = [row for word, some in named for row in some]
        return [row for row in rows if not kept or row in kept], found or list(views)

    def rank(self, label: str) -> int:
        """Position of a label in the order that the user requests. Labels that the order does not name come last."""
        ranks = [place for place, name in enumerate(self.order) if any(map(mentions(label), self._names(name)))]
        return min(ranks, default=len(self.order))

    def _names(self, name: str) -> list[str]:
        """A requested name, and the label that `labels` replaces by this name."""
        return [name, *(old for old, new in self.labels.items() if new == name)]

    def layout(self, panels: int, width: float | None = None) -> tuple[float, int]:
        """Returns the width of a figure [inches], and the number of panels in each row of the figure."""
        width = width or self.width or (COLUMN if panels == 1 else PAGE)
        return width, min(panels, max(1, int(width / _PANEL)))


def mentions(text: str) -> Any:
    """Returns a function that says whether `text` contains the given words as whole words."""
    return lambda words: pattern([words]).search(text) is not None


def pattern(words: Iterable[str]) -> re.Pattern[str]:
    """Pattern that matches the given words as whole words.

    The pattern matches neither a part of a longer word nor the name of a model with options.
    """
    longest = sorted(words, key=len, reverse=True)
    return re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, longest))})(?![\w(]|\.\d)")


def _length(option: str, asked: str | float, named: Mapping[str, float]) -> float:
    """Length of the figure that the user requests, converted to inches."""
    words = ", ".join([*named, "or a length such as 3.3, 84mm or 240pt"])
    if isinstance(asked, str):
        found = re.fullmatch(r"\s*([\d.]+(?:e[+-]?\d+)?)\s*([a-z]*)\s*", asked.lower())
        if asked in named:
            return named[asked]
        if found is None or found[2] not in _UNITS or found[1].count(".") > 1 or found[1] == ".":
            raise WeftError.saying(f"{option}: {asked!r} is not a length", f"write {words}; a bare number is in inches")
        asked = float(found[1]) * _UNITS[found[2]]
    inches = float(asked)
    if not _LEAST <= inches <= _GREATEST:
        what = f"{option}: a figure of {inches:g} inches does not fit on a page"
        raise WeftError.saying(what, f"write {words}, from {_LEAST:g} to {_GREATEST:g} inches")
    return inches


def _labels(asked: Mapping[str, str] | Iterable[str]) -> dict[str, str]:
    if not isinstance(asked, Mapping):
        pairs = [each.partition("=") for each in ([asked] if isinstance(asked, str) else asked)]
        for old, equals, new in pairs:
            if not (old.strip() and equals and new.strip()):
                what = f"--labels: {old + equals + new!r} is not OLD=NEW"
                raise WeftError.saying(what, "write e.g. --labels ugal_p=UGAL, after the folders of results")
        asked = {old.strip(): new.strip() for old, _, new in pairs}
    empty = [old for old, new in asked.items() if not (old and new)]
    if empty:
        raise WeftError.saying(f"--labels: {empty[0]!r} has no new name", "write e.g. --labels ugal_p=UGAL")
    return dict(asked)


def _listed(asked: str | Iterable[str] | None) -> list[str]:
    """Labels of a requested order. The order is several strings, or one string with commas."""
    texts = [asked] if isinstance(asked, str) else list(asked or [])
    # a comma inside brackets separates options of a model, not labels
    return [part.strip() for text in texts for part in re.split(r",(?![^(]*\))", text) if part.strip()]


def _all_limits(asked: Any) -> dict[str, Limits]:
    """The limits of vertical axes, by words of their labels."""
    if isinstance(asked, Mapping):
        return {words: _limits("--ylim", each) for words, each in asked.items()}
    if isinstance(asked, str):
        words, equals, ends = asked.rpartition("=")
        if equals and not words.strip():
            what = f"--ylim: {asked!r} names no axis before '='"
            raise WeftError.saying(what, "write e.g. --ylim latency=0,60, with words of the label of the axis")
        return {words.strip(): _limits("--ylim", ends)}
    several = list(asked)
    if several and all(isinstance(each, str) and "," in each for each in several):
        return {words: ends for each in several for words, ends in _all_limits(each).items()}
    return {"": _limits("--ylim", several)}


def _limits(option: str, asked: AskedLimits) -> Limits:
    ends = [each.strip() or None for each in asked.split(",")] if isinstance(asked, str) else list(asked)
    try:
        numbers = [None if end is None else float(end) for end in ends]
    except (TypeError, ValueError):
        numbers = []
    if len(numbers) != 2 or numbers == [None, None] or not all(end is None or isfinite(end) for end in numbers):
        what = f"{option}: {asked!r} is not the lower and upper end of an axis"
        raise WeftError.saying(what, f"write e.g. {option} 0,0.5; {option} ,0.5 keeps the lower end")
    low, high = numbers
    if low is not None and high is not None and low >= high:
        what = f"{option}: the upper end of the axis, {high:g}, is not above its lower end {low:g}"
        raise WeftError.saying(what, f"write the lower end first: {option}={min(low, high):g},{max(low, high) or 1:g}")
    return low, high
