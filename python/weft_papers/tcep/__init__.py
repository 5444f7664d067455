"""Reproduces the paper of Kim, Choi and Kim on TCEP (ISCA 2018): experiments, figures and rules for claims."""

from __future__ import annotations

from bisect import bisect_right
from importlib.resources import files
from itertools import chain

import yaml

from weft_papers.common.paper import Experiment, Figure, Paper
from weft_papers.tcep import (
    application_claims,
    application_figures,
    application_programs,
    example_figures,
    fixed_latency,
    hottest_links,
    job_figures,
    links,
    mechanism_curves,
    own_policy,
    path_figures,
    rates,
    settings,
    slac_readings,
    synthetic,
    tcep_drawings,
    theory,
    workloads,
)
from weft_papers.tcep.mechanisms import frame

_FOLDER = "2018-kim-tcep"
_GENERATED = (
    "Applications are generated, not recorded. Ranks are in the order of the nodes, and gaps have their original "
    "length."
)
# The loads of a sweep have three parts. In the second and third part, TCEP starts with all links on. If it started with
# the fewest links, many packets would queue before enough links are awake, and draining these packets would take
# hundreds of thousands of cycles. The third part has the loads around saturation, at which latencies never settle.
LAST = {"uniform": (0.1, 0.85), "tornado": (0.1, 0.45), "bit_reverse": (0.1, 0.7)}
"""For each pattern, the highest load of the first part of the sweep and of the second part.

The scenario lists all loads.
"""
QUICK_LOADS = {
    "uniform": ([0.01, 0.1], [0.2, 0.4], [0.8, 1.0]),
    "tornado": ([0.01, 0.05, 0.1], [0.12, 0.14], [0.4, 0.5, 0.6]),
    "bit_reverse": ([0.01, 0.05, 0.1], [0.12, 0.14], [0.5, 0.7, 0.8, 0.9]),
}
# Two loads for each pattern. While the stages of SLaC wake (about 38,000 cycles for all stages), a backlog of packets
# builds up. At loads up to the first one, this backlog has drained after 250,000 cycles. At loads up to the second one,
# it has drained after 1,200,000 cycles. At higher loads it never drains.
_SLAC_CARRIES = {"uniform": (0.8, 0.95), "tornado": (0.1, 0.12), "bit_reverse": (0.1, 0.12)}
# Loads at which SLaC also runs with the literal interpretation of its low threshold: stages go off below the threshold.
_LITERAL_LOADS = {"uniform": [0.2, 0.4], "tornado": [0.05, 0.1], "bit_reverse": [0.05, 0.1]}
_BESIDE_SLAC = {"zip.routing": [{"ugal_p": {"sensor": "history_window"}}, {"pal": {"sensor": "history_window"}}]}
_FROM_ALL = ["always_on", {"tcep": {"initial": "all_on"}}]


def _parts(low: list[float], middle: list[float], high: list[float]) -> tuple[dict[str, object], ...]:
    """Make overrides for runs of the baseline and TCEP, for each of three parts of the loads.

    Each part has a limit of the warm-up, within which links settle.
    """
    limits = (["20000cycles", "400000cycles"], ["20000cycles", "400000cycles"], ["20000cycles", "70000cycles"])
    starts = (["always_on", "tcep"], _FROM_ALL, _FROM_ALL)
    return tuple(
        _BESIDE_SLAC | {"zip.power.policy": start, "sweep.traffic.load": loads, "zip.measure.warmup_limit": limit}
        for start, loads, limit in zip(starts, (low, middle, high), limits, strict=True)
    )


def _slac(name: str, loads: list[float], fixed: str) -> tuple[dict[str, object], ...]:
    """Make overrides for runs of SLaC. Every run starts with only the first stage on.

    The last overrides have the literal interpretation of the low threshold.

    Where latencies never settle, the warm-up has the length `fixed`, which is longer than the time in which all stages
    wake.
    """
    soon, late = (bisect_right(loads, last) for last in _SLAC_CARRIES[name])
    literal = {"slac": {"release": "below_low"}}
    runs: tuple[tuple[object, list[float], str, str | None], ...] = (
        ("slac", loads[:soon], "auto", "250000cycles"),
        ("slac", loads[soon:late], "auto", "1200000cycles"),
        ("slac", loads[late:], fixed, None),
        (literal, _LITERAL_LOADS[name], fixed, None),
    )
    return tuple(
        {
            "zip.routing": ["slac"],
            "zip.power.policy": [policy],
            "zip.measure.warmup_limit": [limit],
            "measure.warmup": warmup,
            "sweep.traffic.load": some,
        }
        for policy, some, warmup, limit in runs
        if some
    )


