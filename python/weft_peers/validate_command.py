"""Command ``weft validate``: compares results of other simulators with runs of Weft."""

from __future__ import annotations

import argparse
import json
import re
from typing import TYPE_CHECKING

from weft.cli import DONE, FAILED, arguments
from weft.errors import PeerError

if TYPE_CHECKING:
    from weft.cli.arguments import Commands


def add(commands: Commands) -> None:
    """Add ``weft validate`` and its options to the command line."""
    parser = arguments.command(
        commands,
        "validate",
        "compare Weft with results of other simulators, row by row",
        "weft validate tests/data/golden/booksim.csv --filter 'torus8x8_uniform_1f 0.1$'",
    )
    parser.add_argument("files", metavar="FILE.csv", nargs="+", help="results of BookSim2, CAMINOS or FOGSim")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument(
        "--seeds",
        metavar="N",
        type=_seeds,
        default=5,
        help="runs of each row, each with a different seed; at least 5 (default: 5)",
    )
    parser.add_argument(
        "--filter",
        metavar="REGEX",
        default="",
        help="only rows with a matching 'peer case load', and the rows to which they are compared",
    )
    parser.add_argument(
        "--jobs", metavar="N", type=arguments.positive, help="runs at the same time (default: as many as cores)"
    )
    arguments.add_force_memory(parser)


def main(options: argparse.Namespace) -> int:
    """Run the peer's cases in Weft, compare the results, print the verdicts, and return the exit status."""
    from weft.runs.progress import Bar
    from weft_peers.validate import verdict_table
    from weft_peers.validate.golden import chosen, read
    from weft_peers.validate.run_cases import validate

    try:
        wanted = re.compile(options.filter)
    except re.error as problem:
        raise PeerError.saying(f"--filter {options.filter}: {problem}", "write a regular expression") from problem
    cases = chosen([case for file in options.files for case in read(file)], wanted)
    if not cases:
        raise PeerError.saying(
            "there is no row to compare", "name files with rows, or a --filter that matches some rows"
        )
    with Bar("validate") as bar:
        verdicts = validate(cases, seeds=options.seeds, jobs=options.jobs, force_memory=options.force_memory, watch=bar)
    print(json.dumps(verdict_table.document(verdicts), indent=1) if options.json else verdict_table.text(verdicts))
    return FAILED if any(verdict.answer == "fails" for verdict in verdicts) else DONE


def _seeds(text: str) -> int:
    seeds = arguments.positive(text)
    if seeds < 5:
        raise argparse.ArgumentTypeError(f"{seeds} seeds show too little of the spread of a run: use 5 or more")
    return seeds
