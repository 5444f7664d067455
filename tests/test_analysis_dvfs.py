"""Compares the energy of links at lower rates (DVFS), computed from results, with energies computed by hand."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
import yaml

import weft
from conftest import RECORDED, made
from small import ROW_UNDER_TCEP
from weft._engine import LINK_STATES
from weft.analysis.dvfs import Rates
from weft.analysis.prices import Prices
from weft.cli import main
from weft.errors import ResultsError, WeftError

if TYPE_CHECKING:
    from pathlib import Path

    from weft.api.results import Results

STATES = LINK_STATES
# Energy of a channel for flits of 5 bits [fJ]: 10 fJ per cycle for each bit of capacity while a link is on, and 2 fJ
# for each sent bit. A link that is off uses 1 fJ per bit of capacity.
STATIC, FLIT, DARK = 50, 10, 5
WINDOW = 1000


@pytest.fixture(scope="module")
def awake(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Run three points with links that are always on, and return their results."""
    sets = {"power.policy": "always_on", "traffic.pattern": "uniform", "routing": "ugal_p", "seed": 1}
    return weft.load(RECORDED, overrides=sets).run(tmp_path_factory.mktemp("awake") / "awake")


def _by_hand(root: Path, channels: list[dict[str, int]], bandwidth: float = 1.0) -> Results:
    """Make a point whose channels carried `flits` flits, and were in each link state for the given number of cycles."""
    results = made(root, [({"traffic.load": 0.1}, {"accepted_bits": 5 * 400, "window_cycles": WINDOW})])
    price = {"static": "10fJ/bit", "per_bit": "2fJ/bit"}
    prices = dict.fromkeys(STATES, price) | {"off": {"static": "1fJ/bit", "per_bit": "0fJ/bit"}}
    scenario: dict[str, Any] = dict.fromkeys(("topology", "links", "routing", "traffic", "measure"), "x")
    scenario |= {"cycle": "1ns", "flit": "5b", "power": {"policy": "always_on", "prices": prices}}
    rows: list[dict[str, Any]] = []
    for number, channel in enumerate(channels):
        cycles = {f"cycles_{state}": channel.get(state, 0) for state in STATES}
        powered = sum(cycles.values()) - cycles["cycles_off"]
        energy = bandwidth * (STATIC * powered + DARK * cycles["cycles_off"]) + FLIT * channel["flits"]
        source = None if channel.get("terminal") else 0
        ends = {"channel": number, "from_router": source, "to_router": 1, "link_class": "local", "bandwidth": bandwidth}
        rows.append({**ends, "flits": channel["flits"], "energy_fj": energy, **cycles})
    folder = results.folder(0)
    (folder / "scenario.yaml").write_text(yaml.safe_dump(scenario), encoding="utf-8")
    pl.DataFrame(rows).write_parquet(folder / "channels.parquet")
    return weft.open_results(root)


def test_each_channel_has_the_lowest_rate_that_carries_it(tmp_path: Path) -> None:
    # a channel counts a flit before the flit leaves, so 1010 flits in a window of 1000 cycles are possible
    flits = [0, 250, 251, 500, 501, 1000, 1010]
    results = _by_hand(tmp_path, [{"on": WINDOW, "flits": count} for count in flits])
    powers = [0.54, 0.54, 0.69, 0.69, 1, 1, 1]
    before = [STATIC * WINDOW + FLIT * count for count in flits]
    after = [power * energy for power, energy in zip(powers, before, strict=True)]
    (row,) = results.rate_scaled().to_dicts()
    assert row["baseline"] == results.points[0]["hash"]
    assert row["energy_network_j"] == pytest.approx(sum(before) * 1e-15)
    assert row["energy_network_scaled_j"] == pytest.approx(sum(after) * 1e-15)
    assert row["normalised_energy"] == pytest.approx(sum(after) / sum(before))
    assert row["energy_scaled_per_flit_pj"] == pytest.approx(sum(after) * 1e-3 / 400)
    assert row["energy_per_flit_pj"] == pytest.approx(sum(before) * 1e-3 / 400)
    assert [row[f"rate_{rate}_share"] for rate in ("0.25", "0.5", "1")] == pytest.approx([2 / 7, 2 / 7, 3 / 7])


