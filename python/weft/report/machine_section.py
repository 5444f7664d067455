"""Writes the section of a report on the energy of the whole machine (switches and nodes), for points with programs."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from weft.analysis.machine_energy import Machine, References, table
from weft.errors import WeftError
from weft.results import program_table
from weft.text.labels import label

if TYPE_CHECKING:
    from weft.report.sources import Sources
    from weft.results.result_set import ResultSet

# Columns of `weft.analysis.machine_energy.table` that the section shows, with their headings.
_COLUMNS = {
    "runtime": "run time",
    "ports": "ports",
    "ports_on_share": "ports on",
    "w_net": "W_net",
    "e_net": "E_net",
    "run_task": "Run_task",
    "e_cluster_ratio": "E_cluster",
    "saves": "saves energy at idle shares",
}
# Assumed power of an idle node, as a share of the power of a busy node. The energy of the machine depends on this
# share.
_IDLE = 0.5


def html(sources: Sources) -> Markup:
    """The HTML of the section; empty unless some results have several points that run programs."""
    pairs = zip(sources.results, sources.names, strict=True)
    parts = [_part(each, name) for each, name in pairs if len(each) > 1 and program_table.are_all(each)]
    if not parts:
        return Markup("")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    text = files("weft.report").joinpath("assets", "machine.html.jinja").read_text(encoding="utf-8")
    return Markup(environment.from_string(text).render(parts=parts, several=len(parts) > 1))


def _part(results: ResultSet, name: str) -> dict[str, Any]:
    """The content of the section for one set of results."""
    try:
        machine = Machine(idle_shares=(_IDLE,))
        frame, why_modelled = table(results, machine), References(results, None, machine).why_modelled
    except WeftError as problem:
        return {"name": name, "refused": f"{problem.what}: {problem.help}"}
    paths = [path for path in results.coordinates if frame[path].n_unique() > 1]
    rows = [
        [*(label(row[path], path) for path in paths), *(_cell(row[column]) for column in _COLUMNS)]
        for row in frame.iter_rows(named=True)
    ]
    return {
        "name": name,
        "refused": "",
        "head": [*paths, *_COLUMNS.values()],
        "words": len(paths),
        "rows": rows,
        "reference": frame["reference"].unique(maintain_order=True).to_list(),
        "idle": _IDLE,
        "why_modelled": why_modelled,
    }


def _cell(value: Any) -> str:
    return "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
