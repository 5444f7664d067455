"""Reproduces the paper of Garcia et al. on OFAR (bubble flow control in dragonflies): experiments, figures, rules."""

from __future__ import annotations

from typing import Any

from weft_papers.common.paper import Experiment, Figure, Paper
from weft_papers.ofar import beyond, bursts, network_claims, ofar_drawings, readings, rings, steady, transients
from weft_papers.ofar.routings_run import frame

# Size h (global links per router) of the networks of a quick run; the paper's networks have h = 6.
QUICK_H = 3
_TOPOLOGY = "topology.dragonfly"
_SMALL: dict[str, Any] = {
    f"{_TOPOLOGY}.routers_per_group": 2 * QUICK_H,
    f"{_TOPOLOGY}.terminals_per_router": QUICK_H,
    f"{_TOPOLOGY}.global_links_per_router": QUICK_H,
}
_SCALED = f"{(2 * QUICK_H**2 + 1) * 2 * QUICK_H} routers (h = {QUICK_H}) instead of 876 (h = 6)"
_NEXT = {"group_shift": {"shift": 1}}
_FARTHEST = {"group_shift": {"shift": QUICK_H}}
_PATTERNS = ["uniform", {"group_shift": {"shift": 2}}, _FARTHEST]


def _flits(*phits: float) -> list[float]:
    """Convert loads of the paper [phits/(node cycle)] to loads of scenarios [flits/terminal/cycle]."""
    return [round(load / 8, 6) for load in phits]


def _sweep(name: str, *loads: float, **sets: Any) -> Experiment:
    """Make the experiment that runs a traffic pattern over load. A quick run has fewer loads and a smaller network."""
    quick = _SMALL | {"sweep.traffic.load": _flits(*loads)} | sets
    return Experiment(name, (quick,), scaled=_SCALED)


def _three_patterns(name: str) -> Experiment:
    """Make an experiment with uniform traffic and two adversarial patterns.

    The loads of the latter end at 0.6, far beyond saturation.
    """
    uniform = {"sweep.traffic.pattern": ["uniform"], "sweep.traffic.load": _flits(0.4, 0.6, 0.8, 1.0)}
    shifts = [{"group_shift": {"shift": shift}} for shift in (2, 6)]
    full = (uniform, {"sweep.traffic.pattern": shifts})
    quick = (_SMALL | uniform, _SMALL | {"sweep.traffic.pattern": _PATTERNS[1:]})
    return Experiment(name, quick, full, scaled=_SCALED)


# A quick run of transients has one seed, and the pattern changes at 2,500 cycles. Each bin of the latency curve has
# about 1,600 packets, because the quick run also uses the network of the paper.
_AT: dict[str, Any] = {"from": "2500cycles"}
_CHANGES: tuple[Any, ...] = ({"group_shift": {"shift": 2}}, "uniform", {"group_shift": {"shift": 6}})
_TRANSIENTS = {
    "zip.traffic.phases": [[_AT | {"pattern": pattern}] for pattern in _CHANGES],
    "measure.warmup": "1500cycles",
    "measure.window": "3500cycles",
    "sweep.seed": [1],
}


def _mix(*weights: int) -> dict[str, Any]:
    patterns = ["uniform", _NEXT, _FARTHEST]
    return {"mix": [{"weight": w, "pattern": p} for w, p in zip(weights, patterns, strict=True)]}


# The patterns of the scenario ``patterns.yaml``, with parameters for the 342 terminals of a quick run.
_ALL_PATTERNS: list[Any] = [
    *_PATTERNS,
    _NEXT,
    {"router_shift": {"shift": 1}},
    "random_permutation",
    "asymmetric",
    {"hot_spot": {"targets": [0, 171], "share": 0.01}},
    *(
        {"within": {"terminals": 256, "pattern": pattern}}
        for pattern in ("bit_complement", "bit_reverse", "shuffle", "transpose")
    ),
    _mix(60, 20, 20),
]

