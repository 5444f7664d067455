"""Converts BookSim2's input-queued router: pipeline, buffers and allocators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft_peers.booksim import models
from weft_peers.booksim.grammar import call
from weft_peers.booksim.pipeline import aborts, head_delays
from weft_peers.expressible import NotExpressible, amount

if TYPE_CHECKING:
    from weft_peers.booksim.config import Config
    from weft_peers.booksim.draft import Draft

_PRIORITIES = {"none": "round_robin", "age": "age", "network_age": "network_age", "class": "round_robin"}
# Allocators of BookSim2 that ignore the priorities of packets.
_WITHOUT_PRIORITY = ("islip", "pim", "loa")
_FOREIGN_PRIORITIES = ("local_age", "queue_length", "hop_count", "sequence")
_POLICIES = ("private", "shared", "limited", "dynamic", "shifting", "feedback", "simplefeedback")
# At this internal speedup and above, packets of several flits take as long in Weft as in our measurements of BookSim2.
_SAME = 3
# Maximum number of allocation steps per cycle.
_MOST_STEPS = 16

_STAGES = ("routing_delay", "vc_alloc_delay", "sw_alloc_delay", "st_prepare_delay", "st_final_delay")

# Keys of which Weft's router has only the value 0. For each key, the text of the warning about any other value.
_OFF = {
    "vc_busy_when_full": "a head may take a VC before it has a credit: saturation may differ",
    "vc_prioritize_empty": "Weft does not prefer empty VCs: saturation may differ",
    "vc_shuffle_requests": "requests for VCs have another order: saturation may differ",
}


def router(draft: Draft, packet: int) -> dict[str, Any]:
    """Return the router of the scenario, for packets of up to `packet` flits."""
    config = draft.config
    if config.choose("router", ("iq", "event", "chaos")) != "iq":
        draft.refuse("router", "Weft has only the input-queued router", "write router = iq;")
    delay, turn, speedup = _pipeline(draft)
    steps = min(speedup * _ports(draft), _MOST_STEPS)
    found = models.router(delay, turn, steps, _credits(draft, packet, turn), _allocator(draft))
    for key, consequence in _OFF.items():
        if config.whole(key) > 0:
            draft.approximate(key, consequence, key)
    if config.whole("noq") > 0:
        draft.refuse("noq", "Weft does not divide VCs by the next output", "write noq = 0;")
    if config.real("internal_speedup") > 1 and config.whole("output_buffer_size") != -1:
        draft.approximate(
            "output_buffer_size",
            "in Weft the queue after the switch is unlimited: saturation comes later",
            "output_buffer_size",
        )
    _hold(draft, packet)
    if packet > 1 and 1 < config.real("internal_speedup") < _SAME:
        text = (
            "packets of several flits take some percent longer under load; a packet alone in the network is not "
            "affected"
        )
        draft.approximate("internal_speedup", text, "internal_speedup of packets")
    if config.whole("speculative") > 0:
        found["vc_realloc"] = 0
    return found | _priority(draft)


def buffers(draft: Draft, packets: set[int]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the buffer of a VC, as an entry of `links`, and the flow control for these packet lengths, for `router`.

    With `wait_for_tail_credit` a VC holds only one packet at a time. In Weft the buffer then has room for one packet,
    and a packet enters the buffer only if it is empty.
    """
    config = draft.config
    if config.choose("buffer_policy", _POLICIES) != "private":
        draft.refuse("buffer_policy", "in Weft every VC has its own buffer", "write buffer_policy = private;")
    size = config.at_least("vc_buf_size", 1) if config.whole("buf_size") <= 0 else _share(draft)
    if "buf_size" in config.given and config.whole("buf_size") <= 0:
        draft.idle("buf_size", "below 1, vc_buf_size sets the size")
    if not config.whole("wait_for_tail_credit"):
        return {"buffer": amount(size, "flit")}, {}
    packet = max(packets)
    if packet <= size and len(packets) == 1:
        return {"buffer": amount(packet, "flit")}, {"flow_control": "virtual_cut_through"}
    why = f"{packet} flits do not fit into {size}" if packet > size else "packets have several lengths"
    text = (
        f"a VC is free for the next packet as soon as a tail has left, because {why}; with few VCs, saturation "
        "comes later"
    )
    draft.approximate("wait_for_tail_credit", text, "wait_for_tail_credit")
    return {"buffer": amount(size, "flit")}, {}


