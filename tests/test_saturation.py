"""Tests `weft saturation`, the search for the saturation load."""

from __future__ import annotations

import math
import re
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import polars as pl
import pytest

import weft
from weft.cli import main
from weft.cli.saturation import _text
from weft.runs import saturation_curve
from weft.runs.bisection import Search, Verdict
from weft.runs.saturation_search import steps

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from weft._engine import Point
    from weft.results.store import Store
    from weft.runs.execute import Status

# Dimension order sends the tornado traffic of all 4 terminals of a router over one channel, so the network accepts at
# most 1/4 (BOUND). A point is saturated if the second half of its window accepts less than is offered, by more than 3 %
# and three standard deviations of its number of packets. The standard deviation is sqrt(0.25 * 64 * 2000) for 64
# terminals, 2000 cycles and packets of one flit. Loads from NOTICED on are therefore saturated.
BOUND = 0.25
NOTICED = BOUND / (0.97 - 3 / math.sqrt(BOUND * 64 * 2000))
TORNADO = {"traffic.pattern": "tornado", "measure.window": "4000cycles"}


# Bursty traffic with Valiant routing, of which the network of 4x4 routers carries a load between 0.8 and 0.9.
BURSTY = """\
topology: {torus: {widths: [4, 4], terminals_per_router: 1}}
routing: valiant
traffic: {pattern: tornado, packet: 4flits, load: 0.9, injection: {on_off: {mean_on: 64cycles}}}
measure: {warmup: 1000cycles, window: 6000cycles}
"""


def search(loads: list[float], over: Callable[[float], bool | None]) -> tuple[Search, int]:
    """Run a search in which `over` gives the verdict on each load.

    Return the search and the number of verdicts that it requested.
    """
    made, runs = Search(loads), 0
    while wanted := made.wanted():
        assert made.left() >= len(wanted)
        runs += len(wanted)
        for load in wanted:
            made.learn(load, over=over(load))
    assert made.left() == 0
    return made, runs


def test_loads_are_steps_of_the_tolerance() -> None:
    assert steps(0.1, 0.3, 0.1) == [0.1, 0.2, 0.3]
    assert steps(0.1, 0.35, 0.1) == [0.1, 0.2, 0.3, 0.35]
    assert steps(0.1, 0.3, 0.2) == [0.1, 0.3], "0.3 - 0.1 is a little less than 0.2"
    assert len(steps(0.005, 1.0, 0.005)) == 200


@pytest.mark.parametrize("tolerance", ["-1", "0", "1", "5"])
def test_a_tolerance_that_is_no_step_between_loads_is_refused_by_its_name(
    small: Path, tolerance: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["saturation", str(small), "--tolerance", tolerance]) == 2
    errors = capsys.readouterr().err
    assert f"a tolerance of {tolerance}" in errors
    assert "such as 0.005" in errors


@pytest.mark.parametrize("first_over", range(1, 200))
def test_a_search_finds_every_edge_in_few_runs(first_over: int) -> None:
    loads = steps(0.005, 1.0, 0.005)
    made, runs = search(loads, lambda load: load >= loads[first_over])
    assert made.bracket() == (loads[first_over - 1], loads[first_over], Verdict.FOUND)
    assert runs <= 2 + 8 + 2, "the ends, log2(200) halves, one load on each side"


def test_a_search_without_an_edge_says_so() -> None:
    loads = steps(0.1, 1.0, 0.1)
    assert search(loads, lambda load: load > 0)[0].bracket() == (None, 0.1, Verdict.BELOW)
    assert search(loads, lambda load: load > 1)[0].bracket() == (1.0, None, Verdict.ABOVE)
    assert search(loads, lambda load: load < 0.5)[0].bracket() == (None, None, Verdict.MIXED)


def test_a_blurred_edge_is_reported_from_first_to_last_doubt() -> None:
    loads = steps(0.1, 1.0, 0.1)
    # Load 0.5 is saturated, but the higher load 0.7 is not, so the verdict is MIXED.
    made, _ = search(loads, lambda load: load >= 0.5 and load != 0.7)
    assert made.bracket() == (0.4, 1.0, Verdict.MIXED)


