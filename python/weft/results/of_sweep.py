"""Tables about a whole sweep, not about points: the bill of a year, and the saturation loads of its curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from weft.errors import ResultsError, WeftError
from weft.results import bill_example
from weft.results.bill_keys import Bill
from weft.results.yearly_bill import YearlyBill

if TYPE_CHECKING:
    from weft.results.result_set import ResultSet

BILL, SATURATION = "bill", "saturation"
TABLES = {
    BILL: "a row per series: power, energy and money per year, if the scenario has a bill",
    SATURATION: "a row per curve: the saturation load that `weft saturation` found",
}
# Name of the file in which a search for saturation stores its table, in the folder of its results.
FILE = "saturation.csv"
# Reason why the two loads between which a curve saturates are further apart than the tolerance of the search.
WIDER = "wider than the tolerance: runs at the loads between had not settled, so these loads do not count as carried"


def frame(name: str, results: ResultSet) -> pl.DataFrame | None:
    """The table `name` of some results; ``None`` if they lack this table, for which `asking` returns the remedy.

    Raises
    ------
    ResultsError
        If the file of the table is damaged.
    """
    if name == SATURATION:
        return _saturation(results)
    try:
        return YearlyBill(results).frame if Bill.kept(results) else None
    except WeftError:
        return None


def asking(name: str, results: ResultSet) -> str:
    """The remedy for results that lack a table."""
    if name == SATURATION:
        return (
            f"first run `weft saturation FILE` with the scenario of {results.root}, then name the folder that the "
            "command writes"
        )
    if Bill.kept(results) is None:
        return bill_example.remedy(results)
    try:
        YearlyBill(results)
    except WeftError as problem:
        return f"{problem.what}; {problem.help}"
    return f"{results.root} has a bill"


def _saturation(results: ResultSet) -> pl.DataFrame | None:
    path = results.root / FILE
    if not path.is_file():
        return None
    try:
        return pl.read_csv(path, infer_schema_length=None)
    except (OSError, pl.exceptions.PolarsError) as problem:
        what = f"{path} can't be read: {problem}"
        raise ResultsError.saying(what, "run `weft saturation` again: finished points stay") from problem
