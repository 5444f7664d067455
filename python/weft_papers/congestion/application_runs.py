"""Generated applications instead of the hot spot: every scheme with every policy on networks of 64 to 1,056 nodes.

The paper cites two numbers of earlier work on application traces, which are not public (C-031, C-032). So NAMD and
Graph500 come from generators (`weft trace make`) and are labelled as generated. A rank runs on each node. Sizes and
gaps are those of `weft_papers.common.shared_programs`; they were fixed before the first scoreboard was printed. A full
run has STMV and 2^20 vertices. A quick run has DHFR and 2^15 vertices. Claims are judged at gaps of half, once and
twice these lengths.
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
# Number of nodes that run ranks in a quick run and in a full run.
_RANKS = {True: 64, False: 1024}
_SCHEMES = 4
# 64, 64 and 72 nodes, so that almost no node is idle.
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
    """The jobs of the applications: a list of values of ``traffic.jobs``, each with one application.

    All messages are eager.
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
    """The application of a point and the factor of its gaps; ``None`` if it does not run an application."""
    found: Sequence[Mapping[str, Any]] = summary["jobs"]
    work, _, scale = (found[0]["job"] or "" if len(found) == 1 else "").partition(" ")
    return (work, float(scale)) if work in APPLICATIONS else None
