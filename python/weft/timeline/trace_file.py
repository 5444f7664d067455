"""Writes a run as a timeline: ranks and messages of programs, packets, control packets and power states of links.

The format is the Trace Event Format of Chrome, which Perfetto (ui.perfetto.dev) and chrome://tracing open. Complete
events (``X``) are slices: bars with a beginning and a length. Flows (``s`` and ``f``) are arrows between slices.
Metadata (``M``) name processes and tracks. Times are in microseconds of simulated time, as whole numbers of
nanoseconds. If the length of a cycle is not a whole number of nanoseconds, each cycle is drawn as 1 ns. The arguments
of each slice contain the cycles of its beginning and its end.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from weft.errors import ScenarioError
from weft.results.control_messages import Wanted
from weft.results.store import replaced
from weft.runs import watch
from weft.text import packet_lives
from weft.text.engine_words import WAITING_MEANINGS
from weft.text.labels import label
from weft.timeline import arrows, ranks
from weft.timeline.tracks import LINKS, PACKETS, Args, Clock, Event, Span, named, ordered

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weft._engine import Finished, Point

# Keys of the point's summary whose values are also written to the trace.
_ABOUT = ("name", "hash", "weft_version", "cycle_seconds", "ending", "cycles_total")
SHOWN = ("link_states", "control_packets", "rank_states", "message_times")
"""The recordings that a trace shows, if the scenario of the point requests them."""


@dataclass(frozen=True)
class Timeline:
    """A part of a run that can be written as a trace.

    Attributes
    ----------
    finished : Finished
        The run, with the histories of its watched packets.
    states, channels : DataFrame
        Spans of the power states of links, if recorded, and the channels of the point.
    control : DataFrame
        Control packets; empty if none were recorded.
    ranks, messages : DataFrame
        States of the ranks of programs, and their messages; empty if none were recorded.
    left_out : int
        Number of requested control packets that are left out because there are too many.
    span : Span
        The range of cycles that the trace covers.
    about : dict
        Properties of the point and of the run that the trace contains in addition to the events.
    """

    finished: Finished
    states: pl.DataFrame
    channels: pl.DataFrame
    control: pl.DataFrame
    ranks: pl.DataFrame
    messages: pl.DataFrame
    left_out: int
    span: Span
    about: dict[str, Any]

    def events(self) -> Iterator[Event]:
        """Yields all events of the trace one by one, because there can be millions."""
        clock = Clock(self.finished.summary["cycle_seconds"])
        if not self.ranks.is_empty():
            yield from ranks.events(self.ranks, self.messages, self.span, clock)
        yield from _packets(self.finished, self.span, clock)
        if not self.control.is_empty():
            yield from arrows.events(self.control, self.span, clock)
        if not self.states.is_empty():
            yield from _links(self.states, self.channels, self.span, clock)

    def write(self, file: Path) -> int:
        """Write the trace as JSON, with one event per line. The file appears under its name only when it is complete.

        Returns the number of slices (bars) in the trace.
        """
        slices = 0
        with replaced(file) as partial, partial.open("w", encoding="utf-8") as out:
            head = {"displayTimeUnit": "ns", "otherData": self.about}
            out.write(json.dumps(head)[:-1] + ', "traceEvents": [\n')
            for place, event in enumerate(self.events()):
                out.write(f"{',' if place else ''}{json.dumps(event)}\n")
                slices += event["ph"] == "X"
            out.write("]}\n")
        return slices


def record(
    point: Point,
    names: Sequence[str] = (),
    first: int = 100,
    *,
    wanted: Wanted | None = None,
    from_cycle: int = 0,
    to_cycle: int | None = None,
    threads: int = 1,
    blocks: int = 0,
    force_memory: bool = False,
) -> Timeline:
    """Run a point and record the data for its trace.

    Parameters
    ----------
    point : Point
        Point to run. The trace contains those recordings of `SHOWN` that the `measure` of the point requests.
    names : sequence of str
        Names of packets, in the form that `weft.runs.watch.packets` reads.
    first : int
        Number of packets to record if `names` is empty: the first ones of the measured window.
    wanted : Wanted, optional
        Links and control packets to include; by default all links and the first 1000 control packets.
    from_cycle, to_cycle : int, optional
        The part of the run to include, from `from_cycle` up to the cycle before `to_cycle`; by default the whole run.
    threads, blocks : int
        As for `Sweep.run`; they do not change the result.
    force_memory : bool
        Run even if the point needs more memory than is free.

    Returns
    -------
    Timeline
        The recorded part of the run. The method `write` of the object writes the trace.

    Raises
    ------
    ScenarioError
        If the point can't run, creates no packet of `names`, or has no cycle between `from_cycle` and `to_cycle`. Also
        if a requested router or kind of packet does not exist.
    """
    wanted = wanted or Wanted()
    wanted.check(point.network())
    if to_cycle is not None and to_cycle <= from_cycle:
        what = f"there is no cycle from {from_cycle} to before {to_cycle}"
        raise ScenarioError.saying(what, f"write --to-cycle {from_cycle + 1} or more")
    watched = watch.packets(names)
    finished = watch.run(point, watched, first, threads=threads, blocks=blocks, force_memory=force_memory)
    summary = finished.summary
    end = summary["cycles_total"]
    if from_cycle >= end:
        what = f"the run ended after {end} cycles: there is nothing to show from cycle {from_cycle} on"
        raise ScenarioError.saying(what, f"write --from-cycle {end - 1} or less")
    # plus 1, because a step that lasts until the end of the run ends at the beginning of the next cycle
    span = Span(from_cycle, end + 1 if to_cycle is None else to_cycle)
    with tempfile.TemporaryDirectory() as folder:
        finished.save(Path(folder) / "point")
        states, control, rank_states, messages = (_table(Path(folder) / "point", name) for name in SHOWN)
        channels = wanted.channels(_table(Path(folder) / "point", "channels"))
    states, control = _states_within(span, states, channels), _control_within(span, control, wanted)
    lines = [*_ABOUT, *(f"{name}_complete" for name in SHOWN)]
    about = {key: summary[key] for key in lines if summary[key] is not None}
    about |= {"coordinates": {path: label(value) for path, value in point.coordinates.items()}}
    left_out = max(0, control.height - wanted.most)
    tables = (states, channels, control.head(wanted.most), rank_states, messages)
    return Timeline(finished, *tables, left_out, span, about)


def _states_within(span: Span, states: pl.DataFrame, channels: pl.DataFrame) -> pl.DataFrame:
    """The times in which these channels were in each power state, cut to the cycles of the trace."""
    if states.is_empty():
        return states
    inside = (pl.col("from_cycle") < span.last) & (pl.col("to_cycle") > span.first)
    return states.filter(inside & pl.col("channel").is_in(channels["channel"].implode()))


def _control_within(span: Span, control: pl.DataFrame, wanted: Wanted) -> pl.DataFrame:
    """The requested control packets that were in flight during the span of the trace."""
    if control.is_empty():
        return control
    came = pl.col("arrived_cycle").fill_null(pl.col("sent_cycle"))
    return wanted.packets(control.filter((pl.col("sent_cycle") < span.last) & (came >= span.first)))


def _table(folder: Path, name: str) -> pl.DataFrame:
    """A table of a point's results; empty if it was not recorded."""
    file = folder / f"{name}.parquet"
    return pl.read_parquet(file) if file.exists() else pl.DataFrame()


