"""``weft plot``: a figure of results as PDF, SVG or PNG."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from weft.cli import DONE, arguments, folders
from weft.errors import WeftError
from weft.plot.kinds import FORMATS, KINDS, Takes

if TYPE_CHECKING:
    from weft.cli.arguments import Commands


def add(commands: Commands) -> None:
    """Add the command."""
    parser = arguments.command(
        commands,
        "plot",
        "draw a figure of results; without KIND, list the kinds",
        "weft plot latency_cdf results/quickstart --point load=0.1,policy=tcep --out cdf.pdf",
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "\n".join([f"{parser.epilog}", "", *_listing()])
    parser.add_argument("kind", metavar="KIND", nargs="?", help="what to draw (see below)")
    parser.add_argument("results", metavar="RESULTS", nargs="*", help="folders that `weft run` wrote")
    arguments.add_points(parser)
    parser.add_argument(
        "--out", metavar="FILE", type=Path, help="file to write (default: KIND.png in the first of RESULTS)"
    )
    parser.add_argument(
        "--format", choices=FORMATS, help="format of the file, without --out (whose ending chooses it; default: png)"
    )


def main(options: argparse.Namespace) -> int:
    """Draw; returns the exit status."""
    if options.kind is None:
        print("\n".join(_listing()))
        return DONE
    if options.kind not in KINDS and (Path(options.kind) / "sweep.json").is_file():
        what = f"{options.kind} is a folder of results, where the kind of figure belongs"
        raise WeftError.saying(what, f"write e.g. weft plot load {options.kind}; `weft plot` lists the kinds")
    if options.kind in KINDS and not options.results:
        raise WeftError.saying("no results are named", f"write e.g. weft plot {options.kind} results/quickstart")
    if options.out is not None and options.format not in (None, options.out.suffix[1:].lower()):
        what = f"--out {options.out} and --format {options.format} disagree"
        raise WeftError.saying(what, "leave --format out: the ending of --out chooses the format")

    from weft.plot.choice import Choice
    from weft.plot.draw import figure, save
    from weft.plot.kinds import known

    kind = known(options.kind)
    choice = Choice.of([folders.opened(folder) for folder in options.results], options.points)
    out = options.out or Path(options.results[0]) / f"{kind.name}.{options.format or 'png'}"
    print(f"picture  {save(figure(kind.name, choice), out)}")
    return DONE


def _listing() -> list[str]:
    """A line per kind, by what they draw."""
    width = max(map(len, KINDS))
    lines = []
    for takes in Takes:
        kinds = [kind for kind in KINDS.values() if kind.takes is takes]
        lines += ["", takes.value, *(f"  {kind.name.ljust(width)}  {kind.summary}" for kind in kinds)]
        lines += [f"  {''.ljust(width)}  ({kind.name} needs {kind.needs})" for kind in kinds if kind.needs]
    return lines[1:]
