"""Tests `weft trace` with traces that other tools recorded: totals, assumptions and refusals."""

from __future__ import annotations

import gzip
import json
import lzma
import shutil
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from weft.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = Path(__file__).parent / "data" / "traces"
RING = DATA / "sst_dumpi_selftest"


def _json(capsys: pytest.CaptureFixture[str], *words: str | Path) -> Any:
    assert main(["trace", *map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def _refused(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    assert main(["trace", *map(str, words)]) == 2
    return capsys.readouterr().err


# For each trace: number of ranks, of messages and of their bytes, and calls of collectives. In the second trace, each
# of 7 ranks sends 14 times to each of the 6 other ranks; the bytes are a sum over the records of the trace. In the
# third trace, each of 4 ranks sends 4 bytes 4 times to each of the 3 other ranks. In the fourth trace, each of 8
# transforms of a mesh of 128^3 complex numbers has 2 all-to-alls at each of 64 ranks. In the last trace, an all-reduce
# of 1 MiB on a ring of 8 ranks sends a block of 1/8 in each of 2 * 7 steps.
#
# The fifth trace records tests/data/capture/calls.c with 4 ranks and ints of 4 bytes. The program has exchanges of 2
# and 3 ints, sends of 1, 2 and 3 ints, 16 + 16 + 4 sends of one int, and 3 * 4 persistent sends of 5 ints. A prefix sum
# of one int is 3 messages on 4 ranks, and 1 message on each half of the ranks. The communicator `copy` and the two
# halves have 4 + 4 calls of each collective. The program calls barriers and all-reduces twice, and also each collective
# that exists with and without different sizes. `half` adds 3 barriers. Communicators of rows and of single ranks add 4
# + 4 broadcasts.
TOTALS: list[tuple[str, tuple[int, int, int], dict[str, int]]] = [
    ("sst_dumpi_selftest", (4, 4, 4 * 4), {"barrier": 4, "all_reduce": 4}),
    ("sstmacro_testbgp.tar.xz", (7, 7 * 6 * 14, 418_656), {"all_to_all": 49, "barrier": 21}),
    ("naive_all_to_all_np4.tar.xz", (4, 4 * 3 * 4, 4 * 3 * 4 * 4), {"barrier": 16}),
    ("pencil_fft_np64.dumpi.tar.xz", (64, 0, 0), {"all_to_all": 64 * 8 * 2}),
    (
        "weft_capture_calls.tar.xz",
        (4, 4 + 4 + 3 + 36 + 12 + 3 + 2, 4 * (8 + 12 + 6 + 36 + 60 + 5)),
        {
            **dict.fromkeys(["all_gather", "all_reduce", "all_to_all", "gather", "reduce_scatter", "scatter"], 2 * 8),
            "barrier": 2 * 8 + 3,
            "broadcast": 8 + 4 + 4,
            "reduce": 8,
        },
    ),
    ("custom_ring_allreduce_8npus_1MB.tar.xz", (8, 8 * 14, 8 * 14 * 2**17), {}),
]
# Traces that contain durations of computations instead of clock times.
WITHOUT_CLOCKS = {"custom_ring_allreduce_8npus_1MB.tar.xz"}


@pytest.mark.parametrize(("name", "totals", "collectives"), TOTALS)
def test_a_recording_has_its_ranks_messages_and_collectives(
    name: str, totals: tuple[int, int, int], collectives: dict[str, int], capsys: pytest.CaptureFixture[str]
) -> None:
    facts = _json(capsys, "info", DATA / name)
    assert (facts["ranks"], facts["messages"], facts["bytes"]) == totals
    assert facts["kinds"].get("receive", 0) == facts["messages"]
    assert facts["collectives"] == collectives
    assert facts["unmatched"] == []
    assert facts["wildcards"] == 0
    has_clock = "processor_clock" in {note["code"] for note in facts["assumptions"]}
    assert has_clock == (name not in WITHOUT_CLOCKS)


def test_an_all_to_all_in_rows_and_columns_has_the_bytes_of_the_mesh(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "matrix.svg"
    assert main(["trace", "info", str(DATA / "pencil_fft_np64.dumpi.tar.xz"), "--matrix", str(picture)]) == 0
    capsys.readouterr()
    rows = [line.split(",") for line in Path(f"{picture}.csv").read_text().splitlines()[1:]]
    # 16 all-to-alls send the whole mesh with 16 bytes per number, except 1 of the 8 blocks of each rank, which the rank
    # keeps
    assert sum(int(row[2]) for row in rows) == 16 * 128**3 * 16 * 7 // 8
    pairs = {(int(row[0]), int(row[1])) for row in rows}
    assert len(pairs) == 64 * (7 + 7)
    assert all(a // 8 == b // 8 or a % 8 == b % 8 for a, b in pairs)


def test_a_trace_converts_to_a_program_that_finishes_and_says_what_it_assumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "ring.goal"
    assert main(["trace", "convert", str(RING / "testtrace.meta"), "--out", str(out)]) == 0
    printed = capsys.readouterr()
    assert printed.out == f"wrote {out}\n"
    assert printed.err.startswith("assumed: 32 computations are processor times between two calls")
    converted = _json(capsys, "loggops", out)
    assert converted["finish_ns"] == _json(capsys, "loggops", RING)["finish_ns"] > 0
    # if the command gets the file of one rank, it reads the whole trace
    assert _json(capsys, "info", RING / "testtrace-0002.bin")["ranks"] == 4


def test_the_clock_can_be_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    times = {clock: _json(capsys, "info", RING, "--clock", clock)["compute_ns"] for clock in ("processor", "wall")}
    assert times["processor"] == _json(capsys, "info", RING)["compute_ns"] != times["wall"]
    goal = DATA.parent / "programs" / "binary_tree_32.goal"
    assert "write processor or wall" in _refused(capsys, "info", RING, "--clock", "sun")
    assert "is not a trace, and has no clocks" in _refused(capsys, "info", goal, "--clock", "wall")


def test_a_trace_of_text_is_read_beside_the_file_of_a_rank(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for rank in range(2):
        lines = [
            "# collprof 0.9 output file",
            "MPI_Init:-:140:141:1000.000000",
            f"MPI_Allreduce:1002.5:9:9:4:11,8,8:3:0,{rank},2:1003.0",
            "MPI_Finalize:1003.0:-",
        ]
        (tmp_path / f"pmpi-trace-rank-{rank}.txt").write_text("\n".join(lines) + "\n")
    facts = _json(capsys, "info", tmp_path / "pmpi-trace-rank-0.txt")
    assert (facts["ranks"], facts["collectives"], facts["compute_ns"]) == (2, {"all_reduce": 2}, 2 * 2500)
    message = _refused(capsys, "info", tmp_path, "--clock", "processor")
    assert "convert with --clock wall" in message
    assert _json(capsys, "info", tmp_path, "--clock", "wall") == facts, "the remedy helps"


def test_vef_is_written_as_it_was_read_or_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "VEF 2 2 1 1 2 FALSE\nC0 0 1\n0 0 1 8 0 20 -1\n1 1 0 16 2 5 0\nG0 0 6 0 0 0 2 0 1\nG0 0 6 1 0 0 1 0 1\n"
    (source := tmp_path / "ping.vef").write_text(text)
    assert main(["trace", "convert", str(source), "--out", str(tmp_path / "again.vef")]) == 0
    assert (tmp_path / "again.vef").read_text() == text
    assert main(["trace", "convert", str(source), "--out", str(tmp_path / "ping.goal")]) == 0
    capsys.readouterr()
    facts = _json(capsys, "info", source)
    assert (facts["messages"], facts["bytes"], facts["collectives"]) == (2, 8 + 16, {"barrier": 2})
    assert (
        _json(capsys, "loggops", source)["finish_ns"] == _json(capsys, "loggops", tmp_path / "ping.goal")["finish_ns"]
    )
    message = _refused(capsys, "convert", RING, "--out", tmp_path / "ring.vef")
    assert "write .goal" in message
    assert not (tmp_path / "ring.vef").exists()


def test_a_trace_without_all_its_files_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "ring"
    shutil.copytree(RING, folder)
    (folder / "testtrace-0003.bin").unlink()
    message = _refused(capsys, "info", folder)
    assert "the trace has 4 ranks, but the file of rank 3 is missing" in message
    assert "copy the files of all" in message
    shutil.copy(RING / "testtrace-0003.bin", folder)
    assert _json(capsys, "info", folder)["ranks"] == 4, "the remedy helps"
    (folder / "testtrace-0001.bin").write_bytes((RING / "testtrace-0001.bin").read_bytes()[:1000])
    assert "testtrace-0001.bin, byte 1000: the file has no index at its end" in _refused(capsys, "info", folder)
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "has no files of a trace (capture, dumpi" in _refused(capsys, "info", empty)
    archive = tmp_path / "ring.tar"
    with tarfile.open(archive, "w") as tar:
        tar.add(RING, "ring")
    archive.write_bytes(archive.read_bytes()[:5000])
    assert "can't be unpacked" in _refused(capsys, "info", archive)


@pytest.mark.parametrize(("ending", "pack"), [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_the_files_of_ranks_may_be_packed(
    ending: str, pack: Callable[[bytes], bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "ring"
    shutil.copytree(RING, folder)
    for file in folder.glob("*.bin"):
        (folder / f"{file.name}{ending}").write_bytes(pack(file.read_bytes()))
        file.unlink()
    with tarfile.open(tmp_path / "ring.tar", "w") as tar:
        tar.add(folder, "ring")
    wanted = _json(capsys, "info", RING)
    for name in (folder, folder / f"testtrace-0001.bin{ending}", folder / "testtrace.meta", tmp_path / "ring.tar"):
        assert _json(capsys, "info", name) == wanted, name
    cut = folder / f"testtrace-0002.bin{ending}"
    cut.write_bytes(cut.read_bytes()[:100])
    assert f"{cut.name} can't be unpacked" in _refused(capsys, "info", folder)


def test_a_damaged_packed_archive_is_one_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    archive = tmp_path / "ring.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(RING, "ring")
    content = archive.read_bytes()
    for length in (20, 60, len(content) // 2):
        archive.write_bytes(content[:length])
        assert "can't be unpacked" in _refused(capsys, "info", archive), length
    for place in range(20, len(content), len(content) // 30):
        archive.write_bytes(content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :])
        # the reader does not use all parts of an archive, so some damage has no effect (status 0)
        assert main(["trace", "info", str(archive)]) in (0, 2), place
