"""Converts BookSim2's topologies and routing functions to values of a scenario."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft_peers.booksim import anynet, models, wiring
from weft_peers.booksim.config import text_of
from weft_peers.expressible import amount

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from weft_peers.booksim.config import Config
    from weft_peers.booksim.draft import Draft
    from weft_peers.booksim.wiring import Wiring

# Maximum number of routers. If k^n is greater, k or n has a typing error; even the computation of k^n could take long.
_MOST = 1 << 20
_MOST_VCS = 16


@dataclass(frozen=True)
class Network:
    """The counterpart of a network of BookSim2.

    Attributes
    ----------
    topology : dict
        The topology in Weft.
    terminals : int
        Number of terminals.
    latencies : dict of str to int
        Latency [cycles] of each link class; empty if a network file contains the latencies.
    keys : tuple of str
        BookSim2 keys from which the network comes.
    homes : list of int or None
        Router of each terminal, if BookSim2 does not number terminals router by router; otherwise ``None``.
    credits : dict of str to int or None
        Latency [cycles] of the credits on channels of each link class, where it differs from the latency of the flits.
    """

    topology: dict[str, Any]
    terminals: int
    latencies: dict[str, int]
    keys: tuple[str, ...]
    homes: list[int] | None = None
    credits: dict[str, int] | None = None


def network(draft: Draft) -> Network:
    """Add the topology to the draft, and return the network."""
    config = draft.config
    topology = config.choose("topology", _BUILDERS)
    if config.text("routing_function") == "none":
        remedy = f"write routing_function = {', '.join(_functions(topology))}"
        config.fail("routing_function", "BookSim2 needs this key and has no default", remedy)
    function = config.choose("routing_function", _functions(topology))
    count = _planes(draft)
    if config.whole("link_failures") > 0:
        _failures(draft, topology)
    found = _BUILDERS[topology](draft, function)
    if found.terminals > _MOST:
        config.fail("k", f"these settings make {found.terminals} terminals", f"stay below {_MOST}")
    whole = found.topology if count == 1 else {"planes": {"count": count, "of": found.topology}}
    draft.put("topology", whole, "topology", *found.keys, *(["subnets"] if count > 1 else []))
    return found


def _planes(draft: Draft) -> int:
    """Return the number of BookSim2's subnets, which become planes of the scenario.

    Refuse subnets that change the traffic.

    BookSim2 chooses one subnet at random for each packet of a Bernoulli source. Therefore each plane gets an equal
    share of the load. With ``use_read_write`` each kind of packet has a separate subnet.
    """
    config, count = draft.config, draft.config.at_least("subnets", 1)
    if count == 1:
        return 1
    if any(config.wholes("use_read_write", 1)):
        what = "with use_read_write each kind of packet has its own subnet; in Weft each plane carries all kinds"
        draft.refuse("subnets", what, "to use one network for requests and replies, write subnets = 1;")
        return 1
    processes = {text.split("(")[0].strip() for text in config.texts("injection_process", 1)}
    if config.text("sim_type") != "latency" or processes != {"bernoulli"}:
        what = "Weft divides packets among planes only for sim_type = latency and injection_process = bernoulli"
        rate = config.reals("injection_rate", 1)[0] / count
        draft.refuse(
            "subnets", what, f"for one of the {count} subnets, write subnets = 1; and injection_rate = {rate:.6g};"
        )
        return 1
    text = (
        f"each subnet is a plane with 1/{count} of the load: BookSim2 draws the subnet of each packet, and a node "
        "sends one packet at a time; in Weft a node sends in all planes at once, so packets wait less under load"
    )
    draft.approximate("subnets", text)
    return count


def _failures(draft: Draft, topology: str) -> None:
    """Refuse links that fail at random.

    BookSim2 has code for failed links in two topologies. In both, BookSim2 stops with an error before it chooses a
    link.
    """
    if topology in ("flatfly", "dragonflynew", "anynet"):
        draft.idle(
            "link_failures", f"in BookSim2 no link of {topology} fails; in Weft the links named under `faults` fail"
        )
        return
    what = "BookSim2 stops here: it has no link failures for this topology"
    if topology in ("mesh", "torus"):
        what = "BookSim2 stops here with a failed assertion, before it has drawn a link"
    remedy = "write link_failures = 0; and name links in the scenario: faults: [{link: [0, 1], at: 0cycles}]"
    draft.refuse("link_failures", what, remedy)


def links(draft: Draft, found: Network, buffer: dict[str, Any]) -> dict[str, Any]:
    """Add the links and the routing to the draft, and return the router settings that the routing needs."""
    config = draft.config
    topology, function = config.text("topology"), config.text("routing_function")
    vcs = config.at_least("num_vcs", 1)
    if vcs > _MOST_VCS:
        draft.refuse("num_vcs", f"a link has at most {_MOST_VCS} VCs", f"write num_vcs = {_MOST_VCS};")
    routing = models.ROUTINGS.get((topology, function), models.Routing({}))
    if vcs < routing.least_vcs:
        what = f"BookSim2 needs {routing.least_vcs} VCs for {function} on {topology}"
        config.fail("num_vcs", what, f"write num_vcs = {routing.least_vcs};")
    if (topology, function) == ("dragonflynew", "ugal") and vcs != routing.least_vcs:
        config.fail("num_vcs", "BookSim2 runs ugal on dragonflynew only with 3 VCs", "write num_vcs = 3;")
    latencies: dict[str, int | None] = {**found.latencies} or {"default": None, "terminal": 1}
    for name, latency in latencies.items():
        entry = {} if latency is None else {"latency": amount(latency, "cycle")}
        entry |= {"vcs": _vcs(routing, name, vcs)} | buffer
        draft.put(f"links.{name}", entry, *_link_keys(config, name), why=_why(config, name, name in routing.vcs))
    for name, latency in (found.credits or {}).items():
        why = (
            "in BookSim2 a credit has the latency of the channel of its flit, not of the channel that carries "
            "the credit"
        )
        draft.put(f"links.{name}", {"credit_latency": amount(latency, "cycle")}, *found.keys, why=why)
    if routing.differs:
        draft.approximate("routing_function", routing.differs, f"{function} on {topology}")
    if vcs % routing.parts:
        text = (
            f"the VCs can't be divided into {routing.parts} equal parts: in BookSim2 classes of packets share the "
            "remaining VCs, in Weft every VC has one class; saturation comes earlier"
        )
        draft.approximate("num_vcs", text, "num_vcs")
    if not found.topology.get("graph") or (topology, function) not in models.TABLED:
        draft.put("routing", routing.model, "routing_function")
    return dict(routing.router)


def _vcs(routing: models.Routing, name: str, vcs: int) -> int:
    """Return the number of VCs of each link of class `name`; `vcs` is BookSim2's ``num_vcs``."""
    if name in routing.vcs:
        return routing.vcs[name]
    return vcs if name == "terminal" else min(vcs * routing.classes, _MOST_VCS)


