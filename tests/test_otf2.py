"""Tests the reader of OTF2 traces (recordings of MPI programs) with archives that the package ``otf2`` writes."""

from __future__ import annotations

import json
import re
import shutil
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from weft.cli import main
from weft.programs.otf2_events import Collective, Kind, Record
from weft.programs.otf2_sizes import UnknownSizesError, complete

RANKS = 4
# Ticks per second: a tick is 2 ns.
RESOLUTION = 500_000_000
RECORD_H = Path(__file__).parent.parent / "capture" / "record.h"


class Written:
    """An OTF2 archive of 4 ranks that a test writes call by call.

    A call takes 100 ticks, and begins 50 ticks after the end of the previous call of the rank.
    """

    def __init__(self, folder: Path) -> None:
        otf2: Any = pytest.importorskip("otf2", reason="needs the package otf2")
        self.archive = otf2.writer.open(str(folder), timer_resolution=RESOLUTION).thing
        self.names = otf2
        made = self.archive.definitions
        tree = made.system_tree_node("node")
        self.locations = []
        for rank in range(RANKS):
            group = made.location_group(f"MPI Rank {rank}", system_tree_parent=tree)
            self.locations.append(made.location("Master thread", group=group))
        kinds, mpi = otf2.GroupType, otf2.Paradigm.MPI
        made.group("", kinds.COMM_LOCATIONS, mpi, members=self.locations)
        everyone = made.group("", kinds.COMM_GROUP, mpi, members=self.locations)
        odd = made.group("", kinds.COMM_GROUP, mpi, members=[self.locations[3], self.locations[1]])
        self.world = made.comm("MPI_COMM_WORLD", group=everyone)
        # the members are ranks 3 and 1, in this order
        self.odd = made.comm("odd", group=odd, parent=self.world)
        self.writers = [self.archive.event_writer_from_location(location) for location in self.locations]
        self.now = [1000] * RANKS

    def call(self, rank: int, name: str, *events: tuple[str, list[Any]]) -> None:
        """Write a call of a rank, with its events."""
        writer, start = self.writers[rank], self.now[rank]
        region = self.archive.definitions.region(name, paradigm=self.names.Paradigm.MPI)
        writer.enter(start, region)
        for place, (event, values) in enumerate(events):
            getattr(writer, event)(start + 10 + place, *values)
        writer.leave(start + 100, region)
        self.now[rank] = start + 150

    def off(self, rank: int, ticks: int) -> None:
        """Write that the tracer of a rank is switched off for some ticks."""
        modes = self.names.MeasurementMode
        self.writers[rank].measurement_on_off(self.now[rank], modes.OFF)
        self.now[rank] += ticks
        self.writers[rank].measurement_on_off(self.now[rank], modes.ON)

    def collective(self, rank: int, name: str, comm: Any, root: int, sums: tuple[int, int]) -> None:
        """Write a blocking collective.

        `name` is its name in OTF2, `sums` are the bytes that the rank sends and receives.
        """
        operation = getattr(self.names.CollectiveOp, name)
        end = ("mpi_collective_end", [operation, comm, root, *sums])
        self.call(rank, f"MPI_{name.capitalize()}", ("mpi_collective_begin", []), end)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write an archive of a ring with all kinds of messages, and with collectives of all ranks and of the odd ranks."""
    folder = tmp_path_factory.mktemp("otf2") / "ring"
    written = Written(folder)
    world, none = written.world, 0xFFFFFFFF
    operations = written.names.CollectiveOp
    for rank in range(RANKS):
        after, before = (rank + 1) % RANKS, (rank + RANKS - 1) % RANKS
        written.call(rank, "MPI_Init")
        written.call(rank, "MPI_Comm_rank")
        send = ("mpi_send", [after, world, 7, 64])
        written.call(rank, "MPI_Sendrecv", send, ("mpi_recv", [before, world, 7, 64]))
        written.call(rank, "MPI_Irecv", ("mpi_irecv_request", [1]))
        written.call(rank, "MPI_Isend", ("mpi_isend", [after, world, 8, 1000, 2]))
        ends = ("mpi_isend_complete", [2]), ("mpi_irecv", [before, world, 8, 1000, 1])
        written.call(rank, "MPI_Waitall", *ends)
        written.collective(rank, "BCAST", world, 2, (32 * RANKS * (rank == 2), 32))
        written.collective(rank, "ALLREDUCE", world, none, (8 * RANKS, 8 * RANKS))
        # ranks 0 to 3 send 1, 2, 3 and 4 blocks of 10 bytes to rank 0
        written.collective(rank, "GATHERV", world, 0, (10 * (rank + 1), 100 * (rank == 0)))
        if rank % 2 == 1:
            written.collective(rank, "ALLTOALL", written.odd, none, (40, 40))
            to = ("mpi_send" if rank == 3 else "mpi_recv", [1 if rank == 3 else 0, written.odd, 9, 5])
            written.call(rank, "MPI_Send" if rank == 3 else "MPI_Recv", to)
        written.call(rank, "MPI_Ibarrier", ("non_blocking_collective_request", [3]))
        done = ("non_blocking_collective_complete", [operations.BARRIER, world, none, 0, 0, 3])
        written.call(rank, "MPI_Wait", done)
        written.off(rank, 500)
        written.call(rank, "MPI_Finalize")
    written.archive.close()
    return folder


def _answer(capsys: pytest.CaptureFixture[str], *words: str | Path) -> Any:
    assert main(["trace", *map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def _refused(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    assert main(["trace", "info", *map(str, words)]) == 2
    return capsys.readouterr().err


def test_an_archive_becomes_a_program(archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts = _answer(capsys, "info", archive)
    # each rank sends a message of 64 bytes and a message of 1000 bytes, and rank 3 sends a message of 5 bytes to rank 1
    assert (facts["ranks"], facts["messages"], facts["bytes"]) == (4, 2 * 4 + 1, 4 * (64 + 1000) + 5)
    assert facts["collectives"] == {"all_reduce": 4, "all_to_all": 2, "barrier": 4, "broadcast": 4, "gather": 4}
    assert (facts["unmatched"], facts["wildcards"]) == ([], 0)
    # Between two calls are 50 ticks of 2 ns. Weft ignores the call of MPI_Comm_rank, so the computations before and
    # after it become one. 9 further calls follow at each rank, and 2 more at each odd rank.
    gaps = 4 * (2 + 9) + 2 * 2
    assert facts["compute_ns"] == gaps * 50 * 2
    assert [note["code"] for note in facts["assumptions"]] == ["not_recorded", "wall_clock"]
    out = tmp_path / "ring.goal"
    assert main(["trace", "convert", str(archive / "traces.otf2"), "--out", str(out)]) == 0
    capsys.readouterr()
    assert _answer(capsys, "loggops", out)["finish_ns"] == _answer(capsys, "loggops", archive)["finish_ns"]


def test_an_archive_in_a_tar_file_is_the_same_program(
    archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    packed = tmp_path / "ring.tar.xz"
    with tarfile.open(packed, "w:xz") as file:
        file.add(archive, arcname="ring")
    assert _answer(capsys, "info", packed) == _answer(capsys, "info", archive)
    assert "OTF2 archives have no times of the processor clock" in _refused(capsys, packed, "--clock", "processor")
    assert _answer(capsys, "info", packed, "--clock", "wall")["ranks"] == RANKS, "the remedy helps"


def test_without_the_package_the_command_that_installs_it_is_named(
    archive: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "otf2", None)
    message = _refused(capsys, archive)
    assert "the package otf2 is not installed" in message
    assert "= help: pip install 'weft-sim[otf2]'" in message


def test_a_damaged_archive_is_refused(archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    anchor = tmp_path / "traces.otf2"
    anchor.write_bytes((archive / "traces.otf2").read_bytes()[:40])
    assert "the package otf2 can't read the archive" in _refused(capsys, anchor)
    anchor.write_bytes((archive / "traces.otf2").read_bytes())
    assert "the package otf2 can't read the archive" in _refused(capsys, tmp_path), "its other files are missing"


def test_a_damaged_archive_is_one_error(archive: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """For a damaged archive, the C library of `otf2` prints a trace of its calls. Weft prints only its own error."""
    folder = tmp_path / "archive"
    shutil.copytree(archive, folder)
    file = next(folder.glob("**/1.evt"))
    whole = file.read_bytes()
    # for an empty file, the library returns an error or no events, by chance (it reads uninitialised memory)
    for length in (0, 1, len(whole) // 2):
        file.write_bytes(whole[:length])
        message = _refused(capfd, folder)
        assert message.startswith("error:")
        assert "[OTF2]" not in message
        assert "copy all files of the archive again" in message


def test_an_archive_with_too_few_events_is_refused(
    archive: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The library can read a cut-off file without an error, so Weft must detect that events are missing."""
    location: Any = pytest.importorskip("otf2.definitions").Location
    has = location.number_of_events.fget
    monkeypatch.setattr(location, "number_of_events", property(lambda each: has(each) + 1))
    message = _refused(capsys, archive)
    assert re.search(r"the archive has \d+ of the \d+ events of rank 0", message)
    assert "copy all files of the archive again" in message


