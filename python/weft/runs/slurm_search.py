"""Submits a search for saturation to Slurm as one job.

The search is a single job, because each load that it runs depends on the results of earlier loads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weft.runs import arrays, beacon, on_slurm, slurm_jobs
from weft.runs.search_job import SearchJob

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft.runs.arrays import Array
    from weft.runs.how import How
    from weft.runs.saturation_search import SaturationSearch
    from weft.runs.slurm_jobs import Plan, SlurmJobs


@dataclass(frozen=True)
class SearchSubmission:
    """Result of a submission: the job of the search.

    Attributes
    ----------
    array : Array or None
        The job that makes the search, as an array of one job; ``None`` if all points of the search have results.
    plan : Plan or None
        Time, memory and cores of the job; ``None`` if the job was submitted before and has not ended.
    """

    array: Array | None
    plan: Plan | None


def submit(search: SaturationSearch, wanted: SlurmJobs, how: How, command: Sequence[str]) -> SearchSubmission:
    """Submit a search, unless all its points have results or a job is already making the search.

    Raises
    ------
    ScenarioError
        If the job has less time or memory than its points need.
    WeftError
        As for `weft.Sweep.submit`.
    """
    on_slurm.check()
    search.store.check_owner(search.named, search.ends)
    if under_way := arrays.search_under_way(search.store):
        return SearchSubmission(under_way, None)
    if not any(each.points for each in search.rounds()):
        return SearchSubmission(None, None)
    plan = slurm_jobs.plan_search(wanted, search, how)
    search.write_list(*command)
    beacon.clear(search.store.root)
    array = on_slurm.submit(
        search.store,
        search.scenario,
        search.sets,
        [],
        plan=plan,
        wanted=wanted,
        name=search.named.folder,
        how=how,
        search=SearchJob(search.asked, tuple(command)),
    )
    return SearchSubmission(array, plan)
