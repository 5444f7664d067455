"""Draws the figure of a kind and a choice of points, and writes it to a file, with its numbers next to it."""

from __future__ import annotations

import warnings
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from weft.errors import WeftError
from weft.plot import second_axes, sheet
from weft.plot.finish import finish
from weft.plot.kinds import FORMATS, known
from weft.plot.style import RC
from weft.results import si_units
from weft.results.store import replaced, write_text

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from matplotlib.figure import Figure

    from weft.plot.choice import Choice
    from weft.plot.style import Picture

# Metadata that remove time stamps, so that the same results give the same file.
_UNDATED = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}
# Minimum width and height of a legible panel [inches].
_LEAST = 0.3


def figure(kind: str, choice: Choice) -> Picture:
    """Draws the figure of a kind for a choice of points.

    Raises
    ------
    WeftError
        If the kind is unknown, or if the choice or its appearance does not suit the kind.
    """
    return drawn(import_module(f"weft.plot.{known(kind).name}"), choice)


def drawn(module: ModuleType, choice: Choice) -> Picture:
    """Draws the figure of a module, in the style that all figures share."""
    rc = sheet.settings(RC, choice.appearance.style)
    with sheet.applied(rc):
        asked = choice.appearance.units
        units = si_units.chosen(asked, choice.summaries)
        choice = replace(choice, appearance=replace(choice.appearance, units=units))
        made: Picture = module.figure(choice)
        made.rc = rc
        if choice.appearance.panels and not made.panels_chosen:
            what = "--panels: this kind of figure has no selectable panels"
            raise WeftError.saying(what, "omit --panels; only figures over load have selectable panels")
        if asked == si_units.SI:
            si_units.check(choice.summaries)
            second_axes.add(made.axes, choice.summaries)
        finish(made, choice.appearance)
    return made


def save(drawing: Figure, path: Path) -> Path:
    """Write a figure to a file; the ending of `path` selects the format.

    Raises
    ------
    WeftError
        If the format is unknown, or if the figure is too small for its words.
    WriteError
        If the file can't be written.
    """
    form = path.suffix[1:].lower()
    if form not in FORMATS:
        what = f"{path}: there is no figure format {form!r}" if form else f"{path}: the name has no ending"
        raise WeftError.saying(what, f"end it with {', '.join(f'.{each}' for each in FORMATS)}")
    with replaced(path) as partial:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "constrained_layout not applied")  # the check of sizes below reports this
            drawing.savefig(partial, format=form, metadata=_UNDATED[form])
        _check_room(drawing)
    return path


def save_numbers(drawing: Picture, picture: Path) -> Path:
    """Write the numbers of a figure as CSV to a file whose name is that of the picture plus ``.csv``.

    Therefore ``fig.pdf`` and ``fig.png``, which may be different figures, have separate CSV files.
    """
    path = picture.with_name(f"{picture.name}.csv")
    assert drawing.numbers is not None, "every kind gives its numbers"
    write_text(path, drawing.numbers.write_csv())
    return path


def _check_room(drawing: Figure) -> None:
    """Refuse a figure whose words leave no room for its content."""
    size = drawing.get_size_inches()
    for axes in drawing.axes:
        room = axes.get_position().size * size
        if axes.get_label() != "<colorbar>" and min(room) < _LEAST:
            what = f"a figure of {size[0]:.3g} x {size[1]:.3g} inches has no room for its panels next to its text"
            raise WeftError.saying(what, "increase --width or --height, or use --no-title and another --legend")
