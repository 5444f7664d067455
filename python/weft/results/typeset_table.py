"""A table of results for a document: the columns that a reader wants, with units in the headings, and rounded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.results import quantities as q
from weft.results.headings import KNOWN, headings
from weft.text.typeset import FORMS, Section

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weft.results.database import Database

# Columns that stand in a document if none are named, behind the coordinates of the sweep.
_SHOWN = {
    "points": (q.OFFERED, q.ACCEPTED, q.LATENCY, q.P99, q.HOPS, q.ENERGY, q.ENDING),
    "jobs": (q.OFFERED, q.ACCEPTED, q.LATENCY, q.P99, q.HOPS),
}
_OF_JOBS = ("job", "terminals", "completion_cycles")
_LATENCY = ("packet_latency_", "network_latency_")


def typeset(database: Database, table: str, sql: str, columns: Sequence[str], ending: str) -> str:
    """The text of a table.

    A latency of a saturated or stuck point says so in its place: it has no limit.

    Parameters
    ----------
    database : Database
        Where the table is.
    table, sql : str
        Its name, and the query for all its columns.
    columns : sequence of str
        The columns to show; if there are none, those that a reader wants.
    ending : str
        ``.tex`` or ``.md``.
    """
    head, rows = database.rows(sql)
    records = [dict(zip(head, row, strict=True)) for row in rows]
    chosen = list(columns) or _chosen(database, table, head, records)
    ended = _endings(database) if table in _SHOWN else {}
    cells = [[_cell(record, column, ended) for column in chosen] for record in records]
    left = {
        place
        for place, column in enumerate(chosen)
        if any(isinstance(record[column], str | bool) for record in records)
    }
    return FORMS[ending](headings(chosen, table), [Section("", cells)], left=left)


def _chosen(database: Database, table: str, head: Sequence[str], records: Sequence[Mapping[str, Any]]) -> list[str]:
    if table not in _SHOWN:
        return list(head)
    measured = [quantity.column for quantity in _SHOWN[table]]
    wanted = ["results", *database.coordinates, *(_OF_JOBS if table == "jobs" else ()), *measured]
    known = [column for column in dict.fromkeys(wanted) if column in head]
    return [column for column in known if any(record[column] is not None for record in records)]


def _endings(database: Database) -> dict[tuple[Any, Any], str]:
    """How the points ended that have no latency, by set and number."""
    words = {q.STALLED: "stall", q.SATURATED: "sat"}
    head, rows = database.rows("select * from points")
    found = {}
    for row in rows:
        record = dict(zip(head, row, strict=True))
        over = words.get(record[q.ENDING.column]) or ("sat" if record["saturated"] else "")
        if over:
            found[record.get("results"), record["point"]] = over
    return found


def _cell(record: Mapping[str, Any], column: str, ended: Mapping[tuple[Any, Any], str]) -> str:
    value = record[column]
    if column.startswith(_LATENCY) and (over := ended.get((record.get("results"), record.get("point")))):
        return over
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.{KNOWN[column].digits}f}" if column in KNOWN else f"{value:.4g}"
    return str(value)
