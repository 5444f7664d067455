"""Writes the table of a sweep in which every job runs a program of messages. The main result is the run time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.results import job_table, of_jobs, soundness
from weft.results import quantities as q
from weft.text.si import si

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weft.results.result_set import ResultSet

RUN_TIME = "run_time_cycles"
_EXPOSED = "exposed_mean_cycles"
_FLOWS = tuple(f"flow_completion_{part}_cycles" for part in ("mean", "p50", "p99", "max"))
_HEAD = ("run time", "exposed", "messages", "bytes", "flow mean", "p50", "p99", "max", "energy")


def is_program(job: Mapping[str, Any]) -> bool:
    """Whether a job runs a program, so that it has no load."""
    return RUN_TIME in job


def are_all(results: ResultSet) -> bool:
    """Whether every job of every point runs a program, so that the run time is the only main result."""
    return len(results) > 0 and all(jobs and all(map(is_program, jobs)) for jobs in map(of_jobs.of, results.summaries))


def are_some(results: ResultSet) -> bool:
    """Whether some job of some point runs a program."""
    return any(is_program(job) for summary in results.summaries for job in of_jobs.of(summary))


def lines(results: ResultSet) -> list[str]:
    """Lines with a row per point and job: run time, messages, flow completion times, and energy."""
    text = (
        "programs: run time; exposed: mean time in which a rank does not compute; messages and their bytes; "
        f"flow: times from the start of a message to its arrival; energy: {q.ALL_PARTS} up to the end of the run; "
        "-: the program did not end"
    )
    signs = {sign for summary in results.summaries for sign in of_jobs.signs(summary)}
    text += "".join(f"; {sign}: {meaning}" for sign, meaning in soundness.ENDED.items() if sign in signs)
    return [results.title, "", text, *job_table.lines(results, is_program, _HEAD, _cells)]


def _cells(summary: Mapping[str, Any], job: Mapping[str, Any]) -> list[str]:
    times = [si(_seconds(summary, job.get(column)), "s", 4) for column in (RUN_TIME, _EXPOSED, *_FLOWS)]
    if job.get(RUN_TIME) is None and (sign := soundness.sign(summary)) in soundness.ENDED:
        times[0] = sign
    counted = [f"{job['messages']:.0f}", si(job["message_bytes"], "B")]
    energy = si(summary.get("energy_total_j"), "J") if job.get(RUN_TIME) is not None else "-"
    return [*times[:2], *counted, *times[2:], energy]


def _seconds(summary: Mapping[str, Any], cycles: float | None) -> float | None:
    return None if cycles is None else cycles * float(summary["cycle_seconds"])
