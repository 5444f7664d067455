"""Makes frames of FleX's experiments that have the outcome of the paper. No simulation computed these numbers.

LBR is a routing that draws one of several candidate paths: paths with shorter queues in the last snapshot are more
likely.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import polars as pl

from weft_papers.common.frames import SCHEMA
from weft_papers.common.measured import Measured
from weft_papers.flex import equal_concentration, lbr_readings
from weft_papers.flex.networks import DRAGONFLY, FAT_TREE, FLEX, HYPERX, NETWORKS, SLIM_FLY
from weft_papers.flex.performance_claims import LOCAL
from weft_papers.flex.performance_frame import (
    BALANCED,
    COLUMNS,
    FLEX_OF_6,
    HYPERX_2D,
    HYPERX_3D,
    LARGER,
    LBR,
    MINIMAL,
    READINGS,
    ROUTINGS,
    SLIM_FLY_OF_10,
    UGAL,
    mechanism,
    of_layers,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LOADS = (0.05, 0.1, 0.2, 0.4, 0.5, 0.6, 0.8, 1.0)
HOT = (0.0002, 0.0006, 0.0012)
# `LATENCY` is the latency of each network at low loads under minimal routing [cycles]. `TIMES` is the factor by which
# each routing multiplies this latency. `HOPS` is the mean number of links that a packet crosses in each network.
LATENCY = {FAT_TREE: 17.0, DRAGONFLY: 13.0, HYPERX: 10.4, SLIM_FLY: 10.7, FLEX: 10.4, LARGER: 10.5}
TIMES = {MINIMAL: 1.0, BALANCED: 1.0, UGAL: 1.05, LBR: 1.16}
HOPS = {FAT_TREE: 3.78, DRAGONFLY: 2.68, HYPERX: 1.8, SLIM_FLY: 1.9, FLEX: 1.8, LARGER: 1.85}
# Saturation of fat tree, dragonfly, HyperX, Slim Fly and FleX, by pattern and routing [flits/terminal/cycle].
FULL: dict[str, dict[str, tuple[float, ...]]] = {
    "uniform": {
        MINIMAL: (0.95, 0.8, 0.94, 0.7, 0.87),
        UGAL: (0.95, 0.7, 0.93, 0.6, 0.85),
        LBR: (0.95, 0.8, 0.94, 0.7, 0.93),
    },
    "bit_complement": {
        MINIMAL: (0.95, 0.06, 0.1, 0.2, 0.3),
        UGAL: (0.95, 0.2, 0.3, 0.25, 0.4),
        LBR: (0.95, 0.3, 0.4, 0.4, 0.6),
    },
    "bit_reverse": {
        MINIMAL: (0.95, 0.4, 0.3, 0.2, 0.3),
        UGAL: (0.95, 0.5, 0.6, 0.5, 0.9),
        LBR: (0.95, 0.5, 0.6, 0.5, 0.93),
    },
    "shuffle": {MINIMAL: (0.9, 0.4, 0.3, 0.3, 0.4), UGAL: (0.9, 0.4, 0.5, 0.5, 0.92), LBR: (0.9, 0.4, 0.5, 0.5, 0.93)},
    "transpose": {
        MINIMAL: (0.95, 0.9, 0.3, 0.3, 0.4),
        UGAL: (0.95, 0.7, 0.3, 0.4, 0.5),
        LBR: (0.95, 0.7, 0.5, 0.5, 0.9),
    },
    "hot_spot": dict.fromkeys(ROUTINGS, (0.001, 0.001, 0.001, 0.001, 0.001)),
    "random_permutation": {
        MINIMAL: (0.95, 0.3, 0.3, 0.3, 0.35),
        UGAL: (0.95, 0.35, 0.35, 0.35, 0.38),
        LBR: (0.95, 0.4, 0.5, 0.5, 0.93),
    },
    "asymmetric": {
        MINIMAL: (0.95, 0.2, 0.4, 0.3, 0.5),
        UGAL: (0.95, 0.3, 0.6, 0.4, 0.5),
        LBR: (0.95, 0.4, 0.6, 0.5, 0.9),
    },
    "next_group": {MINIMAL: (0, 0.03, 0, 0, 0.3), UGAL: (0, 0.3, 0, 0, 0.4), LBR: (0, 0.3, 0, 0, 0.45)},
    "larger": {MINIMAL: (0.4,), UGAL: (0.5,), LBR: (0.97,)},
}
FULL |= {
    name: {MINIMAL: (0.95, 0.1, 0.1, 0.1, 0.2), UGAL: (0.95, 0.1, 0.1, 0.1, 0.3), LBR: (0.95, 0.1, 0.1, 0.1, 0.4)}
    for pair in LOCAL
    for name in pair
}


def row(network: str, routing: str, load: float, full: float, latency: float, **more: Any) -> dict[str, Any]:
    """Make a row of a network that accepts loads up to `full`. All other numbers are typical."""
    usual: dict[str, Any] = {
        "mechanism": mechanism(network, routing),
        "network": network,
        "routing": routing,
        "load": load,
        "offered_load": load,
        "accepted_load": min(load, full),
        "saturated": load > full,
        "stalled": False,
        "derived": False,
        "seed": 1.0,
        "packet_latency_mean_cycles": latency,
        "hops_mean": HOPS.get(network, 1.8),
        "hop_packets": [9, 185, 806],
    }
    return usual | more


def frame(rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Make a frame from rows of networks."""
    return pl.DataFrame(list(rows), schema=SCHEMA | COLUMNS)


