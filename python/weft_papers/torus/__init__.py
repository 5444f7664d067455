"""Reproduces the paper of Andujar et al. on torus networks with on/off links (JPDC 2019)."""

from __future__ import annotations

from weft_papers.common.paper import Figure, Paper
from weft_papers.torus import causes, drawings, energy_figures
from weft_papers.torus.network_runs import (
    ALLOCATOR,
    CAUSES_64,
    CAUSES_256,
    EXPERIMENTS,
    IDLE,
    LOADS,
    NODES,
    SETS_64,
    SETS_256,
    SINGLE_64,
    SINGLE_256,
    frame,
)
from weft_papers.torus.task_claims import RULES

_FIGURES = (
    ("2", "3", SINGLE_64, "64 nodes, one application"),
    ("4", "5", SINGLE_256, "256 nodes, one application"),
    ("6", "7", SETS_64, "64 nodes, sets"),
    ("6", "7", SETS_256, "256 nodes, sets"),
)
_GENERATED = "Applications are generated, not captured. Gaps have their original length (x 1)."


def _letter(experiment: str, place: int) -> str:
    """Return the letter of a figure's part.

    In figures of sets of applications, parts with 64 nodes precede those with 256.
    """
    return "abcdef"[place + (3 if experiment == SETS_256 else 0)]


FIGURES = (
    Figure(
        "1",
        "Routers of the networks of 64 nodes",
        drawings.fig1,
        wide=True,
        reading="Many small routers or few large routers, with 1, 4 and 16 terminals and trunks of 1, 4 and 16 links.",
    ),
    Figure("table1", "Table 1: shares of power", None, rows=energy_figures.table_1),
    Figure("table2", "Table 2: networks, and W_net without traffic", None, rows=energy_figures.table_2),
    *(
        Figure(
            f"{bars}{_letter(experiment, place)}",
            f"{measure}, {words}",
            energy_figures.bars(experiment, measure, f"Fig. {bars}: {measure}, {words}"),
            (experiment,),
            _GENERATED,
        )
        for bars, _, experiment, words in _FIGURES
        for place, measure in enumerate(energy_figures.MEASURES)
    ),
    *(
        Figure(
            f"{lines}{'ab'[NODES[experiment] == 256]}" if lines == "7" else lines,
            f"Energy of the machine over the power share of an idle node, {words}",
            energy_figures.over_idle_share(experiment, f"Fig. {lines}: {words}"),
            (experiment,),
            _GENERATED,
            wide=True,
        )
        for _, lines, experiment, words in _FIGURES
    ),
    *(
        Figure(
            f"loads{nodes}",
            f"Latency over load, {nodes} nodes, without applications",
            draw,
            (LOADS,),
            "The paper expects that fewer dimensions are faster at low load, and more dimensions accept more load.",
        )
        for nodes, draw in energy_figures.LATENCIES.items()
    ),
    Figure(
        "ports",
        "Networks without applications: accepted load, latency and power, also with links that sleep when idle",
        None,
        (LOADS, IDLE),
        rows=energy_figures.ports_on,
    ),
    Figure(
        "allocator",
        "Networks at full load without applications: packets of 8 flits and of 1 flit",
        None,
        (ALLOCATOR,),
        "A switch matches inputs and outputs once per packet, so packets of 8 flits hide failed matches.",
        rows=energy_figures.allocators,
    ),
    *(
        Figure(
            name,
            f"Factors of missed claims, {nodes} nodes: one factor changed at a time",
            None,
            (as_it_is, changes),
            _GENERATED,
            rows=causes.changed(nodes),
        )
        for name, nodes, as_it_is, changes in (
            ("causes", 64, SINGLE_64, CAUSES_64),
            ("causes256", 256, SINGLE_256, CAUSES_256),
        )
    ),
)

PAPER = Paper(
    name="torus",
    title="Andújar, Coll, Alonso, Martínez, López, Sánchez, Alfaro and Martínez: Energy efficient torus networks with "
    "on/off links (JPDC 2019)",
    folder="2019-andujar-torus",
    experiments=(*EXPERIMENTS, *causes.EXPERIMENTS),
    figures=FIGURES,
    rules=RULES,
    frame=frame,
    judging="Applications are generated; the published traces are not available. A claim about applications is met "
    "only if it holds with gaps between messages of half, once and twice their original length. Differences of run "
    "time below 3 % are not significant. The tolerance is 3 points for losses and savings, 3 % for energies of the "
    "network without the policy, and 10 % for other numbers. Networks are compared without the policy if a claim does "
    "not name it. Energies of sets are means over seeds.",
    quick="Smaller problems, fewer loads and shorter windows. Sets and the figures causes and causes256 run only if "
    "named. Sets run with smaller problems and one seed.",
)
