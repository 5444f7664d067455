"""Tests ``weft analyse policies``: the policy with the least energy among those that cost little run time, and the
floor.

The floor is the energy if one link of each trunk always sleeps.
"""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import weft
from weft.analysis import least_energy, trunk_oracle
from weft.cli import main
from weft.errors import WeftError
from weft.results import of_programs
from weft.results.result_set import ResultSet

if TYPE_CHECKING:
    from pathlib import Path

    from weft import Results

# A ring of 4 routers with trunks of 2 links: 4 routers x 2 neighbours x 2 links = 16 channels, each of which draws one
# watt while on. The two terminals of a router send more than one link carries, so that a policy costs run time.
RING = """\
name: ring
cycle: 1600ps
flit: 16B
topology: {torus: {widths: [4], terminals_per_router: 2, trunk_width: 2}}
links: {default: {latency: 4cycles, vcs: 2, buffer: 64flits}}
routing: dimension_order
traffic:
  packet: 8flits
  workload:
    programs:
      program: {collective: {operation: all_to_all, ranks: 8, bytes: 4KiB, repeat: 2, gap: 100us}}
      jitter: {uniform: {share: 0.1}}
power:
  prices:
    on: {static: 1W, per_bit: 0pJ/bit}
    draining: {static: 1W, per_bit: 0pJ/bit}
    waking: {static: 1W, per_bit: 0pJ/bit}
    off: {static: 0W, per_bit: 0pJ/bit}
measure: {stop: {complete: {max_window: 10ms}}}
sweep:
  power.policy: [always_on, {trunk: {u_on: 0.95, u_off: 0.47}}, {trunk: {u_on: 0.02, u_off: 0.009}}]
  seed: [1, 2]
"""