# Bursts of 2,000 packets per terminal take ten times as long as bursts of 200, so a quick run has only one seed of
# them.
_MIXES = [_mix(80, 10, 10), _mix(60, 20, 20), _mix(20, 40, 40)]
_BURSTS = tuple(
    _SMALL
    | {
        "sweep.traffic.batch.per_terminal": [size],
        "sweep.traffic.pattern": [*_PATTERNS, *_MIXES],
        "sweep.seed": seeds,
    }
    for size, seeds in ((200, [1, 2, 3]), (2000, [1]))
)

# Runs of Valiant routing (VAL) at loads around its saturation, under the group offset at which VAL accepts most (1) and
# the one at which it accepts least (6). A point is below saturation only if its packets are delivered, so these runs
# have a drain.
_DRAINED = {"measure.drain_limit": "3000cycles"}
_KNEES = tuple(
    _DRAINED | {"sweep.traffic.pattern": [{"group_shift": {"shift": shift}}], "sweep.traffic.load": _flits(*loads)}
    for shift, loads in ((1, (0.4, 0.44, 0.48, 0.52)), (6, (0.11, 0.12, 0.13, 0.14, 0.15)))
)
# Claims whose answer can depend on the interpretation of OFAR's trigger for misroutes. For each, the rule, and whether
# the interpretation of OFAR-L also matters.
_BY_READING = {
    "O-012": (steady.HIGHER, False),
    "O-018": (steady.AT_LOCAL_BOUND, True),
    "O-019": (steady.FARTHEST, False),
    "O-023": (transients.LATE, False),
    "O-037": (rings.FALLS, False),
}

EXPERIMENTS = (
    _sweep("uniform", 0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 1.0),
    _sweep("adv2", 0.1, 0.2, 0.3, 0.4, 0.5, 0.6),
    _sweep("advh", 0.05, 0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, **{"traffic.pattern.group_shift.shift": QUICK_H}),
    Experiment(
        "saturation",
        ({"measure.warmup": "1500cycles", "measure.window": "1500cycles", "sweep.seed": [1]},),
        scaled="1 seed, and windows of 1,500 cycles",
    ),
    Experiment("edge", ({"measure.warmup": "3000cycles", "measure.window": "6000cycles"},)),
    Experiment("offsets", ({"measure.warmup": "1500cycles", "measure.window": "1000cycles"},)),
    Experiment(steady.KNEES, _KNEES, _KNEES, scenario="offsets"),
    Experiment("minimal"),
    Experiment("neighbours"),
    Experiment("transients", (_TRANSIENTS,), scaled="1 seed"),
    Experiment("bursts", _BURSTS, scaled=f"{_SCALED}, and one seed of bursts of 2,000 packets"),
    _three_patterns("embedded"),
    _three_patterns("triggers"),
    *readings.experiments(),
    _sweep("scarce", 0.3, 0.6, 1.0, **{"sweep.traffic.pattern": ["uniform", _FARTHEST]}),
    _sweep(beyond.PATTERNS, 0.6, **{"sweep.traffic.pattern": _ALL_PATTERNS}),
    Experiment(beyond.BROKEN, (_SMALL | {"sweep.traffic.pattern": ["uniform", _NEXT, _FARTHEST]},), scaled=_SCALED),
    Experiment(
        beyond.VARIANT,
        (
            _SMALL
            | {
                "zip.traffic.pattern": [_NEXT, _PATTERNS[1], _FARTHEST, "uniform"],
                "sweep.seed": [1, 2],
            },
        ),
        scaled=f"{_SCALED}, and 2 seeds",
    ),
    _sweep(beyond.WITH_TCEP, 0.02, 0.1, 0.2, 0.4),
    Experiment("failures", (_SMALL | {"traffic.pattern.group_shift.shift": QUICK_H},), scaled=_SCALED),
)

