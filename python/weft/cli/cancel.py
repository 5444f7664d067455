"""``weft cancel`` ends the jobs and workers of a sweep."""

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
        "end the cluster jobs that run the points of a sweep; finished points stay",
        "weft cancel results/quickstart",
    )
    parser.add_argument("folder", metavar="DIR", help="folder of the results")


def main(options: argparse.Namespace) -> int:
    """Cancel the cluster jobs of a sweep and return the exit status."""
    from weft.runs import arrays
    from weft.runs.beacon import at_work

    root = Path(options.folder)
    cancelled = arrays.cancel(root)
    for array in cancelled.arrays:
        print(f"cancelled array {array.job} of {array.submitted_utc}")
    if cancelled.others:
        print(f"asked the workers of {cancelled.others} other run(s) to stop")
    if cancelled.unasked:
        print(f"Slurm did not receive the request: {cancelled.unasked}")
        print("  running jobs stop within seconds, and waiting jobs stop as soon as they start")
    if not cancelled.arrays and not cancelled.others:
        print("nothing to cancel: no cluster jobs run points of this sweep")
        for who in at_work(root):
            print(f"{who['host']}, process {who['pid']}, runs some points: press Ctrl-C there, or end it with `kill`")
    return DONE
