"""Maps BookSim2's models to their counterparts in Weft. ``weft import`` and ``weft validate`` share this mapping.

Meaning of BookSim2's numbers: Hops are the routers visited (links + 1). Load and accepted rate are in flits/node/cycle.
A channel of latency L delivers after L + 1 cycles. In Weft the extra cycle is part of the router delay and of the
ejection delay (1). The zero-load latency T0 = routers * delay + sum(L) + 1 + (flits - 1) is therefore the same. Credits
take one cycle more than the latency of the link. A packet gets a VC one allocation step before it crosses the switch,
even if the VC has no room for the whole packet (wormhole).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from weft_peers.booksim.grammar import call, leading_int, tokenize
from weft_peers.expressible import NotExpressible, amount

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Model = dict[str, Any]


@dataclass(frozen=True)
class Routing:
    """The counterpart of a routing function of BookSim2.

    Attributes
    ----------
    model : dict
        The routing in Weft.
    vcs : mapping of str to int
        Number of VCs of the link classes that have fewer VCs than BookSim2's key ``num_vcs``.
    router : mapping
        Settings of the router that the routing needs.
    classes : int
        Number of VC classes in Weft for each VC class in BookSim2. Links between routers get this number times
        ``num_vcs`` VCs, if Weft allows that many.
    least_vcs : int
        Number of VCs that BookSim2 needs.
    parts : int
        Number of kinds of packets among which BookSim2 divides the VCs of a link. All kinds share the remaining VCs.
    differs : str
        Text on a difference between Weft and BookSim2, and on its consequence; empty if there is none.
    """

    model: Model
    vcs: Mapping[str, int] = field(default_factory=dict)
    router: Mapping[str, Any] = field(default_factory=dict)
    classes: int = 1
    least_vcs: int = 1
    parts: int = 1
    differs: str = ""


# In BookSim2 a packet uses VC 0 before the global link, and VC 1 on the global link and after it. Other VCs are used
# only for injection, and the last VC only for ejection.
_DRAGONFLY_MIN = Routing({"dragonfly_minimal": {}}, {"local": 2, "global": 1}, {"ejection_vcs": 1}, least_vcs=2)
# BookSim2's UGAL chooses the minimal path if q_min <= 2 q_detour + 30, independent of the hops of the two paths. Our
# rule weighs the queues by the hops. The difference matters if q_min is large, at a global link of the source router.
# The minimal path from there usually has 2 hops, and a detour over a global link has 4, so our rule
# 2 q_min <= 4 q_detour + 60 is equivalent. BookSim2 also uses only one VC up to the intermediate router, which can
# cause a deadlock.
_DRAGONFLY_UGAL = Routing(
    {"dragonfly_ugal": {"intermediate": "router", "threshold": "60flits", "sensor": "used_credits"}},
    {"local": 4, "global": 2},
    least_vcs=3,
    differs="BookSim2 weights the queues of minimal paths and detours by 1 and 2, Weft by their hops; BookSim2 uses "
    "one VC up to the intermediate router, which can deadlock; in Weft the VC class rises with the hops",
)
_FLATFLY_UGAL = {"ugal": {"threshold": "2flits", "sensor": "used_credits", "intermediate": "differing_dimensions"}}
_ADAPTIVE = (
    "BookSim2 requests all VCs at once, and its islip allocator ignores their priorities, so heads move to the "
    "escape VC and never leave it; in Weft a head requests the best link in each step, and the escape VC last"
)

ROUTINGS = {
    ("fly", "dest_tag"): Routing({"dimension_order": {}}),
    ("torus", "dim_order"): Routing({"dimension_order": {"dateline": "entry"}}, least_vcs=2, parts=2),
    ("torus", "dim_order_bal"): Routing(
        {"dimension_order": {"dateline": "entry"}},
        least_vcs=2,
        parts=2,
        differs="in BookSim2 packets that cross neither dateline get a random VC class; in Weft their path decides",
    ),
    ("torus", "valiant"): Routing(
        {"valiant": {}},
        least_vcs=4,
        parts=4,
        differs="BookSim2 reads the VC class on a ring from an uninitialised variable, and may abort; in Weft the "
        "class changes at the wrap-around link",
    ),
    ("torus", "min_adapt"): Routing(
        {"minimal_adaptive": {"leave_escape": False}}, {"default": 3}, least_vcs=4, differs=_ADAPTIVE
    ),
    ("mesh", "dor"): Routing({"dimension_order": {}}),
    ("mesh", "dim_order"): Routing({"dimension_order": {}}),
    ("mesh", "valiant"): Routing({"valiant": {}}, least_vcs=2, parts=2),
    ("mesh", "min_adapt"): Routing({"minimal_adaptive": {"leave_escape": False}}, least_vcs=2, differs=_ADAPTIVE),
    ("flatfly", "ran_min"): Routing({"dimension_order": {}}),
    ("flatfly", "ugal"): Routing(_FLATFLY_UGAL, least_vcs=2, parts=2),
    ("dragonflynew", "min"): _DRAGONFLY_MIN,
    ("dragonflynew", "ugal"): _DRAGONFLY_UGAL,
    ("fattree", "nca"): Routing({"up_down": {}}),
    ("fattree", "anca"): Routing(
        {"up_down": {"ascent": "adaptive", "sensor": "output_queue"}},
        differs="upward, BookSim2 takes the better of two random links, by used credits; in Weft a head takes the "
        "best of all links, by waiting flits",
    ),
    ("tree4", "nca"): Routing(
        {"shortest_path": {}},
        classes=4,
        differs="BookSim2 allows all VCs in every hop; in Weft each of the 4 hops has its own VCs, at most 16 per link",
    ),
}

# Routing functions with a single next hop for each router and destination, which the import converts to a routing
# table.
TABLED = {
    ("flatfly", "ran_min"),
    ("cmesh", "dor"),
    ("cmesh", "dor_no_express"),
    ("qtree", "nca"),
    ("anynet", "min"),
}

# Routing functions of BookSim2 without a counterpart in Weft, which the import refuses.
FOREIGN = {
    "torus": ("dim_order_ni", "valiant_ni", "chaos"),
    "mesh": ("dim_order_ni", "dim_order_pni", "xy_yx", "adaptive_xy_yx", "romm", "romm_ni", "planar_adapt", "chaos"),
    "cmesh": ("xy_yx", "xy_yx_no_express"),
    "tree4": ("anca",),
    "flatfly": ("valiant", "xyyx", "adaptive_xyyx", "ugal_xyyx", "ugal_pni"),
}

ALLOCATORS = ("islip", "separable_input_first", "separable_output_first")
FOREIGN_ALLOCATORS = ("pim", "loa", "wavefront", "rr_wavefront", "select", "max_size")


def grid(kind: str, widths: Sequence[int], terminals: int) -> Model:
    """Return a mesh, torus or flattened butterfly. `widths` is the number of routers in each dimension."""
    return {kind: {"widths": list(widths), "terminals_per_router": terminals}}


def dragonfly(p: int, a: int, h: int, g: int) -> Model:
    """Return BookSim2's dragonfly. Link i of a group leads to the i-th other group and starts at router i div h."""
    return {
        "dragonfly": {
            "terminals_per_router": p,
            "routers_per_group": a,
            "global_links_per_router": h,
            "groups": g,
            "arrangement": "absolute",
        }
    }


