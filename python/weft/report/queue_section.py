"""Writes the section of a report on queues of programs, which a simulated scheduler starts one after the other.

The section shows when each program ran and how many terminals were busy, and has a table with a row per program.
"""

from __future__ import annotations

import base64
from importlib.resources import files
from io import BytesIO
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from weft.errors import WeftError
from weft.plot.choice import Choice
from weft.plot.draw import figure
from weft.text.si import si

if TYPE_CHECKING:
    from weft.report.sources import Sources
    from weft.results.result_set import ResultSet

# Maximum number of points with pictures; maximum number of programs of a point in the table.
_POINTS, _ROWS = 4, 100
_KINDS = {
    "schedule": "Programs by terminal and time",
    "utilisation": "Busy terminals, and number of running and waiting programs",
}
_HEAD = ("number", "trace", "submitted", "wait", "run time", "slowdown", "bounded", "terminals", "energy")
# Number of columns of the table that contain text, not numbers.
_WORDS = 2


def html(sources: Sources) -> Markup:
    """The HTML of the section; empty if no point has a queue of programs."""
    places = [(results, row) for results, row in sources.places if (results.folder(row) / "schedule.parquet").is_file()]
    if not places:
        return Markup("")
    parts = [_part(results, row) for results, row in places[:_POINTS]]
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    text = files("weft.report").joinpath("assets", "queue.html.jinja").read_text(encoding="utf-8")
    asked = {"parts": parts, "head": _HEAD, "words": _WORDS, "left_out": len(places) - len(parts)}
    return Markup(environment.from_string(text).render(asked))


def _part(results: ResultSet, row: int) -> dict[str, Any]:
    """The content of the section for one point."""
    try:
        table = results.schedule(row)
        pictures = [{"alt": alt, "source": _picture(kind, results, row)} for kind, alt in _KINDS.items()]
    except WeftError as problem:  # a damaged file
        return {"name": results.describe(row), "refused": f"{problem.what}: {problem.help}"}
    seconds = float(results.summaries[row]["cycle_seconds"])
    rows = [_cells(program, seconds) for program in table.head(_ROWS).iter_rows(named=True)]
    return {
        "name": results.describe(row),
        "refused": "",
        "pictures": pictures,
        "rows": rows,
        "more": table.height - len(rows),
    }


def _cells(program: dict[str, Any], seconds: float) -> list[str]:
    def time(key: str) -> str:
        return si(None if program[key] is None else program[key] * seconds, "s", 4)

    def number(key: str) -> str:
        if program[key] is None:
            return "not ended" if program["end_cycles"] is None else "not defined"
        return f"{program[key]:.4g}"

    times = [time(f"{key}_cycles") for key in ("submit", "wait", "run_time")]
    slow = [number("slowdown"), number("bounded_slowdown")]
    energy = si(float(program["energy_fj"]) * 1e-15, "J", 4)
    return [str(program["number"]), program["trace"], *times, *slow, str(program["terminals"]), energy]


def _picture(kind: str, results: ResultSet, row: int) -> str:
    stream = BytesIO()
    figure(kind, Choice.of([results], [row])).savefig(stream, format="png", dpi=130)
    return f"data:image/png;base64,{base64.b64encode(stream.getvalue()).decode('ascii')}"
