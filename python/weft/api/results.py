"""`weft.Results`: the finished points of a sweep, with methods that plot, query, compare and report them."""

from __future__ import annotations

import warnings
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.results.result_set import ResultSet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from weft.analysis.bill import YearlyBill
    from weft.analysis.dvfs import Rates
    from weft.plot.accessor import Plots


class Results(ResultSet):
    """Finished points of a sweep, with methods that plot, query, compare and report them.

    Parameters and attributes are those of `ResultSet`.
    """

    def query(self, sql: str) -> pl.DataFrame:
        """Ask the results in SQL; `weft query` lists the tables and their columns.

        Damaged files are left out, with a warning.

        Raises
        ------
        ResultsError
            If the query is wrong.
        """
        from weft.results.database import Database

        with Database([self]) as database:
            answer = database.frame(sql)
        for line in database.damage:
            warnings.warn(f"left out: {line}", stacklevel=2)
        return answer

    def report(self, path: str | Path | None = None) -> Path:
        """Write one HTML file with tables, charts and the drawing of the network, which opens without a network.

        Parameters
        ----------
        path : path, optional
            Where to; by default ``report.html`` in the folder of the sweep.
        """
        from weft import report

        path = self.root / "report.html" if path is None else Path(path)
        report.write([self], path)
        return path

    def compare(self, other: ResultSet, on: Sequence[str] | None = None) -> pl.DataFrame:
        """Compare with another result set: a row per place and quantity, as `weft compare` shows them.

        Parameters
        ----------
        other : ResultSet
            The set whose values are ``b``; those of this one are ``a``.
        on : sequence of str, optional
            Coordinates that pair the points, by default all that have values in common, but for the seed.

        Returns
        -------
        polars.DataFrame
            Coordinates; ``quantity``, ``unit``, ``a``, ``b``, ``difference`` (b - a), ``relative`` (to a),
            ``half_width`` of its 95 % confidence interval, ``significant`` (null where no interval is known),
            ``a_ending`` and ``b_ending``, and ``unequal``: why it says nothing on which is better, such as a saturated
            point or, for energy, unequal accepted loads; ``relative`` and ``significant`` are null then.
        """
        from weft.results.choose import Chosen
        from weft.results.comparison import compare

        return compare(Chosen.all_of(self), Chosen.all_of(other), on).frame

    def rate_scaled(self, rates: Rates | None = None, *, over_time: bool = False) -> pl.DataFrame:
        """What links between routers would have used at the lowest rates that carry their traffic (ideal DVFS).

        Parameters
        ----------
        rates : weft.analysis.dvfs.Rates, optional
            Rates and their powers; by default 1/4, 1/2 and 1 with 0.54, 0.69 and 1.
        over_time : bool
            Choose anew for each sample of `series` (of channels), in place of once for the window.

        Returns
        -------
        polars.DataFrame
            A row per point, as `weft.analysis.dvfs.rate_scaled` describes it.
        """
        from weft.analysis import dvfs

        return dvfs.rate_scaled(self, rates, over_time=over_time)

    def bill(self, keys: str | Path | Mapping[str, Any] | None = None) -> YearlyBill:
        """What the network costs in a year, over a profile of loads or phases.

        Parameters
        ----------
        keys : path or mapping, optional
            A file with the keys of ``bill``, or the keys; by default those of the scenario.

        Returns
        -------
        weft.analysis.bill.YearlyBill
            Its ``frame`` has a row per series of points [kW, kWh/year, money/year], its ``parts`` one per series and
            part of the profile.

        Raises
        ------
        ResultsError
            If there is no bill, or no series has usable points around the loads of the profile.
        """
        from weft.analysis.bill import Bill, YearlyBill

        return YearlyBill(self, None if keys is None else Bill.read(keys))

    @cached_property
    def plot(self) -> Plots:
        """Figures: ``results.plot()`` draws the usual one, ``results.plot.latency_cdf("cdf.pdf")`` one of a kind."""
        from weft.plot.accessor import Plots

        return Plots(self)


def open(folder: str | Path) -> Results:
    """Open the folder of a sweep.

    Points that are damaged are left out; `Results.damaged` names them.

    Raises
    ------
    ResultsError
        If no sweep wrote the folder, or all its points are damaged or of another version.
    """
    return Results.open(folder)
