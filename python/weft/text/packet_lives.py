"""Writes the histories of watched packets as text, a line per step."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from weft.text.columns import columns
from weft.text.engine_words import WAITING_MEANINGS

if TYPE_CHECKING:
    from collections.abc import Iterable

# Maximum number of printed candidates per choice of an output port, and of printed choices per head at a router. The
# JSON data have all candidates and choices.
_CANDIDATES, _CHOICES = 16, 8

_ENDED = "when the run ended"


def until(life: dict[str, Any], summary: dict[str, Any]) -> str:
    """Text on when a packet that was not delivered was last seen: at the end of the run, or when it was dropped.

    The record of a packet does not distinguish these cases. If the run dropped packets of the window, and delivered all
    others, an undelivered packet of the window was dropped.
    """
    if not summary.get("dropped_packets"):
        return _ENDED
    known = life["measured"] and not summary["missing_packets"]
    return (
        "when it was discarded: a link or router had failed"
        if known
        else f"{_ENDED}, or the packet was lost because a link or router had failed"
    )


def lines(journey: dict[str, Any], summary: dict[str, Any]) -> list[str]:
    """The history of a packet as text, a line per step.

    `summary` is the summary of the run in which the packet was watched.
    """
    life = journey["life"]
    terminal, flits = journey["terminal"], life["flits"]
    counted = "measured" if life["measured"] else "not measured: created outside the window"
    name = f"packet {terminal}:{journey['seq']} from terminal {terminal} to terminal {life['to_terminal']}"
    steps = [
        f"{name}, {_plural(flits, 'flit')} ({counted})",
        _step(life["created_cycle"], f"created: enters the source queue of terminal {terminal}"),
    ]
    if (behind := life["first_cycle"] - life["created_cycle"]) > 0:
        steps.append(_step(life["first_cycle"], f"first in the source queue, {_cycles(behind)} behind earlier packets"))
    end = until(life, summary)
    steps += _injection(life, end)
    for visit in life["routers"]:
        steps += _visit(visit, flits, end)
    return [*steps, *_end(life, end)]


def _injection(life: dict[str, Any], end: str) -> list[str]:
    at = life["injected_cycle"]
    if at is None:
        return [_step(None, f"still in the source queue {end}")]
    waited = at - life["first_cycle"]
    words = f"head injected on VC {life['injection_vc']}{f', after {_cycles(waited)} without room' if waited else ''}"
    if life["flits"] > 1:
        words += _tail(life["tail_injected_cycle"])
    return [_step(at, words)]


def _visit(visit: dict[str, Any], flits: int, end: str) -> list[str]:
    """Lines with the steps of a packet in one router, until it leaves the router or the run ends."""
    arrived, front = visit["arrived_cycle"], visit["front_cycle"]
    steps = [_step(arrived, f"router {visit['router']}: head arrives at port {visit['port']}, VC {visit['vc']}")]
    if front is None:
        return [*steps, _step(None, f"still behind other packets in its queue {end}")]
    if front > arrived:
        steps.append(_step(front, f"first in its queue, {_cycles(front - arrived)} behind other packets"))
    for place, choice in enumerate(visit["choices"]):
        if place == _CHOICES - 1 and len(visit["choices"]) > _CHOICES:
            steps.append(_step(None, f"{len(visit['choices']) - _CHOICES + visit['choices_left_out']} more changes"))
        if place < _CHOICES - 1 or place == len(visit["choices"]) - 1:
            steps += _choice(choice, arrived)
    steps += _waits(visit["waits"])
    leaving = visit["exit"]
    if leaving is None:
        return [*steps, _step(None, f"still in this router {end}")]
    crossed, vc_cycle = leaving["head_crossed_cycle"], leaving["vc_cycle"]
    got = f"VC {leaving['vc']} of port {leaving['port']}"
    tail = _tail(leaving["tail_crossed_cycle"]) if flits > 1 else ""
    if vc_cycle < crossed:
        steps.append(_step(vc_cycle, f"gets {got}"))
        steps.append(_step(crossed, f"head crosses the switch{tail}"))
    else:
        steps.append(_step(crossed, f"head gets {got} and crosses the switch{tail}"))
    to = "its terminal" if leaving["next_router"] is None else f"router {leaving['next_router']}"
    tail = _tail(leaving["tail_left_cycle"]) if flits > 1 else ""
    return [*steps, _step(leaving["head_left_cycle"], f"head on the {leaving['link']} link to {to}{tail}")]


def _choice(choice: dict[str, Any], arrived: int) -> list[str]:
    """Lines on a choice of an output port, with the numbers that the routing compared."""
    ahead = f" in cycle {choice['cycle']}, one hop ahead" if choice["cycle"] < arrived else ""
    via = "" if choice["via_router"] is None else f", via router {choice['via_router']}"
    words = f"port {choice['port']}, VC class {choice['vc_class']}{via}, is chosen{ahead}"
    first = _step(None if ahead else choice["cycle"], f"{words}: {choice['rule']}")
    if len(choice["candidates"]) <= 1:
        return [first]
    rows = []
    for place, each in enumerate(choice["candidates"]):
        mark = "->" if place == choice["chosen"] else "=" if each["tied"] else ""
        to = "its terminal" if each["next_router"] is None else str(each["next_router"])
        rows.append([mark, str(each["port"]), to, str(each["vc_class"]), *_worth(each)])
    hidden = [f"and {len(rows) - _CANDIDATES} more"] if len(rows) > _CANDIDATES else []
    head = ["", "port", "to router", "VC class", *_head(choice)]
    table = columns(head, rows[:_CANDIDATES], left=0)
    equal = ["= as good as the chosen one"] if any(row[0] == "=" for row in rows) else []
    return [first, *(" " * 11 + line for line in [*table, *hidden, *equal])]


def _head(choice: dict[str, Any]) -> list[str]:
    """Headings of the columns for the numbers that the routing compared."""
    first = choice["candidates"][0]
    if first["credits"] is not None:
        return ["credits"]
    return [] if first["cost_flits"] is None else ["queue at", "flits", "hops", "bias", "cost [flits]"]


def _worth(candidate: dict[str, Any]) -> list[str]:
    """Cells with the numbers that the routing compared, for one candidate (possible output port).

    The cost of a candidate is flits * hops + bias.
    """
    if candidate["credits"] is not None:
        return [str(candidate["credits"])]
    if candidate["cost_flits"] is None:
        return []
    place = f"port {candidate['queue_port']} of router {candidate['queue_router']}"
    return [place, *(str(candidate[key]) for key in ("queue_flits", "hops", "bias_flits", "cost_flits"))]


def _waits(waits: Iterable[dict[str, Any]]) -> list[str]:
    def line(wait: dict[str, Any]) -> str:
        cycles = wait["to_cycle"] - wait["from_cycle"]
        return _step(
            wait["from_cycle"], f"waits {_cycles(cycles)} at port {wait['port']}: {WAITING_MEANINGS[wait['reason']]}"
        )

    return list(map(line, waits))


def _end(life: dict[str, Any], end: str) -> list[str]:
    latency = life["latency"]
    if latency is None:
        return [_step(None, f"not delivered {end}")]
    where = _plural(len(life["routers"]), "router")
    parts = [
        f"{latency['source_cycles']} until injected",
        f"{latency['routers_cycles']} in {where} ({latency['waiting_cycles']} of them waiting{_reasons(life)})",
        f"{latency['wires_cycles']} on links",
        f"{latency['tail_cycles']} until the tail",
        f"{latency['ejection_cycles']} at the terminal",
    ]
    total = _cycles(latency["total_cycles"])
    return [_step(life["delivered_cycle"], "delivered"), f"  latency {total} = {' + '.join(parts)}"]


def _reasons(life: dict[str, Any]) -> str:
    """Text with the reasons why the head waited, and the cycles of each reason, the longest wait first."""
    spent: Counter[str] = Counter()
    for visit in life["routers"]:
        spent["behind other packets"] += visit["front_cycle"] - visit["arrived_cycle"]
        for wait in visit["waits"]:
            spent[WAITING_MEANINGS[wait["reason"]]] += wait["to_cycle"] - wait["from_cycle"]
        spent["behind other flits for the link"] += visit["exit"]["link_wait_cycles"]
    known = [f"{reason} {cycles}" for reason, cycles in spent.most_common() if cycles]
    return f": {', '.join(known)}" if known else ""


def _tail(cycle: int | None) -> str:
    return ", its tail not before the end of the run" if cycle is None else f", its tail in {cycle}"


def _step(cycle: int | None, words: str) -> str:
    return f"{'' if cycle is None else cycle:>9}  {words}"


def _cycles(count: int) -> str:
    return _plural(count, "cycle")


def _plural(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
