"""Converts rows with results of the simulator FOGSim to scenarios.

Meaning of FOGSim's numbers: A packet has 8 phits, moves as a unit and leaves a router in 8 cycles. In Weft this packet
is one flit, and links carry 1/8 flit per cycle. All loads of the file are therefore divided by 8. Hops are links
between routers, as in Weft. Latency counts from the generation of a packet to the consumption of its tail. FOGSim's
router has no pipeline, no output queues, and no VC allocation separate from switch allocation. In each cycle FOGSim has
a few iterations, which are allocation steps in Weft. In each iteration, a head sends one request. Packets in transit
have priority over packets from the router's terminals. Source queues are in the router. Each injection VC has one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from weft_peers.expressible import NotExpressible, amount
from weft_peers.validate import fogsim_changes
from weft_peers.validate.case import Case, MustMatch, Numbers, number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weft_peers.validate.case import Change

Params = dict[str, str]
# A routing of Weft, and the number of VCs of the links between routers by link class.
Routed = tuple[dict[str, Any], dict[str, int]]

# Maximum length of a run with a burst [cycles]. The slowest burst of the file needs a tenth of this.
_LONGEST_BURST = 100_000
# Number of times that a packet may leave the escape ring. FOGSim has no limit, so this number is large.
_MOST_EXITS = 254


def case(row: Mapping[str, str], line: int) -> Case:
    """Make the case of a row in line `line` of the file."""
    params = _params(row["params"])
    change = fogsim_changes.change(row, params)
    theirs = Numbers(latency=_latency(row), hops=_hops(row["hops"]), accepted=_accepted(row["accepted"], params))
    scenario, refusal = None, ""
    try:
        scenario = _scenario(row, params, change)
    except NotExpressible as missing:
        refusal = str(missing)
    return Case(
        line=line,
        peer="FOGSim",
        name=row["case"],
        load=float(row["load"]) / int(params["packet_phits"]),
        theirs=theirs,
        must_match=cast("MustMatch", row["must_match"]),
        why=row["why"],
        band=_band(row),
        scenario=scenario,
        refusal=refusal,
        oblivious=row["routing"] in ("MIN", "VAL"),
        change=change,
    )


def _params(text: str) -> Params:
    """Parse a string such as ``h=2;p=2`` into a dict."""
    return {key: value for key, _, value in (field.partition("=") for field in text.split(";"))}


def _latency(row: Mapping[str, str]) -> float | None:
    """Return the mean latency [cycles]; ``None`` for a row with saturation, a burst or a change of the pattern."""
    steady = row["saturated"] == "no"
    return number(row["packet_latency"]) if steady else None


def _accepted(text: str, params: Params) -> float | None:
    """Return the accepted load [flits/terminal/cycle].

    For a burst, it is the mean until the last packet has arrived.
    """
    if completion := re.fullmatch(r"completion_cycles=(\d+)", text):
        return int(params["burstLength"]) / int(completion[1])
    accepted = number(text)
    return None if accepted is None else accepted / int(params["packet_phits"])


def _hops(text: str) -> float | None:
    """Return the mean hops from a string ``total=2.5;local=1.5;...``; ``None`` if the pattern changes."""
    total = re.match(r"total=([\d.]+)", text)
    return float(total[1]) if total else None


def _band(row: Mapping[str, str]) -> float:
    """Return the allowed difference of a row: its ``band``, or three standard deviations from its column ``noise``."""
    if row["band"] or row["must_match"] == "info":
        return number(row["band"]) or 0.0
    noise = re.search(r"accepted (?:sd/mean=)?([\d.]+)", row["noise"])
    return 3 * float(noise[1]) if noise else 0.0


def _scenario(row: Mapping[str, str], params: Params, change: Change | None) -> dict[str, Any]:
    routing, vcs = _routing(row, params)
    patterns = [_pattern(text, params) for text in fogsim_changes.patterns(row)]
    topology: dict[str, Any] = {
        "terminals_per_router": int(params["p"]),
        "routers_per_group": int(params["a"]),
        "global_links_per_router": int(params["h"]),
        "arrangement": "palm_tree",
    }
    if params.get("ring", "").startswith("physical"):
        topology["escape_rings"] = 1
    traffic, measure = _run(row, params)
    if change:
        traffic |= fogsim_changes.phases(change, patterns[-1])
        measure |= fogsim_changes.recording(change)
    return {
        "topology": {"dragonfly": topology},
        "links": _links(params, vcs, _injection_vcs(params, patterns)),
        "router": _router(params),
        "routing": routing,
        "traffic": {"pattern": patterns[0], "packet": "1flit"} | traffic,
        "measure": measure,
    }


def _run(row: Mapping[str, str], params: Params) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the load or burst for the scenario key ``traffic``, and the phases for ``measure``.

    If FOGSim's run saturated, latencies are not compared, so a drain of one cycle is enough.
    """
    load = float(row["load"]) / int(params["packet_phits"])
    if params.get("burst") == "1":
        stop = {"complete": {"max_window": amount(_LONGEST_BURST, "cycle")}}
        return {"load": load, "batch": {"per_terminal": int(params["burstLength"])}}, {
            "warmup": "0cycles",
            "stop": stop,
        }
    measure = {"warmup": amount(params["warmup"], "cycle"), "window": amount(params["window"], "cycle")}
    return {"load": load}, measure | ({"drain_limit": "1cycle"} if row["saturated"] == "yes" else {})


