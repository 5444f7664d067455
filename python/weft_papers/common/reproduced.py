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
    """A figure with its files, or with the reason why there are none.

    Attributes
    ----------
    figure : Figure
        The figure.
    files : list of Path
        Files of the figure; empty if it was not drawn.
    absent : str
        Reason why the figure was not drawn; empty if it was.
    remark : str
        Remark on the figure's points; empty if there is none.
    table : polars.DataFrame or None
        The rows of a table.
    """

    figure: Figure
    files: list[Path] = field(default_factory=list)
    absent: str = ""
    remark: str = ""
    table: pl.DataFrame | None = None


@dataclass(frozen=True)
class Reproduction:
    """The reproduction of a paper.

    Attributes
    ----------
    paper : Paper
        The paper.
    quick : bool
        Whether fewer loads and shorter windows were run.
    command : str
        The command that repeats the reproduction.
    root : Path
        Folder with all files.
    part : str
        Part of the file names that lists the chosen figures, such as ``-9a-12``; empty if all figures were chosen. So
        files of a part of the paper do not replace those of the whole paper.
    ran : list of tuple
        The experiments and their results, an entry for each sweep of an experiment.
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
        """Path of a file of the reproduction, e.g. from ``report`` and ``.html``."""
        return self.root / f"{stem}{self.part}{ending}"

    @property
    def mode(self) -> str:
        """Length of the runs: ``quick`` or ``full``."""
        return mode(quick=self.quick)

    def document(self) -> dict[str, Any]:
        """The whole reproduction as data for programs."""
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
    """The reproduction of several papers.

    Attributes
    ----------
    papers : sequence of Reproduction
        The papers in the order of the page.
    command : str
        The command that repeats the reproduction.
    root : Path
        Folder with all files; it has a folder per paper.
    """

    papers: Sequence[Reproduction]
    command: str
    root: Path

    @property
    def page(self) -> Path:
        """Path of the page of all papers."""
        return self.root / "report.html"

    def document(self) -> dict[str, Any]:
        """The counts, and the whole reproduction of each paper, as data for programs."""
        return {"command": self.command, "papers": [each.document() for each in self.papers]}


def mode(*, quick: bool) -> str:
    """The command line's word for a quick or a full run."""
    return "quick" if quick else "full"
