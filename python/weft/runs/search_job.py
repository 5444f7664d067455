"""The job of a search for saturation: it makes the search, with as many points at a time as its cores allow.

It withdraws its own order at the end of the search. So an existing order belongs to a search that has not ended.
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
    """The task of the job of a search apart from its order.

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
