"""Defines the quantities (columns of results) that tables and plots show, with labels and units."""

from __future__ import annotations

from dataclasses import dataclass

# Default tolerance of a search for the saturation load: maximum distance between two neighbouring loads that the search
# can run [flits/terminal/cycle].
TOLERANCE = 0.005


@dataclass(frozen=True)
class Quantity:
    """A quantity: a column of results with its label and unit.

    Attributes
    ----------
    column : str
        Name of the column in the frame and in ``summary.json``.
    label : str
        Label for an axis or a legend.
    unit : str
        Unit as written in the documentation; empty for counts and strings.
    short : str
        Heading of a table column.
    digits : int
        Decimal places in a table.
    own_half_width : str
        Column with half the width of the 95 % confidence interval that the engine computes for a single run; empty if
        it computes none.
    """

    column: str
    label: str
    unit: str
    short: str
    digits: int
    own_half_width: str = ""

    @property
    def axis(self) -> str:
        """Label of an axis for this quantity, with the unit in brackets."""
        return f"{self.label} [{self.unit}]" if self.unit else self.label


DELIVERED = Quantity("delivered_share", "Packets of the window that were delivered", "", "delivered", 4)
ENDING = Quantity("ending", "Ending", "", "ending", 0)
SET_LOAD = Quantity("load", "Configured load", "flits/terminal/cycle", "load", 3)
OFFERED = Quantity("offered_load", "Offered load", "flits/terminal/cycle", "offered", 3)
ACCEPTED = Quantity("accepted_load", "Accepted load", "flits/terminal/cycle", "accepted", 3)
SOURCE_ACCEPTED = Quantity(
    "source_accepted_load", "Accepted load per source of the flow", "flits/terminal/cycle", "per source", 3
)
LATENCY = Quantity(
    "packet_latency_mean_cycles", "Mean packet latency", "cycles", "latency", 1, "packet_latency_ci95_cycles"
)
P99 = Quantity("packet_latency_p99_cycles", "99 % quantile of packet latency", "cycles", "p99", 0)
HOPS = Quantity("hops_mean", "Hops per packet", "links", "hops", 2)
MINIMAL = Quantity("minimal_share", "Share of minimal routes", "", "minimal", 2)
ENERGY = Quantity("energy_per_bit_pj", "Energy per delivered bit", "pJ/bit", "energy", 1)
POWER = Quantity("power_mean_w", "Mean power of links, and of routers with a price", "W", "power", 2)
# Not a column of the summary: `weft.results.curves` divides the number of transitions by the length of the window.
TRANSITIONS = Quantity("link_transitions_per_s", "Transitions of all links", "1/s", "transitions", 0)

# Quantities for axes that do not show exactly one column.
PACKET_LATENCY = Quantity("", "Packet latency", "cycles", "latency", 0)
TIME = Quantity("", "Time", "cycles", "time", 0)
UTILISATION = Quantity("utilisation", "Channel utilisation", "share of bandwidth", "utilisation", 3)

# Percentiles of packet latency, the lowest first, by the percentage of packets with at most this latency.
PERCENTILES = {
    name: Quantity(f"packet_latency_p{key}_cycles", f"{name} % quantile of packet latency", "cycles", f"p{key}", 0)
    for name, key in {"50": "50", "90": "90", "95": "95", "99": "99", "99.9": "99_9", "99.99": "99_99"}.items()
}

# Latencies and loads in SI units (microseconds and Gb/s), which `weft.results.si_units` computes. Results do not store
# these columns.
_RATE = "Gb/s per terminal"
LATENCY_US = Quantity("packet_latency_mean_us", LATENCY.label, "us", "[us]", 3, "packet_latency_ci95_us")
OFFERED_GBPS = Quantity("offered_gbps", OFFERED.label, _RATE, "[Gb/s]", 1)
ACCEPTED_GBPS = Quantity("accepted_gbps", ACCEPTED.label, _RATE, "[Gb/s]", 1)
PERCENTILES_US = {
    name: Quantity(own.column.replace("_cycles", "_us"), own.label, "us", "[us]", 3)
    for name, own in PERCENTILES.items()
}


@dataclass(frozen=True)
class Billed:
    """A cost (energy or power) of links, and the cost of the same flits on two other kinds of links.

    Attributes
    ----------
    links : str
        The links that are billed, as a string for a title.
    actual : Quantity
        The cost in the run.
    always_on : Quantity
        The cost with links that are on in every cycle.
    ideal : Quantity
        The cost with ideal links: they cost nothing while they carry no flit.
    """

    links: str
    actual: Quantity
    always_on: Quantity
    ideal: Quantity


def _billed(links: str, column: str, label: str, unit: str) -> Billed:
    """The three columns of a cost. In the name `column`, ``{}`` is replaced by the kind of links."""

    def quantity(reference: str, words: str) -> Quantity:
        return Quantity(column.format(reference), f"{label}{words}", unit, "", 1)

    return Billed(links, quantity("", ""), quantity("always_on_", ", always on"), quantity("ideal_", ", ideal"))


# Names of the parts of a network whose energy or power a column includes. Routers count if they have a price.
ALL_PARTS, BETWEEN_ROUTERS = "all links and routers", "links between routers"

POWERS = (
    _billed(ALL_PARTS, "power_{}mean_w", "Mean power", "W"),
    _billed(BETWEEN_ROUTERS, "power_network_{}mean_w", "Mean power", "W"),
)
ENERGIES = (
    _billed(ALL_PARTS, "energy_{}per_bit_pj", ENERGY.label, ENERGY.unit),
    _billed(BETWEEN_ROUTERS, "energy_network_{}per_bit_pj", ENERGY.label, ENERGY.unit),
)

# Values of `ENDING` that tables and plots treat differently; `weft._engine.ENDINGS` has all values.
DRAINED, SATURATED, STALLED, NOT_COMPLETE = "drained", "saturated", "stalled", "not_complete"
