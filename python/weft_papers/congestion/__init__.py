"""Reproduces the paper of Zahn et al. on congestion management and energy saving (HiPINEB 2019)."""

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
    ("b", "packet latency", LATENCY, "From creation to arrival, for packets that arrive in the window."),
    ("c", "energy/data", ENERGY, "All links, including links of terminals, and the cores of switches."),
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
        "Utilisation of the links of the dragonfly, starting with an empty network",
        scheme_figures.fill,
        (FILL,),
        "Section V prints 11.2 % without a scheme and up to 28.1 % with a scheme. Without a scheme "
        "the utilisation falls while the congestion tree fills the network.",
        wide=True,
    ),
    Figure(
        "flows",
        "Cold and hot flows, and changes of links",
        None,
        NETWORKS,
        "Cold flows go to the nodes that are not hot; each of their sources sends 0.4 flits per cycle.",
        rows=scheme_figures.flows,
    ),
    Figure(
        "readings",
        "Other readings of details that the paper leaves open",
        None,
        (*NETWORKS, READINGS, TERMINALS),
        "Compared with the readings of the figures: IODET by the coordinate of the destination, Flow2SL by the sum of "
        "both groups, digits of the tree from the highest digit on, and policies without links of terminals.",
        rows=scheme_figures.readings,
    ),
    Figure(
        "factors",
        "One factor changed at a time, on smaller networks",
        None,
        one_factor.NEEDS,
        "Each row judges the claims about a single network. Cold flows and latencies are without a policy. "
        "The last four columns compare the best scheme with a policy to one queue without a policy: C-027 and "
        "C-028 require -50 %.",
        rows=partial(one_factor.table, RULES),
    ),
    Figure(
        "applications",
        "Schemes and policies under generated applications",
        application_outcomes.time_and_energy,
        (APPLICATIONS,),
        "Applications are generated, not recorded; gaps have their original length. Points at the lower left are best.",
        wide=True,
    ),
    Figure(
        "application_runs",
        "All runs of generated applications",
        None,
        (APPLICATIONS,),
        "Idle time is for links between switches. Saved energy is for all links, compared with the same scheme without "
        "a policy.",
        rows=application_outcomes.table,
    ),
    Figure(
        "combinations",
        "Beyond the paper: energy per data over cold throughput",
        all_combinations.energy_and_cold,
        (COMBINATIONS,),
        "Points at the lower right are best. Cold flows offer 0.4 flits per source and cycle. Adaptive routing with "
        "one queue spreads the congestion tree.",
        wide=True,
    ),
    Figure(
        "pairs",
        "Beyond the paper: every scheme under every policy",
        None,
        (COMBINATIONS,),
        "Saved is the saved energy of managed links, as a share of the saving of ideal links, whose power is "
        "proportional to their traffic.",
        rows=all_combinations.combinations,
    ),
    Figure(
        "memory",
        "Beyond the paper: the memory of a port that a combination needs, and its energy",
        None,
        (BUFFERS,),
        "Needed is the smallest memory with which cold flows reach 99 % of their highest accepted load. Break-even is "
        "the power per KiB at which the memory of all ports between routers draws as much as the combination saves. "
        "The saving is relative to one queue without a policy, for the same data.",
        rows=all_combinations.memory,
    ),
    Figure(
        "own",
        "Beyond the paper: links with only the lanes that their traffic needs",
        None,
        (OWN,),
        "A link adds or removes one lane at a time, in 40 us, by its utilisation. The other lanes continue to carry "
        "flits.",
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
    judging="Differences of 10 % are significant; differences below 1 % count as none. Means over seeds are compared. "
    "Numbers of the paper, and its comparisons of networks, are judged only on networks of the paper's sizes. Every "
    "point is saturated, because the hot node receives far more traffic than it can accept. Latencies are those of the "
    "packets that arrive in the window; if sources can't send all their packets, latencies grow with the length of "
    "the window. Applications are generated; a claim about them is met only if it holds with gaps of half, once and "
    "twice their original length.",
    quick="Networks of the same shape with 240, 256 and 342 nodes, one seed, and a window of 0.4 ms after 0.2 ms. "
    "Applications have 64 ranks and smaller problems.",
)