def of_pattern(pattern: str) -> pl.DataFrame:
    """Make the frame of a traffic pattern: all networks and routings over load."""
    loads = HOT if pattern == "hot_spot" else LOADS
    rows = []
    for routing, limits in FULL[pattern].items():
        names = (LARGER,) if pattern == "larger" else NETWORKS
        for name, full in zip(names, limits, strict=True):
            latency = TIMES[routing] * (8.0 if (pattern, name) == ("transpose", DRAGONFLY) else LATENCY[name])
            # under UGAL, packets also load channels of detours
            latency *= 1.2 if (pattern, name, routing) == ("transpose", DRAGONFLY, UGAL) else 1
            # Load 0.02 is needed, because under bit complement and next group the dragonfly saturates below all loads
            # in `loads`.
            rows += [row(name, routing, load, full, latency, pattern=pattern) for load in (0.02, *loads) if full]
    if pattern not in ("larger", "hot_spot"):
        limit = FULL[pattern][MINIMAL][-1]
        rows += [row(FLEX, BALANCED, load, limit, LATENCY[FLEX]) for load in loads]
    return frame(rows)


def of_periods() -> pl.DataFrame:
    """Make rows of LBR with several snapshot periods.

    With a longer period, LBR has a higher latency and saturates at a lower load.
    """
    return frame(
        row(FLEX, LBR, load, 0.93 - place / 20, 12 + place, period=period)
        for place, period in enumerate((1, 10, 100))
        for load in LOADS
    )


def of_readings() -> pl.DataFrame:
    """Make rows in which all interpretations of LBR (the paper's load balancing) have the same results."""
    return frame(
        row(name, routing, load, full, TIMES.get(routing, TIMES[LBR]) * LATENCY[name], pattern=pattern)
        for pattern in lbr_readings.PATTERNS
        for routing in (MINIMAL, *READINGS)
        for name, full in zip(NETWORKS, FULL[pattern][routing if routing == MINIMAL else LBR], strict=True)
        if name in (FLEX, FAT_TREE)
        for load in LOADS
    )


def of_concentration() -> pl.DataFrame:
    """Make rows in which FleX accepts more than Slim Fly if both have the same number of terminals per router."""
    return frame(
        row(name, routing, load, full, LATENCY[FLEX], pattern=pattern)
        for name, full in ((FLEX_OF_6, 0.9), (SLIM_FLY_OF_10, 0.1))
        for pattern in equal_concentration.PATTERNS
        for routing in ROUTINGS
        for load in LOADS
    )


def of_layers_and_dimensions() -> pl.DataFrame:
    """Make rows for Figs. 16 and 17, in which hops are the mean distances in the networks."""
    hops = dict(zip(map(of_layers, range(3, 8)), (1.8, 2.21, 2.17, 2.31, 2.41), strict=True))
    flexes = [(name, BALANCED, mean) for name, mean in hops.items()]
    others = [(HYPERX_2D, MINIMAL, 1.67), (HYPERX_3D, MINIMAL, 2.5)]
    return frame(
        row(name, routing, load, 1.0, 5 + 3 * mean, hops_mean=mean)
        for name, routing, mean in [*flexes, *others]
        for load in LOADS
    )


@cache
def ideal() -> Measured:
    """Make the frames of all experiments, with the numbers of the paper."""
    frames = {pattern: of_pattern(pattern) for pattern in FULL}
    more = {"periods": of_periods(), "readings": of_readings(), "layers": of_layers_and_dimensions()}
    return Measured(frames | more | {"concentration": of_concentration()}, quick=False)
