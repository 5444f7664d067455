"""The command line: ``weft run | saturation | check | explain | list | schema | validate``.

Exit status: 0 done (saturation is a result), 1 a comparison failed or a file could not be written, 2 bad input,
4 a network got stuck, 130 interrupted.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

from weft.errors import WeftError
from weft.quantities import TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Sequence

DONE, FAILED, BAD_INPUT, STALLED, INTERRUPTED = 0, 1, 2, 4, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names of files are not always text
    status = _status(_parser().parse_args(arguments))
    try:
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough: that changes nothing
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status


def _status(options: argparse.Namespace) -> int:
    """Run a command; returns the exit status."""
    try:
        status: int = import_module(f"weft.cli.{options.module}").main(options)
    except WeftError as problem:
        print(problem.text, file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("interrupted; the same command goes on with what is missing", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        return DONE
    except OSError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return FAILED
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="weft",
        description="Simulate interconnection networks flit by flit: speed, energy, robustness.",
        epilog="Exit status: 0 done, 1 disagreement or failure, 2 bad input, 4 a network got stuck, 130 interrupted.",
    )
    parser.add_argument("--version", action=_Version, help="print the version and exit")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_run(commands)
    _add_saturation(commands)
    _add_check(commands)
    _add_explain(commands)
    _add_list(commands)
    _add_schema(commands)
    _add_validate(commands)
    return parser


class _Version(argparse.Action):
    """Prints the version; package metadata is read only when asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"weft {version('weft')}")
        parser.exit()


if TYPE_CHECKING:
    _Commands = argparse._SubParsersAction[argparse.ArgumentParser]


def _command(commands: _Commands, name: str, module: str, help: str, example: str) -> argparse.ArgumentParser:
    description = f"{help[0].upper()}{help[1:]}."
    parser = commands.add_parser(name, help=help, description=description, epilog=f"Example: {example}")
    parser.set_defaults(module=module)
    return parser


def _add_scenario(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="scenario (YAML)")
    parser.add_argument(
        "--set",
        metavar="PATH=VALUE",
        action="append",
        default=[],
        dest="sets",
        help="override a value before the sweep expands, e.g. --set traffic.load=0.3 (repeatable)",
    )


def _add_run(commands: _Commands) -> None:
    parser = _command(
        commands,
        "run",
        "run",
        "run the points of a scenario that have no results yet",
        "weft run examples/quickstart.yaml --set traffic.load=0.3",
    )
    _add_scenario(parser)
    parser.add_argument("--out", metavar="DIR", help="folder of the results (default: results/<name of FILE>)")
    _add_execution(parser)
    parser.add_argument("--force", action="store_true", help="run all points again")


def _add_saturation(commands: _Commands) -> None:
    parser = _command(
        commands,
        "saturation",
        "saturation",
        "search the load at which a network saturates, for every combination that a scenario sweeps besides load",
        "weft saturation examples/dragonfly.yaml --set routing=dragonfly_ugal --tolerance 0.01",
    )
    _add_scenario(parser)
    how_exactly = f"how exactly (default: {TOLERANCE})"
    parser.add_argument("--tolerance", metavar="LOAD", type=float, default=TOLERANCE, help=how_exactly)
    parser.add_argument("--from", metavar="LOAD", type=float, dest="lower", help="lowest load (default: the tolerance)")
    parser.add_argument("--to", metavar="LOAD", type=float, default=1.0, dest="upper", help="highest load (default: 1)")
    parser.add_argument("--seeds", metavar="N", type=_positive, default=1, help="runs of each load (default: 1)")
    parser.add_argument("--out", metavar="DIR", help="folder of the results (default: results/<name>-saturation)")
    _add_execution(parser)


def _add_execution(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--jobs", metavar="N", type=_positive, help="points at a time (default: all cores)")
    parser.add_argument("--threads", metavar="N", type=_positive, default=1, help="threads inside a point (default: 1)")
    parser.add_argument(
        "--blocks",
        metavar="N",
        type=_positive,
        default=0,
        help="blocks of routers inside a point (default: chosen)",
    )


def _add_check(commands: _Commands) -> None:
    parser = _command(
        commands,
        "check",
        "check",
        "check a scenario; print it with all defaults and what it implies",
        "weft check examples/torus.yaml --set routing.dimension_order.dateline=entry",
    )
    _add_scenario(parser)


def _add_explain(commands: _Commands) -> None:
    parser = _command(
        commands,
        "explain",
        "explain",
        "explain the network of a scenario (degree, distances, bisection), or the paths between two terminals",
        "weft explain routing examples/dragonfly.yaml --from 3 --to 60 --set routing=dragonfly_ugal",
    )
    parser.add_argument("subject", choices=["topology", "routing"], help="what to explain")
    _add_scenario(parser)
    parser.add_argument("--from", metavar="N", type=_natural, dest="source", help="terminal that sends (routing)")
    parser.add_argument("--to", metavar="N", type=_natural, dest="target", help="terminal that receives (routing)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def _add_list(commands: _Commands) -> None:
    parser = _command(
        commands,
        "list",
        "catalogue",
        "list the models that a scenario can name, and the parameters of one",
        "weft list routing ugal_p",
    )
    parser.add_argument("family", metavar="FAMILY", nargs="?", help="only this family")
    parser.add_argument("model", metavar="MODEL", nargs="?", help="the parameters of this model")


def _add_schema(commands: _Commands) -> None:
    _command(
        commands,
        "schema",
        "schema",
        "print the JSON Schema of a scenario, for editors",
        "weft schema > weft.schema.json",
    )


def _add_validate(commands: _Commands) -> None:
    parser = _command(
        commands,
        "validate",
        "validate",
        "compare with results of other simulators, side by side",
        "weft validate booksim.csv --filter 'torus .* 0.1$'",
    )
    parser.add_argument("files", metavar="FILE.csv", nargs="+", help="results of BookSim2 or CAMINOS")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--seeds", metavar="N", type=_seeds, default=5, help="runs of each row, 5 or more (default: 5)")
    parser.add_argument("--filter", metavar="REGEX", default="", help="only rows whose 'peer case load' matches")
    parser.add_argument("--jobs", metavar="N", type=_positive, help="runs at a time (default: all cores)")


def _natural(text: str) -> int:
    if not text.isdecimal() or int(text) >= 1 << 32:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of a terminal")
    return int(text)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number above 0")
    return int(text)


def _seeds(text: str) -> int:
    seeds = _positive(text)
    if seeds < 5:
        raise argparse.ArgumentTypeError(f"{seeds} seeds say too little about the spread of a run: 5 or more")
    return seeds
