"""Compares the loads of a scenario with the loads that its network can carry, before a run.

The engine gives the channel-load bound as the load of the terminals that send most. Results name a point by another
load: by `traffic.load`, or by the mean over terminals if each job has its own load. This module converts the bound to
that load.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from weft.text.labels import shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from weft._engine import Point

# Kinds of paths for which the channel-load bound is a limit of the load. With other paths, detours can carry more.
_LIMITS = ("fixed_paths", "best_choice")
# Relative difference up to which two loads count as equal.
_ROUNDING = 1e-9
# Keys with which terminals do not keep to their load: they send a batch at once, or wait for replies.
_NO_LASTING_LOAD = ("batch", "outstanding")
# Maximum number of loads that a message lists.
_LISTED = 6
# Maximum number of routers for which the mean load is computed from the traffic between all pairs of routers.
_MOST_ROUTERS = 1024


def compared(point: Point, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Facts that make the bounds of a point comparable with the loads of its results.

    - ``load``: the load by which results name the point [flits/terminal/cycle]; ``None`` if it has none.
    - ``load_bound``: the value of ``load`` at which the fullest channel is full, if all loads of the scenario change in
      proportion; ``None`` if there is no such value.
    - ``mean_load``: mean load of the terminals [flits/terminal/cycle]; known only with ``accepted_load_bound``.
    """
    load, bound, highest = point.load(), facts["channel_load_bound"], facts["highest_load"]
    is_known = bool(bound is not None and highest and load)
    if is_known and math.isclose(load or 0.0, highest, rel_tol=_ROUNDING):
        converted = bound  # all terminals send at the same load
    else:
        converted = bound * load / highest if is_known else None
    return {"load": load, "load_bound": converted, "mean_load": _mean(point, facts, load)}


def _mean(point: Point, facts: Mapping[str, Any], load: float | None) -> float | None:
    """Mean load of the terminals of a point, to compare with the load that destinations accept; ``None`` if unknown."""
    if facts["accepted_load_bound"] is None:
        return None
    traffic = point.resolved["traffic"]
    if traffic.get("jobs"):
        return load if "load" not in traffic else None
    if facts["routers"] > _MOST_ROUTERS:
        return None
    terminals: int = facts["terminals"]
    return sum(map(sum, point.traffic_matrix())) / terminals


def own_loads(resolved: Mapping[str, Any], *, at_start: bool = False) -> dict[str, float]:
    """The loads above 0 of a resolved scenario that do not change with `traffic.load`, by dotted path.

    If `at_start`, the loads of phases are left out.
    """
    traffic = resolved["traffic"]
    jobs = traffic.get("jobs", [])
    found = {f"traffic.jobs.{place}.load": job.get("load") or 0.0 for place, job in enumerate(jobs)}
    found |= {f"traffic.loads.{place}": each["load"] for place, each in enumerate(traffic.get("loads", []))}
    # a job without phases has the phases of `traffic`
    phased: dict[str, Any] = {} if jobs and all(job.get("phases") for job in jobs) else {"traffic": traffic}
    phased |= {f"traffic.jobs.{place}": job for place, job in enumerate(jobs)}
    for path, part in () if at_start else phased.items():
        found |= {f"{path}.phases.{k}.load": each.get("load") or 0.0 for k, each in enumerate(part.get("phases") or [])}
    return {path: load for path, load in found.items() if load > 0}


def listed(own: Mapping[str, float | Sequence[float]]) -> str:
    """Text with the loads of `own_loads`; a path can have several loads."""
    shown = []
    for path, loads in own.items():
        several = [loads] if isinstance(loads, float | int) else loads
        shown.append(f"{path} = {shortened([f'{load:g}' for load in several], _LISTED, ' or ')}")
    return shortened(shown, _LISTED)


def reasons(point: Point, facts: Mapping[str, Any]) -> list[str]:
    """The reasons why the network can't carry the loads of a point, as phrases; empty if it may carry them.

    `facts` are those of `Point.imply`. The result is empty if the terminals do not keep to their loads, because they
    wait for replies or send a batch.
    """
    traffic = json.dumps(point.resolved["traffic"])
    if any(f'"{key}"' in traffic for key in _NO_LASTING_LOAD):
        return []
    found = []
    if (times := _times(facts)) > 1 + _ROUNDING:
        found.append(f"{times:.3g} times the load at which the fullest channel is full")
    if facts["accepted_load_bound"] is not None:
        found.append("more to some destinations than these can accept")
    return found


def _times(facts: Mapping[str, Any]) -> float:
    """The load of a point, divided by the load at which the fullest channel is full; 0 if that load is no limit."""
    bound, sampled = facts["channel_load_bound"], facts["sampled"]
    if bound is None or facts["channel_load_bound_of"] not in _LIMITS:
        return 0.0
    return float(facts["highest_load"] / (sampled["channel_load_bound_interval"][1] if sampled else bound))


def warnings(groups: Iterable[tuple[Sequence[Point], Mapping[str, Any]]]) -> list[dict[str, str]]:
    """Warnings about points that the network can't carry: one for each point that is affected.

    If points differ only in loads, and the network may carry the lowest of them, there is no warning about the others.
    A sweep over the load usually goes beyond saturation.

    Parameters
    ----------
    groups : iterable of tuple
        Points that have their facts in common except for the load, and the facts of the first point.
    """
    families: dict[str, list[tuple[Sequence[Point], Mapping[str, Any], list[str]]]] = {}
    for points, facts in groups:
        lowest = min(points, key=lambda point: point.load() or 0.0)
        of_lowest = facts if lowest is points[0] else lowest.imply()
        families.setdefault(_without_loads(lowest), []).append((points, of_lowest, reasons(lowest, of_lowest)))
    found = []
    for family in families.values():
        if all(why for *_, why in family):
            _, _, least = min(family, key=lambda each: _times(each[1]))
            found += [_warning(least)] * sum(len(points) for points, *_ in family)
    return found


def _without_loads(point: Point) -> str:
    """The resolved scenario of a point without its loads, and without keys that have no effect on what it can carry."""
    resolved = {key: value for key, value in point.resolved.items() if key not in ("name", "seed", "measure", "bill")}
    traffic = {key: value for key, value in resolved["traffic"].items() if key not in ("load", "loads")}
    jobs = [{key: value for key, value in job.items() if key != "load"} for job in traffic.get("jobs", [])]
    return json.dumps(resolved | {"traffic": traffic | {"jobs": jobs}}, sort_keys=True)


def _warning(why: Sequence[str]) -> dict[str, str]:
    """A warning with the keys of other warnings of a point."""
    what = f"the network can't carry this load: at the start of the run the terminals send {', and '.join(why)}"
    remedy = "write lower loads, unless you study a saturated network"
    return {"path": "traffic", "what": what, "help": remedy, "code": "load_above_bound"}
