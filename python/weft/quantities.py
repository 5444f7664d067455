"""What a finished point holds: the columns that tables and plots read, with labels and units."""

from __future__ import annotations

from dataclasses import dataclass

# Loads that a search for saturation tells apart [flits/terminal/cycle].
TOLERANCE = 0.005


@dataclass(frozen=True)
class Quantity:
    """A column of results.

    Attributes
    ----------
    column : str
        Name in the frame and in ``summary.json``.
    label : str
        For an axis or a legend.
    unit : str
        In the words of the documentation; empty for counts and words.
    short : str
        Head of a table column.
    digits : int
        Decimal places in a table.
    """

    column: str
    label: str
    unit: str
    short: str
    digits: int

    @property
    def axis(self) -> str:
        """Label with unit."""
        return f"{self.label} [{self.unit}]" if self.unit else self.label


ENDING = Quantity("ending", "Ending", "", "ending", 0)
OFFERED = Quantity("offered_load", "Offered load", "flits/terminal/cycle", "offered", 3)
ACCEPTED = Quantity("accepted_load", "Accepted load", "flits/terminal/cycle", "accepted", 3)
LATENCY = Quantity("packet_latency_mean_cycles", "Mean packet latency", "cycles", "latency", 1)
P99 = Quantity("packet_latency_p99_cycles", "99 % of packet latencies", "cycles", "p99", 0)
HOPS = Quantity("hops_mean", "Hops per packet", "links", "hops", 2)
MINIMAL = Quantity("minimal_share", "Share of minimal routes", "", "minimal", 2)
ENERGY = Quantity("energy_per_bit_pj", "Energy per delivered bit", "pJ/bit", "energy", 1)

# A value of `ENDING`.
STALLED = "stalled"