def _link_keys(config: Config, name: str) -> list[str]:
    keys = ["num_vcs", "vc_buf_size" if config.whole("buf_size") <= 0 else "buf_size"]
    keys += ["wait_for_tail_credit"] if config.whole("wait_for_tail_credit") else []
    return keys + (["use_noc_latency"] if name == "default" and "use_noc_latency" in config.read else [])


def _why(config: Config, name: str, fewer: bool) -> str:
    """Return a remark on a link class whose latencies or numbers of VCs do not equal the values of BookSim2's keys."""
    fixed = name != "default" or "use_noc_latency" not in config.read
    shown = "the file sets the latencies" if config.text("topology") == "anynet" and name == "default" else ""
    shown = shown or ("the latency is fixed in BookSim2" if fixed else "")
    return "; ".join(filter(None, [shown, "Weft has only the VCs that the routing function uses" if fewer else ""]))


def _functions(topology: str) -> list[str]:
    """List the routing functions that BookSim2 has for a topology."""
    mapped = {name for owner, name in {*models.ROUTINGS, *models.TABLED} if owner == topology}
    return sorted(mapped | set(models.FOREIGN.get(topology, ())))


def _foreign(draft: Draft, topology: str, function: str, needs: Mapping[str, str] | None = None) -> bool:
    """Refuse a routing function that Weft lacks, and return whether it was refused.

    The remedy lists the routing functions that Weft has. `needs` adds the settings that such a routing function
    requires.
    """
    if function not in models.FOREIGN.get(topology, ()):
        return False
    known = [name for name in _functions(topology) if name not in models.FOREIGN[topology]]
    ways = [f"{name}; with {needs[name]}" if needs and name in needs else name for name in known]
    remedy = f"write routing_function = {' or '.join(ways)};"
    draft.refuse("routing_function", f"no routing of Weft takes the same paths on {topology}", remedy)
    return True


