"""Power of a whole machine, as shares of the most that it draws: switches, their ports, and nodes.

Source: F. Andujar et al., "Energy efficient torus networks with on/off links" (JPDC 2019), section 2 and Table 1. The
power of a switch grows with its ports. A port that sleeps draws a share of its power at work. A port that changes
its state draws as much as one that is on. All numbers are relative to a reference network whose ports are all on.

Parameters: `Shares`. Guarantees: no simulation, only arithmetic. Not modelled: power per bit, cooling, modules in the
ports. Validation: `tests/test_analysis_machine.py` has the closed forms of the paper.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from weft.errors import WeftError


def share(value: float, name: str) -> float:
    """A share.

    Raises
    ------
    WeftError
        If it is not from 0 to 1.
    """
    if not 0 <= value <= 1:
        remedy = f"write {value / 100:g}, if {value:g} % is meant" if 1 < value <= 100 else "write a number from 0 to 1"
        raise WeftError.saying(f"{name}: {value:g} is no share from 0 to 1", remedy)
    return float(value)


@dataclass(frozen=True)
class Shares:
    """Shares of power: the parameters of Table 1.

    Attributes
    ----------
    port_asleep : float
        What a port that sleeps draws, as a share of a port that is on (w_Sport).
    ports : float
        What the ports of a switch draw, as a share of the whole switch (w_ports).
    network : float
        What the reference network draws, as a share of the whole machine at work (w_net); more than 0.

    Raises
    ------
    WeftError
        If one is not from 0 to 1.
    """

    port_asleep: float = 0.1
    ports: float = 0.65
    network: float = 0.15

    def __post_init__(self) -> None:
        for each in fields(self):
            share(getattr(self, each.name), f"share {each.name}")
        if self.network == 0:
            what = "share network: 0 leaves the network out of the machine"
            raise WeftError.saying(what, "write what the reference network draws, such as 0.15")


@dataclass(frozen=True)
class Fabric:
    """The ports of a network and how long they were on.

    Attributes
    ----------
    switches, ports, terminal_ports : int
        Switches, ports of all switches, and those of them to which terminals are attached.
    on_share : float
        Share of the time of all ports in which they were not asleep (U_ports).
    drawn : float
        Power of all ports as a share of what they draw if all are on (W_ports).
    """

    switches: int
    ports: int
    terminal_ports: int = 0
    on_share: float = 1.0
    drawn: float = 1.0

    def __post_init__(self) -> None:
        if self.switches < 1 or self.ports < 1:
            what = f"a network of {self.switches} switches with {self.ports} ports in all draws nothing to compare with"
            raise WeftError.saying(what, "name a reference network with ports, such as 7x64: 64 switches of 7 ports")

    @classmethod
    def asleep(cls, switches: int, ports: int, sleeping: float, shares: Shares) -> Fabric:
        """A network in which a share of the time of all ports is sleep."""
        drawn = shares.port_asleep * sleeping + 1 - sleeping
        return cls(switches, ports, on_share=1 - sleeping, drawn=drawn)

    def always_on(self) -> Fabric:
        """The same network with all ports on."""
        return replace(self, on_share=1.0, drawn=1.0)

    def w_sw(self, shares: Shares) -> float:
        """Mean power of a switch, as a share of the most that it draws (W_sw)."""
        return 1 - shares.ports + shares.ports * self.drawn

    def w_net(self, shares: Shares, reference: Fabric) -> float:
        """Power of the network, as a share of the power of the reference with all ports on (W_net)."""
        return self.w_sw(shares) * self.ports / reference.ports


@dataclass(frozen=True)
class Task:
    """A task on a network.

    Attributes
    ----------
    fabric : Fabric
        The network.
    w_net : float
        Its power, as a share of the reference with all ports on.
    runtime : float
        Run time, as a multiple of that on the reference.
    busy : float
        Share of the run time in which a core does not wait for messages, mean over all cores (Run_task).
    """

    fabric: Fabric
    w_net: float
    runtime: float
    busy: float

    @property
    def e_net(self) -> float:
        """Energy of the network, as a multiple of the reference with all ports on (E_net)."""
        return self.w_net * self.runtime

    def w_nodes(self, idle: float) -> float:
        """Power of the nodes as a share of the most that they draw, if an idle node draws the share `idle` of it."""
        return idle + (1 - idle) * self.busy

    def w_cluster(self, shares: Shares, idle: float) -> float:
        """Power of the machine, as a share of the most that it draws with the reference network (W_cluster)."""
        return shares.network * self.w_net + (1 - shares.network) * self.w_nodes(idle)

    def e_cluster(self, shares: Shares, idle: float) -> float:
        """Energy of the machine: its power times the relative run time (E_cluster)."""
        return self.w_cluster(shares, idle) * self.runtime

    def equal_idle_share(self, other: Task, shares: Shares) -> float | None:
        """The idle share of a node at which two tasks take the same energy of the machine.

        The two energies are straight lines over the idle share. ``None``: they do not cross from 0 to 1.
        """
        first, last = (self.e_cluster(shares, idle) - other.e_cluster(shares, idle) for idle in (0.0, 1.0))
        if first == last or first * last > 0:
            return None
        return first / (first - last)

    def saves(self, other: Task, shares: Shares) -> str:
        """For which idle shares of a node this task takes less energy of the machine than another one, in words."""
        first, last = (self.e_cluster(shares, idle) - other.e_cluster(shares, idle) for idle in (0.0, 1.0))
        if first == last == 0:
            return "equal"
        if max(first, last) <= 0:
            return "always"
        if min(first, last) >= 0:
            return "never"
        return f"{'below' if first < 0 else 'above'} {self.equal_idle_share(other, shares):.3f}"
