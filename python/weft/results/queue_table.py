"""Writes the table of queues of programs: waits, slowdowns and energies, and the utilisation of the terminals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.results import job_table
from weft.text.si import si

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weft.results.result_set import ResultSet

# Key of a job's summary that only jobs with a queue of programs have.
_PROGRAMS = "queue_programs"
_UTILISATION = "queue_utilisation"
_HEAD = ("programs", "makespan", "utilisation", "mean wait", "max wait", "slowdown", "bounded", "energy of programs")


def lines(results: ResultSet) -> list[str]:
    """Lines of a table with a row per point and queue; empty if no job runs a queue of several programs."""
    table = job_table.lines(results, lambda job: job.get(_PROGRAMS, 0) > 1, _HEAD, _cells)
    text = (
        "queue: programs that ended; makespan: from the first submission to the last end; utilisation: share of "
        "terminals that were busy in this time; wait: from submission to start; slowdown: from submission to end, over "
        "the run time; bounded: the same over a run time of at least slowdown_bound, undefined without this key; "
        "means over programs"
    )
    return ["", text, *table] if table else []


def _cells(summary: Mapping[str, Any], job: Mapping[str, Any]) -> list[str]:
    def time(key: str) -> str:
        cycles = job.get(key)
        return si(None if cycles is None else cycles * float(summary["cycle_seconds"]), "s", 4)

    none_ended = job["queue_ended_programs"] == 0

    def number(key: str) -> str:
        if job.get(key) is None:
            return "none ended" if none_ended else "not defined"
        return f"{job[key]:.4g}"

    ended = f"{job['queue_ended_programs']:.0f} of {job[_PROGRAMS]:.0f}"
    utilisation = "-" if job.get(_UTILISATION) is None else f"{100 * job[_UTILISATION]:.1f} %"
    waits = [time("wait_mean_cycles"), time("wait_max_cycles")]
    slow = [number("slowdown_mean"), number("bounded_slowdown_mean")]
    return [ended, time("makespan_cycles"), utilisation, *waits, *slow, si(job.get("queue_energy_j"), "J", 4)]
