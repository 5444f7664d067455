"""What became of a paper: the runs, the figures and the scoreboard of one reproduction."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from weft.reproduce.common import run_facts, scoreboard

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from weft.reproduce.common.paper import Experiment, Figure, Paper
    from weft.reproduce.common.scoreboard import Row
    from weft.results.result_set import ResultSet


@dataclass(frozen=True)
class Shown:
    """A figure and what became of it.

    Attributes
    ----------
    figure : Figure
        What it is.
    files : list of Path
        Its files; none if it was not drawn.
    absent : str
        Why it was not drawn.
    remark : str
        What has to be known of its points.
    """

    figure: Figure
    files: list[Path] = field(default_factory=list)
    absent: str = ""
    remark: str = ""


@dataclass(frozen=True)
class Reproduction:
    """A paper run again.

    Attributes
    ----------
    paper : Paper
        Which.
    quick : bool
        Whether fewer loads and shorter windows were run.
    command : str
        What makes it once more.
    root : Path
        Folder with everything.
    part : str
        What the names of its files say of the figures that were chosen, ``-9a-12``; empty for all figures, so that a
        part does not replace the whole.
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


def mode(*, quick: bool) -> str:
    """The word for a quick run or a full one, as on the command line."""
    return "quick" if quick else "full"
