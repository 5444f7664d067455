"""Computes the energy of the whole machine (switches and nodes) for finished runs.

The energy of switches (routers) is computed from the states of their ports. The energy of nodes (terminals with their
cores) is computed from the time in which cores wait for messages.

Source, parameters and limits of the model are in `weft.analysis.machine_power`. This module reads the ports, their
states and the times of the ranks from results. Validation: `tests/test_analysis_machine.py`.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from weft.analysis.machine_power import Fabric, Shares, Task, share
from weft.errors import ResultsError
from weft.results import of_jobs, price_source, program_table, set_times
from weft.results.choose import LOAD, PATTERN, SEED, Chosen, parsed, same
from weft.results.rows import frame_of
from weft.scenario import node_interfaces
from weft.text.labels import setting

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set

    from weft.analysis.machine_watts import Hardware
    from weft.results.choose import Wanted
    from weft.results.result_set import ResultSet

# Powers of an idle node for which the table has rows by default, as shares of the full power of the node.
IDLE_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
# Shares of power that belong to the model of ports.
_OF_PORTS = ("port_asleep", "ports")
# Coordinates that describe the work, not the machine. A point and its reference (the run with which it is compared)
# must have equal values of these coordinates.
_OF_WORK = (SEED, LOAD, PATTERN, "traffic")


@dataclass(frozen=True)
class Machine:
    """Parameters of the power model of the whole machine.

    Attributes
    ----------
    shares : Shares
        Three shares of power (see `Shares`): of a sleeping port, of the ports of a switch, and of the network. The
        first two belong to the model of the paper. They do not apply if all runs have prices of their own (see
        `References.why_modelled`). With `hardware`, its shares replace those that `set_shares` does not name.
    idle_shares : sequence of float
        Power of an idle node, as shares of its full power. The table of results has a row for each of these shares.
    cores_per_terminal : int or None
        Cores of a node; by default the largest number of ranks on any node of the point.
    states : mapping of str to float
        Power of a port in a state such as ``half``, as a share of the power of a port that is on. In all
        other states, such as ``waking``, a port draws as much as in the state ``on``. In the state ``off``, a port
        draws `Shares.port_asleep`.
    hardware : Hardware or None
        Hardware of the machine, from which watts, kilowatt-hours and money are computed. With ``None``, the analysis
        computes only shares.
    set_shares : set of str or None
        Names of the shares of ports that the user sets. By default, these are the shares that differ from those of the
        paper.

    Raises
    ------
    WeftError
        If a share is not from 0 to 1.
    """

    shares: Shares = field(default_factory=Shares)
    idle_shares: Sequence[float] = IDLE_SHARES
    cores_per_terminal: int | None = None
    states: Mapping[str, float] = field(default_factory=dict)
    hardware: Hardware | None = None
    set_shares: Set[str] | None = None

    def __post_init__(self) -> None:
        for each in self.idle_shares:
            share(each, "idle share of a node")
        for state, each in self.states.items():
            share(each, f"share of a port in the state {state}")

    @property
    def fixed(self) -> Set[str]:
        """Names of the shares of ports that the user sets."""
        if self.set_shares is not None:
            return self.set_shares
        usual = Shares()
        return {name for name in _OF_PORTS if getattr(self.shares, name) != getattr(usual, name)}

    def shares_of(self, fabric: Fabric) -> Shares:
        """The shares of power, with the shares of the hardware's ports in a network."""
        if self.hardware is None or fabric.measured is not None:
            return self.shares
        found = self.hardware.port_shares(fabric)
        return replace(self.shares, **{name: each for name, each in found.items() if name not in self.fixed})


