"""Prints stuck points.

For each stuck point, the output lists the waiting packets, or the waiting ranks of a program, and the command that runs
the point again.
"""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from weft.cli import DONE, STALLED, folders
from weft.errors import ResultsError

if TYPE_CHECKING:
    import argparse

    from weft.results.result_set import ResultSet


# Maximum number of stuck points whose packets are listed. Each further point gets one line.
_LISTED = 3


def report(results: ResultSet) -> int:
    """Print the cycles of packets that wait for each other at stuck points, and return the exit status."""
    stalls = results.stalls
    for number, (row, text) in enumerate(stalls):
        words = text if number < _LISTED else text.partition("\n")[0]
        print(f"\nstuck: {results.describe(row)}\n{words}\nreplay: {_replay(results, row)}", file=sys.stderr)
    return STALLED if stalls else DONE


def explain(options: argparse.Namespace) -> int:
    """``weft explain stall`` prints and draws the packets that wait for each other, and returns the exit status.

    If a program stopped although no packet waits, the command prints the ranks and their missing messages, without a
    picture.

    Raises
    ------
    ResultsError
        If no chosen point got stuck.
    """
    from weft.plot import stall
    from weft.plot.choice import Choice
    from weft.plot.draw import drawn, save, save_numbers

    results = folders.opened(options.file)
    stuck = dict(results.stalls)
    (chosen,) = Choice.of([results], options.points).parts
    rows = [row for row in chosen.points if row in stuck]
    if not rows:
        what = f"{results.root}: no chosen point got stuck ({len(stuck)} of {len(results)} points did)"
        remedy = f"choose one of {_some(list(stuck))} with --point" if stuck else "there is nothing to explain"
        raise ResultsError.saying(what, remedy)
    choice = Choice.of([results], [rows[0]])
    in_network = bool(results.summaries[rows[0]].get("stall_wait_for"))
    if options.json:
        halted = {"halted": results.summaries[rows[0]].get("stall_halted", [])}
        print(json.dumps(stall.stalled(choice.spot()) if in_network else halted, indent=1))
        return DONE
    if not in_network and options.out is not None:
        what = f"{results.describe(rows[0])}: no packet waits in the network, so there is no picture"
        raise ResultsError.saying(what, "leave out --out: the text names what waits")
    print(f"stuck: {results.describe(rows[0])}\n{stuck[rows[0]]}\nreplay: {_replay(results, rows[0])}")
    if rows[1:]:
        print(f"also stuck: points {_some(rows[1:])} (choose one with --point)")
    if in_network:
        drawing = drawn(stall, choice)
        path = save(drawing, options.out or results.root / "stall.png")
        print(f"picture  {path}\nnumbers  {save_numbers(drawing, path)}")
    return DONE


def _some(rows: list[int]) -> str:
    """The indices of stuck points as a string; only the first ones if there are many."""
    return ", ".join([*map(str, rows[:_LISTED]), *(["..."] if rows[_LISTED:] else [])])


def _replay(results: ResultSet, row: int) -> str:
    """The command that runs only this point, in a new folder, to reproduce its stall."""
    folder = results.folder(row)
    scenario, out = folder / "scenario.yaml", results.root / f"replay-{folder.name}"
    return shlex.join([*_weft(), "run", str(scenario), "--out", str(out), "--force"])


def _weft() -> list[str]:
    """The words that start this program.

    The words contain the full path of the program, because the shell possibly does not find it by its name.
    """
    called = Path(sys.argv[0])
    return [sys.argv[0]] if called.stem == "weft" and called.is_file() else [sys.executable, "-m", "weft"]
