"""Runs the experiments of a paper, draws its figures and judges its claims. All files are written into one folder."""

from __future__ import annotations

import json
import shlex
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from weft.api.loading import load
from weft.errors import ResultsError, writing
from weft.results.choose import SEED
from weft.results.result_set import ResultSet
from weft.results.store import replaced
from weft.runs.notebook_bar import shown
from weft.text import given
from weft_papers.common import knees, line_figures, reproduction_page, scoreboard, side_by_side
from weft_papers.common.measured import LackingError, Measured
from weft_papers.common.reproduced import AllReproduced, Reproduction, Shown, mode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import Any

    from weft.api.sweep import Sweep
    from weft_papers.common.paper import Experiment, Figure, Paper
    from weft_papers.common.standing import Standing

    Show = Callable[[Standing], None]
    Progress = Callable[[str], AbstractContextManager[Show]]


# Key of a scenario that lists the seeds of a sweep.
_SEEDS = f"sweep.{SEED}"
# Stems and endings of three files: the page for readers, the scoreboard as a table, and the scoreboard for programs.
_FILES = (("report", ".html"), ("scoreboard", ".csv"), ("scoreboard", ".json"))


def reproduce(
    paper: Paper,
    *,
    quick: bool = True,
    out: str | Path | None = None,
    only: Iterable[str] = (),
    seeds: int | None = None,
    jobs: int | None = None,
    force_memory: bool = False,
    progress: Progress | None = None,
) -> Reproduction:
    """Run the points that have no results yet, then draw the figures and judge the claims.

    Several sweeps run at the same time, so that no core is idle during the last points of a sweep.

    Parameters
    ----------
    paper : Paper
        See `weft_papers.registry`.
    quick : bool
        Run fewer loads, shorter windows and scaled batches, which takes minutes instead of hours.
    out : path, optional
        Folder for all files; by default ``results/PAPER-quick`` or ``results/PAPER-full``.
    only : iterable of str, optional
        Names of the figures to draw; by default all figures. Claims that need the experiments of other figures are not
        judged.
    seeds : int, optional
        Number of seeds that each sweep runs, from the beginning of its list; by default all seeds. A later call can run
        more seeds in the same folder.
    jobs : int, optional
        Number of points that run at the same time; by default as many as the cores allow.
    force_memory : bool
        Run even if the points that run at the same time need more memory than is free.
    progress : callable, optional
        Function that takes the name of the paper and returns a context manager. `reproduce` calls the value of the
        context with each new `Standing`, in the caller's thread. Without `progress`, a notebook shows a bar.

    Raises
    ------
    WeftError
        If there is no such figure, the folder cannot be used, or a scenario cannot run.
    KeyboardInterrupt
        After Ctrl-C; finished points are saved.
    """
    given.execution(jobs, 1, 0, None)
    only = list(only)
    figures = paper.chosen(only)
    root = _root(paper, out, quick=quick)
    part = _part(figures) if len(figures) < len(paper.figures) else ""
    _check(root, [f"{stem}{part}{ending}" for stem, ending in _FILES])
    needed = _needed(paper, figures, quick=quick)
    of_sweeps = [partial(_rounds, paper, *sweep, quick=quick, seeds=seeds) for sweep in needed]
    with _shown(paper.name, progress) as show:
        found = side_by_side.run(of_sweeps, root / "runs", jobs=jobs, force_memory=force_memory, show=show)
    ran = [(each, results) for (each, _, _), rounds in zip(needed, found, strict=True) for results in rounds]
    measured = Measured(_frames(paper, ran), quick)
    shown = [_draw(paper, figure, measured, root / "figures") for figure in figures]
    words = ["weft", "reproduce", paper.name, f"--{mode(quick=quick)}", *(["--only", *only] if only else [])]
    words += ["--seeds", str(seeds)] if seeds is not None else []
    words += ["--out", str(out)] if out is not None else []
    done = Reproduction(paper, quick, shlex.join(words), root, part, ran, shown, scoreboard.judge(paper, measured))
    _write(done)
    return done