def _packets(finished: Finished, span: Span, clock: Clock) -> Iterator[Event]:
    """Yields a track per watched packet.

    A step that was cut off, because the run ended or the packet was lost, lasts until the end of the run.
    """
    yield named(PACKETS, None, f"packets{clock.note}")
    yield ordered(PACKETS, None, PACKETS)
    made = [journey for journey in finished.journeys if journey["life"] is not None]
    for tid, journey in enumerate(made, start=1):
        life = journey["life"]
        yield named(PACKETS, tid, f"{journey['terminal']}:{journey['seq']} to terminal {life['to_terminal']}")
        yield ordered(PACKETS, tid, tid)
        for name, category, begin, end, args in _steps(life):
            known = finished.summary["cycles_total"] if end is None else end
            if inside := span.cut(begin, known):
                shown = args if end is not None else {**args, "unfinished": packet_lives.until(life, finished.summary)}
                yield clock.slice((PACKETS, tid), name, category, inside, shown)


_Step = tuple[str, str, int, int | None, Args]


def _steps(life: dict[str, Any]) -> Iterator[_Step]:
    """Yields the slices of a packet in order, each with name, category, cycles and arguments.

    A slice comes before the slices that are inside it.
    """
    yield "source queue", "queue", life["created_cycle"], life["injected_cycle"], {"flits": life["flits"]}
    left, wire = life["injected_cycle"], "injection link"
    for visit in life["routers"]:
        leaving = visit["exit"]
        yield wire, "link", left, visit["arrived_cycle"], {"vc": visit["vc"]}
        yield from _visit(visit)
        if leaving is None:
            return
        left = leaving["head_left_cycle"]
        to = f"terminal {life['to_terminal']}" if leaving["next_router"] is None else f"router {leaving['next_router']}"
        wire = f"{leaving['link']} link to {to}"
    if life["routers"]:
        arrives = life["routers"][-1]["exit"]["head_arrives_cycle"]
        yield wire, "link", left, arrives, {}
        yield "until the tail is delivered", "tail", arrives, life["delivered_cycle"], {}


