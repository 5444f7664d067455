"""Stuck points: what waits for what, and the command that runs one again."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from weft.cli import DONE, STALLED

if TYPE_CHECKING:
    from weft.results import Results


# Stuck points whose packets are listed; of further ones, which tend to look alike, only the first line.
_LISTED = 3


def report(results: Results) -> int:
    """Print the wait-for cycles of the stuck points; returns the exit status."""
    stalls = results.stalls
    for number, (row, text) in enumerate(stalls):
        words = text if number < _LISTED else text.partition("\n")[0]
        print(f"\nstuck: {results.describe(row)}\n{words}\nreplay: {_replay(results, row)}", file=sys.stderr)
    return STALLED if stalls else DONE


def _replay(results: Results, row: int) -> str:
    """A command that runs a point and only that point, in a folder in which it has no results."""
    scenario, out = results.folder(row) / "scenario.yaml", results.root / "replay"
    return shlex.join([*_weft(), "run", str(scenario), "--out", str(out), "--force"])


def _weft() -> list[str]:
    """How this program was called, which need not be on the search path."""
    called = Path(sys.argv[0])
    return [sys.argv[0]] if called.stem == "weft" and called.is_file() else [sys.executable, "-m", "weft"]
