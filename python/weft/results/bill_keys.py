"""The keys of `bill` as Python reads them, which turn power into energy and money per year."""

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
# A bill for no results in particular.
_EXAMPLE = "bill: {price_per_kwh: 0.25EUR, profile: [{share: 1, load: 0.1}]}"
PERIODS = {"day": 24, "week": 168}
"""Hours of a profile, by what a bill calls it."""


@dataclass(frozen=True)
class Part:
    """A part of the time.

    Attributes
    ----------
    path : str
        Where it stands in a scenario, for messages.
    name : str
        For tables and pictures.
    share : float
        Of the time; all parts together are 1.
    load : float or None
        Load as ``traffic.load`` sets it [flits/terminal/cycle].
    phase : int or None
        Number of a phase, in place of a load.
    """

    path: str
    name: str
    share: float
    load: float | None
    phase: int | None


@dataclass(frozen=True)
class Bill:
    """Factors from power to energy and money per year.

    Attributes
    ----------
    pue : float
        Power that the site draws per power of the network.
    price : float
        Price of a kilowatt-hour.
    currency : str
        Its three letters.
    period : str
        ``day`` or ``week``: how long the profile is.
    parts : tuple of Part
        The profile, in its order.
    baseline : str or None
        Coordinates of the points that savings are against; ``None``: links that are always on.
    """

    pue: float
    price: float
    currency: str
    period: str
    parts: tuple[Part, ...]
    baseline: str | None

    @classmethod
    def of(cls, keys: Mapping[str, Any]) -> Bill:
        """A bill from its keys, as a resolved scenario writes them."""
        found = re.fullmatch(r"([0-9.]+(?:e-?\d+)?) ?([A-Z]{3})", keys["price_per_kwh"])
        assert found, "the engine has checked the price"
        whole = sum(each["share"] for each in keys["profile"])
        parts = tuple(_part(each, whole, number) for number, each in enumerate(keys["profile"]))
        return cls(keys["pue"], float(found[1]), found[2], keys["period"], parts, keys.get("baseline"))

    @property
    def by_phase(self) -> bool:
        """Whether the profile names phases; else it names loads."""
        return self.parts[0].phase is not None

    @classmethod
    def read(cls, keys: str | Path | Mapping[str, Any], example: str = _EXAMPLE) -> Bill:
        """Read a bill from a mapping, from a file of its own, or from the section ``bill`` of a scenario.

        Parameters
        ----------
        keys : path or mapping
            The file, or the keys.
        example : str
            A section ``bill`` in one line, which an error shows where there is none.

        Raises
        ------
        ScenarioError
            If it can't be read, or a key is wrong: with file, line and remedy.
        """
        if isinstance(keys, str | Path):
            return cls.of(_engine.read_bill(_engine.read(keys), str(keys), example))
        return cls.of(_engine.read_bill(written(keys), "<bill>", example))

    @classmethod
    def kept(cls, results: ResultSet) -> Bill | None:
        """The bill that the scenario of the results had when it was run last; ``None`` if it had none."""
        keys = results.bill_keys
        return None if keys is None else cls.read(keys)


def _part(keys: Mapping[str, Any], whole: float, number: int) -> Part:
    load, phase = keys.get("load"), keys.get("phase")
    path = f"bill.profile.{number}.{'phase' if load is None else 'load'}"
    name = keys.get("name") or (f"phase {phase}" if load is None else f"load {load:g}")
    return Part(path, name, keys["share"] / whole, load, phase)
