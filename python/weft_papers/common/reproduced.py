"""The result of one reproduction of a paper: its runs, figures and scoreboard."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from weft_papers.common import run_facts, scoreboard

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl

    from weft.results.result_set import ResultSet
    from weft_papers.common.paper import Experiment, Figure, Paper
    from weft_papers.common.scoreboard import Row


@dataclass(frozen=True)
class Shown:
    """A figure with the files of its drawing, or with the reason why it was not drawn.

    Attributes
    ----------
    figure : Figure
        The figure.
    files : list of Path
        Files of the figure; empty if it was not drawn.
    absent : str
        Reason why the figure was not drawn; empty if it was drawn.
    remark : str
        Remark on the figure's points; empty if there is none.
    table : polars.DataFrame or None
        The rows, if the figure is a table; otherwise ``None``.
    """

    figure: Figure
    files: list[Path] = field(default_factory=list)
    absent: str = ""
    remark: str = ""
    table: pl.DataFrame | None = None


@dataclass(frozen=True)
class Reproduction:
    """A finished reproduction of a paper, with its results, figures and scoreboard.

    Attributes
    ----------
    paper : Paper
        The paper.
    quick : bool
        Whether the run was quick: fewer loads and shorter windows.
    command : str
        The command that repeats the reproduction.
    root : Path
        Folder with all files.
    part : str
        Suffix of the file names that lists the chosen figures, such as ``-9a-12``; empty if all figures were chosen.
        The suffix keeps the files of a partial reproduction apart from the files of the whole paper.
    ran : list of tuple
        Pairs of an experiment and the results of one of its sweeps, for all sweeps.
    shown : list of Shown
        The figures.
    rows : list of Row
        The rows of the scoreboard.
    """

    paper: Paper
    quick: bool
    command: str
    root: Path
    part: str
    ran: Sequence[tuple[Experiment, ResultSet]]
    shown: Sequence[Shown]
    rows: Sequence[Row]

    def file(self, stem: str, ending: str) -> Path:
        """Return the path of a file of the reproduction from its stem and ending, such as ``report`` and ``.html``."""
        return self.root / f"{stem}{self.part}{ending}"

    @property
    def mode(self) -> str:
        """Word for the length of the runs: ``quick`` or ``full``."""
        return mode(quick=self.quick)

    def document(self) -> dict[str, Any]:
        """Return the whole reproduction of the paper as data for programs."""
        return {
            "paper": self.paper.name,
            "title": self.paper.title,
            "mode": self.mode,
            "command": self.command,
            "count": scoreboard.count(self.rows),
            "claims": [row.document() for row in self.rows],
            "figures": [
                {"figure": each.figure.name, "files": [path.name for path in each.files], "absent": each.absent}
                for each in self.shown
            ],
            "runs": [
                {"experiment": each.name, "folder": results.root.name} | run_facts.facts(results)
                for each, results in self.ran
            ],
        }


@dataclass(frozen=True)
class AllReproduced:
    """Finished reproductions of several papers, which are shown on one HTML page.

    Attributes
    ----------
    papers : sequence of Reproduction
        The papers in the order of the page.
    command : str
        The command that repeats the reproduction.
    root : Path
        Folder that contains a folder for each paper.
    """

    papers: Sequence[Reproduction]
    command: str
    root: Path

    @property
    def page(self) -> Path:
        """Path of the page that shows all papers."""
        return self.root / "report.html"

    def document(self) -> dict[str, Any]:
        """Return the reproductions of all papers as data for programs, each with its number of claims by verdict."""
        return {"command": self.command, "papers": [each.document() for each in self.papers]}


def mode(*, quick: bool) -> str:
    """Return the word for the length of the runs: the command-line option ``--quick`` or ``--full`` without hyphens."""
    return "quick" if quick else "full"
