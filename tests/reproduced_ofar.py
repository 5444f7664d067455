"""Makes frames of OFAR's experiments that have the outcome of the paper. No simulation computed these numbers.

The routings are MIN (minimal), VAL (Valiant), PB (piggybacking, adaptive at the source), OFAR (adaptive at every
router), and OFAR-L (OFAR without local detours). Under the pattern ADV+N, each group sends to the group that is N
groups further.
"""

from __future__ import annotations

from functools import cache
from math import exp
from typing import TYPE_CHECKING, Any

import polars as pl

from weft_papers.common.frames import SCHEMA
from weft_papers.common.measured import Measured
from weft_papers.ofar.closed_forms import valiant_bound
from weft_papers.ofar.routings_run import COLUMNS, MIN, OFAR, OFAR_E, OFAR_L, PAR, PB, PB_125, UGAL, VAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LOADS = (0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)
# Throughput of each routing by traffic pattern [phits/(node cycle)], and latencies at low loads.
FULL = {
    "UN": {MIN: 0.7, PB: 0.6, OFAR: 0.8, OFAR_L: 0.79},
    "ADV+2": {VAL: 0.33, PB: 0.38, PB_125: 0.39, OFAR: 0.45, OFAR_L: 0.44, OFAR_E: 0.45},
    "ADV+6": {VAL: 0.166, PB: 0.166, PB_125: 0.166, OFAR: 0.36, OFAR_L: 0.166, OFAR_E: 0.36},
}
LATENCY = {
    MIN: 130.0,
    VAL: 240.0,
    PB: 160.0,
    PB_125: 160.0,
    UGAL: 150.0,
    PAR: 155.0,
    OFAR: 132.0,
    OFAR_L: 131.0,
    OFAR_E: 132.0,
}
# Completion times of bursts under OFAR relative to PB. Their mean gives the printed speed-up.
TIMES = {"UN": 0.8174, "ADV+2": 0.8, "ADV+6": 0.431, "MIX1": 0.75, "MIX2": 0.7, "MIX3": 0.674}


def row(mechanism: str, pattern: str, load: float, **more: Any) -> dict[str, Any]:
    """Make a row of a frame. Numbers that are not given are typical."""
    usual = {
        "mechanism": mechanism,
        "pattern": pattern,
        "load": load,
        "accepted_load": load,
        "seed": 1.0,
        "saturated": False,
        "stalled": False,
        "derived": False,
        "h": 6,
        "rings": 1,
        "broken": 0,
        "injection": "free",
        "packet_latency_mean_cycles": LATENCY[mechanism],
        "dropped_packets": 0.0,
        "ring_hops": 0.0 if mechanism == OFAR else None,
    }
    return usual | more


