"""Writes the ranks of programs to a trace (a timeline for viewers such as Perfetto).

Each rank has a track with its states and a track with its messages, and each message has an arrow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from weft.results.critical_path import TRANSFER, WAIT
from weft.text.si import si
from weft.timeline.tracks import RANKS, Clock, Event, Span, named, ordered

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

_CATEGORY = "message"
_WORDS = {WAIT: "wait for rank {}", TRANSFER: "transfer, rank {}"}


class _End(NamedTuple):
    """An end of a message in a trace: the time at which it begins at its sender, or has arrived at its receiver."""

    rank: int
    cycle: int
    arrives: bool
    number: int


def events(states: pl.DataFrame, messages: pl.DataFrame, span: Span, clock: Clock) -> Iterator[Event]:
    """Yields the events of the tracks of all jobs. A message has marks that are one cycle long."""
    yield named(RANKS, None, f"ranks{clock.note}")
    yield ordered(RANKS, None, RANKS)
    jobs = states["job"].unique(maintain_order=True).to_list()
    first = 1
    arrows = 0
    for job in jobs:
        own, sent = states.filter(job=job), messages.filter(job=job)
        prefix = f"{job} " if len(jobs) > 1 else ""
        for rank in own["rank"].unique(maintain_order=True):
            for place, what in enumerate(("", " messages")):
                track = first + 2 * rank + place
                yield named(RANKS, track, f"{prefix}rank {rank}{what}")
                yield ordered(RANKS, track, track)
        yield from _states(own, first, span, clock)
        yield from _messages(sent, (first, arrows), span, clock)
        first += 2 * (max(own["rank"].to_list()) + 1)
        arrows += sent.height


def _states(states: pl.DataFrame, first: int, span: Span, clock: Clock) -> Iterator[Event]:
    for row in states.iter_rows(named=True):
        inside = span.cut(row["from_cycle"], row["to_cycle"])
        if inside is not None:
            peer = row["peer"]
            words = row["state"] if peer is None else _WORDS[row["state"]].format(peer)
            by_name = {key: row[key] for key in ("peer", "origin", "since_cycle") if row[key] is not None}
            yield clock.slice((RANKS, first + 2 * row["rank"]), words, row["state"], inside, by_name)


def _messages(messages: pl.DataFrame, begin: tuple[int, int], span: Span, clock: Clock) -> Iterator[Event]:
    """Yields marks for the start and the arrival of messages, by rank and time, each with its end of an arrow."""
    first, arrows = begin
    rows = messages.to_dicts()
    ends = [_End(row["from_rank"], row["begun_cycle"], False, number) for number, row in enumerate(rows)]
    ends += [_End(row["to_rank"], row["arrived_cycle"], True, number) for number, row in enumerate(rows)]
    for end in sorted(ends):
        inside = span.cut(end.cycle, end.cycle + 1)
        if inside is None:
            continue
        row = rows[end.number]
        size = si(row["bytes"], "B")
        words = f"{size} from rank {row['from_rank']}" if end.arrives else f"{size} to rank {row['to_rank']}"
        mark = clock.slice((RANKS, first + 2 * end.rank + 1), words, _CATEGORY, inside, _values(row))
        yield mark
        if span.first <= row["begun_cycle"] and row["arrived_cycle"] < span.last:
            place = {key: mark[key] for key in ("pid", "tid", "ts")} | {"name": "message", "cat": _CATEGORY}
            # the numbers can be the same as those of control packets, because name and category also identify an arrow
            arrow = {"ph": "f", "bp": "e"} if end.arrives else {"ph": "s"}
            yield {**place, **arrow, "id": arrows + end.number}


def _values(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != "job"}
