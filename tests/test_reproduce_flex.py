"""Tests the reproduction of the paper on FleX: networks, verdicts, tables, figures, and command."""

from __future__ import annotations

import dataclasses
import json
from functools import cache
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import paper_checks
from odd_values import ODD, check_report
from paper_checks import NOTHING
from reproduced_flex import ideal
from weft.cli import main
from weft.results import quantities as q
from weft_papers.common import line_figures, rules, scoreboard
from weft_papers.common.measured import LackingError, Measured
from weft_papers.common.reproduction import reproduce, sweeps
from weft_papers.common.rules import UNKNOWN
from weft_papers.flex import PAPER, networks
from weft_papers.flex.network_saturation import Saturation, bounds, knee
from weft_papers.flex.networks import DRAGONFLY, FAT_TREE, FLEX, HYPERX, SLIM_FLY
from weft_papers.flex.performance_frame import LARGER, LBR, MINIMAL, READINGS, UGAL, mechanism, of_layers

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from weft_papers.common.paper import Experiment

# Numbers in the identifiers of claims that contradict arithmetic, so that no run can meet them. The scoreboard gives
# the reason for each.
IMPOSSIBLE = {5, 6, 12, 22, 28, 33, 38, 45, 46, 50, 66, 69, 72, 80, 81, 84, 91, 92, 99, 100, 119, 137, 138, 139}
# Numbers in the identifiers of claims whose formula Weft's model repeats (CONSTRUCTED), and of claims about networks
# that we chose because they give the printed numbers (SELECTED).
CONSTRUCTED = {24, 74, 75, 77, 78, 82, 86, 90, 94, 127, 128, 129}
SELECTED = {*range(25, 45)} - IMPOSSIBLE
DRAWN = [each.name for each in PAPER.figures if each.draw]
TABLES = [each.name for each in PAPER.figures if each.rows]


def judged(measured: Measured) -> dict[str, scoreboard.Row]:
    """Judge all claims from measurements, and return the rows of the scoreboard by identifier of the claim."""
    return paper_checks.judged(PAPER, measured)


@cache
def as_printed() -> dict[str, scoreboard.Row]:
    """Return the rows of the scoreboard for the numbers that the paper prints."""
    return judged(ideal())


def changed(experiment: str, change: Callable[[pl.DataFrame], pl.DataFrame]) -> Measured:
    """Return the paper's numbers with a change in the frame of one experiment."""
    return paper_checks.changed(ideal(), experiment, change)


