"""Converts events of an OTF2 archive to records of Weft's recordings.

``docs/howto/capture.md`` describes the format of the records.
"""

from __future__ import annotations

import struct
from collections import Counter
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

ANY = -1
_HEAD = struct.Struct("<8sIIIIQ")
_RECORD = struct.Struct("<HHIQQQQ")
_VERSION = 1
# Prefixes of the names of message events that the format of recordings cannot represent.
_REFUSED = ("Rma", "MpiMrecv", "MpiImrecv")
_INIT, _FINALIZE = ("MPI_Init", "MPI_Init_thread"), "MPI_Finalize"
# A call is a collective if its name begins with one of these words after `MPI_` or `MPI_I`.
_COLLECTIVES = (
    "allgather",
    "allreduce",
    "alltoall",
    "barrier",
    "bcast",
    "exscan",
    "gather",
    "reduce",
    "scan",
    "scatter",
)
_LOCAL = "MPI_Reduce_local"


def name_of(member: Any) -> str:
    """The name of a member of an enumeration of the package, without the name of the enumeration."""
    return str(member).rpartition(".")[2]


class Kind(IntEnum):
    """Kinds of records of a recording, with the numbers of ``capture/record.h``."""

    INIT = 1
    FINALIZE = 2
    POLL = 3
    COMM = 5
    PAUSE = 7
    SEND = 16
    RECV = 17
    SENDRECV = 18
    ISEND = 19
    IRECV = 20
    COMPLETE = 24
    CANCEL = 26
    PROBE = 27
    BARRIER = 32
    BCAST = 33
    REDUCE = 34
    ALLREDUCE = 35
    GATHER = 36
    SCATTER = 37
    ALLGATHER = 38
    ALLTOALL = 39
    GATHERV = 40
    SCATTERV = 41
    ALLGATHERV = 42
    REDUCE_SCATTER = 44
    SCAN = 45


@dataclass
class Record:
    """A record: its kind, its words (numbers), and the times at which its call began and ended [ns]."""

    kind: Kind
    words: list[int]
    begin: int = 0
    end: int = 0


@dataclass
class Collective:
    """A collective call of one rank. The sizes in its record are set later, from the byte sums of all ranks."""

    operation: str
    root: int
    sent: int
    received: int
    record: Record


@dataclass
class Rank:
    """The records of a rank, and counts of calls that could not be converted.

    Attributes
    ----------
    records : list of Record
        The records in the order of the calls.
    collectives : dict
        The collectives of each communicator, in the order of the calls.
    lost : Counter
        Number of calls that cannot be converted, by the data that the archive lacks or the kind of event.
    """

    records: list[Record] = field(default_factory=list)
    collectives: dict[int, list[Collective]] = field(default_factory=dict)
    lost: Counter[str] = field(default_factory=Counter)

    def file(self, rank: int, ranks: int, communicators: dict[int, list[int]]) -> bytes:
        """The content of the rank's file of a recording.

        Parameters
        ----------
        rank, ranks : int
            The rank, and the number of ranks.
        communicators : dict
            The ranks of each communicator, by the number of the communicator.
        """
        init = next((place for place, record in enumerate(self.records) if record.kind is Kind.INIT), -1)
        now = self.records[init].end if init >= 0 else self.records[0].begin if self.records else 0
        made = [Record(Kind.COMM, [number, *members], now, now) for number, members in communicators.items()]
        parts = [_HEAD.pack(b"WEFTCAP", _VERSION, rank, ranks, 0, 0)]
        for record in (*self.records[: init + 1], *made, *self.records[init + 1 :], self._finalize()):
            times = (record.begin, record.end, 0, 0)
            parts.append(_RECORD.pack(record.kind, 0, len(record.words), *times))
            parts.append(struct.pack(f"<{len(record.words)}q", *record.words))
        return b"".join(parts)

    def _finalize(self) -> Record:
        """The final record, with sums over the other records."""
        sends = [each.words[3] for each in self.records if each.kind in (Kind.SEND, Kind.ISEND, Kind.SENDRECV)]
        receives = sum(each.kind in (Kind.RECV, Kind.IRECV, Kind.SENDRECV) for each in self.records)
        collectives = sum(each.kind >= Kind.BARRIER for each in self.records)
        last = self.records[-1].end if self.records else 0
        return Record(Kind.FINALIZE, [len(sends), sum(sends), receives, collectives], last, last)


@dataclass
class _Call:
    """An MPI call that has begun but not ended, with the events inside it."""

    name: str
    begin: int
    events: list[Any] = field(default_factory=list)


