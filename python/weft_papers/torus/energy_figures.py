"""Draws Figs. 2 to 7: bars of run times, busy shares and energies, and machine energy over the idle share.

The idle share is the power of an idle node, as a share of its maximum power.

W_net and E_net are the power and the energy of the network, relative to the reference: the network without trunks that
has the same number of nodes, with all links on.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from weft_papers.common import bar_figures, line_figures
from weft_papers.common.line_figures import Series
from weft_papers.common.measured import LackingError
from weft_papers.torus.applications import APPLICATIONS, SETS
from weft_papers.torus.network_runs import (
    ALLOCATOR,
    COMPARED,
    IDLE,
    LOADS,
    NETWORKS,
    NODES,
    REFERENCE,
    SHARES,
    SINGLE_64,
    SINGLE_256,
    fabric,
    label,
    tasks,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from weft.analysis.machine_power import Task
    from weft.plot.style import Picture as Drawing
    from weft_papers.common.measured import Measured
    from weft_papers.torus.network_runs import Tasks

MEASURES: dict[str, tuple[str, Callable[[Task], float]]] = {
    "Runtime": ("Run time [reference]", lambda task: task.runtime),
    "Run_task": ("Busy share [1]", lambda task: task.busy),
    "E_net": ("E_net [reference]", lambda task: task.e_net),
}
_IDLE_SHARES = [0.0, 0.25, 0.5, 0.75, 1.0]


def _found(measured: Measured, experiment: str) -> dict[str, Tasks]:
    """Return the runs of each application or set with gaps of unchanged length. Those that were not run are omitted."""
    works = APPLICATIONS if experiment in (SINGLE_64, SINGLE_256) else tuple(SETS)
    found = {}
    for work in works:
        try:
            found[work] = tasks(measured, experiment, work, 1.0)
        except LackingError as problem:
            lacking = problem
    if not found:
        raise lacking
    return found


def _names(experiment: str) -> list[tuple[str, bool]]:
    nodes = NODES[experiment]
    return [(REFERENCE[nodes], False), *COMPARED[nodes]]


def bars(experiment: str, measure: str, title: str) -> Callable[[Measured], Drawing]:
    """Make the function that draws a group of bars for each application or set, with a bar for each network."""
    y, of = MEASURES[measure]

    def draw(measured: Measured) -> Drawing:
        found = _found(measured, experiment)
        heights: dict[str, list[float | None]] = {
            label(*name[:1], saves=name[1]): [of(each[name]) for each in found.values()] for name in _names(experiment)
        }
        return bar_figures.grouped(title, list(found), heights, y)[0]

    return draw


def over_idle_share(experiment: str, title: str) -> Callable[[Measured], Drawing]:
    """Make the function that draws machine energy (E_cluster) over the idle share of a node's power.

    The idle share is the power of an idle node relative to a busy node. Each application or set has a panel. Energies
    are relative to the reference network.
    """

    def draw(measured: Measured) -> Drawing:
        panels = {}
        for work, found in _found(measured, experiment).items():
            reference = found[_names(experiment)[0]]
            panels[work] = [
                Series(label(network, saves=saves), _IDLE_SHARES, _beside(found[network, saves], reference))
                for network, saves in _names(experiment)
            ]
        return line_figures.panels(title, panels, "Idle share [1]", "E_cluster [reference]")

    return draw


def _beside(task: Task, reference: Task) -> list[float]:
    return [task.e_cluster(SHARES, idle) / reference.e_cluster(SHARES, idle) for idle in _IDLE_SHARES]


def latencies(nodes: int, measured: Measured) -> Drawing:
    """Draw latency over load of uniform traffic, for the networks of Table 2 with this number of nodes."""
    frame = measured[LOADS].filter(pl.col("terminals") == nodes)
    names = dict.fromkeys(frame["mechanism"])
    series = [line_figures.latency_over_load(frame.filter(pl.col("mechanism") == name), name) for name in names]
    title = f"Without applications: {nodes} nodes, uniform traffic"
    drawing, _ = line_figures.curves(title, "Load [flits/node/cycle]", "Latency [cycles]", series, at_top=True)
    return drawing


def ports_on(measured: Measured) -> pl.DataFrame:
    """Make the table of accepted load and relative network power W_net, for every network and load of uniform traffic.

    For comparison, the table includes networks without trunks whose links sleep when idle.
    """
    rows = []
    for name in (LOADS, IDLE):
        if name in measured.frames:
            frame = measured[name].sort("terminals", "mechanism", "load", maintain_order=True)
            rows += [
                {
                    "network": _called(row),
                    "load [flits/node/cycle]": row["load"],
                    "accepted [flits/node/cycle]": _rounded(row["accepted_load"], 4),
                    "latency [cycles]": _rounded(row["packet_latency_mean_cycles"], 1),
                    "W_net": _rounded(row["w_net"], 4),
                    "saturated": row["saturated"],
                }
                for row in frame.iter_rows(named=True)
            ]
    if not rows:
        raise LackingError("no network was run without applications")
    return pl.DataFrame(rows).unique(maintain_order=True)


def allocators(measured: Measured) -> pl.DataFrame:
    """Make the table of accepted loads of every network at full load, by packet length.

    The length matters, because the allocator grants whole packets.
    """
    frame = measured[ALLOCATOR].sort("packet_flits", "terminals", "mechanism")
    return pl.DataFrame(
        [
            {
                "network": row["network"],
                "ports of a switch": (of := fabric(row["network"])).ports // of.switches,
                "packet [flits]": int(row["packet_flits"]),
                "load [flits/node/cycle]": row["load"],
                "accepted [flits/node/cycle]": _rounded(row["accepted_load"], 4),
                "latency [cycles]": _rounded(row["packet_latency_mean_cycles"], 1),
            }
            for row in frame.iter_rows(named=True)
        ]
    )


def _called(row: dict[str, Any]) -> str:
    """Return the name of a network in a table.

    Links of a network without trunks sleep when idle, if it has a policy.
    """
    sleeps_when_idle = row["saves"] and row["network"] in REFERENCE.values()
    return f"{row['network']}, idle links off" if sleeps_when_idle else str(row["mechanism"])


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)


def table_1(measured: Measured) -> pl.DataFrame:  # noqa: ARG001 # as all tables
    """Make Table 1: shares of a switch's power, as printed and in Weft."""
    lines = [
        ("w_Sport", "0.1", f"{SHARES.port_asleep:g}"),
        ("w_ports", "0.65", f"{SHARES.ports:g}"),
        ("w_net", "0.15", f"{SHARES.network:g}"),
        ("w_Snodes", "variable", "0 to 1"),
    ]
    return pl.DataFrame(lines, schema=["parameter", "printed", "run"], orient="row")


def table_2(measured: Measured) -> pl.DataFrame:  # noqa: ARG001 # as all tables
    """Make Table 2: the networks, with their power W_net if one link of each trunk is on and no packets are sent."""
    rows = []
    for name, (widths, width, terminals) in NETWORKS.items():
        own, nodes = fabric(name), fabric(name).terminal_ports
        sleeping = 2 * len(widths) * (width - 1) / (2 * len(widths) * width + terminals)
        floor = type(own).asleep(own.switches, own.ports, sleeping, SHARES)
        reference = fabric(REFERENCE[nodes])
        rows.append(
            {
                "network": name,
                "nodes": nodes,
                "ports of a switch": own.ports // own.switches,
                "switches": own.switches,
                "ports": own.ports,
                "ratio of ports": round(own.w_net(SHARES, reference), 4),
                "W_net with one member of each trunk": round(floor.w_net(SHARES, reference), 4),
            }
        )
    return pl.DataFrame(rows)


LATENCIES = {nodes: partial(latencies, nodes) for nodes in REFERENCE}
