"""``weft schema`` prints the JSON Schema of a scenario."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from weft.cli import DONE, arguments

if TYPE_CHECKING:
    import argparse

    from weft.cli.arguments import Commands


def add(commands: Commands) -> None:
    """Add the command."""
    arguments.command(
        commands,
        "schema",
        "print the JSON Schema of a scenario, for editors",
        "weft schema > weft.schema.json",
    )


def main(options: argparse.Namespace) -> int:  # noqa: ARG001 - all commands have one signature
    """Print the schema of scenarios as JSON and return the exit status."""
    from weft import _engine

    print(json.dumps(_engine.schema(), indent=2))
    return DONE
