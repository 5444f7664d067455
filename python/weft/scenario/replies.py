"""Reads requests and replies from a resolved scenario: the parameters of replies, and their size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.text.si import number

if TYPE_CHECKING:
    from collections.abc import Mapping

_FLITS = {"flit": 1.0, "flits": 1.0}


def of(part: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The parameters of requests and replies in `traffic` or in a job; ``None`` if its packets have no replies."""
    workload = part.get("workload")
    reply = part.get("reply") or (workload.get("request_reply") if isinstance(workload, dict) else None)
    return reply if isinstance(reply, dict) else None


def flits_per_flit(reply: Mapping[str, Any], packet: str | Mapping[str, Any]) -> float:
    """Flits of replies per flit of requests.

    Parameters
    ----------
    reply : mapping
        The parameters of replies, from `of`.
    packet : str or mapping
        The length of requests, or a mix of lengths.
    """
    return number(reply.get("packet", "1flit"), _FLITS) / _mean(packet)


def _mean(packet: str | Mapping[str, Any]) -> float:
    """The mean length of packets [flits]."""
    if isinstance(packet, str):
        return number(packet, _FLITS)
    mix = [(number(each["size"], _FLITS), float(each["weight"])) for each in packet["mix"]]
    return sum(length * weight for length, weight in mix) / sum(weight for _, weight in mix)