def _share(draft: Draft) -> int:
    size = draft.config.whole("buf_size") // draft.config.at_least("num_vcs", 1)
    if size < 1:
        draft.config.fail("buf_size", "a VC gets less than a flit", "write vc_buf_size, or a larger buf_size")
    return size


def _ports(draft: Draft) -> int:
    """Return the number of allocation steps per cycle that replaces BookSim2's input and output speedups.

    In an allocation step, each input sends at most one flit, and each output receives at most one.
    """
    speedups = {key: draft.config.at_least(key, 1) for key in ("input_speedup", "output_speedup")}
    for key, speedup in speedups.items():
        if speedup > 1:
            text = f"inputs and outputs of the switch make {speedup} steps per cycle: saturation comes later"
            draft.approximate(key, text, key)
    return max(speedups.values())


def _pipeline(draft: Draft) -> tuple[int, int, int]:
    """Return three numbers of the router's pipeline.

    The numbers are: cycles that an uncontended head spends in the router, additional cycles of a head behind another
    packet in its VC (see `_turn`), and allocation steps per cycle.
    """
    config = draft.config
    routing, prepare = config.at_least("routing_delay", 0), config.at_least("st_prepare_delay", 0)
    vcs, switch = config.at_least("vc_alloc_delay", 1), config.at_least("sw_alloc_delay", 1)
    crossing = prepare + config.at_least("st_final_delay", 0)
    speedup = config.real("internal_speedup")
    for key in _STAGES:
        if config.whole(key) > 1000:
            config.fail(key, "this is too long for a pipeline", f"write {key} = 1000; or less")
    if not 1 <= speedup <= _MOST_STEPS:
        what = f"a router of Weft makes 1 to {_MOST_STEPS} steps per cycle"
        config.fail("internal_speedup", what, f"write 1.0 to {_MOST_STEPS}.0")
    if crossing < 1:
        config.fail("st_final_delay", "a flit can't cross the switch in 0 cycles", "write st_final_delay = 1;")
    if aborts(routing, vcs, switch, speedup):
        slow = "vc_alloc_delay" if vcs > 1 else "sw_alloc_delay"
        remedy = (
            "write 1 for both allocators, and add the difference to st_prepare_delay: the zero-load latency is the same"
        )
        config.fail(slow, "BookSim2 stops at it with a failed assertion", remedy)
    stages = [routing, vcs, switch, crossing]
    if config.whole("speculative") > 0:
        stages = [routing, max(vcs, switch), crossing]
        text = "a head takes a VC and crosses the switch in one step; failed requests do not delay others"
        draft.approximate("speculative", text, "speculative")
    delays = head_delays(stages, speedup)
    if len(delays) > 1:
        draft.refuse(
            "internal_speedup",
            (
                f"a flit without contention takes {' or '.join(map(str, sorted(delays)))} cycles, depending on "
                "its arrival"
            ),
            f"write internal_speedup = {float(round(speedup))};",
        )
    if speedup != int(speedup):
        draft.approximate(
            "internal_speedup",
            f"{round(speedup)} steps in every cycle; a packet alone in the network is not affected",
            "internal_speedup",
        )
    return max(delays), _turn(draft, routing, speedup), round(speedup)


def _turn(draft: Draft, routing: int, speedup: float) -> int:
    """Return the number of whole cycles that a head waits for its route after the previous packet has left its VC.

    At speedup 1 the head waits for the delay of the routing stage. At higher speedups, the stage ends in the first
    internal step of a later cycle.
    """
    if routing == 0:
        return 0
    turn = routing if speedup < 2 else routing - 1
    if routing > 1:
        text = "BookSim2's routers route heads in batches, and later heads wait for them: its latencies are higher"
        draft.approximate("routing_delay", f"{text} under load", "routing_delay of 2")
    elif speedup > 1:
        text = (
            f"behind another packet in its VC a head waits {turn} cycles for its route; in BookSim2 it waits an "
            "internal step"
        )
        draft.approximate("routing_delay", f"{text}: latencies differ if there are few VCs", "routing_delay at speedup")
    return turn


