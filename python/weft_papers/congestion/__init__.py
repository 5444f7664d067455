"""Zahn et al., congestion management and energy saving (HiPINEB 2019): experiments, figures and rules."""

from __future__ import annotations

from functools import partial

from weft_papers.common.paper import Figure, Paper
from weft_papers.congestion import all_combinations, application_outcomes, one_factor, scheme_figures
from weft_papers.congestion.application_runs import RUNS as APPLICATIONS
from weft_papers.congestion.hot_spot_networks import NAMES, NETWORKS
from weft_papers.congestion.hot_spot_runs import (
    BUFFERS,
    COMBINATIONS,
    EXPERIMENTS,
    FILL,
    OWN,
    READINGS,
    TERMINALS,
)
from weft_papers.congestion.scheme_claims import RULES
from weft_papers.congestion.scheme_outcomes import ENERGY, LATENCY, THROUGHPUT, frame

_PARTS = (
    ("a", "throughput", THROUGHPUT, "All flows. The ideal is 0.301 on the paper's networks."),
    ("b", "packet latency", LATENCY, "From the creation of a packet, of those that arrive in the window."),
    ("c", "energy/data", ENERGY, "All links, those of terminals too, and the cores of switches."),
)

FIGURES = (
    Figure("table1", "Table I: parameters", None, rows=scheme_figures.table_1),
    *(
        Figure(
            f"{number}{part}",
            f"{NAMES[network]}: {words}",
            scheme_figures.bars(network, measure, f"Fig. {number}{part}: {NAMES[network]}, {words}"),
            (network,),
            reading,
        )
        for number, network in enumerate(NETWORKS, 1)
        for part, words, measure, reading in _PARTS
    ),
    Figure(
        "fill",
        "Use of the links of the dragonfly, from an empty network on",
        scheme_figures.fill,
        (FILL,),
        "Section V prints 11.2 % without a scheme and up to 28.1 % with one. Without a scheme "
        "the use falls as the congestion tree fills the network.",
        wide=True,
    ),
    Figure(
        "flows",
        "Cold and hot flows, and changes of links",
        None,
        NETWORKS,
        "Cold flows go to the nodes that are not hot; their sources send 0.4 each.",
        rows=scheme_figures.flows,
    ),
    Figure(
        "readings",
        "Other readings of what the paper leaves open",
        None,
        (*NETWORKS, READINGS, TERMINALS),
        "Beside the readings of the figures: IODET by the coordinate of the destination, Flow2SL by the sum of both "
        "groups, digits of the tree from the highest on, and policies that leave the links of terminals alone.",
        rows=scheme_figures.readings,
    ),
    Figure(
        "factors",
        "One factor changed at a time, on smaller networks",
        None,
        one_factor.NEEDS,
        "Claims that look at one network only are judged in each row. Cold flows and latencies are those without a "
        "policy. The last four columns are of the best scheme with a policy, beside one queue without one: C-027 and "
        "C-028 ask for -50 %.",
        rows=partial(one_factor.table, RULES),
    ),
    Figure(
        "applications",
        "Schemes and policies under generated applications",
        application_outcomes.time_and_energy,
        (APPLICATIONS,),
        "Applications are generated, not recorded; gaps are as they are. Left and low is good.",
        wide=True,
    ),
    Figure(
        "application_runs",
        "All runs of generated applications",
        None,
        (APPLICATIONS,),
        "Idle time is of links between switches. Saved is energy of all links beside the same scheme without a policy.",
        rows=application_outcomes.table,
    ),
    Figure(
        "combinations",
        "Beyond the paper: energy per data over cold throughput",
        all_combinations.energy_and_cold,
        (COMBINATIONS,),
        "Right and low is good. Cold flows offer 0.4. Adaptive routing with one queue spreads the congestion tree.",
        wide=True,
    ),
    Figure(
        "pairs",
        "Beyond the paper: every scheme under every policy",
        None,
        (COMBINATIONS,),
        "Saved is the energy of managed links, as a share of what links in proportion to their traffic would save.",
        rows=all_combinations.combinations,
    ),
    Figure(
        "memory",
        "Beyond the paper: the memory of a port that a combination needs, and its energy",
        None,
        (BUFFERS,),
        "Needed is the least memory with which cold flows accept 99 % of the most. Break-even is the power of a KiB at "
        "which the memory of all ports between routers takes as much as the combination saves. It saves beside one "
        "queue without a policy, at the same data.",
        rows=all_combinations.memory,
    ),
    Figure(
        "own",
        "Beyond the paper: links of as many lanes as they use",
        None,
        (OWN,),
        "Lanes are added and taken away one at a time, each 40 us, by the use of a link. The others carry on.",
        rows=all_combinations.own,
        remark=all_combinations.own_remark,
    ),
)

PAPER = Paper(
    name="congestion",
    title="Zahn, Yebenes, Escudero-Sahuquillo, Garcia and Fröning: Effects of Congestion Management on Energy Saving "
    "Techniques in Interconnection Networks (HiPINEB 2019)",
    folder="2019-zahn-congestion",
    experiments=EXPERIMENTS,
    figures=FIGURES,
    rules=RULES,
    frame=frame,
    judging="Significant is 10 %; differences below 1 % count as none. Means over seeds are compared. "
    "Numbers of the paper, and its comparisons of networks, are judged on networks of its sizes only. Every point is "
    "saturated, because the hot node is sent far more than it takes: a latency is that of the packets that arrive in "
    "the window, and grows with its length where sources can't send all. Applications are generated; a claim on them "
    "is met only if it holds with gaps of half, once and twice their length.",
    quick="Networks of the same shape with 240, 256 and 342 nodes, one seed, 0.2 ms before a window of 0.4 ms. "
    "Applications have 64 ranks and smaller problems.",
)
