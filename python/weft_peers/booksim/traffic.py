"""Converts BookSim2's traffic: packets, patterns, injection, batches and replies."""

from __future__ import annotations

from math import ceil, floor
from typing import TYPE_CHECKING, Any

from weft_peers.booksim import patterns
from weft_peers.booksim.grammar import call, leading_float
from weft_peers.booksim.packets import SIZES, Lengths, answered, mean, packet, reply_flits
from weft_peers.booksim.router import has_priorities
from weft_peers.expressible import amount

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft_peers.booksim.draft import Draft
    from weft_peers.booksim.topology import Network

# Highest priority that Weft accepts for a message class.
_HIGHEST = 255
_REQUESTS = ("read_request", "write_request")
_KINDS = (*_REQUESTS, "read_reply", "write_reply")


def traffic(draft: Draft, network: Network, lengths: Sequence[Lengths]) -> None:
    """Add patterns, loads and packets to the draft. ``lengths`` has the packet lengths of each traffic class."""
    config, classes = draft.config, len(lengths)
    batch = config.text("sim_type") == "batch"
    loads = [1.0] * classes if batch else _loads(draft, lengths)
    if not batch and sum(loads) <= 0:
        config.fail("injection_rate", "no packets are sent", "write a rate above 0.0")
    patterns = _patterns(draft, network, classes)
    if classes > 1:
        return _several(draft, lengths, loads, patterns, batch=batch)
    draft.put("traffic.pattern", patterns[0], "traffic")
    sizes = ["read_request_size", "write_request_size"] if answered(draft, classes) else ["packet_size"]
    if len(lengths[0]) > 1:
        sizes.append("write_fraction" if answered(draft, classes) else "packet_size_rate")
    draft.put("traffic.packet", packet(lengths[0]), *sizes)
    if batch:
        _batch(draft, classes)
    else:
        flits = mean(lengths[0])
        why = f"times {flits:g} flits" if flits > 1 and not config.whole("injection_rate_uses_flits") else ""
        draft.put("traffic.load", _load(draft, loads[0]), "injection_rate", "injection_rate_uses_flits", why=why)
        if "injection_process" not in config.of_device:
            put = _injection(draft, loads[0], flits, config.texts("injection_process", 1)[0])
            if put:
                draft.put("traffic.injection", *put)
    if answered(draft, classes):
        _replies(draft, classes)
    return None


def _several(
    draft: Draft, lengths: Sequence[Lengths], loads: Sequence[float], patterns: Sequence[Any], *, batch: bool
) -> None:
    """Add a message class and a job for each traffic class.

    The message classes share all VCs. In every network interface, each message class has its own queue.
    """
    config, classes = draft.config, len(lengths)
    priorities = config.wholes("class_priority", classes) if has_priorities(config) else [0] * classes
    if any(not 0 <= one <= _HIGHEST for one in priorities):
        draft.refuse(
            "class_priority", f"Weft accepts priorities from 0 to {_HIGHEST}", "write smaller numbers in the same order"
        )
        return
    names = [f"class{place}" for place in range(classes)]
    ranked = [{"priority": one} if one else {} for one in priorities]
    shared: list[dict[str, Any]] = [{"vcs": "shared"} | one for one in ranked]
    draft.put("classes", dict(zip(names, shared, strict=True)), "classes", "class_priority")
    rule = "priority" if has_priorities(config) else "round_robin"
    draft.put("interface", {"queues": "per_class", "rule": rule}, "classes", "priority")
    processes, jobs = config.texts("injection_process", classes), []
    for name, own, load, pattern, process in zip(names, lengths, loads, patterns, processes, strict=True):
        job = {"name": name, "class": name, "terminals": {"rest": {}}, "pattern": pattern, "packet": packet(own)}
        if not batch:
            job["load"] = _load(draft, load)
            put = _injection(draft, load, mean(own), process) if load > 0 else None
            job |= {"injection": put[0]} if put else {}
        jobs.append(job)
    keys = ["classes", "traffic", "injection_rate", "injection_rate_uses_flits", "packet_size", "packet_size_rate"]
    draft.put("traffic.jobs", jobs, *keys, "injection_process")
    if batch:
        _batch(draft, classes)


