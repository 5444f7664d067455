"""Stores the results of a sweep in a folder: one folder per point, named by the hash of its resolved scenario.

The folder of a point has a temporary name until it is complete, so a killed run leaves only complete points under their
final names. With the sizes and checksums in `run.json`, Weft finds files that were changed later.
"""

from __future__ import annotations

import json
import os
import shutil
import zlib
from contextlib import contextmanager, suppress
from glob import escape
from typing import TYPE_CHECKING, Any

from weft._engine import RESULT_MODEL_VERSION
from weft.errors import ResultsError, WriteError, writing
from weft.results import unfinished
from weft.text import shell
from weft.text.file_names import as_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from weft._engine import Finished, Point
    from weft.scenario.scenario import Named

_MANIFEST, _SUMMARY, _RUN = "sweep.json", "summary.json", "run.json"
_STALL = "stall.txt"
# Maximum number of folders that an error lists.
_LISTED = 4


class Store:
    """The results of a sweep on disk.

    Parameters
    ----------
    root : Path
        Folder of the sweep; it is created at the first write.

    Raises
    ------
    ResultsError
        If `root` is not a path.
    """

    def __init__(self, root: str | Path) -> None:
        self.root = as_path(root, "a folder of results", ResultsError)
        self._points = self.root / "points"

    def folder(self, hash: str) -> Path:
        """Folder of a point, whether its results are complete or not."""
        return self._points / hash

    def complete(self, hash: str) -> bool:
        """Whether the results of a point have been written."""
        with suppress(OSError):
            return self.folder(hash).is_dir()
        return False

    def sound(self, hash: str) -> bool:
        """Whether the results of a point are complete and not damaged. If not, the next run repeats the point."""
        try:
            self.check(hash)
        except ResultsError:
            return False
        return True

    def check(self, hash: str) -> dict[str, Any]:
        """The measured numbers of a point, after a check of the sizes and checksums of all its files.

        Raises
        ------
        ResultsError
            As for `summary`.
        """
        summary = self.summary(hash)
        for name in _sums(self.run_info(hash)):
            self.file(hash, name)
        return summary

    def summary(self, hash: str) -> dict[str, Any]:
        """The measured numbers of a point whose files are complete.

        Raises
        ------
        ResultsError
            If the point has no results, if a file is missing, cut off or changed, or if another version of Weft wrote
            the results.
        """
        folder = self.folder(hash)
        text = _bytes(folder / _SUMMARY, "run the sweep again: it runs the missing points")
        summary = _parsed(text, folder / _SUMMARY, _AGAIN)
        if (version := summary.get("result_model")) != RESULT_MODEL_VERSION:
            what = f"{folder}: result model {version}, but this Weft reads {RESULT_MODEL_VERSION}"
            raise ResultsError.saying(what, "run the sweep again with this version")
        if not isinstance(summary.get("ending"), str) or not isinstance(summary.get("saturated", ""), bool | None):
            raise ResultsError.saying(f"{folder / _SUMMARY} is damaged: it does not have the ending of the run", _AGAIN)
        _check_sizes(folder, self.run_info(hash))
        self.file(hash, _SUMMARY)
        for phase in summary.get("phases") or []:
            if phase.get("load") is not None:
                # rounded, because the mean over terminals depends in its last digit on the order of the sum
                phase["load"] = float(f"{phase['load']:.12g}")
        return summary

    def file(self, hash: str, name: str) -> Path:
        """The path of a file of a point, after a check of its checksum.

        Raises
        ------
        ResultsError
            If the checksum of the file differs from the stored one.
        """
        path = self.folder(hash) / name
        if (written := _sums(self.run_info(hash)).get(name)) is not None and _crc32(path) != written:
            raise ResultsError.saying(f"{path} was changed: its checksum differs", _AGAIN)
        return path

    def run_info(self, hash: str) -> dict[str, Any]:
        """Content of `run.json` of a point; empty if the file does not exist."""
        path = self.folder(hash) / _RUN
        return _parsed(_bytes(path, _AGAIN), path, _AGAIN) if path.exists() else {}

    def save(self, point: Point, finished: Finished, run: Mapping[str, Any] | None = None) -> None:
        """Write the results of a point, or replace older ones. At any time either all its files exist or none.

        Parameters
        ----------
        point, finished
            The point and its measured results.
        run : mapping, optional
            Machine and duration of the run, for `run.json`.

        Raises
        ------
        WriteError
            If a file can't be written. Older results are kept.
        """
        folder = self.folder(point.hash)
        new, old = unfinished.beside(folder), unfinished.beside(folder)
        with writing(folder):
            try:
                finished.save(new)
                if finished.stalled is not None:
                    (new / _STALL).write_text(finished.stalled + "\n", encoding="utf-8")
                text = json.dumps({**(run or {}), **_marks(new)}, indent=1)
                (new / _RUN).write_text(text + "\n", encoding="utf-8")
                with suppress(FileNotFoundError):
                    folder.rename(old)
                try:
                    new.rename(folder)
                except OSError:
                    if not self.complete(point.hash):  # else another process has just stored the same results
                        with suppress(OSError):
                            old.rename(folder)
                        raise
            finally:
                for rest in (new, old):
                    shutil.rmtree(rest, ignore_errors=True)

    def unlisted(self) -> int:
        """Number of finished points in the folder that are not in the list of the sweep.

        The scenario had these points when it was run earlier.
        """
        listed = {point["hash"] for point in self.manifest()["points"]}
        with suppress(OSError):
            return sum(each.name.isalnum() and each.name not in listed for each in self._points.iterdir())
        return 0

    def stall(self, hash: str) -> str:
        """Text on the packets of a stuck point that wait for each other."""
        path = self.folder(hash) / _STALL
        with suppress(OSError):
            return path.read_text(encoding="utf-8", errors="replace").rstrip()
        return "stalled"

    def write_manifest(self, named: Named, points: Iterable[Point], command: Sequence[str] | None = None) -> None:
        """Write the list of the points of the sweep with their coordinates, and remove temporary files of killed runs.

        Parameters
        ----------
        named, points
            Name of the sweep, and its points.
        command : sequence of str, optional
            The words of the command that runs the missing points, without ``--out``.

        Raises
        ------
        ResultsError
            If the folder holds the results of another scenario.
        WriteError
            If the folder cannot be written.
        """
        self.check_owner(named, points := list(points))
        listed = [{"hash": point.hash, "coordinates": point.coordinates} for point in points]
        manifest = {
            "name": named.name,
            "title": named.title,
            "source": named.source,
            "owner": self._owner(named),
            "command": command,
            "points": listed,
        }
        if points and (bill := points[0].resolved.get("bill")):
            manifest["bill"] = bill  # hashes do not include the bill, so a new bill needs no new runs
        self.replace(_MANIFEST, json.dumps(manifest, indent=1) + "\n")
        self.clear()

    def clear(self) -> None:
        """Remove temporary files of killed runs."""
        for place in (self.root, self._points):
            unfinished.clear(place)

    def check_owner(self, named: Named, points: Iterable[Point]) -> None:
        """Refuse a folder with another sweep, if some points of that sweep are not in the new list of points.

        Raises
        ------
        ResultsError
            If the list of points in the folder comes from another scenario, or from this scenario with other overrides.
        """
        try:
            manifest = self.manifest()
        except ResultsError:  # there is no list of points, or a damaged one, which the caller replaces
            return
        # older versions of Weft wrote only the name of the sweep
        same = manifest.get("owner", manifest["name"]) in (self._owner(named), named.name)
        lost = {point["hash"] for point in manifest["points"]} - {point.hash for point in points}
        if not same and lost:
            whose = f"{manifest['name']!r} of {manifest.get('source')}"
            what = f"{self.root} holds the results of another sweep, {whose}: {len(lost)} of its points would be lost"
            free = shell.word(self.free())
            remedy = f"name another folder with --out (in Python out=), such as {free}, or remove {self.root}"
            raise ResultsError.saying(what, remedy)

    def _owner(self, named: Named) -> list[str | None]:
        """Identity of a sweep: its default results folder, and the path of its file relative to this folder."""
        if named.file is None:
            return [named.folder, None]
        file = os.path.realpath(named.file)
        with suppress(ValueError):  # if the file is on another drive
            # a relative path, because users can move a project as a whole
            file = os.path.relpath(file, os.path.realpath(self.root))
        return [named.folder, file]

    def free(self) -> Path:
        """A free name for another folder of results, next to this one."""
        number = 2
        while os.path.lexists(free := self.root.with_name(f"{self.root.name}-{number}")):
            number += 1
        return free

    def replace(self, name: str, text: str) -> None:
        """Replace a file of the folder; other processes read either the old or the new text, never a part of it.

        Raises
        ------
        WriteError
            If the file can't be written.
        """
        with replaced(self.root / name) as partial:
            partial.write_text(text, encoding="utf-8")

    def _neighbours(self) -> str:
        """Text that lists other results folders whose names begin with the name of this folder.

        The same scenario with overrides has such folders.
        """
        alike: list[Path] = []
        with suppress(OSError):
            alike += sorted(each.parent for each in self.root.parent.glob(f"{escape(self.root.name)}*/{_MANIFEST}"))
        return f", such as {', '.join(map(str, alike[:_LISTED]))}" if alike else ""

    def manifest(self) -> dict[str, Any]:
        """The list of points and the command that `write_manifest` wrote.

        Raises
        ------
        ResultsError
            If this folder is not a folder of results, or if its list of points is damaged.
        """
        path = self.root / _MANIFEST
        if not os.path.lexists(path):
            absent = _MANIFEST if os.path.lexists(self.root) else "such folder"
            what = f"{self.root} has no results of a sweep: there is no {absent}"
            raise ResultsError.saying(what, f"name the folder that `weft run` wrote{self._neighbours()}")
        manifest = _parsed(_bytes(path, _REWRITE), path, _REWRITE)
        points = manifest.get("points")
        if not isinstance(points, list) or not isinstance(manifest.get("name"), str) or not all(map(_named, points)):
            raise ResultsError.saying(f"{path} is damaged: it lists no points", _REWRITE)
        if not isinstance(manifest.get("title", ""), str) or not isinstance(manifest.get("command"), list | None):
            what = f"{path} is damaged: its title is not text or its command is not a list"
            raise ResultsError.saying(what, _REWRITE)
        return manifest


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """Yields the path of a temporary file. This file replaces `path` when the ``with`` block ends without an error.

    Missing parent folders are created, and temporary files of `path` from killed processes are removed.

    Raises
    ------
    WriteError
        If the file can't be written.
    """
    with writing(path):
        if path.exists() and not path.is_file():
            kind = "a folder" if path.is_dir() else "not a regular file"
            raise WriteError.saying(f"{path} can't be written: it is {kind}", "name a file, such as one in a folder")
        partial = unfinished.beside(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished.clear(path.parent, path.name)
            yield partial
            partial.replace(path)
        finally:
            with suppress(OSError):
                partial.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a file and create its folder; other processes read either the old or the new text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replaced(path) as partial:
        partial.write_text(text, encoding="utf-8")


_AGAIN = "run the sweep again: it also runs damaged points"
_REWRITE = "run the sweep again into this folder: finished points stay"


def _bytes(path: Path, help: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise ResultsError.saying(f"{path} can't be read: {problem.strerror}", help) from problem


def _parsed(text: bytes, path: Path, help: str) -> dict[str, Any]:
    try:
        read = json.loads(text)
    except (ValueError, RecursionError) as problem:
        how = "is empty" if not text.strip() else f"is damaged: {problem}"
        raise ResultsError.saying(f"{path} {how}", help) from problem
    if not isinstance(read, dict):
        raise ResultsError.saying(f"{path} is damaged: it has no keys", help)
    return read


def _named(point: Any) -> bool:
    """Whether an entry of the list of points is valid: it names a folder and has coordinates."""
    match point:
        case {"hash": str(hash), "coordinates": dict()}:
            return hash.isalnum()
    return False


def _marks(folder: Path) -> dict[str, Any]:
    """Sizes and checksums of the files in a folder.

    `run.json` stores these numbers, with which later changes of the files are found.
    """
    files = sorted(folder.iterdir())
    return {
        "file_bytes": {path.name: path.stat().st_size for path in files},
        "file_crc32": {path.name: _crc32(path) for path in files},
    }


def _check_sizes(folder: Path, written: Mapping[str, Any]) -> None:
    """Refuse a folder if the size of a file differs from its size in `run.json`."""
    sizes = written.get("file_bytes", {})
    for name, size in sizes.items() if isinstance(sizes, dict) else ():
        path = folder / str(name)
        if not path.is_file():
            raise ResultsError.saying(f"{path} is missing", _AGAIN)
        if (found := path.stat().st_size) != size:
            how = "was cut off" if found < size else "was changed"
            raise ResultsError.saying(f"{path} {how}: {found} of {size} bytes", _AGAIN)


def _sums(written: Mapping[str, Any]) -> dict[str, Any]:
    """The checksums of files in `run.json`; empty if `run.json` has none."""
    sums = written.get("file_crc32")
    return sums if isinstance(sums, dict) else {}


def _crc32(path: Path) -> int:
    found = 0
    try:
        with path.open("rb") as file:
            while some := file.read(1 << 20):
                found = zlib.crc32(some, found)
    except OSError as problem:
        raise ResultsError.saying(f"{path} can't be read: {problem.strerror}", _AGAIN) from problem
    return found
