"""Computes lower bounds of the run time of a program of messages before a run.

No run can be faster than such a bound. The busiest processor must do its work, the busiest terminal must send or
receive its bytes, and the fullest channel must carry its flits. The LogGOPS executor is a simple simulation of the
ranks and their messages, on a network without contention. It also takes the order of the operations into account. The
run time that the executor computes is an estimate and not a bound, because another order of messages can be faster.
Weft computes no estimate for a large program unless the user requests it.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from weft import _engine
from weft.errors import StuckError
from weft.programs import program_files
from weft.scenario import node_interfaces
from weft.text.columns import columns
from weft.text.labels import label
from weft.text.si import TIME, number, si

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from weft._engine import Point, Program
    from weft.results.result_set import ResultSet

_MODEL = "programs"
# Sections of a scenario that do not affect the bounds.
_WITHOUT_BOUNDS = ("power", "measure", "seed", "bill", "name")
_MATRIX = "program.npy"
_MAX_WINDOW = "measure.stop.complete.max_window"
# Units of times in a scenario, and their lengths [ns].
_UNITS = (("s", 10**9), ("ms", 10**6), ("us", 10**3), ("ns", 1))
# Load of the terminal that sends most [flits/cycle] in computations that need some load, but give the same result for
# every load.
_LOAD = 0.01
# Rules that choose the network interface of a message only by its ranks and nodes. Under other rules, only the sum of
# the messages over all interfaces is known before a run.
_KNOWN_RAILS = ("destination", "local_rank")
# The LogGOPS executor cannot multiply computation times by a factor (`compute_scale`). Instead, Weft divides all other
# times by the factor. With a factor below this value, the other times would be too long for the executor.
_LEAST_SCALE = 1e-6
# If a program has more operations than this number, its run time is estimated only on request. The executor takes some
# seconds for this number.
MOST_OPERATIONS = 20_000_000
# Time that the executor takes per operation [s], measured on a machine with two idle cores. First for a training step
# of 1,024 ranks and 85 million operations, then for a ring of 16,384 ranks.
_SECONDS_PER_OPERATION = (1e-7, 5e-7)
# Longest time of a message that the LogGOPS executor can represent: 2^40 ns, converted to seconds.
_LONGEST = 1099.0
BOUNDS = {
    "compute_s": "busiest processor: its computations and its share of messages",
    "injection_s": "busiest terminal: its bytes at the bandwidth of its link",
    "channels_s": "fullest channel: its flits at its bandwidth",
}
_NONE_OF_CHANNELS = "none: packets choose paths by queues, or interfaces in turn or at random"
_NONE_OF_JOB = "none: starts and terminals of its programs are chosen during the run"


_Job = tuple[str, "int | None", str, "Mapping[str, Any]"]
# Bits of a flit, interfaces of a node, and times of the interfaces.
_Nodes = tuple[int, "_Rails", "Mapping[str, Any]"]


@dataclass(frozen=True)
class Bounds:
    """Lower bounds of the run time of a job that runs a program.

    Attributes
    ----------
    job : str
        Name of the job.
    compute_s, injection_s, channels_s : float
        Bounds of the run time [s]. `channels_s` is ``None`` if paths depend on queues, or are not known. If the
        scenario varies computation times at random (jitter), `compute_s` uses the shortest possible times.
    is_mean : bool
        Whether `channels_s` is a bound for the mean loads of channels, because packets choose their paths at random.
    is_mean_of_interfaces : bool
        Whether the bounds of terminals and channels assume that all interfaces of a node have equal load. The busiest
        interface has at least this mean load, so the bounds hold in every run.
    ideal_s : float
        Estimate of the LogGOPS executor on a network without contention [s]; ``None`` if the program has too many
        operations for it.
    operations : int
        Number of operations of the program; each message of a collective counts.
    """

    job: str
    compute_s: float
    injection_s: float
    channels_s: float | None
    is_mean: bool
    is_mean_of_interfaces: bool
    ideal_s: float | None
    operations: int

    @property
    def least_s(self) -> float:
        """The greatest of the bounds that hold in every run [s]."""
        strict = [self.compute_s, self.injection_s, *([] if self.is_mean else [self.channels_s or 0.0])]
        return max(strict)


def of_point(point: Point, *, estimate: bool = False) -> list[Bounds]:
    """Computes the bounds of all programs of a point.

    A node can have several interfaces. If the scenario fixes the interface of each message, a bound counts the flits of
    each interface. Otherwise a bound counts the mean over the interfaces, because the load of the busiest interface is
    at least this mean. The same mean is used for the channels of each network plane, because all planes are equal.

    Parameters
    ----------
    point : Point
        A point that can run.
    estimate : bool
        Whether to estimate the run time also of programs with more than `MOST_OPERATIONS` operations.

    Raises
    ------
    StuckError
        If an estimated program cannot finish on any network, because a rank waits for a message that no rank sends.
    """
    facts = point.imply()
    if not facts["runs_programs"]:
        return []
    return [_of_job(point, facts, job, estimate=estimate) for job in _jobs(point.resolved) if job[2] == _MODEL]


def without(point: Point) -> list[str]:
    """Names of the jobs whose programs have no bounds, because their workload assigns ranks to terminals in the run."""
    return [name for name, _, model, _ in _jobs(point.resolved) if model != _MODEL]


def _jobs(resolved: Mapping[str, Any]) -> Iterator[_Job]:
    """Name, index, workload and parameters of each job that runs a workload without a traffic pattern.

    The index is ``None`` if the scenario has no list of jobs, but only one job.
    """
    traffic = resolved["traffic"]
    numbered: list[tuple[int | None, Any]] = list(enumerate(traffic.get("jobs") or []))
    for place, job in numbered or [(None, traffic)]:
        workload = job.get("workload") or traffic.get("workload") or {}
        if "pattern" not in job:  # a workload with a pattern sends according to the pattern and the load
            for model, config in workload.items():
                yield job.get("name", "all" if place is None else f"job {place}"), place, model, config


def _of_job(point: Point, facts: Mapping[str, Any], of: _Job, *, estimate: bool) -> Bounds:
    job, number, _, config = of
    program = _program(config, point.inputs)
    cycle, bits, rate = facts["cycle_seconds"], facts["flit_bits"], facts["bandwidth"]["terminal"]
    processors = program.info()["cpus"]
    handled, parts = _work(program, _Rails.of(point.resolved, config), bits)
    # if the scenario names a preset of interfaces, these times are those of the preset
    interfaces, scale = facts["interface_times"][number or 0], config.get("compute_scale", 1.0)
    overhead = interfaces["overhead_seconds"]
    alone = [_implied(point, number, flits) for flits in parts.on_network]
    latency = max((each["zero_load_latency_cycles"] for each in alone if each), default=0.0) * cycle
    host = _seconds(config.get("host_latency"), cycle)
    latency += interfaces["injection_latency_seconds"] + 2 * host
    operations, computed = zip(*program.work(), strict=True)
    ideal = None
    if estimate or sum(operations) <= MOST_OPERATIONS:
        least = max(scale, _LEAST_SCALE)
        rails = _Rails.of(point.resolved, config)
        try:
            scaled = _loggops(program, (latency, host), cycle / rate / parts.together, (bits, rails, interfaces), least)
        except StuckError as problem:
            place = f"the program of job {job}"
            raise StuckError.of(problem.what, problem.help, problem.stuck, place) from problem
        ideal = None if scaled is None else scaled * least
    compute = np.array(computed) * 1e-9 * scale * _least_factor(config)
    busiest = max(max(flits.sum(axis=0).max(), flits.sum(axis=1).max()) for flits in parts.of_interfaces)
    channels = [_channels(*each, cycle) for each in zip(alone, parts.on_network, strict=True)]
    fullest = (
        None if parts.is_unknown or None in (each for each, _ in channels) else max(each or 0.0 for each, _ in channels)
    )
    return Bounds(
        job,
        float(((compute + handled * overhead) / processors).max()),
        float(busiest / rate * cycle),
        fullest,
        any(is_mean for _, is_mean in channels),
        not parts.is_known,
        ideal,
        sum(operations),
    )


def _least_factor(config: Mapping[str, Any]) -> float:
    """The smallest factor by which jitter can change the time of a computation."""
    for kind, of in (config.get("jitter") or {}).items():
        return {"uniform": 1.0 - float(of.get("share", 0.0)), "normal": 0.0, "exponential": 1.0}[kind]
    return 1.0


@dataclass(frozen=True)
class _Rails:
    """The interfaces of a node, and the rule that assigns messages to them.

    Attributes
    ----------
    count : int
        Number of interfaces.
    choice : str
        The rule that chooses the interface of a message; empty if Weft does not know the rule here.
    in_planes : bool
        Whether each interface is in a separate plane.
    per_node : int
        Number of ranks of a node.
    """

    count: int
    choice: str
    in_planes: bool
    per_node: int

    @classmethod
    def of(cls, resolved: Mapping[str, Any], config: Mapping[str, Any]) -> _Rails:
        """The interfaces of a node, from a resolved scenario and the parameters of a job."""
        # if the job names a preset of interfaces, the rule of the preset is not known here
        choice = config.get("rail_choice") or ("" if "interface" in config else "striping")
        count, in_planes = node_interfaces.of_node(resolved, config), node_interfaces.planes(resolved) > 1
        return cls(count, choice, in_planes, config.get("ranks_per_terminal", 1))

    def number(self, source: int, target: int) -> int:
        """Index of the interface that sends a message between two ranks. The rule must be one of `_KNOWN_RAILS`."""
        place = source % self.per_node if self.choice == "local_rank" else target // self.per_node
        return place % self.count


@dataclass(frozen=True)
class _Parts:
    """The flits that a program sends, as matrices with a row per sending node and a column per receiving node.

    Attributes
    ----------
    of_interfaces : list of array
        Matrices of the flits between nodes. The list has a matrix per interface, or one matrix with the mean over the
        interfaces.
    on_network : list of array
        Flits on one network: between the nodes of a plane, or between all terminals of the job.
    is_unknown : bool
        True if the terminals that send the flits are not known.
    together : int
        Number of interfaces that send parts of a message at the same time.
    is_known : bool
        Whether the scenario fixes the interface of each message; otherwise the flits are means over the interfaces.
    """

    of_interfaces: list[NDArray[Any]]
    on_network: list[NDArray[Any]]
    is_unknown: bool
    together: int
    is_known: bool


def _work(program: Program, rails: _Rails, bits: int) -> tuple[NDArray[Any], _Parts]:
    """Counts the messages that each rank sends and receives, and the flits between the terminals of the job."""
    ranks = program.info()["ranks"]
    handled = np.zeros(ranks)
    is_known = rails.count == 1 or rails.choice in _KNOWN_RAILS
    nodes = -(-ranks // rails.per_node)
    of_rails = [np.zeros((nodes, nodes)) for _ in range(rails.count if is_known else 1)]
    for source, target, sent, count in program.matrix():
        handled[source] += count
        handled[target] += count
        if source // rails.per_node != target // rails.per_node:
            # each message has at least one flit, also a message without bytes
            flits = max(-(-8 * sent // bits), count)
            matrix = of_rails[rails.number(source, target) if is_known else 0]
            matrix[source // rails.per_node, target // rails.per_node] += flits if is_known else flits / rails.count
    if rails.count == 1 or rails.in_planes:
        on_network = of_rails
    else:
        together = np.zeros((nodes * rails.count,) * 2)
        for k, matrix in enumerate(of_rails):
            together[k :: rails.count, k :: rails.count] = matrix
        on_network = [together]
    is_unknown = not (is_known or rails.in_planes)
    together_at = rails.count if rails.choice == "striping" else 1
    return handled, _Parts(of_rails, on_network, is_unknown, together_at, is_known)


def _implied(point: Point, number: int | None, flits: NDArray[Any]) -> dict[str, Any] | None:
    """Facts of the network (such as the bound of channels) for packets of one flit with this traffic matrix.

    The result is ``None`` if the matrix has no packets.
    """
    if not flits.any():
        return None
    scenario = {key: value for key, value in point.resolved.items() if key not in ("power", "measure", "bill", "name")}
    pattern = {"within": {"terminals": len(flits), "pattern": {"matrix": {"file": _MATRIX}}}}
    # with a `grain`, which is a coarser unit than the flit, the facts count grains, but packet lengths in the scenario
    # are still in flits
    grain = _bits(scenario["grain"]) // _bits(scenario["flit"]) if "grain" in scenario else 1
    traffic = {"pattern": pattern, "load": _LOAD}
    if number is not None:
        job = scenario["traffic"]["jobs"][number]
        traffic = {"jobs": [traffic | {key: job[key] for key in ("name", "terminals") if key in job}]}
    scenario["traffic"] = traffic | {"packet": f"{grain}flits"}
    file = BytesIO()
    np.save(file, flits)
    attached = [*point.inputs.items(), (_MATRIX, file.getvalue())]
    (alone,) = _engine.expand("bounds.yaml", json.dumps(scenario), [], attached)
    return alone.imply()


def _program(config: Mapping[str, Any], inputs: Mapping[str, bytes]) -> Program:
    if "file" in config:
        name, _, _ = config["file"].partition("#")  # the digest of the file follows after the "#"
        return program_files.attached(name, inputs[name])
    parts = {key: config[key] for key in ("program", "collectives") if key in config}
    return _engine.make_program(_MODEL, json.dumps(parts))


def _loggops(program: Program, latencies: tuple[float, float], flit: float, of: _Nodes, scale: float) -> float | None:
    """Run time of a program according to the LogGOPS executor [s].

    All times of the executor are divided by ``scale``, the factor of computation times.

    The result is ``None`` if a time is longer than the executor can represent.

    ``latencies`` has two times [s]: the mean latency of a message, and the part of it between an interface and a
    processor. ``flit`` is the time of a flit [s], and ``of`` are the nodes. Interfaces that send parts of the same
    message count as one interface. If a message between nodes is larger than the eager limit, a request and a reply
    precede it, as in the simulation.
    """
    bits, rails, interfaces = of
    latency, host = latencies
    if max(latency, interfaces["overhead_seconds"], interfaces["local_latency_seconds"]) / scale > _LONGEST:
        return None
    overhead, local = interfaces["overhead_seconds"], interfaces["local_bits_per_second"]
    parameters = {
        "L": _time(max(0.0, latency - flit) / scale),
        "o": _time(overhead / scale),
        "g": "0ns",
        "G": _time(8 * flit / bits / scale),
        "O": "0ns",
        "S": f"{interfaces['eager_bytes']}B",
        "node": {
            "ranks": rails.per_node,
            "interfaces": 1 if rails.choice == "striping" else rails.count,
            "by_destination": rails.choice == "destination",
            "L": _time(interfaces["local_latency_seconds"] / scale),
            "G": _time(8 / local / scale if local else 0.0),
            "injection": _time(min(interfaces["injection_latency_seconds"], max(0.0, latency - flit)) / scale),
            "host": _time(host / scale),
            "flit": _time(flit / scale),
        },
    }
    finish: float = program.loggops(json.dumps(parameters))["finish_ns"]
    return finish * 1e-9


def _channels(alone: Mapping[str, Any] | None, flits: NDArray[Any], cycle: float) -> tuple[float | None, bool]:
    """The bound from the fullest channel [s], and whether it is a bound only for the mean loads of channels."""
    if alone is None:
        return 0.0, False
    bound, of = alone["channel_load_bound"], alone["channel_load_bound_of"]
    if bound is None or of == "empty_queues":
        return None, False
    # in the facts, the terminal that sends most has the load of the scenario, and the others have proportional loads
    return float(flits.sum(axis=1).max() / bound * cycle), of == "fixed_paths"


def _bits(size: str) -> int:
    """The number of bits in a size of a resolved scenario."""
    return round(number(size, {"b": 1.0}))


def _seconds(text: str | None, cycle: float) -> float:
    """The number of seconds in a time of a resolved scenario."""
    if text is None:
        return 0.0
    return number(text, TIME | dict.fromkeys(("cycle", "cycles"), cycle * 1e15)) * 1e-15


def _time(seconds: float) -> str:
    """A time as a string for the LogGOPS executor, in whole femtoseconds."""
    return f"{round(seconds * 1e15)}fs"


def of_sweep(points: Sequence[Point], *, estimate: bool = False) -> dict[str, list[Bounds]]:
    """The bounds of each point, by its hash.

    Points have the same bounds if they differ only in the sections `_WITHOUT_BOUNDS` (power, recordings, seed, ...).
    """
    known: dict[str, list[Bounds]] = {}
    found = {}
    for point in points:
        alike = {key: value for key, value in point.resolved.items() if key not in _WITHOUT_BOUNDS}
        key = json.dumps(alike, sort_keys=True)
        if key not in known:
            known[key] = of_point(point, estimate=estimate)
        found[point.hash] = known[key]
    return found


def too_short(point: Point, bounds: Sequence[Bounds]) -> dict[str, str] | None:
    """The warning that a program needs more time than the longest window of a point; ``None`` if it does not.

    The warning has the keys of all warnings about a point: ``path``, ``what``, ``help``, ``code``.
    """
    complete = point.resolved["measure"].get("stop", {}).get("complete")
    if complete is None or not bounds:
        return None
    longest = max(bounds, key=lambda each: each.least_s)
    if _seconds(complete["max_window"], point.imply()["cycle_seconds"]) >= longest.least_s:
        return None
    least = si(longest.least_s, "s", 4)
    what = f"{complete['max_window']} is shorter than the least run time of job {longest.job}, {least}"
    # a window that is too long costs no time, because a run ends when its programs end
    slowest = max(max(each.ideal_s or 0.0, each.least_s) for each in bounds)
    # at least 10 times the slowest run time, as a power of ten [ns]
    enough = 10 ** max(0, math.ceil(math.log10(slowest * 1e9)) + 1)
    unit, size = next(each for each in _UNITS if enough >= each[1])
    shown = f"{enough // size}{unit}"
    remedy = f"write {shown} or more: the window ends when all programs have ended"
    return {"path": _MAX_WINDOW, "what": what, "help": remedy, "code": "not_complete"}


def lines(bounds: Sequence[Bounds]) -> list[str]:
    """The bounds of the programs of a point as lines of text."""
    values = []
    for each in bounds:
        rows = [[meaning, si(getattr(each, name), "s", 4)] for name, meaning in BOUNDS.items()]
        if each.channels_s is None:
            rows[2][1] = _NONE_OF_CHANNELS
        elif each.is_mean:
            rows[2][0] += ", a mean if paths are random"
        if each.is_mean_of_interfaces:
            rows[1][0] += ", mean over its interfaces"
        shown = _skipped(each) if each.ideal_s is None else si(each.ideal_s, "s", 4)
        rows.append(["estimate: the LogGOPS executor, without contention", shown])
        head = [f"least run time of job {each.job}", si(each.least_s, "s", 4)]
        values += columns(head, rows, left=1)
    return values


def _skipped(bounds: Bounds) -> str:
    """Text with the reason why a program has no estimate, and with the command that computes it."""
    if bounds.operations <= MOST_OPERATIONS:
        return "not computed: times of its messages are above 2^40 ns, the limit of the executor"
    least, most = (si(bounds.operations * seconds, "s", 2) for seconds in _SECONDS_PER_OPERATION)
    return (
        f"not computed: {bounds.operations:,} operations take about {least} to {most}; `weft check FILE --estimate` "
        "computes it, and checks that the program can finish"
    )


def lines_without(point: Point) -> list[str]:
    """Lines of text on the jobs of a point whose programs have no bounds."""
    return [f"least run time of job {name}: {_NONE_OF_JOB}" for name in without(point)]


def beside(results: ResultSet, bounds: Mapping[str, Sequence[Bounds]]) -> list[str]:
    """Lines on how far the run time of each program exceeds its bounds; empty if no program ended."""
    paths = [path for path in results.coordinates if results.frame[path].n_unique() > 1]
    rows = []
    for point, summary in zip(results.points, results.summaries, strict=True):
        place = [label(point["coordinates"][path], path) for path in paths]
        times = {job["job"]: job.get("run_time_cycles") for job in summary["jobs"]}
        for each in bounds.get(point["hash"], ()):
            cycles = times.get(each.job)
            if cycles is None:
                continue
            seconds = cycles * summary["cycle_seconds"]
            shares = [seconds / bound if bound else None for bound in (each.least_s, each.ideal_s)]
            cells = [f"{share:.3f}" if share is not None else "-" for share in shares]
            shown = ["-" if value is None else si(value, "s", 4) for value in (seconds, each.least_s, each.ideal_s)]
            rows.append([*place, each.job, shown[0], shown[1], cells[0], shown[2], cells[1]])
    if not rows:
        return []
    head = [*(path.rpartition(".")[2] for path in paths), "job", "run time", "least", "ratio", "no contention", "ratio"]
    words = "run time, least possible run time, and estimate without contention, with ratios (`weft check`)"
    skipped = [each for of in bounds.values() for each in of if each.ideal_s is None]
    why = dict.fromkeys(f"estimate of job {each.job} {_skipped(each)}" for each in skipped)
    return [words, *columns(head, rows, left=len(paths) + 1), *why]
