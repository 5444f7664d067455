"""Computes the power of a whole machine (switches, their ports, and nodes), as a share of its maximum power.

Source: F. Andujar et al., "Energy efficient torus networks with on/off links" (JPDC 2019), section 2 and Table 1. The
power of a switch grows with the number of its ports. A sleeping port draws a given share of the power of a port that is
on. A port that changes its state draws as much as a port that is on. All numbers are relative to a reference network
with all ports on.

Parameters: `Shares`. Guarantees: results come from arithmetic alone, without a simulation. Not modelled: power per
transferred bit, cooling, optical modules in the ports. Validation: `tests/test_analysis_machine.py` compares the
results with the closed forms of the paper.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from weft.errors import WeftError


def share(value: float, name: str) -> float:
    """Checks that a value is from 0 to 1, and returns it.

    Raises
    ------
    WeftError
        If the value is not from 0 to 1.
    """
    if not 0 <= value <= 1:
        remedy = f"write {value / 100:g}, if {value:g} % is meant" if 1 < value <= 100 else "write a number from 0 to 1"
        raise WeftError.saying(f"{name}: {value:g} is not a share from 0 to 1", remedy)
    return float(value)


@dataclass(frozen=True)
class Shares:
    """The three shares of power in Table 1 of the paper, which are the parameters of the model.

    Attributes
    ----------
    port_asleep : float
        Power of a sleeping port, as a share of the power of a port that is on (w_Sport).
    ports : float
        Power of the ports of a switch, as a share of the power of the whole switch (w_ports).
    network : float
        Power of the reference network, as a share of the power of the whole machine at work (w_net); more than 0.

    Raises
    ------
    WeftError
        If a share is not from 0 to 1.
    """

    port_asleep: float = 0.1
    ports: float = 0.65
    network: float = 0.15

    def __post_init__(self) -> None:
        for each in fields(self):
            share(getattr(self, each.name), f"share {each.name}")
        if self.network == 0:
            what = "share network: 0 means a machine without a network"
            raise WeftError.saying(what, "write the share of the reference network in the power, such as 0.15")


@dataclass(frozen=True)
class Fabric:
    """The ports of a network: their number, their share of time on, and their share of power.

    Attributes
    ----------
    switches, ports, terminal_ports : int
        Number of switches, of all ports of the switches, and of the ports that lead to a terminal.
    on_share : float
        Share of the time in which a port was not asleep, mean over all ports (U_ports).
    drawn : float
        Power of all ports as a share of their power when all are on (W_ports).
    measured : float or None
        Power of the network in a run with prices of its own, as a share of its power with all ports on. This share
        replaces the model of the paper; ``None`` if the model applies.
    watts : float or None
        Power of the network with all ports on [W], at the prices of the run or of the catalogue; ``None`` if unknown.
    """

    switches: int
    ports: int
    terminal_ports: int = 0
    on_share: float = 1.0
    drawn: float = 1.0
    measured: float | None = None
    watts: float | None = None

    def __post_init__(self) -> None:
        if self.switches < 1 or self.ports < 1:
            what = f"a network of {self.switches} switches with {self.ports} ports in total has no power to compare"
            raise WeftError.saying(what, "name a reference network with ports, such as 7x64: 64 switches of 7 ports")

    @classmethod
    def asleep(cls, switches: int, ports: int, sleeping: float, shares: Shares) -> Fabric:
        """A network whose ports sleep for the share `sleeping` of the time, as a mean over all ports."""
        drawn = shares.port_asleep * sleeping + 1 - sleeping
        return cls(switches, ports, on_share=1 - sleeping, drawn=drawn)

    def always_on(self) -> Fabric:
        """A network with the same ports, all of them always on."""
        return replace(self, on_share=1.0, drawn=1.0, measured=None if self.measured is None else 1.0)

    def w_sw(self, shares: Shares) -> float:
        """Mean power of a switch, as a share of its maximum power (W_sw)."""
        if self.measured is not None:
            return self.measured
        return 1 - shares.ports + shares.ports * self.drawn

    def w_net(self, shares: Shares, reference: Fabric) -> float:
        """Power of the network, as a share of the power of the reference with all ports on (W_net).

        The two networks are compared by their power in watts, if it is known, or by their numbers of ports.
        """
        if self.watts is not None and reference.watts is not None:
            return self.w_sw(shares) * self.watts / reference.watts
        return self.w_sw(shares) * self.ports / reference.ports


@dataclass(frozen=True)
class Task:
    """A task (run of a program) on a network: the inputs from which power and energy of the machine are computed.

    Attributes
    ----------
    fabric : Fabric
        The network.
    w_net : float
        Power of the network, as a share of the power of the reference with all ports on.
    runtime : float
        Run time, as a multiple of the run time on the reference network.
    busy : float
        Share of the run time in which a core does not wait for messages; mean over all cores (Run_task).
    """

    fabric: Fabric
    w_net: float
    runtime: float
    busy: float

    @property
    def e_net(self) -> float:
        """Energy of the network, as a multiple of the energy of the reference with all ports on (E_net)."""
        return self.w_net * self.runtime

    def w_nodes(self, idle: float) -> float:
        """Power of the nodes, as a share of their maximum power; `idle` is this share for an idle node."""
        return idle + (1 - idle) * self.busy

    def w_cluster(self, shares: Shares, idle: float) -> float:
        """Power of the machine, as a share of the maximum power of a machine with the reference network (W_cluster)."""
        return shares.network * self.w_net + (1 - shares.network) * self.w_nodes(idle)

    def e_cluster(self, shares: Shares, idle: float) -> float:
        """Energy of the machine, which is its relative power (`w_cluster`) times its relative run time (E_cluster)."""
        return self.w_cluster(shares, idle) * self.runtime

    def equal_idle_share(self, other: Task, shares: Shares) -> float | None:
        """The idle share (power of an idle node) at which the machine uses the same energy for two tasks.

        The energy of each task is a straight line over the idle share. The result is ``None`` if the two lines do not
        cross between 0 and 1.
        """
        first, last = (self.e_cluster(shares, idle) - other.e_cluster(shares, idle) for idle in (0.0, 1.0))
        if first == last or first * last > 0:
            return None
        return first / (first - last)

    def saves(self, other: Task, shares: Shares) -> str:
        """Range of the idle share (power of an idle node) in which this task needs less energy than another."""
        first, last = (self.e_cluster(shares, idle) - other.e_cluster(shares, idle) for idle in (0.0, 1.0))
        if first == last == 0:
            return "equal"
        if max(first, last) <= 0:
            return "always"
        if min(first, last) >= 0:
            return "never"
        return f"{'below' if first < 0 else 'above'} {self.equal_idle_share(other, shares):.3f}"
