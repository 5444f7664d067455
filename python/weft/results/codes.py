"""Codes of diagnoses behind their sentences: where a reader finds more of a sentence."""

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
    """The diagnoses in words, with their codes."""
    return [coded(f"{each['what']}; {each['remedy']['text']}", each["code"]) for each in diagnoses]


def legend(lines: Iterable[str]) -> list[str]:
    """How to read more of the first code in these lines; no line if they have none."""
    text = "\n".join(lines)
    places = [(place, code) for code in _known() if (place := text.find(f"[{code}]")) >= 0]
    return [f"more of a name in brackets: weft explain code {min(places)[1]}"] if places else []


@cache
def _known() -> list[str]:
    return [each["code"] for each in _engine.codes()]
