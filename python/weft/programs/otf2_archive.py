"""Reads OTF2 archives that Score-P wrote, with the package ``otf2``, and converts them to recordings of Weft.

OTF2 records only wall-clock times, not the processor time of computations. OTF2 does not record the sizes of the blocks
of `MPI_Alltoallv`. Older versions of Score-P do not record non-blocking collectives. Weft refuses archives of programs
that call `MPI_Alltoallv`, and archives without records of non-blocking collectives that the program called.
"""

from __future__ import annotations

import os
import struct
import sys
import tarfile
import tempfile
from collections import Counter
from contextlib import contextmanager, redirect_stderr
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.errors import ProgramError
from weft.programs import otf2_events, traces
from weft.programs.otf2_events import Rank, Reader
from weft.programs.otf2_sizes import UnknownSizesError, complete
from weft.programs.traces import Trace

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "otf2"
_ANCHOR = ".otf2"
# Clock of the times in OTF2 archives, as the reader of Weft's recordings names it.
_CLOCK = "wall"
# Maximum number of characters that Weft prints of an error message of the Python package `otf2`.
_LONGEST = 200
_AGAIN = "record the program again with Score-P, from its start to its end"
_COPY = f"copy all files of the archive again; or {_AGAIN}"


def found(path: Path, clock: str | None) -> Trace | None:
    """Opens the OTF2 archive at a path.

    The path names the file of the archive with the ending ``.otf2``, or the folder of this file.

    Parameters
    ----------
    path : Path
        The file or folder of the archive.
    clock : str, optional
        Clock by which computations are timed; an archive has only the clock ``wall``.

    Returns
    -------
    Trace or None
        The trace, or ``None`` if the path is not an OTF2 archive.

    Raises
    ------
    ProgramError
        If the package ``otf2`` is missing, or if the archive is damaged or lacks data that a program needs.
    """
    if path.is_dir():
        anchors = sorted(path.glob(f"*{_ANCHOR}"))
        return _of_anchor(anchors, path, clock) if anchors else None
    return _of_anchor([path], path, clock) if path.suffix == _ANCHOR else None


def in_tar(path: Path, clock: str | None) -> Trace | None:
    """Unpacks and opens the OTF2 archive in a tar archive; result and errors are those of `found`."""
    if not traces.is_tar(path):
        return None
    with tempfile.TemporaryDirectory() as folder:
        try:
            with tarfile.open(path) as archive:
                if not any(name.endswith(_ANCHOR) for name in archive.getnames()):
                    return None
                archive.extractall(folder, filter="data")
        except traces.DAMAGED as problem:
            raise traces.unpacking_failed(path, problem) from problem
        return _of_anchor(sorted(Path(folder).rglob(f"*{_ANCHOR}")), path, clock)


@contextmanager
def _quiet() -> Iterator[None]:
    """Prevent the C library of the package ``otf2`` from printing a call trace in addition to its error."""
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _of_anchor(anchors: list[Path], path: Path, clock: str | None) -> Trace:
    if len(anchors) > 1:
        names = f"{anchors[0].name} and {anchors[1].name}"
        raise ProgramError.saying(f"{path} has two OTF2 archives, {names}", "name one of these files")
    if clock not in (None, _CLOCK):
        raise ProgramError.saying(f"OTF2 archives have no times of the {clock} clock", f"convert with --clock {_CLOCK}")
    try:
        package, errors = import_module(NAME), (import_module("otf2.error").Error, import_module("_otf2").Error)
    except ImportError as problem:
        what = f"{path} is an OTF2 archive, but the package otf2 is not installed"
        raise ProgramError.saying(what, "pip install 'weft-sim[otf2]'") from problem
    said = StringIO()
    try:
        # the package prints its errors on standard error
        with _quiet(), redirect_stderr(said), package.reader.open(str(anchors[0])) as archive:
            communicators, ranks = _read(archive, str(path))
    except (ValueError, LookupError, *errors) as problem:
        if isinstance(problem, ProgramError):
            raise
        reason = (said.getvalue().strip().splitlines() or [str(problem)])[-1]
        what = f"the package otf2 can't read the archive: {reason[:_LONGEST]}"
        raise ProgramError.saying(what, _COPY, str(path)) from problem
    _check(ranks, str(path))
    _complete(ranks, communicators, str(path))
    files = [f"rank-{rank:05}.wcap" for rank in range(len(ranks))]
    member_of = [{n: members for n, members in communicators.items() if rank in members} for rank in range(len(ranks))]

    def load(rank: int) -> bytes:
        try:
            return ranks[rank].file(rank, len(ranks), member_of[rank])
        except struct.error as problem:
            what = f"rank {rank} has a number that does not fit into 64 bits: {problem}"
            raise ProgramError.saying(what, _COPY, str(path)) from problem

    return Trace("capture", files, load, clock=_CLOCK)


