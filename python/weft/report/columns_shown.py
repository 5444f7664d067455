"""Defines the columns that the tables and charts of a report show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weft.results import of_flows, of_jobs, si_units, soundness
from weft.results import quantities as q
from weft.results.quantities import Quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

# The columns of the table of points, in this order.
TABLE = (
    q.ENDING,
    Quantity("flaw", "Reason why the point is never named as the best", "", "flaw", 0),
    q.OFFERED,
    q.ACCEPTED,
    q.DELIVERED,
    q.LATENCY,
    Quantity("packet_latency_ci95_cycles", "Half width of the 95 % confidence interval of the mean", "cycles", "+-", 2),
    q.P99,
    Quantity("packet_latency_max_cycles", "Longest packet latency", "cycles", "max", 0),
    q.HOPS,
    q.MINIMAL,
    q.ENERGY,
    q.POWER,
    Quantity("links_off_share", "Share of link cycles in state off", "", "off", 3),
    Quantity("link_transitions", "Changes of link state", "transitions", "transitions", 0),
    Quantity("routers_asleep_share", "Share of router cycles with all links off", "", "routers asleep", 3),
    Quantity("packets", "Packets of the window", "packets", "packets", 0),
)

JOBS = (
    Quantity("terminals", "Terminals of the job", "terminals", "terminals", 0),
    q.OFFERED,
    q.ACCEPTED,
    q.LATENCY,
    q.P99,
    q.HOPS,
    Quantity("packets", "Packets of the window", "packets", "packets", 0),
    Quantity("missing_packets", "Packets of the window neither delivered nor dropped", "packets", "missing", 0),
    Quantity("dropped_packets", "Packets of the window that were dropped at a fault", "packets", "dropped", 0),
    Quantity("request_latency_mean_cycles", "Mean latency of requests", "cycles", "request", 1),
    Quantity("reply_latency_mean_cycles", "Mean latency of replies", "cycles", "reply", 1),
    Quantity("round_trip_mean_cycles", "Mean round trip", "cycles", "round trip", 1),
    Quantity("batch_delivered_packets", "Packets of the batch that were delivered", "packets", "delivered", 0),
    Quantity("batch_dropped_packets", "Packets of the batch that were dropped", "packets", "batch dropped", 0),
    Quantity("completion_cycles", "Completion of the batch", "cycles", "completion", 0),
    Quantity("run_time_cycles", "Run time of the program", "cycles", "run time", 0),
    Quantity("exposed_mean_cycles", "Mean time in which a rank did not compute", "cycles", "exposed", 0),
)

FLOWS = (
    Quantity("sources", "Terminals that may send packets of the flow", "terminals", "sources", 0),
    q.ACCEPTED,
    q.SOURCE_ACCEPTED,
    q.LATENCY,
    q.P99,
    q.HOPS,
    Quantity("packets", "Packets of the window that were delivered", "packets", "packets", 0),
    Quantity("link_flits", "Flits sent on channels between routers", "flits", "link flits", 0),
    Quantity("energy_dynamic_uj", "Dynamic energy of the flits of the flow", "uJ", "dynamic energy", 4),
)

PHASES = (
    Quantity("from_cycle", "First cycle of the phase in the window", "cycles", "from", 0),
    Quantity("to_cycle", "First cycle after the phase or the window", "cycles", "to", 0),
    q.SET_LOAD,
    q.OFFERED,
    q.ACCEPTED,
    Quantity("saturated", "Whether the network accepts less than the offered load in the phase", "", "saturated", 0),
    q.LATENCY,
    q.P99,
    q.ENERGY,
    q.POWER,
    Quantity("power_always_on_mean_w", "Mean power with links that are always on", "W", "always on", 2),
    Quantity("links_off_share", "Share of link cycles in state off", "", "off", 3),
    Quantity("packets", "Packets created in the phase", "packets", "packets", 0),
    Quantity("flaw", "Reason why the phase is never named as the best", "", "flaw", 0),
)

FAULT_PARTS = (
    Quantity("cycles", "Cycles of the window", "cycles", "cycles", 0),
    Quantity("latency_cycles", "Mean latency of the packets delivered in this part", "cycles", "latency", 1),
    q.ACCEPTED,
    Quantity("delivered_share", "Delivered share of the packets delivered or dropped then", "", "delivered", 3),
    Quantity("packets", "Packets delivered in this part", "packets", "packets", 0),
    Quantity("dropped_packets", "Packets dropped in this part", "packets", "dropped", 0),
    Quantity("unknown", "Reason why a number is missing", "", "reason", 0),
)

FAULT_EPISODES = (
    Quantity("from_cycle", "First failure", "cycles", "from", 0),
    Quantity("to_cycle", "Cycle in which all failed parts have returned", "cycles", "to", 0),
    Quantity("latency_cycles", "Mean latency of the packets delivered during the failure", "cycles", "latency", 1),
    Quantity("delivered_share", "Delivered share of the packets delivered or dropped then", "", "delivered", 3),
    Quantity("dropped_packets", "Packets dropped during the failure", "packets", "dropped", 0),
    Quantity("recovery_cycles", "Time from the failure until packets are as before", "cycles", "recovery", 0),
    Quantity("return_recovery_cycles", "Time from the repair until packets are as before", "cycles", "return", 0),
    Quantity("unknown", "Reason why a number is missing", "", "reason", 0),
)

LINK_CLASSES = (
    Quantity("channels", "Channels of the class", "channels", "channels", 0),
    Quantity("utilisation_mean", "Mean utilisation", "share of bandwidth", "mean utilisation", 4),
    Quantity("utilisation_max", "Utilisation of the busiest channel", "share of bandwidth", "max utilisation", 4),
    Quantity("energy_j", "Energy in the window", "J", "energy", 6),
)


GROUPS = (
    Quantity("channels", "Channels of the group", "channels", "channels", 0),
    Quantity("routers", "Routers of the group", "routers", "routers", 0),
    Quantity("flits", "Flits that the channels of the group sent", "flits", "flits", 0),
    Quantity("asleep_share", "Share of the window in which all channels of the group were off", "", "asleep", 3),
    q.POWER,
    Quantity("energy_j", "Energy in the window", "J", "energy", 6),
)
# Maximum number of groups (`power.groups`, such as cabinets) that a page lists for each point.
MOST_GROUPS = 20


@dataclass(frozen=True)
class Listing:
    """A list in the summary of each point.

    The report shows the list of a point as a table with a row per entry.

    Attributes
    ----------
    name : str
        Key of the list in the summary.
    caption : str
        Text above the table of the report.
    key, head : str
        Key with the name of an entry, and heading of the column of names.
    quantities : tuple of Quantity
        Further columns, in this order. A column is left out if no entry of a point has a value.
    entries : callable
        Function from the summary of a point to the entries that have a row. If the entries would only repeat the
        numbers of the point, the function returns none. The key ``mark`` of an entry is the sign that the page writes
        after its unreliable numbers.
    """

    name: str
    caption: str
    key: str
    head: str
    quantities: tuple[Quantity, ...]
    entries: Callable[[Mapping[str, Any]], list[dict[str, Any]]]


def _elsewhere(_: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns no entries, because the entries are not in the summary but in a separate table of the point."""
    return []