def fattree(k: int, n: int) -> Model:
    """Return the fat tree of BookSim2. BookSim2 counts levels from the top; Weft counts levels from the leaves."""
    return {"k_ary_n_tree": {"k": k, "n": n}}


def router(delay: int, routing_delay: int, speedup: int, credit_delay: int, allocator: Model) -> Model:
    """Return the counterpart of BookSim2's input-queued router.

    BookSim2's router computes the route of a head when the previous packet has left its VC, and then requests an output
    VC. Weft's router requests the output VC earlier by the routing delay, and the flit leaves later by the same time.
    The credit round trip of a head is therefore the same in both.
    """
    return {
        "delay": amount(delay, "cycle"),
        "routing_delay": amount(routing_delay, "cycle"),
        "vc_realloc": 1,
        "speedup": speedup,
        "credit_delay": amount(1 + credit_delay, "cycle"),
        "ejection_delay": "1cycle",
        "flow_control": "wormhole",
        "allocator": allocator,
    }


def allocator(text: str) -> Model:
    """Return the counterpart of an allocator of BookSim2. ``islip`` has one iteration, ``islip(4)`` has four.

    Separable allocators have one iteration and round-robin arbiters.
    """
    name, arguments = call(text)
    if name not in ALLOCATORS:
        raise NotExpressible(f"Weft has no allocator for {text}")
    if name == "islip":
        return {name: {"iterations": leading_int(arguments[0]) if arguments else 1}}
    if arguments and arguments[0] != "round_robin":
        raise NotExpressible(f"Weft has no arbiters for {text}")
    return {name: {"iterations": 1}}


