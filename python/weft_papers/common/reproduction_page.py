"""Makes the HTML page of a reproduction, which has its figures, its scoreboard and the list of its runs."""

from __future__ import annotations

from base64 import b64encode
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from weft.text.columns import clock
from weft_papers.common import run_facts, scoreboard
from weft_papers.common.rules import WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from weft_papers.common.reproduced import Reproduction, Shown


def html(done: Reproduction) -> str:
    """Return the HTML page of a paper's reproduction. The page contains its pictures, so it needs no other files."""
    return _rendered(
        "reproduce.html.jinja",
        done=done,
        paper=done.paper,
        rows=done.rows,
        figures=_figures(done),
        runs=[_ran(results.root.name, each.scaled, run_facts.facts(results)) for each, results in done.ran],
    )


def html_of_all(papers: Sequence[Reproduction], command: str) -> str:
    """Return one HTML page for several papers: number of claims by verdict, figures, and scoreboards."""
    shown = [{"done": done, "figures": _figures(done)} for done in papers]
    return _rendered("all.html.jinja", papers=shown, mode=papers[0].mode, command=command)


def _rendered(template: str, **values: Any) -> str:
    loader = PackageLoader("weft_papers", "assets")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    style = Markup(_asset("weft.report", "page.css") + _asset("weft_papers", "reproduce.css"))
    shared = {"words": WORDS, "count": scoreboard.count, "cell": _cell, "style": style}
    return environment.get_template(template).render(**shared, **values)


def _figures(done: Reproduction) -> list[tuple[Shown, str, str]]:
    """Return each figure, its picture, and text on those of its experiments that were smaller than in the paper."""
    return [(each, _picture(each.files), _smaller(done, each)) for each in done.shown]


def _picture(paths: list[Path]) -> str:
    """Return the SVG file among `paths` as the source of an HTML image; empty if the figure was not drawn."""
    for path in paths:
        if path.suffix == ".svg":
            return f"data:image/svg+xml;base64,{b64encode(path.read_bytes()).decode()}"
    return ""


def _smaller(done: Reproduction, shown: Shown) -> str:
    """Return text that names the experiments of a figure that were smaller than in the paper."""
    scaled = [each.scaled for each, _ in done.ran if done.quick and each.name in shown.figure.needs]
    return "; ".join(dict.fromkeys(text for text in scaled if text))


def _cell(value: Any) -> str:
    """Format a value of a table as a string."""
    if value is None:
        return "-"
    if isinstance(value, float) and not value.is_integer():
        return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,.0f}" if isinstance(value, int | float) else str(value)


def _ran(name: str, scaled: str, facts: dict[str, Any]) -> dict[str, Any]:
    seeds = facts["seeds"]
    few = ", ".join(map(str, seeds)) if len(seeds) < 5 else f"{seeds[0]} to {seeds[-1]}, {len(seeds)} in total"
    spans = {
        key: " to ".join(dict.fromkeys(f"{end:,}" for end in facts[key])) for key in ("warmup_cycles", "window_cycles")
    }
    return facts | spans | {"name": name, "scaled": scaled, "seeds": few, "time": clock(facts["seconds"])}


def _asset(package: str, name: str) -> str:
    return files(package).joinpath("assets", name).read_text(encoding="utf-8")
