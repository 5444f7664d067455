"""Records the machine and the duration of a point's run.

Machine and duration are stored in `run.json`, separate from the results, because results are equal on every machine.
"""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_GIB = 1 << 30


@dataclass
class Clock:
    """Measures the run time of a point, including the time before a checkpoint from which the run continues.

    Attributes
    ----------
    threads, blocks : int
        Threads and blocks of routers of the run; 0 blocks if the engine chooses the number.
    resumed : int
        Number of times that the run has continued from a checkpoint.
    plain : bool
        Whether the shortcuts of the engine were disabled.
    """

    threads: int
    blocks: int
    resumed: int = 0
    plain: bool = False
    _before: float = 0.0
    _started: datetime = field(default_factory=lambda: datetime.now(UTC))
    _begun: float = field(default_factory=perf_counter)

    @property
    def seconds(self) -> float:
        """Time since the start of the run, plus its run time before the checkpoint from which it continues [s]."""
        return self._before + perf_counter() - self._begun

    def resume(self, seconds: float, resumed: int, blocks: int) -> None:
        """Record that the run continues from a checkpoint, and its run time before the checkpoint."""
        self._before, self.resumed, self.blocks = seconds, resumed, blocks

    def record(self, summary: Mapping[str, Any]) -> dict[str, Any]:
        """Content of `run.json` for a run that ends at this moment with this summary."""
        from weft._engine import COMMIT  # noqa: PLC0415  `weft --help` needs no engine

        seconds = self.seconds
        return {
            "weft_version": summary.get("weft_version"),
            "commit": COMMIT or None,
            "result_model": summary.get("result_model"),
            "started_utc": self._started.isoformat(timespec="seconds"),
            "seconds": round(seconds, 3),
            "threads": self.threads,
            "blocks": self.blocks,
            **({"resumed": self.resumed} if self.resumed else {}),
            **({"plain": True} if self.plain else {}),
            "flit_hops_per_second": round(summary.get("flit_hops", 0) / seconds),
            "machine": machine(),
        }


@cache
def machine() -> dict[str, Any]:
    """Properties of this machine: ``system``, ``python``, ``cpu``, ``cores`` and ``memory_gib``.

    Only cores that this process can use are counted.
    """
    return {
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "cpu": _cpu(),
        "cores": cores(),
        "memory_gib": _memory_gib(),
    }


def cores() -> int:
    """Number of cores that this process can use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _cpu() -> str:
    """The name of the processor. On Linux, the name is read from a file of the system."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine()


def _memory_gib() -> float | None:
    """Memory of this machine [GiB]; ``None`` if unknown."""
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / _GIB, 1)
    except (AttributeError, OSError, ValueError):
        return None
