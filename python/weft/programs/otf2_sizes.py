"""Computes the block sizes of collectives from the sums of bytes that OTF2 records for each rank.

Score-P writes two sums for each rank of a collective: the bytes that it sends and the bytes that it receives. In these
sums, the blocks that a rank sends to itself also count. For example, in an all-reduce of b bytes on n ranks, each rank
has sent n * b bytes and received n * b bytes. In a broadcast of b bytes, the root has sent n * b bytes, and each rank,
including the root, has received b bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.programs.otf2_events import Collective, Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

_HELP = "record the program with the library of `capture`, or with sst-dumpi: they record the sizes of all blocks"
# Collectives with equal blocks: the kind of record, the sum from which the size is computed, and whether this sum
# counts a block for each rank.
_EQUAL = {
    "BARRIER": (Kind.BARRIER, "received", False),
    "BCAST": (Kind.BCAST, "received", False),
    "REDUCE": (Kind.REDUCE, "sent", False),
    "GATHER": (Kind.GATHER, "sent", False),
    "SCATTER": (Kind.SCATTER, "received", False),
    "ALLREDUCE": (Kind.ALLREDUCE, "received", True),
    "ALLGATHER": (Kind.ALLGATHER, "received", True),
    "ALLTOALL": (Kind.ALLTOALL, "received", True),
}
_ROOTED = (Kind.BCAST, Kind.REDUCE, Kind.GATHER, Kind.SCATTER)
_WITH_ROOT = ("BCAST", "REDUCE", "GATHER", "SCATTER", "GATHERV", "SCATTERV")
_SCANS = ("SCAN", "EXSCAN")


class UnknownSizesError(ValueError):
    """Raised if the block sizes of a collective cannot be computed from the sums of its ranks."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.help = _HELP


def complete(calls: Sequence[Collective]) -> None:
    """Set the block sizes in the records of a collective.

    Parameters
    ----------
    calls : sequence of Collective
        The collective at each rank of its communicator, in the order of the ranks in the communicator.

    Raises
    ------
    UnknownSizesError
        If the sums do not determine the sizes, or if the ranks call different collectives.
    """
    first = calls[0]
    others = sorted({call.operation for call in calls})
    if len(others) > 1:
        raise UnknownSizesError(f"ranks call different collectives at the same place: {' and '.join(others)}")
    sent, received = [call.sent for call in calls], [call.received for call in calls]
    if first.operation in _WITH_ROOT and not 0 <= first.root < len(calls):
        raise UnknownSizesError(f"{first.operation} of {len(calls)} ranks has the root {first.root}")
    if first.operation in _EQUAL:
        _equal(calls, sent, received)
    elif first.operation in _SCANS:
        size = _scanned(first.operation, received)
        for call in calls:
            call.record.kind = Kind.SCAN
            call.record.words.append(size)
    else:
        kind, sizes = _different(first, sent, received)
        for rank, call in enumerate(calls):
            is_known = kind in (Kind.ALLGATHERV, Kind.REDUCE_SCATTER) or rank == call.root
            call.record.kind = kind
            root = call.root if kind in (Kind.GATHERV, Kind.SCATTERV) else 0
            call.record.words += [root, *(sizes if is_known else [])]


def _equal(calls: Sequence[Collective], sent: list[int], received: list[int]) -> None:
    operation = calls[0].operation
    kind, which, is_of_all = _EQUAL[operation]
    # the maximum over the ranks, because a rank that uses MPI_IN_PLACE does not count its own bytes
    total = max(sent if which == "sent" else received)
    size, rest = divmod(total, len(calls) if is_of_all else 1)
    if rest:
        raise UnknownSizesError(f"{operation} of {len(calls)} ranks has {total} bytes, which are not equal blocks")
    for call in calls:
        call.record.kind = kind
        if kind in _ROOTED:
            call.record.words += [call.root, size]
        elif kind is not Kind.BARRIER:
            call.record.words.append(size)


def _scanned(operation: str, received: list[int]) -> int:
    """Size of the blocks of a prefix sum (scan) [bytes].

    Each rank receives one block, or one block for each rank before it, possibly also one for itself.
    """
    last = len(received) - 1
    candidates = [received[last]]
    candidates += [received[last] // (last + own) for own in (0, 1) if last + own]
    for size in candidates:
        for shares in ([1] * len(received), [rank + 1 for rank in range(len(received))], list(range(len(received)))):
            if received == [size * share for share in shares]:
                return size
    raise UnknownSizesError(f"no sizes of blocks match the sums of bytes of {operation}")


def _different(first: Collective, sent: list[int], received: list[int]) -> tuple[Kind, list[int]]:
    """The kind of record of a collective whose blocks have different sizes, and the sizes."""
    operation, root, ranks = first.operation, first.root, len(sent)
    if operation in {"GATHERV", "SCATTERV"}:
        kind, parts, all_of_root = Kind.GATHERV, sent, received
        if operation == "SCATTERV":
            kind, parts, all_of_root = Kind.SCATTERV, received, sent
        if parts[root] == 0:
            parts[root] = max(0, all_of_root[root] - sum(parts))
        if sum(parts) == all_of_root[root]:
            return kind, parts
    elif operation in {"ALLGATHERV", "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK"}:
        kind, parts, total = Kind.ALLGATHERV, sent, max(received)
        if operation != "ALLGATHERV":
            kind, parts, total = Kind.REDUCE_SCATTER, received, max(sent)
        # the byte sum of a rank is the size of its block, or this size times the number of ranks
        if sum(parts) == total:
            return kind, parts
        if sum(parts) == ranks * total and all(part % ranks == 0 for part in parts):
            return kind, [part // ranks for part in parts]
    raise UnknownSizesError(f"the sizes of the blocks of {operation} are not in the archive")
