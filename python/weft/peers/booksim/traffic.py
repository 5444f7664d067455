"""BookSim2's traffic: packets, patterns, injection, batches and replies."""

from __future__ import annotations

from math import ceil, floor
from typing import TYPE_CHECKING

from weft.peers.booksim import patterns
from weft.peers.booksim.grammar import call, leading_float
from weft.peers.booksim.packets import SIZES, Lengths, answered, mean, packet, reply_flits
from weft.peers.expressible import amount

if TYPE_CHECKING:
    from weft.peers.booksim.draft import Draft
    from weft.peers.booksim.topology import Network

_KINDS = ("read_request", "write_request", "read_reply", "write_reply")


def traffic(draft: Draft, network: Network, lengths: Lengths, classes: int) -> None:
    """Add patterns, load and packets to the draft."""
    flits = mean(lengths)
    config = draft.config
    batch = config.text("sim_type") == "batch"
    loads = [1.0] if batch else _loads(draft, flits, classes)
    _patterns(draft, network, loads, classes)
    sizes = ["read_request_size", "write_request_size"] if answered(draft, classes) else ["packet_size"]
    if len(lengths) > 1:
        sizes.append("write_fraction" if answered(draft, classes) else "packet_size_rate")
    draft.put("traffic.packet", packet(lengths), *sizes)
    if batch:
        _batch(draft, classes)
    else:
        load = sum(loads)
        if load <= 0:
            config.fail("injection_rate", "nothing is sent", "write a rate above 0.0")
        why = [f"times {flits:g} flits"] if flits > 1 and not config.whole("injection_rate_uses_flits") else []
        why += [f"the sum of {classes} classes"] if classes > 1 else []
        draft.put("traffic.load", min(load, 1.0), "injection_rate", "injection_rate_uses_flits", why="; ".join(why))
        if load > 1:
            text = (
                f"{load:g} flits/terminal/cycle are more than a terminal's channel takes: the load is 1, all it takes"
            )
            draft.approximate("injection_rate", text)
        if "injection_process" not in config.of_device:
            _injection(draft, load, flits, classes)
    if answered(draft, classes):
        _replies(draft, classes, batch)


def _loads(draft: Draft, flits: float, classes: int) -> list[float]:
    """Flits per terminal and cycle of each class."""
    config = draft.config
    rates = config.reals("injection_rate", classes)
    if config.whole("injection_rate_uses_flits"):
        whole = flits
        if answered(draft, classes):
            whole = sum(config.wholes(key, classes)[0] for key in SIZES) // 2
        rates = [rate / max(whole, 1) for rate in rates]
    if any(not 0 <= rate <= 1 for rate in rates):
        config.fail("injection_rate", "BookSim2 takes 0 to 1 packets/node/cycle", "write a rate from 0.0 to 1.0")
    return [rate * flits for rate in rates]


def _patterns(draft: Draft, network: Network, loads: list[float], classes: int) -> None:
    config = draft.config
    texts = config.texts("traffic", classes)
    found = [patterns.checked(draft, text, network.terminals) for text in texts]
    if classes == 1 or len(set(found)) == 1:
        draft.put("traffic.pattern", patterns.model(draft, found[0], network, ""), "traffic")
        return
    parts = [
        {"weight": load, "pattern": patterns.model(draft, one, network, f"-{place}")}
        for place, (one, load) in enumerate(zip(found, loads * classes, strict=False))
        if load > 0
    ]
    draft.put("traffic.pattern", {"mix": parts}, "traffic", "injection_rate", "classes")


