"""How far latencies are apart where an import is not exact: measured beside BookSim2 (commit 28f4329).

Each band has the mean packet latency there and here, at a low and at a middle load. Windows are 6,000 cycles there and
15,000 here, of one seed each: values of the same model differ by up to half a per cent at these lengths.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Band:
    """Latencies in both simulators.

    Attributes
    ----------
    network : str
        Network and settings.
    points : tuple of (float, float, float)
        Injection rate [packets/node/cycle], mean packet latency there and here [cycles].
    """

    network: str
    points: tuple[tuple[float, float, float], ...]


def told(name: str) -> str:
    """The band in words."""
    band = BANDS[name]
    rates = " and ".join(f"{rate:g}" for rate, _, _ in band.points)
    there = " and ".join(f"{cycles:.1f}" for _, cycles, _ in band.points)
    here = " and ".join(f"{cycles:.1f}" for _, _, cycles in band.points)
    return f"measured on {band.network} at rates {rates}: {there} cycles there, {here} here"


BANDS: dict[str, Band] = {}
