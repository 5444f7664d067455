"""Makes the headings of columns of results: name of the quantity, and unit."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from weft import _engine
from weft.results import quantities as q
from weft.results.choose import LOAD
from weft.results.quantities import Billed, Quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

_BILLED: list[Billed] = [*q.POWERS, *q.ENERGIES]
_OF_BILLED = [each for billed in _BILLED for each in (billed.actual, billed.always_on, billed.ideal)]
# Columns for which `weft.results.quantities` defines label, unit and number of digits.
KNOWN = {
    each.column: each
    for each in [*_OF_BILLED, *q.PERCENTILES.values(), *q.PERCENTILES_US.values(), *vars(q).values()]
    if isinstance(each, Quantity) and each.column
}
# Units of columns, by the ending of their names. Longer endings are tested first.
_UNITS = {
    "_per_bit_pj": "pJ/bit",
    "_per_s": "1/s",
    "_flit_hops": "flit-hops",
    "_cycles": "cycles",
    "_seconds": "s",
    "_packets": "packets",
    "_channels": "channels",
    "_flits": "flits",
    "_links": "links",
    "_bits": "bit",
    "_pj": "pJ",
    "_fj": "fJ",
    "_kwh_per_year": "kWh/year",
    "_kw": "kW",
    "_w": "W",
    "_j": "J",
    "_load": q.OFFERED.unit,
    "_load_min": q.OFFERED.unit,
    "_load_max": q.OFFERED.unit,
}
# Units of energy and power, by which `is_priced` recognises a column.
_PRICED = {"pJ/bit", "pJ", "fJ", "kWh/year", "kW", "W", "J"}
_SAME_WORD = {"load": q.OFFERED.unit, "flits": "flits", "packets": "packets", "utilisation": q.UTILISATION.unit}
_RECORDED = {
    (each["name"], column["name"]): column["unit"] for each in _engine.recordings() for column in each["columns"]
}


def headings(columns: Sequence[str], table: str = "points") -> list[str]:
    """A heading for each column of a table of results. The heading of a coordinate is the last part of its path.

    Examples
    --------
    >>> headings(["traffic.load", "accepted_load", "warmup_cycles"])
    ['Load [flits/terminal/cycle]', 'Accepted load [flits/terminal/cycle]', 'Warmup [cycles]']
    """
    ends = Counter(column.rpartition(".")[2] for column in columns)
    return [_heading(column, table, alone=ends[column.rpartition(".")[2]] == 1) for column in columns]


def is_priced(heading: str) -> bool:
    """Whether a column with this heading has energies, powers or money, which depend on prices.

    Examples
    --------
    >>> [is_priced(each) for each in ("Power [kW]", "Cost [EUR/year]", "Energy [pJ/bit]", "Load [flits/cycle]")]
    [True, True, True, False]
    """
    unit = heading.rpartition("[")[2].rstrip("]") if heading.endswith("]") else ""
    return unit in _PRICED or bool(re.fullmatch(r"[A-Z]{3}/year", unit))


def _heading(column: str, table: str, *, alone: bool) -> str:
    if (quantity := KNOWN.get(column)) is not None:
        return quantity.axis
    if column == LOAD:
        return f"Load [{q.OFFERED.unit}]"
    name = column.rpartition(".")[2] if alone else column
    unit = _RECORDED.get((table, column)) or _SAME_WORD.get(column)
    if unit is None and "." not in column:
        end, unit = next(((end, unit) for end, unit in _UNITS.items() if column.endswith(end)), ("", ""))
        name = name.removesuffix(end) if end not in ("_load_min", "_load_max", "_load") else name
    if money := re.fullmatch(r"(\w+)_([a-z]{3})_per_year", name):
        name, unit = money[1], f"{money[2].upper()}/year"
    words = name.replace("_", " ").removesuffix(f" {unit}") if unit else name.replace("_", " ")
    words = f"{words[:1].upper()}{words[1:]}"
    return f"{words} [{unit}]" if unit else words
