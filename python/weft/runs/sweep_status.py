"""How far a sweep is: what its folder holds, and which runs work on it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from weft._engine import RESULT_MODEL_VERSION
from weft.results.quantities import ENDING
from weft.results.result_set import ResultSet
from weft.results.store import Store
from weft.runs.beacon import at_work

if TYPE_CHECKING:
    from pathlib import Path

    from weft.results.result_set import Damaged


@dataclass(frozen=True)
class SweepStatus:
    """How far a sweep is.

    Attributes
    ----------
    name, folder : str
        Name of the sweep and its folder.
    points, done, missing, damaged : int
        Points in all, finished, without results, and with results that can't be used.
    unlisted : int
        Points in the folder that the sweep no longer has.
    endings : dict
        Finished points by ending: ``drained``, ``saturated``, ``stalled``.
    result_model : int
        Version of the results that this Weft reads; points of others are damaged.
    point_seconds_mean : float or None
        Mean duration of the finished points [s].
    running : list of dict
        The runs at work: ``host``, ``pid``, ``started_utc``, ``seconds``, ``done``, ``reused``, ``left_seconds``, and
        ``flying``, the points in flight.
    damage : list of Damaged
        The points that can't be used, and why.
    command : str or None
        What runs the rest.
    """

    name: str
    folder: str
    points: int
    done: int
    missing: int
    damaged: int
    unlisted: int
    endings: dict[str, int]
    result_model: int
    point_seconds_mean: float | None
    running: list[dict[str, Any]]
    damage: list[Damaged]
    command: str | None


def status(folder: str | Path) -> SweepStatus:
    """Look at the folder of a sweep, and at every byte of its points, without disturbing runs that work in it.

    Raises
    ------
    ResultsError
        If it was not written by a sweep.
    """
    results = ResultSet(Store(folder), thorough=True)
    seconds = [run["seconds"] for point in range(len(results)) if "seconds" in (run := results.run_info(point))]
    return SweepStatus(
        name=results.title,
        folder=str(results.root),
        points=len(results) + results.missing + len(results.damaged),
        done=len(results),
        missing=results.missing,
        damaged=len(results.damaged),
        unlisted=results.unlisted,
        endings=dict(Counter(summary[ENDING.column] for summary in results.summaries)),
        result_model=RESULT_MODEL_VERSION,
        point_seconds_mean=fmean(seconds) if seconds else None,
        running=at_work(results.root),
        damage=results.damaged,
        command=results.command,
    )
