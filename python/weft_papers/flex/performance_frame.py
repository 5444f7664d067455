"""Makes a frame of the paper's runs, in which networks and routings have the paper's names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from weft_papers.common import frames
from weft_papers.flex.networks import DRAGONFLY, FAT_TREE, FLEX, HYPERX, SLIM_FLY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weft.results.result_set import ResultSet

MINIMAL, UGAL, LBR = "minimal", "UGAL", "LBR"
# Names of the paper's routings, in the order of its figures.
ROUTINGS = (MINIMAL, UGAL, LBR)
# Interpretations ("readings") of LBR that the paper allows. They differ in the time at which LBR draws paths, in the
# definition of a queue, and in whether packets take the minimal path if all queues are equal. Figures use the first
# reading: predefined paths, and queues of flits that wait for a link.
_READINGS: dict[tuple[str, str, bool], str] = {
    ("fixed", "output_queue", False): LBR,
    ("fixed", "used_credits", False): "LBR, used credits",
    ("fixed", "output_queue", True): "LBR, minimal on ties",
    ("per_snapshot", "output_queue", False): "LBR, paths by snapshot",
    ("per_snapshot", "used_credits", False): "LBR, paths by snapshot, used credits",
    ("per_packet", "output_queue", False): "LBR, paths by packet",
    ("per_packet", "used_credits", False): "LBR, paths by packet, used credits",
}
PARAMETERS, READINGS = tuple(_READINGS), tuple(_READINGS.values())
LBR_ON_TIE = READINGS[2]
# Minimal routing of FleX over all its shortest paths. `MINIMAL` uses only the paths of the paper's algorithm 1.
BALANCED = "minimal, all paths"
# Names of networks in Figs. 13, 16 and 17.
LARGER = "FleX 8x8x3"
HYPERX_2D, HYPERX_3D = "HyperX 6x6", "HyperX 6x6x6"
# Networks beyond the paper: FleX with the number of terminals per router that Slim Fly has in Table 6, and vice versa.
FLEX_OF_6, SLIM_FLY_OF_10 = "FleX 7x8x3, 6 per router", "Slim Fly q = 7, 10 per router"
_FLEXES = {(8, 8): LARGER, (7, 8): FLEX_OF_6}
_NETWORKS = {"k_ary_n_tree": FAT_TREE, "dragonfly": DRAGONFLY, "slim_fly": SLIM_FLY}
_OVER = {"ugal_over": UGAL, "lbr": LBR}
# Columns that frames of this paper have in addition to `frames.SCHEMA`.
COLUMNS: dict[str, Any] = {
    "network": pl.String,
    "routing": pl.String,
    "pattern": pl.String,
    "period": pl.Int64,
    "path_bound": pl.Float64,
    "hop_packets": pl.List(pl.Int64),
}


def of_layers(layers: int) -> str:
    """Return the name that a FleX with layers of 6x6 routers and one terminal per router has in Figs. 16 and 17."""
    return f"FleX, {layers} layers"


def mechanism(network: str, routing: str) -> str:
    """Return the name of the curve of a network under a routing."""
    return f"{network}, {routing}"


def frame(results: ResultSet) -> pl.DataFrame:
    """Make a frame with a row for each finished point, with the columns of `frames.SCHEMA` and of `COLUMNS`.

    Accepted loads are means over the terminals that send, unlike those of `weft_papers.common.frames`.

    `COLUMNS` has ``network``, ``routing``, ``pattern``, ``period`` (of LBR's snapshots) [cycles], and ``hop_packets``
    (packets by number of links). ``path_bound`` is the highest load that the channels can carry, for routings whose
    paths do not depend on queues.
    """
    rows = frames.rows(results, lambda scenario: mechanism(*_who(scenario)))
    return frames.frame([row | _more(results, point, row) for point, row in enumerate(rows)], COLUMNS)


def _more(results: ResultSet, point: int, row: Mapping[str, Any]) -> dict[str, Any]:
    scenario = results.scenario(point)
    network, routing = _who(scenario)
    name, parameters = _named(scenario["routing"])
    # if some terminals send nothing, the offered load (a mean over all terminals) is lower than the load in the
    # scenario, which is per active terminal
    active = row["load"] / row["offered_load"] if row["offered_load"] else None
    accepted, bound = row["accepted_load"], results.summaries[point].get("path_bound_load")
    return {
        "network": network,
        "routing": routing,
        "pattern": _pattern(scenario["traffic"]["pattern"]),
        "period": int(parameters["every"].split("cycle")[0]) if name == "lbr" else None,
        "hop_packets": results.summaries[point].get("hop_histogram"),
        "accepted_load": accepted * active if accepted is not None and active else None,
        "path_bound": bound * active if bound is not None and active else None,
    }


def _named(value: Any) -> tuple[str, Any]:
    """Return the name and the parameters of a model in a resolved scenario."""
    if isinstance(value, str):
        return value, {}
    ((name, parameters),) = value.items()
    return name, parameters


def _pattern(value: Any) -> str:
    name, parameters = _named(value)
    return _pattern(parameters["pattern"]) if name == "within" else name


def _who(scenario: Mapping[str, Any]) -> tuple[str, str]:
    """Return the paper's names of the network and the routing of a resolved scenario."""
    name, parameters = _named(scenario["routing"])
    routing = _OVER.get(name, MINIMAL)
    if name == "lbr":
        drawn, _ = _named(parameters["candidates"])
        routing = _READINGS[drawn, parameters["sensor"], parameters["prefer_min_on_tie"]]
    if name == "flex_minimal" and parameters["paths"] == "balanced":
        routing = BALANCED
    return _network(*_named(scenario["topology"])), routing


def _network(name: str, sizes: Mapping[str, Any]) -> str:
    if name == "hyperx":
        if sizes["terminals_per_router"] > 1:
            return HYPERX
        return HYPERX_2D if len(sizes["widths"]) == 2 else HYPERX_3D
    if name == "flex":
        if sizes["terminals_per_router"] == 1:
            return of_layers(sizes["layers"])
        return _FLEXES.get(tuple(sizes["widths"]), FLEX)
    if name == "slim_fly" and sizes["q"] == 7:
        return SLIM_FLY_OF_10
    return _NETWORKS[name]
