"""Compares the delivered load with the configured load, for jobs whose terminals wait for replies (`outstanding`).

The network limits the load that such terminals offer. Therefore a point of such jobs is never saturated, although it
may deliver much less than its load. A load counts requests only, but the delivered load counts their replies too.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from weft.results import quantities as q
from weft.results import soundness
from weft.results.set_times import values_at
from weft.text.si import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weft.results.result_set import ResultSet

    Summary = Mapping[str, Any]

_FLITS = {"flit": 1.0, "flits": 1.0}
# Words in a resolved `traffic` with which terminals do not all send at the load of their job.
_UNEQUAL = ('"loads"', '"source_load"', '"other_load"', '"matrix"')
_SILENT = "silent_terminals"


class Waiting(NamedTuple):
    """A job whose terminals wait for replies.

    Attributes
    ----------
    place : int
        Index of the job.
    load : float or None
        Load that the scenario sets for the job [flits/terminal/cycle]; ``None`` if terminals have different loads.
    factor : float
        Flits of a request and its reply, per flit of the request.
    """

    place: int
    load: float | None
    factor: float


class Short(NamedTuple):
    """A measurement that delivers less than its load, or that may do so.

    Attributes
    ----------
    job : str
        Name of the job; empty if the scenario has no jobs.
    delivered : float
        Accepted load of the job [flits/terminal/cycle].
    meant : float or None
        Load with replies that the scenario sets [flits/terminal/cycle]; ``None`` if it is unknown.
    """

    job: str
    delivered: float
    meant: float | None


def of_points(results: ResultSet) -> list[list[Waiting]]:
    """For each point, its jobs whose terminals wait for replies."""
    return [waiting(traffic or {}) for traffic in values_at(results, "traffic")] if len(results) else []


def waiting(traffic: Mapping[str, Any]) -> list[Waiting]:
    """The jobs of a resolved `traffic` whose terminals wait for replies."""
    found = []
    for place, job in enumerate(traffic.get("jobs") or [traffic]):
        reply = _reply(job) if "reply" in job or "workload" in job else _reply(traffic)
        if reply is None or reply.get("outstanding") is None:
            continue
        equal = not any(word in json.dumps(traffic) for word in _UNEQUAL)
        load, packet = job.get("load", traffic.get("load")), job.get("packet", traffic.get("packet", "1flit"))
        factor = 1 + number(reply.get("packet", "1flit"), _FLITS) / _mean(packet)
        found.append(Waiting(place, load if equal else None, factor))
    return found


def _reply(part: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The parameters of requests and replies in `traffic` or in a job; ``None`` if its packets have no replies."""
    workload = part.get("workload")
    reply = part.get("reply") or (workload.get("request_reply") if isinstance(workload, dict) else None)
    return reply if isinstance(reply, dict) else None


def _mean(packet: str | Mapping[str, Any]) -> float:
    """The mean length of packets of a resolved scenario [flits]."""
    if isinstance(packet, str):
        return number(packet, _FLITS)
    mix = [(number(each["size"], _FLITS), float(each["weight"])) for each in packet["mix"]]
    return sum(length * weight for length, weight in mix) / sum(weight for _, weight in mix)


def short(run: Summary, jobs_waiting: list[Waiting], phase: Summary | None = None) -> Short | None:
    """The job of a run, or of one of its phases, that delivers the smallest share of its load.

    ``None`` if all jobs deliver their loads, within the tolerance for equal work (`soundness.same_work`).
    """
    jobs = run.get("jobs") or []
    found = []
    for each in jobs_waiting:
        several = len(jobs) > 1
        measured = phase or (jobs[each.place] if several else run)
        delivered, load = measured.get(q.ACCEPTED.column), each.load
        if phase is not None:
            load = None if several or load is None else phase.get(q.SET_LOAD.column)
        if _SILENT in [warning["code"] for warning in run.get("warnings") or []]:
            load = None
        meant = None if load is None else load * each.factor
        packets = measured.get("packets")
        if (
            meant is None
            or delivered is None
            or (delivered < meant and not soundness.same_work((delivered, meant), (packets, packets)))
        ):
            found.append(Short(jobs[each.place]["job"] if several else "", delivered or 0.0, meant))
    return min(found, key=lambda each: each.delivered / each.meant if each.meant else 0.0, default=None)
