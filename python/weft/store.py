"""The folder of a sweep's results: one folder per point, named by the hash of its resolved scenario.

A point's folder appears by one rename when it is complete, so a killed run leaves whole points or nothing.
"""

from __future__ import annotations

import json
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from weft.errors import ResultsError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weft._engine import Finished, Point

_MANIFEST = "sweep.json"
_STALL = "stall.txt"
_PARTS = ".*.part"
_ABANDONED_SECONDS = 3600


class Store:
    """Results of a sweep on disk.

    Parameters
    ----------
    root : Path
        Folder of the sweep; made when first written to.
    """

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)
        self._points = self.root / "points"

    def folder(self, hash: str) -> Path:
        """Folder of a point, complete or not."""
        return self._points / hash

    def complete(self, hash: str) -> bool:
        """Whether the results of a point are there."""
        return (self.folder(hash) / "summary.json").is_file()

    def sound(self, hash: str) -> bool:
        """Whether the results of a point are whole and can be read; a damaged point is run again."""
        if not (self.folder(hash) / "channels.parquet").is_file():
            return False
        try:
            return bool(self.summary(hash))
        except ResultsError:
            return False

    def summary(self, hash: str) -> dict[str, Any]:
        """The measured numbers of a point.

        Raises
        ------
        ResultsError
            If the file can't be read.
        """
        return _read_json(self.folder(hash) / "summary.json")

    def save(self, point: Point, finished: Finished) -> None:
        """Write the results of a point in place of older ones; they appear at once or not at all."""
        folder, mark = self.folder(point.hash), uuid4().hex
        new, old = (self._points / f".{point.hash}.{mark}.{each}.part" for each in ("new", "old"))
        try:
            finished.save(new)
            if finished.stalled is not None:
                (new / _STALL).write_text(finished.stalled + "\n", encoding="utf-8")
            with suppress(FileNotFoundError):
                folder.rename(old)
            try:
                new.rename(folder)
            except OSError:
                if not self.complete(point.hash):  # else another process was first with the same results
                    raise
        finally:
            for rest in (new, old):
                shutil.rmtree(rest, ignore_errors=True)

    def stall(self, hash: str) -> str:
        """The packets of a stuck point that wait for each other, in words."""
        path = self.folder(hash) / _STALL
        return path.read_text(encoding="utf-8").rstrip() if path.is_file() else "stalled"

    def write_manifest(self, name: str, source: str, points: Iterable[Point], title: str) -> None:
        """Say which points belong to the sweep, in which order, with which coordinates; drop abandoned rests."""
        self.root.mkdir(parents=True, exist_ok=True)
        listed = [{"hash": point.hash, "coordinates": point.coordinates} for point in points]
        text = json.dumps({"name": name, "title": title, "source": source, "points": listed}, indent=1)
        partial = self.root / f".{_MANIFEST}.{uuid4().hex}.part"
        partial.write_text(text + "\n", encoding="utf-8")
        partial.replace(self.root / _MANIFEST)
        self._drop_abandoned()

    def manifest(self) -> dict[str, Any]:
        """What `write_manifest` wrote.

        Raises
        ------
        ResultsError
            If this is no folder of results.
        """
        return _read_json(self.root / _MANIFEST)

    def _drop_abandoned(self) -> None:
        """Remove what killed runs left; young rests may belong to a run at work in the same folder."""
        for partial in [*self.root.glob(_PARTS), *self._points.glob(_PARTS)]:
            with suppress(OSError):  # another process may remove it at the same time
                if time.time() - partial.stat().st_mtime > _ABANDONED_SECONDS:
                    shutil.rmtree(partial) if partial.is_dir() else partial.unlink()


def _read_json(path: Path) -> dict[str, Any]:
    try:
        read: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        what = f"{path.parent} holds no results of a sweep: {path.name} can't be read ({problem})"
        raise ResultsError.saying(what, "name the folder that `weft run` wrote") from problem
    return read