def test_calls_without_their_events_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = Written(tmp_path / "lost")
    for rank in range(RANKS):
        written.call(rank, "MPI_Irecv", ("mpi_irecv_request", [1]))
        written.call(rank, "MPI_Iallreduce")
        written.call(rank, "MPI_Reduce_local")
    written.archive.close()
    message = _refused(capsys, tmp_path / "lost")
    lost = "4 MPI_Iallreduce without an event, 4 receives without the event MpiIrecv, which has the sender"
    assert f"the archive lacks data that a program needs: {lost}" in message
    written = Written(tmp_path / "sizes")
    for rank in range(RANKS):
        written.collective(rank, "ALLTOALLV", written.world, 0, (100, 100))
    written.archive.close()
    assert "the sizes of the blocks of ALLTOALLV are not in the archive" in _refused(capsys, tmp_path / "sizes")


def _completed(operation: str, sums: list[tuple[int, int]], root: int = 0) -> list[list[int]]:
    calls = [Collective(operation, root, sent, received, Record(Kind.BARRIER, [])) for sent, received in sums]
    complete(calls)
    assert len({call.record.kind for call in calls}) == 1
    return [call.record.words for call in calls]


def test_sizes_of_blocks_follow_from_the_sums_of_the_ranks() -> None:
    # for each of 3 ranks, the bytes that it sends and receives, as Score-P writes them; with MPI_IN_PLACE the root
    # records no sum
    assert _completed("BCAST", [(24, 8), (0, 8), (0, 8)]) == [[0, 8]] * 3
    assert _completed("REDUCE", [(0, 24), (8, 0), (8, 0)]) == [[0, 8]] * 3
    assert _completed("ALLTOALL", [(24, 24)] * 3) == [[8]] * 3
    assert _completed("GATHERV", [(0, 6), (2, 0), (3, 0)]) == [[0, 1, 2, 3], [0], [0]]
    assert _completed("SCATTERV", [(0, 1), (6, 2), (0, 3)], root=1) == [[1], [1, 1, 2, 3], [1]]
    for own in (1, 3):
        assert _completed("ALLGATHERV", [(own, 6), (2 * own, 6), (3 * own, 6)]) == [[0, 1, 2, 3]] * 3
        assert _completed("REDUCE_SCATTER", [(6, own), (6, 2 * own), (6, 3 * own)]) == [[0, 1, 2, 3]] * 3
    for shares in ([1, 1, 1], [1, 2, 3]):
        assert _completed("SCAN", [(0, 8 * share) for share in shares]) == [[8]] * 3
    assert _completed("EXSCAN", [(16, 0), (8, 8), (0, 16)]) == [[8]] * 3
    wrong = [
        ("ALLREDUCE", [(25, 25)] * 3),
        ("ALLGATHERV", [(1, 7), (2, 7), (3, 7)]),
        ("SCAN", [(0, 3), (0, 8), (0, 9)]),
    ]
    for operation, sums in wrong:
        with pytest.raises(UnknownSizesError):
            _completed(operation, sums)
    for root in (-1, 3, 0xFFFFFFFF):
        with pytest.raises(UnknownSizesError, match=f"BCAST of 3 ranks has the root {root}"):
            _completed("BCAST", [(24, 8), (0, 8), (0, 8)], root=root)
    with pytest.raises(UnknownSizesError, match="ranks call different collectives at the same place: BCAST and REDUCE"):
        complete([Collective(name, 0, 8, 8, Record(Kind.BARRIER, [])) for name in ("BCAST", "REDUCE")])


def test_records_have_the_numbers_of_the_library() -> None:
    of_library = {name: int(number) for name, number in re.findall(r"RECORD_(\w+) = (\d+)", RECORD_H.read_text())}
    assert {kind.name: kind.value for kind in Kind} == {kind.name: of_library[kind.name] for kind in Kind}
