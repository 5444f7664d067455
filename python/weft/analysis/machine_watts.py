"""Computes watts, kilowatt-hours and cost of a machine from the prices of its runs, or from Weft's catalogue.

The runs or the catalogue give the power of the reference network with all ports on. The power of a node is computed
from the share of the network in the machine power. If the user gives the power of a node, Weft instead computes the
share of the network from this power. `weft catalogue --sources` prints the source of each figure.
Validation: `tests/test_analysis_machine.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from weft import _engine
from weft.errors import WeftError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weft.analysis.machine_power import Fabric, Shares

_JOULES_PER_KWH = 3.6e6


@dataclass(frozen=True)
class Hardware:
    """The hardware of the switches and cables of a machine, as named in the catalogue.

    Attributes
    ----------
    speed, cables, terminal_cables : str
        Values of the keys with these names in `power.catalogue` of a scenario, such as ``100Gb/s`` and ``dac``. With
        ``None`` as `speed`, watts are known only from runs with prices of their own.
    node_w : float or None
        Power of a node at work [W]; if ``None``, Weft computes this power from the share of the network in the machine
        power.
    price_per_kwh : float or None
        Price of electricity per kWh, in any currency; if ``None``, Weft does not compute the cost of energy.
    named : bool
        Whether the user names this hardware. If not, it applies only to runs without prices of their own.

    Raises
    ------
    WeftError
        If the catalogue does not contain this hardware, or a number is not above 0.
    """

    speed: str | None = None
    cables: str = "dac"
    terminal_cables: str = "dac"
    node_w: float | None = None
    price_per_kwh: float | None = None
    named: bool = True

    def __post_init__(self) -> None:
        if self.speed is not None:
            self._figures()
        for name, value in (("power of a node", self.node_w), ("price of a kilowatt-hour", self.price_per_kwh)):
            if value is not None and not 0 < value < float("inf"):
                raise WeftError.saying(f"{name}: {value:g} is not a number above 0", "write e.g. 500 W, or 0.25")

    def _figures(self) -> dict[str, float]:
        return _engine.catalogue_power(self.speed or "", self.cables, self.terminal_cables, "switches")

    def most_w(self, fabric: Fabric) -> float:
        """Power of a network with all ports on [W]: switches, ports, and the modules at both cable ends.

        If the power of the network is known, such as from a run, this power applies.
        """
        if fabric.watts is not None:
            return fabric.watts
        figures = self._figures()
        boxes = fabric.ports * (figures["base_w_per_port"] + figures["port_w"])
        between = (fabric.ports - fabric.terminal_ports) * figures["module_w"]
        return float(boxes + between + 2 * fabric.terminal_ports * figures["terminal_module_w"])

    def shares(self, shares: Shares, reference: Fabric, nodes: int) -> Shares:
        """The three shares of power, with the share of the network changed to match this hardware.

        If the user gives the power of a node, the share of the network is computed from it.
        """
        if self.node_w is None:
            return shares
        network = self.most_w(reference)
        return replace(shares, network=network / (network + nodes * self.node_w))

    def port_shares(self, fabric: Fabric) -> dict[str, float]:
        """The shares `port_asleep` and `ports` of this hardware in a network.

        The ports include their modules. The modules in a sleeping port draw full power.
        """
        figures, most = self._figures(), self.most_w(fabric)
        on = most - fabric.ports * figures["base_w_per_port"]
        return {"port_asleep": 1 - fabric.ports * figures["port_w"] / on if on else 1.0, "ports": on / most}

    def is_that_of(self, scenario: Mapping[str, Any]) -> bool:
        """Whether these ports and cables are those of `power.catalogue` of a scenario, or the user names none."""
        if not self.named or self.speed is None:
            return True
        own = scenario["power"].get("catalogue") or {}
        return all(getattr(self, key) == own.get(key) for key in ("speed", "cables", "terminal_cables"))

    def columns(
        self, shares: Shares, fabrics: tuple[Fabric, Fabric], seconds: float | None, powers: tuple[float, float | None]
    ) -> dict[str, Any]:
        """Columns with absolute values for a row of the table: watts, kilowatt-hours of the run, and money.

        Parameters
        ----------
        shares : Shares
            Three shares of power: of a sleeping port, of the ports of a switch, and of the network.
        fabrics : tuple of Fabric
            The network of the reference, and the network of the run.
        seconds : float or None
            The run time [s]; ``None`` if the run has no end.
        powers : tuple
            Relative power of the network (W_net) and of the nodes (W_nodes, ``None`` if unknown).
        """
        (reference, fabric), (w_net, w_nodes) = fabrics, powers
        most = self.most_w(reference)
        network = w_net * most
        nodes = None if w_nodes is None else w_nodes * most * (1 - shares.network) / shares.network
        whole = None if nodes is None else network + nodes
        kwh = None if whole is None or seconds is None else whole * seconds / _JOULES_PER_KWH
        per_port = None if self.speed is None else _price_of_a_port(self.speed)
        return {
            "power_network_w": network,
            "power_nodes_w": nodes,
            "power_machine_w": whole,
            "energy_machine_kwh": kwh,
            "energy_cost": None if kwh is None or self.price_per_kwh is None else kwh * self.price_per_kwh,
            "switches_usd": None if per_port is None else per_port * fabric.ports,
        }


def _price_of_a_port(speed: str) -> float | None:
    """Price of a switch port [$]; ``None`` if the catalogue has no price."""
    gbps = int(speed.removesuffix("Gb/s"))
    figures = _engine.catalogue()["figures"]
    found = [each["median"] for each in figures if each["speed_gbps"] == gbps and each["figure"] == "switch per port"]
    return found[0] if found else None
