"""Computes the cost of a network in a year from the power of measured points, and from a profile of a day or a week.

The profile says for which share of the time the network has each load (or phase of a load). A profile can name only
loads that were measured, because Weft does not interpolate between loads. Weft never uses points that are saturated,
stuck, not settled or empty. If there are only such points for a part of the profile, Weft refuses this part, with the
reason and the remedy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from weft.errors import ResultsError
from weft.results import bill_example, equal_work, soundness
from weft.results.bill_baseline import REFERENCE, Baseline
from weft.results.bill_keys import HOURS_PER_YEAR, PERIODS, Bill
from weft.results.bill_points import Reading, Series, UnbillableError, series_of
from weft.results.curves import short
from weft.results.rows import frame_of
from weft.text.labels import label

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from weft.results.bill_keys import Part
    from weft.results.result_set import ResultSet


_OF_FAULTS = (
    "faults drop a share of every load, so another load or a longer window does not help; to bill the network without"
    " faults, remove `faults` and `fault_model.random`"
)


@dataclass(frozen=True)
class Billed:
    """A series of points that differ only in load and seed, with its cost over the profile.

    Attributes
    ----------
    coordinates : dict
        Swept values, except load and seed.
    label : str
        Unique name of the series.
    group : str
        If there are several baselines: the coordinates that the series has in common with its baseline, as a string.
    readings : tuple of Reading
        Measured values (means over seeds) for all parts of the profile; empty if the cost of the series is unknown.
    refused : str
        Reason why the cost of the series is unknown; empty if it is known.
    baseline : str
        Name of the series with which this series is compared (the baseline); empty for the baseline itself.
    baseline_powers_w : tuple of float
        Mean power of the baseline in each part, converted to the load that this series delivers [W]; empty if there are
        no savings.
    baseline_latencies_cycles : tuple of float or None
        Mean packet latency of the baseline in each part [cycles]; empty if there are no savings, or the latency was not
        measured.
    measured : tuple of Reading or None
        Measured values for each part; ``None`` for a part that Weft refuses.
    unequal : str
        Reason why there are no savings; empty if there are savings.
    remedies : tuple of str
        Remedies for `refused` or `unequal`.
    faults : str
        Failing parts of the network, as a string; empty if no part fails.
    """

    coordinates: dict[str, Any]
    label: str
    group: str
    readings: tuple[Reading, ...]
    refused: str
    baseline: str = ""
    baseline_powers_w: tuple[float, ...] = ()
    baseline_latencies_cycles: tuple[float | None, ...] = ()
    measured: tuple[Reading | None, ...] = ()
    unequal: str = ""
    remedies: tuple[str, ...] = ()
    faults: str = ""


class YearlyBill:
    """The bill of a year for all series of a set of results.

    Parameters
    ----------
    results : ResultSet
        Finished points.
    bill : Bill, optional
        Keys of the bill; by default those in the scenario of the results.

    Raises
    ------
    ResultsError
        If the scenario has no bill, or if the cost of every series is unknown.
    """

    def __init__(self, results: ResultSet, bill: Bill | None = None) -> None:
        kept = bill or Bill.kept(results)
        if kept is None:
            raise ResultsError.saying(f"the scenario of {results.root} has no bill", bill_example.remedy(results))
        self.bill = kept
        self.results = results
        self.rows = self._rows()
        if all(row.refused for row in self.rows):
            raise self._nothing()

    def _rows(self) -> list[Billed]:
        all_series = series_of(self.results, by_phase=self.bill.by_phase)
        baseline = Baseline(self.bill, all_series)
        labels = [each or self.results.name for each in _labels(all_series, list(all_series[0].coordinates))]
        groups = _labels(all_series, [path for path in all_series[0].coordinates if path not in baseline.wanted])
        rows = []
        for series, name, group in zip(all_series, labels, groups, strict=True):
            measured, reasons = self._readings(series)
            readings = () if reasons else tuple(each for each in measured if each)
            refused, remedies = "; ".join(reasons), tuple(dict.fromkeys(reasons.values()))
            row = Billed(series.coordinates, name, group, readings, refused, remedies=remedies, faults=series.faults)
            row = replace(row, measured=measured)
            rows.append(row if row.refused else self._against(row, series, baseline))
        return rows

    def _readings(self, series: Series) -> tuple[tuple[Reading | None, ...], dict[str, str]]:
        """The measured values of a series in all parts of the profile, with reasons and remedies for missing values."""
        readings: list[Reading | None] = []
        reasons = {}
        for part in self.bill.parts:
            try:
                readings.append(series.at(part))
            except UnbillableError as why:
                readings.append(None)
                reasons[why.what] = why.help
        return tuple(readings), reasons

    def _against(self, row: Billed, series: Series, baseline: Baseline) -> Billed:
        """The row of a series with the numbers of its baseline, from which its savings are computed."""
        if baseline.is_itself(series):
            return row
        try:
            if (other := baseline.of(series)) is None:
                return replace(
                    row, baseline=REFERENCE, baseline_powers_w=tuple(each.always_on_w for each in row.readings)
                )
            bases = tuple(map(self._same_work, self.bill.parts, row.readings, [other] * len(row.readings)))
        except UnbillableError as why:
            return replace(row, baseline=baseline.name, unequal=f"no savings: {why.what}", remedies=(why.help,))
        powers = self._powers_at_equal_work(bases, row.readings)
        latencies = tuple(base.latency_cycles for base in bases)
        return replace(row, baseline=baseline.name, baseline_powers_w=powers, baseline_latencies_cycles=latencies)

    def _powers_at_equal_work(self, bases: Sequence[Reading], own: Sequence[Reading]) -> tuple[float, ...]:
        """Mean power that the baseline would have in each part [W] if it delivered the load that the series delivers.

        If random variation explains the difference of the two powers, the result is the power of the series itself.
        """
        powers = tuple(base.power_at_w(each.delivered) for base, each in zip(bases, own, strict=True))
        saved = self.mean([power - each.power_w for power, each in zip(powers, own, strict=True)])
        chance = self.mean([each.chance_w(base) for base, each in zip(bases, own, strict=True)])
        return powers if abs(saved) > chance else tuple(each.power_w for each in own)

    @staticmethod
    def _same_work(part: Part, own: Reading, other: Series) -> Reading:
        """The measured values of the baseline in a part of the profile.

        Raises an error if the baseline does not deliver the same load in this part.
        """
        try:
            base = other.at(part)
        except UnbillableError as why:
            raise UnbillableError(f"of the baseline, {why.what}", why.help) from why
        if equal_work.faults_differ(own.runs, base.runs):
            what = f"at {part.name} its window has other cycles than the window of the baseline, and so other faults"
            raise UnbillableError(what, equal_work.common_warmup((*own.runs, *base.runs)))
        shares = [f"{100 * each.dropped_share:.3g} %" for each in (own, base)]
        lost = f"{shares[0]} of its packets are dropped, and {shares[1]} of the packets of the baseline"
        if not soundness.same_work((1.0, 1.0 - max(own.dropped_share, base.dropped_share)), (None, None)):
            what = f"at {part.name} {lost}: a load is not carried if more than 3 % is lost"
            raise UnbillableError(what, _OF_FAULTS)
        if not own.same_work(base):
            much = f"{100 * abs(own.delivered / base.delivered - 1):.3g} %"
            than = f"{much} {'less' if own.delivered < base.delivered else 'more'} than the baseline"
            what = f"at {part.name} it delivers {own.delivered:.4g} flits/terminal/cycle, {than} ({base.delivered:.4g})"
            remedy = "name loads that both deliver, or, if chance is the reason, set a longer `measure.window`"
            if own.dropped_share or base.dropped_share:
                what += f": {lost}"
                remedy = _OF_FAULTS
            raise UnbillableError(what, remedy)
        return base

    def _nothing(self) -> ResultsError:
        """The error for a bill in which no series has a row. The error lists each reason once, with its remedy."""
        reasons = dict.fromkeys((row.refused, row.remedies) for row in self.rows)
        names = {each: [row.label for row in self.rows if (row.refused, row.remedies) == each] for each in reasons}
        lines = [f"{', '.join(names[each])}: {each[0]}" if len(self.rows) > 1 else each[0] for each in reasons]
        remedies = dict.fromkeys(remedy for _, several in reasons for remedy in several)
        return ResultsError.saying(f"nothing can be billed: {'; '.join(lines)}", "; ".join(remedies))

    @cached_property
    def frame(self) -> pl.DataFrame:
        """Table with a row per series.

        Missing values are null. The columns are the swept coordinates, except load and seed, and:

        - ``power_kw``: power of links and routers, a mean over the profile [kW].
        - ``site_power_kw``: this power times the PUE (power of the whole site divided by that of the network) [kW].
        - ``site_energy_kwh_per_year``, ``cost_<currency>_per_year``: energy [kWh/year], and its cost.
        - ``delivered_load``: accepted load, a mean over the profile [flits/terminal/cycle].
        - ``dropped_share``: share of packets lost because a link or router had failed, a mean over the profile.
        - ``baseline``: name of the baseline of the savings.
        - ``saved_kwh_per_year``, ``saved_<currency>_per_year``, ``saving_share``: savings relative to the baseline, as
          if the baseline delivered the same load.
        - ``note``: the reason why the row has no bill or no savings, and the parts whose load is not delivered.
        """
        return frame_of([self._total(row) for row in self.rows])

    @cached_property
    def parts(self) -> pl.DataFrame:
        """Table with a row per series and part of the profile.

        The columns are the coordinates, and:

        - ``part``, ``share``: name of the part, and its share of the time.
        - ``load`` or ``phase``: the load or phase that the profile names.
        - ``power_kw``, ``site_power_kw``: power of links and routers, and of the site, in this part [kW].
        - ``site_energy_kwh_per_year``, ``cost_<currency>_per_year``: energy of this part [kWh/year], and its cost.
        - ``delivered_load`` [flits/terminal/cycle], ``packet_latency_mean_cycles`` [cycles].
        - ``baseline_site_power_kw``: power of the site with the baseline, if it delivered the load that the series
          delivers [kW]. If random variation explains the difference, this is ``site_power_kw``.
        - ``baseline_latency_mean_cycles``: mean packet latency of the baseline [cycles].
        """
        return frame_of([line for row in self.rows for line in self.lines_of(row)])

    @property
    def hours(self) -> list[float]:
        """Time at which each part of the profile begins, and end of the last part [h]."""
        return [
            PERIODS[self.bill.period] * edge
            for edge in accumulate((part.share for part in self.bill.parts), initial=0.0)
        ]

    def site_kw(self, watts: Sequence[float]) -> list[float]:
        """Power of the site [kW] for given powers of the network [W]."""
        return [each * self.bill.pue / 1e3 for each in watts]

    def mean(self, values: Sequence[float]) -> float:
        """The mean of values for each part of the profile, weighted by the time of the part."""
        return sum(part.share * value for part, value in zip(self.bill.parts, values, strict=True))

    def _total(self, row: Billed) -> dict[str, Any]:
        bill = self.bill
        power = self.mean([each.power_w for each in row.readings]) / 1e3 if row.readings else None
        base = self.mean(row.baseline_powers_w) / 1e3 if row.baseline_powers_w else None
        energy = None if power is None else power * bill.pue * HOURS_PER_YEAR
        saved = None if base is None or power is None else (base - power) * bill.pue * HOURS_PER_YEAR
        return {
            **row.coordinates,
            "power_kw": power,
            "site_power_kw": None if power is None else power * bill.pue,
            "site_energy_kwh_per_year": energy,
            self.money("cost"): None if energy is None else energy * bill.price,
            "delivered_load": self.mean([each.delivered for each in row.readings]) if row.readings else None,
            "dropped_share": self.mean([each.dropped_share for each in row.readings]) if row.readings else None,
            "baseline": row.baseline or None,
            "saved_kwh_per_year": saved,
            self.money("saved"): None if saved is None else saved * bill.price,
            "saving_share": None if saved is None or not base or power is None else 1 - power / base,
            "note": "; ".join(filter(None, [row.refused or row.unequal, *self.shortfalls(row)])) or None,
        }

    def shortfalls(self, row: Billed) -> list[str]:
        """Texts on the parts of the profile whose load a series does not deliver: its terminals wait for replies."""
        pairs = zip(self.bill.parts, row.measured, strict=True) if row.measured else ()
        found = [(part, reading.short) for part, reading in pairs if reading and reading.short]
        values = []
        for part, less in found:
            of = f" of job {less.job}" if less.job else ""
            share = f"{100 * less.delivered / less.meant:.3g} % of the load{of}"
            flits = f"{less.delivered:.4g} instead of {less.meant:.4g} flits/terminal/cycle with replies"
            values.append(f"at {part.name} it delivers {share}, because terminals wait for replies ({flits})")
        return values

    def money(self, what: str) -> str:
        """The name of the column with a yearly amount of money, such as ``cost`` or ``saved``."""
        return f"{what}_{self.bill.currency.lower()}_per_year"

    def lines_of(self, row: Billed) -> Iterator[dict[str, Any]]:
        """The rows of `parts` for a series; empty if the series has no bill."""
        nothing = (None,) * len(row.readings)
        bases, latencies = row.baseline_powers_w or nothing, row.baseline_latencies_cycles or nothing
        parts = self.bill.parts if row.readings else ()
        for part, reading, base, latency in zip(parts, row.readings, bases, latencies, strict=True):
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
                self.money("cost"): energy * self.bill.price,
                "delivered_load": reading.delivered,
                "packet_latency_mean_cycles": reading.latency_cycles,
                "baseline_site_power_kw": None if base is None else base * self.bill.pue / 1e3,
                "baseline_latency_mean_cycles": latency,
            }


def _labels(all_series: Sequence[Series], paths: Sequence[str]) -> list[str]:
    """For each series, a string with the values of those scenario keys that differ between series."""
    varied = [path for path in paths if len({label(each.coordinates[path]) for each in all_series}) > 1]
    columns = [short(path, [label(each.coordinates[path], path) for each in all_series]) for path in varied]
    return [", ".join(words) for words in zip(*columns, strict=True)] if columns else [""] * len(all_series)
