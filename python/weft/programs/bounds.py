"""Bounds of the run time of a program before it runs: the least time of computations, interfaces and channels.

No run can beat a bound. The busiest processor does its work, the busiest terminal sends or receives its bytes, and
the fullest channel carries its flits. The LogGOPS executor adds the order of the operations, on a network without
contention. Its time is an estimate and no bound, since another order of messages may be faster.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from weft import _engine
from weft.programs import program_files
from weft.text.columns import columns
from weft.text.labels import label
from weft.text.si import TIME, number, si

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from weft._engine import Point, Program
    from weft.results.result_set import ResultSet
    from weft.scenario.scenario import Scenario

_MODEL = "programs"
# Keys under which the bounds would not hold.
_UNBOUNDED = {"rails", "compute_scale", "jitter"}
# Sections of a scenario that change no bound.
_WITHOUT_BOUNDS = ("power", "measure", "seed", "bill", "name")
_MATRIX = "program.npy"
# The load of the terminal that sends most, where the facts do not depend on it [flits/cycle].
_LOAD = 0.01
# More messages than the executor of LogGOPS may have: it never has so many.
_ALWAYS_EAGER = (1 << 63) - 1
BOUNDS = {
    "compute_s": "busiest processor: its computations and its parts of messages",
    "injection_s": "busiest terminal: its bytes at the bandwidth of its link",
    "channels_s": "fullest channel: its flits at its bandwidth",
}
_NONE_OF_CHANNELS = "none: packets choose their paths by queues"


_Job = tuple[str, "int | None", "Mapping[str, Any]"]


@dataclass(frozen=True)
class Bounds:
    """Bounds of a job that runs a program.

    Attributes
    ----------
    job : str
        Its name.
    compute_s, injection_s, channels_s : float
        Bounds of the run time [s]; that of the channels is ``None`` where paths depend on queues, or are not known.
    is_mean : bool
        Whether the bound of channels is one of their mean loads, because packets draw their paths at random.
    ideal_s : float
        Estimate of the LogGOPS executor on a network without contention [s].
    """

    job: str
    compute_s: float
    injection_s: float
    channels_s: float | None
    is_mean: bool
    ideal_s: float

    @property
    def least_s(self) -> float:
        """The greatest of the bounds that hold in every run [s]."""
        strict = [self.compute_s, self.injection_s, *([] if self.is_mean else [self.channels_s or 0.0])]
        return max(strict)


def of_point(point: Point, folder: Path) -> list[Bounds]:
    """The bounds of all programs of a point.

    There are none where nodes have several interfaces, or where computations have other times than in the program: the
    arithmetic has one interface and the times of the program.

    Parameters
    ----------
    point : Point
        A point that can run.
    folder : Path
        Where files that the scenario names are.

    Raises
    ------
    ProgramError
        If a program can't finish on any network: a rank waits for a message that nobody sends.
    """
    facts = point.imply()
    if not facts["runs_programs"] or "planes" in point.resolved["topology"]:
        return []
    return [_of_job(point, facts, folder, job) for job in _jobs(point.resolved) if not _UNBOUNDED & job[2].keys()]


def folder_of(scenario: Scenario) -> Path:
    """The folder of the files that a scenario names."""
    return Path() if scenario.file is None else scenario.file.parent


def _jobs(resolved: Mapping[str, Any]) -> Iterator[_Job]:
    """Name, number (``None``: all traffic is one job) and parameters of each job that runs a program."""
    traffic = resolved["traffic"]
    own = (traffic.get("workload") or {}).get(_MODEL)
    if not traffic.get("jobs"):
        if own is not None:
            yield "all", None, own
        return
    for place, job in enumerate(traffic["jobs"]):
        workload = job["workload"].get(_MODEL) if job.get("workload") else own
        if workload is not None:
            yield job.get("name", f"job {place}"), place, workload


def _of_job(point: Point, facts: Mapping[str, Any], folder: Path, of: _Job) -> Bounds:
    job, number, config = of
    program = _program(config, folder)
    cycle, bits, rate = facts["cycle_seconds"], facts["flit_bits"], facts["bandwidth"]["terminal"]
    ranks, processors = (program.info()[key] for key in ("ranks", "cpus"))
    handled, flits = _work(program, ranks, config.get("ranks_per_terminal", 1), bits)
    overhead = _seconds(config.get("overhead"), cycle)
    alone = _implied(point, number, flits, folder)
    latency = (alone["zero_load_latency_cycles"] if alone else 0.0) * cycle
    answer = _loggops(program, latency, cycle / rate, (bits, overhead))
    compute = np.array([each["compute_ns"] * 1e-9 for each in answer["ranks"]])
    busiest = max(flits.sum(axis=0).max(), flits.sum(axis=1).max())
    return Bounds(
        job,
        float(((compute + handled * overhead) / processors).max()),
        float(busiest / rate * cycle),
        *_channels(alone, flits, cycle),
        answer["finish_ns"] * 1e-9,
    )


def _work(program: Program, ranks: int, per_terminal: int, bits: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Messages that each rank sends and receives, and flits between the terminals of the job, a row per source."""
    handled = np.zeros(ranks)
    flits = np.zeros((-(-ranks // per_terminal),) * 2)
    for source, target, sent, count in program.matrix():
        handled[source] += count
        handled[target] += count
        if source // per_terminal != target // per_terminal:
            # each message is one flit at least
            flits[source // per_terminal, target // per_terminal] += max(-(-8 * sent // bits), count)
    return handled, flits


def _implied(point: Point, number: int | None, flits: NDArray[Any], folder: Path) -> dict[str, Any] | None:
    """The facts of the same network under packets of one flit with this matrix; ``None`` if no packet crosses it."""
    if not flits.any():
        return None
    scenario = {key: value for key, value in point.resolved.items() if key not in ("power", "measure", "bill", "name")}
    pattern = {"within": {"terminals": len(flits), "pattern": {"matrix": {"file": _MATRIX}}}}
    traffic = {"pattern": pattern, "load": _LOAD, "packet": "1flit"}
    if number is not None:
        job = scenario["traffic"]["jobs"][number]
        traffic = {"jobs": [traffic | {key: job[key] for key in ("name", "terminals") if key in job}]}
    scenario["traffic"] = traffic
    file = BytesIO()
    np.save(file, flits)
    (alone,) = _engine.expand(str(folder / "bounds.yaml"), json.dumps(scenario), [], [(_MATRIX, file.getvalue())])
    return alone.imply()


def _program(config: Mapping[str, Any], folder: Path) -> Program:
    if "file" in config:
        name, _, _ = config["file"].partition("#")  # behind it stands the digest of the file
        return program_files.program(str(folder / name))
    parts = {key: config[key] for key in ("program", "collectives") if key in config}
    return _engine.make_program(_MODEL, json.dumps(parts))


def _loggops(program: Program, latency: float, flit: float, of: tuple[int, float]) -> dict[str, Any]:
    """The answer of the executor, from mean latency and time of a flit [s], its bits, and the overhead [s]."""
    bits, overhead = of
    parameters = {
        "L": _time(max(0.0, latency - flit)),
        "o": _time(overhead),
        "g": "0ns",
        "G": _time(8 * flit / bits),
        "O": "0ns",
        "S": _ALWAYS_EAGER,
    }
    return program.loggops(json.dumps(parameters))


def _channels(alone: Mapping[str, Any] | None, flits: NDArray[Any], cycle: float) -> tuple[float | None, bool]:
    """The bound of the fullest channel [s], and whether it is one of mean loads."""
    if alone is None:
        return 0.0, False
    bound, of = alone["channel_load_bound"], alone["channel_load_bound_of"]
    if bound is None or of == "empty_queues":
        return None, False
    # the terminal that sends most has the load of the scenario
    return float(flits.sum(axis=1).max() / bound * cycle), of == "fixed_paths"


def _seconds(text: str | None, cycle: float) -> float:
    """A time of a resolved scenario in seconds."""
    if text is None:
        return 0.0
    return number(text, TIME | dict.fromkeys(("cycle", "cycles"), cycle * 1e15)) * 1e-15


def _time(seconds: float) -> str:
    """A time for the executor, in whole femtoseconds."""
    return f"{round(seconds * 1e15)}fs"


def of_sweep(points: Sequence[Point], folder: Path) -> dict[str, list[Bounds]]:
    """The bounds of each point by its hash; points that differ only in power, recordings or seed share theirs."""
    known: dict[str, list[Bounds]] = {}
    found = {}
    for point in points:
        alike = {key: value for key, value in point.resolved.items() if key not in _WITHOUT_BOUNDS}
        key = json.dumps(alike, sort_keys=True)
        if key not in known:
            known[key] = of_point(point, folder)
        found[point.hash] = known[key]
    return found


def lines(bounds: Sequence[Bounds]) -> list[str]:
    """The bounds of a point in words."""
    told = []
    for each in bounds:
        rows = [[meaning, si(getattr(each, name), "s", 4)] for name, meaning in BOUNDS.items()]
        if each.channels_s is None:
            rows[2][1] = _NONE_OF_CHANNELS
        elif each.is_mean:
            rows[2][0] += ", a mean where paths are drawn at random"
        rows.append(["estimate: the LogGOPS executor, without contention", si(each.ideal_s, "s", 4)])
        head = [f"least run time of job {each.job}", si(each.least_s, "s", 4)]
        told += columns(head, rows, left=1)
    return told


def beside(results: ResultSet, bounds: Mapping[str, Sequence[Bounds]]) -> list[str]:
    """How far each program of some results is above its bounds, in lines; none where no program ended."""
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
            told = [si(value, "s", 4) for value in (seconds, each.least_s, each.ideal_s)]
            rows.append([*place, each.job, told[0], told[1], cells[0], told[2], cells[1]])
    if not rows:
        return []
    head = [*(path.rpartition(".")[2] for path in paths), "job", "run time", "least", "ratio", "no contention", "ratio"]
    words = "run time beside the least that is possible, and beside the estimate without contention (`weft check`)"
    return [words, *columns(head, rows, left=len(paths) + 1)]
