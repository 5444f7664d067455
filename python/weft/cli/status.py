"""``weft status`` prints the progress of a sweep."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from weft.cli import DONE, arguments

if TYPE_CHECKING:
    import argparse
    from typing import Any

    from weft.cli.arguments import Commands
    from weft.runs.sweep_status import ArrayStatus, SweepStatus

# Maximum number of damaged points, and of running points, that are listed.
_LISTED = 8


def add(commands: Commands) -> None:
    """Add the command."""
    parser = arguments.command(
        commands,
        "status",
        "show the progress of a sweep, also while it runs on another machine",
        "weft status results/quickstart",
    )
    parser.add_argument("folder", metavar="DIR", help="folder of the results")
    parser.add_argument("--json", action="store_true", help="print JSON")


def main(options: argparse.Namespace) -> int:
    """Print the status and return the exit status."""
    from dataclasses import asdict

    from weft.runs.sweep_status import status

    found = status(options.folder)
    if options.json:
        damage = [damaged._asdict() for damaged in found.damage]
        print(json.dumps(asdict(found) | {"damage": damage}, indent=1))
    else:
        print("\n".join(_text(found)))
    return DONE


def _text(found: SweepStatus) -> list[str]:
    from weft.text.columns import clock

    counts = [f"{found.done} of {found.points} done"]
    counts += [
        f"{number} {word}" for number, word in ((found.missing, "missing"), (found.damaged, "damaged")) if number
    ]
    endings = ", ".join(f"{number} {ending}" for ending, number in found.endings.items())
    rows = [("points", ", ".join(counts)), ("endings", endings or "none yet")]
    if found.point_seconds_mean is not None:
        rows.append(("duration", f"{clock(found.point_seconds_mean)} per point on average"))
    if found.unlisted:
        rows.append(("others", f"{found.unlisted} in the folder are no longer in the sweep: in no table, but kept"))
    rows += [("results", f"in {found.folder}, result model {found.result_model}")]
    for run in found.running[:_LISTED]:
        rows += [("running", words) for words in _run(run)]
    if len(found.running) > _LISTED:
        rows.append(("running", f"and {len(found.running) - _LISTED} more processes"))
    if not found.running:
        rows.append(("running", "nothing"))
    rows += [("jobs", words) for array in found.arrays for words in _array(array)]
    if found.run_twice:
        rows.append(("twice", _twice(found.run_twice)))
    rows += _listed("kept", [_checkpoint(each) for each in found.checkpoints])
    rows += _listed("damaged", [_damaged(each.coordinates, each.hash, each.reason) for each in found.damage])
    if found.missing + found.damaged and not found.running and not any(map(_waits, found.arrays)):
        rows.append(("continue", found.command or "run the scenario again into this folder"))
    said: set[str] = set()
    lines = [found.name]
    for head, words in rows:
        lines.append(f"  {'' if head in said else head:9} {words}")
        said.add(head)
    return lines


def _waits(array: ArrayStatus) -> bool:
    """Whether it is possible that jobs of an array still run or start later."""
    return bool(array.running or array.pending or array.unasked)


def _array(array: ArrayStatus) -> list[str]:
    """Lines on the progress of an array of jobs, and on the errors of failed jobs."""
    if array.job is None:
        return [f"a submission of {array.submitted_utc} ended before Slurm named its array: run the command again"]
    head = f"array {array.job} of {array.submitted_utc}"
    if array.unasked:
        return [f"{head}, {array.jobs} jobs: {array.unasked}"]
    ended = array.jobs - array.running - array.pending
    why = f" ({', '.join(array.reasons)})" if array.reasons else ""
    lines = [f"{head}, {array.jobs} jobs: {array.running} running, {array.pending} waiting{why}, {ended} ended"]
    if any("held" in reason.lower() for reason in array.reasons):
        lines.append("  Slurm holds jobs until someone releases them: `scontrol release`, or cancel and submit again")
    lines += [f"  {words}" for words in array.ended[:_LISTED]]
    if len(array.ended) > _LISTED:
        lines.append(f"  and {len(array.ended) - _LISTED} more jobs with missing points; logs in {array.logs}")
    return lines


def _twice(notes: list[dict[str, Any]]) -> str:
    """String with the number of points that two runs simulated, and of those whose two results differ."""
    different = sum(note["same"] is False for note in notes)
    what = f"{different} with DIFFERENT results: check these machines" if different else "no results differ"
    dead = sum(note["overruled_by"] is not None for note in notes)
    why = f", {dead} of them because another run seemed to have ended" if dead else ""
    return f"{len(notes)} points were run twice{why}; {what}"


def _run(run: dict[str, Any]) -> list[str]:
    """Lines on an active run, and on the points that it runs at the moment."""
    from weft.runs.execute import Flight, Status
    from weft.runs.progress import flight_words, words

    flights = [Flight(**flight) for flight in run["flying"]]
    left, most = run["left_seconds"], run["most_left_seconds"]
    status = Status(run["total"], run["done"], run["reused"], run["running"], flights, left, most)
    job = f", job {run['job']}" if run.get("job") else ""
    lines = [f"{run['host']}, process {run['pid']}{job}, since {run['started_utc']}: {words(status, run['seconds'])}"]
    lines += [f"  {flight.words}: {flight_words(flight)}" for flight in flights[:_LISTED]]
    return [*lines, f"  and {len(flights) - _LISTED} more"] if len(flights) > _LISTED else lines


def _listed(head: str, lines: list[str]) -> list[tuple[str, str]]:
    """Table rows for these lines. If there are too many lines, the last row counts those that are left out."""
    more = [f"and {len(lines) - _LISTED} more"] if len(lines) > _LISTED else []
    return [(head, line) for line in lines[:_LISTED] + more]


def _checkpoint(kept: dict[str, Any]) -> str:
    from weft.text.columns import clock
    from weft.text.labels import setting

    reached = f"at cycle {kept['cycle']:,} after {clock(kept['seconds'])}"
    return f"{setting(kept['coordinates']) or 'the point'}: checkpoint {reached}"


def _damaged(coordinates: dict[str, Any], hash: str, reason: str) -> str:
    from weft.text.labels import setting

    return f"{setting(coordinates) or hash}: {reason}"