def scaled(column: str, factor: float, *mechanisms: str) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Make a function that multiplies a column by a factor in the rows of some mechanisms."""
    return paper_checks.scaled_where(pl.col("mechanism").is_in(mechanisms), column, factor)


def test_every_claim_has_a_rule_and_every_rule_a_claim() -> None:
    paper_checks.check_rules(PAPER, (f"F-{number:03}" for number in range(1, 140)))


def test_what_rules_and_figures_need_exists() -> None:
    paper_checks.check_needs(PAPER)
    assert [each.name for each in PAPER.needed(PAPER.chosen(["13", "table6"]))] == ["bit_complement", "larger"]
    assert [each.name for each in PAPER.chosen(["6"])] == ["6a", "6b", "6c", "6d"]


def test_full_bandwidth_is_half_of_the_links_of_a_router() -> None:
    """With full global bandwidth, a router of k ports has p = floor(k / 3) terminals: half as many as its other ports,
    rounded down.

    Dragonflies have a = 2 p = 2 h.
    """
    for name, by_size in networks.OF_SIZE.items():
        for topology in by_size.values():
            facts = networks.measured(topology).facts
            each = facts["terminals"] // facts["routers"]
            if name == DRAGONFLY:
                sizes = topology["dragonfly"]
                assert sizes["routers_per_group"] == 2 * each == 2 * sizes["global_links_per_router"]
            elif name != FAT_TREE:
                assert each == facts["radix_ports"] // 3 == facts["degree_max_links"] // 2


def test_numbers_as_printed_meet_every_claim_that_can_be_met() -> None:
    answers = {key: row.finding.answer for key, row in as_printed().items()}
    assert {key for key, answer in answers.items() if answer == "missed"} == {f"F-{each:03}" for each in IMPOSSIBLE}
    for key in answers:
        assert UNKNOWN not in as_printed()[key].finding.cause, f"{key} is missed whatever is run, so its cause is known"
    assert "not run" not in answers.values()
    for word, ids in (("by construction", CONSTRUCTED), ("by selection", SELECTED)):
        assert {key for key, answer in answers.items() if answer == word} == {f"F-{each:03}" for each in ids}


def curve(routing: str, *names: str) -> tuple[str, ...]:
    """Return the names of the curves of networks under a routing."""
    return tuple(mechanism(name, routing) for name in names)


@pytest.mark.parametrize(
    ("claim", "experiment", "change"),
    [
        ("F-014", "uniform", scaled("hops_mean", 1.2, *curve(MINIMAL, FLEX))),
        ("F-015", "uniform", scaled("hops_mean", 0.7, *curve(MINIMAL, FAT_TREE))),
        ("F-016", "uniform", scaled("hops_mean", 1.5, *curve(MINIMAL, DRAGONFLY))),
        ("F-017", "uniform", scaled("hops_mean", 1.02, *curve(MINIMAL, HYPERX))),
        ("F-018", "uniform", scaled("hops_mean", 0.9, *curve(MINIMAL, SLIM_FLY))),
        ("F-019", "uniform", scaled("hops_mean", 1.02, *curve(MINIMAL, FLEX))),
        ("F-101", "uniform", scaled(q.LATENCY.column, 1.2, *curve(UGAL, FLEX))),
        ("F-101", "uniform", scaled("accepted_load", 0.6, *curve(LBR, FLEX))),
        ("F-102", "uniform", scaled("accepted_load", 0.7, *curve(MINIMAL, HYPERX))),
        ("F-103", "uniform", scaled("accepted_load", 0.88, *curve(LBR, FLEX))),
        ("F-104", "bit_complement", scaled("accepted_load", 0.5, *curve(MINIMAL, FLEX))),
        ("F-105", "bit_complement", scaled("accepted_load", 0.89, *curve(LBR, FLEX))),
        ("F-106", "bit_complement", scaled(q.LATENCY.column, 1.1, *curve(LBR, FLEX))),
        ("F-106", "bit_complement", scaled(q.LATENCY.column, 0.9, *curve(UGAL, FLEX))),
        ("F-107", "bit_reverse", scaled("accepted_load", 0.85, *curve(LBR, FLEX))),
        ("F-107", "bit_reverse", scaled(q.LATENCY.column, 0.8, *curve(MINIMAL, SLIM_FLY))),
        ("F-108", "shuffle", scaled("accepted_load", 0.9, *curve(UGAL, FLEX))),
        ("F-109", "transpose", scaled(q.LATENCY.column, 2.0, *curve(MINIMAL, DRAGONFLY))),
        ("F-109", "transpose", scaled("accepted_load", 0.5, *curve(UGAL, FLEX))),
        ("F-110", "transpose", scaled(q.LATENCY.column, 0.7, *curve(UGAL, DRAGONFLY))),
        ("F-111", "hot_spot", scaled(q.LATENCY.column, 1.2, *curve(MINIMAL, FLEX))),
        ("F-112", "random_permutation", scaled("accepted_load", 1.5, *curve(UGAL, SLIM_FLY))),
        ("F-113", "random_permutation", scaled("accepted_load", 0.85, *curve(LBR, FLEX))),
        ("F-114", "asymmetric", scaled("accepted_load", 0.7, *curve(UGAL, HYPERX))),
        ("F-115", "asymmetric", scaled("accepted_load", 0.85, *curve(LBR, FLEX))),
        ("F-116", "tornado", scaled("accepted_load", 0.2, *curve(LBR, FLEX))),
        ("F-117", "uniform", scaled(q.LATENCY.column, 2.0, *curve(LBR, FLEX))),
        ("F-118", "tornado", scaled("accepted_load", 0.2, *curve(MINIMAL, FLEX))),
        ("F-120", "uniform", lambda rows: rows.with_columns(hop_packets=pl.lit([1, 2, 3, 4]))),
        ("F-121", "next_group", scaled("accepted_load", 0.5, *curve(LBR, FLEX))),
        ("F-125", "larger", scaled("accepted_load", 0.9, *curve(LBR, LARGER))),
        ("F-126", "periods", lambda rows: rows.with_columns(period=1001 - pl.col("period"))),
        ("F-131", "layers", scaled("hops_mean", 0.9, f"{of_layers(4)}, minimal, all paths")),
        ("F-132", "layers", scaled("hops_mean", 0.9, "HyperX 6x6x6, minimal")),
        ("F-133", "layers", scaled("hops_mean", 0.9, f"{of_layers(7)}, minimal, all paths")),
        ("F-134", "layers", scaled(q.LATENCY.column, 0.9, f"{of_layers(4)}, minimal, all paths")),
        ("F-135", "layers", scaled(q.LATENCY.column, 0.9, "HyperX 6x6x6, minimal")),
        ("F-136", "layers", scaled(q.LATENCY.column, 1.1, "HyperX 6x6, minimal")),
    ],
)
def test_a_number_that_is_off_misses_its_claim(
    claim: str, experiment: str, change: Callable[[pl.DataFrame], pl.DataFrame]
) -> None:
    assert as_printed()[claim].finding.answer == "met", as_printed()[claim].verdict
    finding = PAPER.rules[claim].judge(changed(experiment, change))
    assert finding.answer == "missed", finding.measured
    assert "is allowed" in finding.because or "; required: " in finding.because or " is not " in finding.because


def test_saturation_is_where_latency_becomes_steep_and_a_quick_run_does_not_judge_it() -> None:
    """In the changed frame, Slim Fly under UGAL accepts the whole load 0.5, but at five times the minimum latency.

    The saturation is therefore where the latency is three times the minimum: halfway between loads 0.4 and 0.5.
    """
    slow = pl.col("mechanism").is_in(curve(UGAL, SLIM_FLY)) & (pl.col("load") == 0.5)
    held = pl.col("mechanism").is_in(curve(UGAL, SLIM_FLY)) & (pl.col("load") <= 0.5)
    off = changed(
        "random_permutation",
        lambda rows: rows.with_columns(
            accepted_load=pl.when(held).then(pl.col("load")).otherwise(pl.col("accepted_load")),
            packet_latency_mean_cycles=pl.when(slow).then(5.0).otherwise(1.0) * pl.col("packet_latency_mean_cycles"),
        ),
    )
    assert "Slim Fly, UGAL: 0.450" in judged(off)["F-112"].finding.measured
    unsettled = dataclasses.replace(
        off,
        frames=dict(off.frames)
        | {"random_permutation": off["random_permutation"].with_columns(unsettled=pl.col("load") == 0.1)},
    )
    assert judged(unsettled)["F-112"].verdict.endswith("had not settled at load 0.1")
    quick = judged(dataclasses.replace(ideal(), quick=True))
    assert {quick[each].finding.answer for each in ("F-101", "F-105", "F-110", "F-118", "F-126")} == {"not run"}
    assert {quick[each].finding.answer for each in ("F-106", "F-111", "F-117", "F-120")} == {"met"}


def _curve(*late: float, over: float = 0.5) -> pl.DataFrame:
    """Make rows of a curve that accepts all loads up to 0.4, and less than 95 % of loads of `over` and more.

    Points at the loads `late` had not settled.
    """
    loads = [0.1, 0.2, 0.3, 0.4, over, 1.0]
    rows = [
        {
            "mechanism": "A",
            "load": load,
            "accepted_load": min(load, 0.45),
            q.LATENCY.column: 10.0,
            "unsettled": load in late,
            "stalled": False,
            "seed": 1.0,
        }
        for load in loads
    ]
    return pl.DataFrame(rows)


def test_a_point_that_had_not_settled_bounds_a_saturation() -> None:
    """Unsettled points beyond the saturation do not matter.

    If a point below the saturation is unsettled, the last load before this point is the lower bound of the saturation.
    """
    assert bounds(_curve(0.5, 1.0), "A") == Saturation(0.45, 0.45)
    found = bounds(_curve(0.3), "A")
    assert (found.low, found.high, str(found)) == (0.2, 0.45, "0.200 to 0.450")
    assert bounds(_curve(0.1), "A").low == 0
    with pytest.raises(LackingError, match=r"had not settled at load 0\.3"):
        knee(_curve(0.3), "A")


@pytest.mark.parametrize(
    ("other", "above", "ratios"),
    [(0.1, True, (2.0, 4.0)), (0.2, None, (1.0, 2.0)), (0.3, None, (2 / 3, 4 / 3)), (0.4, False, (0.5, 1.0))],
)
def test_bounds_are_compared_where_they_decide(other: float, above: bool | None, ratios: tuple[float, float]) -> None:
    ours, theirs = Saturation(0.2, 0.4, "late"), Saturation(other, other)
    assert ours.above(theirs) is above
    assert ours.beside(theirs) == pytest.approx(ratios)


def test_a_trend_that_some_runs_leave_open_is_missed_where_another_part_fails() -> None:
    open_ = rules.Undecided("A had not settled")
    failed = rules.trend("more", lambda _: [open_, rules.Part(holds=False, text="B")]).judge(NOTHING)
    assert (failed.answer, failed.measured) == ("missed", "B")
    with pytest.raises(LackingError, match="A had not settled"):
        rules.trend("more", lambda _: [open_, rules.Part(holds=True, text="B")]).judge(NOTHING)


def test_what_fig_15_leaves_out_is_named_as_the_cause() -> None:
    for claim in ("F-137", "F-138"):
        assert "HyperX 10x10x10 with 10 terminals per router" in as_printed()[claim].finding.cause


def test_both_readings_of_tornado_are_reported_and_one_is_judged() -> None:
    lost = changed("tornado_of_ids", scaled("accepted_load", 0.1, *curve(LBR, FLEX)))
    finding = PAPER.rules["F-116"].judge(lost)
    assert finding.answer == "met"
    assert "tornado, all digits of ids, LBR: Fat tree 0.950" in finding.measured
    assert finding.measured.endswith("FleX 0.002"), "a tenth of what it accepts at the lowest load"


def test_reasons_name_the_errors_of_the_paper() -> None:
    rows = as_printed()
    assert "7,280" in rows["F-022"].verdict
    assert "swapped" in rows["F-028"].verdict
    assert "swapped" in rows["F-033"].verdict
    assert "(Nx-1)+(Ny-1)" in rows["F-072"].verdict
    assert "19 ports" in rows["F-091"].verdict
    assert "the tree of pods of 16 ports costs 6,875,124 $" in rows["F-080"].finding.measured
    assert "the difference of one step is chance" in rows["F-045"].verdict
    assert "without these cables 3,445,480 $" in rows["F-092"].finding.measured


def test_a_network_whose_paths_carry_less_is_the_cause_of_a_miss() -> None:
    bound = pl.when(pl.col("network") == FLEX).then(0.1).otherwise(0.125).alias("path_bound")
    minimal = mechanism(FLEX, MINIMAL)
    off = changed("bit_complement", lambda rows: scaled("accepted_load", 0.5, minimal)(rows).with_columns(bound))
    verdict = judged(off)["F-104"].verdict
    assert "under minimal the paths of FleX can carry 0.100, the paths of Slim Fly 0.125 (`weft check`)" in verdict
    unknown = changed("bit_complement", scaled("accepted_load", 0.5, minimal))
    assert "(`weft check`)" not in judged(unknown)["F-104"].verdict


def test_a_miss_names_the_readings_of_lbr_that_meet_the_claim() -> None:
    off = changed("random_permutation", scaled("accepted_load", 0.6, *curve(LBR, FLEX)))
    assert "the reading of LBR; LBR, used credits: FleX accepts 0.930, Fat tree 0.950" in judged(off)["F-113"].verdict
    nearly = judged(changed("bit_complement", scaled("accepted_load", 0.6, *curve(LBR, FLEX))))["F-105"]
    assert nearly.finding.answer == "missed"
    assert "0.600 (LBR, paths by packet)" in nearly.finding.measured
    assert nearly.finding.cause.startswith("the reading of LBR: LBR gives 0.600")


def test_a_miss_under_every_reading_of_lbr_says_what_was_tried() -> None:
    all_readings = curve(LBR, FLEX) + tuple(mechanism(FLEX, each) for each in READINGS)
    off = changed("readings", scaled("accepted_load", 0.5, *all_readings))
    both = paper_checks.changed(off, "bit_complement", scaled("accepted_load", 0.5, *curve(LBR, FLEX)))
    assert judged(both)["F-105"].finding.cause.startswith("not isolated: tried 7 readings of LBR, which give ")


def test_slim_fly_and_flex_are_compared_with_equal_terminals_per_router() -> None:
    off = changed("bit_complement", scaled("accepted_load", 0.5, *curve(MINIMAL, FLEX)))
    cause = judged(off)["F-104"].finding.cause
    assert "with 6 per router FleX accepts 0.900, Slim Fly 0.200" in cause


def test_what_was_not_run_is_said() -> None:
    rows = judged(NOTHING)
    absent = "not run because the points of bit_complement.yaml are missing: run them without --only"
    assert rows["F-105"].verdict == absent
    assert rows["F-096"].finding.answer == "met", "a cost needs no run"
    alone = ideal()["bit_complement"].filter(pl.col("routing") == MINIMAL)
    finding = judged(Measured({"bit_complement": alone}))["F-104"]
    assert finding.verdict == "not run because UGAL and LBR was not run"
    assert rows["F-015"].finding.answer == "not run"
    assert as_printed()["F-015"].finding.measured.startswith("routers visited: Fat tree 4.780, Dragonfly 3.680, ")


@pytest.mark.parametrize("name", DRAWN)
def test_every_figure_is_drawn_with_its_numbers_and_units(name: str) -> None:
    paper_checks.check_figure(PAPER, name, ideal())


@pytest.mark.parametrize("name", TABLES)
def test_every_table_has_its_lines_and_units(name: str) -> None:
    (figure,) = PAPER.chosen([name])
    assert figure.rows
    table = figure.rows(ideal() if figure.needs else NOTHING)
    lines = {"table1": 6, "table2": 5, "table3": 5, "table4": 4, "table5": 5, "table6": 7}
    lines |= {"readings": 7, "concentration": 12}
    assert table.height == lines[name]
    assert lines.keys() == set(TABLES)
    if figure.needs:
        with pytest.raises(LackingError):
            figure.rows(NOTHING)


def test_fig_3_has_the_largest_networks_of_100_links_per_router() -> None:
    """The largest networks with at most 100 links per router are FleX 26x26x3, HyperX 51x51, and Slim Fly with q = 64,
    which has 96 links per router (65 and 66 are not prime powers, and q = 67 has 101 links).
    """
    (figure,) = PAPER.chosen(["3"])
    drawing = line_figures.drawn(figure, NOTHING)
    assert drawing.numbers is not None
    last = drawing.numbers.filter(pl.col("Links of a router to others [links]") == 100)
    routers = dict(zip(last["series"], last["Routers [count]"], strict=True))
    assert (routers[FLEX], routers[HYPERX], routers[SLIM_FLY]) == (2028, 2601, 8192)
    assert routers["Moore bound, diameter 2"] == 10001
    assert routers[DRAGONFLY] == 67 * (67 * 34 + 1)


def test_table_6_shows_both_fat_trees() -> None:
    (figure,) = PAPER.chosen(["table6"])
    assert figure.rows
    rows = {row["network"]: row for row in figure.rows(NOTHING).iter_rows(named=True)}
    pods, simulated = rows["Fat tree (16-ary pods)"], rows["10-ary 3-tree"]
    assert (pods["routers"], pods["power [W]"]) == (320, 14336)
    assert (simulated["routers"], simulated["links"]) == (300, 2000)


@pytest.mark.parametrize("value", ODD)
@pytest.mark.parametrize("experiment", ["uniform", "bit_complement", "hot_spot", "periods", "layers", "larger"])
def test_odd_values_never_end_a_report(experiment: str, value: float | str | None) -> None:
    """Whatever numbers a routing has, each claim gets an answer, and each figure is drawn or reported as absent."""
    wanted = {*curve(MINIMAL, FLEX, DRAGONFLY), *curve(LBR, FLEX, LARGER), "HyperX 6x6x6, minimal"}
    check_report(PAPER, ideal(), experiment, wanted & {*ideal()[experiment]["mechanism"]}, value)


def tiny(each: Experiment) -> Experiment:
    """Reduce an experiment so that it takes a second: a tenth of the routers, one load, hundreds of cycles."""
    small: dict[str, Any] = {
        "k_ary_n_tree": {"k": 4, "n": 2},
        "dragonfly": {"routers_per_group": 4, "terminals_per_router": 2, "global_links_per_router": 2},
        "hyperx": {"widths": [3, 3], "terminals_per_router": 2},
        "slim_fly": {"q": 3, "terminals_per_router": 2},
        "flex": {"widths": [3, 3], "layers": 3, "terminals_per_router": 2},
    }
    sets: dict[str, Any] = {"measure.warmup": "100cycles", "measure.window": "200cycles"}
    sets |= {"measure.drain_limit": "100cycles", "sweep.traffic.load": [0.5]}
    if each.name in ("readings", "concentration"):
        sets["sweep.traffic.pattern"] = ["random_permutation"]
    found = paper_checks.document(PAPER, each.file).get("zip", {}).get("topology", [])
    if each.name == "readings":
        sets["topology"] = {"flex": small["flex"]}
    elif each.name not in ("layers", "larger"):
        sets["zip.topology"] = [{name: small[name]} for (name,) in found]
    if each.name in ("bit_complement", "bit_reverse", "shuffle", "transpose"):
        sets["traffic.pattern.within.terminals"] = 16
    if each.name.endswith("_of_ids"):
        digits = {"digits": {"radix": 4, "digits": 2}}
        within = {"terminals": 16, "pattern": {each.name.removesuffix("_of_ids"): {"by": digits}}}
        sets["traffic.pattern"] = {"within": within}
    if each.name in ("neighbor", "tornado"):
        digits = {"booksim_digits": {"radix": 2, "digits": 2}}
        sets["zip.traffic.pattern"] = [{each.name: {"by": digits}} for _ in found]
    return dataclasses.replace(each, quick=(sets,))


def test_every_experiment_runs_is_drawn_and_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All experiments run on tiny networks, and all figures are drawn and all claims judged."""
    paper_checks.save_few_pictures(monkeypatch)
    done = reproduce(dataclasses.replace(PAPER, experiments=[tiny(each) for each in PAPER.experiments]), out=tmp_path)
    assert [each.figure.name for each in done.shown if each.absent] == ["paths", "concentration"], (
        "nothing saturates at load 0.5"
    )
    assert {row.finding.answer for row in done.rows if row.rule.needs} <= {"met", "missed", "not run"}
    page = (tmp_path / "report.html").read_text()
    assert "16-ary pods" in page
    assert '<td class="number">14,336</td>' in page
    assert (tmp_path / "figures" / "table4.csv").is_file()


