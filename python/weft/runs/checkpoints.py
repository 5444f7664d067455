"""Checkpoints of points that run: a killed run continues from the last one, to results with the same bytes.

A checkpoint is one file in the folder ``checkpoints`` of a sweep. It has a line of JSON that names its owner, the
state of the run from the engine, and the SHA-256 of the two. Its name has the hash of the point and a mark of the
build of Weft. Only this build can read it: another build starts the point from the beginning and leaves the file
alone. When the point has finished, all its checkpoints are removed.
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
# A first line that is longer belongs to no checkpoint.
_LONGEST_HEAD = 1 << 12
_CHECKSUM = sha256().digest_size
_UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_EVERY = re.compile(r"(\d+(?:\.\d+)?)\s*(s|min|h|d|cycles)")


class CheckpointWarning(WeftWarning):
    """A checkpoint that can't be written, or from which a point can't go on."""


@dataclass(frozen=True)
class Every:
    """How often a checkpoint is made: by the clock on the wall, or by simulated cycles; 0 if by the other."""

    seconds: float = 0.0
    cycles: int = 0

    @classmethod
    def of(cls, text: str) -> Every:
        """Read ``"10min"``, ``"90s"``, ``"2h"``, ``"1d"`` or ``"1000000cycles"``.

        Raises
        ------
        ScenarioError
            If it is another value, less than a second, or no cycle.
        """
        remedy = "write a time such as 10min (s, min, h, d), or a number of cycles such as 1000000cycles"
        found = _EVERY.fullmatch(text.strip()) if isinstance(text, str) else None
        if found is None:
            raise ScenarioError.saying(f"{text!r} does not say how often a checkpoint is made", remedy)
        number, unit = found.groups()
        if unit == "cycles":
            if "." in number or not 0 < int(number) < 1 << 63:
                raise ScenarioError.saying(f"{text!r} is no whole number of cycles from 1 on", remedy)
            return cls(cycles=int(number))
        if not 1.0 <= (seconds := float(number) * _UNITS[unit]) <= 1e9:
            raise ScenarioError.saying(f"{text!r} is less than a second, or more than 30 years", remedy)
        return cls(seconds=seconds)


@dataclass(frozen=True)
class Kept:
    """The first line of a checkpoint.

    Attributes
    ----------
    hash, build : str
        Hash of its point, and the build of Weft that made it.
    blocks : int
        Blocks into which its network was asked to be divided; 0: chosen by the engine.
    cycle : int
        Cycle that the run had reached, at most the end of the window.
    seconds : float
        How long the point had run.
    resumed : int
        How often it had gone on from a checkpoint.
    """

    hash: str
    build: str
    blocks: int
    cycle: int
    seconds: float
    resumed: int

    @classmethod
    def read(cls, line: bytes) -> Kept:
        """Read the line; `ValueError` if it is none."""
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
        How often checkpoints are made; ``None``: none are, but points go on from those that are there.
    """

    def __init__(self, store: Store, every: Every | None = None) -> None:
        self._folder = store.root / _FOLDER
        self._every = every
        self._last: dict[str, float] = {}

    def run(self, point: Point, clock: Clock, threads: int, blocks: int, control: Control) -> Finished:
        """Run a point, from its checkpoint if it has one. `clock` gets the time that this has taken before."""
        if found := self._load(point.hash):
            kept, state = found
            # blocks stay what they were: only threads can change on the way
            clock.resume(kept.seconds, kept.resumed + 1, kept.blocks)
            try:
                return point.resume(threads, control, state.pop)  # nobody here keeps what the engine has read
            except ScenarioError as problem:
                if problem.path != "checkpoint":
                    raise
                clock.resume(0.0, 0, blocks)
                _warn(f"{self._path(point.hash)}: {problem.what}; the point starts from the beginning")
        return point.run(threads, blocks, control)

    def control(self, point: Point, clock: Callable[[], Clock]) -> Control:
        """The handle of a run of this point, which has its checkpoints written; `clock`: its clock, once it runs."""
        if self._every is None:
            return Control()

        def keep(state: bytes) -> None:
            self._write(point.hash, state, control.cycle, clock())

        control = Control(keep, self._every.cycles)
        return control

    def look(self, running: Iterable[tuple[str, Control, Clock]]) -> None:
        """Request the checkpoints that are due by the clock; called now and then."""
        if self._every is None or not self._every.seconds:
            return
        now = time.monotonic()  # the clock of a run counts what it took before it was broken off, too
        for point, control, _ in running:
            if now - self._last.setdefault(point, now) >= self._every.seconds:
                self._last[point] = now
                control.checkpoint()

    def remove(self, hash: str) -> None:
        """Remove the checkpoints of a point that has finished, and the folder behind the last one."""
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
        """Write a checkpoint in place of the one before. If that fails, the run continues without."""
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
                # `remove` of another point, which has just finished, takes away the folder while it is empty
                if not again or not isinstance(problem.__cause__, FileNotFoundError):
                    _warn(f"no checkpoint: {problem.what} ({problem.help}); the run goes on")
                    return

    def _replace(self, hash: str, head: bytes, state: bytes) -> None:
        with replaced(self._path(hash)) as partial, partial.open("wb") as file:
            checksum = sha256(head)
            checksum.update(state)
            for part in (head, state, checksum.digest()):
                file.write(part)
            file.flush()
            os.fsync(file.fileno())  # the one before goes only when this one is on the disk

    def _load(self, hash: str) -> tuple[Kept, list[bytes]] | None:
        """The checkpoint of a point, its state as the only element of a list, from which the engine takes it.

        ``None`` if there is none, or none from which the point can go on, which is said.
        """
        if not self._folder.is_dir():
            return None
        path = self._path(hash)
        if not path.is_file():
            others = sorted(other.name for other in self._folder.glob(f"{hash}-*{_END}"))
            if others:
                _warn(
                    f"{self._folder / others[0]} was made by another build of Weft, which alone can go on from it: the "
                    "point starts from the beginning, and the file stays until the point has finished"
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
    """First line, state and checksum of a file, whatever it holds."""
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
    """A mark of this build of the engine: the first digits of the hash of its file."""
    with Path(_engine.__file__ or "").open("rb") as file:
        return file_digest(file, "sha256").hexdigest()[:12]


def _warn(text: str) -> None:
    warnings.warn(text, CheckpointWarning, stacklevel=3)
