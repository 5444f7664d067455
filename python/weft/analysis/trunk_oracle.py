"""Computes the energy of trunks under a policy that knows the future traffic and pays for each change of a link.

Source: our own method, as a reference between the floor of `weft.analysis.least_energy` and a real policy. The traffic
is taken from a run whose links are always on, with ``measure.series {of: channel}``. A trunk consists of parallel links
between two routers, its members. In each time sample a trunk needs enough members for the flits of its busier
direction, and at least one. A member goes off if it is not needed for longer than the two changes (off and on again)
take. The member is on again when the trunk needs it next. During both changes the member draws full power.

Parameters: the finished run; the times that a member takes to wake and to go off [s]. Guarantees: in every sample the
needed members are on. Each member is on at first, and the energy of each of its changes is counted. Not modelled:
delays of the traffic with fewer members, bursts shorter than a sample, and the power of members that are off. Therefore
the policy is a reference and not a bound: a real policy could delay packets so that fewer members carry them.
Validation: `tests/test_analysis_policies.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from weft.errors import ResultsError
from weft.text import shell
from weft.text.labels import at
from weft.text.si import TIME, number

if TYPE_CHECKING:
    import numpy.typing as npt

    from weft.results.result_set import ResultSet

_FS = 1e15
# Traffic that exceeds the bandwidth of the members by at most this share of one member still fits, because rounding
# makes sums of shares inexact.
_SLACK = 1e-9


def saved_j(results: ResultSet, point: int, wake: float, sleep: float) -> float:
    """Energy that the policy saves in a run whose links are always on [J].

    Parameters
    ----------
    results : ResultSet
        Results in which the links of the point `point` are always on, with ``measure.series`` of each channel.
    point : int
        Row number in `results.frame`.
    wake, sleep : float
        Times that a member takes to wake and to go off [s].

    Raises
    ------
    ResultsError
        If the point has no series of each channel.
    """
    scenario = results.scenario(point)
    if at(scenario, "measure.series.of") != "channel":
        what = f"point {point} of {results.root} has no series of the use of each channel"
        again = shell.command("run", "FILE", "--set", "measure.series={every: 8us, of: channel}")
        raise ResultsError.saying(what, f"run the sweep again with the series: `{again}`, or remove --wake and --sleep")
    cycle = number(at(scenario, "cycle"), TIME) / _FS
    channels = results.channels(point).drop_nulls(["from_router", "to_router"])
    channels = channels.filter(pl.col("link_class").is_in(at(scenario, "power.manages")))
    series = results.series(point).sort("from_cycle", "channel")
    lengths = series.unique("from_cycle", keep="first", maintain_order=True)["interval_cycles"].to_numpy() * cycle
    use = series["utilisation"].to_numpy().reshape(len(lengths), -1)
    seconds = float(results.summaries[point]["window_seconds"])
    saved = 0.0
    low, high = (of("from_router", "to_router") for of in (pl.min_horizontal, pl.max_horizontal))
    for _, trunk in channels.group_by(low.alias("low"), high.alias("high"), "link_class"):
        directions = [part["channel"].to_list() for part in trunk.partition_by("from_router")]
        members = min(map(len, directions))
        needed = np.ceil(np.max([use[:, part].sum(axis=1) for part in directions], axis=0) - _SLACK)
        power = float(trunk["energy_static_fj"].cast(pl.Float64).sum()) / _FS / seconds / members
        off = sum(off_seconds(needed >= member, lengths, wake, sleep) for member in range(2, members + 1))
        saved += power * off
    return saved


def off_seconds(needed: npt.NDArray[np.bool_], lengths: npt.NDArray[np.float64], wake: float, sleep: float) -> float:
    """Time for which a member of a trunk is off [s]. The member is on when the run begins.

    Parameters
    ----------
    needed : array of bool, shape (samples,)
        True for each sample that needs the member.
    lengths : array of float, shape (samples,)
        Length of each sample [s].
    wake, sleep : float
        Times that the member takes to wake and to go off [s].
    """
    total = gap = 0.0
    for is_needed, length in zip(needed, lengths, strict=True):
        if not is_needed:
            gap += length
            continue
        total += max(gap - sleep - wake, 0.0)
        gap = 0.0
    return total + max(gap - sleep, 0.0)
