"""Checkpoints of running points. A killed run continues from its last checkpoint, and its results have the same bytes.

A checkpoint is one file in the folder ``checkpoints`` of a sweep. It consists of a line of JSON that names its owner,
the state of the run from the engine, and the SHA-256 of the two. Its name has the hash of the point and a mark of the
build of Weft. Only this build can read the file. Another build starts the point from the beginning and does not touch
the file. When the point has finished, all its checkpoints are removed.
"""

from __future__ import annotations

import json
import os
import re
import time
import warnings
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import file_digest, sha256
from pathlib import Path
from typing import TYPE_CHECKING

from weft import _engine
from weft._engine import Control
from weft.errors import ScenarioError, WeftWarning, WriteError
from weft.results import unfinished
from weft.results.store import replaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from weft._engine import Finished, Point
    from weft.results.store import Store
    from weft.runs.provenance import Clock

_FOLDER, _END = "checkpoints", ".checkpoint"
# A longer first line cannot belong to a checkpoint.
_LONGEST_HEAD = 1 << 12
_CHECKSUM = sha256().digest_size
_UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_EVERY = re.compile(r"(\d+(?:\.\d+)?)\s*(s|min|h|d|cycles)")


class CheckpointWarning(WeftWarning):
    """A checkpoint can't be written, or a point can't continue from it."""


@dataclass(frozen=True)
class Every:
    """Interval of checkpoints, in wall-clock time or in simulated cycles. The unused one of the two is 0."""

    seconds: float = 0.0
    cycles: int = 0

    @classmethod
    def of(cls, text: str) -> Every:
        """Read ``"10min"``, ``"90s"``, ``"2h"``, ``"1d"`` or ``"1000000cycles"``.

        Raises
        ------
        ScenarioError
            If the text has another form, or the interval is less than a second or than a cycle.
        """
        remedy = "write a time such as 10min (s, min, h, d), or a number of cycles such as 1000000cycles"
        found = _EVERY.fullmatch(text.strip()) if isinstance(text, str) else None
        if found is None:
            raise ScenarioError.saying(f"{text!r} is not an interval of checkpoints", remedy)
        number, unit = found.groups()
        if unit == "cycles":
            if "." in number or not 0 < int(number) < 1 << 63:
                raise ScenarioError.saying(f"{text!r} is not a whole number of cycles of 1 or more", remedy)
            return cls(cycles=int(number))
        if not 1.0 <= (seconds := float(number) * _UNITS[unit]) <= 1e9:
            raise ScenarioError.saying(f"{text!r} is less than 1 second or more than 30 years", remedy)
        return cls(seconds=seconds)


@dataclass(frozen=True)
class Kept:
    """The first line of a checkpoint.

    Attributes
    ----------
    hash, build : str
        Hash of its point, and the build of Weft that made it.
    blocks : int
        Requested number of blocks of the network; 0: the engine chooses.
    cycle : int
        Cycle that the run had reached, at most the end of the window.
    seconds : float
        Run time of the point so far [s].
    resumed : int
        Number of times that the point had continued from a checkpoint.
    """

    hash: str
    build: str
    blocks: int
    cycle: int
    seconds: float
    resumed: int

    @classmethod
    def read(cls, line: bytes) -> Kept:
        """Read the line, or raise `ValueError` if the line does not belong to a checkpoint."""
        match said := json.loads(line):
            case {
                "hash": str(),
                "build": str(),
                "blocks": int(),
                "cycle": int(),
                "seconds": int() | float(),
                "resumed": int(),
                **rest,
            } if not rest:
                return cls(**said)
        raise ValueError("no checkpoint begins so")


