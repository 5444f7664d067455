"""Makes the events of a trace, assigns them to tracks, and converts cycles to times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Event = dict[str, Any]
Args = dict[str, Any]
RANKS, PACKETS, CONTROL, LINKS = 1, 2, 3, 4
"""Processes of a trace, in the order in which viewers show them."""


@dataclass(frozen=True)
class Span:
    """A span of cycles of a run.

    Attributes
    ----------
    first, last : int
        First cycle of the span, and the cycle after its last one.
    """

    first: int
    last: int

    def cut(self, first: int, last: int) -> Span | None:
        """The part of a slice from `first` to `last` that is inside this span; `None` if no part is."""
        first, last = max(first, self.first), min(last, self.last)
        return Span(first, last) if first < last else None


@dataclass(frozen=True)
class Clock:
    """Converts cycles to the times of a trace.

    Attributes
    ----------
    cycle_seconds : float
        Length of a cycle [s].
    """

    cycle_seconds: float

    @property
    def nanoseconds(self) -> int:
        """Length of a cycle in the trace [ns]: a whole number, because viewers show only whole nanoseconds."""
        return round(self.cycle_seconds * 1e9) if self._is_whole else 1

    @property
    def note(self) -> str:
        """A note for readers if the times in the trace differ from those of the run; otherwise empty."""
        return "" if self._is_whole else f" (each cycle of {self.cycle_seconds * 1e12:g} ps drawn as 1 ns)"

    @property
    def _is_whole(self) -> bool:
        # in femtoseconds, because no cycle is shorter than a femtosecond
        return round(self.cycle_seconds * 1e15) % 1_000_000 == 0

    def slice(self, track: tuple[int, int], name: str, category: str, span: Span, args: Args) -> Event:
        """Returns the trace event that viewers draw as a bar on a track, over the cycles of `span`.

        `track` has the number of a process in the trace, and the number of a track in this process.
        """
        begin, end = span.first * self.nanoseconds, span.last * self.nanoseconds
        place = {"ph": "X", "pid": track[0], "tid": track[1], "ts": begin / 1000, "dur": (end - begin) / 1000}
        cycles = {"from_cycle": span.first, "to_cycle": span.last}
        return {**place, "name": name, "cat": category, "args": {**cycles, **args}}


def named(pid: int, tid: int | None, name: str) -> Event:
    """An event that gives a name to a process, or to one of its tracks."""
    what = "process_name" if tid is None else "thread_name"
    return {"ph": "M", "pid": pid, "tid": tid or 0, "ts": 0, "name": what, "args": {"name": name}}


def ordered(pid: int, tid: int | None, place: int) -> Event:
    """An event that sets the position of a process among processes, or of a track in its process."""
    what = "process_sort_index" if tid is None else "thread_sort_index"
    return {"ph": "M", "pid": pid, "tid": tid or 0, "ts": 0, "name": what, "args": {"sort_index": place}}
