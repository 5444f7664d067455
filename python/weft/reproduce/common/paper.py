"""A paper: experiments to run, figures to draw from them, and rules that judge its claims."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.errors import WeftError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import polars as pl
    from matplotlib.figure import Figure as Drawing

    from weft.reproduce.common.measured import Measured
    from weft.reproduce.common.rules import Rule
    from weft.results.result_set import ResultSet


@dataclass(frozen=True)
class Experiment:
    """A scenario that figures and claims need.

    Attributes
    ----------
    name : str
        Of the scenario in the folder of the paper, without its ending, and of the folder of the results.
    quick, full : sequence of mapping of str to value
        Overrides by dotted path of the sweeps that a quick run and a full one make of it.
    scaled : str
        What the quick run leaves out besides loads and length, in words; empty if nothing.
    """

    name: str
    quick: Sequence[Mapping[str, Any]] = ({},)
    full: Sequence[Mapping[str, Any]] = ({},)
    scaled: str = ""

    def sweeps(self, *, quick: bool) -> list[tuple[str, Mapping[str, Any]]]:
        """Folder and overrides of each sweep."""
        parts = self.quick if quick else self.full
        return [(self.name if not number else f"{self.name}-{number + 1}", each) for number, each in enumerate(parts)]


@dataclass(frozen=True)
class Figure:
    """A figure of the paper.

    Attributes
    ----------
    name : str
        What it is asked for by: ``9a``, ``epochs``.
    title : str
        One line.
    draw : callable or None
        Draws it; ``None`` for a figure that waits for something.
    needs : tuple of str
        Names of experiments.
    reading : str
        What to look at, for the report.
    wide : bool
        Whether it takes the width of the page in the report.
    remark : callable, optional
        What has to be known of the points that were run, for the report; empty if nothing.
    waits : str
        What a figure that can't be drawn waits for.
    """

    name: str
    title: str
    draw: Callable[[Measured], Drawing] | None
    needs: tuple[str, ...] = ()
    reading: str = ""
    wide: bool = False
    remark: Callable[[Measured], str] | None = None
    waits: str = ""


@dataclass(frozen=True)
class Paper:
    """A paper, its experiments, figures and claims.

    Attributes
    ----------
    name, title : str
        What it is asked for by, and its authors, title and year.
    folder : str
        Folder of its scenarios and claims in ``experiments``.
    experiments, figures : sequence
        In the order in which they are run and shown.
    rules : mapping of str to Rule
        When a claim is met, by its number.
    frame : callable
        Makes the frame of an experiment that figures and rules look at.
    """

    name: str
    title: str
    folder: str
    experiments: Sequence[Experiment]
    figures: Sequence[Figure]
    rules: Mapping[str, Rule]
    frame: Callable[[ResultSet], pl.DataFrame]

    def path(self, file: str) -> Path:
        """A file of its folder."""
        return Path(str(files("weft"))) / "experiments" / self.folder / file

    def chosen(self, only: Iterable[str]) -> list[Figure]:
        """Figures by name, or by the number that several share (``9`` is 9a, 9b and 9c); all if none is named.

        Raises
        ------
        WeftError
            If there is no such figure.
        """
        wanted: set[str] = set()
        for name in only:
            fits = {each.name for each in self.figures if name in (each.name, _number(each.name))}
            if not fits:
                what = f"{self.name} has no figure {name!r}"
                raise WeftError.saying(what, f"the figures are {', '.join(each.name for each in self.figures)}")
            wanted |= fits
        return [each for each in self.figures if not wanted or each.name in wanted]

    def needed(self, figures: Iterable[Figure]) -> list[Experiment]:
        """The experiments that figures need, in the order of the paper; with all figures also those of claims alone."""
        chosen = list(figures)
        names = {name for figure in chosen for name in figure.needs}
        return [each for each in self.experiments if each.name in names or len(chosen) == len(self.figures)]


def _number(name: str) -> str:
    """The number of a figure without the letter of its part."""
    return name[:-1] if name[:-1].isdigit() and name[-1].isalpha() else name