def _links(params: Params, vcs: Mapping[str, int], injection_vcs: int) -> dict[str, Any]:
    phits = int(params["packet_phits"])

    def packets(key: str) -> str:
        return amount(int(params[key]) // phits, "flit")

    local = {"latency": amount(params["lat_local"], "cycle"), "buffer": packets("buf_local")}
    remote = {"latency": amount(params["lat_global"], "cycle"), "buffer": packets("buf_global")}
    links: dict[str, Any] = {
        "default": {"bandwidth": f"1/{phits}flits/cycle"},
        "terminal": _terminal_link(params, phits, injection_vcs),
        "local": local | {"vcs": vcs["local"]},
        "global": remote | {"vcs": vcs["global"]},
    }
    if "ring_local" in vcs:
        links |= {"ring_local": local | {"vcs": vcs["ring_local"]}, "ring_global": remote | {"vcs": vcs["ring_local"]}}
    return links


def _terminal_link(params: Params, phits: int, injection_vcs: int) -> dict[str, Any]:
    """Return the settings of the link between a terminal and its router.

    In FOGSim the source queue is in the router. Each VC of the queue can send its next packet `phits` cycles after the
    previous one. In Weft this behaviour depends on the input. If an input sends one packet at a time, the link gets the
    bandwidth of the other links. If the VCs of an input send in parallel, each VC gets room for one packet, and its
    credit takes `phits` cycles to return. A terminal also receives a packet in `phits` cycles, from one VC at a time
    (`router.ejection_vcs`).
    """
    latency = int(params["lat_injection"])
    link = {"latency": amount(latency, "cycle"), "vcs": injection_vcs}
    if _is_one_at_a_time(params):
        return link | {"buffer": amount(int(params["source_queue_phits_per_injvc"]) // phits, "flit")}
    credit = amount(phits - latency, "cycle")
    return link | {"credit_latency": credit, "bandwidth": "1flits/cycle", "buffer": "1flit"}


def _is_one_at_a_time(params: Params) -> bool:
    return params["input_port_limit"].startswith("one packet at a time")


def _injection_vcs(params: Params, patterns: Sequence[dict[str, Any]]) -> int:
    """Return the number of VCs from a terminal to its router in Weft.

    FOGSim puts a packet into the queue ``floor(dest*3/nodes)``. If each node sends to only one group, (nearly) all its
    packets are in one queue, and one VC is enough. The number cannot change during a run. Therefore it is 1 only if
    under all patterns of the run each node sends to only one group.
    """
    by_destination = params["vc_inj_policy"].startswith("floor(dest")
    one_group = all("group_shift" in pattern or "router_shift" in pattern for pattern in patterns)
    return 1 if by_destination and one_group else int(params["vc_inj"])


def _router(params: Params) -> dict[str, Any]:
    return {
        "delay": amount(params["router_pipeline"], "cycle"),
        "speedup": int(params["alloc_iterations"]),
        "output_buffer": "0flits",
        "credit_delay": "0cycles",
        "ejection_delay": "0cycles",
        "ejection_vcs": 1,
        "input_speedup": "one" if _is_one_at_a_time(params) else "vcs",
        "allocator": {"separable_input_first": {}},
        "priority": "transit",
    }


def _routing(row: Mapping[str, str], params: Params) -> Routed:
    """Return the routing of a row, and its numbers of VCs. In the row, a variant of a routing is in parentheses."""
    name = row["routing"].partition(" (")[0]
    all_vcs = {"local": int(params["vc_local"]), "global": int(params["vc_global"])}
    match name:
        case "MIN":
            return {"dragonfly_minimal": {}}, {"local": 2, "global": 1}
        case "VAL":
            return {"dragonfly_valiant": {"intermediate": _intermediate(params)}}, all_vcs
        case "UGAL-L":  # like FOGSim's PB, it reads the queue of one VC; with this coefficient no bit of PB is set
            return {"dragonfly_pb": _piggybacking(params, 100 * int(params["h"]), 0)}, all_vcs
        case "PB" | "PB125":
            coefficient = params.get("pb_coef") or params["piggybacking_coef"]
            margin = params.get("pb_threshold_packets") or params["ugal_global_threshold"]
            return {"dragonfly_pb": _piggybacking(params, int(coefficient), int(margin))}, all_vcs
        case "OFAR" | "OFAR-L" | "OFAR-E":
            return _ofar(params, all_vcs)
        case "PAR" if row["pattern"].startswith("LADV"):  # inside a group, PAR is minimal in both simulators
            return {"dragonfly_par": {"intermediate": "other_group", "sensor": "used_credits"}}, {
                "local": 4,
                "global": 2,
            }
        case "PAR":
            raise NotExpressible(
                "its PAR misroutes like OFAR if an output is taken, and uses VCs in order; PAR of Weft compares queues"
            )
        case other:
            raise NotExpressible(f"Weft has no routing like {other}")


def _intermediate(params: Params) -> str:
    """Return the value of the parameter `intermediate` for Valiant routing.

    The first version of FOGSim also misroutes packets whose destination is in the source group; later versions do not.
    """
    return "other_group_for_all" if "v1)" in params["simulator"] else "other_group"


def _piggybacking(params: Params, percent: int, margin: int) -> dict[str, Any]:
    return {
        "intermediate": _intermediate(params),
        "sensor": "class_credits",
        "threshold": "0flits",
        "coefficient": percent / 100,
        "margin": amount(margin, "flit"),
        "every": "1cycle",
        "delay": amount(params["lat_local"], "cycle"),
    }


_TRIGGERS = {
    "minimal output already granted in this cycle": "granted",
    "granted this cycle, busy or no credit": "unavailable",
}


def _ofar(params: Params, vcs: dict[str, int]) -> Routed:
    if params["trigger"] not in _TRIGGERS:
        raise NotExpressible(f"Weft has no trigger of OFAR like {params['trigger']}")
    if "congested_restriction" in params:
        raise NotExpressible(f"Weft has no restriction of OFAR to a {params['congested_restriction']}")
    physical = params["ring"].startswith("physical")
    on_ring = {"ring_local": vcs["local"]} if physical else {"local": vcs["local"] + 1, "global": vcs["global"] + 1}
    options = {
        "local_misrouting": params["local_misroute"] == "1",
        "trigger": _TRIGGERS[params["trigger"]],
        "most_occupancy": {"relative": 0.9},
        "ring": {"kind": "physical" if physical else "embedded", "exits": _MOST_EXITS},
    }
    return {"dragonfly_ofar": options}, vcs | on_ring


_UNIFORM = {"uniform": {"include_self": False}}


def _pattern(text: str, params: Params) -> dict[str, Any]:
    if params.get("burst") == "1":
        return _mix(params)
    if text == "UN":
        return _UNIFORM
    if shift := re.fullmatch(r"(L?)ADV\+(\d+)", text):
        return {"router_shift" if shift[1] else "group_shift": {"shift": int(shift[2])}}
    raise NotExpressible(f"Weft has no pattern for {text}")


def _mix(params: Params) -> dict[str, Any]:
    """Return the mix of patterns in a burst.

    In FOGSim, type 1 is uniform traffic, and type 3 sends to a group at a distance.
    """
    parts: dict[str, int] = {}
    patterns: dict[str, Any] = {}
    for part in "123":
        kind, shift = params[f"burstTrafficType{part}"], int(params[f"burstTrafficAdvDist{part}"])
        name = "uniform" if kind == "1" else f"shift {shift}"
        patterns[name] = _UNIFORM if kind == "1" else {"group_shift": {"shift": shift}}
        parts[name] = parts.get(name, 0) + int(params[f"burstTrafficTypePercent{part}"])
    sent = {name: weight for name, weight in parts.items() if weight}
    if len(sent) == 1:
        return cast("dict[str, Any]", patterns[next(iter(sent))])
    return {"mix": [{"weight": weight, "pattern": patterns[name]} for name, weight in sent.items()]}
