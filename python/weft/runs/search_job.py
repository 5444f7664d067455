"""The job that makes a search for saturation. Its cores limit the number of points that run at the same time.

The job withdraws its own order at the end of the search. So if the order exists, the search has not ended.
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
    """The task of the job of a search, without its order.

    Attributes
    ----------
    asked : Asked
        Goal of the search.
    command : tuple of str
        Additional words of the command line, for the list of points.
    """

    asked: Asked
    command: tuple[str, ...]

    def work(self, order: Order, *, jobs: int, job: str | None, done: Done) -> None:
        """Make the search, and withdraw its order at the end."""
        search = SaturationSearch(*order.scenario(), order.root, self.asked)
        with worker(order, jobs=jobs, job=job, done=done) as one:
            for each in search.rounds():
                search.write_list(*self.command)
                one.run(each.points)
            search.table()
            order.withdraw()