def frame(rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Make a frame from rows of routings."""
    return pl.DataFrame(list(rows), schema=SCHEMA | COLUMNS)


def accepting(mechanism: str, pattern: str, load: float, full: float, **more: Any) -> dict[str, Any]:
    """Make a row of a routing whose highest accepted load is `full`."""
    return row(mechanism, pattern, load, accepted_load=min(load, full), saturated=load > full) | more


def over_load(pattern: str) -> pl.DataFrame:
    """Make the frame of a traffic pattern: all routings over load."""
    return frame(accepting(name, pattern, load, full) for name, full in FULL[pattern].items() for load in LOADS)


def of_all_patterns(mechanism: str) -> pl.DataFrame:
    """Make rows of a variant of OFAR under all patterns over load."""
    return frame(accepting(mechanism, name, load, full[OFAR]) for name, full in FULL.items() for load in LOADS)


def transients() -> pl.DataFrame:
    """Make latencies before and after a change of the pattern.

    OFAR and OFAR-L adapt at once, PB's peak falls in 1,000 cycles.
    """
    times = [10.0 + 20 * number for number in range(400)]
    rows = []
    for before, after in (("UN", "ADV+2"), ("ADV+2", "UN"), ("ADV+2", "ADV+6")):
        for name in (PB, OFAR, OFAR_L):
            is_slow = name == PB and after != "UN"
            peak = [300 * exp(-(time - 4000) / 400) if is_slow and time > 4000 else 0.0 for time in times]
            latency = [200 + each for each in peak]
            sent = {"sent_cycle": times, "sent_packets": [50] * len(times), "sent_latency": latency}
            rows.append(row(name, before, 0.14, then=after, change_cycle=4000, **sent))
    return frame(rows)


def bursts() -> pl.DataFrame:
    """Make rows of bursts of both sizes, in which OFAR-L takes 10 % longer than OFAR."""
    factors = {PB: (1.0, 0.0), OFAR: (0.0, 1.0), OFAR_L: (0.0, 1.1)}
    return frame(
        row(name, pattern, 1.0, per_terminal=size, completion_cycles=100.0 * size * (fixed + factor * time))
        for size in (200, 2000)
        for name, (fixed, factor) in factors.items()
        for pattern, time in TIMES.items()
    )


def scarce() -> pl.DataFrame:
    """Make rows in which throughput falls at the highest loads, but only without injection control."""
    falling = {1.0: 0.1, 0.8: 0.2}
    return frame(
        accepting(OFAR_E, "ADV+6", load, falling.get(load, 0.3) if control == "free" else 0.3, injection=control)
        for control in ("free", "bubble", "escape_occupancy")
        for load in LOADS
    )


TRIGGERS = ("granted", "granted_or_full", "unavailable")


def under(trigger: str, rows: pl.DataFrame, misroutes: str = "mixed") -> pl.DataFrame:
    """Add columns with an interpretation of OFAR's trigger and of OFAR-L to rows."""
    return rows.with_columns(trigger=pl.lit(trigger), global_misroutes=pl.lit(misroutes))


def readings() -> dict[str, pl.DataFrame]:
    """Make the frames of the interpretations ("readings") of OFAR, with equal points under each interpretation."""
    full, far = FULL["UN"], FULL["ADV+6"]
    plain = frame(accepting(name, "UN", 1.0, full[name]) for name in (MIN, PB))
    ours = frame(accepting(name, "UN", 1.0, full[name]) for name in (OFAR, OFAR_L))
    ring = frame([accepting(OFAR, "ADV+6", 0.6, far[OFAR])])
    without = frame([accepting(OFAR_L, "ADV+6", 0.6, far[OFAR_L], ring_hops=0.0)])
    change = transients().filter((pl.col("pattern") == "ADV+2") & (pl.col("then") == "ADV+6"))
    choices = ("mixed", "current_router", "source_router")
    return {
        "read_uniform": pl.concat([plain, *(under(each, ours) for each in TRIGGERS)]),
        "read_adversarial": pl.concat(
            [under(each, ring) for each in TRIGGERS]
            + [under(each, without, choice) for each in TRIGGERS for choice in choices]
        ),
        "read_scarce": pl.concat([under(each, scarce().filter(injection="free")) for each in TRIGGERS]),
        "read_change": pl.concat(
            [change.filter(mechanism=PB), *(under(each, change.filter(mechanism=OFAR)) for each in TRIGGERS)]
        ),
    }


@cache
def ideal() -> Measured:
    """Make the frames of all experiments, with the outcome that the paper describes."""
    frames = readings() | {
        "uniform": over_load("UN"),
        "adv2": over_load("ADV+2"),
        "advh": over_load("ADV+6"),
        "saturation": frame(
            accepting(name, pattern, 0.6, full)
            for pattern in ("ADV+2", "ADV+6")
            for name, full in FULL[pattern].items()
        ),
        "edge": frame(accepting(PB, "ADV+6", load, 0.13) for load in (0.12, 0.14)),
        "offsets": frame(
            row(VAL, f"ADV+{shift}", 0.6, accepted_load=valiant_bound(6, shift).load) for shift in range(1, 13)
        ),
        "knees": frame(
            accepting(VAL, f"ADV+{shift}", load, valiant_bound(6, shift).load)
            for shift, loads in ((1, (0.4, 0.44, 0.48, 0.52)), (6, (0.11, 0.12, 0.13, 0.14, 0.15)))
            for load in loads
        ),
        "minimal": frame([accepting(MIN, "ADV+1", 0.1, 1 / 72)]),
        "neighbours": frame([accepting(MIN, "matrix", 0.5, 1 / 6)]),
        "transients": transients(),
        "bursts": bursts(),
        "embedded": of_all_patterns(OFAR_E),
        "triggers": pl.concat([under(each, of_all_patterns(OFAR)) for each in TRIGGERS[1:]]),
        "scarce": scarce(),
        "failures": frame(
            row(OFAR_E, "ADV+6", 0.6, rings=rings, broken=broken, accepted_load=0.4 - 0.01 * broken / rings)
            for rings in (1, 2)
            for broken in (0, 1, 2, 4)
        ),
        "patterns": frame(
            row(name, pattern, 0.6, accepted_load=accepted, rings=rings)
            for pattern, best in (("UN", PAR), ("hot_spot", OFAR_E))
            for name, rings in ((UGAL, None), (PAR, None), (OFAR_E, 1), (OFAR_E, 3))
            for accepted in (0.5 if name == best else 0.4,)
        ),
        "variant": frame(
            row(OFAR, pattern, 0.6, accepted_load=accepted + 0.001 * seed, seed=float(seed), rule=rule)
            for pattern in ("ADV+6", "UN")
            for rule, accepted in (("OFAR", 0.35), ("OFAR by flits that wait", 0.48))
            for seed in (1, 2)
        ),
        "tcep": frame(
            row(OFAR, "UN", load, policy=policy, links_on_mean=on, energy_network_j=on)
            for policy, on in (('{"always_on": {}}', 1.0), ('{"tcep": {}}', 0.5))
            for load in (0.1, 0.2)
        ),
        "broken": frame(
            row(name, "UN", 0.1, rings=rings, down_share=down, dropped_share=down * (2 if rings is None else 0.2))
            for name, rings in ((UGAL, None), (OFAR_E, 1), (OFAR_E, 3))
            for down in (0.001, 0.02)
        ),
    }
    return Measured(frames, quick=False)
