"""Finds the power policy with the least energy to solution among the policies that lengthen a run only a little.

Source: our own method to choose the thresholds of a policy for a workload. A policy qualifies if its programs take
at most a given share more time than programs on links that are always on. Run times and energies are means over seeds.
The result is the policy with the least energy among those that qualify. The energy of each policy is compared with a
floor. A trunk consists of parallel links between two routers, its members. The floor is the energy that the always-on
run would have if only one member of each trunk cost static energy. The floor assumes that future traffic is known, that
no link changes its state, and that no time is lost. If the user gives the times that a link takes to wake and to go
off, `weft.analysis.trunk_oracle` computes a second reference. This reference includes the energy of each change of
state.

Parameters: results of a sweep over policies; the allowed extra run time, as a share; the times to wake and to switch
off a link. Guarantees: the floor is computed with the flits and the run time of the always-on run. A policy that does
not change paths and keeps a member of each trunk on cannot use less energy than the floor. Not modelled: the power of
members that are off, and the number of members that the traffic needs. Therefore it is possible that no real policy
reaches the energy of the floor. Validation: `tests/test_analysis_policies.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from weft.analysis import trunk_oracle
from weft.errors import ResultsError, WeftError
from weft.results import of_programs, savings
from weft.text import shell
from weft.text.labels import at

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weft.results.confidence import Mean
    from weft.results.result_set import ResultSet

# Default of the allowed extra run time, as a share of the run time with links that are always on.
SLOWER = 0.01
_FJ = 1e15
_UJ = 1e6
_SCHEMA = {
    "place": pl.String,
    "policies": pl.Int64,
    "flawed": pl.Int64,
    "fast_enough": pl.Int64,
    "policy": pl.String,
    "runs": pl.Int64,
    "time_change": pl.Float64,
    "time_ci95": pl.Float64,
    "energy_change": pl.Float64,
    "energy_ci95": pl.Float64,
    "floor_change": pl.Float64,
    "above_floor": pl.Float64,
    "oracle_change": pl.Float64,
    "above_oracle": pl.Float64,
}


def table(results: ResultSet, slower: float = SLOWER, changes: tuple[float, float] | None = None) -> pl.DataFrame:
    """Finds the policy with the least energy for each network and workload.

    Parameters
    ----------
    results : ResultSet
        Results of a sweep over power policies. One of the policies must keep all links on. Each point must run programs
        to their end.
    slower : float
        Longest extra run time allowed, as a share of the run time with all links on.
    changes : tuple of float, optional
        Times that a member of a trunk takes to wake and to go off [s], for the reference that includes the energy of
        each change.

    Returns
    -------
    polars.DataFrame
        A row for each combination of the other coordinates. ``place``: these coordinates. ``policies``: number of
        policies. ``flawed``: number of policies with a flaw in one of their runs (see `Results.flaws`). The choice
        ignores these policies. ``fast_enough``: number of the other policies whose run time is within the limit.
        ``policy``: the policy with the least energy among these. ``runs``: number of runs (seeds) of this policy.
        ``time_change``, ``energy_change``: run time and energy relative to those with links that are always on, minus
        1. ``time_ci95``, ``energy_ci95``: half of the 95 % confidence interval of each change; null for one seed, and
        for links that are always on. ``floor_change``: energy of the floor relative to that of links that are always
        on, minus 1. ``above_floor``: energy of the policy divided by the energy of the floor, minus 1.
        ``oracle_change``, ``above_oracle``: the same two numbers for the policy of `weft.analysis.trunk_oracle`; null
        without `changes`.

    Raises
    ------
    WeftError
        If `slower` is negative.
    ResultsError
        If the results are no sweep over policies, or no policy keeps all links on. Also if a program did not end, or a
        run with always-on links has a flaw. If `changes` is given, also if such a run has no time series of each
        channel.
    """
    if not slower >= 0:
        raise WeftError.saying(f"the share of extra run time can't be {slower:g}", "write a share such as 0.01, or 0")
    places = of_programs.places(results)
    if not places:
        what = f"{results.root} has no sweep over power policies"
        raise ResultsError.saying(what, "sweep `power.policy` in the scenario, with always_on as one of its values")
    frame = pl.DataFrame([_row(results, place, of, slower, changes) for place, of in places.items()], schema=_SCHEMA)
    return frame if changes is not None else frame.drop("oracle_change", "above_oracle")


def _row(
    results: ResultSet,
    place: str,
    policies: Mapping[str, Sequence[int]],
    slower: float,
    changes: tuple[float, float] | None,
) -> dict[str, Any]:
    runs = {policy: [results.summaries[point] for point in points] for policy, points in policies.items()}
    usual = savings.always_on({policy: [(None, run) for run in of] for policy, of in runs.items()})
    if usual is None:
        what = f"{place or results.root}: no policy keeps all links on"
        raise ResultsError.saying(what, "add always_on to the values of `power.policy`")
    times = {policy: _mean(results, place, of, of_programs.RUN_TIME) for policy, of in runs.items()}
    energies = {policy: _mean(results, place, of, of_programs.ENERGY) for policy, of in runs.items()}
    if not of_programs.same_work([run for of in runs.values() for run in of]):
        what = f"{place or results.root}: {of_programs.WORK}"
        raise ResultsError.saying(what, "let all policies run the same programs")
    flawed = {policy for policy, points in policies.items() if any(results.flaws[point] for point in points)}
    if usual in flawed:
        point = next(point for point in policies[usual] if results.flaws[point])
        what = f"{place or results.root}: {usual}, the reference, is {results.flaws[point]}"
        raise ResultsError.saying(what, f"`weft explain code {results.diagnoses[point][0]['code']}` says what helps")
    within = {policy for policy, time in times.items() if time.value <= (1 + slower) * times[usual].value}
    allowed = [policy for policy in runs if policy in within - flawed]
    best = min(allowed, key=lambda policy: energies[policy].value)
    floor = sum(_floor_uj(results, point) for point in policies[usual]) / len(policies[usual])
    energy = energies[usual].value
    oracle = None
    if changes is not None:
        saved = [trunk_oracle.saved_j(results, point, *changes) for point in policies[usual]]
        oracle = energy - sum(saved) / len(saved) * _UJ
    return {
        "place": place,
        "policies": len(policies),
        "flawed": len(flawed),
        "fast_enough": len(allowed),
        "policy": best,
        "runs": len(runs[best]),
        **_change("time", times[best], times[usual]),
        **_change("energy", energies[best], energies[usual]),
        "floor_change": floor / energy - 1,
        "above_floor": energies[best].value / floor - 1,
        "oracle_change": None if oracle is None else oracle / energy - 1,
        "above_oracle": None if oracle is None else energies[best].value / oracle - 1,
    }


def _mean(results: ResultSet, place: str, runs: Sequence[Mapping[str, Any]], answer: Any) -> Mean:
    found = of_programs.mean_of(runs, answer)
    if found is None:
        what = f"{place or results.root}: a job runs no program, or a program did not end"
        raise ResultsError.saying(
            what, f"`{shell.command('status', results.root)}` shows which; run programs to their end"
        )
    return found


def _change(name: str, own: Mean, usual: Mean) -> dict[str, float | None]:
    half = None if own is usual else own.difference_half_width(usual)
    return {
        f"{name}_change": own.value / usual.value - 1,
        f"{name}_ci95": None if half is None else half / usual.value,
    }


def _floor_uj(results: ResultSet, point: int) -> float:
    """Energy of a run with always-on links if only one member of each trunk cost static energy [uJ].

    Only links that the policies can manage are counted.
    """
    managed = at(results.scenario(point), "power.manages")
    channels = results.channels(point).drop_nulls(["from_router", "to_router"])
    trunks = (
        channels.filter(pl.col("link_class").is_in(managed))
        .group_by("from_router", "to_router", "link_class")
        .agg(members=pl.len(), static=pl.col("energy_static_fj").cast(pl.Float64).sum())
    )
    asleep = float((trunks["static"] * (1 - 1 / trunks["members"])).sum())
    return float(results.summaries[point]["energy_total_j"] - asleep / _FJ) * _UJ
