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

    from weft.plot.style import Picture as Drawing
    from weft.results.result_set import ResultSet
    from weft_papers.common.measured import Measured
    from weft_papers.common.rules import Rule


@dataclass(frozen=True)
class Experiment:
    """A scenario that figures and claims need.

    Attributes
    ----------
    name : str
        Name of the folder of the results, and of the scenario if `scenario` names none.
    quick, full : sequence of mapping of str to value
        Overrides by dotted path, for each sweep of a quick run and of a full run.
    scaled : str
        Names of the sizes that a quick run reduces, in addition to loads and lengths of runs; empty if there are none.
    scenario : str
        Name of the scenario (without ending), if several experiments run it with other overrides.
    asked : bool
        Whether a quick run of the whole paper leaves the experiment out, because it takes longer than all others. A
        quick run of only its figures includes it.
    knees, quick_knees : int
        Number of rounds, in a full and in a quick run. Each round divides the gap between the loads at the knee of each
        curve into three.
    """

    name: str
    quick: Sequence[Mapping[str, Any]] = ({},)
    full: Sequence[Mapping[str, Any]] = ({},)
    scaled: str = ""
    scenario: str = ""
    asked: bool = False
    knees: int = 0
    quick_knees: int = 0

    @property
    def file(self) -> str:
        """Name of the scenario's file in the folder of the paper."""
        return f"{self.scenario or self.name}.yaml"

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
        Name on the command line, such as ``9a`` or ``epochs``.
    title : str
        Title in one line.
    draw : callable or None
        Function that draws the figure; ``None`` for a table.
    needs : tuple of str
        Names of the experiments that the figure needs.
    reading : str
        Sentences of the report that explain the figure.
    wide : bool
        Whether the figure takes the whole width of the report.
    remark : callable, optional
        Function that returns a remark on the points that were run, for the report; empty if there is none.
    rows : callable, optional
        Function that makes the rows of a table. Its columns have the names of their headings. A table is a figure
        without a drawing.
    """

    name: str
    title: str
    draw: Callable[[Measured], Drawing] | None
    needs: tuple[str, ...] = ()
    reading: str = ""
    wide: bool = False
    remark: Callable[[Measured], str] | None = None
    rows: Callable[[Measured], pl.DataFrame] | None = None


@dataclass(frozen=True)
class Paper:
    """A paper, its experiments, figures and claims.

    Attributes
    ----------
    name, title : str
        Name on the command line; and authors, title and year.
    folder : str
        Folder in ``experiments`` with the paper's scenarios and claims.
    experiments, figures : sequence
        Experiments and figures, in the order in which they are run and shown.
    rules : mapping of str to Rule
        By the number of each claim, the rule that says when the claim is met.
    frame : callable
        Function that makes, from an experiment's results, the frame that figures and rules read.
    judging : str
        Sentences of the report on the measurement of quantities that the paper does not define.
    quick : str
        Sentences of the report on the parts that a quick run of this paper leaves out; empty if the list of runs is
        enough.
    """

    name: str
    title: str
    folder: str
    experiments: Sequence[Experiment]
    figures: Sequence[Figure]
    rules: Mapping[str, Rule]
    frame: Callable[[ResultSet], pl.DataFrame]
    judging: str = ""
    quick: str = ""

    def path(self, file: str) -> Path:
        """The path of a file in the paper's folder."""
        return Path(str(files("weft_papers"))) / "experiments" / self.folder / file

    def chosen(self, only: Iterable[str]) -> list[Figure]:
        """Figures by name, or by a number that several share (``9`` means 9a, 9b and 9c); without names, all figures.

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

    def needed(self, figures: Iterable[Figure], *, quick: bool = False) -> list[Experiment]:
        """Experiments that these figures need, in the paper's order; with all figures, also those only for claims.

        A quick run of all figures leaves out experiments that must be requested (`Experiment.asked`).
        """
        chosen = list(figures)
        if len(chosen) == len(self.figures):
            return [each for each in self.experiments if not (quick and each.asked)]
        names = {name for figure in chosen for name in figure.needs}
        return [each for each in self.experiments if each.name in names]


def _number(name: str) -> str:
    """The number of a figure, without the letter of the part."""
    return name[:-1] if name[:-1].isdigit() and name[-1].isalpha() else name