@pytest.fixture(scope="module")
def ring(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return weft.load(RING).run(tmp_path_factory.mktemp("ring") / "ring")


def test_the_policy_of_the_least_energy_is_named_with_its_distance_from_the_floor(ring: Results) -> None:
    (row,) = least_energy.table(ring, 0.5).iter_rows(named=True)
    assert (row["policies"], row["fast_enough"], row["runs"]) == (3, 3, 2)
    # expected means over two seeds, computed from the summaries; points are in the order of the sweep
    energies = [sum(run["energy_total_j"] for run in ring.summaries[first : first + 2]) / 2 for first in (0, 2, 4)]
    times = [sum(run["solution_seconds"] for run in ring.summaries[first : first + 2]) / 2 for first in (0, 2, 4)]
    best = energies.index(min(energies))
    assert row["policy"] == list(of_programs.places(ring)[""])[best]
    assert best > 0
    assert row["time_change"] == pytest.approx(times[best] / times[0] - 1)
    assert row["energy_change"] == pytest.approx(energies[best] / energies[0] - 1)
    # at the floor, one of the two links of each trunk sleeps all the time: 8 of 16 channels of 1 W each
    windows = [run["window_seconds"] for run in ring.summaries[:2]]
    floor = energies[0] - 8 * sum(windows) / 2
    assert row["floor_change"] == pytest.approx(floor / energies[0] - 1)
    assert row["above_floor"] == pytest.approx(energies[best] / floor - 1)
    assert row["above_floor"] > 0


def test_policies_that_are_slower_than_allowed_do_not_count(ring: Results) -> None:
    """If no extra run time is allowed, a policy under which needed links sleep does not count, whatever it saves."""
    (all_,), (none,) = (least_energy.table(ring, slower).iter_rows(named=True) for slower in (0.5, 0.0))
    assert all_["time_change"] > 0
    assert none["fast_enough"] < all_["fast_enough"]
    assert none["policy"] != all_["policy"]
    assert none["energy_change"] > all_["energy_change"]
    assert none["time_change"] <= 0


def test_a_policy_with_a_flaw_is_left_out(
    ring: Results, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The analysis omits a policy if the run of one of its seeds has a flaw.

    If the runs with always-on links have a flaw, Weft compares nothing.
    """
    (whole,) = least_energy.table(ring, 0.5).iter_rows(named=True)
    best = list(of_programs.places(ring)[""]).index(whole["policy"])
    flawed = 2 * best + 1
    monkeypatch.setattr(ResultSet, "flaws", property(lambda results: _flaws(len(results), flawed)))
    assert main(["analyse", "policies", str(ring.root), "--slower", "0.5"]) == 0
    assert "flawed: policies that are left out" in capsys.readouterr().out
    (row,) = least_energy.table(ring, 0.5).iter_rows(named=True)
    assert (row["flawed"], row["fast_enough"]) == (1, whole["fast_enough"] - 1)
    assert row["policy"] != whole["policy"]
    flawed = 0
    monkeypatch.setattr(ResultSet, "diagnoses", property(lambda _: [[{"code": "power_unsettled"}]]))
    assert main(["analyse", "policies", str(ring.root)]) == 2
    error = capsys.readouterr().err
    assert "always_on, the reference, is not settled" in error
    assert "`weft explain code power_unsettled` says what helps" in error


def _flaws(points: int, flawed: int) -> list[str | None]:
    """Return a list of flaws, in which only the point `flawed` has one."""
    return ["not settled" if point == flawed else None for point in range(points)]


def test_the_command_prints_it(ring: Results, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyse", "policies", str(ring.root), "--slower", "0.5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == least_energy.table(ring, 0.5).to_dicts()
    assert main(["analyse", "policies", str(ring.root)]) == 0
    assert "at most 1 % more run time" in capsys.readouterr().out


def test_what_can_not_be_compared_is_refused(ring: Results, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyse", "policies", str(ring.root), "--slower", "-0.1"]) == 2
    assert "write a share such as 0.01, or 0" in capsys.readouterr().err
    alone = weft.load(RING, overrides={"sweep": None}).run(tmp_path / "alone")
    with pytest.raises(WeftError, match="no sweep over power policies"):
        least_energy.table(alone)
    asleep = weft.load(RING, overrides={"sweep": {"power.policy": [{"trunk": {}}]}}).run(tmp_path / "asleep")
    with pytest.raises(WeftError, match="add always_on to the values"):
        least_energy.table(asleep)
    with_it = {"sweep": {"power.policy": ["always_on", {"trunk": {}}]}}
    assert least_energy.table(weft.load(RING, overrides=with_it).run(tmp_path / "remedy")).height == 1
    steady = {"traffic": {"packet": "8flits", "pattern": "uniform", "load": 0.1}, "measure": {"window": "500cycles"}}
    with pytest.raises(WeftError, match="a job runs no program, or a program did not end"):
        least_energy.table(weft.load(RING, overrides=with_it | steady).run(tmp_path / "steady"))
    endless = with_it | {"measure.stop.complete.max_window": "10us"}
    with pytest.raises(WeftError, match="did not end"):
        least_energy.table(weft.load(RING, overrides=endless).run(tmp_path / "endless"))


# Times that a link needs to wake, and to go off [s].
_CHANGES = (416e-9, 288e-9)


def test_the_reference_that_pays_for_changes_lies_between_the_floor_and_links_always_on(tmp_path: Path) -> None:
    recorded = weft.load(RING, overrides={"measure.series": {"every": "800ns", "of": "channel"}}).run(
        tmp_path / "recorded"
    )
    (row,) = least_energy.table(recorded, 0.5, _CHANGES).iter_rows(named=True)
    assert row["floor_change"] < row["oracle_change"] < 0
    # expected saving: each link of a trunk beyond the first saves 1 W while no sample needs it, except during its two
    # state changes
    saved = []
    for point in (0, 1):
        series, channels = recorded.series(point), recorded.channels(point)
        watts_seconds = 0.0
        for low, high in ((0, 1), (1, 2), (2, 3), (0, 3)):
            ends = pl.col("from_router").is_in([low, high]) & pl.col("to_router").is_in([low, high])
            use = series.join(channels.filter(ends).select("channel", "from_router"), on="channel")
            by_direction = use.group_by("from_cycle", "from_router").agg(pl.col("utilisation").sum())
            busy = by_direction.group_by("from_cycle").agg(pl.col("utilisation").max()).sort("from_cycle")
            lengths = use.unique("from_cycle").sort("from_cycle")["interval_cycles"] * 1.6e-9
            needs = (busy["utilisation"] > 1 + 1e-9).to_list()
            watts_seconds += 2 * _off(needs, lengths.to_list())
        saved.append(watts_seconds)
    energy = sum(run["energy_total_j"] for run in recorded.summaries[:2]) / 2
    assert row["oracle_change"] == pytest.approx(-sum(saved) / 2 / energy, rel=1e-6)


def _off(needs: list[bool], seconds: list[float]) -> float:
    """Return the time [s] that a link of a trunk is off: each series of samples without need for it, minus state
    changes."""
    stretches, wake, sleep = itertools.groupby(zip(needs, seconds, strict=True), lambda one: one[0]), *_CHANGES
    gaps = [(needed, sum(length for _, length in part)) for needed, part in stretches]
    off = [
        max(gap - sleep - (wake if k + 1 < len(gaps) else 0), 0) for k, (needed, gap) in enumerate(gaps) if not needed
    ]
    return sum(off)


def test_a_member_pays_for_each_change() -> None:
    def off(needed: list[int], wake: float = 2, sleep: float = 3) -> float:
        return trunk_oracle.off_seconds(np.array(needed, dtype=bool), np.ones(len(needed)), wake, sleep)

    assert off([0] * 10) == 10 - 3  # it goes off once, and never wakes
    assert off([1] * 10) == 0
    assert off([1, 0, 0, 0, 0, 0, 1]) == 0  # five samples are as long as the two state changes
    assert off([1, 0, 0, 0, 0, 0, 0, 0, 1]) == 2
    assert off([0] * 9 + [1] + [0] * 9) == (9 - 5) + (9 - 3)


def test_without_the_use_of_channels_the_reference_is_refused(
    ring: Results, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["analyse", "policies", str(ring.root)]
    assert main([*command, "--wake", "416ns", "--sleep", "288ns"]) == 2
    assert "--set 'measure.series={every: 8us, of: channel}'" in capsys.readouterr().err
    assert main([*command, "--wake", "416ns"]) == 2
    assert "write both, or neither" in capsys.readouterr().err
