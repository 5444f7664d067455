"""Shares scenarios and results among tests, and reports the CPU time of each test file."""

from __future__ import annotations

import json
import os
import resource
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import weft
from weft._engine import RESULT_MODEL_VERSION
from weft.api.results import Results
from weft.results.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

GOLDEN = Path(__file__).parent / "data" / "golden"

# Budget of CPU time of each test file [s]. The entry `others` is the budget of each file that is not listed.
BUDGETS = Path(__file__).parent / "data" / "cpu_budget.json"
# The table of CPU times shows files with at least SHOWN seconds. The table is printed if all tests together used at
# least WORTH_A_TABLE seconds of CPU time.
SHOWN, WORTH_A_TABLE = 5.0, 60.0

# The test files that take longest, longest first. A pytest worker runs a whole file, so long files must not start last.
# Tests of Slurm jobs mostly wait. They also start early, so that other tests use the cores in the meantime.
LONGEST = (
    "test_docs_site",
    "test_slurm",
    "test_reproduce_flex",
    "test_reproduce_ofar",
    "test_every_policy",
    "test_docs",
    "test_validate",
    "test_resume",
    "test_checkpoints",
    "test_reproduce",
)

# Weft waits until every result is on the disk. With thousands of results, tests would wait for a fifth of their time.
# They therefore write into a folder in memory, if the system has one in which programs can run and 1 GiB is free.
MEMORY, ENOUGH = Path("/dev/shm"), 1 << 30


def memory_has_room() -> bool:
    """Return whether the tests can use the folder in memory."""
    if not os.access(MEMORY, os.W_OK):
        return False
    room = os.statvfs(MEMORY)
    return not room.f_flag & os.ST_NOEXEC and room.f_bavail * room.f_frsize >= ENOUGH


# The matrices and tables of these tests are small. Threads of the matrix library wait in busy loops, which took more
# CPU time than the tests. With two threads, a query of Polars takes twice the CPU time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("POLARS_MAX_THREADS", "1")

if memory_has_room():
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


def cpu_seconds() -> float:
    """Return the CPU time that this process and its ended children have used so far [s]."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


SECONDS: defaultdict[str, float] = defaultdict(float)
"""CPU time of each test file, its fixtures included [s]."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Add the CPU time of a test to the CPU time of its file."""
    before = cpu_seconds()
    try:
        return (yield)
    finally:
        SECONDS[item.path.stem] += cpu_seconds() - before


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send the CPU times that a pytest worker measured to the process that started the worker."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["seconds"] = dict(SECONDS)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Add the CPU times that a pytest worker has sent at its end. A worker that was killed has sent no times."""
    for name, seconds in getattr(node, "workeroutput", {}).get("seconds", {}).items():
        SECONDS[name] += seconds


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the test files that took most CPU time, with their budgets.

    A file that exceeds its budget does not fail, because the machine can be busy.
    """
    budgets: dict[str, int] = json.loads(BUDGETS.read_text(encoding="utf-8"))
    if sum(SECONDS.values()) < WORTH_A_TABLE:
        return
    terminalreporter.section(f"CPU seconds: {sum(SECONDS.values()):.0f}, budget {sum(budgets.values())}")
    for name, seconds in sorted(SECONDS.items(), key=lambda item: -item[1]):
        budget = budgets.get(name, budgets["others"])
        if seconds >= SHOWN or seconds > budget:
            terminalreporter.line(f"{seconds:6.1f} of {budget:3} {name}{' OVER BUDGET' if seconds > budget else ''}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Move the longest test files to the front. The other files keep their order."""
    place = {name: turn for turn, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path.stem, len(LONGEST)))


# A sweep whose points take only a few milliseconds each: two patterns, two routings, three loads.
SMALL = """\
topology: {hyperx: {widths: [4, 4], terminals_per_router: 4}}
links:
  default: {latency: 10cycles, vcs: 6, buffer: 32flits}
  terminal: {latency: 1cycle}
routing: dimension_order
traffic: {pattern: uniform, load: 0.1}
measure: {warmup: 500cycles, window: 500cycles}
sweep:
  traffic.pattern: [uniform, tornado]
  routing: [dimension_order, ugal_p]
  traffic.load: [0.05, 0.1, 0.4]
"""

# A ring of routers with one VC, in which all packets can wait for each other in a cycle: a deadlock.
RING = """\
topology: {torus: {widths: [8], terminals_per_router: 1}}
links: {default: {latency: 1cycle, vcs: 1, buffer: 4flits}}
routing: {dimension_order: {dateline: none}}
traffic: {pattern: tornado, load: 0.1, packet: 4flits}
measure: {warmup: 500cycles, window: 1000cycles, stall_limit: 1000cycles}
allow_dependency_cycle: true
sweep: {traffic.load: [0.01, 1.0]}
"""