def test_loads_that_are_not_known_leave_open_what_they_decide() -> None:
    loads = steps(0.1, 1.0, 0.1)

    def found(known: Callable[[float], bool | None]) -> tuple[float | None, float | None, Verdict]:
        return search(loads, known)[0].bracket()

    # a load that cannot be judged does not matter if the network carries a higher load
    assert found(lambda load: None if load < 0.3 else load > 0.6) == (0.6, 0.7, Verdict.FOUND)
    # load 0.6 cannot be judged, so the saturation is between 0.5 and 0.7
    assert found(lambda load: None if load == 0.6 else load > 0.6) == (0.5, 0.7, Verdict.OPEN)
    assert found(lambda load: None if load > 0.5 else False) == (0.1, None, Verdict.OPEN)
    assert found(lambda load: True if load > 0.5 else None) == (None, 0.6, Verdict.OPEN)
    assert found(lambda _: None) == (None, None, Verdict.OPEN)


def test_bursts_saturate_between_two_loads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Bursts saturate the network between two loads, although a drain would deliver all packets that wait."""
    file = tmp_path / "bursty.yaml"
    file.write_text(BURSTY, encoding="utf-8")
    sweep = weft.load(file)
    (row,) = sweep.saturation(tmp_path / "found", tolerance=0.1, lower=0.5).iter_rows(named=True)
    assert (row["verdict"], row["steady_load"], row["saturated_load"]) == ("found", 0.8, 0.9)
    # if windows are too short to judge, the search says so, and names a longer window that is long enough
    arguments = [str(file), "--tolerance", "0.1", "--from", "0.2", "--to", "0.3"]
    assert main(["saturation", *arguments, "--out", str(tmp_path / "short")]) == 0
    output = capsys.readouterr().out
    assert "\nnot judged  " in output
    assert "carries the lowest" not in output
    windows = [int(number) for number in re.findall(r"write `measure.window: (\d+)cycles`", output)]
    assert len(windows) == 2
    longer = ["--set", f"measure.window={max(windows)}cycles", "--out", str(tmp_path / "long")]
    assert main(["saturation", *arguments, *longer]) == 0
    assert "not up to 0.3" in capsys.readouterr().out


def test_a_warm_up_that_came_to_its_limit_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """If a warm-up reaches its limit, the message names a longer limit, with which the warm-up settles."""
    file = tmp_path / "bursty.yaml"
    file.write_text(BURSTY, encoding="utf-8")
    sets = ["traffic.load=0.6", "seed=4", "measure.warmup=auto", "measure.window=1000cycles"]

    def run(limit: str, out: str) -> str:
        arguments = [part for pair in [*sets, f"measure.warmup_limit={limit}"] for part in ("--set", pair)]
        assert main(["run", str(file), *arguments, "--no-picture", "--out", str(tmp_path / out)]) == 0
        return capsys.readouterr().out

    shown = run("6500cycles", "short")
    assert "warm-up settled in 0 of 1 points" in shown
    assert "had not settled when the warm-up ended at its limit, after 6208 cycles" in shown
    (limit,) = re.findall(r"write `measure.warmup_limit: (\w+)`", shown)
    assert "warm-up settled in 1 of 1 points" in run(limit, "long")


def test_a_load_that_follows_the_network_is_not_searched(small: Path, tmp_path: Path) -> None:
    with pytest.raises(weft.ScenarioError, match="the network limits the offered load") as caught:
        weft.load(small, overrides={"traffic.reply": {"outstanding": 4}}).saturation(tolerance=0.1)
    assert caught.value.path == "traffic.reply.outstanding"
    # the remedy for a closed loop works: requests that do not wait for replies
    open_loop = weft.load(small, overrides={**TORNADO, "traffic.reply": {}, "routing": "dimension_order"})
    assert open_loop.saturation(tmp_path, tolerance=0.4, lower=0.1)["verdict"].to_list() == ["found"]


def test_a_program_has_no_load_to_search_and_the_remedy_names_what_is_written(tmp_path: Path) -> None:
    text = """
