"""Writes tables with a row per point and job, for jobs whose main result is not a load (batches, programs, queues)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.results import of_jobs
from weft.text.columns import columns
from weft.text.labels import label

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from weft.results.result_set import ResultSet

    Job = Mapping[str, Any]


def lines(
    results: ResultSet,
    chosen: Callable[[Job], bool],
    head: Sequence[str],
    cells: Callable[[Mapping[str, Any], Job], list[str]],
) -> list[str]:
    """Lines of the table; empty if no job has a row.

    Parameters
    ----------
    results : ResultSet
        The points of the table. A row begins with the coordinates that differ between points, and with the job if a
        point has several jobs.
    chosen : callable
        Function that returns whether a job has a row.
    head : sequence of str
        Headings of the other columns.
    cells : callable
        Function from the summary of a point and a job to the cells of these columns.
    """
    paths = [path for path in results.coordinates if results.frame[path].n_unique() > 1]
    several = any(len(of_jobs.of(summary)) > 1 for summary in results.summaries)
    rows = [
        [label(point["coordinates"][path], path) for path in paths]
        + ([job["job"]] if several else [])
        + cells(summary, job)
        for point, summary in zip(results.points, results.summaries, strict=True)
        for job in filter(chosen, of_jobs.of(summary))
    ]
    first = [*(path.rpartition(".")[2] for path in paths), *(["job"] if several else [])]
    return columns([*first, *head], rows, left=len(first)) if rows else []
