"""Reads the section `bill` of a scenario. Its keys say how to convert power to energy and money per year."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft import _engine
from weft.scenario.scenario import written

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weft.results.result_set import ResultSet

HOURS_PER_YEAR = 8760
# An example of a bill that does not depend on results.
_EXAMPLE = "bill: {price_per_kwh: 0.25EUR, profile: [{share: 1, load: 0.1}]}"
PERIODS = {"day": 24, "week": 168}
"""Length of a profile in hours, by its name in a bill."""


@dataclass(frozen=True)
class Part:
    """A part of the profile of a bill. The profile says which share of the time the network has each load (or phase).

    Attributes
    ----------
    path : str
        Dotted path of the scenario key with this part, for messages.
    name : str
        Name of the part in tables and pictures.
    share : float
        Share of the time for which the part lasts; the shares of all parts add up to 1.
    load : float or None
        Load, as set by ``traffic.load`` [flits/terminal/cycle].
    phase : int or None
        Number of a phase, counted from 1, if the profile names phases instead of loads.
    """

    path: str
    name: str
    share: float
    load: float | None
    phase: int | None


@dataclass(frozen=True)
class Bill:
    """The section `bill`: factors that convert power to energy and money per year, and the profile of loads.

    Attributes
    ----------
    pue : float
        Power usage effectiveness: power of the whole site, divided by the power of the network.
    price : float
        Price of a kilowatt-hour.
    currency : str
        Currency code of three letters.
    period : str
        Length of the profile: ``day`` or ``week``.
    parts : tuple of Part
        The parts of the profile, in their order.
    baseline : str or None
        Coordinates of the points with which savings are computed. ``None`` means points with links that are always on.
    """

    pue: float
    price: float
    currency: str
    period: str
    parts: tuple[Part, ...]
    baseline: str | None

    @classmethod
    def of(cls, keys: Mapping[str, Any]) -> Bill:
        """Makes a bill from its keys in a resolved scenario."""
        found = re.fullmatch(r"([0-9.]+(?:e-?\d+)?) ?([A-Z]{3})", keys["price_per_kwh"])
        assert found, "the engine has checked the price"
        whole = sum(each["share"] for each in keys["profile"])
        parts = tuple(_part(each, whole, number) for number, each in enumerate(keys["profile"]))
        return cls(keys["pue"], float(found[1]), found[2], keys["period"], parts, keys.get("baseline"))

    @property
    def by_phase(self) -> bool:
        """Whether the profile names phases of a load; otherwise the profile names loads."""
        return self.parts[0].phase is not None

    @classmethod
    def read(cls, keys: str | Path | Mapping[str, Any], example: str = _EXAMPLE) -> Bill:
        """Read a bill from a mapping, from a separate file, or from the section ``bill`` of a scenario.

        Parameters
        ----------
        keys : path or mapping
            The file with the bill, or the keys of the bill.
        example : str
            A section ``bill`` in one line. If the file has no bill, the error shows this example.

        Raises
        ------
        ScenarioError
            If the bill cannot be read, or a key is wrong. The error names the file, the line and the remedy.
        """
        if isinstance(keys, str | Path):
            return cls.of(_engine.read_bill(_engine.read(keys), str(keys), example))
        return cls.of(_engine.read_bill(written(keys), "<bill>", example))

    @classmethod
    def kept(cls, results: ResultSet) -> Bill | None:
        """The bill of the scenario in the last run that wrote these results; ``None`` if that scenario had no bill."""
        keys = results.bill_keys
        return None if keys is None else cls.read(keys)


def _part(keys: Mapping[str, Any], whole: float, number: int) -> Part:
    load, phase = keys.get("load"), keys.get("phase")
    path = f"bill.profile.{number}.{'phase' if load is None else 'load'}"
    name = keys.get("name") or (f"phase {phase}" if load is None else f"load {load:g}")
    return Part(path, name, keys["share"] / whole, load, phase)