topology: {torus: {widths: [4], terminals_per_router: 1}}
routing: dimension_order
traffic:
  workload: {programs: {program: {collective: {operation: all_reduce, ranks: 4, bytes: 1KB}}}}
"""
    path = tmp_path / "program.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(weft.ScenarioError, match="replace it by a pattern and a load") as caught:
        weft.load(path).saturation(tolerance=0.1)
    assert caught.value.path == "traffic.workload"
    with_pattern = {"traffic.workload": None, "traffic.pattern": "uniform", "traffic.load": 0.1}
    found = weft.load(path, overrides=with_pattern).saturation(tmp_path / "found", tolerance=0.4, lower=0.1)
    assert found.height == 1


def test_tornado_saturates_at_its_bound(small: Path, tmp_path: Path) -> None:
    statuses: list[Status] = []
    sweep = weft.load(small, overrides=TORNADO)
    frame = sweep.saturation(tmp_path, tolerance=0.01, lower=0.1, upper=0.5, watch=statuses.append)
    assert frame["routing"].to_list() == ["dimension_order", "ugal_p"]
    row = frame.row(0, named=True)
    assert row["verdict"] == Verdict.FOUND
    # at the bound itself no run settles, and no load above the bound counts as carried, even if few flits are missing
    # in a short window
    assert row["saturated_load"] == pytest.approx(BOUND + 0.01)
    assert BOUND - 0.02 <= row["steady_load"] < BOUND
    assert row["accepted_load"] == pytest.approx(BOUND, rel=0.01)
    assert frame["steady_load"][1] > row["saturated_load"], "UGAL goes round"
    assert statuses[-1].done == statuses[-1].total == frame["runs"].sum()
    assert len(weft.open_results(tmp_path)) == frame["runs"].sum()


def test_what_was_found_is_not_run_again(small: Path, tmp_path: Path) -> None:
    sweep = weft.load(small, overrides={**TORNADO, "routing": "dimension_order"})
    first = sweep.saturation(tmp_path, tolerance=0.05)
    times = {path: path.stat().st_mtime_ns for path in tmp_path.glob("points/*/summary.json")}
    assert sweep.saturation(tmp_path, tolerance=0.05).equals(first)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.glob("points/*/summary.json")} == times


@pytest.mark.parametrize(
    ("saturated", "stuck", "over"),
    [
        ("1", "0", True),
        ("10", "00", True),
        ("100", "000", False),
        ("100", "010", True),
        ("0000", "0001", False),
        ("1?0", "000", None),
        ("?00", "000", False),
        ("11?", "000", True),
    ],
)
def test_seeds_vote(saturated: str, stuck: str, over: bool | None) -> None:
    """A load is saturated if at least half of its seeds are.

    A stalled run counts as saturated. The load has no verdict if the majority depends on seeds that have none.
    """
    judged = {"1": True, "0": False, "?": None}
    runs = {
        str(seed): {"saturated": judged[full], "ending": "stalled" if still == "1" else "delivered"}
        for seed, (full, still) in enumerate(zip(saturated, stuck, strict=True))
    }
    points: Any = [SimpleNamespace(hash=hash) for hash in runs]
    store: Any = SimpleNamespace(summary=runs.__getitem__)
    assert saturation_curve.over(cast("list[Point]", points), cast("Store", store)) is over


def test_a_load_that_had_not_settled_counts_as_carried_only_if_it_was_accepted() -> None:
    def found(accepted: float, settled: bool, packets: int | None = None) -> bool | None:
        summary: dict[str, Any] = {
            "saturated": False,
            "ending": "drained",
            "queues_settled": settled,
            "packets": packets,
        }
        summary |= {"offered_load": 0.5}
        summaries = {"1": summary | {"accepted_load": accepted}}
        points: Any = [SimpleNamespace(hash="1")]
        store: Any = SimpleNamespace(summary=summaries.__getitem__)
        return saturation_curve.over(points, store)

    assert [found(0.48, False), found(0.49, False), found(0.48, True)] == [None, False, False]
    # 0.48 is 4 % less than the offered load, but random variation explains 1.5 % (three standard deviations of 40,000
    # packets)
    assert found(0.48, False, packets=40_000) is False
    assert found(0.47, False, packets=40_000) is None


def test_what_rests_on_loads_that_had_not_settled_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The warm-up of the first search is too short. Its message says so, and names a longer warm-up.

    With this warm-up, the search finds the saturation.
    """
    file = tmp_path / "full.yaml"
    text = BURSTY.replace(", injection: {on_off: {mean_on: 64cycles}}", "").replace("6000cycles", "1000cycles")
    file.write_text(text.replace("1000cycles, window", "10cycles, window"), encoding="utf-8")
    sets = ["--tolerance", "0.4", "--from", "0.5", "--to", "0.9"]
    assert main(["saturation", str(file), *sets, "--out", str(tmp_path / "short")]) == 0
    output = capsys.readouterr().out
    assert "\nnot judged above 0.5" in output
    ((warmup, window),) = re.findall(r"write `measure.warmup: (\w+)` and `measure.window: (\w+)`, or more", output)
    longer = ["--set", f"measure.warmup={warmup}", "--set", f"measure.window={window}", "--out", str(tmp_path / "long")]
    assert main(["saturation", str(file), *sets, *longer]) == 0
    assert "\n0.5 to 0.9 " in capsys.readouterr().out


