"""``weft explain program`` prints the critical path of a program, and the links that the path uses."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.cli import DONE, folders, overrides
from weft.errors import ScenarioError
from weft.text.columns import columns
from weft.text.si import si

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from weft.results.critical_path import Path as Critical
    from weft.runs.path_packets import Critical as Found

# Maximum number of links that are printed; `--json` has all.
_MOST = 12


def explain(options: argparse.Namespace) -> int:
    """Print the critical path of a scenario's first point or of a finished point, and return the exit status.

    Raises
    ------
    WeftError
        If no critical path is known, because no job runs a program, a program did not end, or the states of ranks were
        not recorded.
    """
    return _of_folder(options) if Path(options.file).is_dir() else _of_scenario(options)


def _of_folder(options: argparse.Namespace) -> int:
    from weft.plot.choice import Choice
    from weft.results import critical_path

    if options.sets:
        raise ScenarioError.saying(
            "explain program with a folder has no --set", "name the scenario instead of the folder"
        )
    results = folders.opened(options.file)
    spot = Choice.of([results], options.points).spot()
    paths = critical_path.of(results, spot.point)
    if options.json:
        print(json.dumps({"paths": _as_json(paths)}, indent=1))
        return DONE
    print(f"{spot.name}\n\n{_text(paths, spot.summary)}")
    print("\n`weft explain program` with the scenario runs the point again, and shows the links of the path")
    return DONE


def _of_scenario(options: argparse.Namespace) -> int:
    from weft.api.sweep import Sweep
    from weft.cli.interrupt import interruptible
    from weft.runs import path_packets

    if options.points:
        what = "explain program with a scenario has no --point"
        raise ScenarioError.saying(what, "choose a point with --set, or name a folder of results")
    named, sets = overrides.scenario(options)
    kept = named.points(sets)[0].resolved["measure"]
    sweep = Sweep.of(named, dict([*sets, *([] if "rank_states" in kept else [("measure.rank_states", "{}")])]))
    with interruptible():
        found = path_packets.find(sweep.points[0])
    if options.json:
        by_name = {"paths": _as_json(found.paths), "links": [asdict(each) for each in found.crossed]}
        by_name |= {key: getattr(found, key) for key in ("watched", "transfers", "interface_cycles", "network_cycles")}
        print(json.dumps(by_name, indent=1))
        return DONE
    print("\n".join([*overrides.first_of(sweep), _text(found.paths, found.summary), *_links(found)]))
    return DONE


def _text(paths: Sequence[Critical], summary: dict[str, Any]) -> str:
    from weft.results import critical_path

    return "\n\n".join("\n".join(critical_path.lines(path, summary["cycle_seconds"])) for path in paths)


def _as_json(paths: Sequence[Critical]) -> list[dict[str, Any]]:
    return [
        {"job": path.job, "cycles": path.cycles, "by_state": path.by_state(), "steps": [asdict(s) for s in path.steps]}
        for path in paths
    ]


def _links(found: Found) -> list[str]:
    """Lines with the time that messages of the path spend in interfaces and links, and with their most used links."""
    if not found.watched:
        return []
    cycle = found.summary["cycle_seconds"]
    of_all = "" if found.watched == found.transfers else f" of {found.transfers}, the longest ones"
    rows = [
        [
            f"{each.router}:{each.port}",
            "terminal" if each.to is None else str(each.to),
            each.link,
            str(each.transfers),
            si(each.waited_cycles / each.transfers * cycle, "s", 4),
        ]
        for each in found.crossed[:_MOST]
    ]
    before, inside = (si(cycles * cycle, "s", 4) for cycles in (found.interface_cycles, found.network_cycles))
    return [
        "",
        f"{found.watched} transfers{of_all}: {before} until the last packet entered the network, {inside} inside",
        f"{len(found.crossed)} links that the last packets crossed; links with the most transfers first",
        *columns(["from", "to router", "link", "transfers", "mean time at the router"], rows, left=3),
    ]
