"""Compares designs of networks: topologies with their size, for which cost and other properties are computed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from weft._engine import read_designs
from weft.design.catalogue_hardware import Hardware
from weft.design.measured_design import Assumptions, MeasuredDesign, in_words
from weft.errors import ScenarioError
from weft.scenario.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft._engine import Design, Point


class Comparison:
    """Compared designs and their numbers.

    Attributes
    ----------
    designs : list of MeasuredDesign
        The designs, in the order in which the user named them.
    assumed : Assumptions
        Assumptions about all designs.
    """

    def __init__(self, designs: Sequence[Design], assumed: Assumptions) -> None:
        self.designs = [MeasuredDesign(design, assumed) for design in designs]
        self.assumed = assumed

    @property
    def frame(self) -> pl.DataFrame:
        """Table with a row per design, as described at `MeasuredDesign.row`."""
        return pl.DataFrame([each.row for each in self.designs], infer_schema_length=None)

    @property
    def failures(self) -> pl.DataFrame:
        """Probability that each ``design`` is still connected while links fail, as described at `resilience.curve`."""
        return pl.concat([_named(each.name, each.failures) for each in self.designs])

    @property
    def diversity(self) -> pl.DataFrame:
        """Number of shortest paths in each ``design`` by distance, as described at `MeasuredDesign.diversity`."""
        return pl.concat([_named(each.name, each.diversity) for each in self.designs])

    @property
    def distances(self) -> pl.DataFrame:
        """Number of router and terminal pairs by distance, for each ``design`` (see `MeasuredDesign.distances`)."""
        return pl.concat([_named(each.name, each.distances) for each in self.designs])

    def remarks(self) -> list[str]:
        """Notes on the sources of power and cost, and on costs that are extrapolated."""
        return self.assumed.remarks() + [shown for each in self.designs for shown in each.remarks()]


def _named(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(pl.lit(name).alias("design"), pl.all())


def compare(
    designs: str | Path | Mapping[str, Any] | Sequence[str | Path], assumed: Assumptions | None = None
) -> Comparison:
    """Compare designs of networks without a simulation.

    Parameters
    ----------
    designs : path, list of paths, or mapping
        Files with designs, or a mapping from names to topologies. A file is a scenario with the topologies of its
        sweep, or it has a section ``designs`` that maps names to topologies. If a scenario has a single topology, the
        topology has the name of the scenario.
    assumed : Assumptions, optional
        Prices, packaging, power, failures. By default the power and prices are those of `power.catalogue` of the
        scenarios; if the scenarios name no catalogue, all assumptions are those of the FleX paper.

    Raises
    ------
    ScenarioError
        If a file can't be read, or a topology is not valid.
    """
    if isinstance(designs, Mapping):
        text = json.dumps({"designs": dict(designs)}, indent=1)
        return Comparison(read_designs("<designs>", text, []), assumed or Assumptions())
    found, named = read([designs] if isinstance(designs, str | Path) else designs)
    return Comparison(found, assumed or Assumptions.of(common(named)))


def read(paths: Sequence[str | Path]) -> tuple[list[Design], list[Hardware | None]]:
    """The designs in files, and each different hardware that `power.catalogue` of the files names.

    The list contains ``None`` if a file names no hardware.
    """
    found = [each for path in paths for each in _of_file(Path(path))]
    return _renamed([design for design, _ in found]), list(
        dict.fromkeys(hardware for _, of_points in found for hardware in of_points)
    )


def common(named: Sequence[Hardware | None]) -> Hardware | None:
    """The hardware that all files name in common; ``None`` if no file names hardware.

    Raises
    ------
    ScenarioError
        If files name different hardware, because compared designs must use the same hardware.
    """
    if len(named) > 1:
        words = [each.name if each is not None else "no `power.catalogue`" for each in named]
        what = f"compared designs must have the same hardware, but these designs name: {'; '.join(words)}"
        options = [each.as_options() for each in named if each is not None]
        raise ScenarioError.saying(what, f"choose the hardware of all designs, such as `{options[0]}`")
    return named[0] if named else None


def _of_file(path: Path) -> list[tuple[Design, list[Hardware | None]]]:
    """The designs of a file, and the hardware that the file names for each.

    For a sweep, the name of each topology consists of the values that the sweep varies.
    """
    scenario = Scenario.from_file(path)
    if any(line.startswith(("topology:", "sweep:", "zip:")) for line in scenario.text.splitlines()):
        points: dict[str, list[Point]] = {}
        for point in scenario.points():
            points.setdefault(json.dumps(point.resolved["topology"]), []).append(point)
        topologies = [same[0].resolved["topology"] for same in points.values()]
        names = _names(topologies) if len(topologies) > 1 else [scenario.name]
        named = zip(points.values(), names, strict=True)
        return [(same[0].design(name), [_hardware(point) for point in same]) for same, name in named]
    return [(design, [None]) for design in read_designs(str(path), scenario.text, [])]


def _hardware(point: Point) -> Hardware | None:
    catalogue = point.resolved["power"].get("catalogue")
    return Hardware.of(**catalogue) if catalogue is not None else None


def _names(topologies: Sequence[Mapping[str, Any]]) -> list[str]:
    """Short names of topologies: only the kind (such as ``torus``) if it occurs once, otherwise with all parameters."""
    kinds = [next(iter(topology)) for topology in topologies]
    return [
        kind if kinds.count(kind) == 1 else in_words(topology) for kind, topology in zip(kinds, topologies, strict=True)
    ]


def _renamed(designs: list[Design]) -> list[Design]:
    names = [design.name for design in designs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        what = f"two designs are called {twice!r}"
        raise ScenarioError.saying(what, "give each its own name in a file with a section `designs:`")
    return designs