@dataclass(frozen=True)
class Run:
    """Run time and utilisation of the whole machine for a finished point.

    Attributes
    ----------
    fabric : Fabric
        The network of the point.
    nodes : int
        Number of nodes of the machine. A node has one terminal of the network, or one for each of its interfaces.
    seconds : float or None
        Run time [s]; ``None`` if the point runs neither programs nor batches, because the length of other runs is set
        by the scenario.
    busy, busy_of_tasks : float or None
        Share of the run time in which a core does not wait for messages: `busy` is the mean over all cores of the
        machine, and cores without a rank count as idle. `busy_of_tasks` is the mean busy share over the ranks. The two
        shares are ``None`` if the point runs no programs.
    """

    fabric: Fabric
    nodes: int
    seconds: float | None
    busy: float | None
    busy_of_tasks: float | None

    @classmethod
    def of(cls, results: ResultSet, point: int, machine: Machine, *, measured: bool = False) -> Run:
        """Reads run time and utilisation from a finished point.

        If it is `measured`, the power of the network is that of the run, else that of the model.

        Raises
        ------
        ResultsError
            If a program of the point did not end, if a part of its network failed, or if its ranks do not fit on the
            cores.
        """
        summary = results.summaries[point]
        if failing := set_times.faults(results)[point]:
            what = f"{results.describe(point)}: {failing} failed; failed parts draw no power, but this is not a saving"
            raise ResultsError.saying(what, "price a run without `faults` and `fault_model.random`")
        programs = [job for job in of_jobs.of(summary) if program_table.is_program(job)]
        if unfinished := [job["job"] for job in programs if job[program_table.RUN_TIME] is None]:
            what = f"{results.describe(point)} is not finished: {', '.join(unfinished)} did not end"
            again = results.recording("measure.stop.complete.max_window=1s")
            raise ResultsError.saying(what, f"run it for longer: {again}")
        fabric = _fabric(results, point, machine, measured)
        nodes = _nodes(results, point)
        if not programs:
            done = summary.get("completion_cycles")
            seconds = None if done is None else done * summary["cycle_seconds"]
            return cls(fabric, nodes, seconds, None, None)
        ranks = pl.read_parquet(results.file(point, "ranks.parquet"))
        # the end of the measured window would be a few cycles too late, because blocks exchange mail only at intervals
        end = max(ranks["finish_cycles"])
        busy = (ranks["compute_cycles"] + ranks["overhead_cycles"]) / end
        cores = _cores(results, point, machine, nodes)
        return cls(fabric, nodes, end * summary["cycle_seconds"], float(busy.sum()) / cores, float(busy.mean() or 0.0))


def _fabric(results: ResultSet, point: int, machine: Machine, measured: bool) -> Fabric:
    """Counts the ports of a network and sums the time in each of their states.

    The state of a port is that of its outgoing channel.
    """
    channels = results.channels(point).drop_nulls("from_router")
    window = results.summaries[point]["window_cycles"]
    states = [name for name in channels.columns if name.startswith("cycles_")]
    known = {name.removeprefix("cycles_") for name in states}
    if odd := [each for each in machine.states if each not in known - {"on", "off"}]:
        what = f"links of {results.describe(point)} have no state {', '.join(odd)} for which a share can be set"
        raise ResultsError.saying(what, f"name one of {', '.join(sorted(known - {'on', 'off'}))}")
    spent = {name.removeprefix("cycles_"): int(channels[name].sum()) for name in states}
    whole = channels.height * window
    fabric = Fabric(
        switches=channels["from_router"].n_unique(),
        ports=channels.height,
        terminal_ports=channels["to_router"].null_count(),
        on_share=1 - spent["off"] / whole,
    )
    if measured:
        most = results.summaries[point]["power_always_on_mean_w"]
        return replace(fabric, measured=results.summaries[point]["power_mean_w"] / most, watts=most)
    if machine.hardware is not None:
        fabric = replace(fabric, watts=machine.hardware.most_w(fabric))
    drawn = {"off": machine.shares_of(fabric).port_asleep} | dict(machine.states)
    return replace(fabric, drawn=sum(drawn.get(state, 1.0) * cycles for state, cycles in spent.items()) / whole)


def _cores_per_node(scenario: Mapping[str, Any]) -> int:
    """Largest number of cores per node that a workload `scheduler` of the scenario sets; 1 if none sets it."""
    traffic = scenario["traffic"]
    schedulers = ((job.get("workload") or {}).get("scheduler") or {} for job in [traffic, *(traffic.get("jobs") or [])])
    return max(each.get("cores_per_node") or 1 for each in schedulers)


def _nodes(results: ResultSet, point: int) -> int:
    """Number of nodes of the machine: the terminals divided by the network interfaces (or network planes) of a node."""
    summary, scenario = results.summaries[point], results.scenario(point)
    traffic = scenario["traffic"]
    workloads = {job.get("name", "all"): job.get("workload") for job in traffic.get("jobs") or [traffic]}
    nodes, rest = 0, int(summary["terminals"])
    for job in of_jobs.of(summary):
        workload = workloads.get(job["job"])
        programs = workload.get("programs") if isinstance(workload, dict) else None
        nodes += job["terminals"] // node_interfaces.of_node(scenario, programs)
        rest -= job["terminals"]
    return nodes + rest // node_interfaces.planes(scenario)


