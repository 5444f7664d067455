"""Records programs under MPI with Weft's capture library, and reads the recordings (``make test-capture``).

The tests need ``mpicc`` and ``mpirun`` of Open MPI. If ``lmp`` is installed, LAMMPS is also recorded. Open MPI's
monitoring counts its messages, for comparison with the recording.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from weft.cli import main

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = pytest.mark.skipif(
    shutil.which("mpicc") is None or shutil.which("mpirun") is None, reason="needs mpicc and mpirun"
)
NEEDS_FORTRAN = pytest.mark.skipif(
    shutil.which("mpif90") is None or shutil.which("gfortran") is None, reason="needs mpif90 and gfortran"
)
ROOT = Path(__file__).parent.parent.parent
DATA = ROOT / "tests" / "data"
RECORDED = DATA / "traces" / "weft_capture_calls.tar.xz"
RANKS = 4
MELT = """
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 8 0 8 0 8
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
run 20
"""
# Bodies of C programs with an MPI call that the library refuses.
MATCHED = """
    MPI_Message m;
    MPI_Request r;
    MPI_Isend(0, 0, MPI_INT, rank, 1, MPI_COMM_WORLD, &r);
    MPI_Mprobe(rank, 1, MPI_COMM_WORLD, &m, &s);
    MPI_Mrecv(0, 0, MPI_INT, &m, &s);
    MPI_Wait(&r, &s);
"""
WITHOUT: list[tuple[str, str]] = [
    (
        "int x; MPI_Win w; MPI_Win_create(&x, 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w); MPI_Win_free(&w);",
        "MPI_Win_create",
    ),
    ("int f; MPI_Request r = MPI_REQUEST_NULL; MPI_Request_get_status(r, &f, &s);", "MPI_Request_get_status"),
    (MATCHED, "MPI_Mprobe"),
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the capture library from a copy of its sources, and return its path."""
    folder = tmp_path_factory.mktemp("capture") / "capture"
    shutil.copytree(ROOT / "capture", folder, ignore=shutil.ignore_patterns("*.so"))
    built = subprocess.run(["make", "-C", folder], capture_output=True, text=True, check=True)
    assert "warning" not in built.stderr
    return folder / "libweft_capture.so"


def _compiled(source: Path) -> Path:
    program = source.with_suffix("")
    subprocess.run(["mpicc", "-Wall", "-Werror", "-O1", "-o", program, source], check=True)
    return program