def sweeps(
    paper: Paper,
    *,
    quick: bool = True,
    out: str | Path | None = None,
    only: Iterable[str] = (),
    seeds: int | None = None,
) -> Iterator[tuple[Path, Sweep]]:
    """List the sweeps that `reproduce` runs with these parameters, each with its results folder.

    Another machine can run the sweeps. `reproduce` then reads the results in these folders. A sweep around the knees of
    curves is listed after the results exist that determine the knees.
    """
    for each, name, sets in _needed(paper, paper.chosen(only), quick=quick):
        rounds: list[ResultSet] = []
        for stem, sweep in _rounds(paper, each, name, sets, rounds, quick=quick, seeds=seeds):
            folder = _root(paper, out, quick=quick) / "runs" / stem
            yield folder, sweep
            if not (folder / "sweep.json").is_file() or (found := ResultSet.open(folder)).missing:
                break
            rounds.append(found)


def reproduce_all(
    papers: Sequence[Paper],
    *,
    quick: bool = True,
    out: str | Path | None = None,
    seeds: int | None = None,
    jobs: int | None = None,
    force_memory: bool = False,
    progress: Progress | None = None,
) -> AllReproduced:
    """Reproduce several papers one after the other, each in a separate folder, and write one page for all papers.

    Parameters
    ----------
    papers : sequence of Paper
        The papers in the order of the page.
    quick, seeds, jobs, force_memory, progress
        As for `reproduce`.
    out : path, optional
        Folder of all files; by default ``results/all-quick`` or ``results/all-full``. Points whose results are already
        in this folder are not run again.

    Raises
    ------
    WeftError
        As for `reproduce`.
    KeyboardInterrupt
        After Ctrl-C; finished points are saved.
    """
    root = Path("results") / f"all-{mode(quick=quick)}" if out is None else Path(out)
    _check(root, [f"{stem}{ending}" for stem, ending in _FILES], ())
    done = [
        reproduce(
            paper,
            quick=quick,
            out=root / paper.name,
            seeds=seeds,
            jobs=jobs,
            force_memory=force_memory,
            progress=progress,
        )
        for paper in papers
    ]
    words = ["weft", "reproduce", "all", f"--{mode(quick=quick)}"]
    words += ["--seeds", str(seeds)] if seeds is not None else []
    words += ["--out", str(out)] if out is not None else []
    result = AllReproduced(done, shlex.join(words), root)
    with replaced(result.page) as partial:
        partial.write_text(reproduction_page.html_of_all(done, result.command), encoding="utf-8")
    with replaced(root / "scoreboard.json") as partial:
        partial.write_text(json.dumps(result.document(), indent=1) + "\n", encoding="utf-8")
    return result


def _root(paper: Paper, out: str | Path | None, *, quick: bool) -> Path:
    return Path("results") / f"{paper.name}-{mode(quick=quick)}" if out is None else Path(out)


def _needed(paper: Paper, figures: Iterable[Figure], *, quick: bool) -> list[tuple[Experiment, str, Mapping[str, Any]]]:
    """List the sweeps of the experiments that figures need, each with its folder and its overrides."""
    needed = paper.needed(figures, quick=quick)
    return [(each, *sweep) for each in needed for sweep in each.sweeps(quick=quick)]


@contextmanager
def _shown(name: str, progress: Progress | None) -> Iterator[Show | None]:
    """Yield the function that shows each `Standing` of a paper: from `progress`, or by default from a notebook bar."""
    if progress is not None:
        with progress(name) as show:
            yield show
        return
    with shown(name, None) as watch:
        yield (lambda standing: watch(standing.status)) if watch else None


