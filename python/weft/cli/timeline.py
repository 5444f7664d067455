"""``weft timeline`` writes ranks, messages, packets and link states as a trace for Perfetto or chrome://tracing."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from weft.cli import DONE, STALLED, arguments, overrides, watched
from weft.errors import ScenarioError, WriteError

if TYPE_CHECKING:
    import argparse

    from weft.api.sweep import Sweep
    from weft.cli.arguments import Commands


def add(commands: Commands) -> None:
    """Add the command."""
    parser = arguments.command(
        commands,
        "timeline",
        "write ranks, messages, packets and link states as a trace for ui.perfetto.dev and chrome://tracing",
        "weft timeline examples/quickstart.yaml --set traffic.load=0.3 --packets 20 --out trace.json",
    )
    arguments.add_scenario(parser)
    parser.add_argument("--out", metavar="FILE", default="trace.json", help="file to write (default: trace.json)")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--watch",
        metavar="PACKET",
        nargs="+",
        type=arguments.packet,
        default=[],
        help="packets to show: TERMINAL:NUMBER, or TERMINAL:A-B",
    )
    which.add_argument(
        "--packets",
        metavar="N",
        type=arguments.positive,
        default=100,
        help="number of first packets of the measured window to show (default: 100)",
    )
    parser.add_argument(
        "--from-cycle", metavar="A", type=arguments.cycle, default=0, help="the trace begins with cycle A (default: 0)"
    )
    parser.add_argument(
        "--to-cycle",
        metavar="B",
        type=arguments.cycle,
        help="the trace ends before cycle B (default: the end of the run)",
    )
    parser.add_argument(
        "--control-packets",
        metavar="N",
        type=arguments.natural,
        default=1000,
        help="number of first control packets of the power policy to show (default: 1000)",
    )
    parser.add_argument(
        "--kinds",
        metavar="KIND",
        nargs="+",
        type=arguments.word,
        default=[],
        help="only control packets of these kinds",
    )
    parser.add_argument(
        "--routers",
        metavar="ROUTER",
        nargs="+",
        type=arguments.word,
        default=[],
        help="only links at these routers, and control packets from them, to them and about them",
    )
    parser.add_argument(
        "--threads", metavar="N", type=arguments.positive, default=1, help="threads that work on the run (default: 1)"
    )
    parser.add_argument(
        "--blocks", metavar="N", type=arguments.positive, default=0, help="blocks of routers (default: Weft chooses)"
    )
    arguments.add_force_memory(parser)


def main(options: argparse.Namespace) -> int:
    """Run the first point, write its trace, and return the exit status."""
    from weft.cli.interrupt import interruptible
    from weft.results.control_messages import Wanted
    from weft.runs import watch
    from weft.timeline import trace_file

    file = _writable(Path(options.out))
    sweep = _recording(options)
    with interruptible():
        recorded = trace_file.record(
            sweep.points[0],
            options.watch,
            options.packets,
            wanted=Wanted(options.kinds, options.routers, options.control_packets),
            from_cycle=options.from_cycle,
            to_cycle=options.to_cycle,
            threads=options.threads,
            blocks=options.blocks,
            force_memory=options.force_memory,
        )
    slices = recorded.write(file)
    finished = recorded.finished
    for line in [*watched.taken(sweep, "timeline of"), *watch.missing(finished)]:
        print(line)
    print(f"{slices} slices in {file}: open it at https://ui.perfetto.dev or in chrome://tracing")
    if finished.summary["link_states_complete"] is False:
        print("states of links end early: raise measure.link_states.max_spans to have all of them")
    if finished.summary["control_packets_complete"] is False:
        print("control packets end early: raise measure.control_packets.max_packets to have all of them")
    for name, key, what in (
        ("rank_states", "max_spans", "states of ranks end"),
        ("message_times", "max_messages", "messages end"),
    ):
        if finished.summary[f"{name}_complete"] is False:
            print(f"{what} early: raise measure.{name}.{key} to have all of them")
    if finished.summary["control_packets"] is None and finished.summary["link_transitions"] > 0:
        print(f"routers send no control packets under {finished.summary['policy']}")
    if recorded.left_out:
        print(
            f"{recorded.left_out} control packets omitted: select with --kinds, --routers, --control-packets or cycles"
        )
    if finished.stalled is None:
        return DONE
    print(f"\n{finished.stalled}", file=sys.stderr)
    return STALLED


def _writable(file: Path) -> Path:
    """Check before the run that the trace file can be written."""
    if file.exists() and not file.is_file():
        raise ScenarioError.saying(f"--out: {file} is not a file", "name a file, for example trace.json")
    if not file.parent.is_dir():
        if os.path.lexists(file.parent):
            raise ScenarioError.saying(f"--out: {file.parent} is not a folder", "name a file in a folder")
        what = f"--out: there is no folder {file.parent}"
        raise ScenarioError.saying(what, "create it first, or name a file in another folder")
    if not os.access(file.parent, os.W_OK):
        what = f"--out: {file.parent} is not writable"
        raise WriteError.saying(what, "name a file in another folder")
    return file


def _recording(options: argparse.Namespace) -> Sweep:
    """The sweep, with all recordings that a trace contains switched on."""
    named, sets = overrides.scenario(options)
    kept = named.points(sets)[0].resolved["measure"]
    from weft.api.sweep import Sweep
    from weft.timeline.trace_file import SHOWN

    more = [(f"measure.{name}", "{}") for name in SHOWN if name not in kept]

    return Sweep.of(named, dict([*sets, *more]))
