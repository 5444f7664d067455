"""A scenario: the text of one file, with overrides of its values."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.errors import ScenarioError
from weft.text import html_table
from weft.text.file_names import as_path, one_line, slug
from weft.text.labels import label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft._engine import Point


@dataclass(frozen=True)
class Named:
    """The names of a sweep, which follow from its scenario and its overrides.

    Attributes
    ----------
    name : str
        Name of the scenario. If there are overrides, digits of a hash of the overrides are added.
    title : str
        Title of the table of results: the name, and the overrides.
    folder : str
        Name of the folder of the results: the name of the scenario's file or, without a file, the name of the scenario
        plus digits of a hash of its text. If there are overrides, digits of their hash are added.
    source : str
        Name of the scenario's file, for error messages.
    file : Path or None
        The file of the scenario; ``None`` for a scenario that was only in memory.
    """

    name: str
    title: str
    folder: str
    source: str
    file: Path | None

    def search(self) -> Named:
        """The names of a search for the saturation load of this sweep."""
        name, folder = f"{self.name}-saturation", f"{self.folder}-saturation"
        return replace(self, name=name, title=f"{self.title}: saturation", folder=folder)


@dataclass(frozen=True)
class Scenario:
    """A scenario as the user wrote it, not yet checked.

    Attributes
    ----------
    text : str
        Text in YAML (JSON is also YAML).
    name : str
        Name of the default folder of the results. The sweep has the same name, unless the text has a key ``name``.
    source : str
        Name of the file of the scenario, for error messages. Other files of the scenario are looked up in the folder
        of this file.
    files : mapping of str to bytes
        Contents of files of the scenario that are only in memory, by name.
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
            If the file cannot be read, or is not text.
        """
        from weft._engine import read

        path = as_path(path, "a scenario", ScenarioError)
        return cls(read(path), path.stem, str(path))

    @classmethod
    def from_dict(cls, scenario: Mapping[str, Any], *, name: str = "scenario") -> Scenario:
        """Make a scenario from a dict in the form of a file: strings with units, lists under ``sweep`` and ``zip``.

        Functions (`weft.pattern`) in the dict become files of the scenario.
        """
        from weft.scenario.python_models import plain

        files: dict[str, bytes] = {}
        text = _json(plain(scenario, files), indent=2)
        return cls(text, name, f"<{name}>", files)

    def _repr_html_(self) -> str:
        """The text of the scenario as HTML, for a notebook."""
        return html_table.head(self.name, f"a scenario, from {self.source}") + html_table.lines(self.text.splitlines())

    def points(self, sets: Sequence[tuple[str, str]] = ()) -> list[Point]:
        """Check the scenario and expand its sweep to points; `sets` are overrides as pairs of path and text.

        Raises
        ------
        ScenarioError
            If the scenario is not valid. The error names file, line, column, the fault and the remedy.
        """
        from weft._engine import expand

        try:
            return expand(self.source, self.text, list(sets), list(self.files.items()))
        except UnicodeEncodeError as problem:
            what = f"{problem.object!r} is not UTF-8 text"
            raise ScenarioError.saying(what, "rename the file or its folder, or correct the override") from problem

    @property
    def file(self) -> Path | None:
        """The file of the scenario; ``None`` for a scenario that is only in memory."""
        path = Path(self.source)
        try:
            return path if path.is_file() else None
        except (OSError, ValueError):
            return None

    def named(self, first: Point, sets: Sequence[tuple[str, str]]) -> Named:
        """The names of a sweep, from its first point and its overrides."""
        name = one_line(str(first.resolved.get("name") or self.name))
        folder = slug(self.name if self.file else name)
        if not self.file:  # two scenarios in memory can have the same name
            folder += f"-{hashlib.sha256(self.text.encode(errors='surrogateescape')).hexdigest()[:8]}"
        if not sets:
            return Named(name, name, folder, self.source, self.file)
        # a sweep with overrides gets another folder, so that its table does not replace that of the sweep without them
        content = hashlib.sha256(json.dumps(list(sets)).encode())
        for each in self.files.values():
            content.update(each)
        mark = content.hexdigest()[:8]
        words = ", ".join(f"{path} = {_brief(path, value)}" for path, value in sets)
        return Named(f"{name}-{mark}", f"{name} ({words})", f"{folder}-{mark}", self.source, self.file)

    def command(self, name: str, sets: Sequence[tuple[str, str]], *more: str) -> list[str] | None:
        """Words of the command that runs this scenario; ``None`` if parts of the scenario exist only in memory."""
        if self.files or not self.file:
            return None
        return [name, self.source, *(word for path, value in sets for word in ("--set", f"{path}={value}")), *more]


def written(value: Any) -> str:
    """An override as a string: strings are unchanged, and any other value is converted to JSON."""
    return value if isinstance(value, str) else _json(value)


def _json(value: Any, indent: int | None = None) -> str:
    try:
        return json.dumps(value, indent=indent, default=_plain)
    except (TypeError, ValueError) as problem:
        what = f"a scenario can contain only strings, numbers, lists and mappings: {problem}"
        raise ScenarioError.saying(what, "write quantities as strings with a unit: '10cycles'") from problem


def _plain(value: Any) -> Any:
    """A value that JSON can represent, for a NumPy number or array, a mapping or a path."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{value!r} is none of these")


def _brief(path: str, value: str) -> str:
    """An override as a string for a title: the label of a model, or an unchanged string that is not JSON."""
    try:
        return label(json.loads(value), path)
    except ValueError:
        return value
