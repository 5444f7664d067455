"""`weft.Results` has the finished points of a sweep, with methods that plot, query, compare and report them."""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import TYPE_CHECKING, Any

from weft.errors import ResultsError
from weft.results import sweep_diagnoses
from weft.results.result_set import ResultSet
from weft.text import given
from weft.text.file_names import as_path

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pandas as pd
    import polars as pl

    from weft.analysis.dvfs import Rates
    from weft.analysis.machine_energy import Machine
    from weft.plot.accessor import Plots
    from weft.results.choose import Wanted
    from weft.results.yearly_bill import YearlyBill


class Results(ResultSet):
    """Finished points of a sweep, with methods that plot, query, compare and report them.

    Parameters and attributes are those of `ResultSet`.
    """

    def _repr_html_(self) -> str:
        """HTML table of the points, which a notebook shows."""
        from weft.api.notebook_views import of_results

        return of_results(self)

    @property
    def sweep_diagnoses(self) -> list[dict[str, Any]]:
        """Diagnoses (findings, each with a code and a remedy) that concern several points together.

        The diagnoses have the form of those in `diagnoses`. The key ``points`` has the row numbers of the points in
        `frame`.
        """
        return sweep_diagnoses.of(self)

    def to_pandas(self, table: str | pl.DataFrame = "points") -> pd.DataFrame:
        """Convert a table of the results to pandas.

        Parameters
        ----------
        table : str or polars.DataFrame
            A name that `weft query` lists: ``points`` (the rows of `frame`), ``jobs``, ``channels``, or a recording. Or
            a frame that a method of these results returned, such as `query`.

        Returns
        -------
        pandas.DataFrame
            The table without columns of Python objects; ``attrs["units"]`` has the unit of each column.

        Raises
        ------
        ResultsError
            If pandas is not installed, or there is no such table.
        """
        from weft.results.database import TABLES, instead_of
        from weft.results.pandas_frame import to_pandas

        if not isinstance(table, str):
            return to_pandas(table)
        if table not in TABLES:
            raise ResultsError.saying(f"there is no table {table!r}", instead_of(str(table)))
        known = {"points": self.frame, "jobs": self.jobs}
        return to_pandas(known[table] if table in known else self.query(f"select * from {table} order by all"))

    def query(self, sql: str) -> pl.DataFrame:
        """Run an SQL query on the results; `weft query` lists the tables and their columns.

        Damaged files are left out, with a warning.

        Raises
        ------
        ResultsError
            If the query is wrong.
        """
        from weft.results.database import Database

        given.instance(sql, str, "query", "text in SQL", "write e.g. 'select * from points'", ResultsError)
        with Database([self]) as database:
            answer = database.frame(sql)
        for line in database.damage:
            warnings.warn(f"omitted: {line}", stacklevel=2)
        return answer

    def report(self, path: str | Path | None = None, *, units: str | None = None) -> Path:
        """Write one HTML file with tables, charts and the drawing of the network, which a browser can open offline.

        Parameters
        ----------
        path : path, optional
            File to write; by default ``report.html`` in the folder of the sweep.
        units : str, optional
            ``"si"`` also shows latencies in us and loads in Gb/s per terminal; by default ``"cycles"``.

        Raises
        ------
        ResultsError
            If no point is finished, or the file name does not end in ``.html`` or ``.htm``.
        WriteError
            If the file can't be written.
        """
        from weft import report
        from weft.results import si_units

        path = self.root / "report.html" if path is None else as_path(path, "a page")
        report.write([self], path, units=si_units.checked(units))
        return path

    def compare(self, other: ResultSet, on: Sequence[str] | None = None) -> pl.DataFrame:
        """Compare these results with another result set, as `weft compare` does.

        The table has a row for each quantity at each place (combination of coordinates).

        Parameters
        ----------
        other : ResultSet
            The set whose values are in the column ``b``. The values of this set are in the column ``a``.
        on : sequence of str, optional
            Coordinates by which points are paired; by default all coordinates with common values, except the seed.

        Returns
        -------
        polars.DataFrame
            Coordinates; ``quantity``, ``unit``, ``a``, ``b``, ``difference`` (b - a), ``relative`` (to a),
            ``half_width`` of its 95 % confidence interval, ``significant`` (null where no interval is known),
            ``a_ending`` and ``b_ending``, and ``unequal``. ``unequal`` is the reason why the row does not show which
            set is better, such as a saturated point or, for energy, unequal accepted loads. With a reason,
            ``difference``, ``relative``, ``half_width`` and ``significant`` are null. If the load changes in phases,
            ``phase`` is ``all`` or the number of a phase.
        """
        from weft.results.choose import Chosen
        from weft.results.comparison import compare

        given.instance(other, ResultSet, "compare", "set of results", 'write e.g. weft.open_results("results/my")')
        on = None if on is None else given.words(on, "on", "traffic.load")
        return compare(Chosen.all_of(self), Chosen.all_of(other), on).frame

    def rate_scaled(self, rates: Rates | None = None, *, over_time: bool = False) -> pl.DataFrame:
        """Compute the energy of links between routers at the lowest rates that carry their traffic (ideal DVFS).

        Parameters
        ----------
        rates : weft.analysis.dvfs.Rates, optional
            Rates and their relative powers; by default 1/4, 1/2 and 1 with the powers 0.54, 0.69 and 1.
        over_time : bool
            Choose a rate for each sample of the `series` of a channel, instead of one rate for the whole window.

        Returns
        -------
        polars.DataFrame
            A row per point, as `weft.analysis.dvfs.rate_scaled` describes it.
        """
        from weft.analysis import dvfs

        if rates is not None:
            remedy = "omit it for the default rates and powers"
            given.instance(rates, dvfs.Rates, "rates", "weft.analysis.dvfs.Rates", remedy)
        return dvfs.rate_scaled(self, rates, over_time=over_time)

    def machine(
        self, machine: Machine | None = None, reference: Wanted | None = None, *, others: ResultSet | None = None
    ) -> pl.DataFrame:
        """Compute the energy of the whole machine (switches and nodes) for each point, relative to a reference network.

        Parameters
        ----------
        machine : weft.analysis.machine_energy.Machine, optional
            Shares of power, cores, idle shares of a node, and hardware; by default those of Andujar et al. (2019).
        reference : optional
            The index of a point, its coordinates, or the size of a network such as ``"7x64"``; by default the network
            and the policy of the first point.
        others : ResultSet, optional
            Other results, which contain the reference.

        Returns
        -------
        polars.DataFrame
            A row per point and idle share, as `weft.analysis.machine_energy.table` describes it.
        """
        from weft.analysis import machine_energy

        if machine is not None:
            remedy = "omit it for the default shares"
            given.instance(machine, machine_energy.Machine, "machine", "weft.analysis.machine_energy.Machine", remedy)
        return machine_energy.table(self, machine, reference, others=others)

    def bill(self, keys: str | Path | Mapping[str, Any] | None = None) -> YearlyBill:
        """Compute the cost of the network in a year, for a profile of loads or phases.

        Parameters
        ----------
        keys : path or mapping, optional
            A file with the keys of ``bill``, or a mapping of these keys; by default the keys of the scenario.

        Returns
        -------
        weft.results.yearly_bill.YearlyBill
            The bill. A series is a set of points that differ only in load (or phase), for example all points of one
            policy. The attribute ``frame`` has a row per series [kW, kWh/year, money/year]. The attribute ``parts`` has
            a row per series and part (load or phase) of the profile. Printing the bill shows the tables and notes of
            `weft analyse bill`.

        Raises
        ------
        ResultsError
            If neither `keys` nor the scenario has a bill, or if every series lacks a point without flaws at some load
            or phase of the profile.
        """
        from weft.api.printed_bill import PrintedBill
        from weft.results.bill_example import example
        from weft.results.bill_keys import Bill

        return PrintedBill(self, None if keys is None else Bill.read(keys, example(self)))

    @cached_property
    def plot(self) -> Plots:
        """Figures: ``results.plot()`` draws the default one, ``results.plot.latency_cdf("cdf.pdf")`` a chosen kind."""
        from weft.plot.accessor import Plots

        return Plots(self)


def open_results(folder: str | Path) -> Results:
    """Open a folder of results.

    Damaged points are left out; `Results.damaged` lists them.

    Raises
    ------
    ResultsError
        If the folder was not written by a sweep, or if all its points are damaged or from another version of Weft.
    """
    return Results.open(folder)
