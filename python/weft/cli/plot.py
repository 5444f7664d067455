"""``weft plot`` draws a figure of results as PDF, SVG or PNG."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from weft.cli import DONE, arguments, folders
from weft.errors import WeftError
from weft.plot.appearance import LEGENDS, Appearance
from weft.plot.kinds import FORMATS, KINDS, Takes, check_jobs, check_queues, known
from weft.text import shell

if TYPE_CHECKING:
    from weft.cli.arguments import Commands

# Options of the command line that are passed to `Appearance.of`, as parameters of the same names.
_APPEARANCE = ("width", "height", "labels", "title", "legend", "order", "xlim", "ylim", "style", "panels", "units")


def add(commands: Commands) -> None:
    """Add the command."""
    parser = arguments.command(
        commands,
        "plot",
        "draw a figure of results; without KIND, list the kinds",
        "weft plot latency_accepted results/quickstart --width column --no-title --labels tcep=TCEP --out fig3.pdf",
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "\n".join([f"{parser.epilog}", "", *_listing()])
    parser.add_argument("kind", metavar="KIND", nargs="?", help="kind of figure (see below)")
    parser.add_argument("results", metavar="RESULTS", nargs="*", help="folders of results")
    arguments.add_points(parser)
    jobs = "jobs by name, each with its own curve in figures of latencies; `all`: every job (repeatable)"
    parser.add_argument("--job", metavar="NAME", action="append", default=[], dest="jobs", help=jobs)
    at = "cycle of the map in figures of queues (default: the cycle with the most full ports)"
    parser.add_argument("--at", metavar="CYCLE", type=int, help=at)
    full = "filled share of the buffer above which a queue counts as full, in figures of queues (default: 0.5)"
    parser.add_argument("--full", metavar="SHARE", type=float, help=full)
    parser.add_argument(
        "--out", metavar="FILE", type=Path, help="file to write (default: KIND.png in the first of RESULTS)"
    )
    parser.add_argument(
        "--format", choices=FORMATS, help="format of the file, without --out (its ending sets the format; default: png)"
    )
    parser.add_argument("--no-csv", action="store_true", help="do not write a CSV file with the numbers of the figure")
    _add_appearance(parser.add_argument_group("appearance of the figure"))
    arguments.in_any_order(parser)


def _add_appearance(group: argparse._ArgumentGroup) -> None:
    """Add the options that `weft.plot.appearance` reads."""
    width = "column (3.5 in), page (7.16 in), or a length: inches, or e.g. 84mm or 240pt (points of TeX)"
    group.add_argument("--width", metavar="column|page|INCHES", help=width)
    group.add_argument("--height", metavar="INCHES", help="height of the whole figure; units as in --width")
    labels = "replace words in the legend and in titles of panels and axes (one or more; repeatable)"
    group.add_argument("--labels", metavar="OLD=NEW", nargs="+", action="extend", help=labels)
    title = group.add_mutually_exclusive_group()
    title.add_argument("--title", metavar="TEXT", help="title of the figure")
    title.add_argument("--no-title", action="store_false", dest="title", help="no title, as in a paper with a caption")
    legend = f"place of the names: {', '.join(LEGENDS)} (default: {LEGENDS[0]}; direct: at the ends of the curves)"
    group.add_argument("--legend", metavar="PLACE", help=legend)
    order = "labels of the first curves, points or panels, in this order and with the first colours"
    group.add_argument("--order", metavar="LABEL,...", help=order)
    ends = "ends of the {} axes; one end may be omitted, e.g. ,0.5"
    group.add_argument("--xlim", metavar="LOW,HIGH", help=ends.format("horizontal"))
    y = f"{ends.format('vertical')}; for one quantity, put words of its label first: latency=0,60 (repeatable)"
    group.add_argument("--ylim", metavar="[AXIS=]LOW,HIGH", action="append", help=y)
    arguments.add_units(group)
    panels = "only these panels of a figure over load, by words of axis or title, in this order, e.g. latency,accepted"
    group.add_argument("--panels", metavar="WORDS,...", help=panels)
    group.add_argument("--style", metavar="FILE", help="matplotlib style sheet, which overrides Weft's settings")


def main(options: argparse.Namespace) -> int:
    """Draw the figure or list the kinds of figures, and return the exit status."""
    if options.kind is None:
        print("\n".join(_listing()))
        return DONE
    if options.kind not in KINDS and (Path(options.kind) / "sweep.json").is_file():
        what = f"{options.kind} is a folder of results, but the first argument is the kind of figure"
        raise WeftError.saying(
            what, f"write e.g. {shell.command('plot', 'load', options.kind)}; `weft plot` lists the kinds"
        )
    appearance = Appearance.of(**{name: getattr(options, name) for name in _APPEARANCE})
    if options.kind in KINDS and not options.results:
        raise WeftError.saying("no results are named", f"write e.g. weft plot {options.kind} results/quickstart")
    if options.out is not None and options.format not in (None, options.out.suffix[1:].lower()):
        what = f"--out {options.out} and --format {options.format} disagree"
        raise WeftError.saying(what, "remove --format: the ending of --out sets the format")

    kind = known(options.kind)

    from weft.plot.choice import Choice
    from weft.plot.draw import figure, save, save_numbers

    check_jobs(kind.name, options.jobs)
    check_queues(kind.name, options.at, options.full)
    choice = Choice.of([folders.opened(folder) for folder in options.results], options.points, appearance)
    choice = replace(choice, jobs=tuple(options.jobs), at=options.at, full=options.full)
    out = options.out or Path(options.results[0]) / f"{kind.name}.{options.format or 'png'}"
    drawing = figure(kind.name, choice)
    print(f"picture  {save(drawing, out)}")
    if not options.no_csv:
        print(f"numbers  {save_numbers(drawing, out)}")
    return DONE


def _listing() -> list[str]:
    """The kinds of figures, a line per kind, grouped by subject."""
    width = max(map(len, KINDS))
    lines = []
    for takes in Takes:
        kinds = [kind for kind in KINDS.values() if kind.takes is takes]
        lines += ["", takes.value, *(f"  {kind.name.ljust(width)}  {kind.summary}" for kind in kinds)]
        lines += [f"  {''.ljust(width)}  ({kind.name} needs {kind.needs})" for kind in kinds if kind.needs]
    return lines[1:]