def test_a_search_whose_loads_had_not_settled_praises_none() -> None:
    results: Any = SimpleNamespace(title="made up", summaries=[])
    row = {
        "routing": "a",
        "verdict": "above_range",
        "steady_load": 1.0,
        "saturated_load": None,
        "accepted_load": None,
        "packet_latency_mean_cycles": 90.0,
        "stuck": False,
        "dropped_share": None,
        "runs": 2,
        "unsettled_loads": 2,
        "wider_than_tolerance": False,
        "flaw": "not settled (queues)",
        "loads_run": "0.1 1",
        "warned_of": None,
    }
    text = "\n".join(_text(pl.DataFrame([row]), results, 0.1))
    assert "not up to 1, but 2 loads were not settled" in text
    assert "90.0~" in text
    assert "~: 1 of 1 points whose latency is shown are not settled (queues)" in text
    assert "carries the lowest" not in text
    settled = row | {"unsettled_loads": 0, "flaw": None}
    text = "\n".join(_text(pl.DataFrame([settled], schema_overrides={"flaw": pl.String}), results, 0.1))
    assert "the network carries the lowest and the highest load of the search; loads between were not run" in text
    assert "not settled" not in text


def test_every_load_is_run_with_every_seed(small: Path, tmp_path: Path) -> None:
    sweep = weft.load(small, overrides={**TORNADO, "routing": "dimension_order"})
    frame = sweep.saturation(tmp_path, tolerance=0.05, lower=0.1, upper=0.5, seeds=3)
    assert frame["runs"][0] % 3 == 0
    assert sorted(set(weft.open_results(tmp_path).frame["seed"])) == [1, 2, 3]


def test_a_scenario_needs_no_load(tmp_path: Path, small: Path) -> None:
    text = small.read_text().replace(", load: 0.1", "").replace("  traffic.load: [0.05, 0.1, 0.4]\n", "")
    small.write_text(text, encoding="utf-8")
    arguments = ["--tolerance", "0.1", "--set", "traffic.pattern=tornado", "--out", str(tmp_path / "out")]
    assert main(["saturation", str(small), *arguments]) == 0


