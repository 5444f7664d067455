"""The question which of the known words was meant by one that is not known."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def meant(word: object, known: Iterable[str], otherwise: str) -> str:
    """The question whether a word like this one was meant; if none is like it, what to say otherwise."""
    alike = get_close_matches(str(word), list(dict.fromkeys(known)), n=2, cutoff=0.6)
    return f"did you mean {' or '.join(f'`{each}`' for each in alike)}?" if alike else otherwise