def _injection(draft: Draft, load: float, flits: float, classes: int) -> None:
    config = draft.config
    processes = [call(text) for text in config.texts("injection_process", classes)]
    if any(name not in ("bernoulli", "on_off") for name, _ in processes):
        config.fail("injection_process", "BookSim2 does not know it", "it knows bernoulli, on_off")
    name, arguments = processes[0]
    if name == "bernoulli":
        draft.put("traffic.injection", {"bernoulli": {}}, "injection_process")
        return
    keys = ("burst_alpha", "burst_beta", "burst_r1")
    alpha, beta, r1 = (
        leading_float(arguments[place]) if place < len(arguments) else config.real(key)
        for place, key in enumerate(keys)
    )
    rate = load / flits
    if sum(value >= 0 for value in (alpha, beta, r1)) != 2 or max(alpha, beta, r1) > 1:
        what = f"BookSim2 wants two of alpha, beta and r1 from 0 to 1 and one below 0: {alpha:g}, {beta:g}, {r1:g}"
        config.fail("injection_process", what, "write on_off({0.01,0.02}) and no burst_r1")
    if r1 < 0:
        r1 = rate * (alpha + beta) / alpha if alpha > 0 else 2.0
    elif beta < 0:
        beta = alpha * (r1 - rate) / rate
    if not (0 < beta <= 1 and rate < r1 <= 1):
        what = f"bursts of {r1:g} packets/cycle that end with probability {beta:g} do not make {rate:g} packets/cycle"
        config.fail("injection_process", what, "write a lower injection_rate, or alpha and beta from 0 to 1")
    if r1 * flits > 1:
        what = (
            f"packets of {flits:g} flits at {r1:g} packets/cycle are {r1 * flits:g} flits/cycle, a burst has 1 at most"
        )
        draft.refuse("injection_process", what, "write a lower rate, longer bursts or shorter packets")
        return
    length = max(round(1 / beta), 1)
    if length * r1 < 1:
        end = 1 / max(floor(1 / r1) + 1, ceil(rate / (r1 - rate)))  # alpha is at most 1, as well
        what = f"bursts of {length} cycles at {r1:g} packets/cycle hold {length * r1:g} packets, here 1 or more"
        remedy = f"write on_off({{{end * rate / (r1 - rate):.6g},{end:.6g},-1}}) for the same load at the same peak"
        draft.refuse("injection_process", what, remedy)
        return
    on = {"mean_on": f"{length}cycles", "peak": r1 * flits}
    draft.put("traffic.injection", {"on_off": on}, "injection_process", *keys)
    if abs(1 / beta - round(1 / beta)) > 1e-9:
        draft.approximate("injection_process", f"bursts last {round(1 / beta)} cycles on average, not {1 / beta:.4g}")


def _batch(draft: Draft, classes: int) -> None:
    config = draft.config
    if answered(draft, classes):
        draft.refuse("use_read_write", "BookSim2 counts replies as packets of a batch", "write use_read_write = 0;")
    if config.whole("max_outstanding_requests") > 0:
        what = "only requests that are answered can be limited"
        draft.refuse("max_outstanding_requests", what, "write max_outstanding_requests = 0;")
    draft.put("traffic.batch", {"per_terminal": config.at_least("batch_size", 1)}, "batch_size")


def _replies(draft: Draft, classes: int, batch: bool) -> None:
    # a reply joins the queue of its terminal when the request has come, and leaves in the next cycle at the earliest
    reply = {"packet": amount(reply_flits(draft, classes), "flit"), "turnaround": "1cycle"}
    why = "BookSim2 sends a reply a cycle after its request has come, and counts the cycle"
    draft.put("traffic.reply", reply, "use_read_write", "read_reply_size", "write_reply_size", why=why)
    if not batch:
        _vc_ranges(draft)


def _vc_ranges(draft: Draft) -> None:
    """VCs of requests and replies: BookSim2 divides them, here all packets use all."""
    config = draft.config
    vcs, divided = config.whole("num_vcs"), []
    for kind in _KINDS:
        half = (0, vcs // 2 - 1) if kind.endswith("request") else (vcs // 2, vcs - 1)
        asked = (config.whole(f"{kind}_begin_vc"), config.whole(f"{kind}_end_vc"))
        begin, end = (default if one < 0 else one for one, default in zip(asked, half, strict=True))
        if begin > end or end >= vcs:
            what = f"VCs {begin} to {end} are not among the {vcs} VCs"
            config.fail(f"{kind}_end_vc", what, f"write ranges from 0 to {vcs - 1}")
        divided += [f"{kind}_begin_vc"] if (begin, end) != (0, vcs - 1) else []
    if divided:
        text = "requests and replies share all VCs here, so saturation differs"
        draft.approximate(divided[0], text, "use_read_write")