def _read(archive: Any, file: str) -> tuple[dict[int, list[int]], list[Rank]]:
    """Reads the ranks of each communicator, and the records of each rank.

    The result lacks communicators of all ranks or of one rank, because these have the fixed numbers 0 and 1.
    """
    definitions = archive.definitions
    groups = [each for each in definitions.groups if otf2_events.name_of(each.paradigm) == "MPI"]
    locations = [each for each in groups if otf2_events.name_of(each.group_type) == "COMM_LOCATIONS"]
    if not locations:
        what = "the archive does not define which of its locations are ranks of MPI"
        raise ProgramError.saying(what, "record an MPI program with Score-P (scorep --mpp=mpi)", file)
    rank_of = {location: rank for rank, location in enumerate(locations[0].members)}
    numbers: dict[Any, int | None] = {}
    communicators: dict[int, list[int]] = {}
    everyone = list(range(len(rank_of)))
    for place, each in enumerate(definitions.comms):
        if otf2_events.name_of(each.group.paradigm) != "MPI":
            continue
        if otf2_events.name_of(each.group.group_type) == "COMM_SELF":
            numbers[each] = 1
            continue
        members = [rank_of[location] for location in each.group.members]
        if members == everyone and 0 not in numbers.values():
            numbers[each] = 0
            continue
        numbers[each] = place + 2
        communicators[place + 2] = members
    readers = [Reader(numbers.get) for _ in rank_of]
    offset, resolution = definitions.clock_properties.global_offset, archive.timer_resolution
    stray: Counter[str] = Counter()
    events: Counter[Any] = Counter()
    for location, event in archive.events:
        events[location] += 1
        kind, rank = type(event).__name__, rank_of.get(location)
        if rank is not None:
            readers[rank].take(kind, event, (event.time - offset) * 1_000_000_000 // resolution)
        elif kind.startswith(("Mpi", "NonBlockingCollective")):
            stray[f"events {kind} of threads that are not ranks"] += 1
    _check_events(rank_of, events, file)
    ranks = [reader.end() for reader in readers]
    if stray:
        ranks[0].lost += stray
    return communicators, ranks


def _check_events(rank_of: dict[Any, int], events: Counter[Any], file: str) -> None:
    """Refuse an archive with fewer events than its definitions state.

    The package ``otf2`` possibly reads a truncated file as an empty one, without an error.
    """
    for location, rank in rank_of.items():
        if events[location] < location.number_of_events:
            what = f"the archive has {events[location]} of the {location.number_of_events} events of rank {rank}"
            raise ProgramError.saying(what, _COPY, file)


def _check(ranks: list[Rank], file: str) -> None:
    """Refuse an archive in which records of some calls are missing. The error lists the calls without records."""
    lost = sum((rank.lost for rank in ranks), Counter[str]())
    if lost:
        listed = ", ".join(f"{count} {what}" for what, count in sorted(lost.items()))
        again = "record the program with the library of `capture`, or with a newer Score-P, from its start to its end"
        remedy = f"copy all files of the archive again; or {again}"
        raise ProgramError.saying(f"the archive lacks data that a program needs: {listed}", remedy, file)


def _complete(ranks: list[Rank], communicators: dict[int, list[int]], file: str) -> None:
    """Compute the block sizes of collectives from the byte sums of all ranks of a collective, and set them."""
    for number in sorted({number for rank in ranks for number in rank.collectives}):
        if number == 1:
            together = [[rank] for rank in range(len(ranks))]
        else:
            together = [communicators.get(number, list(range(len(ranks))))]
        for members in together:
            calls = [ranks[rank].collectives.get(number, []) for rank in members]
            fewest, most = min(map(len, calls)), max(map(len, calls))
            if fewest != most:
                what = f"ranks of one communicator have different numbers of collectives, from {fewest} to {most}"
                raise ProgramError.saying(what, _COPY, file)
            for each in zip(*calls, strict=True):
                try:
                    complete(each)
                except UnknownSizesError as problem:
                    raise ProgramError.saying(str(problem), problem.help, file) from problem
