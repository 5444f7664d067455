"""Makes frames of the experiments of Andujar et al. that have the outcome of the paper, without a simulation.

W_net and E_net are the power and the energy of the network, relative to the reference: the network without trunks that
has the same number of nodes, with all links on.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import polars as pl

from weft_papers.common.frames import SCHEMA
from weft_papers.common.measured import Measured
from weft_papers.common.shared_programs import SCALES
from weft_papers.torus import causes
from weft_papers.torus.applications import FOUR, GRAPH500
from weft_papers.torus.network_runs import (
    ALLOCATOR,
    CAUSES_64,
    CAUSES_256,
    COLUMNS,
    COMPARED,
    IDLE,
    LOADS,
    NODES,
    REFERENCE,
    SETS_64,
    SETS_256,
    SINGLE_64,
    SINGLE_256,
    label,
)

# Network power W_net relative to the reference, as printed for four applications, whose run times are equal.
W_NET = {
    ("2D-4X", False): 0.715,
    ("2D-4X", True): 0.50,
    ("1D-16X", False): 0.43,
    ("1D-16X", True): 0.32,
    ("3D-4X", False): 0.777,
    ("3D-4X", True): 0.50,
}
# Busy shares of cores on the reference network. The four applications are in ascending order of their savings of
# energy.
BUSY = dict(zip((*FOUR, GRAPH500), (0.95, 0.9, 0.8, 0.7, 0.14), strict=True)) | dict.fromkeys("ABC", 0.3)
BUSY_256 = BUSY | {FOUR[1]: 0.044}


def crossing(share: float, time: float, w_net: float, busy: float) -> float:
    """Return the busy share of cores with which a machine saves energy below the idle share `share` of a node's power.

    The energies of the two machines are linear over the idle share. Their difference is f0 at share 0 and f1 at share
    1, so it is 0 at f0 / (f0 - f1).
    """
    network = 0.15 * (w_net * time - 1)
    last = network + 0.85 * (time - 1)
    first = -share * last / (1 - share)
    return (busy + (first - network) / 0.85) / time


def row(network: str, saves: bool, work: str | None, scale: float | None, **more: Any) -> dict[str, Any]:
    """Make a row of a frame. Numbers that are not given are typical."""
    usual: dict[str, Any] = {
        "mechanism": label(network, saves=saves),
        "network": network,
        "saves": saves,
        "work": work,
        "scale": scale,
        "runtime_s": 1e-3,
        "w_net": W_NET.get((network, saves), 1.0),
        "load": 0.1,
        "accepted_load": 0.1,
        "packet_latency_mean_cycles": 100.0,
        "saturated": False,
        "stalled": False,
        "derived": False,
        "seed": 1.0,
    }
    return usual | more


# For each experiment, work and network: relative run time, W_net without and with the policy, and the idle shares of a
# node below which the machine saves energy, without and with the policy. If an idle share is None, the busy share
# follows from equal work instead.
PRINTED: dict[tuple[str, str, str], tuple[float, float, float, float | None, float | None]] = {
    (SINGLE_64, FOUR[3], "2D-4X"): (1.005, 0.715, 0.5, None, None),
    (SINGLE_64, FOUR[3], "1D-16X"): (1.02, 0.43, 0.32, None, None),
    (SINGLE_64, GRAPH500, "2D-4X"): (1.19, 0.7143, 0.58, 0.2, 0.4),
    (SINGLE_64, GRAPH500, "1D-16X"): (2.12, 0.43, 0.42, None, None),
    (SINGLE_256, GRAPH500, "3D-4X"): (1.015, 0.777, 0.6, None, None),
    (SETS_64, "A", "1D-16X"): (1.045, 0.43, 0.32, None, None),
    (SETS_64, "B", "2D-4X"): (1.10, 0.7143, 0.56, 0.6, 0.7),
    (SETS_64, "B", "1D-16X"): (1.5, 0.43, 0.42, 0.05, 0.1),
    (SETS_64, "C", "2D-4X"): (1.15, 0.7143, 0.54, 0.4, 0.45),
    (SETS_64, "C", "1D-16X"): (1.7, 0.43, 0.42, 0.05, 0.1),
    (SETS_256, "B", "3D-4X"): (1.08, 0.777, 0.6, 0.3, 0.45),
    (SETS_256, "C", "3D-4X"): (1.1, 0.777, 0.6, 0.3, 0.45),
}


def _of_work(experiment: str, work: str, scale: float) -> list[dict[str, Any]]:
    nodes = NODES[experiment]
    busy = (BUSY if nodes == 64 else BUSY_256)[work]
    rows = [row(REFERENCE[nodes], False, work, scale, busy=busy)]
    for network, saves in COMPARED[nodes]:
        usual = (1.0, W_NET[network, False], W_NET[network, True], None, None)
        time, plain, less, at, at_less = PRINTED.get((experiment, work, network), usual)
        w_net, share = (less, at_less) if saves else (plain, at)
        own = busy / time if share is None else crossing(share, time, w_net, busy)
        rows.append(row(network, saves, work, scale, runtime_s=1e-3 * time, w_net=w_net, busy=own))
    return rows


@cache
def ideal() -> Measured:
    """Make the frames of all experiments, with the outcome that the paper describes."""
    works = {SINGLE_64: (*FOUR, GRAPH500), SINGLE_256: (*FOUR, GRAPH500), SETS_64: "ABC", SETS_256: "ABC"}
    found = {
        name: [each for work in of for scale in SCALES for each in _of_work(name, work, scale)]
        for name, of in works.items()
    }
    every = [(REFERENCE[nodes], False) for nodes in REFERENCE] + [each for of in COMPARED.values() for each in of]
    for name in (LOADS, IDLE):
        found[name] = [
            row(
                network,
                saves,
                None,
                None,
                load=load,
                terminals=256.0 if network in ("4D-1X", "3D-4X") else 64.0,
                packet_latency_mean_cycles=100.0 if network in REFERENCE.values() else 80.0,
            )
            for network, saves in every
            for load in (0.1, 0.5)
        ]
    found[ALLOCATOR] = [
        row(
            network,
            False,
            None,
            None,
            load=1.0,
            packet_flits=flits,
            accepted_load=0.95 if network in REFERENCE.values() else 0.8,
        )
        for network, _ in every
        for flits in (8.0, 1.0)
    ]
    for changes, as_it_is in ((CAUSES_64, SINGLE_64), (CAUSES_256, SINGLE_256)):
        found[changes] = [
            own | {"work": f"{own['work']} with {name}"}
            for name, change in causes.CHANGES[NODES[changes]].items()
            for work in change.works
            for own in _of_work(as_it_is, work, 1.0)
        ]
    return Measured({name: pl.DataFrame(rows, schema=SCHEMA | COLUMNS) for name, rows in found.items()})