class Checkpoints:
    """The checkpoints of the points of a sweep.

    Parameters
    ----------
    store : Store
        Folder of the sweep.
    every : Every, optional
        Interval of checkpoints; ``None``: no checkpoints are made, but points continue from existing ones.
    """

    def __init__(self, store: Store, every: Every | None = None) -> None:
        self._folder = store.root / _FOLDER
        self._every = every
        self._last: dict[str, float] = {}

    def run(self, point: Point, clock: Clock, threads: int, blocks: int, control: Control) -> Finished:
        """Run a point, from its checkpoint if it has one. The earlier run time is added to `clock`."""
        if found := self._load(point.hash):
            kept, state = found
            # blocks stay unchanged: only the number of threads may change between runs
            clock.resume(kept.seconds, kept.resumed + 1, kept.blocks)
            try:
                # no reference to the state is kept after the engine has read it
                return point.resume(threads, control, state.pop)
            except ScenarioError as problem:
                if problem.path != "checkpoint":
                    raise
                clock.resume(0.0, 0, blocks)
                _warn(f"{self._path(point.hash)}: {problem.what}; the point starts from the beginning")
        return point.run(threads, blocks, control)

    def control(self, point: Point, clock: Callable[[], Clock]) -> Control:
        """The handle of a run of this point. The handle writes the checkpoints.

        `clock` returns the clock of the run once it has started.
        """
        if self._every is None:
            return Control()

        def keep(state: bytes) -> None:
            self._write(point.hash, state, control.cycle, clock())

        control = Control(keep, self._every.cycles)
        return control

    def look(self, running: Iterable[tuple[str, Control, Clock]]) -> None:
        """Request the checkpoints that are due by the clock. This method is called from time to time."""
        if self._every is None or not self._every.seconds:
            return
        now = time.monotonic()  # the clock of a run also counts the time before it was interrupted
        for point, control, _ in running:
            if now - self._last.setdefault(point, now) >= self._every.seconds:
                self._last[point] = now
                control.checkpoint()

    def remove(self, hash: str) -> None:
        """Remove the checkpoints of a finished point, and the folder after the last checkpoint is gone."""
        with suppress(OSError):
            for path in self._folder.glob(f"{hash}-*{_END}"):
                path.unlink(missing_ok=True)
            unfinished.clear(self._folder, f"{hash}-{build()}{_END}")
            self._folder.rmdir()

    def forget(self, hashes: Iterable[str]) -> None:
        """Remove the leftovers of runs that were killed after the last byte of their results."""
        if self._folder.is_dir():
            for each in hashes:
                self.remove(each)

    def _path(self, hash: str) -> Path:
        return self._folder / f"{hash}-{build()}{_END}"

    def _write(self, hash: str, state: bytes, cycle: int, clock: Clock) -> None:
        """Write a checkpoint, which replaces the previous one. If that fails, the run continues without it."""
        kept = Kept(
            hash=hash,
            build=build(),
            blocks=clock.blocks,
            cycle=cycle,
            seconds=round(clock.seconds, 3),
            resumed=clock.resumed,
        )
        for again in (True, True, False):
            try:
                self._replace(hash, json.dumps(vars(kept)).encode() + b"\n", state)
                return
            except WriteError as problem:
                # `remove` of another point that has just finished deletes the folder if it is empty
                if not again or not isinstance(problem.__cause__, FileNotFoundError):
                    _warn(f"no checkpoint: {problem.what} ({problem.help}); the run continues")
                    return

    def _replace(self, hash: str, head: bytes, state: bytes) -> None:
        with replaced(self._path(hash)) as partial, partial.open("wb") as file:
            checksum = sha256(head)
            checksum.update(state)
            for part in (head, state, checksum.digest()):
                file.write(part)
            file.flush()
            os.fsync(file.fileno())  # the previous checkpoint is deleted only after this one is on the disk

    def _load(self, hash: str) -> tuple[Kept, list[bytes]] | None:
        """The checkpoint of a point, and its state as the only element of a list, so that the engine can take it out.

        ``None`` if there is no checkpoint. Also ``None``, with a warning, if the point cannot continue from it.
        """
        if not self._folder.is_dir():
            return None
        path = self._path(hash)
        if not path.is_file():
            others = sorted(other.name for other in self._folder.glob(f"{hash}-*{_END}"))
            if others:
                _warn(
                    f"{self._folder / others[0]} was written by another build of Weft, which alone can use it: the "
                    "point starts from the beginning, and the file is kept until the point has finished"
                )
            return None
        try:
            head, state, last = _parts(path)
        except OSError as problem:
            _warn(f"{path} can't be read: {problem.strerror}; the point starts from the beginning")
            return None
        checksum = sha256(head)
        checksum.update(state)
        if checksum.digest() == last:
            with suppress(ValueError, RecursionError, TypeError):
                kept = Kept.read(head)
                if (kept.hash, kept.build) == (hash, build()):
                    return kept, [state]
        _warn(f"{path} is damaged: the point starts from the beginning")
        return None


def _parts(path: Path) -> tuple[bytes, bytes, bytes]:
    """First line, state and checksum of a file. They are not checked here."""
    with path.open("rb") as file:
        head = file.readline(_LONGEST_HEAD)
        state = file.read(max(0, os.fstat(file.fileno()).st_size - len(head) - _CHECKSUM))
        return head, state, file.read()


def pending(store: Store) -> list[Kept]:
    """The first lines of the checkpoints of a sweep that this build can continue."""
    found: list[Kept] = []
    with suppress(OSError):
        for path in sorted((store.root / _FOLDER).glob(f"*{_END}")):
            with suppress(OSError, ValueError, RecursionError, TypeError), path.open("rb") as file:
                kept = Kept.read(file.readline(_LONGEST_HEAD))
                if path.name == f"{kept.hash}-{build()}{_END}":
                    found.append(kept)
    return found


@cache
def build() -> str:
    """A string that identifies this build of the engine: the first digits of the hash of its file."""
    with Path(_engine.__file__ or "").open("rb") as file:
        return file_digest(file, "sha256").hexdigest()[:12]


def _warn(text: str) -> None:
    warnings.warn(text, CheckpointWarning, stacklevel=3)