def test_a_full_run_adds_loads_between_the_loads_at_the_knee_of_each_curve(tmp_path: Path) -> None:
    """A full run adds loads near the knee of each curve of latency over load, but not to a curve without a knee.

    Two rounds of two loads divide the gap between the two loads at the knee into at most nine parts.
    """
    (each,) = (each for each in PAPER.experiments if each.name == "bit_complement")
    sets = dict(tiny(each).quick[0]) | {"sweep.traffic.load": [0.05, 0.95]}
    sets |= {"zip.routing": sets.get("zip.routing", [{"flex_minimal": {"paths": "printed"}}, {"flex_minimal": {}}])}
    sets |= {"zip.topology": [{"flex": {"widths": [3, 3], "layers": 3, "terminals_per_router": 2}}] * 2}
    sets |= {"zip.links.default.vcs": [4, 4]}
    small = dataclasses.replace(
        PAPER, experiments=[dataclasses.replace(each, full=(sets,))], figures=PAPER.chosen(["8"])
    )
    done = reproduce(small, only=["8b"], quick=False, out=tmp_path)
    names = [results.root.name for _, results in done.ran]
    assert names == ["bit_complement", "bit_complement-knees-1", "bit_complement-knees-2"]
    loads = [{point["coordinates"]["traffic.load"] for point in results.points} for _, results in done.ran]
    assert loads[1] == {0.35, 0.65}, "thirds of 0.05 to 0.95"
    assert len(loads[2]) in (2, 4)
    assert all(0.05 < load < 0.95 for load in loads[2])
    again = list(sweeps(small, only=["8b"], quick=False, out=tmp_path))
    assert [folder.name for folder, _ in again] == names
    assert [[point.hash for point in sweep.points] for _, sweep in again] == [
        [point["hash"] for point in results.points] for _, results in done.ran
    ]


def test_the_command_makes_tables_that_need_no_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "flex", "--only", "table5", "3", "--out", str(tmp_path / "out"), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert sum(document["count"].values()) == len(document["claims"]) == 139
    assert [each["figure"] for each in document["figures"]] == ["table5", "3"]
    table = pl.read_csv(tmp_path / "out" / "figures" / "table5.csv")
    assert table["FleX [%]"].to_list() == [70, 75, 80, 80, 85]
    assert "weft reproduce flex --quick --only table5 3" in (tmp_path / "out" / "report-table5-3.html").read_text()


@pytest.mark.parametrize("each", PAPER.experiments, ids=lambda each: each.name)
def test_scenarios_are_sound_in_both_lengths(each: Experiment) -> None:
    paper_checks.check_scenarios(PAPER, each)
