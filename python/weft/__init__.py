"""Weft: a flit-level simulator of supercomputer interconnects.

>>> import weft
>>> results = weft.load("examples/quickstart.yaml").run()  # doctest: +SKIP
>>> results.frame  # doctest: +SKIP

A scenario is one YAML file (or a dict of the same shape); its sweep has points; a point runs to a folder of
results; the results of a sweep are one polars frame with a row per point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.errors import PeerError, ResultsError, ScenarioError, WeftError

if TYPE_CHECKING:
    from weft.results import Results, open
    from weft.scenario import Scenario, load
    from weft.sweep import Sweep

__all__ = [
    "PeerError",
    "Results",
    "ResultsError",
    "Scenario",
    "ScenarioError",
    "Sweep",
    "WeftError",
    "load",
    "open",
]

_HOME = {
    "Results": "weft.results",
    "Scenario": "weft.scenario",
    "Sweep": "weft.sweep",
    "load": "weft.scenario",
    "open": "weft.results",
}


def __getattr__(name: str) -> object:
    """Import a public name where it is first used, so that the command line starts at once."""
    from importlib import import_module

    if name not in _HOME:
        raise AttributeError(f"module 'weft' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
