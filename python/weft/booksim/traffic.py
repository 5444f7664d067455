"""BookSim2's traffic: packets, patterns, injection, batches and replies."""

from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING, Any

from weft.booksim import matrix, models
from weft.booksim.grammar import call, leading_float, tokenize
from weft.validate.case import amount

if TYPE_CHECKING:
    from weft.booksim.draft import Draft
    from weft.booksim.network import Network

_KINDS = ("read_request", "write_request", "read_reply", "write_reply")


def packet_flits(draft: Draft, classes: int) -> int:
    """Flits of a packet; of a request, if requests are answered."""
    config = draft.config
    if _answered(draft, classes):
        reads, writes = (config.ints(f"{kind}_request_size", classes)[0] for kind in ("read", "write"))
        if reads != writes and _mixed(draft, classes):
            what = f"requests to read and to write have {reads} and {writes} flits, here all have one length"
            draft.refuse("use_read_write", what, "write equal sizes, or write_fraction = 0.0; or 1.0;")
        return _length(draft, "read_request_size", writes if config.floats("write_fraction", classes)[0] > 0 else reads)
    listed = [tokenize(one) for one in tokenize(config.text("packet_size"))]
    if not listed:
        return _length(draft, "packet_size", config.int("packet_size"))
    sizes = [
        config.fail("packet_size", "the list is empty", "write packet_size = 1;") if not one else one for one in listed
    ]
    used = {one for place in range(classes) for one in sizes[min(place, len(sizes) - 1)]}
    if len(used) > 1:
        draft.refuse("packet_size", "here all packets of a terminal have one length", "write one number")
    return _length(draft, "packet_size", min(int(leading_float(one)) for one in used))


def traffic(draft: Draft, network: Network, flits: int, classes: int) -> None:
    """Put patterns, load and packets into the draft."""
    config = draft.config
    batch = config.text("sim_type") == "batch"
    loads = [1.0] if batch else _loads(draft, flits, classes)
    _patterns(draft, network, loads, classes)
    sizes = ("read_request_size", "write_request_size") if _answered(draft, classes) else ("packet_size",)
    draft.put("traffic.packet", amount(flits, "flit"), *sizes)
    if batch:
        _batch(draft, classes)
    else:
        load = sum(loads)
        if load <= 0:
            config.fail("injection_rate", "nothing is sent", "write a rate above 0.0")
        why = f"x {flits} flits" if flits > 1 and not config.int("injection_rate_uses_flits") else ""
        draft.put("traffic.load", min(load, 1.0), "injection_rate", "injection_rate_uses_flits", why=why)
        if load > 1:
            text = (
                f"{load:g} flits/terminal/cycle are more than a terminal's channel takes: the load is 1, all it takes"
            )
            draft.approximate("injection_rate", text)
        _injection(draft, load, flits, classes)
    if _answered(draft, classes):
        _replies(draft, classes, batch)


def _length(draft: Draft, key: str, flits: int) -> int:
    if flits < 1:
        draft.config.fail(key, "a packet has 1 flit or more", f"write {key} = 1; or more")
    return flits


def _loads(draft: Draft, flits: int, classes: int) -> list[float]:
    """Flits per terminal and cycle of each class."""
    config = draft.config
    rates = config.floats("injection_rate", classes)
    if config.int("injection_rate_uses_flits"):
        whole = flits
        if _answered(draft, classes):
            whole = sum(config.ints(f"{kind}_size", classes)[0] for kind in _KINDS) // 2
        rates = [rate / max(whole, 1) for rate in rates]
    if any(not 0 <= rate <= 1 for rate in rates):
        config.fail("injection_rate", "BookSim2 takes 0 to 1 packets/node/cycle", "write a rate from 0.0 to 1.0")
    return [rate * flits for rate in rates]


def _patterns(draft: Draft, network: Network, loads: list[float], classes: int) -> None:
    config = draft.config
    texts = config.texts("traffic", classes)
    found = [_checked(draft, text, network.terminals) for text in texts]
    if classes == 1 or len(set(found)) == 1:
        draft.put("traffic.pattern", _pattern(draft, found[0], network, ""), "traffic")
        return
    parts = [
        {"weight": load, "pattern": _pattern(draft, one, network, f"-{place}")}
        for place, (one, load) in enumerate(zip(found, loads * classes, strict=False))
        if load > 0
    ]
    draft.put("traffic.pattern", {"mix": parts}, "traffic", "injection_rate", "classes")


