"""Collects the progress of the sweeps of one or several papers, which run in parallel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING

from weft.runs.execute import Status

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class EndedSweep:
    """A round of a sweep that has ended: its name, its last status, and its run time [s]."""

    name: str
    status: Status
    seconds: float


@dataclass(frozen=True)
class Standing:
    """Progress of all sweeps at one moment.

    Attributes
    ----------
    sweeps, begun, done : int
        Number of all sweeps, of sweeps that have begun, and of finished sweeps. All rounds of a sweep count as one
        sweep.
    status : Status
        Status of the points of all sweeps that have begun.
    ended : list of EndedSweep
        Rounds that have ended since the previous `Standing` was made.
    """

    sweeps: int
    begun: int
    done: int
    status: Status
    ended: list[EndedSweep]


class Standings:
    """Collects the status of each sweep, which the thread of the sweep reports.

    The main thread reads the combined progress.

    Parameters
    ----------
    sweeps : int
        Number of all sweeps.
    workers : int
        Number of points that run at the same time.
    """

    def __init__(self, sweeps: int, workers: int) -> None:
        self._sweeps, self._workers = sweeps, workers
        self._begun: set[int] = set()
        self._done = 0
        self._since: dict[str, float] = {}
        self._last: dict[str, Status] = {}
        self._ended: list[EndedSweep] = []
        self._lock = Lock()

    def tell(self, number: int, name: str, status: Status) -> None:
        """Record the current status of a round of a sweep."""
        with self._lock:
            self._begun.add(number)
            self._since.setdefault(name, perf_counter())
            self._last[name] = status

    def end(self, name: str) -> None:
        """Record that a round has ended, with or without an error."""
        with self._lock:
            if (last := self._last.get(name)) is not None:
                self._last[name] = replace(last, flying=[], running=0.0, left_seconds=None, most_left_seconds=None)
                self._ended.append(EndedSweep(name, last, perf_counter() - self._since[name]))

    def done(self) -> None:
        """Record that a sweep is done, with all its rounds."""
        with self._lock:
            self._done += 1

    def standing(self) -> Standing | None:
        """Return the current progress of all sweeps; ``None`` until a sweep has begun."""
        with self._lock:
            if not self._last:
                return None
            flying = [
                replace(flight, hash=f"{name} {flight.hash}", words=f"{name}: {flight.words}")
                for name, status in self._last.items()
                for flight in status.flying
            ]
            parts, ended = list(self._last.values()), self._ended
            self._ended = []
        return Standing(
            self._sweeps, len(self._begun), self._done, replace(joined(parts, self._workers), flying=flying), ended
        )


def joined(parts: Sequence[Status], workers: int) -> Status:
    """Combine the statuses of several sweeps into one status. The sweeps share `workers` workers."""
    flying = [flight for part in parts for flight in part.flying]
    left, most = _left(parts, workers), [each.most_left_seconds for each in flying if each.most_left_seconds]
    waits = any(map(_waiting, parts))
    return Status(
        total=sum(part.total for part in parts),
        done=sum(part.done for part in parts),
        reused=sum(part.reused for part in parts),
        running=sum(part.running for part in parts),
        flying=flying,
        left_seconds=left,
        most_left_seconds=max((left or 0.0) + sum(most) / workers, *most) if most and (left or not waits) else None,
    )


def _left(parts: Sequence[Status], workers: int) -> float | None:
    """Estimate the seconds until the points of all sweeps are done; ``None`` if the time of one sweep is unknown."""
    work, longest = 0.0, 0.0
    for part in parts:
        lefts = [flight.left_seconds for flight in part.flying if flight.left_seconds is not None]
        longest = max([longest, *lefts])
        if not _waiting(part):
            work += sum(lefts)
        elif part.left_seconds is None:
            return None
        else:  # `left_seconds` of a sweep assumes that the sweep has all workers
            work += part.left_seconds * workers
    return max(work / workers, longest) or None


def _waiting(part: Status) -> bool:
    """Return whether a sweep has points that have not begun."""
    return part.done + len(part.flying) < part.total
