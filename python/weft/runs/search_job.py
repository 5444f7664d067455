"""Makes a search for the saturation load in a Slurm job.

The cores of the job limit the number of points that run at the same time.

At the end of the search, the job withdraws its order (the file that describes its work). As long as the order is valid,
the search has not ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weft.runs.saturation_search import SaturationSearch
from weft.runs.worker import worker

if TYPE_CHECKING:
    from weft.runs.orders import Order
    from weft.runs.saturation_search import Asked
    from weft.runs.worker import Done


@dataclass(frozen=True)
class SearchJob:
    """The search that a Slurm job makes.

    Attributes
    ----------
    asked : Asked
        Parameters of the search.
    command : tuple of str
        Further words of the command that continues the search, which the list of points stores.
    """

    asked: Asked
    command: tuple[str, ...]

    def work(self, order: Order, *, jobs: int, job: str | None, done: Done) -> None:
        """Make the search, and withdraw the order of the job at the end."""
        search = SaturationSearch(*order.scenario(), order.root, self.asked)
        with worker(order, jobs=jobs, job=job, done=done) as one:
            for each in search.rounds():
                search.write_list(*self.command)
                one.run(each.points)
            search.table()
            order.withdraw()
