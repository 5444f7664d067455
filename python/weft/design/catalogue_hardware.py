"""Power and prices of designs from the catalogue of hardware, whose numbers `power.catalogue` uses in a scenario.

Source: the rows of `crates/scenario/assets/catalogue.json`. Each row names its own source; `weft catalogue` prints the
rows. A price is the median of the rows in US dollars. If a price is missing, a design has no cost; then use a price
list.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weft import _engine
from weft.design.price_list import Line, Prices

if TYPE_CHECKING:
    from collections.abc import Mapping

# Cables that are sold with both ends attached. The other cables consist of two modules and a fibre.
_WHOLE = ("dac", "acc", "aoc")


@dataclass(frozen=True)
class Hardware:
    """Power of the ports, boxes and cables of a design.

    Attributes
    ----------
    name : str
        The catalogue, its speed and its cables, as a string.
    speed, cables, terminal_cables, routers : str
        Values of the same keys of `power.catalogue` in a scenario.
    base_w_per_port : float
        Power of a router per port, whether the port is up or not [W].
    port_w : float
        Power of a port that is up [W].
    module_w, terminal_module_w : float
        Power of the module at each end of a cable between routers, and at each end of a terminal's cable [W].
    bit_pj : float
        Energy per bit that crosses a router [pJ/bit]. It is not part of the power of a design, because a design carries
        no traffic.
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
        """The hardware of the catalogue.

        Raises
        ------
        ScenarioError
            If the catalogue does not contain this hardware. The message lists what it contains.
        """
        power = _engine.catalogue_power(speed, cables, terminal_cables, routers)
        return cls(speed=speed, cables=cables, terminal_cables=terminal_cables, routers=routers, **power)

    def as_options(self) -> str:
        """The options of `weft design` that name this hardware."""
        nodes = " --routers-are-nodes" if self.routers == "nodes" else ""
        return f"--catalogue {self.speed} --cables {self.cables} --terminal-cables {self.terminal_cables}{nodes}"

    def power_w(self, routers: int, radix: int, links: int, terminals: int) -> float:
        """Power of an idle network [W].

        It is the sum over routers of `radix` ports, wired ports, and the modules at both ends of each cable.
        """
        boxes = routers * radix * self.base_w_per_port + (2 * links + terminals) * self.port_w
        return boxes + 2 * links * self.module_w + 2 * terminals * self.terminal_module_w

    def prices(self) -> Prices | None:
        """Cost [$]; ``None`` if a price is missing (`unpriced`)."""
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

    def unpriced(self) -> list[str]:
        """Names of the parts without a price in US dollars."""
        found, wanted = _medians(self.speed), ["switch per port"] if self.routers == "switches" else []
        for name in dict.fromkeys((self.cables, self.terminal_cables)):
            wanted += [f"{name} price", *([] if name in _WHOLE else [f"{name} fibre", f"{name} fibre per metre"])]
        return [each for each in wanted if each not in found]


def _medians(speed: str) -> dict[str, float]:
    """The catalogue's figures for a speed, by their names."""
    gbps = int(speed.removesuffix("Gb/s"))
    return {each["figure"]: each["median"] for each in _engine.catalogue()["figures"] if each["speed_gbps"] == gbps}


def _cable(found: Mapping[str, float], name: str, speed: float) -> Line:
    """Price of a cable [$ per Gb/s] over its length."""
    if name in _WHOLE:
        return _line(0.0, found[f"{name} price"] / speed)
    fixed = 2 * found[f"{name} price"] + found[f"{name} fibre"]
    return _line(found[f"{name} fibre per metre"] / speed, fixed / speed)


def _line(slope: float, intercept: float) -> Line:
    return Line(slope, intercept, 0.0, math.inf, 1.0)
