"""The lives of watched packets in words, a line per step."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from weft.text import columns

if TYPE_CHECKING:
    from collections.abc import Iterable

# Candidates of one choice, and choices of one head, that are printed; the data have all.
_CANDIDATES, _CHOICES = 16, 8

_REASONS = {
    "link_asleep": "the link is asleep",
    "vc_held": "its VCs are held",
    "output_held": "the output sends another packet",
    "no_credit": "no credit",
    "lost_vc": "another head got the VC",
    "lost_switch": "another flit got the switch",
}


def lines(journey: dict[str, Any]) -> list[str]:
    """What became of a packet that was made."""
    life = journey["life"]
    terminal, flits = journey["terminal"], life["flits"]
    counted = "measured" if life["measured"] else "not measured: created outside the window"
    steps = [
        f"packet {terminal}:{journey['seq']} from terminal {terminal} to terminal {life['to_terminal']}, "
        f"{_plural(flits, 'flit')} ({counted})",
        _step(life["created_cycle"], f"created: enters the source queue of terminal {terminal}"),
    ]
    if (behind := life["first_cycle"] - life["created_cycle"]) > 0:
        steps.append(_step(life["first_cycle"], f"first in the source queue, {_cycles(behind)} behind earlier packets"))
    steps += _injection(life)
    for visit in life["routers"]:
        steps += _visit(visit, flits)
    return [*steps, *_end(life)]


def _injection(life: dict[str, Any]) -> list[str]:
    at = life["injected_cycle"]
    if at is None:
        return [_step(None, "still in the source queue when the run ended")]
    waited = at - life["first_cycle"]
    words = f"head injected on VC {life['injection_vc']}{f', after {_cycles(waited)} without room' if waited else ''}"
    if life["flits"] > 1:
        words += _tail(life["tail_injected_cycle"])
    return [_step(at, words)]


def _visit(visit: dict[str, Any], flits: int) -> list[str]:
    """The steps in a router."""
    arrived, front = visit["arrived_cycle"], visit["front_cycle"]
    steps = [_step(arrived, f"router {visit['router']}: head arrives at port {visit['port']}, VC {visit['vc']}")]
    if front is None:
        return [*steps, _step(None, "still behind other packets in its queue when the run ended")]
    if front > arrived:
        steps.append(_step(front, f"first in its queue, {_cycles(front - arrived)} behind other packets"))
    for place, choice in enumerate(visit["choices"]):
        if place == _CHOICES - 1 and len(visit["choices"]) > _CHOICES:
            steps.append(_step(None, f"{len(visit['choices']) - _CHOICES + visit['choices_left_out']} changes more"))
        if place < _CHOICES - 1 or place == len(visit["choices"]) - 1:
            steps += _choice(choice)
    steps += _waits(visit["waits"])
    leaving = visit["exit"]
    if leaving is None:
        return [*steps, _step(None, "still in this router when the run ended")]
    crossed, vc_cycle = leaving["head_crossed_cycle"], leaving["vc_cycle"]
    got = f"VC {leaving['vc']} of port {leaving['port']}"
    if vc_cycle < crossed:
        steps.append(_step(vc_cycle, f"gets {got}"))
        steps.append(
            _step(crossed, f"head crosses the switch{_tail(leaving['tail_crossed_cycle']) if flits > 1 else ''}")
        )
    else:
        tail = _tail(leaving["tail_crossed_cycle"]) if flits > 1 else ""
        steps.append(_step(crossed, f"head gets {got} and crosses the switch{tail}"))
    to = "its terminal" if leaving["next_router"] is None else f"router {leaving['next_router']}"
    tail = _tail(leaving["tail_left_cycle"]) if flits > 1 else ""
    return [*steps, _step(leaving["head_left_cycle"], f"head on the {leaving['link']} link to {to}{tail}")]


def _choice(choice: dict[str, Any]) -> list[str]:
    """A decision, with the numbers that were compared."""
    via = "" if choice["via_router"] is None else f", over router {choice['via_router']}"
    known = "" if len(choice["candidates"]) != 1 else f": {choice['rule']}"
    words = f"chooses port {choice['port']}, VC class {choice['vc_class']}{via}{known}"
    if len(choice["candidates"]) <= 1:
        return [_step(choice["cycle"], words)]
    rows = []
    for place, each in enumerate(choice["candidates"]):
        mark = "->" if place == choice["chosen"] else "=" if each["tied"] else ""
        to = "its terminal" if each["next_router"] is None else str(each["next_router"])
        rows.append([mark, str(each["port"]), to, str(each["vc_class"]), _worth(each)])
    hidden = [f"and {len(rows) - _CANDIDATES} more"] if len(rows) > _CANDIDATES else []
    head = ["", "port", "to router", "VC class", "credits" if _has_credits(choice) else "cost [flits]"]
    table = columns(head, rows[:_CANDIDATES], left=0)
    equal = ["= as good as the chosen one"] if any(row[0] == "=" for row in rows) else []
    inset = " " * 11
    return [_step(choice["cycle"], f"{words}: {choice['rule']}"), *(inset + line for line in [*table, *hidden, *equal])]


def _has_credits(choice: dict[str, Any]) -> bool:
    return any(each["credits"] is not None for each in choice["candidates"])


def _worth(candidate: dict[str, Any]) -> str:
    """The number that decided about a candidate, and how it came about."""
    if candidate["credits"] is not None:
        return str(candidate["credits"])
    if candidate["cost_flits"] is None:
        return "-"
    bias = f" + {candidate['bias_flits']}" if candidate["bias_flits"] else ""
    place = f"port {candidate['queue_port']} of router {candidate['queue_router']}"
    return f"{candidate['queue_flits']} at {place} * {candidate['hops']}{bias} = {candidate['cost_flits']}"


def _waits(waits: Iterable[dict[str, Any]]) -> list[str]:
    return [
        _step(
            wait["from_cycle"],
            f"waits {_cycles(wait['to_cycle'] - wait['from_cycle'])} at port {wait['port']}: {_REASONS[wait['reason']]}",
        )
        for wait in waits
    ]


def _end(life: dict[str, Any]) -> list[str]:
    latency = life["latency"]
    if latency is None:
        return [_step(None, "not delivered when the run ended")]
    waited = _reasons(life)
    return [
        _step(life["delivered_cycle"], "delivered"),
        f"  latency {_cycles(latency['total_cycles'])} = {latency['source_cycles']} until injected"
        f" + {latency['routers_cycles']} in {_plural(len(life['routers']), 'router')}"
        f" ({latency['waiting_cycles']} of them waiting{waited})"
        f" + {latency['wires_cycles']} on links + {latency['tail_cycles']} until the tail"
        f" + {latency['ejection_cycles']} at the terminal",
    ]


def _reasons(life: dict[str, Any]) -> str:
    """For what the head waited, as far as it is known, the longest first."""
    spent: Counter[str] = Counter()
    for visit in life["routers"]:
        spent["behind other packets"] += visit["front_cycle"] - visit["arrived_cycle"]
        for wait in visit["waits"]:
            spent[_REASONS[wait["reason"]]] += wait["to_cycle"] - wait["from_cycle"]
    known = [f"{cycles} {reason}" for reason, cycles in spent.most_common() if cycles]
    return f": {', '.join(known)}" if known else ""


def _tail(cycle: int | None) -> str:
    return ", its tail not before the run ended" if cycle is None else f", its tail in {cycle}"


def _step(cycle: int | None, words: str) -> str:
    return f"{'' if cycle is None else cycle:>9}  {words}"


def _cycles(count: int) -> str:
    return _plural(count, "cycle")


def _plural(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
