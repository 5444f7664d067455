"""Reads the energy prices of channels from a resolved scenario (one in which every key has its final value)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from weft.errors import ResultsError
from weft.text.si import TIME, number

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

# Units in a resolved scenario: energies per bit in femtojoules per bit, powers in watts, and sizes in bits.
_PER_BIT = {"fJ/bit": 1.0, "pJ/bit": 1e3, "nJ/bit": 1e6}
_POWER = {"nW": 1e-9, "uW": 1e-6, "mW": 1e-3, "W": 1.0}
_BITS = {"b": 1.0, "B": 8.0}


@dataclass(frozen=True)
class Static:
    """Static energy cost of a link per cycle. The cost is charged in every cycle, with or without a flit.

    Attributes
    ----------
    fj : dict of str to float
        Energy per cycle [fJ] of a link with a bandwidth of one flit per cycle, by power state. States without a price
        are missing.
    per_bit : frozenset of str
        States whose price is per bit that the link could carry. In these states the energy is proportional to the
        link's bandwidth.
    """

    fj: dict[str, float]
    per_bit: frozenset[str]

    def of(self, state: str, bandwidth: float) -> float:
        """Energy per cycle [fJ] of a link of this bandwidth [flits/cycle] in a state; 0 if the state has no price."""
        return self.fj.get(state, 0.0) * (bandwidth if state in self.per_bit else 1)


@dataclass(frozen=True)
class Prices:
    """Energy prices of the channels between routers.

    Attributes
    ----------
    flit_bits : float
        Size of a flit [bits].
    static : Static
        Static energy of a link per cycle.
    flit_fj : float
        Dynamic energy of each flit in the state ``on`` [fJ].
    class_static : dict of str to Static
        Energy per cycle of the link classes that have their own prices.
    """

    flit_bits: float
    static: Static
    flit_fj: float
    class_static: dict[str, Static] = field(default_factory=dict)

    def per_cycle(self, state: str, channels: pl.DataFrame) -> Numbers:
        """Energy per cycle of each channel in a power state [fJ]; 0 if the state has no price there.

        ``channels`` has the columns ``link_class`` and ``bandwidth`` [flits/cycle].
        """
        kinds = zip(channels["link_class"], channels["bandwidth"], strict=True)
        each = (self.class_static.get(name, self.static).of(state, bandwidth) for name, bandwidth in kinds)
        return np.array(list(each), dtype=float)

    @classmethod
    def of(cls, scenario: Mapping[str, Any]) -> Prices:
        """Reads the prices of a resolved scenario.

        Raises
        ------
        ResultsError
            If the scenario has no prices, or if the prices can't be read.
        """
        try:
            bits, cycle = number(scenario["flit"], _BITS), number(scenario["cycle"], TIME)
            power = scenario["power"]

            def static(prices: Mapping[str, Any]) -> Static:
                texts = {state: price["static"] for state, price in prices.items()}
                fj = {state: _static(text, bits, cycle) for state, text in texts.items()}
                return Static(fj, frozenset(state for state, text in texts.items() if not text.endswith("W")))

            of_classes = {name: static(prices) for name, prices in power.get("class_prices", {}).items()}
            flit = number(power["prices"]["on"]["per_bit"], _PER_BIT) * bits
            return cls(bits, static(power["prices"]), flit, of_classes)
        except (KeyError, TypeError, ValueError) as problem:
            what = f"the scenario of the point has no readable prices: {problem}"
            raise ResultsError.saying(what, "run the point again") from problem


def _static(text: str, bits: float, cycle_fs: float) -> float:
    """Reads the static price of a channel [fJ/cycle], for a bandwidth of one flit per cycle.

    A price is in watts or per bit. A watt is a femtojoule per femtosecond.
    """
    return number(text, _POWER) * cycle_fs if text.endswith("W") else number(text, _PER_BIT) * bits
