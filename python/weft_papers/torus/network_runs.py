"""Defines the networks of Table 2 and the paper's experiments, and makes frames of their runs."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import polars as pl

from weft.analysis.machine_energy import Machine, Run
from weft.analysis.machine_power import Fabric, Shares, Task
from weft.errors import ResultsError
from weft_papers.common import frames
from weft_papers.common.measured import LackingError
from weft_papers.common.paper import Experiment
from weft_papers.common.shared_programs import SCALES
from weft_papers.torus import applications

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weft.results.result_set import ResultSet
    from weft_papers.common.measured import Measured

LOADS, IDLE, ALLOCATOR = "loads", "idle", "allocator"
CAUSES_64, CAUSES_256 = "causes64", "causes256"
SINGLE_64, SINGLE_256, SETS_64, SETS_256 = "single64", "single256", "sets64", "sets256"
# Networks of Table 2: widths, links of a trunk, terminals of a switch.
NETWORKS: dict[str, tuple[list[int], int, int]] = {
    "3D-1X": ([4, 4, 4], 1, 1),
    "2D-4X": ([4, 4], 4, 4),
    "1D-16X": ([4], 16, 16),
    "4D-1X": ([4, 4, 4, 4], 1, 1),
    "3D-4X": ([4, 4, 4], 4, 4),
}
# By number of nodes: the reference network, and the compared networks. The second value of each pair says if the power
# policy runs.
REFERENCE = {64: "3D-1X", 256: "4D-1X"}
COMPARED: dict[int, tuple[tuple[str, bool], ...]] = {
    64: (("2D-4X", False), ("2D-4X", True), ("1D-16X", False), ("1D-16X", True)),
    256: (("3D-4X", False), ("3D-4X", True)),
}
NODES = {SINGLE_64: 64, CAUSES_64: 64, SETS_64: 64, SINGLE_256: 256, CAUSES_256: 256, SETS_256: 256}
SHARES = Shares()
COLUMNS: dict[str, Any] = {
    "network": pl.String,
    "saves": pl.Boolean,
    "packet_flits": pl.Float64,
    "work": pl.String,
    "scale": pl.Float64,
    "runtime_s": pl.Float64,
    "w_net": pl.Float64,
    "busy": pl.Float64,
    "busy_of_tasks": pl.Float64,
}
# Seeds with which a full run simulates each set of applications.
_SEEDS = list(range(1, 31))

_SHORT = {"measure.warmup": "8us", "measure.window": "8us"}
EXPERIMENTS = (
    *(
        Experiment(
            name,
            tuple({"sweep.traffic.jobs": applications.single(cores, [scale], quick=True)} for scale in SCALES),
            tuple({"sweep.traffic.jobs": applications.single(cores, [scale], quick=False)} for scale in SCALES),
            scaled="smaller problems",
        )
        for name, cores in ((SINGLE_64, 8), (SINGLE_256, 2))
    ),
    *(
        Experiment(
            name,
            tuple({"sweep.traffic.jobs": applications.sets([scale], quick=True)} for scale in SCALES),
            tuple(
                {"sweep.traffic.jobs": applications.sets([scale], quick=False), "sweep.seed": _SEEDS}
                for scale in SCALES
            ),
            scaled="smaller problems, one seed",
            asked=True,
        )
        for name in (SETS_64, SETS_256)
    ),
    Experiment(LOADS, (_SHORT | {"sweep.traffic.load": [0.05, 0.5, 0.9]},)),
    Experiment(IDLE, ({"sweep.traffic.load": [0.001, 0.05], "measure.window": "40us"},)),
    Experiment(ALLOCATOR, (_SHORT,)),
)


@cache
def topology(network: str) -> dict[str, Any]:
    """Return a network of Table 2 as the value of the scenario key ``topology``."""
    widths, width, terminals = NETWORKS[network]
    return {"torus": {"widths": widths, "terminals_per_router": terminals, "trunk_width": width}}


def fabric(network: str) -> Fabric:
    """Return the number of switches, of ports and of terminal ports of a network of Table 2."""
    widths, width, terminals = NETWORKS[network]
    switches = 1
    for each in widths:
        switches *= each
    return Fabric(switches, switches * (2 * len(widths) * width + terminals), switches * terminals)


def label(network: str, *, saves: bool) -> str:
    """Return the paper's name of a network, with or without the policy."""
    return f"{network}-PS" if saves else network