def test_only_cycles_with_power_are_scaled(tmp_path: Path) -> None:
    """A channel that is off for some cycles carries its flits in the remaining cycles.

    Links of terminals keep their full rate.
    """
    channels = [
        {"on": 300, "waking": 100, "off": 600, "flits": 100},  # 100 flits in 400 cycles: the lowest rate is enough
        {"on": 100, "draining": 100, "off": 800, "flits": 150},  # 150 flits in 200 cycles: the full rate is needed
        {"off": WINDOW, "flits": 0},
        {"on": WINDOW, "flits": 10, "terminal": 1},
    ]
    results = _by_hand(tmp_path, channels)
    (row,) = results.rate_scaled().to_dicts()
    dark = DARK * (600 + 800 + 1000)
    first, second = 400 * STATIC + 100 * FLIT, 200 * STATIC + 150 * FLIT
    assert row["energy_network_j"] == pytest.approx((first + second + dark) * 1e-15)
    assert row["energy_network_scaled_j"] == pytest.approx((0.54 * first + second + dark) * 1e-15)
    assert row["rate_0.25_share"] == pytest.approx(400 / 600)
    assert row["rate_1_share"] == pytest.approx(200 / 600)


def test_other_rates() -> None:
    rates = Rates((0.5, 1.0), (0.8, 1.0))
    flits, powered = np.array([0.0, 50, 51, 51]), np.array([0.0, 100, 100, 100])
    scaled, cycles = rates.scale(flits, powered, np.array([0.0, 10, 10, 10]), np.array([1.0, 1, 1, 2]))
    assert scaled.tolist() == [0, 8, 10, 8]
    assert cycles.tolist() == [200, 100]


def test_a_rate_is_a_share_of_the_bandwidth(tmp_path: Path) -> None:
    """The capacity of a channel of half a flit per cycle is 500 flits in 1000 cycles, so 125 flits are a quarter of
    it."""
    results = _by_hand(tmp_path, [{"on": 900, "off": 100, "flits": count} for count in (112, 113, 226)], 0.5)
    (row,) = results.rate_scaled().to_dicts()
    bills = [0.5 * STATIC * 900 + FLIT * count for count in (112, 113, 226)]
    dark = 3 * 0.5 * DARK * 100
    scaled = sum(power * bill for power, bill in zip([0.54, 0.69, 1], bills, strict=True))
    assert row["energy_network_j"] == pytest.approx((sum(bills) + dark) * 1e-15)
    assert row["energy_network_scaled_j"] == pytest.approx((scaled + dark) * 1e-15)


def test_links_that_were_slowed_down_are_not_scaled_again(tmp_path: Path) -> None:
    results = _by_hand(tmp_path, [{"on": 600, "half": 300, "quarter": 100, "flits": 10}])
    text = r"300 cycles at half rate and 100 cycles at quarter rate.*scaled twice.*power\.policy=always_on"
    with pytest.raises(ResultsError, match=r"(?s)" + text):
        results.rate_scaled()


ZIPPED = """\
topology: {hyperx: {widths: [4], terminals_per_router: 2}}
links:
  default: {latency: 10cycles, vcs: 6, buffer: 32flits}
traffic: {pattern: uniform}
measure: {warmup: 4000cycles, window: 2000cycles}
zip:
  routing: [dimension_order, dimension_order, ugal_p]
  power.policy: [always_on, {rate_ladder: {epoch: 1us, transition: 100ns}}, always_on]
sweep: {traffic.load: [0.1, 0.2]}
"""


