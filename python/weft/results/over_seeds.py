"""Combines table rows that differ only in their seed into one row of means, with half widths of 95 % confidence."""

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

# Tables with one or several rows per point.
TABLES = ("points", "jobs", "flows", "phases")
# Columns that differ between the rows of a point, without its coordinates.
_PARTS = ("results", "job", "flow", "phase")
# Columns that describe one run and have no value for several runs.
_OF_ONE = (SEED, "point", "hash")
# Part of a column's name that marks the interval of a single run.
_INTERVAL = "_ci95_"
# Suffix of a column's name that gives the column with half of its 95 % confidence interval.
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
    """Whether some records differ only in their seed."""
    return SEED in coordinates and any(len(group) > 1 for group in groups(records, coordinates))


def columns(head: Sequence[str]) -> list[str]:
    """The columns that have a value for several runs together."""
    return [column for column in head if column not in _OF_ONE]


def mean(group: Sequence[Record], column: str) -> Mean | None:
    """The mean of a number over runs; ``None`` if no run measured it, or it is not a number."""
    values = _numbers(group, column)
    if any(isinstance(value, str | bool) for value in values):
        return None
    own = KNOWN[column].own_half_width if column in KNOWN else ""
    return Mean.over(zip(values, [record.get(own) for record in group], strict=True))


def _numbers(group: Sequence[Record], column: str) -> list[Any]:
    """The values of a column. Exact energies are strings. If they differ between runs, they become numbers."""
    values = [record.get(column) for record in group]
    if not column.endswith("_fj") or len(set(values)) == 1:
        return values
    return [float(value) if isinstance(value, str) else value for value in values]


def _is_number(value: Any) -> bool:
    """Whether a value has a mean. Counts and percentiles have one although they are integers; booleans have none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def together(group: Sequence[Record], column: str) -> Any:
    """The combined value of runs in a column: a mean, true if any run has true, or their different strings."""
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
    """A row per group, with the number of its runs.

    A number that varies is followed by a column with its half width.
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
