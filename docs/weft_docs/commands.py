"""Make the page of the command line, from the parsers of `weft`."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING

from weft import cli
from weft_docs import markdown

if TYPE_CHECKING:
    from collections.abc import Iterator

INTRODUCTION = f"""\
# Command line

`weft COMMAND --help` prints what stands here. Exit status: {cli.EXIT_STATUS}.
"""


def pages() -> dict[str, str]:
    """Make the page. The key of the result is the name of the page."""
    return {"reference/commands": "\n\n".join([INTRODUCTION, *_commands(cli._parser(None))]) + "\n"}


def _commands(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Write a section for each command, and below it the sections of its subcommands."""
    for action in parser._actions:  # argparse has no other way to ask a parser for its options
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _command(command)
                yield from _commands(command)


def _command(parser: argparse.ArgumentParser) -> Iterator[str]:
    yield f"{'#' * parser.prog.count(' ')}# `{parser.prog}`"
    yield markdown.comment(parser.description or "")
    usage = re.sub(r"\s+", " ", parser.format_usage().removeprefix("usage: "))
    yield f"```text\n{usage.strip()}\n```"
    rows = [
        [_name(action), markdown.comment((action.help or "").replace("%%", "%"))]
        for action in parser._actions
        if not isinstance(action, argparse._SubParsersAction | argparse._HelpAction)
    ]
    if rows:
        yield markdown.table(["option", "meaning"], rows)
    example, _, rest = (parser.epilog or "").partition("\n")
    if example:
        yield f"```sh\n{example.removeprefix('Example: ')}\n```"
    if rest.strip():
        yield f"```text\n{rest.strip()}\n```"


def _name(action: argparse.Action) -> str:
    value = action.metavar or (action.dest if action.nargs != 0 else "")
    words = " ".join(value) if isinstance(value, tuple) else value
    return " ".join(f"`{name} {words}`".replace(" `", "`") for name in action.option_strings) or f"`{words}`"
