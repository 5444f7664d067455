"""Records the arrays of jobs that were submitted to Slurm to run points of a sweep, and reads their progress."""

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
# The last line in the log of a job says why the job ended. Weft prints at most this number of its characters.
_LONGEST = 200


@dataclass(frozen=True)
class Array:
    """An array of Slurm jobs that run the points of a folder.

    Attributes
    ----------
    order : Order
        The order: a file with the scenario and the settings with which the jobs run points.
    name : str
        Unique name of the jobs.
    cluster : str
        Cluster whose Slurm manages the jobs. Several clusters can share a folder.
    job : str or None
        Number of the array in Slurm; ``None`` if Slurm has returned no number yet.
    submitted_utc : str
        Time of the submission (UTC).
    chunks : list of list of str
        Hashes of the points of each job.
    search : bool
        Whether the array has a single job, which searches for saturation loads. This job chooses its points during the
        search.
    """

    order: Order
    name: str
    cluster: str
    job: str | None
    submitted_utc: str
    chunks: list[list[str]]
    search: bool = False

    def write(self) -> None:
        """Write the description of the array to a file next to its order.

        Raises
        ------
        WriteError
            If the file can't be written.
        """
        said = {name: value for name, value in vars(self).items() if name != "order"}
        Store(self.order.folder).replace(_FILE, json.dumps(said))

    def job_of(self, number: int) -> str:
        """The name of a job of the array in Slurm.

        If the array has only one job, the name is the number of the array.
        """
        return str(self.job) if len(self.chunks) == 1 else f"{self.job}_{number}"

    def live(self) -> dict[int, tuple[str, str]]:
        """State and reason of each job of the array that has not ended, by the number of the job.

        Raises
        ------
        WeftError
            If Slurm does not answer, is not installed on this machine, or belongs to another cluster.
        """
        self._check_cluster()
        return slurm_queue.live(self.name)

    def cancel(self) -> None:
        """Cancel the jobs of the array in Slurm.

        Raises
        ------
        WeftError
            As for `live`.
        """
        self._check_cluster()
        slurm_queue.cancel(self.name)

    def _check_cluster(self) -> None:
        """Raise an error if the Slurm of this machine belongs to another cluster, which does not have these jobs."""
        if (here := slurm_queue.cluster()) != self.cluster:
            what = f"array {self.job} was submitted on the cluster {self.cluster!r}, but this is a machine of {here!r}"
            end = shell.command("cancel", self.order.root)
            remedy = f"run the command on a machine of {self.cluster!r}; or end these jobs first, with `{end}`"
            raise WeftError.saying(what, remedy)

    def last_words(self, number: int) -> str | None:
        """The last line in the log of a job; ``None`` if the log is empty or missing."""
        with suppress(OSError):
            lines = (
                (self.order.folder / f"{self.job_of(number)}_0_log.err")
                .read_text(encoding="utf-8", errors="replace")
                .split("\n")
            )
            return next((line.strip()[:_LONGEST] for line in reversed(lines) if line.strip()), None)
        return None


def arrays(root: Path) -> list[Array]:
    """The arrays of jobs of a folder, the oldest first."""
    found = []
    for path in (root / FOLDER).glob(f"*/{_FILE}"):
        with suppress(OSError, ValueError, TypeError):  # the file of another version has other keys
            order = Order(str(root.absolute()), path.parent.name)
            found.append(Array(order, **json.loads(path.read_text(encoding="utf-8"))))
    return sorted(found, key=lambda array: (array.submitted_utc, array.order.id))


def standing(store: Store) -> list[Array]:
    """The arrays whose jobs possibly still run: their orders are valid (not withdrawn), and some points are missing."""
    return [
        array
        for array in arrays(store.root)
        if array.order.stands
        and (array.search or not all(store.complete(point) for chunk in array.chunks for point in chunk))
    ]


def under_way(store: Store) -> set[str]:
    """Hashes of the points of all jobs (of a sweep) that have not ended.

    The function also removes the orders whose jobs have all ended.

    Raises
    ------
    WeftError
        If an array has possibly not ended, and Slurm does not answer or belongs to another cluster.
    """
    found: set[str] = set()
    for array, live in _at_work(store):
        for number in live & set(range(len(array.chunks))):
            found.update(array.chunks[number])
    return found


def search_under_way(store: Store) -> Array | None:
    """The array whose job is searching for saturation in a folder; ``None`` if there is none.

    The function also removes the orders whose jobs have all ended.

    Raises
    ------
    WeftError
        As for `under_way`.
    """
    return next((array for array, live in _at_work(store) if array.search and live), None)


def _at_work(store: Store) -> list[tuple[Array, set[int]]]:
    """The arrays that have possibly not ended, each with the numbers of its jobs that have not ended."""
    found = []
    for array in standing(store):
        live = array.live()
        if not live and array.job is not None:  # an array without a number is possibly being submitted at this moment
            array.order.withdraw()
        found.append((array, set(live)))
    return found


@dataclass(frozen=True)
class Cancelled:
    """Result of `cancel`: the jobs and workers that will end.

    Attributes
    ----------
    arrays : list of Array
        Arrays whose orders this call has withdrawn, so that their jobs end now.
    others : int
        Number of orders for executors that this call has withdrawn, so that their workers end now.
    unasked : str or None
        Reason why Weft could not cancel the jobs in Slurm; ``None`` if it could. In that case, jobs that wait in Slurm
        end as soon as they begin.
    """

    arrays: list[Array]
    others: int
    unasked: str | None


def cancel(root: Path) -> Cancelled:
    """Withdraw all orders of a sweep (remove their files), so that jobs end within seconds; finished points are kept.

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
