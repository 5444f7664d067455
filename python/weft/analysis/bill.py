"""What a network costs in a year: the power of measured points, weighted by a profile of a day or a week.

Between two measured loads power is interpolated linearly. Points that are saturated, stuck, not settled or empty are
never used, and nothing is extrapolated: a part of a profile that no other points enclose is refused with the reason.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft import _engine
from weft.analysis.bill_points import Reading, Series, UnbillableError, series_of
from weft.errors import ResultsError
from weft.results.choose import parsed, same
from weft.results.curves import short
from weft.results.rows import frame_of
from weft.scenario.scenario import written
from weft.text.labels import label, setting

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from weft.results.result_set import ResultSet

HOURS_PER_YEAR = 8760
PERIODS = {"day": 24, "week": 168}
"""Hours of a profile, by what a bill calls it."""
# What savings are against where no point was measured at the coordinates of the baseline.
REFERENCE = "same flits, links always on"


@dataclass(frozen=True)
class Part:
    """A part of the time.

    Attributes
    ----------
    name : str
        For tables and pictures.
    share : float
        Of the time; all parts together are 1.
    load : float or None
        Load as ``traffic.load`` sets it [flits/terminal/cycle].
    phase : int or None
        Number of a phase, in place of a load.
    """

    name: str
    share: float
    load: float | None
    phase: int | None


@dataclass(frozen=True)
class Bill:
    """What turns power into energy and money per year.

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
    baseline : str
        Coordinates of the points that savings are against.
    """

    pue: float
    price: float
    currency: str
    period: str
    parts: tuple[Part, ...]
    baseline: str

    @classmethod
    def of(cls, keys: Mapping[str, Any]) -> Bill:
        """A bill from its keys, as a resolved scenario writes them."""
        found = re.fullmatch(r"([0-9.]+(?:e-?\d+)?) ?([A-Z]{3})", keys["price_per_kwh"])
        assert found, "the engine has checked the price"
        whole = sum(each["share"] for each in keys["profile"])
        parts = tuple(_part(each, whole) for each in keys["profile"])
        return cls(keys["pue"], float(found[1]), found[2], keys["period"], parts, keys["baseline"])

    @classmethod
    def read(cls, keys: str | Path | Mapping[str, Any]) -> Bill:
        """Read a bill from a mapping, from a file of its own, or from the section ``bill`` of a scenario.

        Raises
        ------
        ScenarioError
            If it can't be read, or a key is wrong: with file, line and remedy.
        """
        if isinstance(keys, str | Path):
            return cls.of(_engine.read_bill(_engine.read(keys), str(keys)))
        return cls.of(_engine.read_bill(written(keys), "<bill>"))

    @classmethod
    def kept(cls, results: ResultSet) -> Bill | None:
        """The bill that the scenario of the results had when it was run last; ``None`` if it had none."""
        keys = results.bill_keys
        return None if keys is None else cls.read(keys)


def _part(keys: Mapping[str, Any], whole: float) -> Part:
    load, phase = keys.get("load"), keys.get("phase")
    name = keys.get("name") or (f"phase {phase}" if load is None else f"load {load:g}")
    return Part(name, keys["share"] / whole, load, phase)


@dataclass(frozen=True)
class Billed:
    """A series of points that differ in load and seed only, and what they cost over the profile.

    Attributes
    ----------
    coordinates : dict
        What the sweep set, but for the load and the seed.
    label : str
        What distinguishes the series from the others.
    group : str
        What it has in common with its baseline, if there are several groups.
    readings : tuple of Reading
        Of each part of the profile; empty if the profile can't be billed.
    refused : str
        Why it can't; empty if it can.
    baseline : str
        What the savings are against; empty for the baseline itself.
    baseline_powers_w : tuple of float
        Mean power of the baseline in each part [W]; empty if there are no savings.
    unequal : str
        Why there are no savings; empty if there are some.
    """

    coordinates: dict[str, Any]
    label: str
    group: str
    readings: tuple[Reading, ...]
    refused: str
    baseline: str = ""
    baseline_powers_w: tuple[float, ...] = ()
    unequal: str = ""


class YearlyBill:
    """The bill of all series of a set of results.

    Parameters
    ----------
    results : ResultSet
        Finished points.
    bill : Bill, optional
        By default that of their scenario.

    Raises
    ------
    ResultsError
        If there is no bill, or none of the series can be billed.
    """

    def __init__(self, results: ResultSet, bill: Bill | None = None) -> None:
        kept = bill or Bill.kept(results)
        if kept is None:
            what = f"the scenario of {results.root} has no bill"
            remedy = (
                "name a file with --bill FILE, such as examples/bill.yaml, or add a section `bill:` to the scenario"
            )
            raise ResultsError.saying(what, remedy)
        self.bill = kept
        self.results = results
        self.rows = self._rows()
        if all(row.refused for row in self.rows):
            raise ResultsError.saying(f"nothing can be billed: {self.rows[0].label}: {self.rows[0].refused}", _REMEDY)

    def _rows(self) -> list[Billed]:
        all_series = series_of(self.results, by_phase=self.bill.parts[0].phase is not None)
        wanted = self._wanted()
        labels = [each or self.results.name for each in _labels(all_series, list(all_series[0].coordinates))]
        groups = _labels(all_series, [path for path in all_series[0].coordinates if path not in wanted])
        rows = []
        for place, series in enumerate(all_series):
            row = Billed(series.coordinates, labels[place], groups[place], readings=(), refused="")
            try:
                readings = tuple(series.at(part.load, part.phase) for part in self.bill.parts)
            except UnbillableError as why:
                rows.append(replace(row, refused=str(why)))
                continue
            rows.append(replace(row, readings=readings, **self._against(series, readings, all_series)))
        return rows

    def _wanted(self) -> dict[str, Any]:
        """Coordinates of the baseline, by path."""
        wanted = parsed(self.bill.baseline, self.results.coordinates)
        if isinstance(wanted, int):
            what = f"bill.baseline: {self.bill.baseline!r} is the number of a point"
            raise ResultsError.saying(what, "write coordinates, such as power.policy=always_on")
        return wanted

    def _against(self, series: Series, readings: Sequence[Reading], others: Sequence[Series]) -> dict[str, Any]:
        """What the savings of a series are against, and its powers."""
        wanted = self._wanted()
        if _matches(series, wanted):
            return {}
        rest = {path: value for path, value in series.coordinates.items() if path not in wanted}
        for other in others:
            if _matches(other, wanted) and all(other.coordinates.get(path) == rest[path] for path in rest):
                return self._measured(readings, other, setting(wanted))
        return {"baseline": REFERENCE, "baseline_powers_w": tuple(each.always_on_w for each in readings)}

    def _measured(self, readings: Sequence[Reading], other: Series, name: str) -> dict[str, Any]:
        """The powers of a measured baseline, or why it does not do the same work."""
        powers = []
        for part, own in zip(self.bill.parts, readings, strict=True):
            try:
                base = other.at(part.load, part.phase)
            except UnbillableError as why:
                return {"baseline": name, "unequal": f"no savings: the baseline ({name}) at {part.name}: {why}"}
            if not own.same_work(base):
                work = f"{own.delivered:.4g} flits/terminal/cycle and the baseline ({name}) {base.delivered:.4g}"
                return {
                    "baseline": name,
                    "unequal": f"no savings: at {part.name} it delivers {work}: not the same work",
                }
            powers.append(base.power_w)
        return {"baseline": name, "baseline_powers_w": tuple(powers)}

    @cached_property
    def frame(self) -> pl.DataFrame:
        """A row per series.

        Columns: the coordinates that were swept, but for load and seed; ``power_kw`` of links and routers, mean over
        the profile [kW]; ``site_power_kw``, times the PUE [kW]; ``site_energy_kwh_per_year`` [kWh/year];
        ``cost_<currency>_per_year``; ``delivered_load``, mean over the profile [flits/terminal/cycle]; ``baseline``;
        ``saved_kwh_per_year``, ``saved_<currency>_per_year``, ``saving_share``: against it, at the same delivered work;
        ``note``: why a row has no bill or no savings. Null where there is none.
        """
        return frame_of([self._total(row) for row in self.rows])

    @cached_property
    def parts(self) -> pl.DataFrame:
        """A row per series and part of the profile.

        Columns: coordinates; ``part``, ``share``, ``load`` or ``phase``; ``power_kw``, ``site_power_kw`` [kW] in this
        part; ``site_energy_kwh_per_year``, ``cost_<currency>_per_year`` of this part of the time; ``delivered_load``
        [flits/terminal/cycle]; ``from_load``, ``to_load``, the measured loads between which the power was interpolated;
        ``baseline_site_power_kw`` [kW].
        """
        return frame_of([line for row in self.rows for line in self._lines(row)])

    def mean(self, values: Sequence[float]) -> float:
        """The mean over the time of the profile of one value per part."""
        return sum(part.share * value for part, value in zip(self.bill.parts, values, strict=True))

    def _total(self, row: Billed) -> dict[str, Any]:
        money, bill = self.bill.currency.lower(), self.bill
        power = self.mean([each.power_w for each in row.readings]) / 1e3 if row.readings else None
        base = self.mean(row.baseline_powers_w) / 1e3 if row.baseline_powers_w else None
        energy = None if power is None else power * bill.pue * HOURS_PER_YEAR
        saved = None if base is None or power is None else (base - power) * bill.pue * HOURS_PER_YEAR
        return {
            **row.coordinates,
            "power_kw": power,
            "site_power_kw": None if power is None else power * bill.pue,
            "site_energy_kwh_per_year": energy,
            f"cost_{money}_per_year": None if energy is None else energy * bill.price,
            "delivered_load": self.mean([each.delivered for each in row.readings]) if row.readings else None,
            "baseline": row.baseline or None,
            "saved_kwh_per_year": saved,
            f"saved_{money}_per_year": None if saved is None else saved * bill.price,
            "saving_share": None if saved is None or not base or power is None else 1 - power / base,
            "note": row.refused or row.unequal or None,
        }

    def _lines(self, row: Billed) -> Iterator[dict[str, Any]]:
        bases = row.baseline_powers_w or (None,) * len(row.readings)
        for part, reading, base in zip(self.bill.parts if row.readings else (), row.readings, bases, strict=True):
            site = reading.power_w * self.bill.pue / 1e3
            energy = site * part.share * HOURS_PER_YEAR
            yield {
                **row.coordinates,
                "part": part.name,
                "share": part.share,
                **({"load": part.load} if part.phase is None else {"phase": part.phase}),
                "power_kw": reading.power_w / 1e3,
                "site_power_kw": site,
                "site_energy_kwh_per_year": energy,
                f"cost_{self.bill.currency.lower()}_per_year": energy * self.bill.price,
                "delivered_load": reading.delivered,
                "from_load": reading.between[0],
                "to_load": reading.between[1],
                "baseline_site_power_kw": None if base is None else base * self.bill.pue / 1e3,
            }


_REMEDY = "sweep loads that enclose those of the profile and that the network carries, or write other loads"


def _matches(series: Series, wanted: Mapping[str, Any]) -> bool:
    return all(same(series.value(path), asked) for path, asked in wanted.items())


def _labels(all_series: Sequence[Series], paths: Sequence[str]) -> list[str]:
    """For each series its values at those of the paths that differ between them."""
    varied = [path for path in paths if len({label(each.coordinates[path]) for each in all_series}) > 1]
    columns = [short(path, [label(each.coordinates[path], path) for each in all_series]) for path in varied]
    return [", ".join(words) for words in zip(*columns, strict=True)] if columns else [""] * len(all_series)
