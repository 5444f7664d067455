"""The backlog that a phase of the load leaves for the next ones, from offered and accepted loads.

A phase is judged by its second half. So one that falls behind while links wake, and then carries its load, is not
saturated, but its latencies are those of a queue that built up, and the next phase begins with what is left.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from weft.results import quantities as q

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# What is left is no more than this share of what a phase is offered, and chance, or it is told.
SMALL = 0.03
# A phase that lasts so long that what is left is this share of it is safe from being told again.
_SAFE = 0.02
# Packets in source queues when a window or a phase begins.
_WAITING = "backlog_before_packets"
# A backlog in a network matters if it makes the mean latency longer by this share.
_SLOWER = 0.05
# Standard deviations that are taken for chance.
_CHANCE = 3


@dataclass(frozen=True)
class Backlog:
    """Flits that wait at the begin and at the end of a phase, beyond packets on their way.

    Attributes
    ----------
    before, own : float
        What earlier phases have left, and what this one adds [flits/terminal].
    offered : float
        What the phase is offered in all [flits/terminal].
    cycles : int
        How long it lasts [cycles].
    packets : int
        How many packets were created in it.
    at_begin : int or None
        Packets that waited in source queues when the window began, if that is what was left.
    """

    before: float
    own: float
    offered: float
    cycles: int
    packets: int
    at_begin: int | None = None

    @property
    def after(self) -> float:
        """Flits that wait as the phase ends [flits/terminal]."""
        return max(0.0, self.before + self.own)

    @property
    def falls_behind(self) -> bool:
        """Whether the phase accepts less than it is offered by more than 3 % and chance."""
        return self._matters(self.own)

    @property
    def began_behind(self) -> bool:
        """Whether earlier phases left more than 3 % of the load of this one, and chance."""
        return self._matters(self.before)

    @property
    def long_enough(self) -> int:
        """How long the phase would have to last so that neither matters [cycles]."""
        return math.ceil(max(self.own, self.before) / self.offered * self.cycles / _SAFE)

    @property
    def drained_in(self) -> int | None:
        """How long it takes from the begin of the phase until what was left is delivered [cycles].

        ``None`` if what was delivered of it in the phase may be chance.
        """
        delivered = -self.own
        return math.ceil(self.before / delivered * self.cycles) if delivered > self._chance * self.offered else None

    @property
    def is_delivered(self) -> bool:
        """Whether the phase accepts more than it is offered by more than 3 % and chance."""
        return self._matters(-self.own)

    @property
    def _chance(self) -> float:
        return _CHANCE / math.sqrt(self.packets) if self.packets else 0.0

    def _matters(self, flits: float) -> bool:
        return flits > (SMALL + self._chance) * self.offered > 0


def at_begin(span: Mapping[str, Any], cycles: int) -> Backlog | None:
    """Flits that wait when the window begins, of a point or of that phase; ``None`` if that is not known.

    It is a backlog only if the latencies show it: more is delivered than is offered, or the queues are so long that
    they remember how they began. Else it is what always waits at this load.
    """
    offered, accepted, waiting = (span.get(key) for key in (q.OFFERED.column, q.ACCEPTED.column, _WAITING))
    packets = span.get("packets") or 0
    if not (waiting and offered and packets) or accepted is None:
        return None
    found = Backlog(
        waiting / packets * offered * cycles, (offered - accepted) * cycles, offered * cycles, cycles, packets
    )
    is_shown = found.is_delivered or ("phase" in span and span.get("queues_settled") is False)
    return replace(found, at_begin=waiting) if is_shown else None


def drains(summary: Mapping[str, Any]) -> bool:
    """Whether the window of a point delivers what the warm-up has left in the network, and its latencies show it.

    More is accepted than is offered, beyond chance, and what is left makes the mean latency more than 5 % longer: the
    backlog shrinks from all of it to nothing, so that a packet waits for half of it on average.
    """
    offered, accepted = (summary.get(key) for key in (q.OFFERED.column, q.ACCEPTED.column))
    packets, cycles = summary.get("packets") or 0, summary.get("window_cycles") or 0
    latency = summary.get(q.LATENCY.column)
    if not (offered and accepted and packets and latency) or summary.get("phases"):
        return False
    excess = accepted / offered - 1
    return bool(excess > _CHANCE / math.sqrt(packets) and excess * cycles / 2 > _SLOWER * latency)


def of_phases(phases: Sequence[Mapping[str, Any]]) -> list[Backlog | None]:
    """The backlog of each phase, as a summary lists them; ``None`` where the loads of a phase are not known."""
    found: list[Backlog | None] = []
    # how long a packet travels where nothing waits: of the phase with the shortest queues
    medians = [phase.get("packet_latency_p50_cycles") for phase in phases]
    latency = min((float(each) for each in medians if each is not None), default=0.0)
    left, load = 0.0, None
    for phase in phases:
        offered, accepted = phase.get(q.OFFERED.column), phase.get(q.ACCEPTED.column)
        if offered is None or accepted is None or phase.get("from_cycle") is None:
            found.append(None)
            continue
        cycles = phase["to_cycle"] - phase["from_cycle"]
        # at a higher load more packets are on their way
        on_their_way = (offered - load) * latency if load is not None else 0.0
        own = (offered - accepted) * cycles - on_their_way
        first = at_begin(phase, cycles) if load is None else None
        if first is not None:
            left = first.before
        waiting = None if first is None else first.at_begin
        found.append(Backlog(left, own, offered * cycles, cycles, phase.get("packets") or 0, waiting))
        left, load = max(0.0, left + own), offered
    return found
