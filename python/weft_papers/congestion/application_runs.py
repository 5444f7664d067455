"""Runs generated applications instead of the hot spot, on networks of 64 to 1,056 nodes.

The runs cover every queueing scheme with every link policy.

The paper cites two numbers of earlier work on application traces (C-031, C-032). These traces are not public. NAMD and
Graph500 therefore come from generators (`weft trace make`), and results label them as generated. Each node runs one
rank. `weft_papers.common.shared_programs` sets the sizes of problems and the computing times between messages (gaps).
We fixed these sizes and gaps before we printed the first scoreboard. A full run uses the NAMD system STMV, and 2^20
vertices for Graph500. A quick run uses DHFR and 2^15 vertices. Claims are judged with these gaps, and with gaps of half
and twice this length.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft_papers.common import shared_programs
from weft_papers.common.paper import Experiment
from weft_papers.common.shared_programs import DHFR, SCALES, STMV
from weft_papers.congestion.hot_spot_networks import DRAGONFLY, NETWORKS, SMALLEST, TORUS, TREE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NAMD, GRAPH500 = "NAMD", "Graph500"
APPLICATIONS = (NAMD, GRAPH500)
RUNS = "applications"
# Number of ranks in a quick run (True) and in a full run (False). Each rank has its own node.
_RANKS = {True: 64, False: 1024}
_SCHEMES = 4
# Networks of 64, 64 and 72 nodes for a quick run of 64 ranks, so that almost no node is idle.
_QUICK = {
    TORUS: {"torus": {"widths": [4, 4, 4], "terminals_per_router": 1}},
    TREE: SMALLEST[TREE],
    DRAGONFLY: SMALLEST[DRAGONFLY],
}


def _program(work: str, scale: float, *, quick: bool) -> dict[str, Any]:
    ranks = _RANKS[quick]
    if work == NAMD:
        return shared_programs.namd(ranks, DHFR if quick else STMV, scale)
    return shared_programs.graph500(ranks, 15 if quick else 20, scale)


def jobs(scale: float, *, quick: bool) -> list[list[dict[str, Any]]]:
    """List the values of ``traffic.jobs`` for a sweep: for each application, a list with the one job that runs it.

    All messages are eager: senders do not wait for receivers.
    """
    return [
        [
            {
                "name": f"{work} {scale:g}",
                "terminals": {"range": [0, _RANKS[quick] - 1]},
                "workload": {"programs": {"program": _program(work, scale, quick=quick), "eager": "1GB"}},
            }
        ]
        for work in APPLICATIONS
    ]


EXPERIMENT = Experiment(
    RUNS,
    tuple(
        {
            "sweep.traffic.jobs": jobs(scale, quick=True),
            "zip.topology": [_QUICK[network] for network in NETWORKS for _ in range(_SCHEMES)],
        }
        for scale in SCALES
    ),
    tuple({"sweep.traffic.jobs": jobs(scale, quick=False)} for scale in SCALES),
    scaled="64 ranks instead of 1,024, smaller problems",
)


def of_job(summary: Mapping[str, Any]) -> tuple[str, float] | None:
    """Return the application of a point and the factor of its gaps; ``None`` for a point without an application."""
    found: Sequence[Mapping[str, Any]] = summary["jobs"]
    work, _, scale = (found[0]["job"] or "" if len(found) == 1 else "").partition(" ")
    return (work, float(scale)) if work in APPLICATIONS else None
