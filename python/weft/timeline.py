"""A run as a timeline: the lives of packets and the power states of links, in the Trace Event Format.

The format is that of Chrome's tracing, which Perfetto (ui.perfetto.dev) and chrome://tracing open: complete events
(``X``: a slice with a beginning and a length), and metadata (``M``) that name processes and tracks. Times are
microseconds of simulated time, whole nanoseconds; the cycles stand in the arguments of each slice.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from weft import watch
from weft.errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weft._engine import Point

PACKETS, LINKS = 1, 2


@dataclass(frozen=True)
class Span:
    """A part of the run.

    Attributes
    ----------
    first, last : int
        Cycles from `first` to before `last`.
    """

    first: int
    last: int

    def cut(self, first: int, last: int) -> Span | None:
        """What of a slice lies inside; `None` if it has no length there."""
        first, last = max(first, self.first), min(last, self.last)
        return Span(first, last) if first < last else None


@dataclass(frozen=True)
class Track:
    """A line of slices.

    Attributes
    ----------
    pid, tid : int
        Its process, and its number there.
    cycle_seconds : float
        Length of a cycle.
    """

    pid: int
    tid: int
    cycle_seconds: float

    def slice(self, name: str, category: str, span: Span, args: dict[str, Any]) -> dict[str, Any]:
        """A complete event; neighbours abut, for both ends are rounded alike."""
        begin, end = (round(cycle * self.cycle_seconds * 1e9) for cycle in (span.first, span.last))
        place = {"ph": "X", "pid": self.pid, "tid": self.tid, "ts": begin / 1000, "dur": (end - begin) / 1000}
        cycles = {"from_cycle": span.first, "to_cycle": span.last}
        return {**place, "name": name, "cat": category, "args": {**cycles, **args}}


def trace(
    point: Point,
    names: Sequence[str] = (),
    first: int = 100,
    *,
    from_cycle: int = 0,
    to_cycle: int | None = None,
    threads: int = 1,
    blocks: int = 0,
) -> dict[str, Any]:
    """Run a point and lay out what happened.

    Parameters
    ----------
    point : Point
        What to run. Links are in the trace if its `measure.link_states` keeps them.
    names : sequence of str
        Packets, as `weft.watch.packets` reads them.
    first : int
        Without `names`: as many packets of the measured window.
    from_cycle, to_cycle : int, optional
        The part of the run that is laid out, by default all of it.
    threads, blocks : int
        As for `Sweep.run`; they change nothing.

    Returns
    -------
    dict
        The trace: a JSON object with ``traceEvents``.

    Raises
    ------
    ScenarioError
        If the point can't run, a packet is not made in it, or no cycle is between `from_cycle` and `to_cycle`.
    """
    if to_cycle is not None and to_cycle <= from_cycle:
        what = f"no cycle is from {from_cycle} to before {to_cycle}"
        raise ScenarioError.saying(what, f"write --to-cycle {from_cycle + 1} or more")
    finished = watch.run(point, watch.packets(names), first, threads=threads, blocks=blocks)
    summary = finished.summary
    span = Span(from_cycle, summary["cycles_total"] + 1 if to_cycle is None else to_cycle)
    cycle_seconds = summary["cycle_seconds"]
    events = [*_packets(finished.journeys, span, cycle_seconds)]
    with tempfile.TemporaryDirectory() as folder:
        finished.save(Path(folder) / "point")
        states = Path(folder) / "point" / "link_states.parquet"
        if states.exists():
            channels = pl.read_parquet(states.with_name("channels.parquet"))
            events += _links(pl.read_parquet(states), channels, span, cycle_seconds)
    about = {key: summary[key] for key in ("name", "hash", "weft_version", "cycle_seconds", "link_states_complete")}
    return {"traceEvents": events, "displayTimeUnit": "ns", "otherData": {key: str(about[key]) for key in about}}


def write(trace: dict[str, Any], file: Path) -> None:
    """Write a trace as JSON, an event per line."""
    head = {key: value for key, value in trace.items() if key != "traceEvents"}
    with file.open("w", encoding="utf-8") as out:
        out.write(json.dumps(head)[:-1] + ', "traceEvents": [\n')
        out.write(",\n".join(json.dumps(event) for event in trace["traceEvents"]))
        out.write("\n]}\n")


def _name(pid: int, tid: int | None, name: str) -> dict[str, Any]:
    """The name of a process, or of one of its tracks."""
    what = "process_name" if tid is None else "thread_name"
    return {"ph": "M", "pid": pid, "tid": tid or 0, "ts": 0, "name": what, "args": {"name": name}}


def _order(pid: int, tid: int | None, place: int) -> dict[str, Any]:
    """Where a process, or a track in its process, stands."""
    what = "process_sort_index" if tid is None else "thread_sort_index"
    return {"ph": "M", "pid": pid, "tid": tid or 0, "ts": 0, "name": what, "args": {"sort_index": place}}


def _packets(journeys: Sequence[dict[str, Any]], span: Span, cycle_seconds: float) -> Iterator[dict[str, Any]]:
    """A track per packet."""
    yield _name(PACKETS, None, "packets")
    yield _order(PACKETS, None, PACKETS)
    for tid, journey in enumerate(journeys, start=1):
        life = journey["life"]
        name = f"{journey['terminal']}:{journey['seq']} to terminal {life['to_terminal']}"
        yield _name(PACKETS, tid, name)
        yield _order(PACKETS, tid, tid)
        track = Track(PACKETS, tid, cycle_seconds)
        for what, category, begin, end, args in _steps(life):
            inside = None if end is None else span.cut(begin, end)
            if inside is not None:
                yield track.slice(what, category, inside, args)


_Step = tuple[str, str, int, int | None, dict[str, Any]]


def _steps(life: dict[str, Any]) -> Iterator[_Step]:
    """Slices of a packet that follow each other, each before those inside it: name, category, cycles, arguments."""
    yield "source queue", "queue", life["created_cycle"], life["injected_cycle"], {"flits": life["flits"]}
    left, wire = life["injected_cycle"], "injection link"
    for visit in life["routers"]:
        leaving = visit["exit"]
        yield wire, "link", left, visit["arrived_cycle"], {"vc": visit["vc"]}
        if leaving is None:
            return
        left = leaving["head_left_cycle"]
        yield from _visit(visit)
        to = f"terminal {life['to_terminal']}" if leaving["next_router"] is None else f"router {leaving['next_router']}"
        wire = f"{leaving['link']} link to {to}"
    if life["delivered_cycle"] is not None:
        arrives = life["routers"][-1]["exit"]["head_arrives_cycle"]
        yield wire, "link", left, arrives, {}
        yield "until the tail is delivered", "tail", arrives, life["delivered_cycle"], {}


def _visit(visit: dict[str, Any]) -> Iterator[_Step]:
    """A router, and inside it what the head did there."""
    leaving = visit["exit"]
    choice = visit["choices"][-1]
    args = {
        "in_port": visit["port"],
        "in_vc": visit["vc"],
        "out_port": leaving["port"],
        "out_vc": leaving["vc"],
        "rule": choice["rule"],
        "candidates": choice["candidates"],
    }
    yield f"router {visit['router']}", "router", visit["arrived_cycle"], leaving["head_left_cycle"], args
    yield "behind other packets", "wait", visit["arrived_cycle"], visit["front_cycle"], {}
    for wait in visit["waits"]:
        reason = wait["reason"].replace("_", " ")
        yield reason, "wait", wait["from_cycle"], wait["to_cycle"], {"port": wait["port"]}
    yield "switch", "switch", leaving["head_crossed_cycle"], leaving["head_left_cycle"], {}


def _links(states: pl.DataFrame, channels: pl.DataFrame, span: Span, cycle_seconds: float) -> Iterator[dict[str, Any]]:
    """A track per managed channel, named after the routers at its ends."""
    yield _name(LINKS, None, "links")
    yield _order(LINKS, None, LINKS)
    ends = ["channel", "from_router", "from_port", "to_router"]
    named = channels.join(states.select("channel").unique(), on="channel").select(ends).sort("channel")
    for channel, router, port, to in named.iter_rows():
        yield _name(LINKS, channel + 1, f"link {router} -> {to} (port {port})")
        yield _order(LINKS, channel + 1, channel + 1)
    for channel, state, begin, end in states.select("channel", "state", "from_cycle", "to_cycle").iter_rows():
        if inside := span.cut(begin, end):
            yield Track(LINKS, channel + 1, cycle_seconds).slice(state, "power", inside, {"channel": channel})