def _link_classes(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    return list(summary.get("link_classes") or [])


def _jobs(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The jobs of a point; empty for a single job without a batch, because its numbers are those of the point."""
    jobs = summary.get("jobs") or []
    if len(jobs) == 1 and jobs[0]["batch_packets"] is None:
        return []
    rows = []
    for job, sign in zip(jobs, of_jobs.signs(summary), strict=True):
        endless = (q.LATENCY.column, q.P99.column) if sign in soundness.ENDED else ()
        words = {name: sign for name in endless if job.get(name) is not None}
        rows.append(job | {"mark": "" if sign in soundness.ENDED else sign} | words)
    return rows


def _judged(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The phases of the load of a point, as entries of a list.

    A word replaces the latency of a saturated phase. An entry with marked numbers names the reason.
    """
    words = {True: "saturated", False: "no", None: "not judged"}
    rows = []
    for phase, judged in zip(summary.get("phases") or [], soundness.in_phases(summary), strict=True):
        over = phase.get("saturated")
        row = phase | {"saturated": words[over] if phase["packets"] else "not measured"}
        if phase["packets"]:
            if over is False and soundness.is_dropping(judged):
                row["saturated"] = "no, packets dropped"
            row |= {"power_always_on_mean_w": judged.get("power_always_on_mean_w")}
            verdict = soundness.verdict(judged)
            row |= {"mark": soundness.OVERLOADED_MARK if over else verdict.mark}
            row |= {"flaw": verdict.reason, "crossed": not over and bool(verdict.mark)}
        rows.append(row | (dict.fromkeys((q.LATENCY.column, q.P99.column), "sat") if over else {}))
    return rows


def _flows(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Entries of the list of flows (traffic between named terminals): each class of flows with sign and energy [uJ]."""
    mark = of_flows.sign(summary)
    return [
        {**flow, "mark": mark, "energy_dynamic_uj": float(flow["energy_dynamic_fj"]) * 1e-9}
        for flow in of_flows.of(summary)
    ]


def point_mark(summary: Mapping[str, Any]) -> str:
    """The sign after unreliable numbers of a point; empty if all its numbers are reliable."""
    return soundness.OVERLOADED_MARK if soundness.sign(summary) in soundness.ENDED else soundness.mark(summary)


def _in_faults(name: str) -> Callable[[Mapping[str, Any]], list[dict[str, Any]]]:
    """Returns the function that returns the entries of a list about faults, each with the mark of the point."""
    return lambda summary: [each | {"mark": point_mark(summary)} for each in summary.get(name) or []]


# The lists of a point, in the order of the page.
LISTINGS = (
    Listing("link_classes", "Link classes", "link_class", "class", LINK_CLASSES, _link_classes),
    Listing("jobs", "Jobs", "job", "job", JOBS, _jobs),
    Listing("flows", "Flows by source and destination", "flow", "flow", FLOWS, _flows),
    Listing("phases", "Phases of the load", "phase", "phase", PHASES, _judged),
    Listing("fault_parts", "Before, during and after faults", "part", "part", FAULT_PARTS, _in_faults("fault_parts")),
    Listing(
        "fault_episodes",
        "Failed parts, and times to recover",
        "failed",
        "failed",
        FAULT_EPISODES,
        _in_faults("fault_episodes"),
    ),
)


_MOST_ENERGY = f"Groups with the highest energy, at most {MOST_GROUPS}"
GROUP_LISTING = Listing("groups", _MOST_ENERGY, "group", "group", GROUPS, _elsewhere)


def described(quantity: Quantity) -> dict[str, object]:
    """The description of a quantity, in the form that the scripts of the page read; shares are in percent."""
    share = quantity.column.endswith("_share")
    return {
        "column": quantity.column,
        "label": quantity.label,
        "unit": "%" if share else quantity.unit,
        "scale": 100 if share else 1,
        "short": quantity.short,
        "digits": 1 if share else quantity.digits,
        "marks": list(dict.fromkeys([*of_jobs.marks_of(quantity.column), *of_flows.marks_of(quantity.column)])),
    }


def shown(units: str) -> dict[str, object]:
    """Quantities of loads, latencies and times in the chosen units, for the charts."""
    offered, accepted, latency = (si_units.in_units(each, units) for each in (q.OFFERED, q.ACCEPTED, q.LATENCY))
    described_ones = {"offered": described(offered), "accepted": described(accepted), "latency": described(latency)}
    return described_ones | {"time": latency.unit, "si": units == si_units.SI}


def charted(units: str, states: Sequence[str]) -> list[Quantity]:
    """Quantities, in the chosen units, whose mean over the runs of each load is drawn in charts.

    `states` are the power states of the links.
    """
    shares = [Quantity(f"links_{state}_share", f"Share of link cycles {state}", "", state, 3) for state in states]
    costs = [each for cost in (*q.ENERGIES, *q.POWERS) for each in (cost.actual, cost.always_on, cost.ideal)]
    measured = [si_units.in_units(each, units) for each in (q.OFFERED, q.ACCEPTED, q.LATENCY, *q.PERCENTILES.values())]
    return list(dict.fromkeys([*measured, *shares, *costs]))


def billed() -> list[dict[str, object]]:
    """Columns of the charts that compare a run with always-on and ideal links: for all links, or some of them."""
    return [
        {
            "links": energy.links,
            "energy": [each.column for each in (energy.actual, energy.always_on, energy.ideal)],
            "power": [each.column for each in (power.actual, power.always_on, power.ideal)],
        }
        for energy, power in zip(q.ENERGIES, q.POWERS, strict=True)
    ]