def _recorded(
    library: Path, folder: Path, *words: str | Path, ranks: int = RANKS, more: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    options = ["--oversubscribe", "--mca", "mpi_yield_when_idle", "1", *more]
    if os.geteuid() == 0:
        options.append("--allow-run-as-root")
    loaded = ["-x", f"LD_PRELOAD={library}", "-x", f"WEFT_CAPTURE={folder}", "-x", "OMP_NUM_THREADS=1"]
    command = ["mpirun", *options, "-n", str(ranks), *loaded, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, cwd=folder.parent)


def _info(capsys: pytest.CaptureFixture[str], folder: Path) -> Any:
    assert main(["trace", "info", str(folder), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def _refused(capsys: pytest.CaptureFixture[str], folder: Path) -> str:
    assert main(["trace", "info", str(folder)]) == 2
    return capsys.readouterr().err


def _check_as_recorded(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    facts, wanted = _info(capsys, folder), _info(capsys, RECORDED)
    for same in ("ranks", "messages", "bytes", "collectives", "sizes", "pairs", "unmatched", "wildcards"):
        assert facts[same] == wanted[same], same


def test_every_call_is_recorded_as_in_the_recording_of_the_tests(
    library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = shutil.copy(DATA / "capture" / "calls.c", tmp_path / "calls.c")
    program = _compiled(Path(source))
    folder = tmp_path / "recording"
    ran = _recorded(library, folder, program)
    assert ran.returncode == 0, ran.stderr
    _check_as_recorded(capsys, folder)
    assert main(["trace", "loggops", str(folder)]) == 0
    capsys.readouterr()


def test_files_of_two_runs_in_one_folder_are_reported_apart(
    library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "empty.c"
    source.write_text("#include <mpi.h>\nint main(int c, char **v) { MPI_Init(&c, &v); return MPI_Finalize(); }\n")
    program = _compiled(source)
    folder = tmp_path / "recording"
    assert _recorded(library, folder, program, ranks=3).returncode == 0
    assert _info(capsys, folder)["ranks"] == 3
    assert _recorded(library, folder, program, ranks=2).returncode == 0
    assert "the trace has 2 ranks, but there are files of 3 ranks" in _refused(capsys, folder)


@pytest.mark.parametrize(("body", "call"), WITHOUT, ids=[call for _, call in WITHOUT])
def test_a_call_that_is_not_recorded_is_named(
    body: str, call: str, library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "program.c"
    start = "int rank; MPI_Status s; MPI_Init(&c, &v); MPI_Comm_rank(MPI_COMM_WORLD, &rank); (void)rank; (void)s;"
    source.write_text(f"#include <mpi.h>\nint main(int c, char **v) {{ {start} {body} return MPI_Finalize(); }}\n")
    ran = _recorded(library, tmp_path / "recording", _compiled(source), ranks=2)
    assert ran.returncode == 0, ran.stderr
    message = _refused(capsys, tmp_path / "recording")
    assert f"the program made calls that the recording does not contain: 1 {call}" in message


@NEEDS_FORTRAN
@pytest.mark.parametrize("defines", [(), ("-DF08",)], ids=["mpi", "mpi_f08"])
def test_a_program_in_fortran_is_recorded_as_in_c(
    defines: tuple[str, ...], library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "calls"
    source = DATA / "capture" / "calls.F90"
    flags = ["-ffree-line-length-none", "-O1", *defines]
    subprocess.run(["mpif90", *flags, "-o", program, source], check=True, cwd=tmp_path)
    folder = tmp_path / "recording"
    ran = _recorded(library, folder, program)
    assert ran.returncode == 0, ran.stderr
    _check_as_recorded(capsys, folder)


@NEEDS_FORTRAN
@pytest.mark.parametrize(
    ("body", "call"),
    [
        (
            "call MPI_Mprobe(me, 1, MPI_COMM_WORLD, matched, s, e)\ncall MPI_Mrecv(one, 1, MPI_INTEGER, matched, s, e)",
            "MPI_Mprobe",
        ),
        (
            (
                "call MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, at, w, e)\ncall MPI_Win_free(w, e)\n"
                "call MPI_Recv(one, 1, MPI_INTEGER, me, 1, MPI_COMM_WORLD, s, e)"
            ),
            "MPI_Win_allocate",
        ),
    ],
)
def test_a_call_from_fortran_that_is_not_recorded_is_named(
    body: str, call: str, library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "program.f90"
    source.write_text(
        "program p\nuse mpi\nuse iso_c_binding\ninteger :: me, e, r, matched, one, w, s(MPI_STATUS_SIZE)\n"
        "integer(kind=MPI_ADDRESS_KIND) :: size\ntype(c_ptr) :: at\none = 1\nsize = 8\ncall MPI_Init(e)\n"
        "call MPI_Comm_rank(MPI_COMM_WORLD, me, e)\ncall MPI_Isend(one, 1, MPI_INTEGER, me, 1, MPI_COMM_WORLD, r, e)\n"
        f"{body}\ncall MPI_Wait(r, s, e)\n"
        "call MPI_Finalize(e)\nend program\n"
    )
    subprocess.run(["mpif90", "-o", tmp_path / "program", source], check=True, cwd=tmp_path)
    ran = _recorded(library, tmp_path / "recording", tmp_path / "program", ranks=2)
    assert ran.returncode == 0, ran.stderr
    message = _refused(capsys, tmp_path / "recording")
    assert f"the program made calls that the recording does not contain: 1 {call}" in message


def test_fortran_has_each_call_that_c_has(library: Path) -> None:
    """The library intercepts each call that it records in C and in both Fortran interfaces."""
    symbols = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    exported = {line.split()[-1] for line in symbols.splitlines() if " T " in line}
    in_c = {name.lower() for name in exported if name.startswith("MPI_") and not name.endswith("_c")}
    assert {"mpi_send", "mpi_iallreduce", "mpi_comm_split"} <= in_c
    assert sorted(name for name in in_c if not {f"{name}_", f"{name}_f08_"} <= exported) == []


@pytest.mark.parametrize("call", ["mpi_comm_spawn_", "mpi_comm_accept_f08_", "MPI_Send_c"])
def test_a_call_that_can_not_be_passed_on_ends_the_program(call: str, library: Path, tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    # the declaration is weak, so that the program also links without the function; it returns 0 if the function exists
    body = f"__attribute__((weak)) void {call}(void); int main(void) {{ if ({call}) {call}(); return 0; }}"
    source.write_text(f"{body}\n")
    ran = subprocess.run(
        [str(_compiled(source))],
        env={**os.environ, "LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2
    assert ran.stderr.lower().startswith("weft capture: the program calls mpi_")


def test_each_call_of_mpi_is_recorded_refused_or_local(library: Path) -> None:
    """The library records or refuses each MPI function that moves data.

    Exceptions are functions that move no data between ranks: queries, datatypes, groups, handles, files.
    """
    header = ["mpicc", "-E", "-include", "mpi.h", "-x", "c", "/dev/null"]
    text = subprocess.run(header, capture_output=True, text=True, check=True).stdout
    declared = set(re.findall(r"\bMPI_([A-Z][a-z]\w*) *\(", text))
    symbols = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    exported = {line.split()[-1] for line in symbols.splitlines() if " T " in line}
    assert all(name.startswith(("MPI_", "mpi_")) for name in exported)
    left = declared - {name.removeprefix("MPI_") for name in exported}
    local = re.compile(
        r"(Group|Info|Type|Op|Errhandler|Error|Add_error|Status|Attr|Keyval|Get_(address|count|elements|version|library_version|"
        r"processor_name)|File|Win|Pack|Unpack|Buffer|Alloc|Free_mem|Aint|Topo|Dims|Graph|Cart|Dist_graph_neighbors|"
        r"Comm_(c2f|f2c|call_|compare|create_errhandler|create_keyval|delete_attr|disconnect|free|get|group|rank|remote|set|"
        r"size|test_inter))|(Abort|Address|Initialized|Finalized|Query_thread|Is_thread_main|Pcontrol|Wtime|Wtick|"
        r"Reduce_local|Register_datarep|Test_cancelled|Message_(c2f|f2c)|Request_(c2f|f2c)|Grequest_complete|"
        r"(Open|Close)_port|(Publish|Unpublish|Lookup)_name)$"
    )
    # the library does not refuse these functions, because they need windows or matched probes, which it refuses
    behind = {"Put", "Get", "Accumulate", "Get_accumulate", "Fetch_and_op", "Compare_and_swap", "Mrecv", "Imrecv"}
    behind |= {"Rput", "Rget", "Raccumulate", "Rget_accumulate"}
    assert sorted(name for name in left - behind if not local.match(name)) == []


@pytest.mark.skipif(shutil.which("lmp") is None, reason="needs LAMMPS")
def test_lammps_has_the_messages_that_open_mpi_counts(
    library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in.melt").write_text(MELT)
    counting = {"enable": "2", "enable_output": "3", "filename": str(tmp_path / "counts")}
    options = [word for key, value in counting.items() for word in ("--mca", f"pml_monitoring_{key}", value)]
    folder = tmp_path / "recording"
    ran = _recorded(library, folder, "lmp", "-in", "in.melt", "-log", "none", more=options)
    assert ran.returncode == 0, ran.stderr
    messages = sent = 0
    for file in tmp_path.glob("counts.*.prof"):
        for line in file.read_text().splitlines():
            fields = line.split("\t")
            # a line that begins with E counts the messages of the program to one peer, without messages of collectives
            if fields[0] == "E":
                sent += int(fields[3].split()[0])
                messages += int(fields[4].split()[0])
    assert messages > 0
    facts = _info(capsys, folder)
    # Weft replaces a prefix sum by a message of 8 bytes from each rank to the next
    scans = {note["code"]: note["count"] for note in facts["assumptions"]}["scan"] // RANKS
    assert facts["messages"] - scans * (RANKS - 1) == messages
    assert facts["bytes"] - scans * (RANKS - 1) * 8 == sent
    assert facts["kinds"]["receive"] == facts["messages"]
    assert facts["unmatched"] == []
    assert main(["trace", "loggops", str(folder), "--json"]) == 0
    replayed = json.loads(capsys.readouterr().out)
    assert replayed["messages"] > facts["messages"], "with the messages of collectives"
