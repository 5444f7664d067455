"""The kinds of figures. The module with the name of a kind has the function ``figure(choice)``, which draws the figure.

This module imports quickly, because it does not import matplotlib.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Literal

from weft.errors import WeftError
from weft.text.meant import meant

if TYPE_CHECKING:
    from collections.abc import Sequence


class Takes(Enum):
    """The results that a kind of figure can show. The values are words for the printed list of kinds."""

    SWEEP = "curves over load of one or more results"
    POINTS = "several points in one figure"
    POINT = "one point"
    BILL = "the bill of one or more results"


@dataclass(frozen=True)
class Kind:
    """A kind of figure, as the list of kinds describes it.

    Attributes
    ----------
    name : str
        Name of the kind on the command line, and of its module in `weft.plot`.
    summary : str
        Description in one line.
    takes : Takes
        The results that the figure can show.
    needs : str
        Keys that the scenario must have, so that the results contain the data of the figure; empty if no keys are
        necessary.
    by_job : bool
        Whether the user can choose jobs, each of which is then drawn separately.
    of_queues : bool
        Whether the kind shows full queues, with a map of the queues at one time.
    """

    name: str
    summary: str
    takes: Takes
    needs: str = ""
    by_job: bool = False
    of_queues: bool = False


# The names of `KINDS` as a type, for type checkers.
KindName = Literal[
    "load",
    "latency_accepted",
    "overlay",
    "percentiles",
    "latency_cdf",
    "latency_ccdf",
    "latency_pdf",
    "hops",
    "mean_hops",
    "minimal_share",
    "channel_heatmap",
    "dimension_heatmap",
    "channel_curve",
    "fairness",
    "power",
    "energy",
    "energy_delay",
    "residency",
    "transitions",
    "link_states",
    "rank_states",
    "control_packets",
    "series",
    "router_sleep",
    "transient",
    "congestion_tree",
    "phases",
    "bill",
    "solution",
    "jobs",
    "schedule",
    "utilisation",
]
FORMATS = ("pdf", "svg", "png")
DEFAULT: KindName = "load"
# Names of the kinds of figure that are drawn by default for results of batches and of programs.
JOBS: KindName = "jobs"
PROGRAMS: KindName = "solution"
KINDS = {
    kind.name: kind
    for kind in (
        Kind("load", "latency, accepted load and energy per bit against offered load", Takes.SWEEP),
        Kind("latency_accepted", "latency against accepted load", Takes.SWEEP),
        Kind("overlay", "latency and accepted load with 95 % confidence bands", Takes.SWEEP),
        Kind("percentiles", "percentiles of packet latency against offered load", Takes.SWEEP),
        Kind("latency_cdf", "cumulative distribution of packet latency", Takes.POINTS, by_job=True),
        Kind(
            "latency_ccdf",
            "complementary cumulative distribution of packet latency: the tail, on logarithmic axes",
            Takes.POINTS,
            by_job=True,
        ),
        Kind("latency_pdf", "distribution of packet latency", Takes.POINTS, by_job=True),
        Kind("hops", "share of packets by hops", Takes.POINTS),
        Kind("mean_hops", "mean hops per packet against offered load", Takes.SWEEP),
        Kind("minimal_share", "share of minimal routes against offered load", Takes.SWEEP),
        Kind("channel_heatmap", "channel utilisation from router to router", Takes.POINT),
        Kind("dimension_heatmap", "channel utilisation along each dimension of a grid", Takes.POINT),
        Kind("channel_curve", "channel utilisation, busiest first, by link class", Takes.POINTS),
        Kind("fairness", "injected load of each terminal, highest first", Takes.POINTS),
        Kind("power", "mean power against offered load, with always-on and ideal links", Takes.SWEEP),
        Kind("energy", "energy per bit against offered load, with always-on and ideal links", Takes.SWEEP),
        Kind("energy_delay", "energy per bit against latency, and the best points at each load", Takes.SWEEP),
        Kind("residency", "share of time in each power state against offered load", Takes.SWEEP),
        Kind("transitions", "transitions of power states per second against offered load", Takes.SWEEP),
        Kind(
            "link_states",
            "power state of every managed channel over time",
            Takes.POINT,
            "measure.link_states: {max_spans: 1000000}",
        ),
        Kind(
            "rank_states",
            "states of every rank of a program over time, and the critical path",
            Takes.POINT,
            "measure.rank_states: {}",
        ),
        Kind(
            "control_packets",
            "control packets as arrows between routers over time, above the states of their links",
            Takes.POINT,
            "measure.control_packets: {} and measure.link_states: {}",
        ),
        Kind("series", "utilisation and power states over time", Takes.POINT, "measure.series: {every: 100cycles}"),
        Kind(
            "router_sleep",
            "share of time in which all links of a router were off at once",
            Takes.POINTS,
            "measure.router_sleep: {}",
        ),
        Kind("transient", "latency by time of creation", Takes.POINTS, "measure.transient: {bin: 100cycles}"),
        Kind(
            "congestion_tree",
            "full input ports over time by distance from the hot destination, and their map at one time",
            Takes.POINT,
            "measure.occupancy: {every: 100cycles}",
            of_queues=True,
        ),
        Kind(
            "phases",
            "load, latency and power in each phase of a changing load",
            Takes.POINTS,
            "traffic.phases: [{from: 15000cycles, load: 0.3}, ...]",
        ),
        Kind(
            "bill",
            "power over the day or week of a bill, and the cost of a year",
            Takes.BILL,
            "bill: {price_per_kwh: 0.25EUR, profile: [{share: 1, load: 0.1}]}",
        ),
        Kind(
            PROGRAMS,
            "energy to solution of programs against run time, and the best points",
            Takes.POINTS,
            "traffic.workload: {programs: {file: program.goal}}",
        ),
        Kind(JOBS, "completion times of jobs", Takes.POINTS, "traffic.jobs: [{batch: {per_terminal: 50}, ...}]"),
        Kind(
            "schedule",
            "time and terminals of each program of a queue",
            Takes.POINT,
            "traffic.workload: {scheduler: {traces: [...]}}",
        ),
        Kind(
            "utilisation",
            "busy terminals, running programs and waiting programs over time",
            Takes.POINT,
            "traffic.workload: {scheduler: {traces: [...]}}",
        ),
    )
}


def check_jobs(name: str, jobs: Sequence[str]) -> None:
    """Refuse named jobs if the kind of figure can only show all packets of a point.

    Raises
    ------
    WeftError
        If the user names jobs and the kind cannot draw single jobs.
    """
    if jobs and not known(name).by_job:
        able = ", ".join(kind.name for kind in KINDS.values() if kind.by_job)
        what = f"--job: `{name}` shows all jobs of a point together"
        raise WeftError.saying(what, f"the kinds for single jobs are {able}")


def check_queues(name: str, at: int | None, full: float | None) -> None:
    """Refuse the options `at` and `full` for a kind of figure that does not show queues.

    Raises
    ------
    WeftError
        If one of the options is given and the kind shows no queues, or if its number is out of range.
    """
    for option, value in (("--at", at), ("--full", full)):
        if value is not None and not known(name).of_queues:
            able = ", ".join(kind.name for kind in KINDS.values() if kind.of_queues)
            raise WeftError.saying(f"{option}: `{name}` shows no queues", f"omit it; the kinds with queues are {able}")
    if at is not None and (isinstance(at, bool) or not isinstance(at, int) or at < 0):
        raise WeftError.saying(f"--at {at!r}: not a cycle", "write a whole number of cycles, such as 6000")
    if full is not None and (isinstance(full, bool) or not isinstance(full, int | float) or not 0 < full <= 1):
        raise WeftError.saying(
            f"--full {full!r}: not a share of a buffer", "write a number above 0, up to 1, such as 0.75"
        )


def known(name: str) -> Kind:
    """The kind of figure that has this name.

    Raises
    ------
    WeftError
        If no kind has this name.
    """
    if not isinstance(name, str) or name not in KINDS:
        remedy = meant(name, KINDS, f"the kinds are {', '.join(KINDS)}")
        raise WeftError.saying(f"there is no kind of figure {name!r}", remedy)
    return KINDS[name]
