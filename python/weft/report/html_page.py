"""Writes a report as an HTML page: data, scripts, styles and Plotly in one file."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from weft.errors import ResultsError, writing
from weft.report import bill_section, data, machine_section, queue_section
from weft.report.sources import Sources
from weft.results.store import replaced

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from weft.results.result_set import ResultSet

_ENDINGS = (".html", ".htm")
# The scripts of the page in this order, because a script uses only scripts before it.
_SCRIPTS = ("data.js", "numbers.js", "colours.js", "table.js", "charts.js", "canvas.js", "network.js", "main.js")


def write(results: Sequence[ResultSet], path: Path, *, units: str | None = None) -> None:
    """Write the report of one or several results.

    Parameters
    ----------
    results : sequence of ResultSet
        Finished points. If there are several results, the charts show the curves of all of them together.
    path : Path
        The file to write. The file appears under this name only when it is complete.
    units : str, optional
        ``si`` also shows latencies in us and loads in Gb/s per terminal. The default is ``si`` if points have cycles of
        different lengths.

    Raises
    ------
    ResultsError
        If no point is finished, or if the file name does not end in ``.html`` or ``.htm``.
    WriteError
        If the file can't be written.
    """
    checked(path)
    sources = Sources(results, units)
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(_asset("page.html.jinja"))
    html = template.render(
        **data.facts(sources),
        bill=bill_section.html(sources),
        machine=machine_section.html(sources),
        queue=queue_section.html(sources),
        style=Markup(_asset("page.css")),
        plotly=Markup(_vendored("plotly-basic.min.js")),
        scripts=Markup("\n".join(_asset(name) for name in _SCRIPTS)),
        data=Markup(_json(data.collect(sources))),
    )
    with replaced(path) as partial:
        partial.write_text(html, encoding="utf-8", errors="backslashreplace")  # file names are not always valid text


def checked(path: Path) -> Path:
    """The path of a page, after a check of its name.

    The check ensures that the page cannot replace a scenario or results.

    Raises
    ------
    ResultsError
        If the path does not end in ``.html`` or ``.htm``, or is a folder.
    """
    if path.suffix.lower() not in _ENDINGS:
        raise ResultsError.saying(f"{path} is not the name of a page", f"end it with {' or '.join(_ENDINGS)}")
    with writing(path):
        if path.is_dir():
            raise ResultsError.saying(f"{path} is a folder", f"name a file in it: {path / 'report.html'}")
    return path


def _json(value: object) -> str:
    """JSON text that cannot close the HTML element that contains it."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c")


def _asset(name: str) -> str:
    return files("weft.report").joinpath("assets", name).read_text(encoding="utf-8")


def _vendored(name: str) -> str:
    return files("weft.report").joinpath("vendor", name).read_text(encoding="utf-8")
