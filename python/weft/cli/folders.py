"""Opens results folders that the command line names, and warns of damaged or unfinished points."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from weft.text import shell

if TYPE_CHECKING:
    from weft.api.results import Results

# Maximum number of other runs in a folder that the warning lists.
_LISTED = 4


def opened(folder: str) -> Results:
    """Open a results folder, and warn of points that are damaged or not finished.

    Raises
    ------
    ResultsError
        If the folder was not written by a sweep, or has no usable point.
    """
    from weft.api import results
    from weft.results import notes

    read = results.open_results(folder)
    if lines := notes.damage(read):
        print(
            "\n".join(f"warning: {line}" if not number else line for number, line in enumerate(lines)), file=sys.stderr
        )
    for line in notes.unfinished(read):
        print(f"warning: {line}", file=sys.stderr)
    return read


def tell_of_others(folder: str | Path) -> None:
    """Warn of other runs and jobs that write to the folder of a run that is about to start, or will do so later."""
    from weft.results.store import Store
    from weft.runs.arrays import standing
    from weft.runs.beacon import at_work

    twice = "both may run the same points"
    at = at_work(Path(folder))
    for who in at[:_LISTED]:
        print(f"warning: {who['host']}, process {who['pid']}, also runs points in {folder}: {twice}", file=sys.stderr)
    if len(at) > _LISTED:
        print(f"warning: and {len(at) - _LISTED} more", file=sys.stderr)
    for array in standing(Store(folder)):
        what = f"points of {folder} were submitted to Slurm (array {array.job}), and its jobs may still run: {twice}"
        print(f"warning: {what}; check with {shell.command('status', folder)}", file=sys.stderr)
