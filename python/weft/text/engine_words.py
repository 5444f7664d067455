"""Meanings of the words that the engine writes into results, for printed text. The list of words is in the engine.

A word for which this module has no meaning is printed with spaces instead of underscores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft import _engine

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def explained(words: Iterable[str], meanings: Mapping[str, str]) -> dict[str, str]:
    """Each word with its meaning, in the order of the words; for a word without a meaning, the word with spaces.

    Examples
    --------
    >>> explained(["vc_held", "lost_vc"], {"vc_held": "its VCs are held"})
    {'vc_held': 'its VCs are held', 'lost_vc': 'lost vc'}
    """
    return {word: meanings.get(word, word.replace("_", " ")) for word in words}


# Meanings of the reasons why the head of a watched packet waits.
WAITING_MEANINGS = explained(
    _engine.WAITING_REASONS,
    {
        "link_asleep": "the link is off, or is turning on or off",
        "link_broken": "the link has failed",
        "vc_held": "other packets hold its VCs",
        "output_held": "the output sends another packet",
        "no_credit": "no credit",
        "lost_vc": "another head got the VC",
        "link_full": "the link is slower than the switch, and the queue in front of the link is full",
        "lost_switch": "another flit got the switch",
    },
)
# Meanings of the reasons why a packet of a stalled network cannot move.
STALL_MEANINGS = explained(
    _engine.STALL_CAUSES,
    {
        "no_room": "no room in the buffer at the far end of its link",
        "held": "another packet holds the output VC",
        "behind": "its next flits are still in a queue upstream",
        "closed": "the power policy has closed its link",
        "unanswered": "its terminal holds each request until the reply has left",
    },
)
# Meanings of the recordings, which are tables that a run writes only if the scenario requests them.
RECORD_MEANINGS = {each["name"]: each["meaning"] for each in _engine.recordings()}
