"""Sets sizes and computing times ("gaps") of the generated applications that reproductions of several papers run.

NAMD: the molecular system STMV has 1,066,628 atoms, DHFR has 23,558. A step computes for 1.8 us per atom. An atom has
362 pairs within 12 angstrom, at 0.1 atoms per cubic angstrom. A pair needs 50 operations, at an assumed 10 GFLOP/s.
Graph500: an edge factor of 16, and an assumed 10 ns for each edge.
"""

from __future__ import annotations

from typing import Any

STMV, DHFR = 1_066_628, 23_558
# Factors that multiply all gaps of an application. A claim about a generated application must hold with each factor.
SCALES = (0.5, 1.0, 2.0)


def namd(ranks: int, atoms: int, scale: float) -> dict[str, Any]:
    """Return the parameters of the generator of NAMD, for one step that includes the mesh computation."""
    return {"namd": {"ranks": ranks, "atoms": atoms, "steps": 1, "time_per_atom": f"{1800 * scale:g}ns"}}


def graph500(ranks: int, log2_vertices: int, scale: float) -> dict[str, Any]:
    """Return the parameters of the generator of Graph500, for one search."""
    return {"graph500": {"ranks": ranks, "scale": log2_vertices, "searches": 1, "time_per_edge": f"{10 * scale:g}ns"}}