@dataclass(frozen=True)
class Pattern:
    """A traffic pattern of BookSim2 with its arguments.

    Attributes
    ----------
    name : str
        Name in BookSim2.
    radix, digits : int
        Base, and number of digits, of the terminal ids that `tornado` and `neighbor` shift. For other patterns, the
        base gives the sizes of groups and rows.
    targets : tuple of (int, int)
        Hot spots, each with its weight.
    excluded : tuple of int
        Terminals to which `background` sends nothing.
    seed : int
        Seed of `randperm`.
    """

    name: str
    radix: int = 0
    digits: int = 0
    targets: tuple[tuple[int, int], ...] = ()
    excluded: tuple[int, ...] = ()
    seed: int = 0


PLAIN: dict[str, Model] = {
    "uniform": {"uniform": {"include_self": True}},
    "bitcomp": {"bit_complement": {}},
    "bitrev": {"bit_reverse": {}},
    "shuffle": {"shuffle": {}},
    "transpose": {"transpose": {}},
    "asymmetric": {"asymmetric": {}},
}
# Patterns that the import converts to a matrix.
WRITTEN_OUT = ("background", "diagonal", "taper64", "badperm_yarc")
PATTERNS = (*PLAIN, *WRITTEN_OUT, "tornado", "neighbor", "bad_dragon", "hotspot", "randperm")


def read_pattern(text: str, setting: Callable[[str], int]) -> Pattern:
    """Read the name and the arguments of a pattern. Omitted arguments come from the keys k, n, xr and perm_seed.

    ``tornado({8,3,1})`` has three arguments. ``tornado(8,3,1)`` has one, which BookSim2 reads as 8.
    """
    name, arguments = call(text)

    def argument(place: int, key: str) -> int:
        return leading_int(arguments[place]) if place < len(arguments) else setting(key)

    if name in ("tornado", "neighbor", "badperm_yarc"):
        k, n, xr = argument(0, "k"), argument(1, "n"), argument(2, "xr")
        return Pattern(name, radix=k * xr, digits=n)
    if name == "bad_dragon":
        return Pattern(name, radix=argument(0, "k"))
    if name == "hotspot":
        targets = [leading_int(one) for one in tokenize(arguments[0])] if arguments else [-1]
        weights = [leading_int(one) for one in tokenize(arguments[1])] if len(arguments) > 1 else [1]
        spread = [weights[min(place, len(weights) - 1)] if weights else 0 for place in range(len(targets))]
        return Pattern(name, targets=tuple(zip(targets, spread, strict=True)))
    if name == "background":
        return Pattern(name, excluded=tuple(leading_int(one) for one in tokenize("".join(arguments[:1]))))
    if name == "randperm":
        return Pattern(name, seed=argument(0, "perm_seed"))
    return Pattern(name)


def pattern(found: Pattern, terminals: int | None = None) -> Model | None:
    """Return the counterpart of a pattern; ``None`` if Weft has none, so that the import must write a matrix.

    Parameters
    ----------
    found : Pattern
        The pattern.
    terminals : int, optional
        Number of terminals. If there are more than the digits of `tornado` or `neighbor` can express, all terminals
        send to those that the digits can express.
    """
    if found.name in ("tornado", "neighbor"):
        whole = terminals in (None, found.radix**found.digits)
        by = "digits" if whole else "booksim_digits"
        return {found.name: {"by": {by: {"radix": found.radix, "digits": found.digits}}}}
    if found.name == "hotspot":
        if len({weight for _, weight in found.targets}) == 1 and len(set(found.targets)) == len(found.targets):
            return {"hot_spot": {"targets": [target for target, _ in found.targets]}}
        return None
    if found.name == "bad_dragon":
        return {"group_shift": {"shift": 1, "local": "random"}}
    if found.name == "randperm":
        return {"random_permutation": {"fixed_points": True, "draw": found.seed}}
    return PLAIN.get(found.name)