def _credits(draft: Draft, packet: int, turn: int) -> int:
    """Return the cycles that a credit takes beyond the link's latency and the one cycle that is always added.

    A router sends a credit when a flit leaves its buffer slot. In Weft each flit leaves a router `turn` cycles later
    because of the routing delay; in BookSim2 only heads do. To compensate, credits in Weft return earlier by this time
    if packets have several flits.
    """
    delay = draft.config.at_least("credit_delay", 0)
    if packet == 1 or turn == 0:
        return delay
    sooner = min(turn, 1 + delay)
    text = (
        "flits behind a head are delayed as much as the head; to compensate, credits return "
        f"{amount(sooner, 'cycle')} earlier"
    )
    draft.approximate("routing_delay", f"{text}: latencies differ if buffers are much shorter than packets", "credits")
    return delay - sooner


def _allocator(draft: Draft) -> dict[str, Any]:
    """Return the allocator of the scenario. In Weft, VCs and the switch have the same allocator."""
    config = draft.config
    known = (*models.ALLOCATORS, *models.FOREIGN_ALLOCATORS)
    names = {}
    for key in ("vc_allocator", "sw_allocator"):
        names[key], _ = call(config.text(key))
        if key == "vc_allocator" and names[key] == "piggyback":
            draft.refuse(key, "Weft allocates VCs before the switch", "write vc_allocator = islip;")
        elif names[key] not in known:
            config.fail(key, "BookSim2 does not know it", f"BookSim2 knows {', '.join(known)}")
    same = "the zero-load latency is the same, the load of saturation may differ"
    try:
        found = models.allocator(config.text("sw_allocator"))
    except NotExpressible:
        found = models.allocator(names["sw_allocator"] if names["sw_allocator"] in models.ALLOCATORS else "islip")
        draft.approximate("sw_allocator", f"{next(iter(found))} with round-robin arbiters: {same}", "sw_allocator")
    if config.text("vc_allocator") != "islip":
        draft.approximate("vc_allocator", f"VCs are allocated by one iteration of islip: {same}", "vc_allocator")
    return found


def _priority(draft: Draft) -> dict[str, Any]:
    config = draft.config
    name = config.choose("priority", (*_PRIORITIES, *_FOREIGN_PRIORITIES))
    if name in _FOREIGN_PRIORITIES:
        draft.refuse("priority", "packets of Weft have no such priority", "write priority = age; or none")
        return {}
    if name == "class" and not has_priorities(config):
        draft.idle("priority", "all packets have the same priority, because their classes have the same")
        name = "none"
    if name == "none" or (name == "class" and call(config.text("sw_allocator"))[0] in _WITHOUT_PRIORITY):
        # with these allocators, priorities of classes have an effect only at terminals, in BookSim2 and in Weft
        return {"priority": "round_robin"}
    if config.whole("vc_priority_donation"):
        draft.approximate("vc_priority_donation", "only the priority of the packet at the front of a VC counts")
    draft.approximate(
        "priority", "heads take a VC together with the switch, not a step earlier: short packets saturate later", name
    )
    return {"priority": _PRIORITIES[name], "vc_realloc": 0}


def has_priorities(config: Config) -> bool:
    """Return whether traffic classes have different priorities, and BookSim2 uses the priorities of classes."""
    classes = config.at_least("classes", 1)
    return config.text("priority") == "class" and len(set(config.wholes("class_priority", classes))) > 1


def _hold(draft: Draft, packet: int) -> None:
    if draft.config.whole("hold_switch_for_packet") > 0:
        if packet == 1:
            draft.idle("hold_switch_for_packet", "packets have one flit, so the switch is free after each")
        else:
            text = "flits of several packets may alternate on a link; a packet alone in the network is not affected"
            draft.approximate("hold_switch_for_packet", text, "hold_switch_for_packet")