# A sweep with links that sleep, and with several recordings. Tornado with dimension-order routing saturates at load
# 0.25.
RECORDED = """\
name: recorded
topology: {hyperx: {widths: [4, 4], terminals_per_router: 4}}
links:
  default: {latency: 10cycles, vcs: 6, buffer: 32flits}
  terminal: {latency: 1cycle}
traffic: {packet: 4flits}
power: {policy: {idle_timeout: {idle: 20cycles, transition: 10cycles}}}
measure:
  warmup: 500cycles
  window: 1000cycles
  series: {every: 50cycles, of: channel}
  transient: {bin: 50cycles}
  link_states: {}
  router_sleep: {}
  occupancy: {every: 50cycles}
  flows: {classes: [{name: hot, to: [0]}, {name: cold}]}
sweep:
  traffic.pattern: [uniform, tornado]
  routing: [dimension_order, ugal_p]
  traffic.load: [0.05, 0.1, 0.4]
  seed: [1, 2]
"""


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Run a sweep of 24 points with time series, link states and transients, and return its results."""
    return weft.load(RECORDED).run(tmp_path_factory.mktemp("recorded") / "recorded")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Write the scenario file of a sweep of twelve points.

    Tornado with dimension-order routing saturates at load 0.25.
    """
    path = tmp_path / "small.yaml"
    path.write_text(SMALL, encoding="utf-8")
    return path


@pytest.fixture
def ring(tmp_path: Path) -> Path:
    """Write the scenario file of a sweep whose second point deadlocks."""
    path = tmp_path / "ring.yaml"
    path.write_text(RING, encoding="utf-8")
    return path


def made(root: Path, runs: list[tuple[dict[str, Any], dict[str, Any]]]) -> Results:
    """Make results without a simulation. `runs` has the coordinates and the numbers of each point."""
    listed = []
    for number, (coordinates, numbers) in enumerate(runs):
        load = coordinates.get("traffic.load", 0.1)
        hash = f"{numbers.get('hash', number):016x}"
        summary = _summary(hash, load, saturated=False, asleep=False) | {
            "pattern": "uniform",
            "accepted_load": 0.5,
            "packet_latency_mean_cycles": 20.0,
            "packet_latency_p99_cycles": 30,
            "energy_per_bit_pj": 10.0,
        }
        summary |= numbers | {"hash": hash}
        folder = root / "points" / hash
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
        listed.append({"hash": hash, "coordinates": coordinates})
    (root / "sweep.json").write_text(json.dumps({"name": root.name, "points": listed}), encoding="utf-8")
    return weft.open_results(root)


@pytest.fixture
def made_up(tmp_path: Path) -> Results:
    """Make results without a simulation: two patterns, two policies, four loads. Tornado saturates at load 0.25."""
    points: list[dict[str, Any]] = []
    for pattern in ("uniform", "tornado"):
        for policy in ("always_on", {"idle_timeout": {"idle": "9cycles"}}):
            for load in (0.1, 0.2, 0.3, 0.4):
                hash = f"{len(points):016x}"
                saturated = pattern == "tornado" and load > 0.25
                folder = tmp_path / "made_up" / "points" / hash
                folder.mkdir(parents=True)
                summary = _summary(hash, load, saturated=saturated, asleep=policy != "always_on")
                (folder / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
                coordinates = {"traffic.pattern": pattern, "power.policy": policy, "traffic.load": load}
                points.append({"hash": hash, "coordinates": coordinates})
    manifest = {"name": "made up", "source": "nowhere.yaml", "points": points}
    (tmp_path / "made_up" / "sweep.json").write_text(json.dumps(manifest), encoding="utf-8")
    return Results(Store(tmp_path / "made_up"))


def _summary(hash: str, load: float, *, saturated: bool, asleep: bool) -> dict[str, Any]:
    accepted = min(load, 0.25) if saturated else load
    return {
        "hash": hash,
        "coordinates": {},
        "result_model": RESULT_MODEL_VERSION,
        "load": load,
        "ending": "saturated" if saturated else "drained",
        "saturated": saturated,
        "offered_load": load,
        "accepted_load": accepted,
        "packet_latency_mean_cycles": 5000.0 if saturated else 20 + 10 * load + 5 * asleep,
        "packet_latency_p99_cycles": 60,
        "hops_mean": 1.5,
        "minimal_share": 1.0,
        "energy_per_bit_pj": (20 if asleep else 50) / accepted,
        "hop_histogram": [1, 2, 3],
    }
