"""``weft cancel``: ends the jobs and workers of a sweep."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from weft.cli import DONE, arguments

if TYPE_CHECKING:
    import argparse

    from weft.cli.arguments import Commands


def add(commands: Commands) -> None:
    """Add the command."""
    parser = arguments.command(
        commands,
        "cancel",
        "end the jobs of a cluster that run the points of a sweep; finished points stay",
        "weft cancel results/quickstart",
    )
    parser.add_argument("folder", metavar="DIR", help="folder of the results")


def main(options: argparse.Namespace) -> int:
    """Cancel; returns the exit status."""
    from weft.runs import arrays
    from weft.runs.beacon import at_work

    root = Path(options.folder)
    cancelled = arrays.cancel(root)
    for array in cancelled.arrays:
        print(f"cancelled array {array.job} of {array.submitted_utc}")
    if cancelled.others:
        print(f"told the workers of {cancelled.others} other run(s) to stop")
    if cancelled.unasked:
        print(f"Slurm was not told: {cancelled.unasked}")
        print("  jobs that run stop within seconds, and those that wait as soon as they begin")
    if not cancelled.arrays and not cancelled.others:
        print("nothing to cancel: no jobs of a cluster run points of this sweep")
        for who in at_work(root):
            print(f"{who['host']}, process {who['pid']}, runs some: press Ctrl-C there, or end it with `kill`")
    return DONE
