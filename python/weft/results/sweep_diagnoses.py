"""Diagnoses that concern several points together, for example two points that contradict each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.results import collapse, mixed_verdicts, of_programs, program_table, savings, soundness

if TYPE_CHECKING:
    from weft.results.result_set import ResultSet


def of(results: ResultSet) -> list[dict[str, Any]]:
    """The diagnoses of a sweep, in the form of the diagnoses of a point.

    The key ``points`` lists the indices of the affected points.
    """
    compared = of_programs if program_table.are_all(results) else savings
    return [*of_loads(results), *compared.diagnoses(results)]


def of_loads(results: ResultSet) -> list[dict[str, Any]]:
    """The diagnoses of collapsed points and of loads that contradict each other, but not those of comparisons."""
    return [in_folder(each, results) for each in (*collapse.diagnoses(results), *mixed_verdicts.diagnoses(results))]


def in_folder(diagnosis: dict[str, Any], results: ResultSet) -> dict[str, Any]:
    """A copy of a diagnosis whose remedy names the folder of the results."""
    text = soundness.in_folder(diagnosis["remedy"]["text"], results.root, results.command)
    return diagnosis | {"remedy": diagnosis["remedy"] | {"text": text}}
