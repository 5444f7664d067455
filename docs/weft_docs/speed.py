"""``{speed} FOLDER``: a figure and tables of speed over versions, from files of ``weft-bench --json``.

A file is named ``DATE-COMMIT.json``, or ``DATETHHMM-COMMIT.json`` if a day has several files. A file has one document
of ``weft-bench``, or a list of documents.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from matplotlib import style
from matplotlib.figure import Figure

from weft_docs.gallery import DARK
from weft_docs.live import LIVE, Live

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from sphinx.application import Sphinx

COUNT = "instructions_per_flit_hop"
RATIO = "ratio"
_LABELS = {COUNT: "instructions per flit-hop", RATIO: "simulated cycles per second\nover those of BookSim2"}
_MARKS = "osD^vP*X"
_ALT = "Lines over commits: instructions per flit-hop of each case of weft-bench, and its speed over that of BookSim2."


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("speed", Speed)


@dataclass(frozen=True)
class Version:
    """The measurements of a version of Weft.

    Attributes
    ----------
    date, commit : str
        From the name of the file.
    cpu : str
        The processor; empty if the file does not name it.
    rows : dict
        The rows of ``weft-bench`` by case.
    """

    date: str
    commit: str
    cpu: str
    rows: dict[str, dict[str, Any]]

    @property
    def name(self) -> str:
        """Commit and day."""
        return f"{self.commit}\n{self.date[5:10]}"


def versions(folder: Path) -> list[Version]:
    """Read the measured versions, the oldest first."""
    return [_version(path) for path in sorted(folder.glob("*.json"))]


def _version(path: Path) -> Version:
    date, _, commit = path.stem.rpartition("-")
    read = json.loads(path.read_text(encoding="utf-8"))
    documents = read if isinstance(read, list) else [read]
    rows: dict[str, dict[str, Any]] = {}
    for row in (row for document in documents for row in document["rows"]):
        known = {name: value for name, value in row.items() if value is not None}
        rows[row["case"]] = rows.get(row["case"], {}) | known
    cpu = documents[0].get("machine", {}).get("cpu", "")
    return Version(date, commit, cpu, rows)


def cases(known: Sequence[Version], quantity: str) -> list[str]:
    """The cases that at least two versions have measured, in the order in which they appear."""
    measured = [case for version in known for case, row in version.rows.items() if quantity in row]
    return [case for case in dict.fromkeys(measured) if measured.count(case) > 1]


class Speed(Live):
    """Directive that shows the figure in light and dark colours, and the numbers below it."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Draw the figure in light and dark colours and show it with its numbers."""
        source = Path(self.env.srcdir) / Path(self.env.docname).parent / self.arguments[0]
        for path in source.glob("*.json"):
            self.env.note_dependency(str(path))
        known = versions(source)
        figure = nodes.container("", classes=["shot"])
        for look, sheets in {"light": [], "dark": [str(DARK)]}.items():
            file = f"speed-{look}.png"
            self.folder.mkdir(parents=True, exist_ok=True)
            with style.context(sheets):
                draw(known).savefig(self.folder / file, dpi=150)
            uri = f"/{LIVE}/{self.env.docname}/{file}"
            figure += nodes.image("", uri=uri, alt=_ALT, classes=[f"only-{look}"])
        return [figure, *(self._table(known, quantity) for quantity in (COUNT, RATIO))]

    def _table(self, known: Sequence[Version], quantity: str) -> nodes.Node:
        columns = cases(known, quantity)
        heads = [" ".join(case.split("/")) for case in columns]
        lines = [f"| {' | '.join([' '.join(_LABELS[quantity].split()), *heads])} |", "|---" * (len(heads) + 1) + "|"]
        for version in known:
            values = [version.rows.get(case, {}).get(quantity) for case in columns]
            if any(value is not None for value in values):
                cells = ["" if value is None else f"{value:.0f}" for value in values]
                lines.append(f"| {version.commit} | {' | '.join(cells)} |")
        table = nodes.container("")
        self.state.nested_parse(lines, self.content_offset, table)
        return table


def draw(known: Sequence[Version]) -> Figure:
    """Draw the instructions of each case, and its speed relative to BookSim2, over the versions."""
    figure = Figure(figsize=(11, 7), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
    for axes, quantity in ((above, COUNT), (below, RATIO)):
        _lines(axes, known, quantity)
    above.set_ylim(bottom=0)
    below.set_ylim(bottom=0)
    below.set_xticks(range(len(known)), [version.name for version in known])
    below.set_xlabel("commit and day of 2026")
    return figure


def _lines(axes: Axes, known: Sequence[Version], quantity: str) -> None:
    # A line joins ratios from one type of processor only. Numbers of instructions are the same on all processors.
    groups = [""] if quantity == COUNT else list(dict.fromkeys(version.cpu for version in known))
    for number, (case, mark) in enumerate(zip(cases(known, quantity), _MARKS, strict=False)):
        label: str | None = case
        for cpu in groups:
            points = [
                (x, version.rows[case][quantity])
                for x, version in enumerate(known)
                if quantity in version.rows.get(case, {}) and (quantity == COUNT or version.cpu == cpu)
            ]
            if points:
                axes.plot(*zip(*points, strict=True), marker=mark, color=f"C{number}", label=label)
                label = None
    axes.set_ylabel(_LABELS[quantity])
    axes.grid(visible=True, alpha=0.3)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize="small")