def test_the_command_prints_a_line_per_curve(small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "--tolerance",
        "0.1",
        "--to",
        "0.8",
        "--set",
        "routing=dimension_order",
        "--out",
        str(tmp_path / "out"),
    ]
    assert main(["saturation", str(small), *arguments]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "not up to 0.8" in next(line for line in lines if line.startswith("uniform"))
    assert "0.2 to 0.3" in next(line for line in lines if line.startswith("tornado"))
    assert (tmp_path / "out" / "saturation.csv").is_file()
    _exported(tmp_path / "out", tmp_path, capsys)


def _exported(folder: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Check that `weft export` writes the table in every format, and that `weft query` can query it."""
    assert main(["export", str(folder), "--table", "saturation"]) == 0
    assert capsys.readouterr().out.startswith("traffic.pattern,")
    assert main(["query", str(folder), "select saturated_load from saturation where verdict = 'found'", "--csv"]) == 0
    assert capsys.readouterr().out.splitlines() == ["saturated_load", "0.3"]
    for ending in ("md", "tex"):
        assert main(["export", str(folder), "--table", "saturation", "--out", str(out / f"s.{ending}")]) == 0
    text = (out / "s.md").read_text(encoding="utf-8")
    assert "| Pattern | Verdict | Steady load [flits/terminal/cycle] | Saturated load [flits/terminal/cycle] |" in text
    assert r"tornado & found & 0.2 & 0.3 &" in (out / "s.tex").read_text(encoding="utf-8")


def test_without_a_search_the_command_that_makes_one_is_reported(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = weft.load(small, overrides={"sweep": None, "traffic.load": 0.1}).run(tmp_path / "plain")
    assert main(["export", str(results.root), "--table", "saturation"]) == 2
    errors = capsys.readouterr().err
    assert f"{results.root}: there is no table saturation" in errors
    assert "= help: first run `weft saturation FILE`" in errors
    folder = tmp_path / "searched"
    assert main(["saturation", str(small), "--set", "sweep=null", "--tolerance", "0.5", "--out", str(folder)]) == 0
    assert main(["export", str(folder), "--table", "saturation"]) == 0


def test_a_stall_is_reported(ring: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["saturation", str(ring), "--tolerance", "0.3", "--out", str(tmp_path / "out")]) == 4
    printed = capsys.readouterr()
    assert ", stuck" in printed.out
    assert "can never move again" in printed.err
    assert "-m weft run " in printed.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--from", "0.5", "--to", "0.3"], ["from 0.5 up to 0.3", "a higher upper end"]),
        (["--to", "1.5"], ["up to 1.5", "at most 1"]),
        (["--from", "0"], ["from 0 up"]),
        (["--tolerance", "0"], ["tolerance of 0"]),
        (["--tolerance", "nan"], ["nan"]),
        (["--from", "0.5", "--tolerance", "0.9"], ["tolerance of 0.9", "0.5"]),
    ],
)
def test_a_range_that_is_none_is_refused(
    small: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: list[str]
) -> None:
    assert main(["saturation", str(small), *arguments]) == 2
    errors = capsys.readouterr().err
    assert all(word in errors for word in words), errors


def test_loads_above_the_peak_of_bursts_are_refused_before_anything_runs(small: Path, tmp_path: Path) -> None:
    bursts = {"on_off": {"mean_on": "100cycles", "peak": 0.5}}
    sweep = weft.load(small, overrides={**TORNADO, "traffic.injection": bursts, "routing": "dimension_order"})
    with pytest.raises(weft.ScenarioError, match=r"search up to 0\.5 \(--to 0\.5"):
        sweep.saturation(tmp_path / "out", tolerance=0.1)
    assert not (tmp_path / "out").exists()
    assert sweep.saturation(tmp_path / "out", tolerance=0.1, upper=0.5).height == 1


@pytest.mark.parametrize(
    ("traffic", "path"),
    [
        ({"phases": [{"from": "1cycle", "load": 0.2}]}, "traffic.phases"),
        ({"loads": [{"terminals": [0, 40], "load": 0.1}, {"terminals": [30, 63], "load": 0.2}]}, "traffic.loads"),
        ({"batch": {"per_terminal": 3}}, "traffic.batch"),
        ({"jobs": [{"name": "a", "terminals": {"range": [0, 9]}, "load": 0.1}]}, "traffic.jobs.0.load"),
        ({"jobs": [{"name": "a", "terminals": {"range": [0, 9]}, "batch": {"per_job": 9}}]}, "traffic.jobs.0.batch"),
    ],
)
def test_a_load_that_decides_nothing_is_refused(small: Path, traffic: dict[str, Any], path: str) -> None:
    sets = {f"traffic.{key}": value for key, value in ({"pattern": "uniform"} | traffic).items()}
    with pytest.raises(weft.ScenarioError) as caught:
        weft.load(small, overrides=sets).saturation(tolerance=0.1)
    assert caught.value.path == path
    assert caught.value.help