def _cores(results: ResultSet, point: int, machine: Machine, nodes: int) -> int:
    """Number of cores of the machine: the nodes times the cores per node."""
    if (results.folder(point) / "schedule.parquet").is_file():
        # programs run one after the other at a terminal, so the ranks of all programs together are more than the cores
        schedule = pl.read_parquet(results.file(point, "schedule.parquet"))
        fullest = max(
            math.ceil(ranks / of) for ranks, of in schedule.select("ranks", "terminals").drop_nulls().iter_rows()
        )
        fullest = max(fullest, _cores_per_node(results.scenario(point)))
    else:
        ranks = pl.read_parquet(results.file(point, "ranks.parquet"))
        fullest = max(ranks.group_by("terminal").len()["len"])
    if machine.cores_per_terminal is not None and machine.cores_per_terminal < fullest:
        what = f"{results.describe(point)}: a node has {fullest} ranks on {machine.cores_per_terminal} cores"
        raise ResultsError.saying(what, f"write {fullest} cores per terminal or more")
    return nodes * (machine.cores_per_terminal or fullest)


@dataclass(frozen=True)
class Reference:
    """The network and run with which other points are compared.

    Attributes
    ----------
    name : str
        The coordinates of the reference as a string, or the size of its network.
    fabric : Fabric
        The network of the reference.
    run : Run or None
        The run of the reference; ``None`` if the user names only the size of a network.
    """

    name: str
    fabric: Fabric
    run: Run | None


class References:
    """Finds for each point its reference: the run or network with which the point is compared.

    Parameters
    ----------
    results : ResultSet
        The points to be priced.
    wanted : optional
        A point of `others`, as its number or its coordinates, such as ``topology=torus(widths 4x4x4)``. Or the size of
        a network, as ports per switch x number of switches, such as ``7x64``. By default the reference has the network
        and the policy of the first point.
    others : ResultSet, optional
        Results that contain the reference; by default `results`.
    machine : Machine
        Parameters for pricing the references.

    Raises
    ------
    WeftError
        If no point is the reference, or a network of the given size has no ports.
    """

    def __init__(
        self, results: ResultSet, wanted: Wanted | None, machine: Machine, others: ResultSet | None = None
    ) -> None:
        self._results, self._given = results, machine
        self._others = others or results
        self._sized: Reference | None = None
        if isinstance(wanted, str) and (size := re.fullmatch(r"\s*(\d+)\s*x\s*(\d+)\s*", wanted)):
            ports, switches = int(size[1]), int(size[2])
            self._sized = Reference(f"{ports}x{switches}", Fabric(switches, ports * switches), None)
            return
        if wanted is None and others is None:
            wanted = _network_of_first(results)
        asked = {} if wanted is None else parsed(wanted, self._others.coordinates)
        self._asked = asked
        self._found = [asked % len(self._others)] if isinstance(asked, int) else _those(self._others, asked)

    @property
    def is_size(self) -> bool:
        """Whether the user names only the size of the reference network."""
        return self._sized is not None

    @cached_property
    def used(self) -> list[tuple[ResultSet, int]]:
        """All points of the table and their references, as results and the index of a point."""
        points = range(len(self._results))
        rows = [] if self.is_size else dict.fromkeys(self._row(point) for point in points)
        return [*((self._results, point) for point in points), *((self._others, row) for row in rows)]

    @cached_property
    def why_modelled(self) -> str:
        """Why the power of networks comes from shares; empty if it comes from the prices of the runs.

        All points and references have the same source of power. Otherwise, their powers could not be compared.
        """
        given, used = self._given, self.used
        if given.fixed or given.states:
            return "shares of ports are set"
        scenarios = [results.scenario(row) for results, row in used]
        own = [price_source.are_own(each) for each in scenarios]
        if not any(own):
            return "the scenario has no prices of its own"
        if not all(own):
            return f"{self._name(own.index(False))} has no prices of its own"
        same_hardware = [given.hardware is None or given.hardware.is_that_of(each) for each in scenarios]
        if not all(same_hardware):
            return f"the hardware is not the `power.catalogue` of {self._name(same_hardware.index(False))}"
        powers = [results.summaries[row]["power_always_on_mean_w"] for results, row in used]
        return "" if all(powers) else f"{self._name([bool(each) for each in powers].index(False))} draws no power"

    def _name(self, index: int) -> str:
        """Name of one of the used points, with its folder if there are several folders."""
        results, row = self.used[index]
        folder = "" if self._others is self._results else f" ({results.root})"
        return f"{results.describe(row)}{folder}"

    @cached_property
    def machine(self) -> Machine:
        """The parameters for all points. Without a source of watts, they have no hardware.

        Raises
        ------
        ResultsError
            If watts are needed, but neither the prices of the runs nor the catalogue give them.
        """
        hardware = self._given.hardware
        if hardware is None or hardware.speed is not None or not self.why_modelled:
            return self._given
        if hardware.node_w is not None or hardware.price_per_kwh is not None:
            what = f"the power of a node or the price of electricity is given, but {self.why_modelled}"
            raise ResultsError.saying(what, "also name the speed of the switches, such as --catalogue 100Gb/s")
        return replace(self._given, hardware=None)

    def of(self, point: int) -> Reference:
        """Finds the reference of a point.

        Raises
        ------
        ResultsError
            If no reference point, or more than one, fits the point.
        """
        if self._sized is not None:
            return self._sized
        row = self._row(point)
        run = Run.of(self._others, row, self.machine, measured=not self.why_modelled)
        return Reference(self._others.describe(row), run.fabric, run)

    def _row(self, point: int) -> int:
        """Finds the index of the reference of a point.

        If there are several reference points, they differ from each other in some coordinates. The reference of a point
        is the one that has the point's values of these coordinates.

        Raises
        ------
        ResultsError
            If no reference point, or more than one, has these values.
        """
        own = self._results.points[point]["coordinates"]
        others = {row: self._others.points[row]["coordinates"] for row in self._found}
        fixed = {} if isinstance(self._asked, int) else self._asked
        apart = [
            path
            for path in self._others.coordinates
            if path not in fixed and any(not same(each[path], own.get(path)) for each in others.values())
        ]
        apart = [path for path in apart if len({str(each[path]) for each in others.values()}) > 1]
        fit = [row for row, each in others.items() if all(same(each[path], own.get(path)) for path in apart)]
        if len(fit) != 1:
            what = f"{self._results.describe(point)}: {len(fit)} points match as its reference"
            listed = ", ".join(apart) or "its coordinates"
            raise ResultsError.saying(what, f"name one reference, by the number of a point or by {listed}")
        return fit[0]


