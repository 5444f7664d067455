"""`weft.load` makes a sweep from a scenario: a file, a string, a dict, a graph or a traffic matrix."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.api.sweep import Sweep
from weft.errors import ScenarioError
from weft.scenario import attach
from weft.scenario.python_models import plain
from weft.scenario.scenario import Scenario
from weft.text import given
from weft.text.renamed import renamed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@renamed(set="overrides")
def load(
    scenario: str | Path | Mapping[str, Any] | Scenario,
    *,
    overrides: Mapping[str, Any] | None = None,
    topology: object = None,
    terminals_per_router: int | None = None,
    matrix: ArrayLike | None = None,
) -> Sweep:
    """Load a scenario and expand its sweep.

    Parameters
    ----------
    scenario : path, YAML text, dict or Scenario
        A string with a line break is YAML text; any other string is the path of a file.
    overrides : mapping of str to value, optional
        Values that replace those of the scenario, by dotted path, like ``--set`` on the command line. A value is a
        string, number, list, dict, NumPy array, or a Python function that serves as a model (`weft.pattern`).
    topology : networkx.Graph, optional
        A network that replaces the topology of the scenario. The nodes of the graph are the routers, in the same order.
        The node attribute ``terminals`` is the number of terminals of the router. The edge attribute ``class`` names
        the class of a link. `overrides` reads other attributes: ``{"topology.graph.attributes": {"bandwidth": {"from":
        "capacity", "unit": "Gb/s"}}}``. In faults, jobs and results, a router has the name of its node in the graph. If
        the node is neither a whole number nor a string, this name is ``str(node)``.
    terminals_per_router : int, optional
        Terminals of each router of `topology` that lacks the attribute ``terminals``; by default 0.
    matrix : array_like, optional
        A traffic matrix that replaces the pattern of the scenario. The entry in row s and column d is the traffic from
        terminal s to terminal d, in any unit. The terminal whose row has the largest sum sends at the load of the
        scenario, and the others send less in proportion.

    Returns
    -------
    Sweep
        The sweep. Weft has checked every point, and has run none.

    Raises
    ------
    ScenarioError
        If the scenario cannot be read or is not valid.
    """
    if isinstance(scenario, Mapping):
        scenario = Scenario.from_dict(scenario)
    elif isinstance(scenario, str) and "\n" in scenario:
        scenario = Scenario(scenario, "scenario", "<text>")
    elif isinstance(scenario, str | Path):
        scenario = Scenario.from_file(scenario)
    remedy = 'write e.g. weft.load("my.yaml")'
    given.instance(scenario, Scenario, "load", "path, text or dict of a scenario", remedy, ScenarioError)
    overrides = given.keyed(overrides or {}, "overrides", "{'traffic.load': 0.3}")
    attached: dict[str, Any] = {}
    files = dict(scenario.files)
    overrides = {path: plain(value, files) for path, value in overrides.items()}
    if topology is not None:
        files[attach.GRAPH] = attach.graph(topology)
        each = {} if terminals_per_router is None else {"terminals_per_router": terminals_per_router}
        attached["topology"] = {"graph": {"file": attach.GRAPH} | each}
    elif terminals_per_router is not None:
        what = "terminals_per_router applies only to a given topology, but topology is missing"
        raise ScenarioError.saying(what, "also give topology, or overrides={'topology.hyperx.terminals_per_router': 4}")
    if matrix is not None:
        files[attach.MATRIX] = attach.matrix(matrix)
        attached["traffic.pattern"] = {"matrix": {"file": attach.MATRIX}}
    sweep = Sweep.of(replace(scenario, files=files), attached | overrides)
    for path, word, name in (("topology", "topology", attach.GRAPH), ("traffic.pattern", "matrix", attach.MATRIX)):
        if path in attached and not any(_uses(point.resolved, name) for point in sweep.points):
            what = f"{word}= has no effect: `overrides`, or patterns of all jobs, replace it"
            raise ScenarioError.saying(what, f"remove {word}=, or the setting that replaces it", path)
    return sweep


def _uses(resolved: Mapping[str, Any], name: str) -> bool:
    """Whether the network or traffic of a resolved scenario reads the attached file `name`."""
    traffic = dict(resolved["traffic"])
    if (jobs := traffic.get("jobs")) and all("pattern" in job for job in jobs):
        traffic.pop("pattern", None)
    return f'"{name}#' in json.dumps([resolved["topology"], traffic])