def _grid(kind: str) -> Callable[[Draft, str], Network]:
    def build(draft: Draft, function: str) -> Network:
        config = draft.config
        _foreign(draft, kind, function)
        widths = config.widths()
        if min(widths) < 2:
            config.at_least("k", 2)
        routers = prod(widths)
        if routers > _MOST:
            config.fail("k", f"these settings make more than {_MOST} routers", "write smaller numbers")
        if kind == "torus" and min(widths) == 2:
            draft.refuse("k", "a ring of two routers has two links between them", "write k = 3; or more")
        if "c" in config.given:
            draft.idle("c", f"BookSim2 puts one terminal on each router of a {kind}")
        latencies = {"default": 1, "terminal": 1}
        if kind == "torus" and config.whole("use_noc_latency") == 1:
            latencies["default"] = 2
        elif kind == "mesh":
            config.whole("use_noc_latency")
        return Network(models.grid(kind, widths, 1), routers, latencies, ("k", "n"))

    return build


def _fly(draft: Draft, function: str) -> Network:  # noqa: ARG001 - all builders have one signature
    config = draft.config
    k = config.at_least("k", 2)
    if config.at_least("n", 1) > 1:
        what = (
            "terminals enter a butterfly at its first stage and leave it at its last: such terminals have two "
            "attachments, but in Weft each terminal has one router"
        )
        draft.refuse("n", what, "write n = 1; for one stage, or topology = fattree; for a folded butterfly")
    return Network({"single_router": {"terminals": k}}, k, {"terminal": 1}, ("k", "n"))


def _fattree(draft: Draft, function: str) -> Network:  # noqa: ARG001
    k, n = draft.config.at_least("k", 2), draft.config.at_least("n", 1)
    return Network(models.fattree(k, n), _power(draft.config, k, n), {"default": 1, "terminal": 1}, ("k", "n"))


def _dragonfly(draft: Draft, function: str) -> Network:  # noqa: ARG001
    config = draft.config
    p = config.at_least("k", 1)
    if config.whole("n") != 1:
        config.fail("n", "BookSim2's dragonflynew has one dimension in a group", "write n = 1;")
    a, groups = 2 * p, 2 * p * p + 1
    latencies = {"local": 10, "global": 100, "terminal": 1}
    return Network(models.dragonfly(p, a, p, groups), p * a * groups, latencies, ("k",))


def _floor(draft: Draft) -> tuple[int, int]:
    """Return the number of terminals per router, and the number of routers in a row of the chip's floor plan."""
    config = draft.config
    c = config.at_least("c", 1)
    x, y, xr, yr = (config.at_least(key, 1) for key in ("x", "y", "xr", "yr"))
    if xr != yr or xr * yr != c:
        side = max(round(c**0.5), 1)
        remedy = f"write c = {side * side}, xr = {side} and yr = {side}"
        config.fail("c", f"BookSim2 needs xr = yr and xr * yr = c, but they are {xr} and {yr}", remedy)
    if x != y:
        config.fail("x", f"BookSim2 needs x = y, but y is {y}", f"write y = {x};")
    return c, x


def _flatfly(draft: Draft, function: str) -> Network:
    config = draft.config
    noc = config.whole("use_noc_latency") == 1
    is_foreign = _foreign(draft, "flatfly", function, {"ugal": "use_noc_latency = 0"} if noc else None)
    c, row = _floor(draft)
    k, n = config.at_least("k", 2), config.at_least("n", 1)
    routers = _power(config, k, n)
    if c > 1 and routers % row:
        remedy = f"write x = {k} and y = {k}"
        config.fail("x", f"rows of {row} routers do not divide k^n = {routers} routers", remedy)
    if n > 4:
        config.fail("n", "BookSim2's flatfly has at most 4 dimensions", "write n = 4; or less")
    if noc and len(wiring.terminal_latencies(c)) > 1:
        what = f"in BookSim2 the {c} links of a router to its terminals have different lengths, in Weft one length"
        draft.refuse("use_noc_latency", what, "write use_noc_latency = 0;")
    keys = ("k", "n", "c", "x", "y", "xr", "yr", "use_noc_latency")
    if noc and function == "ran_min":
        built = wiring.flatfly(k, n, c, row, noc)
        return _written(draft, built, wiring.dimension_order(k), keys)
    if noc and not is_foreign:
        what = "links have the lengths of the floor plan, but this routing needs links of one length"
        draft.refuse("use_noc_latency", what, "write use_noc_latency = 0; or routing_function = ran_min;")
    homes = wiring.homes(routers, c, row) if c > 1 else None
    return Network(models.grid("hyperx", [k] * n, c), c * routers, {"default": 1, "terminal": 1}, keys, homes)


