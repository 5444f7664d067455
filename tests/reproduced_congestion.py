"""Makes frames of the experiments of Zahn et al. that have the outcome of the paper.

No simulation computed these numbers.

A scheme is a queueing scheme of the switches: 1q has a single queue, VOQsw, DBBM and others have several. A policy
saves power on links: with on/off a link goes off, with high/low it keeps one lane on.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import polars as pl

from weft_papers.common.frames import SCHEMA
from weft_papers.common.measured import Measured
from weft_papers.common.shared_programs import SCALES
from weft_papers.congestion import one_factor
from weft_papers.congestion.application_runs import RUNS as APPLICATIONS
from weft_papers.congestion.hot_spot_networks import DRAGONFLY, NETWORKS, TORUS, TREE
from weft_papers.congestion.hot_spot_runs import BUFFERS, COMBINATIONS, FILL, OWN, READINGS, TERMINALS
from weft_papers.congestion.scheme_outcomes import (
    COLUMNS,
    DBBM,
    FLOW2SL,
    H2LQ,
    HIGH_LOW,
    IODET,
    LADDER,
    NONE,
    ON_OFF,
    ONE_QUEUE,
    POLICIES,
    VOQSW,
    mechanism,
)

# Accepted load [flits/terminal/cycle], latency [us] and energy [nJ/bit] without a policy, by network and scheme.
PRINTED: dict[str, dict[str, tuple[float, float, float]]] = {
    TORUS: {
        ONE_QUEUE: (0.1, 30.0, 4.0),
        VOQSW: (0.05, 40.0, 5.0),
        DBBM: (0.25, 5.0, 1.2),
        IODET: (0.25, 5.0, 1.2),
    },
    TREE: {ONE_QUEUE: (0.1, 15.0, 8.0), VOQSW: (0.25, 5.0, 3.0), DBBM: (0.25, 5.0, 3.0), FLOW2SL: (0.24, 20.0, 3.0)},
    DRAGONFLY: {ONE_QUEUE: (0.12, 12.0, 1.0), VOQSW: (0.3, 2.0, 0.45), DBBM: (0.3, 2.0, 0.45), H2LQ: (0.3, 2.0, 0.45)},
}
# For each policy, the factors by which it changes throughput, latency and energy per bit.
TIMES = {NONE: (1.0, 1.0, 1.0), ON_OFF: (1.0, 1.02, 0.99), HIGH_LOW: (0.97, 1.05, 0.95), LADDER: (0.995, 1.5, 0.5)}
_NETWORKS = {TORUS: "torus", TREE: "k_ary_n_tree", DRAGONFLY: "dragonfly"}


def row(network: str, scheme: str, saving: str, numbers: tuple[float, float, float], **more: Any) -> dict[str, Any]:
    """Make a row of a frame. Numbers that are not given are typical."""
    accepted, latency, energy = (value * times for value, times in zip(numbers, TIMES[saving], strict=True))
    usual: dict[str, Any] = {
        "mechanism": mechanism(scheme, saving),
        "network": _NETWORKS[network],
        "scheme": scheme,
        "saving": saving,
        "load": 0.4,
        "accepted_load": accepted,
        "latency_us": latency,
        "network_latency_us": latency / 2,
        "energy_nj": energy,
        "energy_between_nj": 0.8 * energy,
        "cold_load": accepted,
        "cold_latency_us": latency,
        "hot_load": 1.0,
        "link_use": accepted,
        "transitions": 1000.0 if scheme == ONE_QUEUE else 10.0,
        "window_us": 1000.0,
        "saved_share": 0.0,
        "port_kib": 64.0,
        "network_ports": 64.0,
        "power_w": 1000.0,
        "saturated": True,
        "terminals": 1056.0,
        "stalled": False,
        "derived": False,
        "seed": 1.0,
    }
    return usual | more


@cache
def ideal() -> Measured:
    """Make the frames of all experiments, with the outcome that the paper describes."""
    found = {
        network: [row(network, name, saving, numbers) for name, numbers in schemes.items() for saving in POLICIES]
        for network, schemes in PRINTED.items()
    }
    use = {ONE_QUEUE: 0.112, VOQSW: 0.25, DBBM: 0.27, H2LQ: 0.281}
    found[FILL] = [
        row(DRAGONFLY, name, NONE, PRINTED[DRAGONFLY][name], link_use=value * times, window_us=window)
        for name, value in use.items()
        for window, times in ((10.0, 1.5), (2000.0, 1.0))
    ]
    found[READINGS] = [row(TORUS, "IODET by coordinate", NONE, PRINTED[TORUS][IODET])]
    found[TERMINALS] = [row(TORUS, DBBM, ON_OFF, PRINTED[TORUS][DBBM])]
    for factor in one_factor.FACTORS:
        for network in factor.networks():
            found[one_factor.experiment(network, factor)] = found[network]
    found[COMBINATIONS] = [each for network in NETWORKS for each in found[network]]
    # each combination has four memory sizes; with the smaller ones, cold flows lose a tenth of their throughput
    found[BUFFERS] = [
        row(network, name, saving, PRINTED[network][name], port_kib=kib, cold_load=share * PRINTED[network][name][0])
        for network in NETWORKS
        for name in (ONE_QUEUE, DBBM)
        for saving in (NONE, LADDER)
        for kib, share in ((16.0, 0.9), (32.0, 0.995), (64.0, 1.0))
    ]
    found[OWN] = [
        row(network, DBBM, saving, PRINTED[network][DBBM], seed=seed, saved_share=share)
        for network in NETWORKS
        for saving, share in ((NONE, 0.0), (LADDER, 0.85))
        for seed in (1.0, 2.0)
    ]
    found[APPLICATIONS] = [
        row(
            network,
            name,
            saving,
            numbers,
            work=work,
            scale=scale,
            link_use=use,
            managed_j=energy,
            runtime_us=100.0 / scale,
        )
        for network, schemes in PRINTED.items()
        for name, numbers in schemes.items()
        for saving, energy in ((NONE, 1.0), (ON_OFF, 0.1), (HIGH_LOW, 0.2))
        for work, use in (("NAMD", 0.02), ("Graph500", 0.06))
        for scale in SCALES
    ]
    return Measured({name: pl.DataFrame(rows, schema=SCHEMA | COLUMNS) for name, rows in found.items()})