def _rounds(
    paper: Paper,
    experiment: Experiment,
    name: str,
    sets: Mapping[str, Any],
    done: Sequence[ResultSet],
    *,
    quick: bool,
    seeds: int | None,
) -> Iterator[tuple[str, Sweep]]:
    """Yield a sweep, and then the sweeps around the knees of its curves, each with its results folder.

    The caller adds the results of each sweep to `done` before it requests the next sweep.
    """
    yield name, _with_seeds(paper, experiment, sets, seeds)
    same = {path: value for path, value in sets.items() if not path.startswith(("sweep.", "zip."))}
    for number in range(1, (experiment.quick_knees if quick else experiment.knees) + 1):
        found = knees.around([paper.frame(results) for results in done], [results.points for results in done])
        if found is None:
            return
        yield f"{name}-knees-{number}", _loaded(paper, experiment, same | found)


def _with_seeds(paper: Paper, experiment: Experiment, sets: Mapping[str, Any], seeds: int | None) -> Sweep:
    """Load a sweep of an experiment, with at most `seeds` seeds."""
    if seeds is None:
        return _loaded(paper, experiment, sets)
    if _SEEDS in sets:
        return _loaded(paper, experiment, dict(sets) | {_SEEDS: sets[_SEEDS][:seeds]})
    sweep = _loaded(paper, experiment, sets)
    found = list(dict.fromkeys(point.coordinates[SEED] for point in sweep.points if SEED in point.coordinates))
    return sweep if seeds >= len(found) else _loaded(paper, experiment, dict(sets) | {_SEEDS: found[:seeds]})


def _loaded(paper: Paper, experiment: Experiment, sets: Mapping[str, Any]) -> Sweep:
    """Load a sweep whose identity excludes the path of its file. Weft can be installed in another folder later."""
    sweep = load(paper.path(experiment.file), overrides=sets)
    sweep.named = replace(sweep.named, file=None)
    return sweep


def _frames(paper: Paper, ran: Sequence[tuple[Experiment, ResultSet]]) -> dict[str, pl.DataFrame]:
    """Make a frame for each experiment, with the points of all its sweeps."""
    frames: dict[str, pl.DataFrame] = {}
    for each, results in ran:
        frame = paper.frame(results)
        frames[each.name] = pl.concat([frames[each.name], frame]) if each.name in frames else frame
    return frames


def _part(figures: Iterable[Figure]) -> str:
    return "".join(f"-{each.name}" for each in figures)


def _check(root: Path, names: Iterable[str], folders: Iterable[str] = ("figures", "runs")) -> None:
    """Check, before any point runs, that all files of the reproduction can be written."""
    for place in (root, *root.parents):
        if place.is_file():
            what = f"{place} is a file, but the reproduction needs a folder of this name"
            raise ResultsError.saying(what, "name another folder with --out")
    if (root / "sweep.json").is_file():
        what = f"{root} contains the results of a sweep"
        raise ResultsError.saying(what, "name another folder with --out")
    for folder in (root, *(root / name for name in folders)):
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
    for place in (root / name for name in names):
        if place.is_dir():
            what = f"{place} is a folder, but the reproduction writes a file of this name"
            raise ResultsError.saying(what, "move the folder away, or name another folder with --out")


def _draw(paper: Paper, figure: Figure, measured: Measured, folder: Path) -> Shown:
    try:
        table = figure.rows(measured) if figure.rows else None
        if table is None:
            files = line_figures.saved(line_figures.drawn(figure, measured), folder, f"fig{figure.name}")
        else:
            files = [_written(table, folder / f"{figure.name}.csv")]
        return Shown(figure, files, remark=figure.remark(measured) if figure.remark else "", table=table)
    except LackingError as problem:
        return Shown(figure, absent=scoreboard.lacking(paper, figure.needs, measured) or str(problem))


def _written(table: pl.DataFrame, path: Path) -> Path:
    with replaced(path) as partial:
        table.write_csv(partial)
    return path


def _write(done: Reproduction) -> None:
    """Write the page for readers, and the scoreboard as CSV and as JSON for programs."""
    document = json.dumps(done.document(), indent=1) + "\n"
    texts = (reproduction_page.html(done), scoreboard.as_csv(done.rows), document)
    for name, text in zip(_FILES, texts, strict=True):
        with replaced(done.file(*name)) as partial:
            partial.write_text(text, encoding="utf-8")
