"""Whether the numbers of a point's flows are sound. The network may carry one flow of a point and not another.

Packets get a destination when they leave their source. So at a saturated point, Weft does not know which flow the
packets in source queues belong to, and it does not judge each flow separately.
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
    """The flows of a point; empty if its scenario defines no flows."""
    return summary.get("flows") or []


def sign(summary: Mapping[str, Any]) -> str:
    """Mark after the numbers of a point's flows; empty for a sound point."""
    whole = soundness.sign(summary)
    return DELIVERED_MARK if whole in soundness.ENDED else whole


def marks_of(column: str) -> list[str]:
    """Marks that may follow a number in a column of the table of flows."""
    return [*soundness.marks_of(column), *([DELIVERED_MARK] if column.startswith(_LATENCIES) else [])]
