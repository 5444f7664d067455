"""Orders: files with the data that workers on other machines need to run points of a sweep.

A worker is a process that runs points. An order is a file in the folder of the sweep, and its workers stop when the
file is removed.

A worker receives the path of the folder, the name of the order, and the hashes of points. The scenario is stored in the
file of the order. If a worker cannot read the file, its machine does not see the folder of the sweep, and the worker
reports this before its first run.
"""

from __future__ import annotations

import json
import shutil
import socket
from base64 import b64decode, b64encode
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from weft._engine import RESULT_MODEL_VERSION
from weft.errors import ResultsError, WeftError
from weft.results.store import Store
from weft.runs import beacon
from weft.runs.how import How
from weft.scenario.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weft._engine import Point

FOLDER = "jobs"
_ORDER, _WITHDRAWN = "order.json", "withdrawn.json"


@dataclass(frozen=True)
class Order:
    """An order: the data that workers need in addition to the hashes of their points.

    Attributes
    ----------
    root : str
        Folder of the sweep, as an absolute path that leads to the same folder on all workers.
    id : str
        Name of the order, which is unique in the folder.
    how : How
        Settings of the runs.
    """

    root: str
    id: str
    how: How = field(default_factory=How)

    @property
    def folder(self) -> Path:
        """The folder of the order, which also has the logs of its jobs."""
        return Path(self.root) / FOLDER / self.id

    @property
    def stands(self) -> bool:
        """Whether the order is valid: this machine sees its file, and the order was not withdrawn."""
        with suppress(OSError):
            return (self.folder / _ORDER).is_file()
        return False

    def write(
        self, scenario: Scenario, variants: Sequence[Sequence[tuple[str, str]]], client: str | None = None
    ) -> None:
        """Write the file of the order, so that workers can carry it out.

        Parameters
        ----------
        scenario : Scenario
            Scenario to run.
        variants : sequence of sequence of tuple
            Lists of overrides of the scenario. Each list, applied to the scenario, gives some of the points of the
            order.
        client : str, optional
            Name of the beacon (a file that shows that a run is alive) of the run that waits for the workers. If this
            run dies, `clear` removes the order.

        Raises
        ------
        WriteError
            If the order cannot be written.
        """
        said = {
            "text": scenario.text,
            "name": scenario.name,
            # an absolute path, because the working folder of a worker can be another one
            "source": str(scenario.file.absolute()) if scenario.file else scenario.source,
            "files": {name: b64encode(content).decode("ascii") for name, content in scenario.files.items()},
            "variants": [list(sets) for sets in variants],
            "result_model": RESULT_MODEL_VERSION,
            "client": client,
        }
        Store(self.folder).replace(_ORDER, json.dumps(said))

    def points(self, hashes: Sequence[str]) -> list[Point]:
        """The points with these hashes, in the order of the hashes.

        Raises
        ------
        WeftError
            If this machine does not see the order, or has another version of Weft, or if files of the scenario have
            changed.
        """
        known = _expanded(self.folder / _ORDER)
        if unknown := [each for each in hashes if each not in known]:
            what = f"on {socket.gethostname()} the sweep of {self.root} has no point {unknown[0]}"
            remedy = "run the same command again: the version of Weft on that machine differs, or a file has changed"
            raise ResultsError.saying(what, remedy)
        return [known[each] for each in hashes]

    def scenario(self) -> tuple[Scenario, list[tuple[str, str]]]:
        """The scenario of the order, and its first list of overrides.

        Raises
        ------
        WeftError
            As for `points`.
        """
        said = _said(self.folder / _ORDER)
        return said.scenario, said.variants[0]

    def withdraw(self) -> bool:
        """Withdraw the order, so that workers stop their runs and begin no further ones.

        Returns false if the order was withdrawn before.
        """
        try:
            (self.folder / _ORDER).rename(self.folder / _WITHDRAWN)
        except FileNotFoundError:
            return False
        return True

    def remove(self) -> None:
        """Remove all files of the order, so that its workers stop."""
        shutil.rmtree(self.folder, ignore_errors=True)
        with suppress(OSError):  # if it is not empty
            self.folder.parent.rmdir()


def client_of(folder: Path) -> str | None:
    """Name of the beacon of the run that waits for the workers of an order; ``None`` if the workers are Slurm jobs."""
    with suppress(OSError, ValueError):
        client = json.loads((folder / _ORDER).read_text(encoding="utf-8")).get("client")
        return client if isinstance(client, str) else None
    return None


def clear(root: Path) -> None:
    """Remove orders that no run needs any more, because the run was killed while it waited for its workers."""
    with suppress(OSError):
        for path in (root / FOLDER).glob(f"*/{_ORDER}"):
            client = client_of(path.parent)
            if client is not None and not beacon.works(root, client):
                Order(str(root), path.parent.name).remove()


@lru_cache(maxsize=4)
def _expanded(path: Path) -> Mapping[str, Point]:
    """The points of an order, by hash.

    The result is cached, so that a worker computes the points only once, even if it runs many of them.
    """
    said = _said(path)
    return {point.hash: point for sets in said.variants for point in said.scenario.points(sets)}


class _Said(NamedTuple):
    scenario: Scenario
    variants: list[list[tuple[str, str]]]


def _said(path: Path) -> _Said:
    """Content of the file of an order, as typed data."""
    try:
        said: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        host, root = socket.gethostname(), path.parent.parent.parent
        what = f"{host} can't find {path}: it does not see the folder {root}, or the run was cancelled"
        remedy = "put the results (--out, in Python out=) into a folder that all machines see under the same path"
        raise WeftError.saying(what, remedy) from problem
    if said["result_model"] != RESULT_MODEL_VERSION:
        what = f"{socket.gethostname()} has another version of Weft: it writes result model {RESULT_MODEL_VERSION}"
        raise WeftError.saying(what, f"install on it the version that writes result model {said['result_model']}")
    files = {name: b64decode(content) for name, content in said["files"].items()}
    scenario = Scenario(said["text"], said["name"], said["source"], files)
    return _Said(scenario, [[(key, value) for key, value in sets] for sets in said["variants"]])
