"""The time to recover, from series made by hand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
import pytest

import weft
from small import ROW_UNDER_TCEP
from weft.analysis.prices import cycles_of
from weft.analysis.recovery import back_in, from_series, mean_latency
from weft.cli import main
from weft.errors import ResultsError

if TYPE_CHECKING:
    from weft.api.results import Results


def series(means: list[float], packets: list[int] | None = None) -> pl.DataFrame:
    """Bins of 100 cycles with these mean latencies [cycles]."""
    columns = {
        "from_cycle": [100 * k for k in range(len(means))],
        "bin_cycles": [100] * len(means),
        "packets": packets or [10] * len(means),
        "packet_latency_mean_cycles": means,
    }
    return pl.DataFrame(columns)


def test_the_mean_before_weighs_packets_of_whole_bins_behind_the_warm_up() -> None:
    # bin 0 belongs to the warm-up, bin 3 to both sides of the fault: (10 * 20 + 30 * 40) / 40 = 35
    before, worst, _ = from_series(series([90, 20, 40, 500, 35, 70], [10, 10, 30, 10, 10, 10]), 100, 350, 0.05)
    assert before == pytest.approx(35)
    assert worst == 70


def test_recovery_ends_with_the_first_bin_back_in_tolerance() -> None:
    # 5 % of 40 are 2 cycles; bin 3 is still like before, bins 4 and 5 are not, bin 6 is
    assert from_series(series([40, 40, 40, 41, 80, 43, 42, 90]), 0, 300, 0.05)[2] == 600 - 300


def test_a_fault_that_nobody_notices_takes_no_time() -> None:
    assert from_series(series([40, 40, 41, 39]), 0, 200, 0.05)[2] == 0


def test_faster_than_before_is_no_deviation() -> None:
    assert from_series(series([40, 40, 50, 20]), 0, 200, 0.05)[2] == 300 - 200


def test_what_never_comes_back_has_no_time() -> None:
    assert from_series(series([40, 40, 60, 60]), 0, 200, 0.05)[2] is None


def test_bins_without_packets_say_nothing() -> None:
    bins = series([40.0, 40.0, 80.0, float("nan"), 40.0], [10, 10, 10, 0, 10])
    assert from_series(bins, 0, 200, 0.05)[2] == 400 - 200


def test_a_fault_outside_of_the_series_has_no_numbers() -> None:
    assert from_series(series([40, 40]), 0, 200, 0.05) == (40, None, None)
    assert from_series(series([40, 60]), 0, 0, 0.05) == (None, 60, None)


def test_without_bins_nothing_came_back() -> None:
    assert back_in(series([]), 40, 0, 0.05) is None


def test_latency_during_a_fault_is_of_whole_bins_in_it() -> None:
    # bins 2 and 3 lie in it, bin 1 and bin 4 only with a part: (10 * 40 + 30 * 80) / 40 = 70
    bins = series([20, 30, 40, 80, 90], [10, 10, 10, 30, 10])
    assert mean_latency(bins, 150, 450) == pytest.approx(70)
    assert mean_latency(bins, 450, 500) is None


def test_times_of_a_scenario_become_cycles() -> None:
    scenario = {"cycle": "2ns"}
    assert (cycles_of("10us", scenario), cycles_of("700cycles", scenario)) == (5000, 700)
    with pytest.raises(ResultsError, match="a time that can't be read"):
        cycles_of("soon", scenario)


SCENARIO = (
    ROW_UNDER_TCEP
    + """\
measure: {warmup: 1000cycles, window: 4000cycles, transient: {bin: 500cycles}}
"""
)
# none; two, of which the later one stands first; shorter than a bin; with an end behind that of the last whole bin
FAULTS = [
    [],
    [{"router": 1, "at": "3000cycles"}, {"link": [0, 2], "at": "2us", "until": "3500cycles"}],
    [{"link": [0, 2], "at": "2000cycles", "until": "2100cycles"}],
    [{"link": [0, 2], "at": "2000cycles", "until": "4800cycles"}],
    [{"link": [0, 2], "at": "1000cycles", "until": "3000cycles"}],
]


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Points with the faults."""
    folder = tmp_path_factory.mktemp("recovery")
    (folder / "faulty.yaml").write_text(SCENARIO, encoding="utf-8")
    return weft.load(folder / "faulty.yaml", set={"sweep.faults": FAULTS}).run(folder / "out")


def test_a_row_without_bins_says_why_and_leaves_the_others(faulty: Results, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyse", "recovery", str(faulty.root), "--json"]) == 0
    several, short, late, early = json.loads(capsys.readouterr().out)
    assert several["fault"] == "link 0-2 at 2000-3500; router 1 from 3000 on"
    assert None not in (several["before_cycles"], several["during_cycles"], several["after_cycles"])
    assert several["note"].endswith("the point is not settled (power states)")
    assert (short["worst_cycles"], short["during_cycles"], short["recovery_cycles"]) == (None, None, None)
    assert short["before_cycles"] > 0
    assert short["note"].startswith("faults = link 0, 2, at 2000cycles, until 2100cycles: no packets in whole bins ")
    assert "bins in the fault, cycles 2000 to 2100:" in short["note"]
    assert (late["after_cycles"], late["return_cycles"]) == (None, None)
    assert "bins after it, cycles 4800 to 5000:" in late["note"]
    assert (early["before_cycles"], early["recovery_cycles"], early["return_cycles"]) == (None, None, None)
    assert early["during_cycles"] > 0
    assert "bins before the fault, cycles 1000 to 1000:" in early["note"]
    assert main(["analyse", "recovery", str(faulty.root)]) == 0
    assert short["note"] in capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("tolerance", ["-0.1", "nan", "inf"])
def test_what_is_no_tolerance_is_refused(faulty: Results, tolerance: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyse", "recovery", str(faulty.root), f"--tolerance={tolerance}"]) == 2
    assert f"a tolerance of {tolerance} is no share" in capsys.readouterr().err
