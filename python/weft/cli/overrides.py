"""Reads the scenario that a command line names, and applies its overrides ``--set path=value``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.errors import ScenarioError
from weft.text.labels import label

if TYPE_CHECKING:
    import argparse

    from weft.api.sweep import Sweep
    from weft.scenario.scenario import Scenario


def scenario(options: argparse.Namespace) -> tuple[Scenario, list[tuple[str, str]]]:
    """The scenario of the file that the command line names, and the overrides as pairs of path and value.

    Raises
    ------
    ScenarioError
        If the file can't be read or an override has no value.
    """
    from weft.scenario.scenario import Scenario

    sets: dict[str, str] = {}
    for path, value in map(_split, options.sets):
        sets.pop(path, None)  # if a path occurs twice, only the last value counts, at its position
        sets[path] = value
    return Scenario.from_file(options.file), list(sets.items())


def sweep(options: argparse.Namespace) -> Sweep:
    """The sweep of the file that the command line names, with the overrides applied.

    Raises
    ------
    ScenarioError
        If the scenario or an override is wrong.
    """
    from weft.api.sweep import Sweep

    named, sets = scenario(options)
    return Sweep.of(named, dict(sets))


def _split(text: str) -> tuple[str, str]:
    path, equals, value = text.partition("=")
    if not equals or not path.strip():
        what = f"--set {text}: this is not path=value"
        raise ScenarioError.saying(what, "write a dotted path and its value, e.g. --set traffic.load=0.3")
    return path.strip(), value


def first_of(sweep: Sweep) -> list[str]:
    """Lines that say that the output is about the first point of a sweep; empty if the sweep has one point."""
    if len(sweep) == 1:
        return []
    taken = ", ".join(f"{path} = {label(value, path)}" for path, value in sweep.points[0].coordinates.items())
    return [f"first of {len(sweep)} points: {taken} (choose another point with --set)", ""]
