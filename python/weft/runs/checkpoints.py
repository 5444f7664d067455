"""Writes and reads checkpoints of running points.

If a run was killed, the next run of its point continues from the last checkpoint, and its results have the same bytes.

A checkpoint is one file in the folder ``checkpoints`` of a sweep. The file has three parts: a line of JSON that
identifies the run, the engine's state of the run, and a SHA-256 of both. The name of the file contains the hash of the
point and a string that identifies the build of Weft. Only the build that wrote a checkpoint can read it. Another build
starts the point from the beginning and does not change the file. When the point has finished, all its checkpoints are
removed.
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
# Maximum length of the first line of a checkpoint [bytes]; a longer line belongs to another file.
_LONGEST_HEAD = 1 << 12
_CHECKSUM = sha256().digest_size
_UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_EVERY = re.compile(r"(\d+(?:\.\d+)?)\s*(s|min|h|d|cycles)")


class CheckpointWarning(WeftWarning):
    """Warns that a checkpoint can't be written, or that a point can't continue from its checkpoint."""


@dataclass(frozen=True)
class Every:
    """Interval of checkpoints, either in wall-clock time or in simulated cycles.

    The unit that is not used has the value 0.
    """

    seconds: float = 0.0
    cycles: int = 0

    @classmethod
    def of(cls, text: str) -> Every:
        """Read an interval such as ``"10min"``, ``"90s"``, ``"2h"``, ``"1d"`` or ``"1000000cycles"``.

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
    """The first line of a checkpoint file. The line identifies the run of the checkpoint.

    Attributes
    ----------
    hash, build : str
        Hash of the point, and the build of Weft that wrote the checkpoint.
    blocks : int
        Requested number of blocks of the network; 0 if the engine chooses the number.
    cycle : int
        Cycle that the run had reached, at most the end of the window.
    seconds : float
        Run time of the point so far [s].
    resumed : int
        Number of times that the point had already continued from a checkpoint.
    """

    hash: str
    build: str
    blocks: int
    cycle: int
    seconds: float
    resumed: int

    @classmethod
    def read(cls, line: bytes) -> Kept:
        """Read the first line of a file; raise `ValueError` if it is not that of a checkpoint."""
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
        Interval of checkpoints. ``None`` means that no checkpoints are written; points still continue from existing
        ones.
    """

    def __init__(self, store: Store, every: Every | None = None) -> None:
        self._folder = store.root / _FOLDER
        self._every = every
        self._last: dict[str, float] = {}

    def run(self, point: Point, clock: Clock, threads: int, blocks: int, control: Control) -> Finished:
        """Run a point, from its checkpoint if it has one. The run time before the checkpoint is added to `clock`."""
        if found := self._load(point.hash):
            kept, state = found
            # a run must continue with the same number of blocks, but can have another number of threads
            clock.resume(kept.seconds, kept.resumed + 1, kept.blocks)
            try:
                # `pop` leaves no reference to the state here, so its memory is free after the engine has read it
                return point.resume(threads, control, state.pop)
            except ScenarioError as problem:
                if problem.path != "checkpoint":
                    raise
                clock.resume(0.0, 0, blocks)
                _warn(f"{self._path(point.hash)}: {problem.what}; the point starts from the beginning")
        return point.run(threads, blocks, control)

    def control(self, point: Point, clock: Callable[[], Clock]) -> Control:
        """Makes the object that controls a run of this point, and that writes its checkpoints.

        `clock` is a function that returns the clock of the run once the run has started.
        """
        if self._every is None:
            return Control()

        def keep(state: bytes) -> None:
            self._write(point.hash, state, control.cycle, clock())

        control = Control(keep, self._every.cycles)
        return control

    def look(self, running: Iterable[tuple[str, Control, Clock]]) -> None:
        """Request a checkpoint of each point whose interval in wall-clock time has passed.

        The runner calls this method from time to time.
        """
        if self._every is None or not self._every.seconds:
            return
        now = time.monotonic()  # not the run's clock, which includes time before an interruption
        for point, control, _ in running:
            if now - self._last.setdefault(point, now) >= self._every.seconds:
                self._last[point] = now
                control.checkpoint()

    def remove(self, hash: str) -> None:
        """Remove the checkpoints of a finished point, and their folder after the last checkpoint of the sweep."""
        with suppress(OSError):
            for path in self._folder.glob(f"{hash}-*{_END}"):
                path.unlink(missing_ok=True)
            unfinished.clear(self._folder, f"{hash}-{build()}{_END}")
            self._folder.rmdir()

    def forget(self, hashes: Iterable[str]) -> None:
        """Remove checkpoints of finished points whose runs were killed before they could remove them."""
        if self._folder.is_dir():
            for each in hashes:
                self.remove(each)

    def _path(self, hash: str) -> Path:
        return self._folder / f"{hash}-{build()}{_END}"

    def _write(self, hash: str, state: bytes, cycle: int, clock: Clock) -> None:
        """Write a checkpoint in place of the previous checkpoint of the point.

        If the checkpoint can't be written, the run continues without it.
        """
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
                # possibly another point has just finished and has removed the empty folder
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
            os.fsync(file.fileno())  # before the previous one is deleted

    def _load(self, hash: str) -> tuple[Kept, list[bytes]] | None:
        """The first line of a point's checkpoint, and a list with the state, which the engine removes from the list.

        The result is ``None`` if the point has no checkpoint. The result is also ``None``, with a warning, if the point
        cannot continue from its checkpoint.
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
    """First line, state and checksum of a checkpoint file. The three parts are returned without a check."""
    with path.open("rb") as file:
        head = file.readline(_LONGEST_HEAD)
        state = file.read(max(0, os.fstat(file.fileno()).st_size - len(head) - _CHECKSUM))
        return head, state, file.read()


def pending(store: Store) -> list[Kept]:
    """The first lines of the checkpoints of a sweep from which this build can continue points."""
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
