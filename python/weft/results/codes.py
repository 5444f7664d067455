"""Adds the codes of diagnoses to their sentences. With a code, a reader finds more about the sentence."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from weft import _engine

if TYPE_CHECKING:
    from collections.abc import Iterable


def coded(text: str, code: str) -> str:
    """A sentence with its code.

    >>> coded("no packet was measured", "no_packet")
    'no packet was measured [no_packet]'
    """
    return f"{text} [{code}]"


def sentences(diagnoses: Iterable[dict[str, Any]]) -> list[str]:
    """The sentences of the diagnoses, with their codes."""
    return [coded(f"{each['what']}; {each['remedy']['text']}", each["code"]) for each in diagnoses]


def legend(lines: Iterable[str]) -> list[str]:
    """A line that says how to read more about the first code in these lines; empty if they have no code."""
    text = "\n".join(lines)
    places = [(place, code) for code in _known() if (place := text.find(f"[{code}]")) >= 0]
    return [f"to explain a name in brackets: weft explain code {min(places)[1]}"] if places else []


@cache
def _known() -> list[str]:
    return [each["code"] for each in _engine.codes()]
