"""What moves the claims that are missed: applications on 64 nodes with one factor changed at a time.

====================  =================================================================================
change                what it changes
====================  =================================================================================
`LONGER`              10 steps of Namd and of Gromacs in place of one; MPI Random Access as in a full run
`FASTER`              links change, and their use is measured, in a tenth of the time
`ONE_FLIT`            packets of 1 flit in place of 8: the switch grants each flit, not each packet
`DENSE`               gaps of a twentieth: the tasks of Graph500 send nearly all the time
====================  =================================================================================

The rest is as in a quick run with gaps as they are, from which the rows without a change come.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from weft.reproduce.common.measured import LackingError
from weft.reproduce.common.paper import Experiment
from weft.reproduce.torus.applications import APPLICATIONS, GRAPH500, GROMACS, MPIRA, NAMD, job
from weft.reproduce.torus.network_runs import CAUSES, SINGLE_64, label, tasks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weft.reproduce.common.measured import Measured

LONGER, FASTER, ONE_FLIT, DENSE = "longer", "faster links", "packets of 1 flit", "gaps x 0.05"
_NONE = "none"
_FAST = {"trunk": {"wake": "416ns", "sleep": "288ns", "window": "800ns"}}
_STEPS = 10


def _named(work: str, change: str) -> str:
    return f"{work} with {change}"


@dataclass(frozen=True)
class Change:
    """A factor that is changed.

    Attributes
    ----------
    works : tuple of str
        The applications that run with it.
    sets : mapping of str to value
        Overrides of the scenario.
    scale : float
        Factor of the gaps.
    programs : mapping of str to mapping
        Parameters of applications that differ from those of a quick run.
    """

    works: tuple[str, ...]
    sets: Mapping[str, Any] = field(default_factory=dict)
    scale: float = 1.0
    programs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def jobs(self, name: str) -> list[list[dict[str, Any]]]:
        """Its applications as values of ``traffic.jobs``; their names are those of `_named`, at gaps x 1."""
        found = []
        for work in self.works:
            made = job(work, 8, self.scale, quick=True)
            (parameters,) = made["workload"]["programs"]["program"].values()
            parameters.update(self.programs.get(work, {}))
            found.append([made | {"name": f"{_named(work, name)} 1"}])
        return found


CHANGES = {
    LONGER: Change(
        (NAMD, GROMACS, MPIRA),
        programs={NAMD: {"steps": _STEPS}, GROMACS: {"steps": _STEPS}, MPIRA: {"table": 2048}},
    ),
    FASTER: Change(APPLICATIONS, {"zip.power.policy": ["always_on", "always_on", _FAST, "always_on", _FAST]}),
    ONE_FLIT: Change((GRAPH500,), {"traffic.packet": "1flits"}),
    DENSE: Change((GRAPH500,), scale=0.05),
}
EXPERIMENT = Experiment(
    CAUSES,
    tuple({"sweep.traffic.jobs": change.jobs(name)} | change.sets for name, change in CHANGES.items()),
    asked=True,
)


def changed(measured: Measured) -> pl.DataFrame:
    """Run time, W_net and E_net of each application and network without a change, and with each."""
    found: list[dict[str, Any]] = []
    for work in APPLICATIONS:
        for name in (_NONE, *(name for name, change in CHANGES.items() if work in change.works)):
            place = (SINGLE_64, work) if name == _NONE else (CAUSES, _named(work, name))
            try:
                ran = tasks(measured, *place, 1.0)
            except LackingError as problem:
                lacking = problem
                continue
            found += [
                {
                    "application": work,
                    "change": name,
                    "network": label(network, saves=saves),
                    "run time [3D-1X]": round(task.runtime, 4),
                    "W_net [3D-1X]": round(task.w_net, 4),
                    "E_net [3D-1X]": round(task.e_net, 4),
                    "busy share [1]": round(task.busy, 4),
                }
                for (network, saves), task in ran.items()
            ]
    if not found:
        raise lacking
    return pl.DataFrame(found)