def _network_of_first(results: ResultSet) -> dict[str, Any]:
    """The coordinates of the first point that describe its machine."""
    of_first = results.points[0]["coordinates"] if len(results) else {}
    return {
        path: value
        for path, value in of_first.items()
        if path not in _OF_WORK and path.partition(".")[0] not in _OF_WORK
    }


def _those(results: ResultSet, wanted: Mapping[str, Any]) -> list[int]:
    """Indices of the points that have the wanted coordinates.

    If a wanted value equals the value of some points, points whose value only has the same model name are left out.
    """
    chosen = Chosen.all_of(results)
    found = [
        row for row in chosen.points if all(same(chosen.value(row, path), asked) for path, asked in wanted.items())
    ]
    for path, asked in wanted.items():
        found = [row for row in found if same(chosen.value(row, path), asked, exactly=True)] or found
    if not found:
        what = f"no finished point of {results.root} is at {setting(wanted)}"
        raise ResultsError.saying(what, f"name one of its coordinates: {', '.join(results.coordinates) or 'none'}")
    return found


def table(
    results: ResultSet,
    machine: Machine | None = None,
    reference: Wanted | None = None,
    *,
    others: ResultSet | None = None,
) -> pl.DataFrame:
    """Compute the energy of the whole machine for every finished point.

    Parameters
    ----------
    results : ResultSet
        Finished points.
    machine : Machine, optional
        Parameters of the power model, such as shares of power.
    reference : optional
        Reference of all relative numbers, as `References` describes it.
    others : ResultSet, optional
        Other results, which contain the reference.

    Returns
    -------
    polars.DataFrame
        A row for each point and each power of an idle node, with the coordinates of the point and these columns:

        - ``reference``: name of the reference with which the row is compared.
        - ``runtime_s``, ``runtime``: run time [s], and run time as a multiple of the run time of the reference.
        - ``switches``, ``ports``: number of switches (routers), and of all their ports.
        - ``ports_on_share`` (U_ports): share of the time in which ports are not asleep.
        - ``w_ports``, ``w_sw``: power of the ports and of a switch, as shares of their power with all ports on.
          ``w_ports`` is null if the power is that of the runs (see `References.why_modelled`). ``w_net``: power of the
          network, relative to the reference network with all ports on.
        - ``e_net``: energy of the network: ``w_net`` times ``runtime``.
        - ``run_task``, ``run_task_of_tasks``: share of time in which a core does not wait for messages, as mean over
          all cores and over the ranks.
        - ``idle_share``: power of an idle node, as a share of its full power.
        - ``w_nodes``, ``w_cluster``: relative power of the nodes and of the machine.
        - ``e_cluster``, ``e_cluster_ratio``: relative energy of the machine, and its ratio to that of the reference.
        - ``saves``: the range of `idle_share` in which the machine uses less energy than the reference.

        With hardware, further columns have watts, kilowatt-hours and money. Values that need programs are null for a
        point without programs. Values that need a run time are null for a point without a run time.

    Raises
    ------
    WeftError
        If a point is not finished or has no reference, or if a share is not from 0 to 1.
    """
    references = References(results, reference, machine or Machine(), others)
    return frame_of([row for point in range(len(results)) for row in _rows(results, point, references)])


