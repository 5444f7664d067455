"""A scenario: the text of one file and the overrides on top of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft import attach
from weft.errors import ScenarioError
from weft.labels import label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from weft._engine import Point
    from weft.sweep import Sweep


@dataclass(frozen=True)
class Scenario:
    """What a person wrote, not yet read.

    Attributes
    ----------
    text : str
        YAML (JSON is YAML too).
    name : str
        Name of the sweep; the default folder of its results is ``results/<name>``.
    source : str
        What errors call the file; other files that it names are looked for in its folder.
    files : mapping of str to bytes
        Files that the scenario names and that exist in memory only.
    """

    text: str
    name: str
    source: str
    files: Mapping[str, bytes] = field(default_factory=dict)

    @classmethod
    def from_file(cls, path: str | Path) -> Scenario:
        """Read a file.

        Raises
        ------
        ScenarioError
            If the file can't be read, or is no text.
        """
        from weft._engine import read

        return cls(read(path), Path(path).stem, str(path))

    @classmethod
    def from_dict(cls, scenario: Mapping[str, Any], *, name: str = "scenario") -> Scenario:
        """Take a dict of the shape of a scenario file: strings with units, lists under ``sweep`` and ``zip``."""
        return cls(_json(scenario, indent=2), name, f"<{name}>")

    def sweep(self, set: Mapping[str, Any] | None = None) -> Sweep:
        """Check the scenario and expand its sweep.

        Parameters
        ----------
        set : mapping of str to value, optional
            Overrides by dotted path, applied before the sweep expands: ``{"power.policy": "always_on"}``.
            Values are strings as on the command line, or anything that JSON can write.

        Raises
        ------
        ScenarioError
            With file, line, column, what is wrong and what to do.
        """
        from weft.sweep import Sweep

        sets = [(path, _written(value)) for path, value in (set or {}).items()]
        return Sweep(self, self.points(sets), sets)

    def points(self, sets: Sequence[tuple[str, str]] = ()) -> list[Point]:
        """Check the scenario and expand its sweep into points; overrides as pairs of path and text.

        Raises
        ------
        ScenarioError
            As `sweep` does.
        """
        from weft._engine import expand

        try:
            return expand(self.source, self.text, list(sets), list(self.files.items()))
        except UnicodeEncodeError as problem:
            what = f"{problem.object!r} is not UTF-8 text"
            raise ScenarioError.saying(what, "rename the file or its folder, or correct the override") from problem

    def title(self, first: Point, sets: Sequence[tuple[str, str]]) -> tuple[str, str]:
        """Name of the folder of a sweep and title of its table, from its first point and its overrides."""
        name = first.resolved.get("name") or self.name
        if not sets:
            return name, name
        # overrides make another sweep, whose table must not replace that of the file
        mark = hashlib.sha256(json.dumps(list(sets)).encode())
        for content in self.files.values():
            mark.update(content)
        words = ", ".join(f"{path} = {_brief(path, value)}" for path, value in sets)
        return f"{name}-{mark.hexdigest()[:8]}", f"{name} ({words})"

    def command(self, name: str, sets: Sequence[tuple[str, str]], *more: str) -> list[str] | None:
        """Words of the command line that runs this scenario; ``None`` where parts of it are in memory only."""
        if self.files or not Path(self.source).is_file():
            return None
        return [name, self.source, *(word for path, value in sets for word in ("--set", f"{path}={value}")), *more]


def _written(value: Any) -> str:
    return value if isinstance(value, str) else _json(value)


def _json(value: Any, indent: int | None = None) -> str:
    try:
        return json.dumps(value, indent=indent, default=_plain)
    except (TypeError, ValueError) as problem:
        what = f"a scenario is made of texts, numbers, lists and mappings: {problem}"
        raise ScenarioError.saying(what, "write quantities as texts with a unit: '10cycles'") from problem


def _plain(value: Any) -> Any:
    """What JSON knows for a number or an array of NumPy, a mapping or a path."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{value!r} is none of these")


def _brief(path: str, value: str) -> str:
    """An override as a title shows it: models by their labels, anything that is no JSON as it was written."""
    try:
        return label(json.loads(value), path)
    except ValueError:
        return value


def load(
    scenario: str | Path | Mapping[str, Any] | Scenario,
    *,
    set: Mapping[str, Any] | None = None,
    topology: object = None,
    terminals_per_router: int | None = None,
    matrix: ArrayLike | None = None,
) -> Sweep:
    """Load a scenario and expand its sweep.

    Parameters
    ----------
    scenario : path, YAML text, dict or Scenario
        A string with a line break is taken as text, any other as the path of a file.
    set : mapping of str to value, optional
        Overrides by dotted path, as ``--set`` on the command line.
    topology : networkx.Graph, optional
        A network in place of that of the scenario: nodes are routers, in their order; the node attribute ``terminals``
        says how many terminals a router has, the edge attribute ``class`` names the class of a link.
    terminals_per_router : int, optional
        Terminals of each router of `topology` without the attribute; none if left out.
    matrix : array_like, optional
        A traffic matrix in place of the pattern of the scenario: row s, column d is what terminal s sends to d, in any
        unit. The row with the largest sum has the load of the scenario.

    Returns
    -------
    Sweep
        Every point checked, none run.

    Raises
    ------
    ScenarioError
        If the scenario can't be read or makes no sense.
    """
    if isinstance(scenario, Mapping):
        scenario = Scenario.from_dict(scenario)
    elif isinstance(scenario, str) and "\n" in scenario:
        scenario = Scenario(scenario, "scenario", "<text>")
    elif isinstance(scenario, str | Path):
        scenario = Scenario.from_file(scenario)
    attached: dict[str, Any] = {}
    files = dict(scenario.files)
    if topology is not None:
        files[attach.GRAPH] = attach.graph(topology)
        each = {} if terminals_per_router is None else {"terminals_per_router": terminals_per_router}
        attached["topology"] = {"graph": {"file": attach.GRAPH} | each}
    elif terminals_per_router is not None:
        what = "terminals_per_router says something about a topology that is not given"
        raise ScenarioError.saying(what, "give topology too, or set={'topology.hyperx.terminals_per_router': 4}")
    if matrix is not None:
        files[attach.MATRIX] = attach.matrix(matrix)
        attached["traffic.pattern"] = {"matrix": {"file": attach.MATRIX}}
    sweep = replace(scenario, files=files).sweep(attached | dict(set or {}))
    for path, word, name in (("topology", "topology", attach.GRAPH), ("traffic.pattern", "matrix", attach.MATRIX)):
        if path in attached and not any(_uses(point.resolved, name) for point in sweep.points):
            what = f"{word}= decides nothing: a `set` or the patterns of all jobs replace it"
            raise ScenarioError.saying(what, f"leave out {word}=, or what replaces it", path)
    return sweep


def _uses(resolved: Mapping[str, Any], name: str) -> bool:
    """Whether a file decides anything in a point."""
    traffic = dict(resolved["traffic"])
    if (jobs := traffic.get("jobs")) and all("pattern" in job for job in jobs):
        traffic.pop("pattern", None)
    return f'"{name}#' in json.dumps([resolved["topology"], traffic])