_GRANTED = "OFAR uses the trigger 'granted'."
_OF_TRIGGERS = (
    "granted: the minimal output of the head was granted to another input in this cycle, as in the authors' simulator; "
    "granted or full: as before, or no VC of this output has room, as the paper says in brackets; unavailable: the "
    "head can't use this output now, as the paper says before the brackets."
)
_ADAPTS = (
    "In the paper OFAR adapts almost at once, and PB needs a period. In Weft PB's latency is at once near its "
    "new mean and oscillates around it, as in the authors' simulator."
)
_STEADY = (
    ("3", "uniform random traffic", steady.UN, "In the paper OFAR and OFAR-L saturate later than MIN and PB."),
    ("4", "ADV+2", steady.ADV2, "In the paper OFAR saturates at 0.45 and PB at 0.38."),
    (
        "5",
        "ADV+h",
        steady.ADVH,
        (
            "In the paper OFAR saturates at 0.36, the others at 0.166. OFAR-L falls to the load of PB or below only at "
            "h = 6."
        ),
    ),
)
FIGURES = (
    Figure(
        "1",
        "A dragonfly with h = 2",
        ofar_drawings.fig1,
        wide=True,
        reading="9 groups of 4 routers, each with 2 terminals and 2 global links: 36 routers and 72 terminals.",
    ),
    Figure(
        "2a",
        "The local link that limits Valiant routing under ADV+h",
        ofar_drawings.fig2a,
        reading="Traffic that arrives over the h global links of a router leaves over the global links of the next "
        "router. All this traffic uses the local link between the two routers.",
    ),
    Figure(
        "2b",
        "Throughput of Valiant routing under ADV+N",
        steady.fig2b,
        (steady.OFFSETS, steady.KNEES),
        reading="The bound follows from the loads of all channels; the paper shows the curve without numbers.",
    ),
    *(
        figure
        for number, words, name, reading in _STEADY
        for figure in (
            Figure(
                f"{number}a",
                f"Latency over load, {words}",
                steady.latency(f"Fig. {number}a: latency", name),
                (name,),
                reading=f"{_GRANTED} {reading}",
                remark=steady.remark(name),
            ),
            Figure(
                f"{number}b",
                f"Throughput, {words}",
                steady.accepted(f"Fig. {number}b: throughput", name),
                (name, steady.SATURATION) if name != steady.UN else (name,),
                reading=f"{_GRANTED} If a smaller network was run, dashed lines show the paper's network, far beyond "
                "saturation."
                if name != steady.UN
                else _GRANTED,
                remark=steady.remark(name),
            ),
        )
    ),
    *(
        Figure(
            f"6{letter}",
            f"Latency by time of sending, {words}",
            transients.figure(f"Fig. 6{letter}", before, to_adversarial=to_adversarial),
            (transients.TRANSIENTS,),
            reading=f"{_GRANTED} {reading}",
            remark=steady.remark(transients.TRANSIENTS),
        )
        for letter, words, before, to_adversarial, reading in (
            (
                "a",
                "UN to ADV+2",
                "UN",
                True,
                _ADAPTS,
            ),
            ("b", "ADV+2 to UN", "ADV+2", False, "In the paper all routings adapt very fast."),
            (
                "c",
                "ADV+2 to ADV+h",
                "ADV+2",
                True,
                _ADAPTS,
            ),
        )
    ),
    Figure(
        "7a",
        "Completion time of bursts of 2,000 packets per node",
        bursts.figure("Fig. 7a", bursts.PRINTED),
        (bursts.BURSTS,),
        reading=f"{_GRANTED} In the paper OFAR needs 43 % to 82 % of PB's time. The text of the paper says 2,000 "
        "packets.",
    ),
    Figure(
        "7b",
        "Completion time of bursts of 200 packets per node",
        bursts.figure("Fig. 7b", bursts.COUNTED),
        (bursts.BURSTS,),
        reading=f"{_GRANTED} The other reading is 200 packets: then a million packets arrive, as the paper counts.",
    ),
    Figure(
        "triggers",
        "Readings of the condition for a detour",
        rings.trigger_figure,
        (*steady.SWEEPS, rings.TRIGGERS),
        wide=True,
        reading=_OF_TRIGGERS,
        remark=steady.remark(rings.TRIGGERS),
    ),
    Figure(
        "readings",
        "Verdicts of claims by trigger, in the network of the paper",
        None,
        (steady.SATURATION, *readings.EXPERIMENTS_READ),
        reading=f"{_OF_TRIGGERS} Loads far beyond saturation, a window of 1,500 cycles after 1,500 cycles. OFAR-L has "
        "no local misroute. In a local queue of its source group, a head of OFAR misroutes locally, and globally in "
        "the next router. A head of OFAR-L does the same (as in FOGSim), misroutes globally at once, or does not "
        "misroute.",
        rows=readings.figure_rows(_BY_READING),
        remark=readings.on_ring,
    ),
    Figure(
        "ring",
        "Physical and embedded escape rings",
        rings.ring_figure,
        (*steady.SWEEPS, rings.EMBEDDED),
        wide=True,
        reading=f"{_GRANTED} In the paper there is no significant difference.",
        remark=steady.remark(rings.EMBEDDED),
    ),
    Figure(
        "scarce",
        "Few VCs, with and without injection control",
        rings.scarce_figure,
        (rings.SCARCE,),
        wide=True,
        reading=f"{_GRANTED} In the paper throughput falls in some cases; the paper has no injection control.",
        remark=steady.remark(rings.SCARCE),
    ),
    Figure(
        "failures",
        "Broken links of the ring, with one ring and with two rings",
        rings.failures_figure,
        (rings.FAILURES,),
        reading=f"{_GRANTED} Embedded rings; all broken links belong to the first ring. The paper says that more than "
        "one failure could block the system, and that several rings without a common link would help, but gives no "
        "numbers.",
        remark=rings.failures_remark,
    ),
    Figure(
        "patterns",
        "OFAR, PB, PAR and UGAL under every pattern",
        beyond.patterns_figure,
        (beyond.PATTERNS,),
        wide=True,
        reading=f"Not in the paper. {_GRANTED} All routings have the same VCs and buffers; OFAR uses one VC for its "
        "ring. PAR measures the recent traffic of a link, UGAL the credits. Bit patterns use only some of the "
        "terminals.",
        remark=beyond.patterns_remark,
    ),
    Figure(
        "broken",
        "Links with random failures and repairs",
        beyond.broken_figure,
        (beyond.BROKEN,),
        wide=True,
        reading=f"Not in the paper. {_GRANTED} The offered load is 0.1 phits. Each link fails repeatedly at random "
        "times, and is repaired after 1,000 cycles on average. In a saturated network, the packets that "
        "are not dropped wait.",
        remark=steady.remark(beyond.BROKEN),
    ),
    Figure(
        "variant",
        "Other rules for allowed detours",
        beyond.variant_figure,
        (beyond.VARIANT,),
        reading=f"Not in the paper. {_GRANTED} All rules have the same VCs and buffers. The paper compares used "
        "credits; most of these belong to flits and credits on a long link. Our rule compares waiting flits.",
        remark=beyond.variant_remark,
    ),
    Figure(
        "tcep",
        "TCEP within the groups, with OFAR",
        beyond.tcep_figure,
        (beyond.WITH_TCEP,),
        wide=True,
        reading=f"Not in the paper. {_GRANTED} TCEP switches local links; links of the physical ring stay on.",
        remark=steady.remark(beyond.WITH_TCEP),
    ),
    Figure(
        "cost",
        "Hardware that a physical ring adds, for any h",
        rings.cost_figure,
        reading="Computed by the formulas; figcost.csv has the table. The paper prints 4 % more wires for h = 16.",
    ),
)

RULES = {**network_claims.RULES, **steady.RULES, **transients.RULES, **bursts.RULES, **rings.RULES}

PAPER = Paper(
    name="ofar",
    title="Garcia, Vallejo, Beivide, Odriozola, Camarero, Valero, Rodriguez, Labarta and Minkenberg: Bubble Flow "
    "Control in High-Radix Hierarchical Networks (OFAR)",
    folder=network_claims.FOLDER,
    experiments=EXPERIMENTS,
    figures=FIGURES,
    rules=RULES,
    frame=frame,
    judging="Loads are in phits per node and cycle, as in the paper; loads in the scenarios are in flits (8 phits). "
    "Saturation is the accepted load far beyond saturation, at an offered load of 0.6 phits per node and cycle and at "
    "the scale of the paper. Every row names the size that was run.",
    quick=f"Curves over load, bursts, all patterns and broken links use h = {QUICK_H} (342 terminals); "
    "saturation, offsets and transients use the paper's network (5,256 terminals).",
)