def _checked(draft: Draft, text: str, terminals: int) -> models.Pattern:
    """A pattern whose arguments BookSim2 would take."""
    config = draft.config
    name, _ = call(text)
    if name not in models.PATTERNS:
        known = ", ".join(sorted(models.PATTERNS))
        config.fail("traffic", f"BookSim2 has no pattern {name}", f"it knows {known}")
    found = models.read_pattern(text, config.int)
    bits = terminals.bit_length() - 1
    if name in ("bitcomp", "bitrev", "shuffle", "transpose"):
        even = name == "transpose"
        if terminals != 1 << bits or (even and bits % 2):
            kind = "an even power of two" if even else "a power of two"
            config.fail("traffic", f"BookSim2 needs {kind} of terminals, and there are {terminals}", "write uniform")
    if name in ("tornado", "neighbor") and not (
        found.radix > 1 and 0 < found.digits <= 30 and found.radix**found.digits <= terminals
    ):
        what = f"{found.digits} digits of base {found.radix} are no number of one of {terminals} terminals"
        config.fail("traffic", what, f"write {name}({{k,n,1}}) with k^n = {terminals}")
    if name == "badperm_yarc" and found.radix**2 != terminals:
        side = isqrt(terminals)
        what = f"rows of {found.radix} terminals in {found.radix} columns are not {terminals} terminals"
        config.fail("traffic", what, f"write badperm_yarc({{{side},1,1}})")
    if name == "bad_dragon" and not 0 < 2 * found.radix**2 <= terminals:
        config.fail(
            "traffic", f"a group of {2 * found.radix**2} does not fit into {terminals}", "write bad_dragon({k,1})"
        )
    if name == "taper64" and terminals != 64:
        config.fail("traffic", f"BookSim2 needs 64 terminals, and there are {terminals}", "write uniform")
    if name == "hotspot":
        if any(target < 0 for target, _ in found.targets):
            draft.refuse("traffic", "a hot spot is drawn in BookSim2, whatever the seed", "name it: hotspot({11})")
        elif any(target >= terminals or weight < 1 for target, weight in found.targets):
            config.fail("traffic", f"there are {terminals} terminals and weights from 1 on", "write hotspot({0})")
    if name == "background" and not set(range(terminals)) - set(found.excluded):
        config.fail("traffic", "no terminal is left", "exclude fewer")
    if "(" in text and "({" not in text and "," in text:
        inner = text.partition("(")[2].rstrip(")")
        config_note = f"BookSim2 reads the first number of ({inner}) only; all of them are read from ({{{inner}}})"
        draft.idle("traffic", config_note)
    if name == "randperm":
        draft.approximate("traffic", "the permutation is another one, drawn in the same way")
    return found


def _pattern(draft: Draft, found: models.Pattern, network: Network, mark: str) -> dict[str, Any]:
    """A model where there is one, else a file with the matrix."""
    same_groups = found.name != "bad_dragon" or (
        "dragonfly" in network.topology and network.topology["dragonfly"]["terminals_per_router"] == found.radix
    )
    numbered = network.homes is None or found.name in ("uniform", "randperm")
    model = models.pattern(found, network.terminals)
    if model is not None and same_groups and numbered:
        return model
    if network.terminals > matrix.MOST:
        what = f"the pattern has to be written out, which is done for {matrix.MOST} terminals at most"
        draft.refuse("traffic", what, "write uniform, or take a smaller network")
        return models.PLAIN["uniform"]
    if not numbered:
        draft.approximate(
            "traffic", "terminals have other numbers: router by router, where BookSim2 goes row by row over the floor"
        )
    file = f"{draft.name}-traffic{mark}.csv"
    draft.files[file] = matrix.csv(found, network.terminals, network.homes)
    return {"matrix": {"file": file}}


def _injection(draft: Draft, load: float, flits: int, classes: int) -> None:
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
        leading_float(arguments[place]) if place < len(arguments) else config.float(key)
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
        what = f"packets of {flits} flits at {r1:g} packets/cycle are {r1 * flits:g} flits/cycle, a burst has 1 at most"
        draft.refuse("injection_process", what, "write a lower rate, longer bursts or shorter packets")
        return
    on = {"mean_on": f"{max(round(1 / beta), 1)}cycles", "peak": r1 * flits}
    draft.put("traffic.injection", {"on_off": on}, "injection_process", *keys)
    if abs(1 / beta - round(1 / beta)) > 1e-9:
        draft.approximate("injection_process", f"bursts last {round(1 / beta)} cycles on average, not {1 / beta:.4g}")


def _batch(draft: Draft, classes: int) -> None:
    config = draft.config
    if _answered(draft, classes):
        draft.refuse("use_read_write", "BookSim2 counts replies as packets of a batch", "write use_read_write = 0;")
    if config.int("max_outstanding_requests") > 0:
        what = "only requests that are answered can be limited"
        draft.refuse("max_outstanding_requests", what, "write max_outstanding_requests = 0;")
    draft.put("traffic.batch", {"per_terminal": config.at_least("batch_size", 1)}, "batch_size")


def _answered(draft: Draft, classes: int) -> bool:
    return bool(draft.config.ints("use_read_write", classes)[0])


def _mixed(draft: Draft, classes: int) -> bool:
    return 0 < draft.config.floats("write_fraction", classes)[0] < 1


def _replies(draft: Draft, classes: int, batch: bool) -> None:
    config = draft.config
    reads, writes = (config.ints(f"{kind}_reply_size", classes)[0] for kind in ("read", "write"))
    if reads != writes and _mixed(draft, classes):
        what = f"replies to reads and writes have {reads} and {writes} flits, here all have one length"
        draft.refuse("use_read_write", what, "write equal sizes, or write_fraction = 0.0; or 1.0;")
    flits = writes if config.floats("write_fraction", classes)[0] > 0 else reads
    reply = {"packet": amount(_length(draft, "read_reply_size", flits), "flit")}
    draft.put("traffic.reply", reply, "use_read_write", "read_reply_size", "write_reply_size")
    if not batch:
        _vc_ranges(draft)
        text = "BookSim2 has one mean latency of requests and replies; here each has its own under jobs in summary.json"
        draft.approximate("use_read_write", text)


def _vc_ranges(draft: Draft) -> None:
    """VCs of requests and replies: BookSim2 divides them, here all packets use all."""
    config = draft.config
    vcs, divided = config.int("num_vcs"), []
    for kind in _KINDS:
        begin, end = config.int(f"{kind}_begin_vc"), config.int(f"{kind}_end_vc")
        if begin > end or end >= vcs:
            help = f"write ranges from 0 to {vcs - 1}"
            config.fail(f"{kind}_end_vc", f"VCs {begin} to {end} are no part of {vcs}", help)
        divided += [f"{kind}_begin_vc"] if (begin, end) not in ((-1, -1), (0, vcs - 1)) else []
    if divided:
        text = "requests and replies share all VCs: saturation differs, the zero-load latency does not"
        draft.approximate(divided[0], text)