def _rows(results: ResultSet, point: int, references: References) -> list[dict[str, Any]]:
    machine = references.machine
    run, reference = Run.of(results, point, machine, measured=not references.why_modelled), references.of(point)
    if references.is_size and run.fabric.watts is not None:
        # a port of a network that is only a size draws as much as a port of the run's network
        watts = run.fabric.watts * reference.fabric.ports / run.fabric.ports
        reference = replace(reference, fabric=replace(reference.fabric, watts=watts))
    if machine.hardware is not None:
        shares = machine.hardware.shares(machine.shares, reference.fabric, run.nodes)
        machine = replace(machine, shares=shares, set_shares=machine.fixed)
    own_shares = machine.shares_of(run.fabric)
    w_net = run.fabric.w_net(own_shares, reference.fabric)
    row = results.points[point]["coordinates"] | {
        "reference": reference.name,
        "runtime_s": run.seconds,
        "runtime": None,
        "switches": run.fabric.switches,
        "ports": run.fabric.ports,
        "ports_on_share": run.fabric.on_share,
        "w_ports": run.fabric.drawn if run.fabric.measured is None else None,
        "w_sw": run.fabric.w_sw(own_shares),
        "w_net": w_net,
        "e_net": None,
        "run_task": run.busy,
        "run_task_of_tasks": run.busy_of_tasks,
    }
    base = reference.run
    times = run.seconds / base.seconds if run.seconds is not None and base is not None and base.seconds else None
    if times is not None:
        row |= {"runtime": times, "e_net": w_net * times}
    idle_shares = [None] if run.busy is None else machine.idle_shares
    return [row | _of_nodes(machine, reference, run, (w_net, times), idle) for idle in idle_shares]


def _of_nodes(
    machine: Machine, reference: Reference, run: Run, network: tuple[float, float | None], idle: float | None
) -> dict[str, Any]:
    """The columns of a table row that depend on the power of an idle node: power and energy of nodes and machine.

    `network` holds W_net and the relative run time of the point.
    """
    (w_net, times), base = network, reference.run
    columns = ("idle_share", "w_nodes", "w_cluster", "e_cluster", "e_cluster_ratio", "saves")
    found: dict[str, Any] = dict.fromkeys(columns)
    if idle is not None and run.busy is not None:
        task = Task(run.fabric, w_net, 1.0 if times is None else times, run.busy)
        found |= {"idle_share": idle, "w_nodes": task.w_nodes(idle), "w_cluster": task.w_cluster(machine.shares, idle)}
        if times is not None and base is not None and base.busy is not None:
            against = Task(
                base.fabric, base.fabric.w_net(machine.shares_of(base.fabric), reference.fabric), 1.0, base.busy
            )
            energy = task.e_cluster(machine.shares, idle)
            found["e_cluster"] = energy
            found["e_cluster_ratio"] = energy / against.e_cluster(machine.shares, idle)
            found["saves"] = task.saves(against, machine.shares)
    return found | _watts(machine, reference, run, w_net, found["w_nodes"])


def _watts(machine: Machine, reference: Reference, run: Run, w_net: float, w_nodes: float | None) -> dict[str, Any]:
    """The columns in watts, kilowatt-hours and money; empty if the user names no hardware."""
    if machine.hardware is None:
        return {}
    return machine.hardware.columns(machine.shares, (reference.fabric, run.fabric), run.seconds, (w_net, w_nodes))
