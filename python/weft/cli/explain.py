"""``weft explain`` explains the network of a scenario, the paths of its routing, or why a run got stuck."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.cli import DONE, arguments, critical, overrides, stalls
from weft.errors import ScenarioError
from weft.text.columns import columns
from weft.text.meant import meant

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from weft.cli.arguments import Commands

_BAR = 40
# Maximum numbers of printed lines: candidates among which a routing chooses a hop, and paths. `--json` has all.
_CANDIDATES, _PATHS = 16, 32


def add(commands: Commands) -> None:
    """Add the command."""
    parser = arguments.command(
        commands,
        "explain",
        "explain a network, the paths between two terminals, the run time of a program, or a stalled run",
        "weft explain routing examples/dragonfly.yaml --from 3 --to 60 --set routing=dragonfly_ugal",
    )
    parser.add_argument(
        "subject", choices=["topology", "routing", "program", "stall", "code"], help="subject to explain"
    )
    arguments.add_scenario(parser, "scenario (YAML); folder of results (program, stall); code of a diagnosis (code)")
    parser.add_argument("--from", metavar="N", type=arguments.natural, dest="source", help="source terminal (routing)")
    parser.add_argument(
        "--to", metavar="N", type=arguments.natural, dest="target", help="destination terminal (routing)"
    )
    arguments.add_points(parser)
    parser.add_argument("--out", metavar="FILE", type=Path, help="picture to write (stall; default: stall.png in FILE)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def main(options: argparse.Namespace) -> int:
    """Print the requested explanation and return the exit status."""
    _refuse_strange(options)
    if options.subject == "stall":
        return stalls.explain(options)
    if options.subject == "code":
        return _code(str(options.file), options.json)
    if options.subject == "program":
        return critical.explain(options)
    routing = options.subject == "routing"
    if routing and (options.source is None or options.target is None):
        what = "explain routing needs two terminals"
        raise ScenarioError.saying(what, "name them, e.g. --from 0 --to 5")
    sweep = overrides.sweep(options)
    point = sweep.points[0]
    facts = point.explain_routing(options.source, options.target) if routing else point.explain_topology()
    if options.json:
        print(json.dumps(facts, indent=1))
        return DONE
    print("\n".join([*overrides.first_of(sweep), *(_routing(facts) if routing else _topology(facts))]))
    return DONE


def _code(name: str, as_json: bool) -> int:
    """Print the meaning of a diagnosis code, how it is computed, and its remedy."""
    from weft import _engine

    known = {each["code"]: each for each in _engine.codes()}
    if name not in known:
        listed = f"the codes are {', '.join(known)}"
        raise ScenarioError.saying(f"no diagnosis has the code {name}", meant(name, known, listed))
    code = known[name]
    if as_json:
        print(json.dumps(code, indent=1))
        return DONE
    print(f"{name}: a {code['severity']}")
    for head, key in {"meaning": "means", "computed": "computed", "remedy": "helps"}.items():
        print(textwrap.fill(code[key], 100, initial_indent=f"{head:10}", subsequent_indent=" " * 10))
    return DONE


def _refuse_strange(options: argparse.Namespace) -> None:
    """Refuse options that have no effect for the chosen subject (topology, routing, stall, ...)."""
    given = {
        "--set": (options.sets, ("topology", "routing", "program")),
        "--from": (options.source is not None, ("routing",)),
        "--to": (options.target is not None, ("routing",)),
        "--point": (options.points, ("program", "stall")),
        "--out": (options.out, ("stall",)),
    }
    for name, (there, subjects) in given.items():
        if there and options.subject not in subjects:
            what = f"explain {options.subject} has no {name}"
            raise ScenarioError.saying(what, f"remove it: it is an option of explain {' and '.join(subjects)}")


def _topology(facts: dict[str, Any]) -> list[str]:
    exact = facts["bisection_exact"]
    least, most, mean = (facts[f"degree_{which}_links"] for which in ("min", "max", "mean"))
    degree = f"{least}" if least == most else f"{least} to {most}, {mean:.4g} on average"
    rows = [
        ("routers", f"{facts['routers']}"),
        *(
            (f"{part['name']} routers", f"{part['routers']}, {' and '.join(part['links'])} links")
            for part in facts["layers"]
        ),
        *([("rings", f"{facts['rings']}, each over every router once, on its own links")] if facts["rings"] else []),
        ("terminals", f"{facts['terminals']}"),
        ("ports of a router", f"at most {facts['radix_ports']}"),
        ("links of a router", f"{degree}, to other routers"),
        *([("trunks", _trunks(facts["trunks"]))] if facts["trunks"] else []),
        ("diameter", f"{_plural(facts['diameter_hops'], 'hop')}"),
        ("mean distance", f"{facts['mean_distance_hops']:.4g} hops between different routers"),
        ("", f"{facts['mean_terminal_distance_hops']:.4g} hops between different terminals"),
        ("bisection", f"{'' if exact else 'at most '}{_plural(facts['bisection_links'], 'link')}"),
        ("", f"{facts['bisection_per_terminal']:.4g} of the injection bandwidth of one half of the terminals"),
        ("", facts["bisection_method"]),
    ]
    width = max(len(name) for name, _ in rows)
    head = ["links", "number", "latency [cycles]", "VCs", "buffer per VC [flits]"]
    links = [
        [name, *(str(link[key]) for key in ("links", "latency_cycles", "vcs", "buffer_flits"))]
        for name, link in facts["links"].items()
    ]
    return [
        facts["topology"],
        *(f"  {name.ljust(width)}  {value}" for name, value in rows),
        "",
        *_distances(facts["router_pairs_by_hops"], facts["terminal_pairs_by_hops"]),
        "",
        *columns(head, links),
        *two_ways(facts["links_of_two_classes"]),
    ]


def two_ways(pairs: list[dict[str, Any]]) -> list[str]:
    """Lines on links whose two directions belong to different classes.

    There is a line with the number of links for each pair of classes.
    """
    ways = "{} of {} in one direction and {} in the other, listed under both"
    return [ways.format(_plural(pair["links"], "link"), *pair["classes"]) for pair in pairs]


def _trunks(by_width: dict[str, int]) -> str:
    """Number of trunks of each width (links per trunk), as a string: ``3 of 2 links, 1 of 4 links``."""
    widths = sorted(by_width, key=int)
    return ", ".join(f"{by_width[width]} of {width} links" for width in widths)


def _distances(routers: list[int], terminals: list[int]) -> list[str]:
    """Lines with the number of router pairs and terminal pairs at each distance, and a bar for the terminal pairs."""
    shares = [pairs / max(1, sum(terminals)) for pairs in terminals]
    rows = [
        [str(hops), str(of_routers), str(of_terminals), f"{100 * share:.1f} %"]
        for hops, (of_routers, of_terminals, share) in enumerate(zip(routers, terminals, shares, strict=True))
    ]
    lines = columns(["hops", "router pairs", "terminal pairs", "share"], rows, left=0)
    bars = ["", "", *("#" * round(_BAR * share / max(*shares, 1e-9)) for share in shares)]
    return [f"{line}  {bar}".rstrip() for line, bar in zip(lines, bars, strict=True)]


def _routing(facts: dict[str, Any]) -> list[str]:
    ends = " to ".join(
        f"terminal {end['terminal']} (port {end['port']} of router {end['router']})"
        for end in (facts["from"], facts["to"])
    )
    of_messages = [
        f"VCs of each VC class, message class {each['class']}: {_vc_classes(each['vc_classes'])}"
        for each in facts["message_classes"]
    ]
    return [
        f"{facts['routing']} from {ends}, {_plural(facts['distance'], 'hop')} apart",
        *(of_messages or [f"VCs of each VC class: {_vc_classes(facts['vc_classes'])}"]),
        *_choices(facts["choices"]),
        "",
        *_paths(facts),
    ]


def _vc_classes(links: list[dict[str, Any]]) -> str:
    """The VCs of each VC class, by link class, as a string: ``dim0 0-1 | 2-3; dim1 0-3``."""
    return "; ".join(f"{link['links']} {' | '.join(map(_ranges, link['vcs']))}" for link in links if link["classes"])


def _choices(choices: list[dict[str, Any]]) -> list[str]:
    """Lines with the costs of the possible hops that the routing compares at each router of the path.

    Routers at which the costs are equal are listed together.
    """
    places: dict[str, list[int]] = {}
    alike = {}
    for choice in choices:
        key = json.dumps([choice["router"], choice["rule"], choice["candidates"]])
        places.setdefault(key, []).append(choice["hop"] + 1)
        alike[key] = choice
    lines = [line for key, hops in places.items() for line in ["", *_choice(alike[key], hops)]]
    if lines:
        lines += ["", "q: queue that the routing reads [flits]; idle: cost while all queues are empty"]
    return lines


def _choice(choice: dict[str, Any], hops: list[int]) -> list[str]:
    """Lines with the costs of the possible hops at a router. Hops with equal values share one line."""
    counts = Counter(tuple(each.items()) for each in choice["candidates"])
    rows = [
        [
            str(each["port"]),
            "its terminal" if each["next_router"] is None else str(each["next_router"]),
            str(each["class"]),
            str(count),
            str(each["zero_load"]),
            each["cost"],
        ]
        for each, count in ((dict(alike), count) for alike, count in counts.items())
    ][:_CANDIDATES]
    hidden = choice["candidate_count"] - sum(int(row[3]) for row in rows)
    when = " or ".join(map(str, hops))
    return [
        f"choice at router {choice['router']}, before hop {when}: {choice['rule']}",
        *(
            f"  {line}"
            for line in columns(["port", "to router", "VC class", "candidates", "idle", "cost"], rows, left=0)
        ),
        *([f"  and {hidden} more candidates"] if hidden else []),
    ]


def _paths(facts: dict[str, Any]) -> list[str]:
    """Lines that list the possible paths of a packet, each with hops, zero-load latency and share of the packets."""
    paths = facts["paths"][:_PATHS]
    count, more = facts["path_count"], "" if facts["all_counted"] else "more than "
    what = _plural(count, "path") if len(paths) == count else f"the first {len(paths)} of {more}{count} paths"
    order = ", shortest and most likely first" if count > 1 else ""
    rows = [[str(len(path["hops"])), str(path["zero_load_latency"]), _likely(path)] for path in paths]
    # if packets have several lengths, the engine computes the path for the longest one
    of_packet = f", of the longest packet: {facts['packet_flits']} flits" if facts["packet_lengths"] > 1 else ""
    classes = bool(facts["message_classes"])
    chains = ["path", "----", *(_chain(path, facts["to"]["router"], classes=classes) for path in paths)]
    lines = columns(["hops", "latency", "share"], rows, left=0)
    return [
        f"{what}{order}: router -[port, link, {'VC class' if classes else 'VCs'}]-> router",
        "",
        *(f"{line}  {chain}".rstrip() for line, chain in zip(lines, chains, strict=True)),
        "",
        f"latency: cycles from creation to delivery of the tail without contention{of_packet}"
        + ("; share: - if queues decide" if any(path["probability"] is None for path in paths) else ""),
    ]


def _likely(path: dict[str, Any]) -> str:
    return "-" if path["probability"] is None else f"{100 * path['probability']:.3g} %"


def _chain(path: dict[str, Any], end: int | str, *, classes: bool) -> str:
    """The hops of a path as a string, each with its VCs.

    If message classes have their own VCs, the string shows the VC class of each hop instead.
    """
    hops = [(hop, hop["class"] if classes else _ranges(hop["vcs"])) for hop in path["hops"]]
    chain = "".join(f"{hop['router']} -[{hop['port']}, {hop['link']}, {vcs}]-> " for hop, vcs in hops)
    return f"{chain}{end}" + ("" if path["minimal"] else "  (detour)")


def _ranges(numbers: Sequence[int]) -> str:
    """Numbers as a string in which consecutive numbers are joined, such as ``0-2,5``."""
    runs = [
        [number for _, number in run] for _, run in groupby(enumerate(sorted(numbers)), lambda pair: pair[1] - pair[0])
    ]
    return ",".join(f"{run[0]}" if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def _plural(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
