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
    """A figure, and its files or the reason why there are none.

    Attributes
    ----------
    figure : Figure
        The figure.
    files : list of Path
        Its files; none if it was not drawn.
    absent : str
        Why it was not drawn; empty if it was.
    remark : str
        A remark on its points; empty if there is none.
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
    """A paper run again.

    Attributes
    ----------
    paper : Paper
        The paper.
    quick : bool
        Whether fewer loads and shorter windows were run.
    command : str
        The command that repeats it.
    root : Path
        Folder with everything.
    part : str
        Part of the names of its files that names the chosen figures, ``-9a-12``; empty if all figures were chosen. So
        a part of the paper does not replace the whole.
    ran : list of tuple
        The experiments and their results; one for each sweep of an experiment.
    shown : list of Shown
        The figures.
    rows : list of Row
        The scoreboard.
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
        """One of its files, e.g. of ``report`` and ``.html``."""
        return self.root / f"{stem}{self.part}{ending}"

    @property
    def mode(self) -> str:
        """Quick or full."""
        return mode(quick=self.quick)

    def document(self) -> dict[str, Any]:
        """All of it for programs."""
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
    """Several papers run again.

    Attributes
    ----------
    papers : sequence of Reproduction
        In the order of the page.
    command : str
        The command that repeats it.
    root : Path
        Folder with everything, a folder per paper.
    """

    papers: Sequence[Reproduction]
    command: str
    root: Path

    @property
    def page(self) -> Path:
        """The page of all papers."""
        return self.root / "report.html"

    def document(self) -> dict[str, Any]:
        """The counts and the whole of each paper, for programs."""
        return {"command": self.command, "papers": [each.document() for each in self.papers]}


def mode(*, quick: bool) -> str:
    """The word for a quick run or a full one, as on the command line."""
    return "quick" if quick else "full"
