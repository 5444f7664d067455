"""``weft check`` prints the scenario with all defaults, and the facts that are known before a run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from weft.cli import DONE, arguments, overrides, warned
from weft.cli.explain import two_ways
from weft.cli.slowly import slowly
from weft.results import quantities as q
from weft.results import si_units
from weft.runs import overload
from weft.runs.memory import text as size
from weft.text.columns import columns
from weft.text.labels import label, shortened

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence

    from weft._engine import Point
    from weft.api.sweep import Implied, Sweep
    from weft.cli.arguments import Commands
    from weft.programs.bounds import Bounds

_HEADS = {
    "terminals": "terminals",
    "routers": "routers",
    "radix_ports": "radix [ports]",
    "links": "links",
    "diameter_hops": "diameter [hops]",
    "mean_distance_hops": "mean distance of routers [hops]",
    "vc_classes": "VC classes",
    "bandwidth": "bandwidth of a channel [flits/cycle]",
    "vc_limit": "limit of a single VC: its buffer / round trip of a credit [flits/cycle]",
    "mean_hops": "mean hops",
    "zero_load_latency_cycles": "zero-load latency [cycles]",
    "channel_load_bound": "channel-load bound [flits/terminal/cycle]",
    "accepted_load_bound": "load that the destinations can accept [flits/terminal/cycle]",
    "memory_at_load_bytes": "memory of a run at its load, without saturation",
    "memory_most_bytes": "maximum memory of a run: saturated, with all buffers full",
}
# Facts that are not printed if they have no value for the scenario.
_RARE = ("accepted_load_bound",)
# Headings of facts in SI units. Each value in SI units is printed after the fact that has the same key in `_HEADS`.
_SI_HEADS = {
    "bandwidth": "bandwidth of a channel [Gb/s]",
    "vc_limit": "limit of a single VC [Gb/s]",
    "zero_load_latency_cycles": "zero-load latency [us]",
    "channel_load_bound": "channel-load bound [Gb/s per terminal]",
    "accepted_load_bound": "load that the destinations can accept [Gb/s per terminal]",
}
# Loads that are converted to SI units with the facts above.
_SI_LOADS = ("load", "load_bound", "mean_load")
_SI = "si: "
# Keys of the standard errors of facts that are computed from a sample of paths.
_ERRORS = {
    "mean_hops": "mean_hops_standard_error",
    "zero_load_latency_cycles": "zero_load_latency_standard_error_cycles",
}
_SAMPLED = (
    "Weft does not follow all paths, because there are too many. Hops, latency and bound come from a sample of at "
    "least {:,}\npaths: from every router that sends to some of its destinations, over some of its possible "
    "intermediates. Hops and\nlatency are given with standard errors, the bound with its 95 % confidence interval."
)
# If a share of links or routers fails at random, at most this number of them is listed.
_LISTED = 100
# Descriptions of the paths to which the channel-load bound applies, by the value of the fact `channel_load_bound_of`.
_BOUND_OF = {
    "fixed_paths": "",
    "empty_queues": ", of the paths chosen with empty queues",
    "best_choice": ", of the best choice of minimal paths: a choice by queues carries less",
}
_NOBODY_SENDS = "none: no terminal sends at the start of the run"
_PROGRAMS_SEND = "none: programs determine the packets of terminals"


def add(commands: Commands) -> None:
    """Add the command."""
    parser = arguments.command(
        commands,
        "check",
        "check a scenario; print it with all defaults, and the facts that follow from it",
        "weft check examples/torus.yaml --set routing.dimension_order.dateline=entry",
    )
    arguments.add_scenario(parser)
    parser.add_argument(
        "--jobs",
        metavar="N",
        type=arguments.positive,
        help="points that would run at the same time, to check their memory (default: number of cores)",
    )
    parser.add_argument(
        "--threads",
        metavar="N",
        type=arguments.positive,
        help="also show the balance of the work of N threads, in the first 1,000 cycles of a run",
    )
    arguments.add_force_memory(parser)
    parser.add_argument(
        "--estimate",
        action="store_true",
        help="also estimate the run time of programs of more than 20,000,000 operations",
    )
    arguments.add_units(parser)
    parser.add_argument("--json", action="store_true", help="print the facts and the warnings as JSON")


def main(options: argparse.Namespace) -> int:
    """Check the scenario, print its properties, and return the exit status."""
    with slowly("reading the scenario and building its networks"):
        sweep = overrides.sweep(options)
    with slowly("proving that packets can't wait for each other in a cycle, and following their paths"):
        implied = sweep.check(jobs=options.jobs, force_memory=options.force_memory, threads=options.threads)
    if options.json:
        print(json.dumps(_document(sweep, implied, estimate=options.estimate), indent=1))
        return DONE
    print(sweep.points[0].resolved_yaml().rstrip())
    print(
        "\n".join(
            [
                "",
                *_sweep(sweep),
                "",
                *_implied(implied, si_units.chosen(options.units, (each.facts for each in implied))),
            ]
        )
    )
    for line in dict.fromkeys(line for each in implied for line in two_ways(each.facts["links_of_two_classes"])):
        print(line)
    for part in (_drawn, _modes, _queueing, _marking, _work, _classes):
        for line in _of_parts(part, implied, sweep.points):
            print(line)
    found = _bounds(sweep, estimate=options.estimate)
    for line in _programs(sweep, found):
        print(line)
    of_points = [*warned.lines(sweep.points), *warned.listed(_found(sweep, implied, found), len(sweep))]
    if values := [*of_points, *warned.hints(each.facts for each in implied)]:
        print("\n".join(["", *values]))
    return DONE


def _of_parts(
    part: Callable[[dict[str, Any]], list[str]], implied: Sequence[Implied], points: Sequence[Point]
) -> list[str]:
    """The lines of a part, each part once. If points differ in the lines, a line before each part names its points."""
    alike: dict[tuple[str, ...], list[Point]] = {}
    for each in implied:
        alike.setdefault(tuple(part(each.facts)), []).extend(each.points)
    lines = []
    for (blank, *shown), of in ((known, of) for known, of in alike.items() if known):
        name = _which(of, points) if len(alike) > 1 else ""
        lines += [blank, *([name] if name else []), *shown]
    return lines


def _bounds(sweep: Sweep, *, estimate: bool) -> dict[str, list[Bounds]]:
    from weft.programs import bounds

    with slowly("computing the least run time of programs"):
        return bounds.of_sweep(sweep.points, estimate=estimate)


def _too_short(sweep: Sweep, found: Mapping[str, Sequence[Bounds]]) -> list[dict[str, str]]:
    """Warnings about points whose programs need more time than the longest window that the scenario allows."""
    from weft.programs import bounds

    warnings = (bounds.too_short(point, found[point.hash]) for point in sweep.points)
    return [warning for warning in warnings if warning is not None]


def _found(sweep: Sweep, implied: Sequence[Implied], found: Mapping[str, Sequence[Bounds]]) -> list[dict[str, str]]:
    """Warnings that only `weft check` gives: about loads that are too high, and windows that are too short."""
    return [*overload.warnings((each.points, each.facts) for each in implied), *_too_short(sweep, found)]


def _document(sweep: Sweep, implied: list[Implied], *, estimate: bool) -> dict[str, Any]:
    """JSON document of the check.

    For each combination of network, routing, policy and pattern, the document has the facts, the coordinates of the
    first point, and the number of points.

    The document lists each warning once.
    """
    groups = [
        {"points": len(each.points), "coordinates": each.points[0].coordinates, "facts": each.facts} for each in implied
    ]
    of_points = [warning for point in sweep.points for warning in point.warnings]
    of_points += _found(sweep, implied, _bounds(sweep, estimate=estimate))
    warnings = {json.dumps(warning, sort_keys=True): warning for warning in of_points}
    return {"points": len(sweep), "implied": groups, "warnings": list(warnings.values())}


def _work(facts: dict[str, Any]) -> list[str]:
    """Lines on how evenly the flit-hops are divided among threads; empty unless the user requests them."""
    work = facts.get("work")
    if work is None:
        return []
    head = f"work of {work['threads']} threads with {work['blocks']} blocks, by flit-hops in {work['cycles']:,} cycles"
    if work["imbalance"] is None:
        return ["", head, "  no flit moves in these cycles"]
    rows = {
        "busiest thread, above the mean": work["imbalance"],
        f"the same with whole rows, groups or routers ({work['units']})": work["imbalance_of_whole_units"],
    }
    width = max(map(len, rows))
    return ["", head, *(f"  {name.ljust(width)}  {share:.1%}" for name, share in rows.items())]


def _programs(sweep: Sweep, found: Mapping[str, Sequence[Bounds]]) -> list[str]:
    """Lines with the bounds on the run times of programs; equal bounds of several points are listed once."""
    from weft.programs import bounds

    alike: dict[str, list[Point]] = {}
    for point in sweep.points:
        if found[point.hash]:
            alike.setdefault("\n".join(bounds.lines(found[point.hash])), []).append(point)
    shown = []
    for text, points in alike.items():
        shown += ["", *([_which(points, sweep.points)] if len(alike) > 1 else []), text]
    silent = dict.fromkeys(line for point in sweep.points for line in bounds.lines_without(point))
    return [*shown, *(["", *silent] if silent else [])]


def _which(points: Sequence[Point], of: Sequence[Point]) -> str:
    """String that identifies some points of a sweep by their coordinates.

    A coordinate is left out if these points have every value that it has in the sweep.
    """
    parts = []
    for path in of[0].coordinates:
        values, every = (dict.fromkeys(label(each.coordinates[path], path) for each in group) for group in (points, of))
        if len(values) < len(every):
            parts.append(f"{path} = {' or '.join(values)}")
    return ", ".join(parts)


def _sweep(sweep: Sweep) -> list[str]:
    """Lines with the number of points and the values of each coordinate."""
    if not sweep.points[0].coordinates:
        return ["1 point, without errors"]
    values: dict[str, dict[str, None]] = {}
    for point in sweep.points:
        for path, value in point.coordinates.items():
            values.setdefault(path, {})[label(value, path)] = None
    width = max(map(len, values))
    lines = [f"  {path.ljust(width)}  {', '.join(taken)}" for path, taken in values.items()]
    return [f"{len(sweep)} points, all without errors (above: the first)", *lines]


def _implied(implied: list[Implied], units: str) -> list[str]:
    """Lines with the facts that are equal for all points, and a table of the other facts with a row per combination."""
    heads = _heads(units)
    rows = [_row(each.facts, heads) for each in implied]
    heads = {key: head for key, head in heads.items() if any(key in row for row in rows)}
    shared = [key for key in heads if len({row.get(key) for row in rows}) == 1]
    width = max((len(heads[key]) for key in shared), default=0)
    lines = ["facts", *(f"  {heads[key].ljust(width)}  {rows[0].get(key, '-')}" for key in shared)]
    if paths := [each.facts["sampled"]["paths"] for each in implied if each.facts["sampled"]]:
        lines += ["", _SAMPLED.format(min(paths))]
    if len(shared) == len(heads):
        return lines
    apart = [key for key in heads if key not in shared]
    paths = list(implied[0].points[0].coordinates)
    taken = [[_coordinate(each.points[0], path) for path in paths] for each in implied]
    facts = [[row.get(key, "-") for key in apart] for row in rows]
    varied = _decisive(taken, facts)
    once = {tuple(row[place] for place in varied): known for row, known in zip(taken, facts, strict=True)}
    head = [*(paths[place] for place in varied), *(heads[key] for key in apart)]
    return [*lines, "", *columns(head, [[*row, *known] for row, known in once.items()], left=len(varied))]


def _heads(units: str) -> dict[str, str]:
    """Headings of the facts that are printed.

    If the user requests SI units, a heading for the value in SI units follows.
    """
    if units != si_units.SI:
        return _HEADS
    heads = {}
    for key, head in _HEADS.items():
        heads[key] = head
        if key in _SI_HEADS:
            heads[_SI + key] = _SI_HEADS[key]
    return heads


def _row(facts: dict[str, Any], heads: dict[str, str]) -> dict[str, str]:
    of_facts = {key: key.removeprefix(_SI) for key in heads}
    known = [key for key, fact in of_facts.items() if fact in facts and (fact not in _RARE or facts[fact] is not None)]
    return {key: _fact(_in_si(facts) if key.startswith(_SI) else facts, key.removeprefix(_SI)) for key in known}


def _in_si(facts: dict[str, Any]) -> dict[str, Any]:
    """The same facts with latencies in us, and with loads and bandwidths in Gb/s."""
    microseconds, gbps = (si_units.factor(facts, of.unit) for of in (q.LATENCY, q.OFFERED))

    def times(value: Any, factor: float | None) -> Any:
        if isinstance(value, dict):
            return {name: times(part, factor) for name, part in value.items()}
        if isinstance(value, list):
            return [times(part, factor) for part in value]
        return None if value is None or factor is None else value * factor

    error, interval = _ERRORS["zero_load_latency_cycles"], "channel_load_bound_interval"
    sampled = facts["sampled"]
    if sampled:
        sampled = sampled | {error: times(sampled[error], microseconds), interval: times(sampled[interval], gbps)}
    heads = [key for key in _SI_HEADS if key != "zero_load_latency_cycles"]
    loads = {key: times(facts[key], gbps) for key in (*heads, *_SI_LOADS)}
    latency = {"zero_load_latency_cycles": times(facts["zero_load_latency_cycles"], microseconds)}
    return facts | loads | latency | {"sampled": sampled}


def _modes(facts: dict[str, Any]) -> list[str]:
    """Lines with the modes (power states) of links, their rates and prices; empty if the policy switches no links."""
    modes = facts["modes"]
    if not modes:
        return []
    own = any(mode["link_class"] for mode in modes)
    classes = [[mode["link_class"] or "others"] if own else [] for mode in modes]
    rows = [
        [*name, mode["mode"], "nothing" if mode["rate"] == "0" else mode["rate"], mode["static"], mode["per_bit"]]
        for name, mode in zip(classes, modes, strict=True)
    ]
    head = [*(["link class"] if own else []), "mode", "share of the bandwidth", "static", "per bit sent"]
    return ["", f"modes of links under {modes[0]['policy']}", *columns(head, rows, left=2 if own else 1)]


def _queueing(facts: dict[str, Any]) -> list[str]:
    """Lines with the lanes (queues) of a queueing scheme, and the memory of ports, by link class.

    Without a queueing scheme and port memory there are no lines.
    """
    shown = facts["queueing"]
    if shown is None:
        return []
    rows = []
    for name, link in shown["links"].items():
        whole, used = link["port_memory_flits"], link["used_memory_flits"]
        starts = link["lanes_from_terminals"]
        ends = " + ".join(str(lanes) for lanes in link["lanes"])
        lanes = ends if starts is None else f"{starts} from terminals, {ends} to terminals"
        memory = f"{used:,} flits" if whole is None else f"{used:,} of {whole:,} flits"
        parts = "-" if link["parts"] is None else str(link["parts"])
        rows.append([name, lanes, str(link["vcs"]), parts, f"{link['vc_buffer_flits']:,} flits", memory])
    ideal = shown["ideal_queues"]
    each = "buffer of a VC" if ideal is None else "buffer of a queue"
    head = ["link class", "lanes, by VC class", "VCs", "parts", each, "memory of a port"]
    title = f"queues of {shown['scheme']}: {shown['queues']}"
    if ideal is not None:
        title += f"; ideal: a queue for each of {ideal} destinations, as in no real router"
    return ["", title, *columns(head, rows, left=2)]


def _marking(facts: dict[str, Any]) -> list[str]:
    """Lines with the queue length above which congestion control marks packets, and with the memory of ports.

    Without a congestion control that marks packets there are no lines.
    """
    shown = facts["congestion_control"]
    if shown is None:
        return []
    first = shown["first_mark"]
    rows = [["first mark", f"{first['flits']:,} flits", f"{first['bytes']:,} B", f"{first['packets']:,.1f}", "-"]]
    memories = {f"a full {name} port": memory for name, memory in shown["port_memory"].items()}
    for name, queue in {**memories, "all ports of a router": shown["most_queued"]}.items():
        size = [f"{queue['flits']:,} flits", f"{queue['bytes']:,} B", f"{queue['packets']:,.1f}"]
        rows.append([name, *size, f"{queue['mark_chance']:.3%}"])
    head = ["queue at an output", "flits", "bytes", f"packets of {shown['packet_flits']} flits", "chance of a mark"]
    return ["", f"marks of {shown['control']}", *columns(head, rows, left=1)]


def _drawn(facts: dict[str, Any]) -> list[str]:
    """Lines with the links or routers that fail, for each share of failures that is drawn at random."""
    values = []
    for each in facts.get("fault_shares", []):
        what = " ".join(filter(None, [each["class"], each["of"]]))
        failing = each["failing"]
        count = f"{len(failing)} of {each['candidates']} {what} ({each['share']})"
        links, of_all = each["links"]
        if of_all > each["candidates"]:  # the shares are of trunks, because parallel links fail together
            pairs = f"{len(failing)} of {each['candidates']} pairs of routers connected by {what}"
            count = f"{pairs} ({links} of {of_all} links; {each['share']})"
        values.append(f"fails: {count}: {shortened(failing, _LISTED)}")
    return ["", *values] if values else []


def _classes(facts: dict[str, Any]) -> list[str]:
    """Lines with message classes and their VCs, and whether requests and replies can wait for each other in a cycle."""
    lines = [
        f"class {each['class']}: priority {each['priority']}, VCs: {_text(each['vcs'])}"
        for each in facts["message_classes"]
    ]
    for each in facts["protocols"]:
        if each["requests"] is None:
            continue  # if the VCs are shared, a hint says so
        both = f"job {each['job']}, {each['requests']} and {each['replies']}"
        verdict = "can't deadlock" if each["deadlock_free"] else "can deadlock"
        lines.append(f"{both}: requests and replies {verdict}: {each['why']}")
    return ["", *lines] if lines else []


def _decisive(taken: list[list[str]], facts: list[list[str]]) -> list[int]:
    """Indices of the coordinates on which the facts depend.

    Without any one of these coordinates, some rows with equal coordinates would have different facts.
    """
    kept = list(range(len(taken[0])))
    for place in reversed(kept):
        rest = [other for other in kept if other != place]
        known: dict[tuple[str, ...], list[str]] = {}
        keys = (tuple(row[other] for other in rest) for row in taken)
        if all(known.setdefault(key, fact) == fact for key, fact in zip(keys, facts, strict=True)):
            kept = rest
    return kept


def _coordinate(point: Point, path: str) -> str:
    return label(point.coordinates[path], path)


def _fact(facts: dict[str, Any], key: str) -> str:
    """A fact as a string; if it comes from a sample of the paths, the string includes its standard error."""
    value, sampled = facts[key], facts["sampled"]
    if value is None:
        return _PROGRAMS_SEND if facts["runs_programs"] else _NOBODY_SENDS
    if key in _ERRORS and sampled:
        return f"{value:.4g} +- {sampled[_ERRORS[key]]:.1g}"
    if key == "channel_load_bound":
        return _bound(facts)
    if key == "accepted_load_bound":
        return _accepted(facts)
    if key in ("mean_hops", "zero_load_latency_cycles") and facts["has_replies"]:
        return f"{_text(value)}, of requests and replies"
    return size(value) if key.endswith("_bytes") else _text(value)


def _bound(facts: dict[str, Any]) -> str:
    """The channel-load bound and the paths to which it applies, as a string.

    The string includes the confidence interval if paths were sampled.
    """
    bound, converted, sampled = facts["channel_load_bound"], facts["load_bound"], facts["sampled"]
    factor = 1.0 if converted is None else converted / bound
    value = bound * factor
    shown = _text(value)
    if sampled:
        low, high = (f"{end * factor:.3g}" for end in sampled["channel_load_bound_interval"])
        shown = f"{value:.3g}" if low == high else f"{value:.3g} ({low} to {high})"
    replies = " of requests, whose replies are counted" if facts["has_replies"] else ""
    return f"{shown}{replies}{_BOUND_OF[facts['channel_load_bound_of']]}{_of_loads(facts)}"


def _of_loads(facts: dict[str, Any]) -> str:
    """The load to which the channel-load bound applies; empty if all terminals send at the same load."""
    bound, converted, load = facts["channel_load_bound"], facts["load_bound"], facts["load"]
    if converted is None:
        return ", for the terminals that send most"
    if converted == bound:
        return ""
    return f", if all loads change in proportion: load {load:.4g} is {load / converted:.3g} times this bound"


def _accepted(facts: dict[str, Any]) -> str:
    """The load that destinations can accept, as a string, with the load that terminals send."""
    value, mean = facts["accepted_load_bound"], facts["mean_load"]
    of = ", less than the terminals send" if mean is None else f" of {mean:.4g} that the terminals send"
    return f"{value:.4g}{of}, mean over terminals"


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_text(part)}" for name, part in value.items())
    if isinstance(value, list):
        return "; ".join(map(str, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)
