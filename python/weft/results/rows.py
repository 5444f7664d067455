"""Converts rows of results (dicts) to data frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from weft.text.labels import label

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def frame_of(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Builds a frame from rows; models are replaced by labels, and columns of several types by columns of strings."""
    columns: dict[str, None] = {}
    for row in rows:
        columns |= dict.fromkeys(row)
    return pl.DataFrame([_series(column, [_cell(row.get(column), column) for row in rows]) for column in columns])


def scalars(summary: Mapping[str, Any], but: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers and strings of a summary, except those in `but` (coordinates)."""
    return {name: value for name, value in summary.items() if name not in but and not isinstance(value, dict | list)}


def _cell(value: Any, column: str) -> Any:
    return value if value is None or isinstance(value, int | float | str) else label(value, column)


def _series(column: str, values: list[Any]) -> pl.Series:
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        return pl.Series(column, [None if value is None else float(value) for value in values])
    if len(kinds) > 1:
        return pl.Series(column, [None if value is None else label(value, column) for value in values])
    return pl.Series(column, values)
