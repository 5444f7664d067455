"""Converts frames of results to pandas: every column gets a suitable type and a unit."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

import polars as pl

from weft.errors import ResultsError

if TYPE_CHECKING:
    import pandas as pd

# Units of columns, by patterns of their names. A pattern is compared with the last part of a dotted path. The first
# pattern that matches determines the unit.
_UNITS = [
    (re.compile(pattern), unit)
    for pattern, unit in (
        (r"((offered|injected|accepted|path_bound)_)?load", "flits/terminal/cycle"),
        (r"source_load_(min|max)|bandwidth|limited_rate", "flits/cycle"),
        (r"(.*_)?bits_per_second", "b/s"),
        (r"utilisation(_mean|_max)?", "share of bandwidth"),
        (r"queue_utilisation", "share"),
        (r"hops_mean", "links"),
        (r"(.*_)?flit_hops|(.*_)?flits(_.*)?", "flits"),
        (r"(.*_)?flit_hops_per_second|.*_per_s", "1/s"),
        (r"(.*_)?cycles?(_.*(?<!seconds))?", "cycles"),
        (r"(.*_)?(packets|notifications)", "packets"),
        (r"limited_flows", "flows"),
        (r"running|waiting", "programs"),
        (r"set_aside_tokens.*", "tokens"),
        (r"set_aside_queues_.*|ideal_queues", "queues"),
        (r"set_aside_unserved_heads", "packets"),
        (r"(.*_)?(terminals|channels|routers|bits|bytes|messages|programs|ranks|lines)", ""),
        (r".*_per_bit_pj", "pJ/bit"),
        (r".*_fj", "fJ"),
        (r".*_j", "J"),
        (r".*_js", "J s"),
        (r".*_w", "W"),
        (r"(.*_)?seconds", "s"),
    )
]


def unit(column: str) -> str:
    """The unit of a column of results; empty if the column has none.

    Examples
    --------
    >>> unit("energy_per_bit_pj"), unit("traffic.load"), unit("packet_latency_p99_cycles"), unit("routing")
    ('pJ/bit', 'flits/terminal/cycle', 'cycles', '')
    """
    name = column.rpartition(".")[2]
    for pattern, words in _UNITS:
        if pattern.fullmatch(name):
            return words or name.rpartition("_")[2]
    return ""


def to_pandas(frame: pl.DataFrame) -> pd.DataFrame:
    """Converts a frame of results to pandas, without columns of Python objects.

    Parameters
    ----------
    frame : polars.DataFrame
        The frame to convert. Integers become ``int64`` (``Int64`` if some are missing), other numbers ``float64`` with
        NaN for missing values, booleans ``bool`` (``boolean`` if some are missing), and strings pandas' string type.
        Lists become strings.

    Returns
    -------
    pandas.DataFrame
        The converted frame, whose ``attrs["units"]`` has the unit of each column with a unit.

    Raises
    ------
    ResultsError
        If pandas is not installed.
    """
    try:
        pandas = import_module("pandas")
    except ImportError as problem:
        remedy = "install it: `python -m pip install pandas`; or use the polars frame, which does not need pandas"
        raise ResultsError.saying("pandas is not installed in this environment", remedy) from problem
    made: pd.DataFrame = pandas.DataFrame({name: _column(frame[name], pandas) for name in frame.columns})
    made.attrs["units"] = {name: of for name in frame.columns if (of := unit(name))}
    return made


def _column(values: pl.Series, pandas: Any) -> Any:
    """The values of a column in the most suitable pandas type."""
    kind = values.dtype
    if kind == pl.Boolean:
        return pandas.array(values.to_list(), dtype="boolean") if values.null_count() else values.to_numpy()
    if kind.is_integer():
        if values.null_count():
            return pandas.array(values.to_list(), dtype="UInt64" if kind.is_unsigned_integer() else "Int64")
        return values.to_numpy().astype("uint64" if kind.is_unsigned_integer() else "int64")
    if kind.is_numeric() or kind == pl.Null:  # floats, decimals of sums, and columns without any measured value
        return values.cast(pl.Float64).to_numpy()
    if kind.is_temporal():
        return values.to_numpy()
    texts = [None if value is None else str(value) for value in values.to_list()]
    return pandas.array(texts, dtype="string")
