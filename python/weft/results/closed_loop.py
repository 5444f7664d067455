"""Compares the delivered load with the configured load, for jobs whose terminals wait for replies (`outstanding`).

The network limits the load that such terminals offer. Therefore a point of such jobs is never saturated, although it
may deliver much less than its load. A load counts requests only, but the delivered load counts their replies too.
"""

from __future__ import annotations

import json
import math
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from weft.errors import ResultsError
from weft.results import quantities as q
from weft.results import soundness
from weft.results.choose import LOAD
from weft.scenario import replies

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weft.results.result_set import ResultSet

    Summary = Mapping[str, Any]

_OUTSTANDING = "outstanding"
# Keys and models of a pattern by which terminals can send different shares of the load of their job.
_UNEQUAL = ("source_load", "other_load", "matrix", "python")
_SILENT = "silent_terminals"
# Keys in the section `traffic` that can decide whether terminals wait for replies.
_DECISIVE = ("jobs", "reply", "workload")


class Waiting(NamedTuple):
    """A job whose terminals wait for replies.

    Attributes
    ----------
    place : int
        Index of the job.
    load : float or None
        Mean load that the scenario sets for the terminals of the job before phases [flits/terminal/cycle]; ``None`` if
        it is unknown.
    factor : float
        Flits of a request and its reply, per flit of the request.
    unknown : str
        Reason why the load is unknown.
    is_equal : bool
        Whether the terminals of the job have the same load.
    """

    place: int
    load: float | None
    factor: float
    unknown: str = ""
    is_equal: bool = True


class Delivery(NamedTuple):
    """The delivered load of a job in a run or in a phase.

    Attributes
    ----------
    job : str
        Name of the job; empty if the scenario has no jobs.
    delivered : float
        Accepted load of the job [flits/terminal/cycle].
    meant : float or None
        Load with replies that the scenario sets [flits/terminal/cycle]; ``None`` if it is unknown.
    packets : int or None
        Number of measured packets.
    unknown : str
        Reason why `meant` is unknown.
    """

    job: str
    delivered: float
    meant: float | None
    packets: int | None
    unknown: str = ""


class Short(NamedTuple):
    """A job that delivers less than its load: means over seeds.

    Attributes
    ----------
    job : str
        Name of the job; empty if the scenario has no jobs.
    delivered, meant : float
        Accepted load, and load with replies that the scenario sets [flits/terminal/cycle].
    """

    job: str
    delivered: float
    meant: float


def of_points(results: ResultSet) -> list[list[Waiting]]:
    """For each point, its jobs whose terminals wait for replies.

    The scenarios of all points are read only if the sweep changes a key of the traffic other than the load.
    """
    if not len(results):
        return []
    swept = [path for path in results.coordinates if path.partition(".")[0] == "traffic"]
    first = _traffic(results, 0)
    is_decided = not any(path == "traffic" or path.split(".")[1] in _DECISIVE for path in swept)
    if is_decided and _OUTSTANDING not in json.dumps(first):
        return [[] for _ in results.points]
    found = []
    for row, (point, summary) in enumerate(zip(results.points, results.summaries, strict=True)):
        if set(swept) <= {LOAD}:
            traffic = first | ({"load": point["coordinates"][LOAD]} if swept else {})
        else:
            traffic = _traffic(results, row)
        found.append(waiting(traffic, summary.get("terminals")))
    return found


def _traffic(results: ResultSet, row: int) -> dict[str, Any]:
    """The resolved `traffic` of a point; empty if its scenario is not stored."""
    try:
        return dict(results.scenario(row)["traffic"])
    except ResultsError:
        return {}


def waiting(traffic: Mapping[str, Any], terminals: int | None = None) -> list[Waiting]:
    """The jobs of a resolved `traffic` whose terminals wait for replies.

    `terminals` is the number of terminals of the network.
    """
    found = []
    for place, job in enumerate(traffic.get("jobs") or [traffic]):
        reply = replies.of(job if "reply" in job or "workload" in job else traffic)
        if reply is None or reply.get(_OUTSTANDING) is None:
            continue
        packet = job.get("packet", traffic.get("packet", "1flit"))
        factor = 1 + replies.flits_per_flit(reply, packet)
        load, unknown = _load(job, traffic, terminals)
        found.append(Waiting(place, load, factor, unknown, is_equal=not traffic.get("loads")))
    return found


