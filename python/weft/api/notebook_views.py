"""HTML views of results and sweeps in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.results import notes, soundness
from weft.results import quantities as q
from weft.results.pandas_frame import unit
from weft.results.store import Store
from weft.text import html_table
from weft.text.columns import number
from weft.text.labels import brief, label
from weft.text.si import si

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from weft._engine import Point
    from weft.results.quantities import Quantity
    from weft.results.result_set import ResultSet

# Maximum number of rows (points) of the HTML table.
_ROWS = 30
_SHOWN = (q.LATENCY, q.P99, q.ACCEPTED, q.ENERGY)
_POWER = "power_mean_w"


def of_results(results: ResultSet) -> str:
    """HTML table with a row per point: coordinates that differ, latency, accepted load, energy, power.

    Notes about the points follow the table.
    """
    counts = [(results.missing, "missing"), (len(results.damaged), "damaged")]
    more = "".join(f", {count} {what}" for count, what in counts if count)
    title = html_table.head(results.title, f"{_points(len(results))}{more}, in {results.root}")
    if not len(results):
        return title
    varied = [path for path in results.coordinates if results.frame[path].n_unique() > 1]
    heads = [path.rpartition(".")[2] for path in varied]
    heads += [f"{each.short} [{each.unit}]" for each in _SHOWN]
    powers = _POWER in results.frame.columns
    rows = []
    coordinates = [_words(results, path) for path in varied]
    for point, summary in enumerate(results.summaries[:_ROWS]):
        cells = [words[point] for words in coordinates] + [_cell(summary, each) for each in _SHOWN]
        power = si(summary.get(_POWER), unit(_POWER)) + _mark(summary, _POWER)
        rows.append([*cells, power] if powers else cells)
    body = html_table.table([*heads, "power"] if powers else heads, rows, left=len(varied))
    return title + body + html_table.lines([*_remarks(results), *notes.lines(results)])


def of_sweep(title: str, folder: Path, points: Sequence[Point], text: str) -> str:
    """HTML with the values that the sweep varies, and with the text of the scenario."""
    store = Store(folder)
    done = sum(store.complete(point.hash) for point in points)
    count = f"{_points(len(points))} to run" if not done else f"{_points(len(points))}, {_of_them(len(points), done)}"
    named = html_table.head(title, f"{count}, results in {folder}")
    places = [point.coordinates for point in points]
    swept = {path: list(dict.fromkeys(label(place[path], path) for place in places)) for path in places[0]}
    rows = [[path, ", ".join(values)] for path, values in swept.items()]
    body = html_table.table(["swept", "values"], rows, left=2) if rows else ""
    return named + body + html_table.folded("The scenario as written", text)


def _of_them(count: int, done: int) -> str:
    """Text such as "3 finished and 7 to run", for the points of a sweep."""
    return "all finished" if done == count else f"{done} finished and {count - done} to run"


def _points(count: int) -> str:
    return f"{count} {'point' if count == 1 else 'points'}"


def _words(results: ResultSet, path: str) -> list[str]:
    return brief([label(value, path) for value in results.frame[path].to_list()])


def _cell(summary: dict[str, Any], quantity: Quantity) -> str:
    """HTML cell with a number of a point and its mark, such as the mark of a saturated point.

    If the latency of the point grows without limit, the cell shows no number.
    """
    sign = soundness.sign(summary)
    if quantity.unit == q.LATENCY.unit and sign in soundness.ENDED:
        return sign
    return number(summary.get(quantity.column), quantity.digits) + _mark(summary, quantity.column)


def _mark(summary: dict[str, Any], column: str) -> str:
    """Mark after a number of a point; empty if the number is missing or the column has no marks."""
    mark = soundness.OVERLOADED_MARK if soundness.is_over(summary) else soundness.mark(summary)
    return mark if summary.get(column) is not None and mark in soundness.marks_of(column) else ""


def _remarks(results: ResultSet) -> Sequence[str]:
    """Notes below the table: the meaning of its terms, and the points that have no row."""
    values = []
    if len(results) > _ROWS:
        values.append(f"{len(results) - _ROWS} more points: `frame` contains all points")
    signs = set(map(soundness.sign, results.summaries))
    known = soundness.ENDED | soundness.MARKS
    values += [f"{sign}: {meaning}" for sign, meaning in known.items() if sign in signs]
    if any(map(soundness.is_over, results.summaries)):
        values.append(f"{soundness.OVERLOADED_MARK}: {soundness.OVERLOADED_MEANING}")
    return values
