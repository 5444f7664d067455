"""``weft run`` runs the missing points of a sweep, then prints a table and writes a picture and a CSV file."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from typing import TYPE_CHECKING, Any

from weft.cli import DONE, arguments, folders, overrides, slurm, stalls, warned, watched
from weft.errors import ProgramError, WeftError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from weft.api.results import Results
    from weft.api.sweep import Sweep
    from weft.cli.arguments import Commands
    from weft.results.store import Store


def add(commands: Commands) -> None:
    """Add the command."""
    parser = arguments.command(
        commands,
        "run",
        "run the points of a scenario that have no results yet",
        "weft run examples/quickstart.yaml --set traffic.load=0.1",
    )
    arguments.add_scenario(parser)
    parser.add_argument("--out", metavar="DIR", help="folder of the results (default: results/<name of FILE>)")
    arguments.add_execution(parser)
    parser.add_argument(
        "--pin",
        action="store_true",
        help="bind each thread to its own core, in the order of the core numbers (Linux)",
    )
    # for developers, who compare runs with and without shortcuts to find one that changes results
    parser.add_argument("--plain", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--force", action="store_true", help="run all points again")
    parser.add_argument(
        "--report",
        nargs="?",
        const=True,
        type=arguments.page,
        metavar="FILE",
        help="write a page as `weft report` does (default: report.html in the folder of the results)",
    )
    parser.add_argument(
        "--watch",
        metavar="PACKET",
        nargs="+",
        type=arguments.packet,
        action="extend",
        default=[],
        help="also run the first point again and print each step of these packets: TERMINAL:NUMBER, or TERMINAL:A-B",
    )
    parser.add_argument("--no-picture", action="store_true", help="draw no picture: table and CSV file only")
    parser.add_argument(
        "--json",
        action="store_true",
        help="print the points with their diagnoses (codes, numbers, remedies) as JSON; no tables and no picture",
    )
    arguments.add_units(parser)
    slurm.add(parser, "submit the points as an array of jobs instead of running them")


def main(options: argparse.Namespace) -> int:
    """Run the sweep, print its results, and return the exit status."""
    from weft.cli.interrupt import interruptible
    from weft.results.store import Store
    from weft.runs.progress import Bar

    slurm.check(options)
    if options.json and options.watch:
        what = "--json can't be combined with --watch: the JSON document has no steps of packets"
        raise WeftError.saying(what, "remove one of them; a second call is fast, because the results are in the folder")
    sweep = overrides.sweep(options)
    store = Store(options.out or sweep.folder)
    store.check_owner(sweep.named, sweep.points)
    if warnings := warned.lines(sweep.points):
        print("\n".join(warnings), file=sys.stderr)
    if options.on and slurm.submitted(sweep, options):
        return DONE
    folders.tell_of_others(store.root)
    with interruptible():
        shown = watched.report(
            sweep, options.watch, threads=options.threads, blocks=options.blocks, force_memory=options.force_memory
        )
    with interruptible(), Bar(sweep.name) as bar:
        results = sweep.run(
            options.out,
            jobs=options.jobs,
            threads=options.threads,
            blocks=options.blocks,
            force=options.force,
            force_memory=options.force_memory,
            checkpoint_every=options.checkpoint_every,
            pin=options.pin,
            plain=options.plain,
            watch=bar,
        )
    parts = _written(options, results, store)
    if options.json:
        print(json.dumps(_document(results, _report(options, results)), indent=1))
    else:
        _tell(options, sweep, results, parts, shown)
    return stalls.report(results)


def _written(options: argparse.Namespace, results: Results, store: Store) -> list[list[str]]:
    """Write the tables as CSV files, and return the printed lines about the parts of each point, such as its jobs."""
    from weft.results import si_units, tables

    store.replace("table.csv", results.frame.write_csv())
    units = si_units.chosen(options.units, results.summaries)
    names = ("jobs", "message_classes", "flows", "phases")
    parts = {name: lines for name in names if (lines := getattr(tables, name)(results, units=units))}
    for name in parts:
        store.replace(f"{name}.csv", getattr(results, name).write_csv())
    return list(parts.values())


def _report(options: argparse.Namespace, results: Results) -> Path | None:
    """Write the report, if the user requests one."""
    if options.report is None:
        return None
    return results.report(None if options.report is True else options.report, units=options.units)


def _tell(
    options: argparse.Namespace, sweep: Sweep, results: Results, parts: Sequence[list[str]], shown: list[str]
) -> None:
    """Print the tables and the notes of the points, draw the picture, and write the report."""
    from weft.results import codes, notes, of_programs, program_table, savings, si_units, tables

    units = si_units.chosen(options.units, results.summaries)
    print(tables.loads(results, width=shutil.get_terminal_size((120, 24)).columns, units=units))
    for lines in parts:
        print("\n".join(["", *lines]))
    noted = notes.lines(results)
    for lines in filter(None, (tables.faults(results), noted, _bill(results), _bounds(sweep, results))):
        print("\n".join(["", *lines]))
    if shown:
        print("\n".join(["", *shown]))
    compare = of_programs.lines if program_table.are_all(results) else savings.lines
    if compared := compare(results):
        print("\n".join(["", *compared]))
    if legend := codes.legend([*noted, *compared]):
        print("\n".join(["", *legend]))
    print(f"\npoints   {results.root / 'points'}\ntable    {results.root / 'table.csv'}")
    if not options.no_picture:
        print(f"picture  {results.plot(csv=False, units=options.units)}")
    if page := _report(options, results):
        print(f"report   {page}")


def _document(results: Results, page: Path | None) -> dict[str, Any]:
    points = [
        point | {"diagnoses": diagnoses} for point, diagnoses in zip(results.points, results.diagnoses, strict=True)
    ]
    damaged = [each._asdict() for each in results.damaged]
    by_name = {"folder": str(results.root), "points": points, "damaged": damaged, "missing": results.missing}
    by_name |= {"diagnoses": results.sweep_diagnoses}
    return by_name | ({} if page is None else {"report": str(page)})


def _bounds(sweep: Sweep, results: Results) -> list[str]:
    """Lines on how far the run times of programs exceed their lower bounds; empty if no point runs a program."""
    from weft.programs import bounds
    from weft.results import program_table

    if not program_table.are_some(results):
        return []

    # bounds are computed only for points with a finished program, because they take long for a large program
    ended = {
        point["hash"]
        for point, summary in zip(results.points, results.summaries, strict=True)
        if any(job.get("run_time_cycles") is not None for job in summary["jobs"])
    }
    try:
        return bounds.beside(results, bounds.of_sweep([point for point in sweep.points if point.hash in ended]))
    except ProgramError:  # the program cannot finish, and the run has reported the reason
        return []


def _bill(results: Results) -> list[str]:
    """Lines of the bill of the scenario, or the reason why it can't be computed; empty if the scenario has no bill."""
    from weft.results.bill_keys import Bill
    from weft.results.bill_lines import lines
    from weft.results.yearly_bill import YearlyBill

    bill = Bill.kept(results)
    try:
        return lines(YearlyBill(results, bill)) if bill else []
    except WeftError as problem:
        return [f"no bill: {problem.what}", f"  {problem.help}"]
