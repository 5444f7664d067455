"""Whether the numbers of the flows of a point are sound: one flow may be carried while another is not.

Packets get a destination when they leave their source. So the packets of a flow that still wait in source queues of a
saturated point are not known, and Weft does not judge each flow by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.results import soundness

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Behind latencies of flows of a point that is saturated or cut off.
DELIVERED_MARK = "@"
DELIVERED = "of the packets that were delivered: the point is saturated, at least for a while, or cut off"
MEANINGS = soundness.ENDED | soundness.MARKS | {DELIVERED_MARK: DELIVERED}
_LATENCIES = ("packet_latency_", "network_latency_")


def of(summary: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The flows of a point; none if its scenario defines no flows."""
    return summary.get("flows") or []


def sign(summary: Mapping[str, Any]) -> str:
    """Mark behind the numbers of the flows of a point; empty for a sound one."""
    whole = soundness.sign(summary)
    return DELIVERED_MARK if whole in soundness.ENDED else whole


def marks_of(column: str) -> list[str]:
    """Possible marks behind the numbers of a column of flows."""
    return [*soundness.marks_of(column), *([DELIVERED_MARK] if column.startswith(_LATENCIES) else [])]