def test_the_command_for_slowed_links_works_where_routings_are_zipped_with_policies(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "zipped.yaml"
    file.write_text(ZIPPED, encoding="utf-8")
    assert main(["run", str(file), "--no-picture", "--out", str(tmp_path / "zipped")]) == 0
    capsys.readouterr()
    assert main(["analyse", "dvfs", str(tmp_path / "zipped")]) == 2
    weft_word, *words = shlex.split(capsys.readouterr().err.splitlines()[-1])
    assert weft_word == "weft"
    assert main([*words, "--no-picture"]) == 0
    capsys.readouterr()
    assert main(["analyse", "dvfs", words[-1]]) == 0
    assert weft.open_results(words[-1]).frame["traffic.load"].to_list() == [0.1, 0.2]


def test_slow_links_are_billed_alike_by_window_and_by_sample(tmp_path: Path) -> None:
    """If only the full rate is allowed, the computed energy equals that of the run, for prices per bit and in watts."""
    sets: dict[str, Any] = {"links.default.bandwidth": "1/2flits/cycle", "traffic.load": 0.1}
    sets |= {"power.policy": "always_on", "traffic.pattern": "uniform", "routing": "ugal_p", "seed": 1}
    for number, price in enumerate(("23.44pJ/bit", "1W")):
        prices = {"power.prices": {"on": {"static": price, "per_bit": "1pJ/bit"}}}
        results = weft.load(RECORDED, overrides=sets | prices).run(tmp_path / str(number))
        for over_time in (False, True):
            (row,) = results.rate_scaled(Rates((1.0,), (1.0,)), over_time=over_time).to_dicts()
            assert row["energy_network_j"] == pytest.approx(results.summaries[0]["energy_network_j"], rel=1e-9)


@pytest.mark.parametrize(
    ("rates", "powers"),
    [
        ((0.5, 0.25, 1.0), (0.5, 0.6, 1.0)),
        ((0.0, 1.0), (0.5, 1.0)),
        ((0.5,), (1.0,)),
        ((0.5, 1.0), (1.0,)),
        ((0.5, 1.0), (0.5, 0.9)),
        ((0.5, 1.0), (1.5, 1.0)),
        ((), ()),
    ],
)
def test_rates_that_make_no_sense(rates: tuple[float, ...], powers: tuple[float, ...]) -> None:
    with pytest.raises(WeftError, match=r"rates|powers"):
        Rates(rates, powers)


def test_at_the_full_rate_nothing_changes(recorded: Results) -> None:
    """With all link states, the energies by channel and those by sample each add up to the energy of the run."""
    full = Rates((1.0,), (1.0,))
    wanted = [summary["energy_network_j"] for summary in recorded.summaries]
    for over_time in (False, True):
        frame = recorded.rate_scaled(full, over_time=over_time)
        assert frame["energy_network_j"].to_list() == pytest.approx(wanted, rel=1e-12)
        assert frame["normalised_energy"].to_list() == pytest.approx([1] * len(recorded), rel=1e-12)
        per_bit = [summary["energy_network_per_bit_pj"] for summary in recorded.summaries]
        assert frame["energy_per_flit_pj"].to_list() == pytest.approx([48 * price for price in per_bit])


def test_at_the_full_rate_nothing_changes_if_flits_cost_more_in_some_states(tmp_path: Path) -> None:
    dear = {"static": "1pJ/bit", "per_bit": "500pJ/bit"}
    sets: dict[str, Any] = {"traffic.packet": "16flits", "traffic.load": 0.15, "power.policy.tcep.initial": "all_on"}
    sets |= {
        "power.prices": {state: {"static": "2pJ/bit", "per_bit": "3pJ/bit"} for state in STATES} | {"shadow": dear}
    }
    sets |= {"measure.warmup": "10cycles", "measure.window": "10000cycles", "measure.link_states": {}}
    sets |= {"measure.series": {"every": "100cycles", "of": "channel"}}
    results = weft.load(ROW_UNDER_TCEP, overrides=sets).run(tmp_path / "dear")
    channels = results.channels(0).drop_nulls(["from_router", "to_router"])
    assert channels["flits_shadow"].sum() > 0, "else this tests nothing"
    frame = results.rate_scaled(Rates((1.0,), (1.0,)), over_time=True)
    assert frame["energy_network_j"][0] == pytest.approx(results.summaries[0]["energy_network_j"], rel=1e-12)


def test_links_that_are_always_on(awake: Results) -> None:
    frame = awake.rate_scaled()
    assert frame["baseline"].to_list() == [point["hash"] for point in awake.points]
    assert frame["traffic.load"].to_list() == [0.05, 0.1, 0.4]
    # at load 0.05 no channel needs more than a quarter of its bandwidth, so all channels have the least power, 0.54
    assert frame["normalised_energy"][0] == pytest.approx(0.54)
    assert frame["rate_0.25_share"][0] == 1
    for point, row in enumerate(frame.iter_rows(named=True)):
        channels = awake.channels(point).drop_nulls(["from_router", "to_router"])
        used = channels["utilisation"]
        power = 0.54 + 0.15 * (used > 0.25) + 0.31 * (used > 0.5)
        bill = (power * channels["energy_fj"]).to_numpy().sum()
        assert row["energy_network_scaled_j"] == pytest.approx(bill * 1e-15)
    # with `over_time`, each sample in the window from 500 to 1500 has its own rate
    over_time = awake.rate_scaled(over_time=True)
    for point, row in enumerate(over_time.iter_rows(named=True)):
        numbers = awake.channels(point).drop_nulls(["from_router", "to_router"])["channel"]
        series = awake.series(point).filter(
            pl.col("channel").is_in(numbers.implode()), pl.col("from_cycle").is_between(500, 1499)
        )
        used = series["utilisation"]
        power = 0.54 + 0.15 * (used > 0.25) + 0.31 * (used > 0.5)
        bill = (power * 48 * (23440 * series["interval_cycles"] + 7810 * series["flits"])).to_numpy().sum()
        assert row["energy_network_scaled_j"] == pytest.approx(bill * 1e-15)


# Two routers with four terminals each. All terminals send to the other router, over one link.
PAIR = """\
topology: {full_mesh: {routers: 2, terminals_per_router: 4}}
routing: dimension_order
traffic: {pattern: neighbor, load: 0.1}
measure: {warmup: 8000cycles, window: 20000cycles}
"""


# The load of the link; its power with ideal rates, as a share of the full power; the rate to which the policy `ladder`
# settles: half below a load of 0.5 * 0.5, a quarter below 0.5 * 0.25.
@pytest.mark.parametrize(
    ("carried", "ideal", "state"),
    [(0.7, 1, "on"), (0.4, 0.69, "on"), (0.19, 0.54, "half"), (0.08, 0.54, "quarter")],
)
def test_the_rate_ladder_lies_between_the_ideal_and_links_that_are_always_on(
    tmp_path: Path, carried: float, ideal: float, state: str
) -> None:
    ladder = {"rate_ladder": {"epoch": "1us", "transition": "100ns", "up": 0.75, "down": 0.5}}
    bills = {}
    for name, policy in (("on", "always_on"), ("ladder", ladder)):
        sets = {"traffic.load": carried / 4, "power.policy": policy}
        results = weft.load(PAIR, overrides=sets).run(tmp_path / name)
        bills[name] = results.summaries[0]["energy_network_j"]
        channels = results.channels(0).drop_nulls(["from_router", "to_router"])
        rests = "on" if name == "on" else state
        assert (channels[f"cycles_{rests}"] == 20_000).all()
        if name == "on":
            (row,) = results.rate_scaled().to_dicts()
            assert row["normalised_energy"] == pytest.approx(ideal)
            scaled = row["energy_network_scaled_j"]
    # both runs have both runs have the same packets, except for a few flits at the edges of the window
    power = {"on": 1, "half": 0.69, "quarter": 0.54}[state]
    assert bills["ladder"] == pytest.approx(power * bills["on"], rel=1e-3)
    assert scaled * 0.999 <= bills["ladder"] <= bills["on"] * 1.001


def test_dvfs_on_the_command_line(awake: Results, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyse", "dvfs", str(awake.root), "--rates", "0.5,1", "--powers", "0.7,1", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows == awake.rate_scaled(Rates((0.5, 1.0), (0.7, 1.0))).to_dicts()
    assert main(["analyse", "dvfs", str(awake.root), "--rates", "0.5"]) == 2
    assert "rates must rise from above 0 to 1" in capsys.readouterr().err


def test_what_is_missing_is_reported(tmp_path: Path) -> None:
    sets = {"measure.series": {"every": "50cycles", "of": "class"}, "traffic.load": 0.1, "seed": 1}
    sets |= {"traffic.pattern": "uniform", "routing": "ugal_p"}
    coarse = weft.load(RECORDED, overrides=sets).run(tmp_path / "coarse")
    with pytest.raises(ResultsError, match="of link classes, not of channels"):
        coarse.rate_scaled(over_time=True)
    few = sets | {"measure.series": {"every": "50cycles", "of": "channel"}, "measure.link_states": {"max_spans": 100}}
    with pytest.raises(ResultsError, match="did not record all states"):
        weft.load(RECORDED, overrides=few).run(tmp_path / "few").rate_scaled(over_time=True)


def test_prices_of_a_scenario() -> None:
    on = {"static": "0.5W", "per_bit": "0.25nJ/bit"}
    scenario: dict[str, Any] = {
        "cycle": "2ps",
        "flit": "8b",
        "power": {"prices": {"on": on, "shadow": {**on, "static": "3pJ/bit"}}},
    }
    prices = Prices.of(scenario)
    # 0.5 W for 2 ps is 1 pJ; 3 pJ/bit are 24 pJ for the 8 bits of a cycle
    assert prices.static.fj == pytest.approx({"on": 1000, "shadow": 24_000})
    assert prices.flit_fj == pytest.approx(250_000 * 8)
    channels = pl.DataFrame({"link_class": ["local", "global"], "bandwidth": [1.0, 0.5]})
    assert prices.per_cycle("off", channels).tolist() == [0, 0]
    # a price in watts applies to the whole link; a price per bit is proportional to the link's bandwidth
    assert prices.per_cycle("on", channels).tolist() == pytest.approx([1000, 1000])
    assert prices.per_cycle("shadow", channels).tolist() == pytest.approx([24_000, 12_000])
    own = scenario["power"] | {"class_prices": {"global": {"on": on, "off": {**on, "static": "1W"}}}}
    assert Prices.of(scenario | {"power": own}).per_cycle("off", channels).tolist() == [0, 2000]
    with pytest.raises(ResultsError, match="no readable prices"):
        Prices.of({"cycle": "1ns", "flit": "some"})


def test_one_rate_for_a_load_that_changes_is_refused_and_rates_over_time_are_the_way_out(tmp_path: Path) -> None:
    text = """
topology: {hyperx: {widths: [4], terminals_per_router: 2}}
routing: minimal
traffic: {pattern: uniform, load: 0.05, phases: [{from: 3000cycles, load: 0.5}]}
measure: {warmup: 1000cycles, window: 5000cycles, series: {every: 500cycles, of: channel}}
"""
    results = weft.load(text).run(tmp_path / "day")
    with pytest.raises(ResultsError, match="changes in 2 phases") as refused:
        results.rate_scaled()
    assert refused.value.help.endswith("with `--over-time` (`over_time=True`)"), "the series is there"
    without = weft.load(text, overrides={"measure.series": None}).run(tmp_path / "without")
    with pytest.raises(ResultsError, match="and a series of the channels: "):
        without.rate_scaled()
    (row,) = results.rate_scaled(over_time=True).to_dicts()
    assert 0.5 < row["normalised_energy"] < 1
