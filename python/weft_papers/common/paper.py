"""Classes that describe a paper: experiments to run, figures to draw, and rules that judge the paper's claims."""

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
    """An experiment of a paper: one scenario. Its results are the data of figures and claims.

    Attributes
    ----------
    name : str
        Name of the results folder. If `scenario` is empty, it is also the name of the scenario.
    quick, full : sequence of mapping of str to value
        Overrides of the scenario in a quick run and in a full run, by dotted path of the key. Each mapping gives a
        sweep.
    scaled : str
        Text that names the sizes that a quick run reduces, in addition to loads and lengths of runs; empty if there are
        none.
    scenario : str
        Name of the scenario file without its ending, if several experiments run the same scenario with different
        overrides.
    asked : bool
        Whether a quick run of the whole paper omits this experiment, because it takes longer than all others. A quick
        run with `only` includes it if one of the named figures needs it.
    knees, quick_knees : int
        Number of additional rounds in a full run and in a quick run. Each round runs two more loads near the knee of
        each curve of latency over load.
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
        """Name of the scenario file in the paper's folder."""
        return f"{self.scenario or self.name}.yaml"

    def sweeps(self, *, quick: bool) -> list[tuple[str, Mapping[str, Any]]]:
        """List the sweeps of this experiment, each with the name of its results folder and its overrides."""
        parts = self.quick if quick else self.full
        return [(self.name if not number else f"{self.name}-{number + 1}", each) for number, each in enumerate(parts)]


@dataclass(frozen=True)
class Figure:
    """A figure or a table of a paper, with the functions that make it.

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
        Text of the report that explains the figure.
    wide : bool
        Whether the figure is as wide as the report.
    remark : callable, optional
        Function that returns a remark on the figure's points for the report, or an empty string.
    rows : callable, optional
        Function that makes the rows, if the figure is a table. The names of the columns are the headings of the table.
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
    """A paper that Weft reproduces, with its experiments, figures and rules of claims.

    Attributes
    ----------
    name, title : str
        Name on the command line; title of the paper, with authors and year.
    folder : str
        Folder in ``experiments`` with the paper's scenarios and claims.
    experiments, figures : sequence
        Experiments and figures, in the order in which they are run and shown.
    rules : mapping of str to Rule
        For the identifier of each claim, the rule that says when the claim is met.
    frame : callable
        Function that takes the results of an experiment, and returns the frame that figures and rules read.
    judging : str
        Text of the report on how Weft measures quantities that the paper does not define.
    quick : str
        Text of the report that names the parts that a quick run omits; empty if the report's list of runs shows these
        parts.
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
        """Return the path of a file in the paper's folder."""
        return Path(str(files("weft_papers"))) / "experiments" / self.folder / file

    def chosen(self, only: Iterable[str]) -> list[Figure]:
        """Select figures by name or number (``9`` selects 9a, 9b and 9c). If `only` is empty, all figures are selected.

        Raises
        ------
        WeftError
            If a name or number in `only` selects no figure.
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
        """List the experiments that these figures need, in the paper's order.

        If `figures` are all figures of the paper, the list includes experiments that only claims need. From the list
        for all figures, a quick run omits experiments that must be requested (`Experiment.asked`).
        """
        chosen = list(figures)
        if len(chosen) == len(self.figures):
            return [each for each in self.experiments if not (quick and each.asked)]
        names = {name for figure in chosen for name in figure.needs}
        return [each for each in self.experiments if each.name in names]


def _number(name: str) -> str:
    """Return the number of a figure without the letter of its part, such as ``9`` for ``9a``."""
    return name[:-1] if name[:-1].isdigit() and name[-1].isalpha() else name
