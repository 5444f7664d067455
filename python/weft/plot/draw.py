"""Draws the figure of a kind and a choice, and writes it to a file."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg

from weft.errors import WeftError
from weft.plot.kinds import FORMATS, known
from weft.plot.style import RC
from weft.results.store import replaced

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from matplotlib.figure import Figure

    from weft.plot.choice import Choice

# Without time stamps, the same results give the same file.
_UNDATED = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}


def figure(kind: str, choice: Choice) -> Figure:
    """The figure of a kind.

    Raises
    ------
    WeftError
        If there is no such kind, or the choice does not suit it.
    """
    return drawn(import_module(f"weft.plot.{known(kind).name}"), choice)


def drawn(module: ModuleType, choice: Choice) -> Figure:
    """The figure of a module, in the style that all figures share."""
    with mpl.rc_context(RC):  # type: ignore[arg-type] # its keys are a closed list of literals
        made: Figure = module.figure(choice)
    return made


def save(drawing: Figure, path: Path) -> Path:
    """Write a figure; the ending of `path` chooses the format.

    Raises
    ------
    WeftError
        If there is no such format.
    WriteError
        If the file can't be written.
    """
    form = path.suffix[1:].lower()
    if form not in FORMATS:
        what = f"{path}: no format of a figure is called {form!r}" if form else f"{path}: the name has no ending"
        raise WeftError.saying(what, f"end it with {', '.join(f'.{each}' for each in FORMATS)}")
    with replaced(path) as partial, mpl.rc_context(RC):  # type: ignore[arg-type] # its keys are a closed list of literals
        FigureCanvasAgg(drawing)
        drawing.savefig(partial, format=form, metadata=_UNDATED[form])
    return path