class Reader:
    """Converts the events of one rank to records, in the order of the events."""

    def __init__(self, number_of: Any) -> None:
        self.rank = Rank()
        self._number_of = number_of
        self._call: _Call | None = None
        self._depth = 0
        self._has_ended = False
        self._paused: int | None = None
        # records of non-blocking receives, by number of the request; a later event completes them
        self._receives: dict[int, Record] = {}
        self._started: dict[int, Record] = {}

    def take(self, kind: str, event: Any, time: int) -> None:
        """Process an event, given as the name of its class, the event itself, and its time [ns]."""
        if self._has_ended:
            return
        if kind in {"Enter", "Leave"}:
            if event.region.name.startswith("MPI_"):
                self._border(kind, event.region.name, time)
        elif kind == "MeasurementOnOff":
            self._switched(name_of(event.measurement_mode) == "ON", time)
        elif self._call is not None:
            self._call.events.append((kind, event))
        elif kind.startswith(("Mpi", "NonBlockingCollective", *_REFUSED)):
            self._finish(_Call("", time, [(kind, event)]), time)

    def _border(self, kind: str, name: str, time: int) -> None:
        """Process the start or the end of an MPI call.

        A call inside another call counts as a part of the outer call.
        """
        if kind == "Enter":
            self._depth += 1
            if self._depth == 1:
                self._call = _Call(name, time)
            return
        self._depth = max(0, self._depth - 1)
        if self._depth == 0 and self._call is not None:
            self._finish(self._call, time)
            self._call = None

    def _switched(self, is_on: bool, time: int) -> None:
        """Process an event that switches the recording on or off. Inside a call, the event has no effect."""
        if not is_on:
            self._paused = time
        elif self._paused is not None and self._call is None:
            self.rank.records.append(Record(Kind.PAUSE, [time - self._paused, 0], time, time))
            self._paused = None

    def end(self) -> Rank:
        """Finish after the last event, and return the records of the rank."""
        if self._receives:
            self.rank.lost["receives without the event MpiIrecv, which has the sender"] += len(self._receives)
        place = {id(record): number for number, record in enumerate(self.rank.records)}
        for collectives in self.rank.collectives.values():
            # sorted by start, because non-blocking collectives are stored when they end
            collectives.sort(key=lambda each: place[id(each.record)])
        if self._started:
            self.rank.lost["non-blocking collectives without an end event"] += len(self._started)
        return self.rank

    def _finish(self, call: _Call, end: int) -> None:
        records = [Record(Kind.INIT, [])] if call.name in _INIT else self._records(call)
        self._has_ended = call.name == _FINALIZE
        for record in records:
            # the first record of a call begins with the call, its other records begin at the end of the call
            record.begin, record.end = (call.begin if record is records[0] else end), end
        self.rank.records += records
        if records:
            return
        words = call.name.removeprefix("MPI_").lower()
        if words.removeprefix("i").startswith(_COLLECTIVES) and call.name != _LOCAL:
            self.rank.lost[f"{call.name} without an event"] += 1
        self.rank.records.append(Record(Kind.POLL, [1, end - call.begin, 0], end, end))

    def _records(self, call: _Call) -> list[Record]:
        """The records that represent the events inside a call."""
        records: list[Record] = []
        ended: list[int] = []
        for kind, event in call.events:
            if kind.startswith(_REFUSED):
                self.rank.lost[f"events {kind}"] += 1
            elif kind == "MpiSend":
                records.append(Record(Kind.SEND, self._message(event, event.receiver)))
            elif kind == "MpiRecv":
                records.append(Record(Kind.RECV, _received(self._message(event, event.sender))))
            elif kind == "MpiProbe":
                records.append(Record(Kind.PROBE, []))
            elif kind == "MpiCollectiveEnd":
                record = Record(Kind.BARRIER, [])
                if self._collective(event, record, 0):
                    records.append(record)
            else:
                self._request(kind, event, records, ended)
        if ended:
            records.append(Record(Kind.COMPLETE, ended))
        if [record.kind for record in records] in ([Kind.SEND, Kind.RECV], [Kind.RECV, Kind.SEND]):
            send, receive = sorted(records, key=lambda record: record.kind)
            return [Record(Kind.SENDRECV, [*send.words, *receive.words[1:]])]
        return records

    def _request(self, kind: str, event: Any, records: list[Record], ended: list[int]) -> None:
        """Process an event of a non-blocking request: append its start to `records`, and its end to `ended`."""
        if kind == "MpiIsend":
            records.append(Record(Kind.ISEND, [*self._message(event, event.receiver), event.request_id]))
        elif kind == "MpiIrecvRequest":
            # source, tag and size are set later, by the event at the end of the request
            record = Record(Kind.IRECV, [0, ANY, ANY, 0, event.request_id])
            self._receives[event.request_id] = record
            records.append(record)
        elif kind == "MpiIrecv":
            message = self._message(event, event.sender)
            begun = self._receives.pop(event.request_id, None)
            if begun is None:
                self.rank.lost["events MpiIrecv of receives whose start is not in the archive"] += 1
                return
            begun.words[:4] = message
            ended += [event.request_id, *message[1:], 0]
        elif kind == "MpiIsendComplete":
            ended += [event.request_id, ANY, ANY, 0, 0]
        elif kind == "MpiRequestCancelled":
            self._receives.pop(event.request_id, None)
            records.append(Record(Kind.CANCEL, [event.request_id]))
            ended += [event.request_id, ANY, ANY, 0, 1]
        elif kind == "NonBlockingCollectiveRequest":
            record = Record(Kind.BARRIER, [])
            self._started[event.request_id] = record
            records.append(record)
        elif kind == "NonBlockingCollectiveComplete":
            record = self._started.pop(event.request_id, Record(Kind.BARRIER, []))
            if self._collective(event, record, event.request_id):
                ended += [event.request_id, ANY, ANY, 0, 0]
            else:
                record.kind, record.words = Kind.POLL, [0, 0, 0]

    def _message(self, event: Any, peer: int) -> list[int]:
        return [self._comm(event.communicator), peer, event.msg_tag, event.msg_length]

    def _comm(self, communicator: Any) -> int:
        number: int | None = self._number_of(communicator)
        if number is None:
            self.rank.lost["events of communicators between two groups"] += 1
            return 0
        return number

    def _collective(self, event: Any, record: Record, request: int) -> bool:
        """Store the record of a collective.

        Returns ``False`` for a collective that does not move data, like the creation of a communicator.
        """
        operation = name_of(event.collective_op)
        if "HANDLE" in operation or "ALLOCATE" in operation:
            return False
        number = self._comm(event.communicator)
        record.words = [number, request]
        found = Collective(operation, event.root, event.size_sent, event.size_received, record)
        self.rank.collectives.setdefault(number, []).append(found)
        return True


def _received(message: list[int]) -> list[int]:
    """Numbers of the record of a receive: the requested message, then the received message, which is equal."""
    return [*message, *message[1:]]
