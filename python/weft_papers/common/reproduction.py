"""Runs the experiments of a paper, draws its figures and judges its claims. All files are written into one folder."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from weft.results.store import replaced
from weft.runs.notebook_bar import shown
from weft.text import given
from weft_papers.common import line_figures, reproduction_page, scoreboard, side_by_side
from weft_papers.common.measured import LackingError, Measured
from weft_papers.common.reproduced import AllReproduced, Reproduction, Shown
from weft_papers.common.reproduction_plan import FILES, ReproductionPlan, check_folder, command, default_root

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from weft.api.sweep import Sweep
    from weft.results.result_set import ResultSet
    from weft_papers.common.paper import Experiment, Figure, Paper
    from weft_papers.common.standing import Standing

    Show = Callable[[Standing], None]
    Progress = Callable[[str], AbstractContextManager[Show]]


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
        A paper of `weft_papers.registry`.
    quick : bool
        Run fewer loads, shorter windows and scaled batches, which takes minutes instead of hours.
    out : path, optional
        Folder for all files; by default ``results/PAPER-quick`` or ``results/PAPER-full``.
    only : iterable of str, optional
        Names of the figures to draw; by default all figures. Only claims whose experiments these figures need are
        judged.
    seeds : int, optional
        Number of seeds that each sweep runs: the first ones of its list; by default all seeds. A later call can run
        more seeds in the same folder.
    jobs : int, optional
        Number of points that run at the same time; by default the number of cores.
    force_memory : bool
        Whether points also run if they need more memory together than is free.
    progress : callable, optional
        Function that takes the name of the paper and returns a context manager. The context manager yields a function,
        which `reproduce` calls with each new `Standing` in the thread of the caller. Without `progress`, a notebook
        shows a progress bar.

    Raises
    ------
    WeftError
        If a name in `only` selects no figure, the folder cannot be used, or a scenario cannot run.
    KeyboardInterrupt
        After Ctrl-C; finished points are saved.
    """
    plan = ReproductionPlan(paper, quick, list(only), out, seeds)
    (done,) = _carried_out([plan], paper.name, jobs=jobs, force_memory=force_memory, progress=progress)
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

    Another machine can run these sweeps. `reproduce` then reads the results in their folders. The loads near the knee
    of a curve depend on earlier results. Therefore a sweep of such loads is listed only if the earlier results exist.
    """
    return ReproductionPlan(paper, quick, list(only), out, seeds).sweeps()


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
    """Reproduce several papers, each in a separate folder, and write one page for all papers.

    The sweeps begin in the order of the papers. When the sweeps of a paper are done, its figures are drawn and its
    claims judged, while sweeps of the next paper run. If a sweep fails, later sweeps do not begin.

    Parameters
    ----------
    papers : sequence of Paper
        The papers in the order of the page.
    quick, seeds, jobs, force_memory
        As for `reproduce`.
    progress : callable, optional
        As for `reproduce`, but called once, with the text ``all papers``.
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
    root = default_root("all", quick=quick) if out is None else Path(out)
    check_folder(root, [f"{stem}{ending}" for stem, ending in FILES])
    plans = [ReproductionPlan(paper, quick, (), root / paper.name, seeds) for paper in papers]
    done = _carried_out(plans, "all papers", jobs=jobs, force_memory=force_memory, progress=progress)
    result = AllReproduced(done, command("all", quick=quick, seeds=seeds, out=out), root)
    with replaced(result.page) as partial:
        partial.write_text(reproduction_page.html_of_all(done, result.command), encoding="utf-8")
    with replaced(root / "scoreboard.json") as partial:
        partial.write_text(json.dumps(result.document(), indent=1) + "\n", encoding="utf-8")
    return result


def _carried_out(
    plans: Sequence[ReproductionPlan], name: str, *, jobs: int | None, force_memory: bool, progress: Progress | None
) -> list[Reproduction]:
    """Run the points that have no results yet. Then draw the figures and judge the claims of each paper.

    The figures of a paper are drawn as soon as its sweeps are done; sweeps of later papers continue meanwhile. An error
    in a drawing or a rule is raised after all sweeps have ended.
    """
    given.execution(jobs, 1, 0, None)
    for plan in plans:
        plan.check()
    sweeps = [(number, each) for number, plan in enumerate(plans) for each in plan.planned(_label(plan, plans))]
    waiting = [len(plan.needed()) for plan in plans]
    found: dict[int, list[ResultSet]] = {}
    done: list[Reproduction | Exception] = []

    def on_end(at: int, results: list[ResultSet]) -> None:
        found[at] = results
        waiting[sweeps[at][0]] -= 1
        while len(done) < len(plans) - 1 and not waiting[len(done)]:
            try:
                done.append(complete(len(done)))
            except Exception as problem:
                done.append(problem)

    def complete(number: int) -> Reproduction:
        return _completed(plans[number], [found[at] for at, (of, _) in enumerate(sweeps) if of == number])

    with _shown(name, progress) as show:
        every = [each for _, each in sweeps]
        side_by_side.run(every, jobs=jobs, force_memory=force_memory, show=show, on_end=on_end)
    done += [complete(number) for number in range(len(done), len(plans))]
    for problem in done:
        if isinstance(problem, Exception):
            raise problem
    return [each for each in done if isinstance(each, Reproduction)]


def _label(plan: ReproductionPlan, plans: Sequence[ReproductionPlan]) -> str:
    return plan.paper.name if len(plans) > 1 else ""


def _completed(plan: ReproductionPlan, found: Sequence[Sequence[ResultSet]]) -> Reproduction:
    """Draw the figures, judge the claims and write all files of a paper whose sweeps are done."""
    paper = plan.paper
    ran = [(each, results) for (each, _, _), rounds in zip(plan.needed(), found, strict=True) for results in rounds]
    measured = Measured(_frames(paper, ran), plan.quick)
    shown = [_draw(paper, figure, measured, plan.root / "figures") for figure in plan.figures]
    rows = scoreboard.judge(paper, measured)
    done = Reproduction(paper, plan.quick, plan.command, plan.root, plan.part, ran, shown, rows)
    _write(done)
    return done


@contextmanager
def _shown(name: str, progress: Progress | None) -> Iterator[Show | None]:
    """Yield the function that shows each `Standing`: from `progress`, or by default from a notebook's progress bar."""
    if progress is not None:
        with progress(name) as show:
            yield show
        return
    with shown(name, None) as watch:
        yield (lambda standing: watch(standing.status)) if watch else None


def _frames(paper: Paper, ran: Sequence[tuple[Experiment, ResultSet]]) -> dict[str, pl.DataFrame]:
    """Make a frame for each experiment, with the points of all its sweeps."""
    frames: dict[str, pl.DataFrame] = {}
    for each, results in ran:
        frame = paper.frame(results)
        frames[each.name] = pl.concat([frames[each.name], frame]) if each.name in frames else frame
    return frames


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
    for name, text in zip(FILES, texts, strict=True):
        with replaced(done.file(*name)) as partial:
            partial.write_text(text, encoding="utf-8")
