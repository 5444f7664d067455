"""Reproduces the paper of Jeon et al. on FleX (IEEE Access 2022): experiments, tables, figures and rules for claims."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft_papers.common.paper import Experiment, Figure, Paper
from weft_papers.common.rules import given
from weft_papers.flex import (
    bisections,
    cost_and_power,
    equal_concentration,
    flex_drawings,
    latency_figures,
    lbr_readings,
    link_failures,
    performance_claims,
    structure,
)
from weft_papers.flex.performance_frame import frame

if TYPE_CHECKING:
    from collections.abc import Callable

    from weft_papers.common.measured import Measured
    from weft_papers.common.rules import Rule


def _lasting(warmup: int, window: int, drain: int) -> dict[str, Any]:
    """Return overrides that set the lengths of a run [cycles]."""
    return {
        "measure.warmup": f"{warmup}cycles",
        "measure.window": f"{window}cycles",
        "measure.drain_limit": f"{drain}cycles",
    }


# Overrides with the lengths of quick runs. Uniform traffic and bit complement run longer than other patterns, because
# most claims are about these two.
_SHORT, _SHORTER = _lasting(300, 600, 300), _lasting(200, 400, 100)


# Loads of the first sweep of a full run. Two more rounds then add loads near the knee of each curve of latency over
# load.
_COARSE: dict[str, Any] = {"sweep.traffic.load": [0.02, 0.1, 0.25, 0.5, 0.75, 1.0]}
_FOUR: list[Any] = [
    {"within": {"terminals": 1024, "pattern": pattern}}
    for pattern in ("bit_complement", "bit_reverse", "shuffle", "transpose")
]
# The fat tree with each interpretation of LBR (the paper's load balancing), for the claim on asymmetric traffic.
_TREE: dict[str, Any] = {
    "topology": {"k_ary_n_tree": {"k": 10, "n": 3}},
    "zip.routing": lbr_readings.of_the_tree(),
    "zip.links.default.vcs": [16] * len(lbr_readings.of_the_tree()),
    "sweep.traffic.pattern": [lbr_readings.ASYMMETRIC],
}


def _sweep(
    name: str, *loads: float, lasting: dict[str, Any] = _SHORTER, full: dict[str, Any] | None = None, knees: int = 2
) -> Experiment:
    """Make the experiment that runs a traffic pattern over load.

    A quick run has shorter windows, fewer loads, and at most one round of additional loads near knees.
    """
    quick = lasting | {"sweep.traffic.load": list(loads or (0.02, 0.15, 0.4, 1.0))}
    return Experiment(name, (quick,), (_COARSE if full is None else full,), knees=knees, quick_knees=min(knees, 1))


def _of_readings(**more: Any) -> dict[str, Any]:
    return _SHORTER | {"sweep.traffic.load": [0.6, 1.0]} | more


EXPERIMENTS = (
    _sweep("uniform", 0.1, 0.4, 0.7, 0.85, 0.95, 1.0, lasting=_SHORT),
    _sweep("bit_complement", 0.02, 0.1, 0.3, 0.6, 1.0, lasting=_SHORT),
    *(_sweep(name) for name in ("bit_reverse", "shuffle", "transpose")),
    # all N terminals send to one target, so the network accepts at most a load of 1 / N, which is 0.00093 to 0.00103 in
    # the five networks
    _sweep("hot_spot", 0.0002, 0.0005, 0.0008, 0.0009, 0.0012, lasting=_lasting(2000, 5000, 2000), full={}, knees=0),
    *(_sweep(name) for name in ("random_permutation", "asymmetric")),
    *(_sweep(name) for pair in performance_claims.LOCAL for name in pair),
    Experiment(
        lbr_readings.RUNS,
        (
            _SHORTER | {"sweep.traffic.load": [0.05]},
            _of_readings(**{"sweep.traffic.pattern": [_FOUR[0], lbr_readings.ASYMMETRIC]}),
            _of_readings(**_TREE),
        ),
        ({"sweep.traffic.load": [0.05, 0.1, 0.3, 0.6, 1.0]}, _TREE),
        knees=2,
    ),
    _sweep(equal_concentration.RUNS),
    _sweep("next_group"),
    _sweep("larger", 0.02, 0.1, 0.3, 0.6, 1.0, lasting=_SHORT),
    # LBR's longest period of snapshots is 1,000 cycles, so the warm-up and the window each have one period
    _sweep(latency_figures.PERIODS, 0.1, 0.5, 0.8, 1.0, lasting=_lasting(1000, 1000, 200), full={}, knees=0),
    _sweep("layers", 0.1, 0.5, 1.0, lasting=_SHORT, full={}, knees=0),
)

_LATENCY = (
    ("8a", "uniform random traffic", "uniform", "Paper: FleX accepts less than fat tree and HyperX, except with LBR."),
    ("8b", "bit complement", "bit_complement", "Paper: FleX with LBR accepts nearly 0.6 flits/terminal/cycle."),
    ("9a", "bit reversal", "bit_reverse", ""),
    ("9b", "shuffle", "shuffle", ""),
    ("9c", "transpose", "transpose", "Paper: dragonfly has the lowest latency."),
    ("9d", "a hot spot", "hot_spot", "All terminals send to one, so at most a share of 1 / N is delivered."),
    ("10a", "a random permutation", "random_permutation", "A single permutation."),
    ("10b", "asymmetric traffic", "asymmetric", ""),
    ("10c", "neighbor, digits as in BookSim", "neighbor", "The lowest digits move, higher digits are dropped."),
    ("10d", "tornado, digits as in BookSim", "tornado", "The lowest digits move, higher digits are dropped."),
    ("neighbor", "neighbor, all digits of ids", "neighbor_of_ids", "The three decimal digits of the first 1,000 ids."),
    ("tornado", "tornado, all digits of ids", "tornado_of_ids", "The three decimal digits of the first 1,000 ids."),
)
_FDR = (
    "The paper prints no line for FDR. The line for FDR10 is from the paper on Slim Fly (SC'14); the paper on FleX "
    "cites its slope."
)
_MISSING = "Minimal routing of FleX is algorithm 1 of the paper."


def _settled(*experiments: str) -> Callable[[Measured], str]:
    """Make the remark of a figure: the number of its points that were measured before latencies had settled."""

    def answer(measured: Measured) -> str:
        late = measured.unsettled(experiments)
        return f"Measured before latencies had settled: {late}." if late else ""

    return answer


def _latency(number: str, words: str, experiment: str, reading: str) -> Figure:
    title = f"Fig. {number}: {words}" if number[0].isdigit() else f"{words[0].upper()}{words[1:]}"
    reading = " ".join(filter(None, [_MISSING, reading]))
    draw = latency_figures.latency(title, experiment)
    remark = _settled(experiment)
    return Figure(number, f"Latency over load, {words}", draw, (experiment,), reading, wide=True, remark=remark)


FIGURES = (
    Figure("table1", "Symbols", None, rows=flex_drawings.table_1, reading="With the values for the FleX of Table 6."),
    Figure("table2", "Diameters", None, rows=structure.table_2, reading="As printed, and for the networks of Table 6."),
    Figure(
        "table3",
        "Bisection of FleX",
        None,
        rows=bisections.table_3,
        reading="Best cut: the smallest balanced cut of the formula and of METIS from 20 seeds. The second eigenvalue "
        "of the Laplacian gives a lower bound for all cuts. 4x100 has more ports per router than the engine can build.",
    ),
    Figure(
        "table4",
        "Bisection over links",
        None,
        rows=bisections.table_4,
        reading="For the full-bandwidth networks nearest to each size. The cut of the dragonfly is the best known cut. "
        "The first two printed entries of Slim Fly are swapped.",
    ),
    Figure(
        "table5",
        "Share of links that may fail at random, in steps of 5 %, 100 trials",
        None,
        rows=link_failures.table_5,
        reading="The largest share with which more than half of the trials are connected. Fat tree: tree of pods.",
    ),
    Figure(
        "table6",
        "Networks of about 1,000 terminals, and the larger FleX of Fig. 13",
        None,
        rows=cost_and_power.table_6,
        reading="The paper's row for the fat tree has the sizes of a 10-ary 3-tree, but the cost and power of a tree "
        "of pods. Its dragonfly has no cables to terminals. No rule that we know gives its cost of Slim Fly.",
    ),
    Figure(
        "1",
        "Mean hops, uniform traffic",
        latency_figures.hops_by_network,
        (latency_figures.UNIFORM,),
        "BookSim counts routers; their number is one more than the number of links that Weft counts.",
    ),
    Figure(
        "2",
        "Links of FleX",
        flex_drawings.fig2,
        wide=True,
        reading="A router has links to the routers of the next layer with the same x or y, and to no router of its "
        "layer.",
    ),
    Figure("3", "Scalability", structure.scalability, reading="The best sizes for each number of links per router."),
    Figure("4", "Bisection over routers", bisections.over_routers),
    Figure("5", "Bisection over terminals", bisections.over_terminals),
    Figure("6a", "Cost of cables", cost_and_power.cable_figure, reading=_FDR),
    Figure("6b", "Cost of routers", cost_and_power.router_figure, reading=_FDR),
    Figure(
        "6c",
        "Cost over terminals",
        cost_and_power.cost_figure,
        reading="With cables to terminals. In the paper's text FleX costs slightly more than Slim Fly; in its Table "
        "6, as in our results, FleX costs less.",
    ),
    Figure("6d", "Power over terminals", cost_and_power.power_figure, reading="2.8 W for each connected port."),
    Figure(
        "7",
        "Layout of FleX in racks",
        flex_drawings.fig7,
        wide=True,
        reading="The FleX of Table 6 seen from above, with one rack per x and layer. The numbers are the numbers of "
        "cables between two racks.",
    ),
    *(_latency(*each) for each in _LATENCY),
    Figure(
        "11",
        "Share of packets by hops in FleX",
        latency_figures.histogram,
        (latency_figures.UNIFORM,),
        "Hops are the routers that a packet visits: one more than the links.",
    ),
    Figure(
        "12",
        "Latency over load, traffic from each group or layer to the next",
        latency_figures.latency("Fig. 12: next group, next layer", latency_figures.NEXT_GROUP),
        (latency_figures.NEXT_GROUP,),
        _MISSING,
        wide=True,
        remark=_settled(latency_figures.NEXT_GROUP),
    ),
    Figure(
        "13",
        "Latency over load, bit complement, with a larger FleX",
        latency_figures.latency(
            "Fig. 13: bit complement, larger FleX", latency_figures.COMPLEMENT, latency_figures.LARGER_RUNS
        ),
        (latency_figures.COMPLEMENT, latency_figures.LARGER_RUNS),
        _MISSING,
        wide=True,
        remark=_settled(latency_figures.COMPLEMENT, latency_figures.LARGER_RUNS),
    ),
    Figure(
        "14",
        "Latency of LBR over load, by the period of its snapshots",
        latency_figures.periods,
        (latency_figures.PERIODS,),
        "Uniform traffic. In an empty network the equations give all paths equal shares; the last curve uses the "
        "minimal path in that case.",
        remark=_settled(latency_figures.PERIODS),
    ),
    Figure(
        "readings",
        "Claims about LBR under each reading",
        None,
        (lbr_readings.RUNS,),
        "Not in the paper. The figures use the first reading: predefined paths, the same for the whole run, and flits "
        "that wait for a link as the queue. In the other readings sources draw their paths after every snapshot, or "
        "for each packet. Used credits also count flits on the link.",
        rows=lbr_readings.table,
        remark=lbr_readings.remark,
    ),
    Figure(
        "paths",
        "Accepted load of FleX, by the time at which LBR draws its paths",
        lbr_readings.figure,
        (lbr_readings.RUNS,),
        "Not in the paper. Saturation is the highest accepted load, up to the lowest load of which the network accepts "
        "less than 95 %.",
        wide=True,
        remark=lbr_readings.remark,
    ),
    Figure(
        "concentration",
        "FleX and Slim Fly with equal numbers of terminals per router: saturation",
        None,
        (*equal_concentration.PATTERNS, equal_concentration.RUNS),
        "Not in the paper. In Table 6 a router of FleX has 10 terminals, and a router of Slim Fly has 6. Slim Fly of "
        "q = 7 has 98 routers of 10 terminals, FleX 7x8x3 has 168 routers of 6 terminals.",
        rows=equal_concentration.table,
        remark=lbr_readings.remark,
    ),
    Figure(
        "15",
        "Cost over layers",
        cost_and_power.layers_figure,
        reading="Two readings of the number of terminals per router, which the paper does not print. In the paper "
        "HyperX of three dimensions has the highest cost.",
        remark=cost_and_power.wider,
    ),
    Figure(
        "16",
        "Mean hops by layers",
        latency_figures.hops_by_layers,
        (latency_figures.LAYERS,),
        "At load 0.5. Hops are the routers visited: one more than the links.",
        wide=True,
    ),
    Figure("17", "Latency over load, by layers", latency_figures.layers, (latency_figures.LAYERS,)),
)

_LBR_RULES: dict[str, Rule] = {
    "F-127": given(
        "a unit test checks it over the paths in use (`shares_sum_to_one_and_fill_the_paths_in_use_to_one_level`)"
    ),
    "F-128": given("the same unit test checks it: queues and shares fill all paths in use to one level"),
    "F-129": given("1 minimal path and 3 paths over intermediates are parameters of the runs"),
}
RULES = {
    **structure.RULES,
    **bisections.RULES,
    **link_failures.RULES,
    **cost_and_power.RULES,
    **performance_claims.RULES,
    **_LBR_RULES,
}

PAPER = Paper(
    name="flex",
    title="Jeon, Joo, Kim, Kim and Youn: FleX: A Flex Interconnected HPC System with Stochastic Load Balancing Scheme "
    "(IEEE Access 2022)",
    folder="2022-jeon-flex",
    experiments=EXPERIMENTS,
    figures=FIGURES,
    rules=RULES,
    frame=frame,
    judging="Saturation is the highest accepted load up to the lowest load of which the network accepts less than 95 "
    "%, or the load at which the latency is three times the lowest latency, if this load is lower. Only a full run "
    "judges saturation. Latencies are compared at the lowest load that saturates none of the compared networks. Loads "
    "are per sending terminal: under bit patterns, and if only the first 1,000 ids count, some terminals are silent.",
    quick="Tables and figures without a simulation are complete.",
)
