"""Defines the six applications of Table II as generated programs: sizes, gaps and their sources.

The traces of the paper are not public. Therefore every number on an application comes from a generator
(`weft trace make`), and results label it as generated. We fixed all sizes and gaps before the first scoreboard was
printed. A core is assumed to compute 10 GFLOP/s. Claims on applications are judged at these gaps, and at gaps of half
and twice their lengths. Ranks are placed in the order of the nodes (linear), and on random nodes (random).

===========  ===============================================================  ==========================================
application  size, on 512 ranks                                               gap
===========  ===============================================================  ==========================================
BigFFT       mesh of 128 x 128 x 128, that of the recorded transform of       3.5 ns per point and 1-D transform:
             mpi4py-fft; 16 x 32 pencils                                      5 log2(128) operations
BoxMG        16 x 16 x 16 points of a rank, as in the recorded multigrid of   5.3 ns per point and smoothing: a stencil
             PETSc; edges and corners are exchanged                           of 27 points has 53 operations
HILO         tallies of 4 KiB, a field of 1 KiB: assumed                      50 us per iteration: assumed
FB           a box of 32 cells of a side per rank, the default greatest box   1.3 ns per cell: a stencil of 7 points has
             of AMReX in three dimensions; 1 ghost cell, 1 component:         13 operations
             assumed
MG           as BoxMG; only faces are exchanged                               1.3 ns, as FB
NB           64 elements of order 8 per rank. The order is that of the        14.2 ns per point and iteration: Nekbone
             motif of SWM, the number is assumed                              counts 12 (order + 1) + 34 operations
===========  ===============================================================  ==========================================

Every application makes 8 iterations in a full run, and 1 in a quick run. Messages are never shortened. Policies start
with their defaults: TCEP with its root network, SLaC with its first stage. The runs have no warm-up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from weft_papers.common.measured import LackingError
from weft_papers.common.paper import Experiment
from weft_papers.common.questions import unstalled
from weft_papers.common.shared_programs import SCALES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weft_papers.common.measured import Measured

BIG_FFT, BOX_MG, HILO, FB, MG, NEKBONE = "BigFFT", "BoxMG", "HILO", "FB", "MG", "NB"
APPLICATIONS = (BIG_FFT, BOX_MG, HILO, FB, MG, NEKBONE)
LINEAR, RANDOM = "linear", "random"
MAPPINGS: dict[str, Any] = {LINEAR: "rest", RANDOM: {"random": {"count": 512}}}
RUNS, EPOCHS = "applications", "application_epochs"
QUICK_ITERATIONS, FULL_ITERATIONS = 1, 8
COLUMNS: dict[str, Any] = {"work": pl.String, "mapping": pl.String, "scale": pl.Float64}

_RANKS = 512
# For each application: the generator, its sizes, the name of the parameter for iterations, and the name and value of
# the parameter for gaps [ps].
_PROGRAMS: dict[str, tuple[str, dict[str, Any], str, str, int]] = {
    BIG_FFT: ("big_fft", {"points": 128}, "iterations", "time_per_point", 3_500),
    BOX_MG: ("multigrid", {"points": 16, "corners": True}, "cycles", "time_per_point", 5_300),
    HILO: ("hilo", {"tallies": "4KiB", "field": "1KiB"}, "iterations", "time", 50_000_000),
    FB: ("fill_boundary", {"boxes": 1, "cells": 32}, "iterations", "time_per_cell", 1_300),
    MG: ("multigrid", {"points": 16}, "cycles", "time_per_point", 1_300),
    NEKBONE: ("nekbone", {"elements": 4, "order": 8}, "iterations", "time_per_point", 14_200),
}


def program(work: str, scale: float, iterations: int) -> dict[str, Any]:
    """Return the parameters of a generated application, with gaps multiplied by `scale`."""
    generator, sizes, count, gap, ps = _PROGRAMS[work]
    return {generator: {"ranks": _RANKS, **sizes, count: iterations, gap: f"{round(ps * scale)}ps"}}


def _jobs(mapping: str, scale: float, iterations: int) -> list[list[dict[str, Any]]]:
    """List the values of ``traffic.jobs`` for a sweep: for each application, a list with the one job that runs it.

    All messages are eager: senders do not wait for receivers.
    """
    return [
        [
            {
                "name": f"{work} {mapping} {scale:g}",
                "terminals": MAPPINGS[mapping],
                "workload": {
                    "programs": {
                        "program": program(work, scale, iterations),
                        "interface": "tcep",
                        "eager": "1GB",
                    }
                },
            }
        ]
        for work in APPLICATIONS
    ]


def _sweeps(mappings: Sequence[str], iterations: int) -> tuple[dict[str, Any], ...]:
    """Make the overrides of a sweep for each mapping of ranks and each factor of the gaps."""
    return tuple({"sweep.traffic.jobs": _jobs(mapping, scale, iterations)} for mapping in mappings for scale in SCALES)


def _mappings(experiment: str, *, quick: bool) -> list[str]:
    """Return the mappings of ranks to nodes that an experiment runs."""
    return [LINEAR] if quick and experiment == EPOCHS else [*MAPPINGS]


_SCALED = "one iteration of each application instead of 8"
EXPERIMENTS = (
    Experiment(
        RUNS,
        _sweeps(_mappings(RUNS, quick=True), QUICK_ITERATIONS),
        _sweeps(_mappings(RUNS, quick=False), FULL_ITERATIONS),
        scaled=_SCALED,
    ),
    Experiment(
        EPOCHS,
        _sweeps(_mappings(EPOCHS, quick=True), QUICK_ITERATIONS),
        _sweeps(_mappings(EPOCHS, quick=False), FULL_ITERATIONS),
        scaled=f"{_SCALED}, linear mapping only",
        asked=True,
    ),
)


def of_job(jobs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return columns ``work``, ``mapping``, ``scale`` from the name of a point's job; null without an application."""
    name: str = jobs[0]["job"] or "" if len(jobs) == 1 else ""
    work, _, rest = name.partition(" ")
    if work not in APPLICATIONS:
        return dict.fromkeys(COLUMNS)
    mapping, _, scale = rest.partition(" ")
    return {"work": work, "mapping": mapping, "scale": float(scale)}


def cases(measured: Measured, experiment: str = RUNS) -> list[tuple[str, float, pl.DataFrame]]:
    """Return the points of each combination of a mapping and a factor of gaps (``scale``), including stalled points.

    Each claim is judged for every combination.

    Raises
    ------
    LackingError
        If a combination was not run, or an application did not run to its end.
    """
    frame = measured[experiment].drop_nulls("work")
    if frame.is_empty():
        raise LackingError("no application was run")
    if unstalled(frame)["completion_cycles"].null_count():
        raise LackingError("an application did not run to its end")
    ran = frame["mapping"].unique(maintain_order=True).to_list()
    found = []
    for mapping in dict.fromkeys([*_mappings(experiment, quick=measured.quick), *ran]):
        if mapping not in ran:
            raise LackingError(f"the {mapping} mapping was not run")
        for scale in SCALES:
            rows = frame.filter(mapping=mapping, scale=scale)
            if rows.is_empty():
                gaps = f"gaps of {scale:g} times their original length"
                raise LackingError(f"{gaps} were not run with the {mapping} mapping")
            found.append((mapping, scale, rows))
    return found
