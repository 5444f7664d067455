"""Writes beacons: a beacon is a file next to the results that shows that a run is alive.

A beacon contains the host and the process number of a run, and the progress of the run.
"""

from __future__ import annotations

import json
import os
import socket
import time
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

from weft.results import unfinished

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import TracebackType

    from weft.results.store import Store
    from weft.runs.execute import Status

_FILES = ".running.*.json"
_EVERY_SECONDS = 1.0
# Time without a change of its beacon after which a run counts as dead [s].
SILENT_SECONDS = 60


class Beacon:
    """Writes the beacon file of a run inside a ``with`` block.

    A killed run leaves its file behind; the age of the file then shows that the run is dead.

    Parameters
    ----------
    store : Store
        Folder of the sweep.
    watch : callable, optional
        Function that is also called with each `Status`.
    job : str, optional
        Job of a batch system in which this process runs.
    every_seconds : float
        Minimum interval between two writes of the file [s].

    Attributes
    ----------
    name : str
        Name of the beacon file.
    """

    def __init__(
        self,
        store: Store,
        watch: Callable[[Status], None] | None = None,
        *,
        job: str | None = None,
        every_seconds: float = _EVERY_SECONDS,
    ) -> None:
        self._store, self._watch, self._every = store, watch, every_seconds
        self._who = {
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "started_utc": datetime.now(UTC).isoformat(timespec="seconds"),
            "job": job,
        }
        self.name = f".running.{uuid4().hex}.json"
        self._begun = time.monotonic()
        self._next = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):  # the folder is possibly deleted or read-only by now
            (self._store.root / self.name).unlink(missing_ok=True)

    def __call__(self, status: Status) -> None:
        """Write a status to the beacon file, and pass the status to `watch`."""
        if (now := time.monotonic()) >= self._next:
            self._next = now + self._every
            said = {**self._who, "seconds": round(now - self._begun, 1), **asdict(status)}
            with suppress(OSError):  # if the disk is full, saving results reports the error
                self._write(json.dumps(said))
        if self._watch:
            self._watch(status)

    def _write(self, text: str) -> None:
        """Replace the content of the beacon file.

        No other process uses this file name, so there are no temporary files of dead processes to remove.
        """
        partial = unfinished.beside(self._store.root / self.name)
        try:
            self._store.root.mkdir(parents=True, exist_ok=True)
            partial.write_text(text, encoding="utf-8")
            partial.replace(self._store.root / self.name)
        finally:
            partial.unlink(missing_ok=True)


def works(root: Path, name: str) -> bool:
    """Whether the run that writes the beacon of this name in a folder is alive."""
    path = root / name
    who = _read(path)
    return who is not None and _alive(path, who, now(root))


def at_work(root: Path) -> list[dict[str, Any]]:
    """For each run that works in a folder: host, pid, start time, job (if a batch system runs it), and its `Status`."""
    return [who for _, who, alive in _found(root) if alive]


def clear(root: Path) -> None:
    """Remove the beacon files of dead runs.

    Only the process that starts a sweep calls this function, and not each worker, because reading the whole folder
    takes long.
    """
    for path, _, alive in _found(root):
        if not alive:
            with suppress(OSError):
                path.unlink(missing_ok=True)


def _found(root: Path) -> list[tuple[Path, dict[str, Any], bool]]:
    """The beacon files of a folder with their contents, and whether their runs are alive."""
    beacons: list[Path] = []
    with suppress(OSError):  # the folder does not exist, or its name is too long
        beacons += sorted(root.glob(_FILES))
    at = now(root) if beacons else 0.0
    return [(path, who, _alive(path, who, at)) for path in beacons if (who := _read(path)) is not None]


def _read(path: Path) -> dict[str, Any] | None:
    """Content of a beacon file; ``None`` if the file is empty or missing. A run may remove its file at any time."""
    with suppress(OSError, ValueError):
        who: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if _whole(who):
            return who
    return None


def _whole(who: Any) -> bool:
    """Whether a beacon has all keys that `Beacon` writes. The file of another version of Weft can lack some."""
    match who:
        case {
            "host": str(),
            "pid": int(),
            "started_utc": str(),
            "seconds": int() | float(),
            "total": int(),
            "done": int(),
            "reused": int(),
            "running": int() | float(),
            "left_seconds": int() | float() | None,
            "most_left_seconds": int() | float() | None,
            "flying": list(flights),
        }:
            return all(map(_flight, flights))
    return False


def _flight(each: Any) -> bool:
    match each:
        case {
            "hash": str(),
            "words": str(),
            "fraction": int() | float(),
            "cycles": int(),
            "seconds": int() | float(),
            "left_seconds": int() | float() | None,
            "most_left_seconds": int() | float() | None,
            **rest,
        }:
            return not rest
    return False


def _alive(path: Path, who: dict[str, Any], now: float) -> bool:
    """Whether a run is alive: its beacon was written a short time ago and, on this machine, its process exists."""
    try:
        if now - path.stat().st_mtime > SILENT_SECONDS:
            return False
        if os.name == "posix" and who["host"] == socket.gethostname():
            os.kill(who["pid"], 0)
    except PermissionError:  # the process exists and belongs to another user
        return True
    except OSError:
        return False
    return True


def now(root: Path) -> float:
    """Current time of the clock with which the file system dates the files of a folder.

    The clock of the file system can differ from that of the machine, because a file server has a separate clock.
    """
    try:
        with TemporaryFile(dir=root) as stamped:
            return os.fstat(stamped.fileno()).st_mtime
    except OSError:  # the folder is not writable
        return time.time()
