"""Weft: a flit-level simulator of supercomputer interconnects.

>>> import weft
>>> results = weft.load("examples/quickstart.yaml").run()  # doctest: +SKIP
>>> results.frame  # doctest: +SKIP

A scenario is one YAML file (or a dict with the same keys). A scenario can list several values of a key, such as loads.
Weft runs one simulation, a *point*, for each combination of values. All points of a scenario form a *sweep*. Each point
has a folder of results, and the results of a sweep form one polars frame with a row per point.

The code is divided into folders called rooms. A room imports only from the rooms before it in this list: `text`,
`scenario`, `results`, `runs`, then `analysis`, `plot`, `timeline` and `programs`, then `report`, then `api` and
`design`, then `cli`. Papers (`weft_papers`) and other simulators (`weft_peers`) are separate packages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.errors import PeerError, ResultsError, ScenarioError, WeftError, WeftWarning, WriteError
from weft.text import outside_engine

outside_engine.use()

if TYPE_CHECKING:
    from weft.api.loading import load
    from weft.api.results import Results, open_results
    from weft.api.sweep import Implied, Sweep
    from weft.runs.bisection import Search
    from weft.runs.checkpoints import CheckpointWarning
    from weft.runs.execute import Status
    from weft.runs.memory import MemoryWarning
    from weft.runs.on_slurm import Submission
    from weft.runs.slurm_jobs import SlurmJobs
    from weft.runs.slurm_search import SearchSubmission
    from weft.runs.watch import journeys
    from weft.scenario.model import model
    from weft.scenario.python_models import pattern, routing
    from weft.scenario.scenario import Scenario

__all__ = [
    "CheckpointWarning",
    "Implied",
    "MemoryWarning",
    "PeerError",
    "Results",
    "ResultsError",
    "Scenario",
    "ScenarioError",
    "Search",
    "SearchSubmission",
    "SlurmJobs",
    "Status",
    "Submission",
    "Sweep",
    "WeftError",
    "WeftWarning",
    "WriteError",
    "journeys",
    "load",
    "model",
    "open_results",
    "pattern",
    "routing",
]

_HOME = {
    "CheckpointWarning": "weft.runs.checkpoints",
    "Implied": "weft.api.sweep",
    "MemoryWarning": "weft.runs.memory",
    "Results": "weft.api.results",
    "Scenario": "weft.scenario.scenario",
    "Search": "weft.runs.bisection",
    "SearchSubmission": "weft.runs.slurm_search",
    "SlurmJobs": "weft.runs.slurm_jobs",
    "Status": "weft.runs.execute",
    "Submission": "weft.runs.on_slurm",
    "Sweep": "weft.api.sweep",
    "journeys": "weft.runs.watch",
    "load": "weft.api.loading",
    "model": "weft.scenario.model",
    "open_results": "weft.api.results",
    "pattern": "weft.scenario.python_models",
    "routing": "weft.scenario.python_models",
}
# New names of renamed public functions, by their old names. The old names still work for one minor version.
_RENAMED = {"open": "open_results"}


def __getattr__(name: str) -> object:
    """Import a public name at its first use, so that the command line starts without delay."""
    from importlib import import_module

    if new := _RENAMED.get(name):
        import warnings

        warnings.warn(f"weft.{name} is now called weft.{new}", DeprecationWarning, stacklevel=2)
        name = new
    if name not in _HOME:
        raise AttributeError(f"module 'weft' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
