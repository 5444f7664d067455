"""The applications of the paper as generated programs, and the sets of the scheduler: sizes, gaps and their sources.

The published traces are not available. So every number of an application comes from a generator (`weft trace make`),
and is labelled as generated. All sizes and gaps were fixed before the first scoreboard was printed. A core is assumed
to do 10 GFLOP/s. Gaps without a source are assumptions, and are marked as such. Rows on applications are judged at gaps
of half, once and twice these lengths.

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

Each application makes one iteration, such as a step with its mesh, or a search. This is the smallest number to which
one common factor can reduce all iterations, so that a set stays near 5 GB. Messages are never cut. A search of Graph500
sends 0.6 to 0.9 GB, so sets B and C send more than that. Linpack and Random Access have no iterations: their sizes are
fixed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft_papers.common import shared_programs
from weft_papers.common.shared_programs import DHFR, STMV

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMD, GROMACS, LINPACK, MPIRA, GRAPH500 = "Namd", "Gromacs", "Linpack", "MPIRA", "Graph500"
APPLICATIONS = (NAMD, GROMACS, LINPACK, MPIRA, GRAPH500)
# Applications whose run time the network hardly changes, according to the paper.
FOUR = APPLICATIONS[:4]
SIZES = (128, 256, 512)
SETS = {
    "A": (NAMD, GROMACS, LINPACK, MPIRA, GRAPH500),
    "B": (GROMACS, LINPACK, MPIRA, GRAPH500, GRAPH500),
    "C": (LINPACK, MPIRA, GRAPH500, GRAPH500, GRAPH500),
}
# Messages between tasks of a node, from the specification of the traces. All messages are eager, as recorded.
_MESSAGES = {"local_latency": "500ns", "eager": "1GB"}


def program(name: str, ranks: int, *, scale: float, quick: bool) -> dict[str, Any]:
    """The parameters of a generated application.

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
    """Sizes of messages for more ranks, scaled from the run on which the generator is based.

    That run had 24 particle ranks and 8 mesh ranks, and the same system. A transpose divides its mesh among the square
    of the mesh ranks: 11,368 bytes times 8 x 8. A halo is a surface: 8 KiB times the ratio of ranks to the power -2/3.
    """
    halo = 8192 * (24 / particle_ranks) ** (2 / 3)
    return {"halo": f"{round(halo)}B", "mesh_block": f"{max(1, round(11_368 * 64 / mesh_ranks**2))}B"}


def _grid(ranks: int) -> dict[str, int]:
    """Rows and columns of a grid of ranks, as square as powers of two allow; there are not fewer columns than rows."""
    rows = 1 << ((ranks.bit_length() - 1) // 2)
    return {"rows": rows, "columns": ranks // rows}


def _rate(scale: float) -> str:
    return f"{10 / scale:g}GFLOP/s"


def named(name: str, scale: float) -> str:
    """The job name for an application or a set with a gap factor. Frames read both from the name."""
    return f"{name} {scale:g}"


def job(name: str, ranks_per_node: int, scale: float, *, quick: bool) -> dict[str, Any]:
    """The job of a single application of 512 tasks."""
    programs = {
        "program": program(name, 512, scale=scale, quick=quick),
        "ranks_per_terminal": ranks_per_node,
        **_MESSAGES,
    }
    return {"name": named(name, scale), "terminals": "rest", "workload": {"programs": programs}}


def single(ranks_per_node: int, scales: Sequence[float], *, quick: bool) -> list[list[dict[str, Any]]]:
    """The jobs of all applications: values of ``traffic.jobs``."""
    return [[job(name, ranks_per_node, scale, quick=quick)] for scale in scales for name in APPLICATIONS]


def _again(members: Sequence[str], place: int) -> str:
    """A mark for a member that a set contains several times, because each trace needs a unique name."""
    times = members[: place + 1].count(members[place])
    return "" if times == 1 else f" ({times})"


def sets(scales: Sequence[float], *, quick: bool, placement: str = "lowest") -> list[list[dict[str, Any]]]:
    """The jobs of the sets of the scheduler, 15 traces each: values of ``traffic.jobs``. A node has 8 cores."""
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
