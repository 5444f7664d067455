"""BookSim2 rows as scenarios.

What its numbers mean: hops are routers visited (links + 1); load and accepted rate are flits/node/cycle; a channel of
latency L delivers after L + 1 cycles, the extra one is in our router delay (3, or 2 with internal speedup) and
ejection delay (1), so that T0 = routers * delay + sum(L) + 1 + (flits - 1) is the same; credits need one cycle more
than the wire; a packet takes a VC without asking whether it fits (wormhole).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar, cast

from weft.validate.case import Case, MustMatch, NotExpressible, Numbers, amount, number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Params = dict[str, str]
Key = TypeVar("Key")
Found = TypeVar("Found")


def case(row: Mapping[str, str], line: int) -> Case:
    """Read one row."""
    visited = number(row["avg_hops"])
    theirs = Numbers(
        latency=number(row["avg_packet_latency"]),
        hops=None if visited is None else visited - 1,
        accepted=number(row["accepted_rate"]),
    )
    scenario, refusal = None, ""
    try:
        scenario = _scenario(row)
    except NotExpressible as missing:
        refusal = str(missing)
    return Case(
        line=line,
        peer="BookSim2",
        name=row["case_id"],
        load=float(row["load"]),
        theirs=theirs,
        must_match=cast("MustMatch", row["must_match"]),
        why=row["why"],
        band=number(row["band"]) or 0.0,
        scenario=scenario,
        refusal=refusal,
        oblivious=row["routing"] != "ugal",
    )


def _scenario(row: Mapping[str, str]) -> dict[str, Any]:
    params = _params(row["params"])
    build = _look_up(_TOPOLOGIES, row["topology"], "topology")
    route = _look_up(_ROUTINGS, (row["topology"], row["routing"]), "routing")
    topology, classes = build(params)
    routing, vcs = route(params)
    return {
        "topology": topology,
        "links": {
            name: {
                "latency": amount(latency, "cycle"),
                "vcs": vcs.get(name, int(params["num_vcs"])),
                "buffer": amount(params["vc_buf_size"], "flit"),
            }
            for name, latency in classes.items()
        },
        "router": _router(params) | _ejection(row),
        "routing": routing,
        "traffic": {
            "pattern": _pattern(row["traffic"], params),
            "load": float(row["load"]),
            "packet": amount(row["packet_size"], "flit"),
        },
        "measure": _measure(row, params),
    }


def _params(text: str) -> Params:
    """``k=8;n=2;patched`` as a dict."""
    return {key: value for key, _, value in (field.partition("=") for field in text.split(";"))}


def _look_up(table: Mapping[Key, Found], key: Key, family: str) -> Found:
    if key not in table:
        words = " of ".join(reversed(key)) if isinstance(key, tuple) else key
        raise NotExpressible(f"Weft has no {family} for {words}")
    return table[key]


def _router(params: Params) -> dict[str, Any]:
    speedup = float(params["internal_speedup"])
    if params["vc_allocator"] != params["sw_allocator"]:
        raise NotExpressible("Weft allocates VCs and switch together")
    return {
        "delay": "3cycles" if speedup == 1 else "2cycles",
        "vc_realloc": 1,
        "speedup": round(speedup),
        "credit_delay": "1cycle",
        "ejection_delay": "1cycle",
        "flow_control": "wormhole",
        "allocator": _allocator(params["sw_allocator"]),
    }


def _allocator(text: str) -> dict[str, Any]:
    """``islip`` is one iteration, ``islip(4)`` four."""
    found = re.fullmatch(r"(\w+)(?:\((\d+)\))?", text)
    if found is None or found[1] not in _ALLOCATORS:
        raise NotExpressible(f"Weft has no allocator for {text}")
    return {found[1]: {"iterations": int(found[2] or 1)}}


def _ejection(row: Mapping[str, str]) -> dict[str, Any]:
    """Its minimal dragonfly routing ejects on the one VC of the last hop; the others on all VCs."""
    return {"ejection_vcs": 1} if (row["topology"], row["routing"]) == ("dragonflynew", "min") else {}


def _measure(row: Mapping[str, str], params: Params) -> dict[str, Any]:
    """The peer's phases; a saturated row has no latency, so nothing is drained."""
    measure = {
        "warmup": amount(params["warmup_cycles"], "cycle"),
        "window": amount(params["measure_cycles"], "cycle"),
    }
    return measure | ({"drain_limit": "1cycle"} if row["saturated"] == "true" else {})


# Topologies: the topology, and the latency [cycles] of each link class.


def _link_latency(params: Params) -> str:
    return params.get("router_link_latency", "1")


def _fly(params: Params) -> tuple[dict[str, Any], dict[str, str]]:
    if params["n"] != "1":
        raise NotExpressible("Weft has no butterfly of several stages")
    return {"single_router": {"terminals": int(params["k"])}}, {"terminal": params["node_link_latency"]}


