"""Adds codes to the sentences of diagnoses (findings about points, such as flaws, each with a remedy).

With the code of a sentence, the user can look up its meaning: `weft explain code CODE`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from weft import _engine

if TYPE_CHECKING:
    from collections.abc import Iterable


def coded(text: str, code: str) -> str:
    """A sentence followed by its code in brackets.

    >>> coded("no packet was measured", "no_packet")
    'no packet was measured [no_packet]'
    """
    return f"{text} [{code}]"


def sentences(diagnoses: Iterable[dict[str, Any]]) -> list[str]:
    """The sentences of diagnoses, each with its code."""
    return [coded(f"{each['what']}; {each['remedy']['text']}", each["code"]) for each in diagnoses]


def legend(lines: Iterable[str]) -> list[str]:
    """A list with one line that says how to look up the first code in `lines`; empty if the lines have no code."""
    text = "\n".join(lines)
    places = [(place, code) for code in _known() if (place := text.find(f"[{code}]")) >= 0]
    return [f"to explain a name in brackets: weft explain code {min(places)[1]}"] if places else []


@cache
def _known() -> list[str]:
    return [each["code"] for each in _engine.codes()]
