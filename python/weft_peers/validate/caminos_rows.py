"""Converts rows with results of the simulator CAMINOS to scenarios.

Meaning of CAMINOS's numbers: hops are links between routers, as in Weft. A load of 1 is one phit/server/cycle, and a
phit is a flit in Weft. A message is one packet of `flit_size` phits (virtual cut-through switching). The `Basic` router
of CAMINOS has no crossbar, so only buffers and links delay a packet. In Weft this router has delay 0 and a speedup
equal to the number of VCs. Zero-load delay = sum of link delays + (phits - 1).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from weft_peers.expressible import NotExpressible, amount
from weft_peers.validate.case import Case, MustMatch, Numbers, number

if TYPE_CHECKING:
    from collections.abc import Mapping

Links = dict[str, dict[str, Any]]


def case(row: Mapping[str, str], line: int) -> Case:
    """Make the case of a row in line `line` of the file."""
    saturated = row["status"] == "saturated"
    theirs = Numbers(
        latency=None if saturated else number(row["average_message_delay"]),
        hops=number(row["average_packet_hops"]),
        accepted=number(row["accepted_load"]),
    )
    scenario, refusal = None, ""
    try:
        scenario = _scenario(row)
    except NotExpressible as missing:
        refusal = str(missing)
    topology = "hamming" if row["topology"].startswith("Hamming") else f"dragonfly_h{row['h']}"
    return Case(
        line=line,
        peer="CAMINOS",
        name=f"{topology}_{_traffic_name(row['pattern'])}_{row['routing_label']}",
        load=float(row["offered_load"]),
        theirs=theirs,
        must_match=cast("MustMatch", row["must_match"]),
        why=row["why"],
        band=number(row["band"]) or 0.0,
        scenario=scenario,
        refusal=refusal,
        oblivious=row["routing_label"] in ("shortest", "min", "val"),
    )


def _scenario(row: Mapping[str, str]) -> dict[str, Any]:
    if row["flow_control"] != f"VCT (flit_size={row['packet_phits']})":
        raise NotExpressible(f"flow control {row['flow_control']}")
    if row["message_phits"] != row["packet_phits"]:
        raise NotExpressible("messages of several packets")
    topology, latencies = _topology(row)
    routing, vcs = _routing(row)
    links: Links = {
        name: {
            "latency": amount(latency, "cycle"),
            "vcs": vcs.get(name, int(row["vcs"])),
            "buffer": amount(row["input_buffer_phits_per_vc"], "flit"),
        }
        for name, latency in latencies.items()
    }
    measure = {
        "warmup": amount(row["warmup_cycles"], "cycle"),
        "window": amount(row["measured_cycles"], "cycle"),
    }
    if row["status"] == "saturated":
        measure["drain_limit"] = "1cycle"
    return {
        "topology": topology,
        "links": links,
        "router": _router(row),
        "routing": routing,
        "traffic": {
            "pattern": _pattern(row["pattern"]),
            "load": float(row["offered_load"]),
            "packet": amount(row["packet_phits"], "flit"),
        },
        "measure": measure,
    }


def _router(row: Mapping[str, str]) -> dict[str, Any]:
    return {
        "delay": amount(row["crossbar_delay"] or 0, "cycle"),
        "vc_realloc": 0,
        "hold_switch": True,
        "speedup": int(row["vcs"]),
        "credit_delay": "0cycles",
        "ejection_delay": "0cycles",
        "flow_control": "virtual_cut_through",
    }


def _topology(row: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the value of the scenario key ``topology``, and the latency [cycles] of its links by link class."""
    if hamming := re.fullmatch(r"Hamming\[([\d,]+)\]x(\d+)", row["topology"]):
        widths = [int(width) for width in hamming[1].split(",")]
        topology = {"hyperx": {"widths": widths, "terminals_per_router": int(hamming[2])}}
        return topology, {"default": row["link_delay_local"], "terminal": row["link_delay_server"]}
    if row["topology"] != "Dragonfly palmtree canonical":
        raise NotExpressible(f"topology {row['topology']}")
    h = int(row["h"])
    topology = {
        "dragonfly": {
            "terminals_per_router": h,
            "routers_per_group": 2 * h,
            "global_links_per_router": h,
            "groups": 2 * h * h + 1,
            "arrangement": "palm_tree",
        }
    }
    return topology, {
        "local": row["link_delay_local"],
        "global": row["link_delay_global"],
        "terminal": row["link_delay_server"],
    }


def _routing(row: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, int]]:
    """Return the routing, and the number of VCs of each link class that needs fewer VCs than in CAMINOS."""
    match row["routing_label"]:
        case "shortest" if row["topology"].startswith("Hamming"):
            return {"minimal": {}}, {}
        case "min":
            return {"dragonfly_minimal": {}}, {"local": 2, "global": 1}
        case "val":
            # CAMINOS's `Valiant` delivers a packet as soon as the packet passes its destination router
            valiant = {"intermediate": "router", "early_exit": True}
            return {"dragonfly_valiant": valiant}, {"local": 4, "global": 2}
        case "ugal":
            return _ugal("used_credits")
        case "ugalq":
            return _ugal("output_queue")
        case other:
            raise NotExpressible(f"Weft has no routing like {other} ({row['routing_config']})")


def _ugal(sensor: str) -> tuple[dict[str, Any], dict[str, int]]:
    """Return Weft's counterpart of CAMINOS's UGAL, which chooses the path at the source.

    UGAL takes the path with the lower cost. The cost is q for the minimal path and 2 q + 24 for a detour, where q is
    the queue of the path [phits].
    """
    options = {"intermediate": "router", "threshold": "24flits", "sensor": sensor}
    return {"dragonfly_ugal": options}, {"local": 4, "global": 2}


def _pattern(text: str) -> dict[str, Any]:
    if text == "uniform (self excluded)":
        return {"uniform": {"include_self": False}}
    if shift := re.fullmatch(r"group shift \+(\d+), uniform inside target group", text):
        return {"group_shift": {"shift": int(shift[1]), "local": "random"}}
    raise NotExpressible(f"pattern {text}")


def _traffic_name(text: str) -> str:
    return "adv" if text.startswith("group shift") else text.partition(" ")[0]