def _visit(visit: dict[str, Any]) -> Iterator[_Step]:
    """Yields a slice for the stay of a packet in a router.

    Then yields a slice inside this slice for each step that the head flit has completed in the router.
    """
    leaving = visit["exit"] or {}
    args = {"in_port": visit["port"], "in_vc": visit["vc"]}
    if visit["choices"]:
        choice = visit["choices"][-1]
        args |= {"out_port": choice["port"], "rule": choice["rule"], "candidates": choice["candidates"]}
    if leaving:
        args |= {"out_port": leaving["port"], "out_vc": leaving["vc"]}
    yield f"router {visit['router']}", "router", visit["arrived_cycle"], leaving.get("head_left_cycle"), args
    yield "behind other packets", "wait", visit["arrived_cycle"], visit["front_cycle"], {}
    for wait in visit["waits"]:
        yield WAITING_MEANINGS[wait["reason"]], "wait", wait["from_cycle"], wait["to_cycle"], {"port": wait["port"]}
    if leaving:
        yield "switch", "switch", leaving["head_crossed_cycle"], leaving["head_left_cycle"], {}


def _links(states: pl.DataFrame, channels: pl.DataFrame, span: Span, clock: Clock) -> Iterator[Event]:
    """Yields a track per managed channel. The name of the track has the routers at the ends of the channel."""
    yield named(LINKS, None, f"links{clock.note}")
    yield ordered(LINKS, None, LINKS)
    ends = ["channel", "from_router", "from_port", "to_router"]
    ends_of = channels.join(states.select("channel").unique(), on="channel").select(ends).sort("channel")
    for channel, router, port, to in ends_of.iter_rows():
        yield named(LINKS, channel + 1, f"link {router} -> {to} (port {port})")
        yield ordered(LINKS, channel + 1, channel + 1)
    for channel, state, begin, end in states.select("channel", "state", "from_cycle", "to_cycle").iter_rows():
        if inside := span.cut(begin, end):
            yield clock.slice((LINKS, channel + 1), state, "power", inside, {"channel": channel})
