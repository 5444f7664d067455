"""Converts rows with results of BookSim2 to scenarios.

`weft_peers.booksim.models` maps BookSim2's models to Weft's, and says what BookSim2's numbers mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

from weft_peers.booksim import models
from weft_peers.booksim.pipeline import head_delays
from weft_peers.expressible import NotExpressible, amount
from weft_peers.validate.case import Case, MustMatch, Numbers, number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Params = dict[str, str]
Key = TypeVar("Key")
Found = TypeVar("Found")


def case(row: Mapping[str, str], line: int) -> Case:
    """Make the case of a row in line `line` of the file."""
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
    routing = _look_up(models.ROUTINGS, (row["topology"], row["routing"]), "routing")
    topology, classes = build(params)
    return {
        "topology": topology,
        "links": {
            name: {
                "latency": amount(latency, "cycle"),
                "vcs": routing.vcs.get(name, int(params["num_vcs"])),
                "buffer": amount(params["vc_buf_size"], "flit"),
            }
            for name, latency in classes.items()
        },
        "router": _router(params) | dict(routing.router),
        "routing": routing.model,
        "traffic": {
            "pattern": _pattern(row["traffic"], params),
            "load": float(row["load"]),
            "packet": amount(row["packet_size"], "flit"),
        },
        "measure": _measure(row, params),
    }


def _params(text: str) -> Params:
    """Parse a string such as ``k=8;n=2;patched`` into a dict."""
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
    (delay,) = head_delays([0, 1, 1, 1], speedup)
    return models.router(delay, 0, round(speedup), 0, models.allocator(params["sw_allocator"]))


def _measure(row: Mapping[str, str], params: Params) -> dict[str, Any]:
    """Return the value of the scenario key ``measure`` with the phases of BookSim2's run.

    If BookSim2's run saturated, latencies are not compared, so a short drain is enough.
    """
    measure = {
        "warmup": amount(params["warmup_cycles"], "cycle"),
        "window": amount(params["measure_cycles"], "cycle"),
    }
    return measure | ({"drain_limit": "1cycle"} if row["saturated"] == "true" else {})


# Weft's counterpart of a topology of BookSim2, and the latency [cycles] of its links by link class.
_Built = tuple[dict[str, Any], dict[str, str]]


def _link_latency(params: Params) -> str:
    return params.get("router_link_latency", "1")


def _fly(params: Params) -> _Built:
    if params["n"] != "1":
        raise NotExpressible("Weft has no butterfly of several stages")
    return {"single_router": {"terminals": int(params["k"])}}, {"terminal": params["node_link_latency"]}


def _grid(kind: str) -> Callable[[Params], _Built]:
    def build(params: Params) -> _Built:
        topology = models.grid(kind, [int(params["k"])] * int(params["n"]), int(params.get("c", 1)))
        return topology, {"default": _link_latency(params), "terminal": params["node_link_latency"]}

    return build


def _dragonfly(params: Params) -> _Built:
    p, a, h, g = (int(params[key]) for key in "pahg")
    return models.dragonfly(p, a, h, g), {
        "local": params["local_link_latency"],
        "global": params["global_link_latency"],
        "terminal": params["node_link_latency"],
    }


def _fattree(params: Params) -> _Built:
    """Build the fat tree. In BookSim2 all its channels have latency 1, independent of the configuration."""
    return models.fattree(int(params["k"]), int(params["n"])), {"default": "1", "terminal": "1"}


_TOPOLOGIES = {
    "fly": _fly,
    "torus": _grid("torus"),
    "mesh": _grid("mesh"),
    "flatfly": _grid("hyperx"),
    "dragonflynew": _dragonfly,
    "fattree": _fattree,
}


def _pattern(text: str, params: Params) -> dict[str, Any]:
    found = models.pattern(models.read_pattern(text, lambda key: int(params.get(key, "1"))))
    if found is None:
        raise NotExpressible(f"Weft has no pattern for {text}")
    return found
