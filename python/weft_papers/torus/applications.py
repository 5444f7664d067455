"""Defines the paper's applications as generated programs, and the scheduler's sets: sizes, gaps and their sources.

The published traces are not available. Therefore every number on an application comes from a generator
(`weft trace make`), and results label it as generated. We fixed all sizes and gaps before the first scoreboard was
printed. A core is assumed to compute 10 GFLOP/s. The table marks gaps without a source as assumed. Claims on
applications are judged at these gaps, and at gaps of half and twice their lengths.

====================  =================================================  ==============================================
application           size of a full run (quick run)                     gap
====================  =================================================  ==============================================
NAMD                  STMV, 1,066,628 atoms (DHFR, 23,558)               1.8 us per atom and step: 362 pairs within 12
                                                                         angstrom at 0.1 atoms per cubic angstrom, 50
                                                                         operations each, at 10 GFLOP/s
GROMACS               3 particle ranks per mesh rank. The mesh and the    100 us per step, 50 us of mesh: assumed
                      volume are those of the run behind the generator,
                      divided among more ranks
Linpack               order 2,048, blocks of 64 (512, 64)                10 GFLOP/s: assumed
MPI Random Access     2,048 words per rank (256)                         100 ns per update, a random access to memory:
                                                                         assumed
Graph500              scale 20, edge factor 16, as printed (scale 15)    10 ns per edge: assumed
====================  =================================================  ==============================================

Each application makes one iteration, such as a step with its mesh, or a search. This is the smallest possible number: a
set should send about 5 GB, and one factor reduces the iterations of all applications. Messages are never shortened.
A search of Graph500 sends 0.6 to 0.9 GB, so sets B and C send more than 5 GB. Linpack and Random Access have no
iterations, but fixed sizes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft_papers.common import shared_programs
from weft_papers.common.shared_programs import DHFR, STMV

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMD, GROMACS, LINPACK, MPIRA, GRAPH500 = "Namd", "Gromacs", "Linpack", "MPIRA", "Graph500"
APPLICATIONS = (NAMD, GROMACS, LINPACK, MPIRA, GRAPH500)
# Applications whose run time depends little on the network, according to the paper: all except Graph500.
FOUR = APPLICATIONS[:4]
SIZES = (128, 256, 512)
SETS = {
    "A": (NAMD, GROMACS, LINPACK, MPIRA, GRAPH500),
    "B": (GROMACS, LINPACK, MPIRA, GRAPH500, GRAPH500),
    "C": (LINPACK, MPIRA, GRAPH500, GRAPH500, GRAPH500),
}
# Latency of messages between tasks on one node, from the paper's specification of the traces. All messages are eager,
# as in the traces.
_MESSAGES = {"local_latency": "500ns", "eager": "1GB"}


def program(name: str, ranks: int, *, scale: float, quick: bool) -> dict[str, Any]:
    """Return the parameters of a generated application: a value of the scenario key ``workload.programs.program``.

    Parameters
    ----------
    name : str
        Name in `APPLICATIONS`.
    ranks : int
        Number of ranks, a power of two.
    scale : float
        Factor by which gaps are multiplied.
    quick : bool
        Whether to use the sizes of a quick run.
    """
    made: dict[str, dict[str, Any]] = {
        NAMD: shared_programs.namd(ranks, DHFR if quick else STMV, scale),
        GROMACS: {
            "gromacs": {
                "particle_ranks": 3 * ranks // 4,
                "mesh_ranks": ranks // 4,
                "steps": 1,
                **_gromacs_messages(3 * ranks // 4, ranks // 4),
                "particles": f"{100 * scale:g}us",
                "mesh": f"{50 * scale:g}us",
            }
        },
        LINPACK: {"linpack": _grid(ranks) | {"order": 512 if quick else 2048, "block": 64, "rate": _rate(scale)}},
        MPIRA: {
            "random_access": {"ranks": ranks, "table": 256 if quick else 2048, "update": f"{100 * scale:g}ns"},
        },
        GRAPH500: shared_programs.graph500(ranks, 15 if quick else 20, scale),
    }
    return made[name]


def _gromacs_messages(particle_ranks: int, mesh_ranks: int) -> dict[str, str]:
    """Return message sizes of GROMACS for `particle_ranks` and `mesh_ranks`, scaled from the run behind the generator.

    That run had 24 particle ranks, 8 mesh ranks, and the same molecular system. A transpose divides the mesh among all
    pairs of mesh ranks. Its messages therefore shrink with the square of the number of mesh ranks, from 11,368 bytes
    with 8 ranks. A halo is the surface of a rank's volume. Its messages therefore shrink with the number of particle
    ranks to the power 2/3, from 8 KiB with 24 ranks.
    """
    halo = 8192 * (24 / particle_ranks) ** (2 / 3)
    return {"halo": f"{round(halo)}B", "mesh_block": f"{max(1, round(11_368 * 64 / mesh_ranks**2))}B"}


def _grid(ranks: int) -> dict[str, int]:
    """Return the rows and columns of a grid of ranks: equal powers of two, or twice as many columns as rows."""
    rows = 1 << ((ranks.bit_length() - 1) // 2)
    return {"rows": rows, "columns": ranks // rows}


def _rate(scale: float) -> str:
    return f"{10 / scale:g}GFLOP/s"


def named(name: str, scale: float) -> str:
    """Return the name of the job of an application or a set.

    Frames extract the application and the gap factor from it.
    """
    return f"{name} {scale:g}"


def job(name: str, ranks_per_node: int, scale: float, *, quick: bool) -> dict[str, Any]:
    """Return the job that runs a single application of 512 tasks."""
    programs = {
        "program": program(name, 512, scale=scale, quick=quick),
        "ranks_per_terminal": ranks_per_node,
        **_MESSAGES,
    }
    return {"name": named(name, scale), "terminals": "rest", "workload": {"programs": programs}}


def single(ranks_per_node: int, scales: Sequence[float], *, quick: bool) -> list[list[dict[str, Any]]]:
    """List the values of ``traffic.jobs`` for a sweep: for each application, a list with the one job that runs it."""
    return [[job(name, ranks_per_node, scale, quick=quick)] for scale in scales for name in APPLICATIONS]


def _again(members: Sequence[str], place: int) -> str:
    """Return a suffix for the name of an application that a set contains several times. Names must be unique."""
    times = members[: place + 1].count(members[place])
    return "" if times == 1 else f" ({times})"


def sets(scales: Sequence[float], *, quick: bool, placement: str = "lowest") -> list[list[dict[str, Any]]]:
    """List the values of ``traffic.jobs`` for a sweep: for each set, a scheduler with 15 traces. A node has 8 cores."""
    return [
        [
            {
                "name": named(name, scale),
                "terminals": "rest",
                "workload": {
                    "scheduler": {
                        "placement": placement,
                        "traces": [
                            {
                                "name": f"{each} {ranks}{_again(members, place)}",
                                "programs": {
                                    "program": program(each, ranks, scale=scale, quick=quick),
                                    "ranks_per_terminal": 8,
                                    **_MESSAGES,
                                },
                            }
                            for place, each in enumerate(members)
                            for ranks in SIZES
                        ],
                    }
                },
            }
        ]
        for scale in scales
        for name, members in SETS.items()
    ]