def _load(job: Mapping[str, Any], traffic: Mapping[str, Any], terminals: int | None) -> tuple[float | None, str]:
    """The mean load of the terminals of a job, or ``None`` and the reason why it is unknown."""
    load, pattern = job.get("load", traffic.get("load")), json.dumps(job.get("pattern", traffic.get("pattern")))
    if any(f'"{word}"' in pattern for word in _UNEQUAL):
        return None, "its pattern can give terminals different loads"
    if load is None:
        return None, "the scenario sets no load"
    if not traffic.get("loads"):
        return load, ""
    if traffic.get("jobs") or terminals is None:
        return None, "`traffic.loads` gives terminals of its jobs different loads"
    loads = [load] * terminals
    for each in traffic["loads"]:
        begin, last = each["terminals"]
        loads[begin : last + 1] = [each["load"]] * (last + 1 - begin)
    return fmean(loads), ""


def deliveries(run: Summary, jobs_waiting: Sequence[Waiting], phase: Summary | None = None) -> list[Delivery]:
    """The delivered loads of the jobs of a run, or of one of its phases, whose terminals wait for replies."""
    jobs = run.get("jobs") or []
    several = len(jobs) > 1
    if phase is not None and jobs_waiting:
        return [_in_phase(run, jobs_waiting, phase)]
    found = []
    for each in jobs_waiting:
        measured = jobs[each.place] if several else run
        load, unknown = _of_senders(run, each, several=several)
        meant = None if load is None else load * each.factor
        name = measured["job"] if several else ""
        found.append(Delivery(name, measured.get(q.ACCEPTED.column) or 0.0, meant, measured.get("packets"), unknown))
    return found


def _in_phase(run: Summary, jobs_waiting: Sequence[Waiting], phase: Summary) -> Delivery:
    """The delivered load of all jobs in a phase. The load of a phase in results is the mean over all terminals."""
    load, factor, unknown = phase.get(q.SET_LOAD.column), jobs_waiting[0].factor, ""
    is_same = all(math.isclose(each.factor, factor) for each in jobs_waiting)
    if load is None:
        unknown = "the results have no load of the phase"
    elif not is_same or len(jobs_waiting) < len(run.get("jobs") or [run]):
        load, unknown = None, "the results have no loads of single jobs in a phase"
    meant = None if load is None else load * factor
    return Delivery("", phase.get(q.ACCEPTED.column) or 0.0, meant, phase.get("packets"), unknown)


def _of_senders(run: Summary, of: Waiting, *, several: bool) -> tuple[float | None, str]:
    """The mean load of a job, without the terminals to which its pattern gives no destination.

    If the mean load is unknown, the result is ``None`` and the reason.
    """
    silent = [warning for warning in run.get("warnings") or [] if warning.get("code") == _SILENT]
    own = f"traffic.jobs.{of.place}.pattern"
    silent = [each for each in silent if not several or each.get("path") in (own, "traffic.pattern")]
    if of.load is None or not silent:
        return of.load, of.unknown
    ((numbers, path), *_) = [(each.get("numbers") or {}, each.get("path")) for each in silent]
    # with the path `traffic.pattern`, the warning does not say which job has the silent terminals
    if not numbers or not of.is_equal or (several and path != own):
        return None, "some terminals send nothing"
    return of.load * (1 - numbers["silent_terminals"] / numbers["terminals"]), ""


def short(seeds: Sequence[Sequence[Delivery]]) -> Short | None:
    """The job that delivers the smallest share of its load, from the deliveries of each seed.

    The loads are means over the seeds. The result is ``None`` if all jobs with a known load deliver it, within the
    tolerance for equal work (`soundness.same_work`).
    """
    found = []
    for runs in zip(*seeds, strict=False):
        known = [each.meant for each in runs if each.meant is not None]
        if len(known) < len(runs):
            continue
        delivered, meant = fmean(each.delivered for each in runs), fmean(known)
        counts = [each.packets for each in runs if each.packets is not None]
        packets = fmean(counts) if len(counts) == len(runs) else None
        if delivered < meant and not soundness.same_work((delivered, meant), (packets, packets)):
            found.append(Short(runs[0].job, delivered, meant))
    return min(found, key=lambda each: each.delivered / each.meant, default=None)


def unknown(seeds: Sequence[Sequence[Delivery]]) -> str:
    """The reason why the mean load of a job is unknown; empty if all loads are known."""
    return next((each.unknown for runs in seeds for each in runs if each.meant is None), "")