def _loads(name: str) -> tuple[list[float], list[float], list[float]]:
    """Return the loads of a scenario in three parts: up to the first load in `LAST`, up to the second, and above."""
    text = (files("weft_papers") / "experiments" / _FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    loads = yaml.safe_load(text)["sweep"]["traffic.load"]
    low, middle = (bisect_right(loads, last) for last in LAST[name])
    return loads[:low], loads[low:middle], loads[middle:]


def _patterns(name: str) -> Experiment:
    """Make the experiment of a traffic pattern for Figs. 9 and 10.

    Quick runs have fewer loads, shorter warm-ups and shorter windows.
    """
    short = {"measure.window": "10000cycles", "measure.drain_limit": "10000cycles"}
    low, middle, high = (short | part for part in _parts(*QUICK_LOADS[name]))
    middle |= {"zip.measure.warmup_limit": ["20000cycles", "250000cycles"]}
    high |= {"measure.warmup": "20000cycles", "zip.measure.warmup_limit": [None, None]}
    slac = [short | part for part in _slac(name, [*chain(*QUICK_LOADS[name])], "60000cycles")]
    loads = _loads(name)
    full = (*_parts(*loads), *_slac(name, [*chain(*loads)], "150000cycles"))
    return Experiment(name, (low, middle, high, *slac), full)


def _line(*loads: float) -> tuple[dict[str, object]]:
    """Make overrides for a quick run of Fig. 12, on a smaller network.

    The lower bound of the share of active links is the same as in the paper, because both networks have as many
    terminals per router as routers.
    """
    return (
        {
            "topology.hyperx.widths": [16],
            "topology.hyperx.terminals_per_router": 16,
            "sweep.traffic.load": list(loads),
            "measure.window": "10000cycles",
            "measure.drain_limit": "10000cycles",
        },
    )


_BATCHES = {
    "traffic.jobs.0.batch.per_terminal": 5000,
    "traffic.jobs.1.batch.per_terminal": 25000,
    "measure.stop.complete.max_window": "500000cycles",
    "sweep.seed": [1, 2, 3],
}
_SCALED = "3 mappings, and batches of 5,000 and 25,000 packets instead of 100,000 and 500,000"
_BURSTS = {
    "sweep.traffic.load": [0.01, 0.05, 0.1],
    "measure.window": "300000cycles",
    "measure.drain_limit": "100000cycles",
}


# Overrides for high loads, at which TCEP and SLaC start with the fewest links. Any further link that is on in the
# window was woken by these policies.
_FROM_FEW = (
    {
        "zip.routing": [
            {"ugal_p": {"sensor": "history_window"}},
            {"pal": {"sensor": "history_window"}},
            "slac",
        ],
        "zip.power.policy": ["always_on", "tcep", "slac"],
        "zip.measure.warmup_limit": ["20000cycles", "1200000cycles", "1200000cycles"],
        "sweep.traffic.load": [0.8, 0.9],
    },
)
_EPOCHS = {"sweep.traffic.load": [0.1], "measure.window": "30000cycles"}
# An automatic warm-up ends if the number of active links changes by less than 1 % in 30,000 cycles. At high loads TCEP,
# which starts with all links on, switches off only about one link per epoch. Therefore the warm-up at high loads has a
# fixed length.
_FULL_LINE = (
    {"sweep.traffic.load": [0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.38, 0.41, 0.44, 0.5, 0.6]},
    {"sweep.traffic.load": [0.7, 0.8, 0.9], "measure.warmup": "1000000cycles", "measure.warmup_limit": None},
)
_LINE_SCALED = "16 routers of 16 terminals instead of 32 routers of 32"
EXPERIMENTS = (
    Experiment("root"),
    Experiment("least"),
    *(_patterns(name) for name in LAST),
    Experiment(synthetic.FROM_FEW, (), _FROM_FEW, scenario="uniform"),
    Experiment("bursty", (_BURSTS,)),
    Experiment("bound_uniform", _line(0.1, 0.41), _FULL_LINE, scaled=_LINE_SCALED),
    Experiment("bound_adversarial", _line(0.1), scaled=_LINE_SCALED),
    Experiment("jobs_uniform", (_BATCHES,), scaled=_SCALED),
    Experiment("jobs_permutation", (_BATCHES,), scaled=_SCALED),
    Experiment("epochs", (_EPOCHS,)),
    Experiment(own_policy.EXPERIMENT, ()),
    *application_programs.EXPERIMENTS,
)

_PATTERNS = (("a", "uniform", "uniform random"), ("b", "tornado", "tornado"), ("c", "bit_reverse", "bit reverse"))
_LATENCIES = {
    "a": "At very low load the paper prints 23.3, 37.8 and 32.7 cycles for baseline, TCEP and SLaC.",
    "b": "In the paper TCEP accepts as much as the baseline, and SLaC 78 % less.",
    "c": "In the paper TCEP accepts as much as the baseline, and SLaC 85 % less.",
}
_ENERGIES = {
    "a": "In the paper TCEP and SLaC save about the same energy, and more than DVFS.",
    "b": "In the paper SLaC saves nothing from load 0.05 on.",
    "c": "In the paper SLaC saves nothing from load 0.05 on.",
}
FIGURES = (
    Figure(
        "1",
        "Run time over network latency, two applications",
        fixed_latency.figure,
        reading="Applications are generated, not recorded. The paper prints +1 to +3 % at 2 µs, and +2 % (Nekbone) and "
        "+11 % (BigFFT) at 4 µs.",
        remark=fixed_latency.remark,
    ),
    Figure(
        "2",
        "Root networks of routers in a line and in a square",
        tcep_drawings.fig2,
        wide=True,
        reading="Each row and column has a star around its router with the lowest number.",
    ),
    Figure(
        "3",
        "Paths in a star with six additional links",
        path_figures.fig3,
        wide=True,
        reading="The paper prints 56 and 40 paths. These are the numbers of paths if each pair counts at most two "
        "paths.",
    ),
    Figure(
        "4",
        "Number of paths with concentrated links, compared with random links",
        path_figures.fig4,
        reading="The ratio is 1 with only the root network and with all links on; its peak is below a fifth of the "
        "links.",
    ),
    Figure(
        "5",
        "Choice between two links to switch off",
        example_figures.fig5,
        reading="The paper prints the sums 0.55 and 0.7.",
    ),
    Figure(
        "6",
        "Inner and outer links",
        example_figures.fig6,
        reading="With three inner links the budget is 1.9, and the outer links carry 1.2.",
    ),
    Figure(
        "7",
        "An indirect activation request",
        tcep_drawings.fig7,
        reading="R6 has a path over R0. R6 requests the link R1-R7 from R1, the lowest router over which it has no "
        "path.",
    ),
    Figure(
        "8",
        "Hops to a random intermediate router",
        tcep_drawings.fig8,
        wide=True,
        reading="As in the paper: 2 hops with all links on, and 4 hops over the root network.",
    ),
    Figure("table1", "Decisions of PAL by the state of the minimal output", None, rows=tcep_drawings.table_1),
    Figure(
        "table2",
        "Applications",
        None,
        rows=tcep_drawings.table_2,
        reading="The traces of these applications are not public. The figures use generated applications.",
    ),
    *(
        Figure(
            f"9{letter}",
            f"Latency over load, {words}",
            mechanism_curves.latency(f"Fig. 9{letter}: latency, {words}", name),
            (name,),
            reading=_LATENCIES[letter],
            remark=mechanism_curves.remark(name),
        )
        for letter, name, words in _PATTERNS
    ),
    *(
        Figure(
            f"10{letter}",
            f"Network energy per flit over load, {words}",
            mechanism_curves.energy(f"Fig. 10{letter}: energy, {words}", name),
            (name,),
            reading=_ENERGIES[letter],
            remark=mechanism_curves.remark(name),
        )
        for letter, name, words in _PATTERNS
    ),
    Figure(
        "11a",
        "Latency of packets of 5,000 flits, uniform random",
        mechanism_curves.latency("Fig. 11a: latency, packets of 5,000 flits", "bursty"),
        ("bursty",),
        reading="In the paper SLaC has 1.81 times the latency of the baseline at load 0.05, TCEP at most 1.1 times.",
    ),
    Figure(
        "11b",
        "Energy of packets of 5,000 flits, uniform random",
        mechanism_curves.energy("Fig. 11b: energy, packets of 5,000 flits", "bursty"),
        ("bursty",),
        reading="In the paper SLaC needs less energy than TCEP at some loads.",
    ),
    Figure(
        "12",
        "Active links compared with their lower bound",
        links.fig12,
        (links.UNIFORM, links.ADVERSARIAL),
        reading="The paper shows uniform traffic, with a largest gap of 0.117 at load 0.41.",
    ),
    Figure(
        "13",
        "Packet latency of six applications",
        application_figures.LATENCIES,
        (application_programs.RUNS,),
        reading=f"{_GENERATED} In the paper the geometric means are 1.15 for TCEP and 1.61 for SLaC, and BigFFT and "
        "NB have the highest injection rates. In our quick run NB has the lowest rate; this affects T-065, T-066, "
        "T-070 and the order of Figs. 13 and 14.",
        remark=application_figures.remark,
    ),
    Figure(
        "14",
        "Network energy of six applications",
        application_figures.ENERGIES,
        (application_programs.RUNS,),
        reading=f"{_GENERATED} In the paper TCEP uses less energy than SLaC for BoxMG and BigFFT, and 5 % more for "
        "others.",
        remark=application_figures.remark,
    ),
    Figure(
        "applications",
        "All runs of Figs. 13 and 14",
        None,
        (application_programs.RUNS,),
        reading="Claims about applications are judged with gaps of three lengths, and with both mappings.",
        rows=application_figures.table,
    ),
    Figure(
        "15a",
        "Two batch jobs, uniform traffic in each",
        job_figures.ratios("Fig. 15a: two jobs, uniform", job_figures.UNIFORM),
        (job_figures.UNIFORM,),
        reading="In the paper SLaC needs up to 1.12 times the energy of TCEP, and about the same time.",
    ),
    Figure(
        "15b",
        "Two batch jobs, a random permutation in each",
        job_figures.ratios("Fig. 15b: two jobs, random permutation", job_figures.PERMUTATION),
        (job_figures.PERMUTATION,),
        reading="In the paper SLaC needs up to 3.7 times the energy of TCEP, and 1.9 to 3.6 times the time.",
        remark=lambda _: f"{hottest_links.sentence().capitalize()}.",
    ),
    Figure(
        "control",
        "Share of control packets",
        links.control,
        links.CONTROL,
        reading="The paper prints shares only for traces, so the runs of Fig. 13 judge T-067.",
    ),
    Figure(
        "epochs",
        "Sensitivity to epochs and U_hwm",
        links.epochs,
        ("epochs",),
        wide=True,
        reading="The paper varies the epochs with traces. This figure shows geometric means over the loads of "
        "synthetic traffic that were run. The figure `sensitivity` uses applications.",
    ),
    Figure(
        "sensitivity",
        "Sensitivity of six applications to epochs",
        application_figures.sensitivity,
        (application_programs.RUNS, application_programs.EPOCHS),
        reading=f"{_GENERATED} In the paper latencies rise by 11 % and 19 % with longer activation epochs.",
        wide=True,
    ),
    Figure(
        "varied",
        "All runs with other epochs",
        None,
        (application_programs.EPOCHS,),
        rows=application_figures.epochs_table,
    ),
    Figure(
        "slac",
        "Claims about SLaC, with kept stages and with the literal low threshold",
        None,
        slac_readings.NEEDS,
        reading="SLaC switches its newest stage off if the buffers of the router that requested the stage are later "
        "less than 25 % full. Buffers are below this threshold at every load below saturation. In figures and "
        "scoreboard a stage stays on. T-039 and T-040 count as met only if both readings meet them.",
        rows=slac_readings.table,
    ),
    Figure(
        "rates",
        "Beyond the paper: links that TCEP keeps on, at the lowest rate for their traffic",
        rates.figure,
        rates.PATTERNS,
        wide=True,
        reading="Not in the paper. Computed from the runs of Figs. 9 and 10 in the same way as the ideal DVFS: "
        "the rates are known in advance, and a change of rate costs nothing.",
        remark=rates.remark,
    ),
    Figure(
        "own",
        "Beyond the paper: share of active links over latency, with our own policy",
        own_policy.figure,
        (own_policy.EXPERIMENT,),
        wide=True,
        reading="Not in the paper. Points at the lower left are best. The points of a curve differ in the high-water "
        "mark.",
        remark=own_policy.remark,
    ),
)

RULES = {
    **settings.RULES,
    **theory.RULES,
    **fixed_latency.RULES,
    **synthetic.RULES,
    **application_claims.RULES,
    **workloads.RULES,
}

PAPER = Paper(
    name="tcep",
    title="Kim, Choi and Kim: TCEP: Traffic Consolidation for Energy-Proportional High-Radix Networks (ISCA 2018)",
    folder=_FOLDER,
    experiments=EXPERIMENTS,
    figures=FIGURES,
    rules=RULES,
    frame=frame,
    judging="Throughput is the highest load that was run below the lowest load that saturates the network, or of "
    "which the network accepts less than 95 %, as a reader reads it from a curve. The accepted load at the next load, "
    "and the highest accepted load, are also shown. Applications are generated; their traces are not public. A claim "
    "about applications is met only if it holds with gaps of half, once and twice their original length, and with "
    "each mapping that was run.",
    quick="Only a full run draws the figure of our own policy (own). Applications run one iteration. Their "
    "sensitivity to epochs runs only if named: sensitivity.",
)
