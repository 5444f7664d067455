"""Writes scenarios in which the power policy `static` keeps only those links on that `oracle` finds."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from weft import _engine
from weft.analysis import offered, oracle
from weft.errors import ScenarioError
from weft.results.store import replaced
from weft.scenario import parameters
from weft.scenario.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from weft._engine import Point
    from weft.analysis.oracle import Found

# Keys of the original scenario whose values the written scenario replaces.
_OWN = ("routing", "power.policy")


@dataclass(frozen=True)
class Answer:
    """Links that `weft.analysis.oracle` finds for a point of a sweep.

    Attributes
    ----------
    point : Point
        The point whose traffic the links carry.
    coordinates : dict
        Swept values of the point, without routing and power policy.
    found : Found
        The links that stay on.
    """

    point: Point
    coordinates: dict[str, Any]
    found: Found

    @property
    def row(self) -> dict[str, Any]:
        """Cells of a table row: the coordinates, and the numbers of `weft.analysis.oracle.row`."""
        return self.coordinates | oracle.row(self.found)


def answers(points: Iterable[Point], target: float = 0.75, hub: int = 0) -> list[Answer]:
    """Find the links for every point; points that differ only in routing and power policy share a result.

    Raises
    ------
    ScenarioError
        If the topology of a point is not a HyperX, in which routers that differ in one coordinate are all linked. If
        the power policies don't manage all links between routers. If `weft.analysis.offered` can't compute the traffic
        of a point.
    WeftError
        If the target is not in (0, 1], or a line has no router with the coordinate `hub`.
    """
    found: list[Answer] = []
    for point in points:
        own = {path: value for path, value in point.coordinates.items() if not path.startswith(_OWN)}
        if any(answer.coordinates == own for answer in found):
            continue
        network = point.network()
        if not network["complete"]:
            what = (
                "the oracle needs a grid with a link between any two routers of a line, but "
                f"{network['topology']} is not such a grid"
            )
            raise ScenarioError.saying(
                what, "choose a topology whose lines are fully connected (`weft list topology`)", "topology"
            )
        # the fluid model assumes channels of one flit per cycle, so loads are given as shares of the bandwidth
        bandwidth = _bandwidth(network)
        _refuse_unmanaged(point, network)
        demand = offered.of(point)
        links = oracle.find(network["widths"], demand.routers / bandwidth, target, hub)
        found.append(Answer(point, own, links._replace(terminals=demand.terminals)))
    return found


def _refuse_unmanaged(point: Point, network: dict[str, Any]) -> None:
    """Refuses links that are always on, because the oracle switches links of all classes off."""
    classes = list(network["bandwidths"])
    if others := sorted(set(classes) - set(point.resolved["power"]["manages"])):
        what = f"the oracle switches links of all classes off, but no policy manages {', '.join(others)}"
        remedy = f"let policies manage all of these links: --set power.manages='{json.dumps(classes)}'"
        raise point.refusal("power.manages", what, remedy)


def _bandwidth(network: dict[str, Any]) -> float:
    """Bandwidth of the channels between routers [flits/cycle]."""
    rates = network["bandwidths"]
    if len(set(rates.values())) == 1:
        return float(next(iter(rates.values())))
    text = ", ".join(f"{name} {rate:g}" for name, rate in rates.items())
    what = f"the oracle needs links of equal bandwidth between routers, but these differ [flits/cycle]: {text}"
    raise ScenarioError.saying(what, "give all of these link classes the same `bandwidth`", "links")


def scenario(answers: Sequence[Answer]) -> dict[str, Any]:
    """A scenario for some points of a sweep, with the routing `pal` and the policy `static`.

    All other keys have the values of the sweep.

    If the routing of the points has parameters that `pal` has as well, such as the sensor, their values are kept.
    """
    resolved = deepcopy(answers[0].point.resolved)
    policies = [_policy(answer.found) for answer in answers]
    resolved["name"] = f"{resolved.get('name', 'scenario')}-oracle"
    (options,) = resolved["routing"].values()
    known = parameters.model(_engine.schema(), "routing", "pal")["properties"]
    kept = {name: value for name, value in options.items() if name in known}
    resolved["routing"] = {"pal": {"sensor": "history_window"} | kept}
    resolved["power"]["policy"] = policies[0]
    if len(answers) > 1:
        paths = answers[0].coordinates
        resolved["zip"] = {path: [answer.coordinates[path] for answer in answers] for path in paths}
        resolved["zip"]["power.policy"] = policies
    return resolved


def _policy(found: Found) -> dict[str, Any]:
    return {"static": {"on": {"links": [list(link) for link in found.links]}, "hub": found.hub}}


def write(answers: Sequence[Answer], path: str | Path) -> Path:
    """Check that the result of `scenario` can run, and write it to a file.

    If the scenario names files, Weft looks them up in the folder of the written file.

    Raises
    ------
    ScenarioError
        If a file that the scenario names does not exist. If the written scenario could not run, or if its points would
        differ from those of the sweep.
    WriteError
        If the file can't be written.
    """
    path, target = Path(path), answers[0].found.target
    head = (
        f"# Links are on if a greedy fluid model needs them to keep every channel at {target:g} flits/cycle or less.\n"
    )
    text = head + yaml.safe_dump(scenario(answers), sort_keys=False, default_flow_style=None, width=120)
    points = Scenario(text, path.stem, str(path)).points()
    for point, answer in zip(points, answers, strict=True):
        point.check_network()
        _refuse_other(point, answer)
    with replaced(path) as partial:
        partial.write_text(text, encoding="utf-8")
    return path


def _refuse_other(written: Point, answer: Answer) -> None:
    """Refuses a sweep over a key whose values the checked scenario repeats at another place."""
    own, other = (deepcopy(point.resolved) for point in (answer.point, written))
    for each in (own, other):
        del each["routing"], each["power"]["policy"]
        each.pop("name", None)
    if own != other:
        swept = ", ".join(answer.coordinates)
        what = f"one file can't have all points, because the resolved scenario repeats values of a swept key ({swept})"
        remedy = "write a file for each point: replace the sweep by --set sweep=null, and set the values of a point"
        raise ScenarioError.saying(what, remedy, "sweep")