def frame(results: ResultSet) -> pl.DataFrame:
    """Make the frame of an experiment, with a row for each finished point.

    Returns
    -------
    polars.DataFrame
        Columns of `frames.SCHEMA` and `COLUMNS`: ``network``; ``saves``, whether a policy switches links;
        ``packet_flits``, the length of a packet [flits]; ``work``, the application or the set; ``scale``, the factor of
        its gaps; ``runtime_s`` [s]; ``w_net``, the network power relative to that of the reference with the same number
        of nodes; ``busy`` and ``busy_of_tasks``, the shares of the time in which cores and tasks do not wait for
        messages. The columns of programs are null if the point does not run programs, or if the programs did not end.
    """
    more = [_more(results, point) for point in range(len(results))]
    rows = frames.rows(results, lambda scenario: label(_network(scenario), saves=_saves(scenario)))
    return frames.frame([row | added for row, added in zip(rows, more, strict=True)], COLUMNS)


def _network(scenario: Mapping[str, Any]) -> str:
    torus = scenario["topology"]["torus"]
    found = (torus["widths"], torus.get("trunk_width", 1), torus["terminals_per_router"])
    return next(name for name, each in NETWORKS.items() if each == found)


def _saves(scenario: Mapping[str, Any]) -> bool:
    return "always_on" not in scenario["power"]["policy"]


def _more(results: ResultSet, point: int) -> dict[str, Any]:
    scenario = results.scenario(point)
    network, saves = _network(scenario), _saves(scenario)
    name, _, scale = results.summaries[point]["jobs"][0]["job"].rpartition(" ")
    row: dict[str, Any] = {"network": network, "saves": saves, "work": name or None}
    row["packet_flits"] = results.summaries[point]["packet_flits"]
    row["scale"] = float(scale) if name else None
    try:
        run = Run.of(results, point, Machine())
    except ResultsError:
        return row
    reference = fabric(REFERENCE[run.nodes])
    return row | {
        "runtime_s": run.seconds,
        "w_net": run.fabric.w_net(SHARES, reference),
        "busy": run.busy,
        "busy_of_tasks": run.busy_of_tasks,
    }


Tasks = dict[tuple[str, bool], Task]


def tasks(measured: Measured, experiment: str, work: str, scale: float) -> Tasks:
    """Return the results of an application or a set on every network: means over seeds, relative to the reference.

    Means of power and busy share are weighted by run time, so that they are means of energies.

    Raises
    ------
    LackingError
        If a network was not run, or a run did not end.
    """
    rows = measured[experiment].filter((pl.col("work") == work) & (pl.col("scale") == scale))
    nodes = NODES[experiment]
    wanted = ((REFERENCE[nodes], False), *COMPARED[nodes])
    found: Tasks = {}
    base = None
    for network, saves in wanted:
        own = rows.filter((pl.col("network") == network) & (pl.col("saves") == saves))
        if own.is_empty() or own["runtime_s"].null_count():
            raise LackingError(f"{work} with gaps x {scale:g} did not run to its end on {label(network, saves=saves)}")
        times = own["runtime_s"]
        seconds = float(times.mean())  # type: ignore[arg-type] # there are rows
        base = base or seconds
        powers = [float((own[column] * times).mean()) / seconds for column in ("w_net", "busy")]  # type: ignore[arg-type]
        found[network, saves] = Task(fabric(network), powers[0], seconds / base, powers[1])
    return found


def scales(measured: Measured, experiment: str) -> list[float]:
    """Check that every factor of gaps was run, and return all factors. A claim is judged with each factor.

    Raises
    ------
    LackingError
        If one of the factors was not run.
    """
    ran = set(measured[experiment]["scale"].drop_nulls())
    lacking = [each for each in SCALES if each not in ran]
    if lacking:
        text = " and ".join(f"{each:g}" for each in lacking)
        raise LackingError(f"gaps of {text} times their original length were not run: use `--full`")
    return list(SCALES)
