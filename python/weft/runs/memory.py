"""How much memory points need beside what the machine has left: too much is refused before anything runs."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from weft.errors import ScenarioError
from weft.runs.provenance import cores

if sys.platform != "win32":
    import resource

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from weft._engine import Point

_UNITS = ("B", "kB", "MB", "GB", "TB")


@dataclass(frozen=True)
class Left:
    """Memory that this process may still take.

    Attributes
    ----------
    bytes : int
        How much [bytes].
    of : str
        What limits it, in words.
    """

    bytes: int
    of: str


def left(root: Path = Path("/")) -> Left | None:
    """The least of what machine, control groups and limit of the process leave; ``None`` if the system does not say.

    Parameters
    ----------
    root : Path
        Where ``proc`` and ``sys`` are.
    """
    limits = [*_machine(root), *_groups(root), *_process(root)]
    return min(limits, key=lambda limit: limit.bytes, default=None)


def refuse_too_much(
    points: Sequence[Point], *, jobs: int | None, threads: int, blocks: int, limit: Left | None = None
) -> None:
    """Refuse points that need more memory than there is left, all that run at the same time together.

    Parameters
    ----------
    points : sequence of Point
        What is to run.
    jobs, threads, blocks : int
        As for `weft.Sweep.run`.
    limit : Left, optional
        What is left, by default as `left` finds it.

    Raises
    ------
    ScenarioError
        With both numbers, and how many points fit.
    """
    limit = limit or left()
    if limit is None or not points:
        return
    workers = min(jobs or max(1, cores() // threads), len(points))
    needs = sorted(estimates(points, threads=threads, blocks=blocks), reverse=True)
    together = sum(needs[:workers])
    if together <= limit.bytes:
        return
    # of all points: which of them run at the same time is not known
    short = max(point.memory(threads, blocks)["at_load_bytes"] for point in points) * workers
    fitting = next((count for count in range(workers, 0, -1) if sum(needs[:count]) <= limit.bytes), 0)
    at_once = "a point takes" if workers == 1 else f"{workers} points at a time take"
    what = (
        f"{at_once} up to {text(together)} of memory with all buffers full, as they are beyond saturation (about "
        f"{text(short)} while queues are short), and {limit.of} has {text(limit.bytes)} left"
    )
    fewer = (
        f"run at most {fitting} at a time (--jobs {fitting}, in Python jobs={fitting})"
        if fitting
        else "take a smaller network"
    )
    enough = ": it is enough where no load saturates" if short <= limit.bytes else ""
    raise ScenarioError.saying(what, f"{fewer}, or run all the same with --force-memory (force_memory=True){enough}")


def estimates(points: Iterable[Point], *, threads: int = 1, blocks: int = 0) -> list[int]:
    """Memory of each point with all buffers full [bytes]; points that differ in load and seed only need the same."""
    known: dict[str, int] = {}
    needs = []
    for point in points:
        key = _kind(point)
        if key not in known:
            known[key] = point.memory(threads, blocks)["most_bytes"]
        needs.append(known[key])
    return needs


def text(size: float) -> str:
    """A number of bytes in words, such as ``1.2 GB``."""
    unit = 0
    while size >= 999.5 and unit + 1 < len(_UNITS):
        size, unit = size / 1000, unit + 1
    return f"{size:.3g} {_UNITS[unit]}"


def _kind(point: Point) -> str:
    resolved = point.resolved
    traffic = {key: value for key, value in resolved["traffic"].items() if key != "load"}
    rest = {key: value for key, value in resolved.items() if key not in {"name", "seed", "traffic"}}
    return json.dumps([rest, traffic])


def _machine(root: Path) -> list[Left]:
    lines = _read(root / "proc/meminfo").splitlines()
    kilobytes = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return [Left(int(number) * 1024, "the machine") for number in kilobytes]


def _groups(root: Path) -> list[Left]:
    """What each control group of this process leaves, and the groups above it (both versions of the interface)."""
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
    """What the limit of the address space leaves (``ulimit -v``)."""
    if sys.platform == "win32":
        return []
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    pages = _read(root / "proc/self/statm").split()
    if limit == resource.RLIM_INFINITY or not pages:
        return []
    return [Left(max(0, limit - int(pages[0]) * resource.getpagesize()), "the limit of this process (ulimit -v)")]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""
