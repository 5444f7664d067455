"""Writes the control packets of a power policy to a trace (a timeline for viewers such as Perfetto).

Each router has a track with marks for sent and received packets, and arrows connect the marks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from weft.results.control_messages import words
from weft.timeline.tracks import CONTROL, Clock, Event, Span, named, ordered

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

_CATEGORY = "control"


class _Mark(NamedTuple):
    """A mark in a trace: a packet leaves its router, or arrives at its destination."""

    cycle: int
    router: int
    comes: bool
    text: str
    number: int


def events(packets: pl.DataFrame, span: Span, clock: Clock) -> Iterator[Event]:
    """Yields marks of one cycle at the departure and the arrival of each packet, and an arrow between the two marks.

    If a router sends several packets with the same text in one cycle, as in a broadcast, these packets share one mark.
    """
    yield named(CONTROL, None, f"control packets{clock.note}")
    yield ordered(CONTROL, None, CONTROL)
    rows = packets.to_dicts()
    marks = sorted(mark for number, row in enumerate(rows) for mark in _marks(number, row))
    for router in sorted({mark.router for mark in marks}):
        yield named(CONTROL, router + 1, f"router {router}")
        yield ordered(CONTROL, router + 1, router + 1)
    together: list[_Mark] = []
    for mark in marks:
        if together and mark[:4] != together[0][:4]:
            yield from _drawn(together, rows, span, clock)
            together = []
        together.append(mark)
    yield from _drawn(together, rows, span, clock)


def _marks(number: int, packet: dict[str, Any]) -> Iterator[_Mark]:
    text = words(packet)
    yield _Mark(packet["sent_cycle"], packet["from_router"], False, f"{text}, to", number)
    if packet["arrived_cycle"] is not None:
        heard = f"{text}, from {packet['from_router']}"
        yield _Mark(packet["arrived_cycle"], packet["to_router"], True, heard, number)


def _drawn(marks: list[_Mark], rows: list[dict[str, Any]], span: Span, clock: Clock) -> Iterator[Event]:
    """Yields the slice (bar) of the trace for these marks, and the ends of arrows at this slice."""
    first = marks[0]
    inside = span.cut(first.cycle, first.cycle + 1)
    if inside is None:
        return
    packets = [rows[mark.number] for mark in marks]
    others = "" if first.comes else " " + ", ".join(str(packet["to_router"]) for packet in packets)
    shown = {key: value for key, value in packets[0].items() if value is not None} if len(packets) == 1 else {}
    mark = clock.slice((CONTROL, first.router + 1), first.text + others, _CATEGORY, inside, shown)
    yield mark
    place = {key: mark[key] for key in ("pid", "tid", "ts")} | {"name": packets[0]["kind"], "cat": _CATEGORY}
    for each in marks:
        if not _has_both_ends(rows[each.number], span):
            continue
        if first.comes:
            yield {**place, "ph": "f", "bp": "e", "id": each.number}
        else:
            yield {**place, "ph": "s", "id": each.number}


def _has_both_ends(packet: dict[str, Any], span: Span) -> bool:
    """Whether a packet leaves and arrives inside the span of the trace.

    Viewers reject an arrow without one of its ends.
    """
    ends = (packet["sent_cycle"], packet["arrived_cycle"])
    return all(cycle is not None and span.first <= cycle < span.last for cycle in ends)
