"""The page of a reproduction: figures, scoreboard and what was run, in one file."""

from __future__ import annotations

from base64 import b64encode
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from weft.reproduce.common import run_facts, scoreboard
from weft.reproduce.common.rules import WORDS
from weft.text.columns import clock

if TYPE_CHECKING:
    from pathlib import Path

    from weft.reproduce.common.reproduced import Reproduction, Shown


def html(done: Reproduction) -> str:
    """The page; pictures are inside, so that it opens without anything else."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(_asset("weft.reproduce", "reproduce.html.jinja"))
    return template.render(
        done=done,
        paper=done.paper,
        counts=scoreboard.count(done.rows),
        rows=done.rows,
        words=WORDS,
        figures=[(each, _picture(each.files), _smaller(done, each)) for each in done.shown],
        cell=_cell,
        runs=[_ran(results.root.name, each.scaled, run_facts.facts(results)) for each, results in done.ran],
        style=Markup(_asset("weft.report", "page.css") + _asset("weft.reproduce", "reproduce.css")),
    )


def _picture(paths: list[Path]) -> str:
    """The drawing of a figure as a source of an image; empty if there is none."""
    for path in paths:
        if path.suffix == ".svg":
            return f"data:image/svg+xml;base64,{b64encode(path.read_bytes()).decode()}"
    return ""


def _smaller(done: Reproduction, shown: Shown) -> str:
    """What was run smaller than in the paper, of what a figure shows."""
    scaled = [each.scaled for each, _ in done.ran if done.quick and each.name in shown.figure.needs]
    return "; ".join(dict.fromkeys(text for text in scaled if text))


def _cell(value: Any) -> str:
    """A value of a table."""
    if value is None:
        return "-"
    if isinstance(value, float) and not value.is_integer():
        return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,.0f}" if isinstance(value, int | float) else str(value)


def _ran(name: str, scaled: str, facts: dict[str, Any]) -> dict[str, Any]:
    seeds = facts["seeds"]
    few = ", ".join(map(str, seeds)) if len(seeds) < 5 else f"{seeds[0]} to {seeds[-1]}, {len(seeds)} in all"
    spans = {
        key: " to ".join(dict.fromkeys(f"{end:,}" for end in facts[key])) for key in ("warmup_cycles", "window_cycles")
    }
    return facts | spans | {"name": name, "scaled": scaled, "seeds": few, "time": clock(facts["seconds"])}


def _asset(package: str, name: str) -> str:
    return files(package).joinpath("assets", name).read_text(encoding="utf-8")
