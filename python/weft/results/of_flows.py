"""Marks the numbers of the flows of a point that are not reliable. A flow is the traffic between named terminals.

It is possible that a network carries one flow of a point and does not carry another.

A packet is assigned to a flow when it leaves its source, because it gets its destination then. Therefore Weft does not
know to which flows the packets in source queues of a saturated point belong, and does not judge each flow separately.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.results import soundness

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Mark after latencies of flows if their point is saturated or cut off.
DELIVERED_MARK = "@"
DELIVERED = "only of delivered packets: the point is saturated, at least for some time, or cut off"
MEANINGS = soundness.ENDED | soundness.MARKS | {DELIVERED_MARK: DELIVERED}
_LATENCIES = ("packet_latency_", "network_latency_")


def of(summary: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The classes of flows of a point; empty if its scenario defines no flows."""
    return summary.get("flows") or []


def sign(summary: Mapping[str, Any]) -> str:
    """Mark after the numbers of the flows of a point; empty for a point without flaws."""
    whole = soundness.sign(summary)
    return DELIVERED_MARK if whole in soundness.ENDED else whole


def marks_of(column: str) -> list[str]:
    """Marks that can follow a number in a column of the table of flows."""
    return [*soundness.marks_of(column), *([DELIVERED_MARK] if column.startswith(_LATENCIES) else [])]