def _load(draft: Draft, load: float) -> float:
    if load > 1:
        text = f"{load:g} flits/terminal/cycle exceed the channel of a terminal: the load is set to 1, its maximum"
        draft.approximate("injection_rate", text)
    return min(load, 1.0)


def _loads(draft: Draft, lengths: Sequence[Lengths]) -> list[float]:
    """Return the load of each traffic class [flits/terminal/cycle]."""
    config, classes = draft.config, len(lengths)
    rates = config.reals("injection_rate", classes)
    flits = [mean(own) for own in lengths]
    if config.whole("injection_rate_uses_flits"):
        whole = flits
        if answered(draft, classes):
            whole = [sum(config.wholes(key, classes)[0] for key in SIZES) // 2]
        rates = [rate / max(size, 1) for rate, size in zip(rates, whole, strict=True)]
    if any(not 0 <= rate <= 1 for rate in rates):
        config.fail("injection_rate", "BookSim2 accepts 0 to 1 packets/node/cycle", "write a rate from 0.0 to 1.0")
    planes = draft.config.at_least("subnets", 1)
    return [rate * size / planes for rate, size in zip(rates, flits, strict=True)]


def _patterns(draft: Draft, network: Network, classes: int) -> list[Any]:
    """Return the traffic pattern of each class."""
    texts = draft.config.texts("traffic", classes)
    found = [patterns.checked(draft, text, network.terminals) for text in texts]
    suffixes = [f"-{place}" if len(set(found)) > 1 else "" for place in range(classes)]
    return [patterns.model(draft, one, network, suffix) for one, suffix in zip(found, suffixes, strict=True)]


def _injection(draft: Draft, load: float, flits: float, process: str) -> tuple[Any, ...] | None:
    """Return the injection process of a traffic class, followed by its BookSim2 keys; ``None`` if it is refused."""
    config = draft.config
    name, arguments = call(process)
    if name not in ("bernoulli", "on_off"):
        config.fail("injection_process", "BookSim2 does not know it", "BookSim2 knows bernoulli, on_off")
    if name == "bernoulli":
        return {"bernoulli": {}}, "injection_process"
    keys = ("burst_alpha", "burst_beta", "burst_r1")
    alpha, beta, r1 = (
        leading_float(arguments[place]) if place < len(arguments) else config.real(key)
        for place, key in enumerate(keys)
    )
    rate = load / flits
    if sum(value >= 0 for value in (alpha, beta, r1)) != 2 or max(alpha, beta, r1) > 1:
        what = (
            f"BookSim2 needs two of alpha, beta and r1 from 0 to 1, and the third below 0: {alpha:g}, {beta:g}, {r1:g}"
        )
        config.fail("injection_process", what, "write on_off({0.01,0.02}) and no burst_r1")
    if r1 < 0:
        r1 = rate * (alpha + beta) / alpha if alpha > 0 else 2.0
    elif beta < 0:
        beta = alpha * (r1 - rate) / rate
    if not (0 < beta <= 1 and rate < r1 <= 1):
        what = f"bursts of {r1:g} packets/cycle that end with probability {beta:g} can't give {rate:g} packets/cycle"
        config.fail("injection_process", what, "write a lower injection_rate, or alpha and beta from 0 to 1")
    if r1 * flits > 1:
        what = (
            f"packets of {flits:g} flits at {r1:g} packets/cycle are {r1 * flits:g} flits/cycle, but a burst "
            "has at most 1"
        )
        draft.refuse("injection_process", what, "write a lower rate, longer bursts or shorter packets")
        return None
    length = max(round(1 / beta), 1)
    if length * r1 < 1:
        end = 1 / max(floor(1 / r1) + 1, ceil(rate / (r1 - rate)))  # alpha is also at most 1
        what = (
            f"bursts of {length} cycles at {r1:g} packets/cycle have {length * r1:g} packets, but Weft needs 1 or more"
        )
        remedy = f"write on_off({{{end * rate / (r1 - rate):.6g},{end:.6g},-1}}) for the same load at the same peak"
        draft.refuse("injection_process", what, remedy)
        return None
    on = {"mean_on": f"{length}cycles", "peak": r1 * flits}
    if abs(1 / beta - round(1 / beta)) > 1e-9:
        draft.approximate("injection_process", f"bursts last {round(1 / beta)} cycles on average, not {1 / beta:.4g}")
    return {"on_off": on}, "injection_process", *keys


def _batch(draft: Draft, classes: int) -> None:
    config = draft.config
    if answered(draft, classes):
        draft.refuse("use_read_write", "BookSim2 counts replies as packets of a batch", "write use_read_write = 0;")
    if config.whole("max_outstanding_requests") > 0:
        what = "a limit is possible only for requests with replies"
        draft.refuse("max_outstanding_requests", what, "write max_outstanding_requests = 0;")
    draft.put("traffic.batch", {"per_terminal": config.at_least("batch_size", 1)}, "batch_size")


def _replies(draft: Draft, classes: int) -> None:
    # in BookSim2 a reply enters the queue of its terminal when the request has arrived, and leaves in the next cycle at
    # the earliest
    reply: dict[str, Any] = {"packet": amount(reply_flits(draft, classes), "flit"), "turnaround": "1cycle"}
    if _divides_vcs(draft):
        draft.put("traffic.class", "requests", "use_read_write")
        reply["reply_class"] = "replies"
    why = "BookSim2 sends a reply one cycle after its request arrived, and counts this cycle"
    draft.put("traffic.reply", reply, "use_read_write", "read_reply_size", "write_reply_size", why=why)


def _divides_vcs(draft: Draft) -> bool:
    """Add message classes with ranges of VCs for requests and replies. Return false if both kinds share all VCs."""
    config = draft.config
    vcs, ranges = config.whole("num_vcs"), {}
    for kind in _KINDS:
        half = (0, vcs // 2 - 1) if kind.endswith("request") else (vcs // 2, vcs - 1)
        asked = (config.whole(f"{kind}_begin_vc"), config.whole(f"{kind}_end_vc"))
        begin, end = (default if one < 0 else one for one, default in zip(asked, half, strict=True))
        if begin > end or end >= vcs:
            what = f"VCs {begin} to {end} are not among the {vcs} VCs"
            config.fail(f"{kind}_end_vc", what, f"write ranges from 0 to {vcs - 1}")
        ranges[kind] = range(begin, end + 1)
    keys = [key for kind in _KINDS for key in (f"{kind}_begin_vc", f"{kind}_end_vc")]
    given = next((key for key in keys if key in config.given), "use_read_write")
    own, back = ({*ranges[f"read_{what}"], *ranges[f"write_{what}"]} for what in ("request", "reply"))
    if len(own) == len(back) == vcs:
        return False
    if own & back or len(own) + len(back) < vcs:
        draft.approximate(given, "in Weft requests and replies share all VCs, so saturation differs")
        return False
    if any(len(one) < len(union) for kind, one in ranges.items() for union in [own if kind in _REQUESTS else back]):
        text = "in Weft reads and writes share the VCs of both, so saturation differs"
        draft.approximate(given, text, "use_read_write")
    halves: dict[str, dict[str, Any]] = {"requests": {}, "replies": {}}
    if len(own) != len(back):
        halves = {"requests": {"vcs": len(own)}, "replies": {"vcs": len(back)}}
    draft.put("classes", halves, "use_read_write", "num_vcs", *keys)
    return True
