"""Claims points for runs, so that two processes that work in the same folder do not run the same point.

The claims of a point are files ``.claims/HASH/NUMBER``. The claim with the highest number is valid. The content of a
claim names the run of the point, and the beacon (`weft.runs.beacon`) that shows if this run is alive. A claim of a dead
run is not removed, because two processes could do this at the same time. Instead, another run creates a claim with the
next number, which overrules the old claim. Only one process can create a file with this name. A process that has
finished a point removes the claims of the point. If another run has overruled the claim of the process in the meantime,
the process records this. The claims of each point are in a separate folder, so that a claim takes no longer in a large
sweep.
"""

from __future__ import annotations

import json
import os
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from weft.errors import writing
from weft.runs import beacon

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_FOLDER, _TWICE = ".claims", ".twice"


class Claims:
    """The claims of one run.

    Parameters
    ----------
    root : Path
        Folder of the sweep.
    mark : str
        Name of the beacon of this run in the folder of the sweep. The beacon must exist before the first claim.
    job : str, optional
        Job of a batch system in which the run works; it is only recorded. An active job does not show which run is
        alive. After a restart of its controller, a batch system can start a job again while the earlier run of the job
        is still active.
    """

    def __init__(self, root: Path, mark: str, job: str | None = None) -> None:
        self._root, self._folder = root, root / _FOLDER
        self._who = {"host": socket.gethostname(), "pid": os.getpid(), "beacon": mark, "job": job}
        self._mine: dict[str, int] = {}

    def take(self, hash: str) -> bool:
        """Claim a point, unless a living run has claimed it. Returns true if this run now has the claim.

        Raises
        ------
        WriteError
            If no file can be created in the folder.
        """
        while True:
            last = max(_numbers(self._folder / hash), default=-1)
            if last >= 0 and self._lives(self._file(hash, last)):
                return False
            if not self._create(self._file(hash, last + 1)):
                continue  # another process was faster, or has just removed the folder
            # another run has a newer claim, which the first check did not see, because the list of the folder was old
            if max(_numbers(self._folder / hash), default=0) > last + 1:
                self._file(hash, last + 1).unlink(missing_ok=True)
                continue
            self._mine[hash] = last + 1
            return True

    def finished(self, hash: str, *, same: bool | None) -> None:
        """Release the claim of a finished point. If another run has overruled the claim, record this.

        Parameters
        ----------
        hash : str
            Hash of the point.
        same : bool or None
            Whether the results equal earlier results of the point; ``None`` if there were no earlier results.
        """
        mine = self._mine.pop(hash)
        last = max(_numbers(self._folder / hash), default=-1)
        if last != mine or same is not None:
            other = _read(self._file(hash, last)) if last > mine else None
            self._note(hash, {"by": self._who, "overruled_by": other, "same": same})
        self._remove(hash, range(mine + 1))

    def free(self, hash: str) -> None:
        """Release this run's claim of a point, so that other runs can run the point."""
        if (number := self._mine.pop(hash, None)) is not None:
            self._remove(hash, [number])

    def free_all(self) -> None:
        """Release all claims."""
        for point in list(self._mine):
            self.free(point)

    def _file(self, hash: str, number: int) -> Path:
        return self._folder / hash / str(number)

    def _remove(self, hash: str, numbers: Iterable[int]) -> None:
        """Remove claims of a point, and the folder of the point when its last claim is removed."""
        with suppress(OSError):  # a remaining claim later counts as that of a dead run
            for number in numbers:
                self._file(hash, number).unlink(missing_ok=True)
            (self._folder / hash).rmdir()

    def _create(self, path: Path) -> bool:
        """Create the file of a claim; false if the file exists, or if its folder was removed at the same time."""
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                with path.open("x", encoding="utf-8") as file:
                    json.dump(self._who, file)
            except (FileExistsError, FileNotFoundError):
                return False
        return True

    def _lives(self, path: Path) -> bool:
        """Whether the run that made a claim is alive."""
        who = _read(path)
        if who is None:  # just created, or its run died before it wrote: the age decides
            with suppress(OSError):
                return beacon.now(self._root) - path.stat().st_mtime < beacon.SILENT_SECONDS
            return False
        return beacon.works(self._root, who["beacon"])

    def _note(self, hash: str, note: dict[str, Any]) -> None:
        with suppress(OSError):  # without this record, only a warning is lost
            (self._folder / f"{hash}{_TWICE}").write_text(json.dumps(note), encoding="utf-8")


def run_twice(root: Path) -> list[dict[str, Any]]:
    """The points of a folder that were run twice, as dicts with ``hash``, ``by``, ``overruled_by``, ``same``."""
    notes = sorted((root / _FOLDER).glob(f"*{_TWICE}"))
    return [{"hash": path.name.removesuffix(_TWICE), **note} for path in notes if (note := _json(path)) is not None]


def _numbers(folder: Path) -> list[int]:
    """The numbers of the claims of a point, which are the names of the files in its folder."""
    with suppress(OSError):  # there are no claims
        return [int(path.name) for path in folder.iterdir() if path.name.isdecimal()]
    return []


def _read(path: Path) -> dict[str, Any] | None:
    """The content of a claim, which names its run; ``None`` if the file names no run, or does not exist any more."""
    match _json(path):
        case {"beacon": str(), "job": str() | None, "host": str(), "pid": int()} as who:
            return who
    return None


def _json(path: Path) -> dict[str, Any] | None:
    with suppress(OSError, ValueError):
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found
    return None
