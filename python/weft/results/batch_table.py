"""Prints the table of a sweep in which every job sends a batch (a fixed number of packets), with completion times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.results import of_jobs, soundness
from weft.results import quantities as q
from weft.results.choose import SEED
from weft.results.confidence import Mean
from weft.text.columns import columns, number
from weft.text.labels import label

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weft.results.result_set import ResultSet

COMPLETION = "completion_cycles"


def answers(results: ResultSet) -> bool:
    """Whether the main result of every point is the completion time, because all jobs send batches."""
    return len(results) > 0 and all(map(of_jobs.are_batches, results.summaries))


def have_no_load(summaries: Sequence[Mapping[str, Any]]) -> bool:
    """Whether all points send only batches of packets, and the terminals send as fast as they can.

    The points then have no load, so no figure can have a load axis.
    """
    return all(of_jobs.are_batches(summary) and summary.get("load") in (None, 1) for summary in summaries)


def lines(results: ResultSet) -> list[str]:
    """Lines of a table of completion times, with a row per combination of swept values.

    A row has the mean over all seeds and, with several seeds, the confidence interval of the mean.
    """
    paths = [path for path in results.coordinates if path != SEED and results.frame[path].n_unique() > 1]
    groups: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for point, summary in zip(results.points, results.summaries, strict=True):
        words = tuple(label(point["coordinates"][path], path) for path in paths)
        groups.setdefault(words, []).append(summary)
    head = [*(path.rpartition(".")[2] for path in paths), "completion", "+-", "delivered", "latency", "p99"]
    rows = [[*words, *_cells(runs)] for words, runs in groups.items()]
    signs = {soundness.sign(summary) for summary in results.summaries}
    meanings = "".join(f"; {sign}: {meaning}" for sign, meaning in of_jobs.MEANINGS.items() if sign in signs)
    text = "batches: completion and half of its 95 % confidence interval over the seeds [cycles], packets delivered"
    return [results.title, "", f"{text}, latency and p99 [cycles]{meanings}", *columns(head, rows, left=len(paths))]


def mean(runs: Sequence[Mapping[str, Any]], column: str = COMPLETION) -> Mean | None:
    """The mean of a number over runs that differ only in their seed; ``None`` if a run lacks the number."""
    values = [run.get(column) for run in runs]
    known = [value for value in values if value is not None]
    return Mean.of(known, None) if len(known) == len(values) else None


def delivered(jobs: Sequence[Mapping[str, Any]]) -> str:
    """Text with the delivered packets out of all packets of the batches, and with the dropped packets."""
    sums = [sum(job[name] or 0 for job in jobs) for name in ("batch_delivered_packets", "batch_packets")]
    dropped = sum(job.get("batch_dropped_packets") or 0 for job in jobs)
    return f"{sums[0]}/{sums[1]}" + (f", {dropped} dropped" if dropped else "")


def _cells(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    found = mean(runs)
    half = None if found is None else found.half_width
    of_all = [job for run in runs for job in of_jobs.of(run)]
    return [
        "not complete" if found is None else number(found.value, 0),
        number(half, 0),
        delivered(of_all),
        *(_latency(runs, quantity) for quantity in (q.LATENCY, q.P99)),
    ]


def _latency(runs: Sequence[Mapping[str, Any]], quantity: q.Quantity) -> str:
    worst = min((soundness.sign(run) for run in runs), key=_rank)
    if worst in soundness.ENDED:
        return worst
    found = mean(runs, quantity.column)
    return number(None if found is None else found.value, quantity.digits) + (worst if found else "")


def _rank(sign: str) -> int:
    """Index of a sign (mark after a number) in the order from the worst to the best."""
    return [*of_jobs.MEANINGS, ""].index(sign)
