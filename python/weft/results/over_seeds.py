"""Combines table rows that differ only in their seed into one row of means with 95 % confidence intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.results.choose import SEED
from weft.results.confidence import Mean
from weft.results.headings import KNOWN
from weft.results.rows import frame_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    Record = dict[str, Any]

# Tables that can be combined over seeds; they have one or several rows per point.
TABLES = ("points", "jobs", "flows", "phases")
# Columns that distinguish the rows of a point, in addition to the coordinates.
_PARTS = ("results", "job", "flow", "phase")
# Columns that describe a single run. A row for several runs has no such columns.
_OF_ONE = (SEED, "point", "hash")
# Part of the names of columns with the confidence interval that the engine computes for a single run.
_INTERVAL = "_ci95_"
# Suffix for the name of the column that has half of the 95 % confidence interval of another column.
HALF_WIDTH = "_ci95_half_width"
RUNS = "runs"


def groups(records: Sequence[Record], coordinates: Sequence[str]) -> list[list[Record]]:
    """Groups of records that are equal except for the seed, in the order of the first record of each group."""
    paths = [path for path in (*_PARTS, *coordinates) if path != SEED]
    found: dict[tuple[Any, ...], list[Record]] = {}
    for record in records:
        found.setdefault(tuple(record.get(path) for path in paths), []).append(record)
    return list(found.values())


def are_several(records: Sequence[Record], coordinates: Sequence[str]) -> bool:
    """Whether some records differ only in their seed, so that they can be combined."""
    return SEED in coordinates and any(len(group) > 1 for group in groups(records, coordinates))


def columns(head: Sequence[str]) -> list[str]:
    """The columns that a row for several combined runs also has."""
    return [column for column in head if column not in _OF_ONE]


def mean(group: Sequence[Record], column: str) -> Mean | None:
    """The mean of a number over the runs of a group; ``None`` if no run measured it, or if it is not a number."""
    values = _numbers(group, column)
    if any(isinstance(value, str | bool) for value in values):
        return None
    own = KNOWN[column].own_half_width if column in KNOWN else ""
    return Mean.over(zip(values, [record.get(own) for record in group], strict=True))


def _numbers(group: Sequence[Record], column: str) -> list[Any]:
    """The values of a column in the runs of a group.

    Exact energies are strings in the table. If such energies differ between the runs, they are converted to floats.
    """
    values = [record.get(column) for record in group]
    if not column.endswith("_fj") or len(set(values)) == 1:
        return values
    return [float(value) if isinstance(value, str) else value for value in values]


def _is_number(value: Any) -> bool:
    """Whether the mean of a column with this value makes sense.

    Integers such as counts and percentiles have a mean, but booleans do not.
    """
    return isinstance(value, int | float) and not isinstance(value, bool)


def together(group: Sequence[Record], column: str) -> Any:
    """The combined value of a group of runs: the mean of numbers, true if any value is true, or all unequal strings."""
    values = _numbers(group, column)
    known = list(dict.fromkeys(value for value in values if value is not None))
    if not known:
        return None
    if len(known) == 1 and None not in values:
        return known[0]
    if all(isinstance(value, bool) for value in known):
        return any(known)
    if any(isinstance(value, str) for value in known):
        return ", ".join(map(str, known))
    found = mean(group, column)
    return found and found.value


def frame(head: Sequence[str], records: Sequence[Record], coordinates: Sequence[str]) -> pl.DataFrame:
    """Table with a row per group of runs, and with the number of runs in the group.

    If the numbers of a column differ between runs, the next column has half of the 95 % confidence interval.
    """
    parts = groups(records, coordinates)
    keys = {*_PARTS, *coordinates}
    vary = {
        column
        for column in columns(head)
        if column not in keys and any(len({record.get(column) for record in part}) > 1 for part in parts)
    }
    rows = []
    for part in parts:
        row: Record = {}
        for column in columns(head):
            row[column] = together(part, column)
            if column in vary and _INTERVAL not in column and any(map(_is_number, _numbers(part, column))):
                found = mean(part, column)
                row[column + HALF_WIDTH] = found and found.half_width
        rows.append(row | {RUNS: len(part)})
    return frame_of(rows)
