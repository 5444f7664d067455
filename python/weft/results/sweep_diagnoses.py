"""Diagnoses of several points of a sweep: points that contradict each other, or that cannot be compared as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.results import collapse, mixed_verdicts, soundness

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weft.results.result_set import ResultSet


def of(results: ResultSet) -> list[dict[str, Any]]:
    """The diagnoses of a sweep, as those of a point; ``points`` are the numbers of the points."""
    return [in_folder(each, results) for each in (*collapse.diagnoses(results), *mixed_verdicts.diagnoses(results))]


def in_folder(diagnosis: dict[str, Any], results: ResultSet) -> dict[str, Any]:
    """A diagnosis whose remedy names the folder of the results."""
    text = soundness.in_folder(diagnosis["remedy"]["text"], results.root, results.command)
    return diagnosis | {"remedy": diagnosis["remedy"] | {"text": text}}


def sentences(diagnoses: Iterable[dict[str, Any]]) -> list[str]:
    """The diagnoses in words."""
    return [f"{each['what']}; {each['remedy']['text']}" for each in diagnoses]
