"""Tests savings at equal work: the power that a reference run would draw for the work of another run.

Expected values are derived by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import weft
from weft.results import equal_work, soundness
from weft.results.savings import Pair

if TYPE_CHECKING:
    from pathlib import Path

# Summary of the reference run, which draws 100 W. The movement of flits takes 40 W of these (40 J in a second), of
# which routers take 10 W.
BASE: dict[str, Any] = {
    "power_mean_w": 100.0,
    "energy_dynamic_j": 40.0,
    "energy_routers_dynamic_j": 10.0,
    "window_seconds": 1.0,
    "accepted_load": 0.5,
    "packets": 1_000_000,
    "packet_latency_mean_cycles": 20.0,
    "links_on_mean": 1.0,
    "saturated": False,
    "ending": "drained",
    "warmup_cycles": 1000,
    "window_cycles": 5000,
}

PRICED = """\
topology: {hyperx: {widths: [4], terminals_per_router: 4}}
links: {default: {latency: 10cycles, vcs: 6, buffer: 32flits}}
routing: minimal
traffic: {pattern: uniform}
power: {prices: {on: {static: 1W, per_bit: 1pJ/bit}}, router_price: {static: 20W, per_bit: 2pJ/bit}}
measure: {warmup: 1us, window: 2us}
sweep: {traffic.load: [0.1, 0.4]}
"""


def test_only_what_flits_take_grows_with_the_work() -> None:
    assert equal_work.static_w(BASE) == pytest.approx(60.0)
    assert equal_work.power_w(BASE, 0.25) == pytest.approx(60 + 20)
    assert equal_work.power_w(BASE, BASE["accepted_load"]) == pytest.approx(100.0)


def test_the_flits_of_routers_with_a_price_count_once(tmp_path: Path) -> None:
    """With always-on links, power without the energy of flits is the same at every load."""
    results = weft.load(PRICED).run(tmp_path / "priced")
    low, high = results.summaries
    assert high["energy_routers_dynamic_j"] > 3 * low["energy_routers_dynamic_j"] > 0
    # power without flits: 4 routers of 20 W each, 12 channels between routers and 32 channels of terminals of 1 W each
    assert [equal_work.static_w(each) for each in (low, high)] == pytest.approx([124.0, 124.0], rel=1e-9)


def test_work_that_takes_longer_takes_all_of_its_energy() -> None:
    """A run that takes 10 % longer for the same work at 5 % less power uses 4.5 % more energy, so it saves nothing."""
    done = BASE | {"completion_cycles": 5990}
    longer = done | {"power_mean_w": 95.0, "accepted_load": 0.5 / 1.1}
    assert equal_work.power_w(done, longer["accepted_load"]) == pytest.approx(100 / 1.1)
    pair = Pair("", longer, done)
    assert pair.share == pytest.approx(95 * 1.1 / 100 * -1 + 1)
    assert pair.shown.startswith("-")


def test_a_batch_that_is_complete_long_before_the_window_ends_does_not_end_it() -> None:
    """A batch that completes early does not end the window.

    If its completion counted as the end, Weft would attribute all power to flits, and random variation would explain a
    saving of 1 %.
    """
    timed = BASE | {"completion_cycles": 2551, "packets": 10_000}
    assert equal_work.static_w(timed) == pytest.approx(60.0)
    assert Pair("", timed | {"power_mean_w": 99.0}, timed).saved == pytest.approx(1.0)


def test_flits_that_are_missing_by_chance_save_nothing() -> None:
    """The run happens to deliver 1 % fewer flits, so flits take 1 % less of the 40 W, although no link slept."""
    fewer = BASE | {"accepted_load": 0.495, "power_mean_w": 99.6}
    pair = Pair("", fewer, BASE)
    assert (pair.share, pair.shown) == (0.0, "")
    assert "no difference" in pair.powers()
    # the largest difference that random variation explains, with 10,000 packets in each run: 1.5 * 40 W * sqrt(2e-4)
    few = {"packets": 10_000}
    assert equal_work.chance_w(BASE | few, BASE | few) == pytest.approx(0.8485, rel=1e-3)
    within = Pair("", BASE | few | {"power_mean_w": 99.2}, BASE | few)
    assert within.share == 0.0
    assert "99.2 W (no difference beyond chance)" in within.powers()
    assert Pair("", BASE | few | {"power_mean_w": 99.0}, BASE | few).saved == pytest.approx(1.0)


def test_windows_of_other_cycles_have_other_faults() -> None:
    failing = BASE | {"fault_parts": [{"part": "before"}]}
    later = failing | {"warmup_cycles": 3000}
    assert not equal_work.faults_differ([failing], [failing])
    assert not equal_work.faults_differ([BASE], [BASE | {"warmup_cycles": 3000}]), "nothing fails"
    assert equal_work.faults_differ([failing], [later])
    assert "different faults" in Pair("", later, failing).obstacle
    assert "`3000cycles`" in equal_work.common_warmup([failing, later])


def test_windows_of_seeds_are_compared_one_by_one() -> None:
    """Automatic warm-ups have different lengths with different seeds.

    Points are compared seed by seed, because the mean warm-up is not that of any seed.
    """
    failing = BASE | {"fault_parts": [{"part": "before"}]}
    seeds = equal_work.mean([failing, failing | {"warmup_cycles": 5000}])
    same = equal_work.mean([failing | {"warmup_cycles": 3000}] * 2)
    assert equal_work.faults_differ([seeds], [same])
    assert "different faults" in Pair("", seeds, same).obstacle
    assert "`5000cycles`" in equal_work.common_warmup([seeds, same])


def test_chance_is_smaller_for_the_phases_of_several_seeds() -> None:
    phase = {"phase": 1, "from_cycle": 0, "to_cycle": 5000, "load": 0.5, "offered_load": 0.5, "accepted_load": 0.5}
    phase |= {"packets": 10_000, "saturated": False, "power_mean_w": 100.0}
    run = BASE | {"phases": [phase]}
    (alone,), (both,) = equal_work.phases(run), equal_work.phases(equal_work.mean([run, run]))
    assert equal_work.chance_w(both, both) == pytest.approx(equal_work.chance_w(alone, alone) / 2**0.5)


def test_seeds_are_reported_as_their_mean() -> None:
    runs = [BASE | {"power_mean_w": power, "jobs": [{"load": load}]} for power, load in ((98.0, 0.1), (102.0, 0.3))]
    mean = equal_work.mean(runs)
    assert mean["power_mean_w"] == pytest.approx(100.0)
    assert mean["jobs"] == [{"load": pytest.approx(0.2)}]
    phases = [BASE | {"power_mean_w": power, "phases": [{"phase": 1, "load": 0.1}]} for power in (98.0, 102.0)]
    assert repr(equal_work.mean(phases)["phases"]) == "[{'phase': 1, 'load': 0.1}]", "the number of a phase is whole"
    bad = BASE | {"saturated": True}
    assert equal_work.mean([BASE, bad]) is bad


def test_a_window_that_delivers_what_the_warm_up_left_in_the_network_has_not_settled() -> None:
    """Packets that waited while links woke in the warm-up are delivered in the window.

    Therefore the network accepts 1.6 % more than the offered load, and latencies fall.
    """
    settled = BASE | {
        "offered_load": 0.55,
        "accepted_load": 0.5495,
        "packets": 82_000,
        "window_cycles": 37_500,
        "packet_latency_mean_cycles": 740.0,
        "queues_settled": True,
        "queueing_mean_cycles": 500.0,
        "warmup_settled": True,
    }
    draining = settled | {"accepted_load": 0.559}
    assert soundness.is_sound(settled)
    assert soundness.flaws(draining) == [soundness.QUEUES_UNSETTLED]
    assert soundness.remedy(draining)
    # with fewer packets, random variation can explain the excess, and with longer latencies packets in flight can, so
    # the point counts as sound
    assert soundness.is_sound(draining | {"packets": 20_000})
    assert soundness.is_sound(draining | {"packet_latency_mean_cycles": 8000.0})
