"""What the job of a search for saturation does: it makes the search, with as many points at a time as its cores allow.

It withdraws its own order when it has found all, so an order that stands is that of a search that has not ended.
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
