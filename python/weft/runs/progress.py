"""Shows the progress of a sweep on standard error: bars on the screen, or a line from time to time in a file."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Column

from weft.text.columns import clock

if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import TaskID

    from weft.runs.execute import Flight, Status

# Maximum number of running points with separate bars.
_SHOWN = 8
# Maximum number of printed characters of the coordinates of a point.
_WIDEST = 48
# For output in a file: time before the first line [s], ratio of each interval between lines to the one before, and
# longest interval [s].
_FIRST, _LONGER, _LONGEST = 10.0, 1.5, 60.0


# If the likely remaining time is less than this value [s], only the maximum remaining time is printed.
_TELLING = 1.0


class Bar:
    """Shows the status of a sweep inside a ``with`` block.

    Parameters
    ----------
    name : str
        Name of the sweep.
    console : rich.console.Console, optional
        Console to which the status is written; by default standard error.

    Attributes
    ----------
    name : str
        Name of the sweep, which can change during the run.
    """

    def __init__(self, name: str, console: Console | None = None) -> None:
        self.name = name
        self._console = console or Console(stderr=True)
        self._live = self._console.is_terminal and not self._console.is_dumb_terminal
        self._begun = perf_counter()
        self._status: Status | None = None
        self._bars = _Bars(name, self._console) if self._live else None
        self._next, self._pause = _FIRST, _FIRST

    def __enter__(self) -> Self:
        if self._bars:
            self._bars.progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bars:
            self._bars.progress.stop()
        if self._status:
            self.say(f"{self._status.done} of {self._status.total} points in {clock(self._seconds)}")

    def __call__(self, status: Status) -> None:
        """Show a status."""
        if self._status is None:
            self._begun = perf_counter()  # the rate does not include the checks before the run
            if status.reused:
                self.say(f"{status.reused} of {status.total} done before")
        self._status = status
        if self._bars:
            self._bars.show(self.name, status, self._seconds)
        elif self._seconds >= self._next:
            self._pause = min(_LONGEST, self._pause * _LONGER)
            self._next = self._seconds + self._pause
            self.say("; ".join([words(status, self._seconds), *_slowest(status)]))

    @property
    def _seconds(self) -> float:
        return perf_counter() - self._begun

    def say(self, words: str, of: str = "") -> None:
        """Write a line of text about the sweep, or about another subject `of`."""
        self._console.print(f"{of or self.name}: {words}", markup=False, highlight=False, soft_wrap=True)


def words(status: Status, seconds: float) -> str:
    """Text on the progress of a sweep after some seconds: points, rate, and remaining time."""
    new = status.done + status.running - status.reused
    left = status.left_seconds
    if left is None and new > 0:  # a search for saturation can estimate only the number of its points
        # not negative, because a search can run more points than planned
        left = max(0.0, status.total - status.done - status.running) * seconds / new
    rate = f", {60 * new / seconds:.3g} per minute" if new > 0 and seconds > 0 else ""
    return f"{status.done} of {status.total} points{rate}{_left_words(left or None, status.most_left_seconds)}"


def _left_words(likely: float | None, most: float | None) -> str:
    """Text with the remaining time. The time is a range if the length of warm-ups is not known."""
    if most is None:
        return "" if likely is None else f", {clock(likely)} left"
    # a likely time of zero only means that the estimate was too short
    if likely is None or not _TELLING <= likely < most:
        return f", at most {clock(most)} left"
    return f", between {clock(likely)} and {clock(most)} left"


def flight_words(flight: Flight) -> str:
    """Text on the progress of a point."""
    if flight.fraction >= 1:
        return f"{flight.cycles} cycles, delivering the last packets, {clock(flight.seconds)} so far"
    rate = f" at {flight.cycles / flight.seconds / 1000:.3g} kcycles/s" if flight.cycles and flight.seconds else ""
    left = _left_words(flight.left_seconds, flight.most_left_seconds)
    share = f"{100 * flight.fraction:.0f} %, " if flight.fraction > 0 else ""
    return f"{share}{flight.cycles} cycles{rate}{left}"


def _slowest(status: Status) -> list[str]:
    """Text on the running point with the longest remaining time."""
    if not status.flying:
        return []
    last = max(status.flying, key=lambda flight: flight.most_left_seconds or flight.left_seconds or 0.0)
    return [f"{len(status.flying)} running, the longest: {last.words}, {flight_words(last)}"]


class _Bars:
    """Draws a bar for all points, and a bar for each running point."""

    def __init__(self, name: str, console: Console) -> None:
        self.progress = Progress(
            TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, max_width=_WIDEST)),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[words]}", markup=False),
            console=console,
            transient=True,
        )
        self._all = self.progress.add_task(name, total=None, words="checking")
        self._flights: dict[str, TaskID] = {}

    def show(self, name: str, status: Status, seconds: float) -> None:
        """Draw a status."""
        completed = status.done + status.running
        more = f", {len(status.flying)} running" if len(status.flying) > _SHOWN else ""
        text = words(status, seconds) + more
        self.progress.update(self._all, description=name, total=status.total, completed=completed, words=text)
        shown = {flight.hash: flight for flight in status.flying[:_SHOWN]}
        for gone in self._flights.keys() - shown.keys():
            self.progress.remove_task(self._flights.pop(gone))
        for key, flight in shown.items():
            if key not in self._flights:
                self._flights[key] = self.progress.add_task(f"  {flight.words}", total=1.0, words="")
            self.progress.update(self._flights[key], completed=flight.fraction, words=flight_words(flight))
