"""Writes a table of results for a document (LaTeX, Markdown), with rounded numbers, and units in the headings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.results import of_flows, of_jobs, over_seeds, price_source, si_units, soundness
from weft.results import quantities as q
from weft.results.headings import KNOWN, headings, is_priced
from weft.results.of_sweep import BILL, SATURATION, WIDER
from weft.text.typeset import FORMS, Section

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from weft.results.database import Database

# Default columns of a table in a document, after the coordinates of the sweep.
_SHOWN = {
    "points": (q.OFFERED, q.ACCEPTED, q.DELIVERED, q.LATENCY, q.P99, q.HOPS, q.ENERGY, q.ENDING),
    "jobs": (q.OFFERED, q.ACCEPTED, q.LATENCY, q.P99, q.HOPS),
    "flows": (q.ACCEPTED, q.SOURCE_ACCEPTED, q.LATENCY, q.P99, q.HOPS),
    "phases": (q.SET_LOAD, q.OFFERED, q.ACCEPTED, q.LATENCY, q.P99, q.ENERGY, q.POWER),
    "saturation": (q.ACCEPTED, q.LATENCY),
}
# Columns of a table with a bill (yearly cost) have names that begin with these words.
_OF_BILL = ("power_kw", "site_energy_", "cost_", "saved_", "saving_", "note")
# Columns that are printed before those of a bill.
_NAMES = {
    "jobs": ("job", "terminals", "completion_cycles"),
    "flows": ("flow", "sources", "packets"),
    "phases": ("phase", "from_cycle", "to_cycle"),
    "saturation": ("pattern", "verdict", "steady_load", "saturated_load"),
}
_IN_PHASE = "sat at a drained point: the point is saturated in a phase of its load"
# Marks after the highest load that the network carries, in the table of a search for saturation. `_LATE`: at some
# loads, runs had not settled. `_WIDE`: the saturated load differs by more than the tolerance. `_WARNED`: the network
# possibly saturates at a load that was not run.
_LATE, _WIDE, _WARNED = soundness.UNSETTLED_MARK, "+", "!"
_LATE_LOADS = (
    f"{_LATE} at a steady load: some runs had not settled; in a longer run the network may not carry their loads"
)
_LATENCY = ("packet_latency_", "network_latency_")
# Numbers from this value on are written as integers instead of with an exponent.
_WHOLE = 1e4
# Columns that identify a row: point, phase of its load, job, and class of flows.
_PLACE = ("results", "point", "phase", "job", "flow")


def typeset(
    database: Database,
    table: str,
    sql: str,
    columns: Sequence[str],
    ending: str,
    *,
    averaged: bool = False,
    units: str = si_units.CYCLES,
) -> str:
    """The text of the table, in LaTeX or Markdown.

    If a point is saturated or stuck, a word replaces its latency, because that latency has no limit. The same holds for
    a point that is saturated in a phase of its load. Numbers of points with other flaws have the same marks as in the
    output of `weft run`. Notes below the table explain the marks.

    Parameters
    ----------
    database : Database
        Database that contains the table.
    table, sql : str
        Name of the table, and the query for all its columns.
    columns : sequence of str
        The columns to show; if empty, the default columns.
    ending : str
        ``.tex`` or ``.md``.
    averaged : bool
        Combine rows that differ only in their seed into one row, with means and half widths of 95 % confidence
        intervals.
    units : str
        ``si`` replaces latencies in cycles by latencies in us, and loads in flits by loads in Gb/s per terminal. The
        query must have the columns for these units.
    """
    head, rows = database.rows(sql)
    records = [dict(zip(head, row, strict=True)) for row in rows]
    chosen = list(columns) or _chosen(database, table, over_seeds.columns(head) if averaged else head, records, units)
    signs = {} if table == SATURATION else _signs(database)
    marks = [signs.get(tuple(map(record.get, _PLACE)), "") for record in records]
    notes = []
    if averaged:
        groups = over_seeds.groups(records, database.coordinates)
        notes.append(f"means over {max(map(len, groups))} seeds, ± half of their 95 % confidence intervals")
        of_row = {id(record): mark for record, mark in zip(records, marks, strict=True)}
        marks = [_worst([of_row[id(record)] for record in group]) for group in groups]
        cells = [[_mean(group, column, mark) for column in chosen] for group, mark in zip(groups, marks, strict=True)]
        records = [{column: over_seeds.together(group, column) for column in head} for group in groups]
    else:
        cells = [
            [_cell(record, column, mark) for column in chosen] for record, mark in zip(records, marks, strict=True)
        ]
    notes += _meanings(records, cells, marks)
    if table == SATURATION:
        cells = [
            [_searched(record, column, cell) for column, cell in zip(chosen, row, strict=True)]
            for record, row in zip(records, cells, strict=True)
        ]
        notes += _of_search(records)
    left = {
        place
        for place, column in enumerate(chosen)
        if any(isinstance(record[column], str | bool) for record in records)
    }
    heads = headings(chosen, table)
    if any(map(is_priced, heads)):
        notes += price_source.lines(summary for _, _, summary in database.summaries())
    return FORMS[ending](heads, [Section("", cells)], left=left, notes=notes)


def _meanings(
    records: Sequence[Mapping[str, Any]], cells: Sequence[Sequence[str]], marks: Sequence[str]
) -> Iterator[str]:
    """Yield the meaning of each sign that appears in a cell of the table."""
    shown = {
        sign
        for mark, row in zip(marks, cells, strict=True)
        for sign in (mark, _mark(mark))
        if sign and any(_has(cell, sign) for cell in row)
    }
    known = of_jobs.MEANINGS | of_flows.MEANINGS | {soundness.OVERLOADED_MARK: soundness.OVERLOADED_MEANING}
    yield from (f"{sign}: {meaning}" for sign, meaning in known.items() if sign in shown)
    if any(_is_over_in_a_phase(record, mark) for record, mark in zip(records, marks, strict=True)) and "sat" in shown:
        yield _IN_PHASE


def _chosen(
    database: Database, table: str, head: Sequence[str], records: Sequence[Mapping[str, Any]], units: str
) -> list[str]:
    measured = [si_units.in_units(quantity, units).column for quantity in _SHOWN.get(table, ())]
    if table == BILL:
        measured = [column for column in head if column.startswith(_OF_BILL)]
    if not measured:
        return list(head)
    wanted = ["results", *database.coordinates, *_NAMES.get(table, ()), *measured]
    known = [column for column in dict.fromkeys(wanted) if column in head]
    if all(record.get(q.DELIVERED.column) in (None, 1) for record in records):
        known = [column for column in known if column != q.DELIVERED.column]
    return [column for column in known if any(record[column] is not None for record in records)]


def _signs(database: Database) -> dict[tuple[Any, ...], str]:
    """For each row, the mark after its numbers or the word that replaces its latency, by its values of `_PLACE`."""
    signs: dict[tuple[Any, ...], str] = {}
    for name, point, summary in database.summaries():
        signs[name, point, None, None, None] = soundness.sign(summary)
        for phase in soundness.in_phases(summary):
            signs[name, point, phase["phase"], None, None] = soundness.sign(phase) if phase.get("packets") else ""
        for job, sign in zip(of_jobs.of(summary), of_jobs.signs(summary), strict=True):
            signs[name, point, None, job["job"], None] = sign
        for flow in of_flows.of(summary):
            signs[name, point, None, None, flow["flow"]] = of_flows.sign(summary)
    return signs


def _worst(marks: Sequence[str]) -> str:
    """The worst sign among the signs of several runs."""
    order = [*(of_jobs.MEANINGS | of_flows.MEANINGS), ""]
    return min(marks, key=order.index)


def _mean(group: Sequence[Mapping[str, Any]], column: str, sign: str) -> str:
    """A cell for several runs: a mean with half of its confidence interval, or the value that all runs have."""
    records = [dict(record) for record in group]
    found = over_seeds.mean(records, column)
    cell = _cell({column: over_seeds.together(records, column)}, column, sign)
    if found is None or found.half_width is None or len(group) == 1 or cell in soundness.ENDED:
        return cell
    half = _written(found.half_width, column)
    return cell if not float(half) else f"{cell} ± {half}"


def _has(cell: str, sign: str) -> bool:
    """Whether a cell has this sign after its number, or, in a cell "mean ± half width", after the mean."""
    return cell.partition(" ± ")[0].endswith(sign)


def _cell(record: Mapping[str, Any], column: str, sign: str) -> str:
    value = record[column]
    if column.startswith(_LATENCY) and sign in soundness.ENDED:
        return sign
    if isinstance(value, bool):
        in_phase = column == "saturated" and _is_over_in_a_phase(record, sign)
        return "in a phase" if in_phase else "yes" if value else "no"
    if value is None:
        return "-"
    mark = _mark(sign)
    marked = isinstance(value, float | int) and mark in {*of_jobs.marks_of(column), *of_flows.marks_of(column)}
    return _written(value, column) + (mark if marked else "")


def _searched(record: Mapping[str, Any], column: str, cell: str) -> str:
    """A cell of the table of a search for saturation, with the same marks and words as in `weft saturation`."""
    if record[column] is None:
        return cell
    if column == q.LATENCY.column:
        return cell + (soundness.UNSETTLED_MARK if record["flaw"] else "")
    if column == "saturated_load":
        lost = record["dropped_share"]
        return cell + (", stuck" if record["stuck"] else "") + ("" if lost is None else f", {100 * lost:.3g} % dropped")
    if column != "steady_load":
        return cell
    marks = {_LATE: _is_late(record), _WIDE: record.get("wider_than_tolerance"), _WARNED: record.get("warned_of")}
    return cell + "".join(mark for mark, is_there in marks.items() if is_there)


def _is_late(record: Mapping[str, Any]) -> bool:
    """Whether a curve of a search has no saturated load, although at some of its loads runs had not settled."""
    return bool(record["verdict"] == "above_range" and record["unsettled_loads"])


def _of_search(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """The notes that explain the marks of `_searched` in these rows."""
    flaws = dict.fromkeys(record["flaw"] for record in records if record["flaw"])
    notes = [f"{soundness.UNSETTLED_MARK} at a latency: {', or '.join(flaws)}"] if flaws else []
    notes += [_LATE_LOADS] if any(map(_is_late, records)) else []
    notes += [f"{_WIDE}: {WIDER}"] if any(record.get("wider_than_tolerance") for record in records) else []
    for path, loads in dict.fromkeys((each.get("warned_of"), each.get("loads_run")) for each in records):
        if path is not None:
            words = ", ".join(str(loads).split())
            notes.append(
                f"{_WARNED}: only the loads {words} were run; the network may not carry other loads (warning of {path})"
            )
    if any("warned_of" not in record for record in records):
        notes.append("an older Weft wrote this table: run `weft saturation` again for all marks; finished points stay")
    return notes


def _is_over_in_a_phase(record: Mapping[str, Any], sign: str) -> bool:
    """Whether `saturated` is false in a row although its point is saturated in a phase of the load."""
    return sign == "sat" and record.get("saturated") is False and record.get("phase") is None


def _mark(sign: str) -> str:
    """The mark after the numbers of a point with this sign; empty if the sign is a word."""
    return soundness.OVERLOADED_MARK if sign in soundness.ENDED else sign


def _written(value: float | str, column: str) -> str:
    if isinstance(value, float):
        if column in KNOWN:
            return f"{value:.{KNOWN[column].digits}f}"
        return f"{value:.0f}" if abs(value) >= _WHOLE else f"{value:.4g}"
    return str(value)
