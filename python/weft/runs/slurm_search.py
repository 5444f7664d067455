"""A search for saturation as one job of Slurm: which load comes next depends on what the others have given.

The job makes the search as `weft saturation` does on one machine, with as many points at a time as its cores allow. It
withdraws its own order when it has found all, so an order that stands is that of a search that has not ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weft.runs import arrays, beacon, on_slurm, slurm_jobs
from weft.runs.saturation_search import SaturationSearch
from weft.runs.worker import worker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft.runs.arrays import Array
    from weft.runs.how import How
    from weft.runs.orders import Order
    from weft.runs.saturation_search import Asked
    from weft.runs.slurm_jobs import Plan, SlurmJobs
    from weft.runs.worker import Done


@dataclass(frozen=True)
class SearchSubmission:
    """What was handed to Slurm.

    Attributes
    ----------
    array : Array or None
        The job that makes the search, as an array of one; ``None`` if nothing is missing.
    plan : Plan or None
        What the job needs; ``None`` if it was submitted before and has not ended.
    """

    array: Array | None
    plan: Plan | None


def submit(search: SaturationSearch, wanted: SlurmJobs, how: How, command: Sequence[str]) -> SearchSubmission:
    """Submit a search, unless all its points have results, or a job makes it already.

    Raises
    ------
    ScenarioError
        If the job has less time or memory than its points need.
    WeftError
        As `weft.Sweep.submit` does.
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


@dataclass(frozen=True)
class SearchJob:
    """What the job of a search is to do besides its order.

    Attributes
    ----------
    asked : Asked
        What it is to find.
    command : tuple of str
        Words that the command line has besides, for the list of points.
    """

    asked: Asked
    command: tuple[str, ...]

    def work(self, order: Order, *, jobs: int, job: str | None, done: Done) -> None:
        """Make the search; its order is withdrawn when all is found."""
        search = SaturationSearch(*order.scenario(), order.root, self.asked)
        with worker(order, jobs=jobs, job=job, done=done) as one:
            for each in search.rounds():
                search.write_list(*self.command)
                one.run(each.points)
            search.table()
            order.withdraw()
