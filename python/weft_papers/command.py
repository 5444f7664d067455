"""``weft reproduce`` draws the figures of a paper, and prints a scoreboard of its claims."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.cli import DONE, arguments, slurm, stalls
from weft.errors import WeftError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft.cli.arguments import Commands
    from weft_papers.common.reproduced import AllReproduced, Reproduction


def add(commands: Commands) -> None:
    """Add ``weft reproduce`` and its options to the command line."""
    from weft_papers.registry import ALL, PAPERS

    parser = arguments.command(
        commands,
        "reproduce",
        "run the experiments of a paper: its figures, a report, and a scoreboard of its claims",
        "weft reproduce tcep --quick --only 9a 12",
    )
    listed = "; ".join(f"{name}: {words}" for name, words in PAPERS.items())
    parser.add_argument(
        "paper", metavar="PAPER", help=f"the paper ({listed}; {ALL}: all papers, and one page with all of them)"
    )
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--quick", action="store_true", help="fewer loads, shorter windows, scaled batches (default)")
    length.add_argument(
        "--full",
        action="store_true",
        help="all experiments of the paper, from an hour to a night; finished points are not run again",
    )
    parser.add_argument("--out", metavar="DIR", type=Path, help="folder for all results (default: results/PAPER-quick)")
    parser.add_argument(
        "--only", metavar="FIG", nargs="+", default=[], help="run only these figures: 9a, or 9 for all parts of Fig. 9"
    )
    parser.add_argument(
        "--seeds",
        metavar="N",
        type=arguments.positive,
        help="run only the first N seeds of each sweep; later runs can add the other seeds in the same folder",
    )
    parser.add_argument("--json", action="store_true", help="print the scoreboard as JSON instead of a table")
    parser.add_argument(
        "--jobs",
        metavar="N",
        type=arguments.positive,
        help="number of points that run at the same time (default: number of cores)",
    )
    arguments.add_force_memory(parser)
    slurm.add(parser, "submit the points as arrays of jobs, one for each sweep, instead of running them")


def main(options: argparse.Namespace) -> int:
    """Run the experiments, draw the figures, judge the claims, print the scoreboard, and return the exit status."""
    from weft.cli.interrupt import interruptible
    from weft_papers.common import reproduction
    from weft_papers.common.paper_bar import PaperBar
    from weft_papers.registry import ALL, PAPERS, paper

    slurm.check(options)
    settings: dict[str, Any] = {"quick": not options.full, "out": options.out, "seeds": options.seeds}
    if options.paper == ALL and options.only:
        what = "--only names figures of one paper, but all papers are requested"
        raise WeftError.saying(what, f"name one of {', '.join(PAPERS)}, or remove --only")
    if options.on and _submitted(options, settings):
        return DONE
    settings |= {"jobs": options.jobs, "force_memory": options.force_memory, "progress": PaperBar}
    with interruptible():
        if options.paper == ALL:
            whole = reproduction.reproduce_all([paper(name) for name in PAPERS], **settings)
            done: Sequence[Reproduction] = whole.papers
            document, text = whole.document(), _all_text(whole)
        else:
            one = reproduction.reproduce(paper(options.paper), only=options.only, **settings)
            done, document, text = [one], one.document(), _text(one)
    print(json.dumps(document, indent=1) if options.json else text)
    return max((stalls.report(results) for each in done for _, results in each.ran), default=DONE)


def _submitted(options: argparse.Namespace, settings: dict[str, Any]) -> bool:
    """Submit all points that have no results yet to Slurm, and print a report for each sweep.

    Returns false if there is nothing to submit, because all points have results.
    """
    from weft_papers.common import reproduction
    from weft_papers.registry import ALL, paper

    if options.paper == ALL:
        what = "--on slurm is for one paper, but all papers are requested"
        raise WeftError.saying(what, "submit each paper separately, by its name")
    whole_points = {"threads": 1, "blocks": 0, "checkpoint_every": None}
    found = False
    for folder, sweep in reproduction.sweeps(paper(options.paper), only=options.only, **settings):
        given = argparse.Namespace(**vars(options) | whole_points | {"out": folder})
        found = slurm.submitted(sweep, given) or found
    return found


def _all_text(done: AllReproduced) -> str:
    """Return text that counts the claims of each paper by verdict, and names the HTML page of all papers."""
    from weft_papers.common import scoreboard

    lines = [f"{each.paper.name.ljust(10)}  {scoreboard.count_words(each.rows)}" for each in done.papers]
    return "\n".join([*lines, "", f"report  {done.page}"])


def _text(done: Reproduction) -> str:
    """Return text with a paper's scoreboard, the figures that were not drawn, and the written folders and files."""
    from weft_papers.common import scoreboard

    absent = [f"figure {each.figure.name}: {each.absent}" for each in done.shown if each.absent]
    lines = [*scoreboard.table(done.rows), "", *absent, "", scoreboard.count_words(done.rows)]
    places = {"figures": done.root / "figures", "scores": done.file("scoreboard", ".csv")}
    places["report"] = done.file("report", ".html")
    return "\n".join([*lines, "", *(f"{name.ljust(7)}  {path}" for name, path in places.items())])
