"""The arrays of jobs submitted for the points of a folder, and their progress in Slurm."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weft.errors import WeftError
from weft.results.store import Store
from weft.runs import slurm_queue
from weft.runs.orders import FOLDER, Order
from weft.text import shell

if TYPE_CHECKING:
    from pathlib import Path

_FILE = "array.json"
# Number of letters shown from the last line of a log that gives the reason why a job ended.
_LONGEST = 200


@dataclass(frozen=True)
class Array:
    """An array of jobs.

    Attributes
    ----------
    order : Order
        The order that the jobs carry out.
    name : str
        Unique name of the jobs.
    cluster : str
        Cluster whose Slurm manages the jobs. Several clusters may share a folder.
    job : str or None
        Number of the array in Slurm; ``None`` if Slurm has not returned a number.
    submitted_utc : str
        Time of the submission (UTC).
    chunks : list of list of str
        Hashes of the points of each job.
    search : bool
        Whether the array has one job, which searches for saturation and so decides by itself which points it runs.
    """

    order: Order
    name: str
    cluster: str
    job: str | None
    submitted_utc: str
    chunks: list[list[str]]
    search: bool = False

    def write(self) -> None:
        """Write the array next to its order.

        Raises
        ------
        WriteError
            If it can't be written.
        """
        said = {name: value for name, value in vars(self).items() if name != "order"}
        Store(self.order.folder).replace(_FILE, json.dumps(said))

    def job_of(self, number: int) -> str:
        """Slurm's name of a job. The only job of an array has the number of the array as its name."""
        return str(self.job) if len(self.chunks) == 1 else f"{self.job}_{number}"

    def live(self) -> dict[int, tuple[str, str]]:
        """State and reason of each job that has not ended, by number.

        Raises
        ------
        WeftError
            If Slurm does not answer, is not on this machine, or is that of another cluster.
        """
        self._check_cluster()
        return slurm_queue.live(self.name)

    def cancel(self) -> None:
        """Request from Slurm to end the jobs of the array.

        Raises
        ------
        WeftError
            As for `live`.
        """
        self._check_cluster()
        slurm_queue.cancel(self.name)

    def _check_cluster(self) -> None:
        """Raise an error if this machine's Slurm belongs to another cluster, which does not know these jobs."""
        if (here := slurm_queue.cluster()) != self.cluster:
            what = f"array {self.job} was submitted on the cluster {self.cluster!r}, but this is a machine of {here!r}"
            end = shell.command("cancel", self.order.root)
            remedy = f"run the command on a machine of {self.cluster!r}; or end these jobs first, with `{end}`"
            raise WeftError.saying(what, remedy)

    def last_words(self, number: int) -> str | None:
        """The last line in the log of a job; ``None`` if the log has no line."""
        with suppress(OSError):
            lines = (
                (self.order.folder / f"{self.job_of(number)}_0_log.err")
                .read_text(encoding="utf-8", errors="replace")
                .split("\n")
            )
            return next((line.strip()[:_LONGEST] for line in reversed(lines) if line.strip()), None)
        return None


def arrays(root: Path) -> list[Array]:
    """The arrays of a folder, the oldest first."""
    found = []
    for path in (root / FOLDER).glob(f"*/{_FILE}"):
        with suppress(OSError, ValueError, TypeError):  # an array of another version has other keys
            order = Order(str(root.absolute()), path.parent.name)
            found.append(Array(order, **json.loads(path.read_text(encoding="utf-8"))))
    return sorted(found, key=lambda array: (array.submitted_utc, array.order.id))


def standing(store: Store) -> list[Array]:
    """The arrays of a folder that may not have ended: their orders are not withdrawn, and points are missing."""
    return [
        array
        for array in arrays(store.root)
        if array.order.stands
        and (array.search or not all(store.complete(point) for chunk in array.chunks for point in chunk))
    ]


def under_way(store: Store) -> set[str]:
    """Hashes of the points of all jobs that have not ended. Removes the orders whose jobs have all ended.

    Raises
    ------
    WeftError
        If there are arrays that may not have ended, and Slurm does not answer or belongs to another cluster.
    """
    found: set[str] = set()
    for array, live in _at_work(store):
        for number in live & set(range(len(array.chunks))):
            found.update(array.chunks[number])
    return found


def search_under_way(store: Store) -> Array | None:
    """The array whose job searches for saturation in a folder. Removes the orders whose jobs have all ended.

    Raises
    ------
    WeftError
        As for `under_way`.
    """
    return next((array for array, live in _at_work(store) if array.search and live), None)


def _at_work(store: Store) -> list[tuple[Array, set[int]]]:
    """The arrays that may not have ended, each with the numbers of its jobs that have not ended."""
    found = []
    for array in standing(store):
        live = array.live()
        if not live and array.job is not None:  # an array without a number may be in submission just now
            array.order.withdraw()
        found.append((array, set(live)))
    return found


@dataclass(frozen=True)
class Cancelled:
    """The effects of `cancel`.

    Attributes
    ----------
    arrays : list of Array
        Arrays whose orders were still valid; their jobs end.
    others : int
        Number of valid orders of executors; their workers end.
    unasked : str or None
        Reason why Slurm was not notified, if it was not. Waiting jobs then end as soon as they begin.
    """

    arrays: list[Array]
    others: int
    unasked: str | None


def cancel(root: Path) -> Cancelled:
    """Withdraw all orders of a folder: jobs end within seconds, and finished points are kept.

    Raises
    ------
    ResultsError
        If `root` is not a folder of results.
    """
    store = Store(root)
    store.manifest()
    unfinished = {array.order.id: array for array in standing(store)}
    of_slurm = {array.order.id for array in arrays(root)}
    ended: list[Array] = []
    others, unasked = 0, None
    for path in sorted((root / FOLDER).glob("*/order.json")):
        order = Order(str(root.absolute()), path.parent.name)
        if not order.withdraw():
            continue
        others += order.id not in of_slurm
        if (array := unfinished.get(order.id)) is None:
            continue
        ended.append(array)
        try:
            array.cancel()
        except WeftError as problem:
            unasked = problem.what
    return Cancelled(ended, others, unasked)
