"""Checks that the tests of all papers share: rules, needs, verdicts, figures and scenarios."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Mapping
from itertools import count
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
import yaml

import weft
from turns import in_turn
from weft.plot import draw, style
from weft_papers.common import claims, line_figures, rules, scoreboard
from weft_papers.common.measured import LackingError, Measured
from weft_papers.registry import paper as registered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from weft._engine import Point
    from weft.plot.style import Picture
    from weft_papers.common.paper import Experiment, Paper

NOTHING = Measured()


class Noted(Mapping[str, pl.DataFrame]):
    """A mapping of frames that records the frames that a rule reads, or asks for by name."""

    def __init__(self, frames: Mapping[str, pl.DataFrame]) -> None:
        self.frames, self.read, self.listed = frames, set[str](), False

    def __getitem__(self, name: str) -> pl.DataFrame:
        self.read.add(name)
        return self.frames[name]

    def __iter__(self) -> Iterator[str]:
        self.listed = True
        return iter(self.frames)

    def __len__(self) -> int:
        self.listed = True
        return len(self.frames)


@dataclasses.dataclass
class Answer:
    """The finding of a rule, with the frames that the rule has read.

    Attributes
    ----------
    frames : dict of str to polars.DataFrame or None
        The frames that the rule read or asked for by name. A frame that does not exist is ``None``.
    names : set of str or None
        The names of all frames, if the rule listed them; otherwise ``None``.
    """

    paper: Paper
    rule: rules.Rule
    quick: bool
    frames: dict[str, pl.DataFrame | None]
    names: set[str] | None
    finding: rules.Finding

    def is_for(self, paper: Paper, rule: rules.Rule, measured: Measured) -> bool:
        """Return whether the rule would read the same frames in `measured`, so that its finding would be the same."""
        same = self.paper is paper and self.rule is rule and self.quick == measured.quick
        listed = self.names is None or self.names == set(measured.frames)
        return same and listed and all(measured.frames.get(name) is frame for name, frame in self.frames.items())


_ANSWERS: defaultdict[tuple[str, str], list[Answer]] = defaultdict(list)
"""Answers so far, by paper and claim. Most tests change one experiment, which most claims do not read."""


def answer(paper: Paper, claim: str, measured: Measured) -> Answer:
    """Judge a claim, or return an earlier answer from the same frames."""
    rule, known = paper.rules[claim], _ANSWERS[paper.name, claim]
    found = next((each for each in known if each.is_for(paper, rule, measured)), None)
    if found is None:
        frames = Noted(measured.frames)
        finding = scoreboard.finding(paper, rule, dataclasses.replace(measured, frames=frames))
        read = {name: measured.frames.get(name) for name in frames.read}
        names = set(measured.frames) if frames.listed else None
        found = Answer(paper, rule, measured.quick, read, names, finding)
        known.append(found)
    return found


def judged(paper: Paper, measured: Measured) -> dict[str, scoreboard.Row]:
    """Return the rows of the scoreboard by claim.

    Check that the cause of each missed claim contains a number, or lists the attempts to find the cause.
    """
    printed = claims.read(paper.path("claims.csv"))
    rows = {
        claim.id: scoreboard.Row(claim, paper.rules[claim.id], answer(paper, claim.id, measured).finding)
        for claim in printed
    }
    for name, row in rows.items():
        assert row.finding.answer != "missed" or rules.tells(row.finding.cause), f"{name}: {row.finding.cause!r}"
    return rows


def check_findings(paper: Paper, printed: Measured, measured: Measured, experiment: str) -> None:
    """Judge the claims that read an experiment with unusual values.

    All other experiments have the numbers that the paper prints. A claim that does not read this experiment must read
    the same frames as with printed numbers. The cause of each missed claim must contain a number, or list the attempts
    to find the cause.
    """
    reads = [claim for claim in paper.rules if experiment in answer(paper, claim, printed).frames]
    assert reads or not any(experiment in rule.needs for rule in paper.rules.values())
    for claim in reads:
        found = scoreboard.finding(paper, paper.rules[claim], measured)
        assert found.answer != "missed" or rules.tells(found.cause), f"{claim}: {found.cause!r}"


def changed(printed: Measured, experiment: str, change: Callable[[pl.DataFrame], pl.DataFrame]) -> Measured:
    """Return the paper's numbers with a change in the frame of one experiment."""
    return dataclasses.replace(printed, frames=dict(printed.frames) | {experiment: change(printed[experiment])})


def scaled_where(it: pl.Expr, column: str, factor: float) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Make a function that multiplies a column by a factor in the rows that meet a condition."""
    return lambda rows: rows.with_columns(
        pl.when(it).then(pl.col(column) * factor).otherwise(pl.col(column)).alias(column)
    )


def check_rules(paper: Paper, ids: Iterable[str]) -> None:
    """Check that the claims have these ids, that each claim has a rule, and that each rule has a claim."""
    printed = claims.read(paper.path("claims.csv"))
    assert [claim.id for claim in printed] == list(ids)
    assert paper.rules.keys() == {claim.id for claim in printed}


def check_needs(paper: Paper) -> None:
    """Check that rules and figures need only experiments that exist, and that a figure needs every experiment."""
    names = {each.name for each in paper.experiments}
    assert {name for rule in paper.rules.values() for name in rule.needs} <= names
    assert {name for figure in paper.figures for name in figure.needs} <= names
    assert paper.needed(paper.figures) == list(paper.experiments)


def save_few_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Save pictures only as SVG, and in `make test` only one of eight, because saving takes longer than drawing."""
    turns = count()

    def save(drawing: Picture, path: Path) -> Path:
        if in_turn(next(turns), (True, *7 * [False]))[0]:
            return draw.save(drawing, path)
        path.write_text("<svg/>", encoding="utf-8")
        return path

    monkeypatch.setattr(line_figures, "FORMATS", ("svg",))
    monkeypatch.setattr(line_figures, "save", save)


def check_figure(paper: Paper, name: str, printed: Measured, *, without_unit: Iterable[str] = ("",)) -> None:
    """Check a figure: width of a column or a page, numbers, axes with units, and the error that names missing runs."""
    (figure,) = paper.chosen([name])
    drawing = line_figures.drawn(figure, printed)
    assert drawing.get_figwidth() in (style.COLUMN, style.PAGE)
    assert drawing.numbers is not None
    assert not drawing.numbers.is_empty()
    for axes in drawing.axes:
        if axes.axison:
            assert all("[" in label or label in without_unit for label in (axes.get_xlabel(), axes.get_ylabel()))
    if figure.needs:
        with pytest.raises(LackingError):
            line_figures.drawn(figure, NOTHING)


def document(paper: Paper, file: str) -> dict[str, Any]:
    """Read a scenario file of a paper. The loader in C takes a tenth of the time of the loader in Python."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return dict(yaml.load(paper.path(file).read_bytes(), loader))


def check_scenarios(paper: Paper, each: Experiment) -> list[Point]:
    """Check the scenario of an experiment: it must be valid for quick and full runs, and have the right names.

    Return the points of a full run: in `make test` of one sweep, in `make test-all` of all sweeps.
    """
    full = []
    for quick in (True, False):
        sweeps = each.sweeps(quick=quick)
        for _, sets in sweeps if quick else in_turn(paper.experiments.index(each), sweeps):
            points = weft.load(paper.path(each.file), overrides=sets).points
            assert points
            full += [] if quick else points
    stem = each.file.removesuffix(".yaml").replace("_", "-")
    assert document(paper, each.file)["name"] == f"{paper.name}-{stem}"
    assert registered(paper.name) is paper
    return full
