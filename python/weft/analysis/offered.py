"""Computes the traffic that the oracle's links have to carry: requests and replies, in the phase of most load.

Source: the patterns and loads of the scenario, as the engine reads them. This module writes variants of the scenario
and takes numbers from the engine. Each job counts at its phase of most load. If several jobs have phases, their sum can
be more than the network carries at any one time. Replies return at the rate of the requests, without a limit of
outstanding requests. The sources of a batch count as if they always send.

Guarantees: scenarios whose traffic this module can't compute are refused. These are programs, faults, and phases of
which none has the most load between all pairs of terminals. Not modelled: bursts. Validation:
`tests/test_analysis_offered.py`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from weft import _engine
from weft.scenario import replies

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft._engine import Point
    from weft.analysis.fluid import Rates

    Job = dict[str, Any]

# Factor on loads, and the bandwidth of the channels of terminals. With both, the channels between routers are almost
# empty. Therefore the busiest channel of the network is a channel of a terminal.
_SMALL, _SMALL_RATE = 1 / 65536, "1/65536flits/cycle"
# Keys of a scenario on which the load of the channels of terminals depends.
_KEPT = ("cycle", "flit", "grain", "topology", "links", "router", "traffic", "classes", "interface", "seed")
# Keys of `traffic` that a job without these keys takes from there.
_INHERITED = ("pattern", "load", "packet", "injection", "phases", "batch", "class")
_WORKLOADS = ("workload", "reply")


class Offered(NamedTuple):
    """The traffic that a network has to carry.

    Attributes
    ----------
    routers : ndarray
        Flits per cycle from router (row) to router (column), with replies; shape (R, R).
    terminals : float
        Load of the busiest channel to or from a terminal, as a share of the bandwidth of the channel.
    """

    routers: Rates
    terminals: float


def of(point: Point) -> Offered:
    """Computes the traffic of a point.

    Raises
    ------
    ScenarioError
        If a job runs a program, a part of the network fails, or no phase of a job has the most load.
    """
    _refuse(point)
    traffic = point.resolved["traffic"]
    jobs = [_at_most_load(point, job, place) for job, place in zip(_jobs(traffic), _places(traffic), strict=True)]
    ratios = [_replied(job) for job in jobs]
    requests = _matrix(point, jobs)
    rates = requests.copy()
    for ratio in set(ratios) - {0.0}:
        rates += ratio * _of_some(point, jobs, requests, [each == ratio for each in ratios]).T
    return Offered(rates, _of_terminals(point, jobs))


def _refuse(point: Point) -> None:
    """Refuses programs, which have no load, and faults, which the links of the oracle do not replace."""
    if point.imply()["runs_programs"]:
        what = "the oracle needs a pattern and a load, but a job runs a program"
        raise point.refusal("traffic", what, "replace the program by a pattern and a load")
    scenario = point.resolved
    model = scenario.get("fault_model") or {}
    key = "faults" if scenario.get("faults") else "fault_model" if {"random", "links", "routers"} & set(model) else None
    if key is not None:
        what = "the oracle needs a network without faults, because it does not replace links that fail"
        raise point.refusal(key, what, f"remove `{key}`, for example with --set {key}=null")


def _jobs(traffic: Job) -> list[Job]:
    """The jobs, each with the keys that it takes from `traffic`; `traffic` itself, if it has no jobs."""
    if not traffic.get("jobs"):
        return [dict(traffic)]
    shared = {key: traffic[key] for key in _INHERITED if key in traffic}
    workload = {key: traffic[key] for key in _WORKLOADS if key in traffic}
    jobs = [{key: value for key, value in job.items() if value != []} for job in traffic["jobs"]]
    return [shared | ({} if set(_WORKLOADS) & set(job) else workload) | job for job in jobs]


def _places(traffic: Job) -> list[str]:
    """For each job, the path of the key with its phases."""
    jobs = traffic.get("jobs") or [{}]
    return [f"traffic.jobs.{j}.phases" if job.get("phases") else "traffic.phases" for j, job in enumerate(jobs)]


def _at_most_load(point: Point, job: Job, place: str) -> Job:
    """The job without phases, with the pattern and the load of its phase of most load."""
    phases = [{"pattern": job["pattern"], "load": job.get("load", point.most_load())}]
    for phase in job.get("phases", []):
        phases.append({key: phase.get(key, last) for key, last in phases[-1].items()})
    most = max(phases, key=lambda phase: float(phase["load"]))
    if any(phase["pattern"] != most["pattern"] for phase in phases if phase["load"] > 0):
        why = "these phases have different patterns"
    elif point.resolved["traffic"].get("loads") and any("load" in phase for phase in job.get("phases", [])):
        why = "terminals have different loads before these phases (`traffic.loads`)"
    else:
        return {key: value for key, value in job.items() if key != "phases"} | most
    what = f"the oracle needs a phase with the most load between all terminals, but {why}"
    raise point.refusal(place, what, f"analyse each phase alone: --set {place}=null, with the phase's pattern and load")


def _replied(job: Job) -> float:
    """Flits of replies per flit of requests; 0 without replies."""
    reply = replies.of(job)
    return 0.0 if reply is None else replies.flits_per_flit(reply, job["packet"])


def _of_some(point: Point, jobs: Sequence[Job], together: Rates, some: Sequence[bool]) -> Rates:
    """The traffic between routers of some of the jobs.

    The engine computes the traffic of all jobs. If some jobs send half as much, half of their traffic is missing.
    """
    if all(some):
        return together
    if point.resolved["traffic"].get("loads"):
        what = "the oracle can't tell which job's replies answer the packets of these terminals"
        raise point.refusal("traffic.loads", what, "give each job a load of its own, with --set traffic.loads=null")
    halved = [job | {"load": job["load"] / 2} if half else job for job, half in zip(jobs, some, strict=True)]
    return 2 * (together - _matrix(point, halved))


def _matrix(point: Point, jobs: Sequence[Job]) -> Rates:
    return np.asarray(_variant(point, jobs, {}).traffic_matrix())


def _of_terminals(point: Point, jobs: Sequence[Job]) -> float:
    """Load of the busiest channel of a terminal, as a share of its bandwidth.

    The engine knows the load of the busiest of all channels. In this variant it is a channel of a terminal.
    """
    links = point.resolved["links"]
    small = [job | {"load": job["load"] * _SMALL} for job in jobs]
    slow = {"links": links | {"terminal": links["terminal"] | {"bandwidth": _SMALL_RATE}}}
    implied = _variant(point, small, slow, _SMALL).imply()
    bound = implied["channel_load_bound"]
    return 0.0 if bound is None else float(implied["highest_load"] / bound / point.most_load())


def _variant(point: Point, jobs: Sequence[Job], keys: Job, scale: float = 1) -> Point:
    """The point with these jobs, these other keys, and scaled loads in `traffic.loads`."""
    scenario = {key: value for key, value in point.resolved.items() if key in _KEPT} | keys
    loads = [each | {"load": each["load"] * scale} for each in scenario["traffic"].get("loads", [])]
    traffic = {"jobs": list(jobs)} if scenario["traffic"].get("jobs") else dict(jobs[0])
    scenario |= {"routing": "dimension_order", "traffic": traffic | {"loads": loads}}
    (found,) = _engine.expand("oracle.yaml", json.dumps(scenario), [], list(point.inputs.items()))
    return found
