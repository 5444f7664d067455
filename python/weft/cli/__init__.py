"""The command line ``weft``.

Each command has a module; the function `main` of the module returns the exit status (one of `EXIT_STATUS`).

The module `commands` lists all commands, including those of other packages.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from typing import TYPE_CHECKING

from weft.cli import commands, warned
from weft.errors import StuckError, WeftError, WriteError, reason

if TYPE_CHECKING:
    from collections.abc import Sequence

DONE, FAILED, BAD_INPUT, STALLED, INTERRUPTED = 0, 1, 2, 4, 130
EXIT_STATUS = (
    f"{DONE} done (saturation is a result), {FAILED} a row of `weft validate` failed, {BAD_INPUT} bad input or a file "
    f"that can't be written, {STALLED} a network or a program got stuck, {INTERRUPTED} interrupted"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a file name may contain bytes that are not valid text
    status = _status(sys.argv[1:] if arguments is None else arguments)
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as problem:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(problem, BrokenPipeError):  # a reader of our output can end early
            return _refused(WriteError.of("standard output", problem))
    return status


def _status(arguments: Sequence[str]) -> int:
    """Run the command of the parsed arguments and return the exit status."""
    try:
        options = _parser(next(iter(arguments), None)).parse_args(arguments)
        with warned.plainly():
            status: int = options.main(options)
    except WeftError as problem:
        return _refused(problem)
    except KeyboardInterrupt:
        print("interrupted; run the same command again to continue with the missing points", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        return DONE
    except OSError as problem:
        if problem.filename is None:  # no file: printing the output failed
            return _refused(WriteError.of("standard output", problem))
        why, remedy = reason(problem.filename, problem)
        return _refused(WeftError.saying(f"{problem.filename} can't be used: {why}", remedy))
    return status


def _refused(problem: WeftError) -> int:
    """Print the error of a refused command and return the exit status."""
    print(problem.text, file=sys.stderr)
    return STALLED if isinstance(problem, StuckError) else BAD_INPUT


def _parser(wanted: str | None) -> argparse.ArgumentParser:
    """The parser of one command if `wanted` is its name; otherwise the parser of all commands."""
    from weft.cli.parser import Parser

    parser = Parser(
        prog="weft",
        description="Simulate interconnection networks flit by flit: speed, energy, robustness.",
        epilog=f"Exit status: {EXIT_STATUS}.",
    )
    parser.add_argument("--version", action=_Version, help="print the version and exit")
    choices = parser.add_subparsers(required=True, metavar="COMMAND")
    # for a command of Weft itself, Weft does not search other packages for commands, so that it starts faster
    known = [wanted] if wanted in commands.CORE else commands.names()
    for name in [wanted] if wanted in known else known:
        try:
            module = commands.module(name)
        except WeftError:
            if name == wanted:
                raise
            continue  # a broken command of another package must not stop other commands or the help
        module.add(choices)
        choices.choices[name].set_defaults(main=module.main)
    return parser


class _Version(argparse.Action):
    """The option ``--version`` prints the version. The engine is loaded only if the option is used."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from weft import _engine

        print(f"weft {_engine.VERSION}")
        parser.exit()
