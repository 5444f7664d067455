"""Converts BookSim2's packet lengths [flits], also those of requests and replies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft_peers.booksim.grammar import leading_int, tokenize
from weft_peers.expressible import amount

if TYPE_CHECKING:
    from weft_peers.booksim.draft import Draft

# Packet lengths [flits], each with its weight in the random choice of a length.
Lengths = dict[int, float]

_KINDS = ("read_request", "write_request", "read_reply", "write_reply")
SIZES = tuple(f"{kind}_size" for kind in _KINDS)


def packet_flits(draft: Draft, classes: int, place: int = 0) -> Lengths:
    """Return the packet lengths of traffic class `place` [flits], with their weights.

    If packets are requests and replies, the result has only the requests.
    """
    if answered(draft, classes):
        return _requests(draft, classes)
    config = draft.config
    listed = [tokenize(one) for one in tokenize(config.text("packet_size"))]
    if not listed:
        return {_length(draft, "packet_size", config.whole("packet_size")): 1}
    if not all(listed):
        config.fail("packet_size", "the list is empty", "write packet_size = 1;")
    own = listed[min(place, len(listed) - 1)]
    sizes = [_length(draft, "packet_size", leading_int(one)) for one in own]
    weights = _weights(draft, len(sizes), place)
    found: Lengths = {}
    for size, weight in zip(sizes, weights, strict=True):
        if weight:
            found[size] = found.get(size, 0) + weight
    return found


def _weights(draft: Draft, sizes: int, place: int) -> list[int]:
    """Return the weight of each packet length. If the list of weights is too short, its last number is repeated."""
    config = draft.config
    if sizes == 1:
        return [1]
    texts = tokenize(config.text("packet_size_rate"))
    own = texts[min(place, len(texts) - 1)] if texts else ""
    listed = [leading_int(one) for one in tokenize(own)] if texts else [config.whole("packet_size_rate")]
    weights = [listed[min(place, len(listed) - 1)] for place in range(sizes)] if listed else []
    if not weights or min(weights) < 0 or sum(weights) < 1:
        config.fail(
            "packet_size_rate",
            "weights must be 0 or more, and at least one above 0",
            "write one weight for each size: {{1,1}}",
        )
    return weights


def _requests(draft: Draft, classes: int) -> Lengths:
    config, found = draft.config, Lengths()
    writes = min(max(config.reals("write_fraction", classes)[0], 0.0), 1.0)
    for key, share in (("read_request_size", 1 - writes), ("write_request_size", writes)):
        size = _length(draft, key, config.wholes(key, classes)[0])
        if share > 0:
            found[size] = found.get(size, 0) + share
    return found


def reply_flits(draft: Draft, classes: int) -> int:
    """Return the length of a reply [flits]; 0 without replies."""
    config = draft.config
    if not answered(draft, classes):
        return 0
    reads, writes = (config.wholes(f"{kind}_reply_size", classes)[0] for kind in ("read", "write"))
    if reads != writes and 0 < config.reals("write_fraction", classes)[0] < 1:
        what = f"replies to reads and writes have {reads} and {writes} flits, but in Weft all replies have one length"
        draft.refuse("read_reply_size", what, "write equal sizes, or write_fraction = 0.0; or 1.0;")
    return _length(draft, "read_reply_size", writes if config.reals("write_fraction", classes)[0] > 0 else reads)


def answered(draft: Draft, classes: int) -> bool:
    """Return whether packets are requests that get replies."""
    return bool(draft.config.wholes("use_read_write", classes)[0])


def mean(lengths: Lengths) -> float:
    """Return the mean length of packets [flits]."""
    return sum(flits * weight for flits, weight in lengths.items()) / sum(lengths.values())


def packet(lengths: Lengths) -> Any:
    """Return the packet lengths as a value of the scenario key ``packet``."""
    if len(lengths) == 1:
        return amount(next(iter(lengths)), "flit")
    return {"mix": [{"size": amount(flits, "flit"), "weight": weight} for flits, weight in lengths.items()]}


def _length(draft: Draft, key: str, flits: int) -> int:
    if flits < 1:
        draft.config.fail(key, "a packet must have 1 flit or more", f"write {key} = 1; or more")
    return flits
