"""The page: data, scripts, styles and Plotly in one file."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from weft.report import data
from weft.report.sources import Sources

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from weft.results import Results

# In the order in which they need each other.
_SCRIPTS = ("data.js", "table.js", "charts.js", "canvas.js", "network.js", "main.js")


def write(results: Sequence[Results], path: Path) -> None:
    """Write the report of one or several results.

    Parameters
    ----------
    results : sequence of Results
        Finished points; further results overlay the first.
    path : Path
        The file; it appears when it is whole.

    Raises
    ------
    ResultsError
        If no point is finished.
    """
    sources = Sources(results)
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(_asset("page.html.jinja"))
    html = template.render(
        **data.facts(sources),
        style=Markup(_asset("page.css")),
        plotly=Markup(_vendored("plotly-basic.min.js")),
        scripts=Markup("\n".join(_asset(name) for name in _SCRIPTS)),
        data=Markup(_json(data.collect(sources))),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}")
    partial.write_text(html, encoding="utf-8")
    partial.replace(path)


def _json(value: object) -> str:
    """JSON that can't end the element that it stands in."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c")


def _asset(name: str) -> str:
    return files("weft.report").joinpath("assets", name).read_text(encoding="utf-8")


def _vendored(name: str) -> str:
    return files("weft.report").joinpath("vendor", name).read_text(encoding="utf-8")
