"""Draws the states of ranks over time for a report: a picture with a row per rank, and the critical path as a line."""

from __future__ import annotations

import base64
from contextlib import suppress
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from matplotlib.colors import to_rgba
from matplotlib.image import imsave

from weft.errors import ResultsError
from weft.plot.rank_states import LOOKS, line
from weft.report import pack
from weft.results import critical_path, rank_grid

if TYPE_CHECKING:
    from weft.report.sources import Sources
    from weft.results.critical_path import Path

# Maximum number of bytes for all pictures of a page, and maximum number of corners of the line that shows a critical
# path.
BYTES = 1_500_000
_CORNERS = 8_000


def collect(sources: Sources) -> dict[int, dict[str, Any]]:
    """The pictures of points whose states of ranks were recorded, until the bytes for pictures are used up."""
    found: dict[int, dict[str, Any]] = {}
    left = BYTES
    for point, (results, row) in enumerate(sources.places):
        if not (results.folder(row) / "rank_states.parquet").is_file():
            continue
        with suppress(ResultsError):  # a damaged file
            states = results.recorded(row, "rank_states")
            if states.is_empty():
                continue
            made = _picture(states, sources.summaries[point])
            left -= len(made["image"])
            if left < 0:
                break
            found[point] = made
    return found


def _picture(states: pl.DataFrame, summary: dict[str, Any]) -> dict[str, Any]:
    grid = rank_grid.grid(states)
    colours = np.array([*(to_rgba(LOOKS[state][0]) for state in critical_path.STATES), (1, 1, 1, 0)])
    file = BytesIO()
    imsave(file, colours[grid.cells], format="png")
    cycles = states.group_by("state").agg(cycles=(pl.col("to_cycle") - pl.col("from_cycle")).sum())
    sums = dict(cycles.iter_rows())
    paths = [] if critical_path.flaw(summary, states) else critical_path.paths(states)
    _, pairs = rank_grid.numbered(states)
    return {
        "image": f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode('ascii')}",
        "ranks": grid.ranks,
        "rows": grid.cells.shape[0],
        "per_row": grid.ranks_per_row,
        "end": grid.end,
        "states": [
            {"name": state, "colour": LOOKS[state][0], "share": pack.rounded(sums[state] / sum(sums.values()))}
            for state in critical_path.STATES
            if state in sums
        ],
        "paths": [_line(path, pairs) for path in paths],
        "complete": summary["rank_states_complete"],
    }


def _line(path: Path, pairs: list[tuple[str, int]]) -> dict[str, Any]:
    cycles, rows = line(path, {rank: row for row, (job, rank) in enumerate(pairs) if job == path.job})
    each = -(-len(cycles) // _CORNERS)
    return {
        "words": critical_path.sentence(path),
        "cycles": pack.counts(np.asarray(cycles[::each])),
        "rows": pack.counts(np.asarray(rows[::each])),
        "thinned": each,
    }
