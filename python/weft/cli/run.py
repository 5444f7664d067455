"""``weft run``: the missing points of a sweep, then a table, a picture and a CSV file."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

from weft.cli import DONE, STALLED, overrides

if TYPE_CHECKING:
    import argparse

    from weft.results import Results


def main(options: argparse.Namespace) -> int:
    """Run; returns the exit status."""
    from weft import table
    from weft.progress import Bar

    sweep = overrides.sweep(options)
    with Bar(sweep.name) as bar:
        results = sweep.run(
            options.out,
            jobs=options.jobs,
            threads=options.threads,
            blocks=options.blocks,
            force=options.force,
            watch=bar,
        )
    csv = results.root / "table.csv"
    results.frame.write_csv(csv)
    print(table.loads(results, width=shutil.get_terminal_size((120, 24)).columns))
    print(f"\npoints   {results.root / 'points'}\ntable    {csv}\npicture  {results.plot()}")
    return _report_stalls(results)


def _report_stalls(results: Results) -> int:
    """Print the wait-for cycle of every stuck point."""
    stalls = results.stalls
    for row, text in stalls:
        print(
            f"\nstuck: {results.describe(row)}\n{text}\nreplay: weft run {results.folder(row)}/scenario.yaml",
            file=sys.stderr,
        )
    return STALLED if stalls else DONE
