"""Takes the power and the prices of designs from the catalogue of hardware.

The key `power.catalogue` of a scenario takes power from the same catalogue.
Source: the rows of `crates/scenario/assets/catalogue.json`, which `weft catalogue` prints. Each row of the catalogue
names its source. The price of a part is the median over the rows of the catalogue, in US dollars. If the catalogue
lacks the price of a part, Weft cannot compute the cost of a design, unless the user gives a price list.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weft import _engine
from weft.design.price_list import Line, Prices
from weft.errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Mapping

# All kinds of cables in the catalogue: fibres with modules (`sr`, `dr`, `fr`), copper (`dac`, `acc`), active optical
# (`aoc`).
CABLES = ("sr", "dr", "fr", "dac", "acc", "aoc")
# Kinds of cables that are sold with both ends attached. A cable of another kind consists of two modules and a fibre.
_WHOLE = ("dac", "acc", "aoc")


@dataclass(frozen=True)
class Hardware:
    """Power and price of the ports, boxes and cables of a design.

    Attributes
    ----------
    name : str
        Name that contains the catalogue, the speed and the cables.
    speed, cables, terminal_cables, routers : str
        Values of the keys with these names in `power.catalogue` of a scenario.
    base_w_per_port : float
        Power of a router per port, whether the port is up or down [W].
    port_w : float
        Additional power of a port in use [W].
    module_w, terminal_module_w : float
        Power of the module at each end of a cable between routers, and at each end of a terminal's cable [W].
    bit_pj : float
        Energy of a router per forwarded bit [pJ/bit]. The power of a design does not include this energy, because a
        design is not simulated with traffic.
    """

    name: str
    speed: str
    cables: str
    terminal_cables: str
    routers: str
    base_w_per_port: float
    port_w: float
    module_w: float
    terminal_module_w: float
    bit_pj: float

    @classmethod
    def of(cls, speed: str, cables: str, terminal_cables: str = "dac", routers: str = "switches") -> Hardware:
        """The hardware that the catalogue lists for these values of the keys.

        Raises
        ------
        ScenarioError
            If the catalogue does not contain this hardware. The message lists the hardware that the catalogue contains.
        """
        power = _engine.catalogue_power(speed, cables, terminal_cables, routers)
        return cls(speed=speed, cables=cables, terminal_cables=terminal_cables, routers=routers, **power)

    def as_options(self) -> str:
        """The options of `weft design` that name this hardware."""
        nodes = " --routers-are-nodes" if self.routers == "nodes" else ""
        return f"--catalogue {self.speed} --cables {self.cables} --terminal-cables {self.terminal_cables}{nodes}"

    def power_w(self, routers: int, radix: int, links: int, terminals: int) -> float:
        """Power of an idle network [W].

        The power is the sum of three parts: all ports of the routers (`radix` each), wired ports, and modules at cable
        ends.
        """
        boxes = routers * radix * self.base_w_per_port + (2 * links + terminals) * self.port_w
        return boxes + 2 * links * self.module_w + 2 * terminals * self.terminal_module_w

    def prices(self) -> Prices | None:
        """Price list for computing costs [$]; ``None`` if the catalogue lacks a price (`unpriced`)."""
        found = _medians(self.speed)
        if self.unpriced():
            return None
        speed = float(self.speed.removesuffix("Gb/s"))
        cable, terminal = (_cable(found, name, speed) for name in (self.cables, self.terminal_cables))
        return Prices(
            _line(found["switch per port"] if self.routers == "switches" else 0.0, 0.0),
            cable,
            speed,
            self.name,
            terminal,
        )

    def priced(self) -> Hardware | None:
        """Hardware of the same speed whose parts all have a price; ``None`` if the catalogue has none.

        The result keeps the cables between routers if these have a price.
        """
        kinds, own = (self.cables, *CABLES), (self.terminal_cables, *CABLES)
        for cables, terminal_cables in ((first, second) for first in kinds for second in own):
            try:
                other = Hardware.of(self.speed, cables, terminal_cables, self.routers)
            except ScenarioError:  # the catalogue lacks the power of these cables
                continue
            if not other.unpriced():
                return other
        return None

    def unpriced(self) -> list[str]:
        """Names of the parts whose price in US dollars is missing in the catalogue."""
        found, wanted = _medians(self.speed), ["switch per port"] if self.routers == "switches" else []
        for name in dict.fromkeys((self.cables, self.terminal_cables)):
            wanted += [f"{name} price", *([] if name in _WHOLE else [f"{name} fibre", f"{name} fibre per metre"])]
        return [each for each in wanted if each not in found]


def _medians(speed: str) -> dict[str, float]:
    """Medians of the figures (powers and prices) that the catalogue has for a speed, by the name of the figure."""
    gbps = int(speed.removesuffix("Gb/s"))
    return {each["figure"]: each["median"] for each in _engine.catalogue()["figures"] if each["speed_gbps"] == gbps}


def _cable(found: Mapping[str, float], name: str, speed: float) -> Line:
    """Price of a cable [$ per Gb/s] as a straight line over its length."""
    if name in _WHOLE:
        return _line(0.0, found[f"{name} price"] / speed)
    fixed = 2 * found[f"{name} price"] + found[f"{name} fibre"]
    return _line(found[f"{name} fibre per metre"] / speed, fixed / speed)


def _line(slope: float, intercept: float) -> Line:
    return Line(slope, intercept, 0.0, math.inf, 1.0)