def _grid(kind: str) -> Callable[[Params], tuple[dict[str, Any], dict[str, str]]]:
    def build(params: Params) -> tuple[dict[str, Any], dict[str, str]]:
        widths = [int(params["k"])] * int(params["n"])
        topology = {kind: {"widths": widths, "terminals_per_router": int(params.get("c", 1))}}
        return topology, {"default": _link_latency(params), "terminal": params["node_link_latency"]}

    return build


def _dragonfly(params: Params) -> tuple[dict[str, Any], dict[str, str]]:
    topology = {
        "dragonfly": {
            "terminals_per_router": int(params["p"]),
            "routers_per_group": int(params["a"]),
            "global_links_per_router": int(params["h"]),
            "groups": int(params["g"]),
            "arrangement": "absolute",
        }
    }
    return topology, {
        "local": params["local_link_latency"],
        "global": params["global_link_latency"],
        "terminal": params["node_link_latency"],
    }


def _fattree(params: Params) -> tuple[dict[str, Any], dict[str, str]]:
    """All its channels have latency 1, whatever else is configured; its level 0 is the top, ours the leaves."""
    topology = {"k_ary_n_tree": {"k": int(params["k"]), "n": int(params["n"])}}
    return topology, {"default": "1", "terminal": "1"}


_TOPOLOGIES = {
    "fly": _fly,
    "torus": _grid("torus"),
    "mesh": _grid("mesh"),
    "flatfly": _grid("hyperx"),
    "dragonflynew": _dragonfly,
    "fattree": _fattree,
}

# Routings: the routing, and the VCs of link classes that differ from num_vcs.
_Routing = tuple[dict[str, Any], dict[str, int]]


def _dimension_order(params: Params) -> _Routing:  # noqa: ARG001 - all routings have one signature
    return {"dimension_order": {}}, {}


def _dateline(params: Params) -> _Routing:  # noqa: ARG001
    return {"dimension_order": {"dateline": "entry"}}, {}


def _valiant(params: Params) -> _Routing:  # noqa: ARG001
    return {"valiant": {}}, {}


def _flatfly_ugal(params: Params) -> _Routing:  # noqa: ARG001
    options = {"threshold": "2flits", "sensor": "used_credits", "intermediate": "differing_dimensions"}
    return {"ugal": options}, {}


def _dragonfly_min(params: Params) -> _Routing:
    """VC 0 before the global link, VC 1 on it and after; the third VC is used for injection only."""
    return {"dragonfly_minimal": {}}, {"local": 2, "global": 1, "terminal": int(params["num_vcs"])}


def _dragonfly_ugal(params: Params) -> _Routing:
    """Its bias of 30 is compiled in; it keeps one VC all the way to the intermediate, which can deadlock."""
    options = {"intermediate": "router", "threshold": "30flits", "sensor": "used_credits"}
    return {"dragonfly_ugal": options}, {"local": 4, "global": 2, "terminal": int(params["num_vcs"])}


def _up_down(params: Params) -> _Routing:  # noqa: ARG001
    return {"up_down": {}}, {}


_ROUTINGS: dict[tuple[str, str], Callable[[Params], _Routing]] = {
    ("fly", "dest_tag"): _dimension_order,
    ("torus", "dim_order"): _dateline,
    ("torus", "valiant"): _valiant,
    ("mesh", "dim_order"): _dimension_order,
    ("mesh", "valiant"): _valiant,
    ("flatfly", "ran_min"): _dimension_order,
    ("flatfly", "valiant"): _valiant,
    ("flatfly", "ugal"): _flatfly_ugal,
    ("dragonflynew", "min"): _dragonfly_min,
    ("dragonflynew", "ugal"): _dragonfly_ugal,
    ("fattree", "nca"): _up_down,
}

_ALLOCATORS = ("islip", "separable_input_first", "separable_output_first")


def _pattern(text: str, params: Params) -> dict[str, Any]:
    """``tornado({8,3,1})`` names radix, digits and a stride that is 1; ``tornado`` takes k and n. Neighbor likewise."""
    if shift := re.fullmatch(r"(tornado|neighbor)(?:\(\{(\d+),(\d+),1\}\))?", text):
        radix, digits = (int(shift[2]), int(shift[3])) if shift[2] else (int(params["k"]), int(params["n"]))
        return {shift[1]: {"by": {"digits": {"radix": radix, "digits": digits}}}}
    if targets := re.fullmatch(r"hotspot\(\{([\d,]+)\}\)", text):
        return {"hot_spot": {"targets": [int(target) for target in targets[1].split(",")]}}
    return _look_up(_PATTERNS, text, "pattern")


_PATTERNS: dict[str, dict[str, Any]] = {
    "uniform": {"uniform": {"include_self": True}},
    "bitcomp": {"bit_complement": {}},
    "bitrev": {"bit_reverse": {}},
    "shuffle": {"shuffle": {}},
    "transpose": {"transpose": {}},
    "bad_dragon": {"group_shift": {"shift": 1, "local": "random"}},
}
