"""Compares the memory that points need with the free memory of the machine.

Before the first run, Weft refuses points that need too much memory.

The memory of a point depends on the number of flits in its buffers. Below saturation the buffers of the network are
nearly empty. Far above saturation all buffers can be full. In large networks with deep buffers, this takes several
times as much memory. Weft refuses a point if its expected memory is too much. If only its maximum memory (with all
buffers full) is too much, Weft runs the point with a warning.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from weft.errors import ScenarioError, WeftWarning
from weft.runs.estimate import kind_of, offered
from weft.runs.provenance import cores

if sys.platform != "win32":
    import resource

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from weft._engine import Point

_UNITS = ("B", "kB", "MB", "GB", "TB")


@dataclass(frozen=True)
class Left:
    """Memory that this process can still use.

    Attributes
    ----------
    bytes : int
        Amount of memory [bytes].
    of : str
        Text that names the limit.
    counts_reserved : bool
        Whether the limit counts memory that a process reserves but does not use. Runs reserve memory for full buffers,
        and usually use only a part.
    """

    bytes: int
    of: str
    counts_reserved: bool = False


class MemoryWarning(WeftWarning):
    """Warns that points are expected to fit into the free memory, but would not fit with all buffers full."""


def left(root: Path = Path("/")) -> Left | None:
    """The smallest amount of memory that machine, control groups and process limit leave free; ``None`` if unknown.

    Parameters
    ----------
    root : Path
        Folder that contains ``proc`` and ``sys``.
    """
    limits = [*_machine(root), *_groups(root), *_process(root)]
    return min(limits, key=lambda limit: limit.bytes, default=None)


def refuse_too_much(
    points: Sequence[Point], *, jobs: int | None, threads: int, blocks: int, limit: Left | None = None
) -> None:
    """Refuse points if those that run at the same time are expected to need more memory than is free.

    Parameters
    ----------
    points : sequence of Point
        Points to run.
    jobs, threads, blocks : int
        As for `weft.Sweep.run`.
    limit : Left, optional
        Free memory; by default the result of `left`.

    Raises
    ------
    ScenarioError
        If the points need too much memory. The message names the needed memory, the free memory, and the number of
        points that fit.

    Warns
    -----
    MemoryWarning
        If the points are expected to fit, but would not fit with all buffers full.
    """
    limit = limit or left()
    if limit is None or not points:
        return
    workers = min(jobs or max(1, cores() // threads), len(points))
    most = sum(sorted(estimates(points, threads=threads, blocks=blocks), reverse=True)[:workers])
    if most <= limit.bytes:
        return
    needs = sorted(_expected(points, threads, blocks, limit), reverse=True)
    together = sum(needs[:workers])
    at_once = "a point" if workers == 1 else f"{workers} points at a time"
    if together <= limit.bytes:
        warnings.warn(
            f"{at_once} may need up to {text(most)} of memory if all buffers fill, as happens far beyond saturation, "
            f"but {limit.of} has {text(limit.bytes)} left; the expected need is about {text(together)}. With "
            "--checkpoint-every 10min (checkpoint_every) a run that fails can continue from its last checkpoint",
            MemoryWarning,
            stacklevel=3,
        )
        return
    verb = "needs" if workers == 1 else "need"
    fitting = next((count for count in range(workers, 0, -1) if sum(needs[:count]) <= limit.bytes), 0)
    what = (
        f"{at_once} {verb} about {text(together)} of memory, up to {text(most)} with all buffers full, but {limit.of} "
        f"has {text(limit.bytes)} left"
    )
    fewer = (
        f"run at most {fitting} at a time (--jobs {fitting}, in Python jobs={fitting})"
        if fitting
        else "choose a smaller network"
    )
    raise ScenarioError.saying(what, f"{fewer}, or run anyway with --force-memory (force_memory=True)")


def fit(points: Sequence[Point], *, at_once: int = 1, threads: int = 1, blocks: int = 0) -> bool:
    """Whether any `at_once` of these points, running at the same time, are expected to fit into the free memory."""
    limit = left()

    def within(needs: list[int]) -> bool:
        return limit is None or sum(sorted(needs, reverse=True)[:at_once]) <= limit.bytes

    if limit is None or within(estimates(points, threads=threads, blocks=blocks)):
        return True
    return within(_expected(points, threads, blocks, limit))


def estimates(points: Iterable[Point], *, threads: int = 1, blocks: int = 0) -> list[int]:
    """Maximum memory of each point [bytes], needed if all buffers are full.

    Points that differ only in load and seed have the same maximum.
    """
    known: dict[str, int] = {}
    needs = []
    for point in points:
        key = kind_of(point)
        if key not in known:
            known[key] = point.memory(threads, blocks)["most_bytes"]
        needs.append(known[key])
    return needs


def expected(point: Point, *, threads: int = 1, blocks: int = 0) -> int:
    """Memory that a run of a point is expected to need [bytes].

    If the load is above the capacity of the paths, the value is the memory with all buffers full.
    """
    needs = point.memory(threads, blocks)
    return int(needs["most_bytes" if _saturates(point) else "at_load_bytes"])


def _expected(points: Iterable[Point], threads: int, blocks: int, limit: Left) -> list[int]:
    """Memory of each point that must fit into the limit `limit` [bytes].

    Points that differ only in their seed need the same memory.
    """
    if limit.counts_reserved:
        return estimates(points, threads=threads, blocks=blocks)
    known: dict[tuple[str, float], int] = {}
    needs = []
    for point in points:
        key = kind_of(point), offered(point)
        if key not in known:
            known[key] = expected(point, threads=threads, blocks=blocks)
        needs.append(known[key])
    return needs


def _saturates(point: Point) -> bool:
    """Whether the offered load of a point exceeds what its paths can carry, for any choice of paths by its routing."""
    facts = point.imply()
    if facts["reads_queues"] or facts["channel_load_bound"] is None:
        return False
    sampled = facts["sampled"]
    bound = sampled["channel_load_bound_interval"][1] if sampled else facts["channel_load_bound"]
    return bool(facts["highest_load"] > bound)


def text(size: float) -> str:
    """A number of bytes as a string, such as ``1.2 GB``."""
    unit = 0
    while size >= 999.5 and unit + 1 < len(_UNITS):
        size, unit = size / 1000, unit + 1
    return f"{size:.3g} {_UNITS[unit]}"


def _machine(root: Path) -> list[Left]:
    lines = _read(root / "proc/meminfo").splitlines()
    kilobytes = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return [Left(int(number) * 1024, "the machine") for number in kilobytes]


def _groups(root: Path) -> list[Left]:
    """Memory that each control group (cgroup v1 or v2) of this process leaves free.

    The parents of the groups are included.
    """
    found = []
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            folder, names = root / "sys/fs/cgroup", ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            folder = root / "sys/fs/cgroup/memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        parts = [part for part in path.split("/") if part not in {"", ".."}]
        for depth in range(len(parts) + 1):
            found += _group(folder.joinpath(*parts[:depth]), *names)
    return found


def _group(folder: Path, most: str, now: str, cached: str) -> list[Left]:
    limit, used = _read(folder / most).strip(), _read(folder / now).strip()
    if not limit.isdecimal() or not used.isdecimal() or int(limit) >= 1 << 62:  # "max", or no limit
        return []
    stat = (line.split() for line in _read(folder / "memory.stat").splitlines())
    reclaimed = sum(int(words[1]) for words in stat if len(words) == 2 and words[0] == cached)
    return [Left(max(0, int(limit) - int(used) + reclaimed), "the control group of this process (cgroup)")]


def _process(root: Path) -> list[Left]:
    """Memory that the limit of the address space of this process leaves free (``ulimit -v``)."""
    if sys.platform == "win32":
        return []
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    pages = _read(root / "proc/self/statm").split()
    if limit == resource.RLIM_INFINITY or not pages:
        return []
    return [Left(max(0, limit - int(pages[0]) * resource.getpagesize()), "the limit of this process (ulimit -v)", True)]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""