def _cmesh(draft: Draft, function: str) -> Network:
    config = draft.config
    _foreign(draft, "cmesh", function)
    if config.whole("c") != 4 or config.whole("n") != 2:
        key = "c" if config.whole("c") != 4 else "n"
        config.fail(key, "BookSim2's cmesh has 2 dimensions and 4 terminals at a router", "write n = 2 and c = 4")
    _floor(draft)
    k = config.whole("k")
    _power(config, k, 2)
    if k < 4 or k % 2:
        draft.refuse("k", "the express links along the edges need an even number", "write an even k, 4 or more")
        k = 4
    built = wiring.cmesh(k, config.whole("use_noc_latency") == 1)
    keys = ("k", "n", "c", "x", "y", "xr", "yr", "use_noc_latency")
    return _written(draft, built, wiring.mesh_order(k, function == "dor"), keys)


def _tree(draft: Draft, function: str) -> Network:
    config = draft.config
    _foreign(draft, config.text("topology"), function)
    if (config.whole("k"), config.whole("n")) != (4, 3):
        key = "k" if config.whole("k") != 4 else "n"
        config.fail(key, "BookSim2's qtree and tree4 have 4 children in 3 levels", "write k = 4 and n = 3")
    if config.text("topology") == "qtree":
        return _written(draft, wiring.qtree(), wiring.down_or_up, ("k", "n"))
    return _written(draft, wiring.tree4(), None, ("k", "n"))


def _anynet(draft: Draft, function: str) -> Network:  # noqa: ARG001
    config = draft.config
    file = config.text("network_file")
    if not file:
        config.fail("network_file", "topology = anynet needs a file", "write network_file = FILE;")
    path = config.folder("network_file") / file
    if not path.exists():
        path = Path(file)  # BookSim2 searches its current folder
    built = anynet.read(text_of(path), str(path))
    return _written(draft, built, anynet.shortest(built, str(path)), ("network_file",))


def _written(
    draft: Draft, built: Wiring, following: Callable[[int, int], int] | None, keys: tuple[str, ...]
) -> Network:
    """Add the files of a network to the draft: its links, and a routing table if next hops are given."""
    draft.files[f"{draft.name}.anynet"] = built.graph()
    topology = {"graph": {"file": f"{draft.name}.anynet", "format": "anynet"}}
    if following:
        draft.files[f"{draft.name}-routes.csv"] = built.table(following)
        draft.put("routing", {"table": {"file": f"{draft.name}-routes.csv"}}, "routing_function")
    return Network(topology, len(built.terminals), {}, keys, credits=_credits(draft, built, keys))


def _credits(draft: Draft, built: Wiring, keys: tuple[str, ...]) -> dict[str, int]:
    """Return the latency of credits for each link class in which it differs from that of flits.

    If the opposite channels of a class have several latencies, the draft gets a note instead.
    """
    found = built.credit_latencies()
    several = sorted(there for there, back in found.items() if len(back) > 1)
    if several:
        text = (
            f"channels of {several[0]} cycles have opposite channels of "
            f"{', '.join(map(str, sorted(found[several[0]])))} cycles, but credits on a link class have one latency: "
            f"in Weft {several[0]} cycles, in BookSim2 that of the opposite channel; so credit round trips and the "
            "saturation of links with small buffers differ"
        )
        draft.approximate(keys[0], text)
    return {f"latency{there}": min(back) for there, back in found.items() if len(back) == 1}


def _power(config: Config, k: int, n: int) -> int:
    if n > 30 or k**n > _MOST:
        config.fail("k", f"k^n with n = {n} is more than {_MOST} routers", "write smaller numbers")
    return int(k**n)


_BUILDERS: dict[str, Callable[[Draft, str], Network]] = {
    "fly": _fly,
    "torus": _grid("torus"),
    "mesh": _grid("mesh"),
    "cmesh": _cmesh,
    "flatfly": _flatfly,
    "dragonflynew": _dragonfly,
    "fattree": _fattree,
    "qtree": _tree,
    "tree4": _tree,
    "anynet": _anynet,
}
