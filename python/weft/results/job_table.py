"""Tables with a row per point and job, for jobs whose answer is not a load."""

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
    """The lines of the table; none where no job is chosen.

    Parameters
    ----------
    results : ResultSet
        The points. A row begins with those of their coordinates that differ, and the job where a point has several.
    chosen : callable
        Whether a job has a row.
    head : sequence of str
        Heads of the other columns.
    cells : callable
        The cells of these columns, from the summary of the point and the job.
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
