"""Tests the reproduction of the paper on OFAR: bounds, frames, verdicts, figures, and command."""

from __future__ import annotations

import dataclasses
import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import paper_checks
import weft
from odd_values import ODD, check_report
from paper_checks import NOTHING
from reproduced_ofar import TIMES, ideal
from weft.cli import main
from weft.results import quantities as q
from weft_papers.common import line_figures, scoreboard
from weft_papers.common.measured import Measured
from weft_papers.common.reproduction import reproduce
from weft_papers.ofar import PAPER, QUICK_H, beyond
from weft_papers.ofar.closed_forms import minimal_bound, ring_cost, valiant_bound
from weft_papers.ofar.routings_run import MIN, OFAR, OFAR_E, OFAR_L, PAR, PB, VAL
from weft_papers.ofar.transients import response
from weft_papers.registry import paper

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from weft_papers.common.paper import Experiment


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


def scaled(
    column: str, factor: float, mechanism: str, pattern: str | None = None
) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Make a function that multiplies a column by a factor in the rows of a mechanism, under one pattern or all
    patterns."""
    it = pl.col("mechanism") == mechanism
    return paper_checks.scaled_where(it & (pl.col("pattern") == pattern) if pattern else it, column, factor)


def at_other_loads(rows: pl.DataFrame, pattern: str, factor: float) -> pl.DataFrame:
    """Multiply the offered and accepted loads of a pattern's points by a factor. All other numbers stay the same."""
    loads = [
        pl.when(pl.col("pattern") == pattern).then(pl.col(name) * factor).otherwise(pl.col(name)).alias(name)
        for name in ("load", "accepted_load")
    ]
    return rows.with_columns(loads)


def test_every_claim_has_a_rule_and_every_rule_a_claim() -> None:
    paper_checks.check_rules(PAPER, (f"O-{number:03}" for number in range(1, 41)))


def test_what_rules_and_figures_need_exists() -> None:
    paper_checks.check_needs(PAPER)
    assert [each.name for each in PAPER.needed(PAPER.chosen(["6", "7a"]))] == ["transients", "bursts"]
    assert [each.name for each in PAPER.chosen(["3"])] == ["3a", "3b"]


def test_bounds_are_those_worked_out_by_hand() -> None:
    """The bounds agree with known numbers for h = 6, and with numbers computed by hand for h = 1, the smallest network
    with an intermediate group.

    With h = 1, a group of 2 terminals sends w = 2 times the load per terminal over the only intermediate group. A
    global channel carries this traffic of two groups: traffic of one group on its way to the intermediate group, and
    traffic of the other on its way from there. Therefore the bound is 1 / (2 * 2).
    """
    bounds = [round(valiant_bound(6, shift).load, 3) for shift in range(1, 13)]
    assert bounds == [0.493, 0.329, 0.247, 0.197, 0.164, 0.141, 0.141, 0.164, 0.197, 0.197, 0.164, 0.141]
    assert valiant_bound(6, 6).over_global == pytest.approx(71 / 144)
    assert valiant_bound(6, 6).over_transit == pytest.approx(71 / 432)
    assert valiant_bound(1, 1).over_global == pytest.approx(1 / 4)
    assert minimal_bound(6) == 1 / 72


@pytest.mark.parametrize(("h", "shift"), [(2, 1), (2, 2), (3, 3)])
def test_bounds_agree_with_those_of_the_engine(h: int, shift: int) -> None:
    """The bounds from formulas agree with the engine's bounds.

    For these the engine follows every path of every pair of terminals.
    """
    sizes = {"routers_per_group": 2 * h, "terminals_per_router": h, "global_links_per_router": h}
    sets: dict[str, Any] = {f"topology.dragonfly.{name}": value for name, value in sizes.items()}
    sets["sweep.traffic.pattern"] = [{"group_shift": {"shift": shift}}]
    (point,) = weft.load(PAPER.path("offsets.yaml"), overrides=sets).points
    assert 8 * point.imply()["channel_load_bound"] == pytest.approx(valiant_bound(h, shift).load, rel=1e-6)
    (point,) = weft.load(
        PAPER.path("minimal.yaml"), overrides={k: v for k, v in sets.items() if "topology" in k}
    ).points
    assert 8 * point.imply()["channel_load_bound"] == pytest.approx(minimal_bound(h))


def test_the_cost_of_a_ring_is_that_of_the_networks_that_are_built() -> None:
    for h in (2, 3):
        sizes = {"routers_per_group": 2 * h, "terminals_per_router": h, "global_links_per_router": h}
        sets = {f"topology.dragonfly.{name}": value for name, value in sizes.items()}
        built = weft.load(PAPER.path("uniform.yaml"), overrides=sets).points[0].imply()
        cost, links = ring_cost(h), built["links"]
        assert (cost.routers, cost.terminals) == (built["routers"], built["terminals"])
        ring = links["ring_local"] + links["ring_global"]
        assert cost.wires == pytest.approx(ring / (links["local"] + links["global"]))
        assert cost.global_wires == pytest.approx(links["ring_global"] / links["global"])
        assert cost.ports == pytest.approx(2 / (built["radix_ports"] - 2))


def test_numbers_as_printed_meet_every_claim_that_can_be_met() -> None:
    """The printed numbers meet all claims except O-008 and O-025, which contradict arithmetic.

    The speed-up of bursts is 1 / 0.695, from the mean completion time relative to PB.
    """
    answers = {key: row.finding.answer for key, row in as_printed().items()}
    assert {key for key, answer in answers.items() if answer == "missed"} == {"O-008", "O-025"}
    assert "not run" not in answers.values()
    apart = {key for key, answer in answers.items() if answer == "by construction"}
    assert apart == {f"O-{number:03}" for number in (3, 4, 7, 10, 11, 20, 31, 39, 40)}


@pytest.mark.parametrize(
    ("claim", "experiment", "change"),
    [
        ("O-005", "minimal", scaled("accepted_load", 0.99, MIN)),
        ("O-006", "neighbours", scaled("accepted_load", 0.99, MIN)),
        # saturation is at 0.48 and 0.14; with 2.5 times the loads of ADV+6, it is at 0.35 instead of 0.14
        ("O-009", "knees", lambda rows: at_other_loads(rows, "ADV+6", 2.5)),
        ("O-012", "read_uniform", scaled("accepted_load", 0.8, OFAR, "UN")),
        ("O-013", "uniform", scaled(q.LATENCY.column, 0.85, PB)),
        ("O-014", "uniform", scaled(q.LATENCY.column, 1.2, OFAR)),
        ("O-014", "uniform", scaled("accepted_load", 1.2, OFAR, "UN")),
        ("O-015", "saturation", scaled("accepted_load", 0.89, OFAR, "ADV+2")),
        ("O-016", "saturation", scaled("accepted_load", 1.11, PB, "ADV+2")),
        ("O-017", "saturation", scaled("accepted_load", 0.9, OFAR, "ADV+2")),
        ("O-018", "saturation", scaled("accepted_load", 0.85, VAL, "ADV+6")),
        ("O-019", "saturation", scaled("accepted_load", 1.2, OFAR, "ADV+6")),
        ("O-024", "edge", lambda rows: rows.with_columns(saturated=pl.lit(value=False))),
        ("O-026", "bursts", scaled("completion_cycles", 1.3, OFAR, "ADV+6")),
        ("O-027", "bursts", scaled("completion_cycles", 1.2, OFAR)),
        ("O-028", "bursts", scaled("completion_cycles", 0.99, OFAR)),
        ("O-029", "bursts", scaled("completion_cycles", 1.2, OFAR, "MIX2")),
        ("O-030", "bursts", scaled("completion_cycles", 1.2, OFAR_L, "UN")),
        ("O-036", "embedded", scaled(q.LATENCY.column, 1.2, OFAR_E)),
        ("O-036", "saturation", scaled("accepted_load", 1.2, OFAR_E)),
        ("O-038", "embedded", lambda rows: rows.with_columns(accepted_load=0.3 / (1 + 9 * (pl.col("load") == 1)))),
        ("O-037", "scarce", lambda rows: rows.with_columns(accepted_load=pl.col("load").clip(0, 0.3))),
    ],
)
def test_a_number_that_is_off_misses_its_claim(
    claim: str, experiment: str, change: Callable[[pl.DataFrame], pl.DataFrame]
) -> None:
    assert as_printed()[claim].finding.answer == "met"
    finding = PAPER.rules[claim].judge(changed(experiment, change))
    assert finding.answer == "missed", finding.measured
    assert "is allowed" in finding.because or "; required: " in finding.because or " is not " in finding.because


@pytest.mark.parametrize(("claim", "fast"), [("O-021", PB), ("O-023", PB), ("O-022", None)])
def test_adapting_is_judged_by_the_last_bin_that_is_off(claim: str, fast: str | None) -> None:
    """Claims on how fast routings adapt to a new pattern are missed if the curves of latency over time are changed.

    With a flat curve, PB adapts at once. With longer latencies in late bins, no routing adapts fast.
    """
    flat = pl.col("sent_latency").list.eval(0 * pl.element() + 200)
    slow = pl.col("sent_latency").list.eval(pl.element() + 100 * (pl.int_range(pl.len()).is_between(200, 240)))
    change = pl.when(pl.col("mechanism") == fast).then(flat).otherwise(pl.col("sent_latency")) if fast else slow
    off = changed("transients", lambda rows: rows.with_columns(change.alias("sent_latency")))
    assert as_printed()[claim].finding.answer == "met"
    assert PAPER.rules[claim].judge(off).answer == "missed"


def test_a_response_is_the_mean_over_seeds_weighed_by_packets() -> None:
    found = response(ideal(), PB, "UN", to_adversarial=True)
    assert (found.times[0], found.times[-1]) == (-390, 2490)
    # PB's latency 200 + 300 exp(-t / 400) falls to 1.1 times 201.4 (the mean of the last quarter) at t = 400 ln(300 /
    # 21.5) = 1,054 cycles. Bins are 20 cycles wide, and the middle of the last bin before that time is at 1,050.
    assert found.final == pytest.approx(201.4, abs=0.1)
    assert found.adapted == 1050
    assert found.peak == pytest.approx(500, abs=10)
    twice = changed("transients", lambda rows: pl.concat([rows, scaled_bins(rows)]))
    # the second seed has half as many packets with twice the latency, so the mean grows by the factor (1 + 2 / 2) / (1
    # + 1 / 2) = 4 / 3
    assert response(twice, OFAR, "UN", to_adversarial=True).final == pytest.approx(200 * 4 / 3)


def scaled_bins(rows: pl.DataFrame) -> pl.DataFrame:
    """Make rows of another seed, with half as many packets in each bin, and twice the latency."""
    return rows.with_columns(
        seed=pl.lit(2.0),
        sent_packets=pl.col("sent_packets").list.eval(pl.element() // 2),
        sent_latency=pl.col("sent_latency").list.eval(pl.element() * 2),
    )


def test_numbers_of_the_paper_are_judged_in_its_network_only() -> None:
    small = changed("bursts", lambda rows: rows.with_columns(h=pl.lit(3, pl.Int64)))
    rows = judged(small)
    assert rows["O-027"].finding.answer == "not run"
    assert "h = 3 was run: use --full" in rows["O-027"].verdict
    assert rows["O-027"].finding.value == pytest.approx(0.6954)
    assert rows["O-029"].finding.answer == "met", "an order can be judged"
    assert "(h = 3)" in rows["O-029"].finding.measured


def test_bursts_of_both_readings_are_reported() -> None:
    """Bursts of 2,000 packets per terminal decide the claims if they were run in the paper's network.

    Otherwise bursts of 200 packets per terminal decide.
    """
    shown = as_printed()["O-027"].finding.measured
    assert "bursts of 2,000, h = 6" in shown
    assert "0.695 for 200 at h = 6" in shown
    fewer = changed("bursts", lambda rows: rows.filter(pl.col("per_terminal") == 200))
    assert "bursts of 200, h = 6" in judged(fewer)["O-027"].finding.measured
    assert sum(TIMES.values()) / len(TIMES) == pytest.approx(0.6954)


def test_what_was_not_run_is_said() -> None:
    rows = judged(NOTHING)
    assert rows["O-015"].verdict == "not run because the points of saturation.yaml are missing: run them without --only"
    assert rows["O-032"].finding.answer == "met", "formulas need no run"
    alone = ideal()["saturation"].filter(pl.col("mechanism") != PB)
    assert judged(Measured({"saturation": alone}))["O-016"].verdict == "not run because PB was not run"


@pytest.mark.parametrize("name", [each.name for each in PAPER.figures if each.draw])
def test_every_figure_is_drawn_with_its_numbers_and_units(name: str) -> None:
    plain = {"Offset N of the groups", "Global links of a router h", "Broken links", "Time / PB's", ""}
    paper_checks.check_figure(PAPER, name, ideal(), without_unit=plain)


def stalled(experiment: str, mechanism: str, load: float | None = None) -> Measured:
    """Return the numbers of the paper, except that some runs of a mechanism stalled."""
    it = pl.col("mechanism") == mechanism
    it = it & (pl.col("load") == load) if load is not None else it
    return changed(experiment, lambda rows: rows.with_columns(stalled=pl.col("stalled") | it))


@pytest.mark.parametrize(
    ("claim", "experiment", "mechanism", "load"),
    [
        ("O-009", "knees", VAL, None),
        ("O-012", "read_uniform", OFAR, 1.0),
        ("O-036", "embedded", OFAR_E, 0.8),
        ("O-036", "advh", OFAR, 0.8),
        ("O-037", "scarce", OFAR_E, 1.0),
        ("O-038", "embedded", OFAR_E, 1.0),
        ("O-038", "adv2", OFAR, 1.0),
    ],
)
def test_a_stuck_network_meets_no_claim(claim: str, experiment: str, mechanism: str, load: float | None) -> None:
    """A network that stalled meets no claim, not even that throughput falls, as its accepted load has no meaning."""
    assert as_printed()[claim].finding.answer == "met"
    row = judged(stalled(experiment, mechanism, load))[claim]
    assert row.finding.answer == "not run"
    assert "stalled" in row.verdict


def test_a_load_that_is_not_judged_is_not_called_one_that_is_carried() -> None:
    open_ = changed("edge", lambda rows: rows.with_columns(saturated=pl.lit(None, pl.Boolean)))
    finding = judged(open_)["O-024"].finding
    assert finding.answer == "missed"
    assert "not judged at 0.14" in finding.measured
    unknown = changed("edge", lambda rows: rows.with_columns(pl.lit(None, pl.Float64).alias(q.LATENCY.column)))
    assert "latency 0" not in judged(unknown)["O-024"].finding.measured


@pytest.mark.parametrize("claim", ["O-026", "O-027", "O-029", "O-030"])
def test_a_burst_that_ofar_does_not_deliver_is_not_passed_over(claim: str) -> None:
    lost = pl.when((pl.col("mechanism") == OFAR) & (pl.col("pattern") == "MIX2")).then(None)
    changes = lost.otherwise(pl.col("completion_cycles")).alias("completion_cycles")
    row = judged(changed("bursts", lambda rows: rows.with_columns(changes)))[claim]
    assert row.finding.answer == ("not run" if claim in ("O-026", "O-027") else "missed")
    assert "MIX2" in f"{row.finding.measured}{row.verdict}"


def test_captions_say_where_the_network_is_not_that_of_the_paper() -> None:
    (figure,) = PAPER.chosen(["5b"])
    assert figure.remark
    assert figure.remark(ideal()) == ""
    small = changed("advh", lambda rows: rows.with_columns(h=pl.lit(3, pl.Int64)))
    assert figure.remark(small) == "Run at h = 3, so ADV+h is ADV+3; the paper has h = 6."
    assert all("granted" in each.reading for each in PAPER.figures if each.needs and each.name != "2b")


def test_the_figures_beyond_the_paper_tell_one_ring_from_several_and_who_accepts_most() -> None:
    drawing = beyond.patterns_figure(ideal())
    assert drawing.numbers is not None
    assert {"OFAR-E", "OFAR-E, 3 rings"} <= {*drawing.numbers["series"]}
    assert beyond.patterns_remark(ideal()).endswith(" or at most 3 % less, under all of 2 patterns except UN (PAR).")
    nearly = changed("patterns", scaled("accepted_load", 0.82, PAR, "UN"))  # 0.41 compared with 0.4
    assert beyond.patterns_remark(nearly).endswith("under all 2 patterns."), "2.4 % are no difference"
    stuck = stalled("patterns", OFAR_E)
    assert beyond.patterns_remark(stuck).endswith("under all of 2 patterns except UN (PAR), hot_spot (PAR).")
    numbers = beyond.patterns_figure(stuck).numbers
    assert numbers is not None
    assert {*numbers["series"]} == {"UGAL", "PAR"}
    lost = beyond.broken_figure(ideal()).numbers
    assert lost is not None
    worst = lost.filter((pl.col("series") == "UGAL") & (pl.col("Links broken at a time [%]") == 2))
    assert worst["Packets dropped [%]"].to_list() == [pytest.approx(4)]


def test_the_variant_is_reported_with_its_seeds_and_tcep_beside_always_on() -> None:
    assert beyond.variant_remark(ideal()).endswith("Means of 2 seeds, which differ by at most 0.3 %.")
    shares = beyond.tcep_figure(ideal()).numbers
    assert shares is not None
    on = shares.filter(pl.col("series") == "local links on")
    assert on["Beside always_on [%]"].to_list() == [pytest.approx(50)] * 2


@pytest.mark.parametrize("value", ODD)
@pytest.mark.parametrize("experiment", [each.name for each in PAPER.experiments])
def test_odd_values_never_end_a_report(experiment: str, value: float | str | None) -> None:
    """Whatever numbers a routing has, each claim gets an answer, and each figure is drawn or reported as absent."""
    mechanisms = {MIN, VAL, PB, OFAR, OFAR_E} & {*ideal()[experiment]["mechanism"]}
    check_report(PAPER, ideal(), experiment, mechanisms, value)


def beyond_the_paper(shift: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return overrides that make the experiments beyond the paper small, by experiment."""
    rings = {"dragonfly_ofar": {"ring": {"kind": "embedded", "rings": 2}}}
    two = {"sweep.traffic.pattern": ["uniform", shift], "sweep.routing": ["dragonfly_ugal", rings]}
    return {
        "patterns": two,
        "broken": two | {"fault_model.random.from": "100cycles"},
        "tcep": {"sweep.traffic.pattern": ["uniform"]},
        "variant": {
            "zip.traffic.pattern": [shift, "uniform"],
            "zip.traffic.load": [0.075, 0.125],
            "sweep.seed": [1],
        },
    }


def test_curves_of_a_small_network_have_the_levels_of_the_paper_s_beside_them() -> None:
    """In a network with h = 3, OFAR-L's accepted load does not fall to the level of PB.

    A figure of such a network therefore also has lines with the accepted loads in the paper's network (h = 6).
    """
    (figure,) = PAPER.chosen(["5b"])
    small = changed("advh", lambda rows: rows.with_columns(h=pl.lit(3, dtype=rows["h"].dtype)))
    for measured, are_drawn in ((small, True), (ideal(), False)):
        numbers = line_figures.drawn(figure, measured).numbers
        assert numbers is not None
        assert ("OFAR-L, h = 6" in numbers["series"].to_list()) is are_drawn


def test_curves_of_uniform_traffic_have_no_levels_of_adversarial_traffic() -> None:
    (figure,) = PAPER.chosen(["3b"])
    small = changed("uniform", lambda rows: rows.with_columns(h=pl.lit(3, dtype=rows["h"].dtype)))
    assert small.has(("saturation",))
    numbers = line_figures.drawn(figure, small).numbers
    assert numbers is not None
    assert not [name for name in numbers["series"].to_list() if "h = 6" in name]


def small_sweeps(each: Experiment, sets: dict[str, Any], shift: dict[str, Any]) -> Experiment:
    """Reduce the sweeps of an experiment that has no scenario of its own, but that of another experiment."""
    patterns: dict[str, Any] = {}
    if each.name == "read_adversarial":
        patterns = {"zip.traffic.pattern": [shift] * 12}
    elif each.name == "read_scarce":
        patterns = {"sweep.traffic.pattern": [shift], "sweep.traffic.load": [0.025]}
    elif each.name == "read_change":
        change = {"from": "400cycles", "pattern": {"group_shift": {"shift": 4}}}
        patterns = {"zip.traffic.phases": [[change]], "measure.warmup": "300cycles", "measure.window": "500cycles"}
    return dataclasses.replace(each, quick=[{**sweep, **sets, **patterns} for sweep in each.quick])


def tiny(each: Experiment) -> Experiment:
    """Reduce an experiment so that it takes a fraction of a second: h = 2, one load, hundreds of cycles."""
    sets: dict[str, Any] = {
        "topology.dragonfly.routers_per_group": 4,
        "topology.dragonfly.terminals_per_router": 2,
        "topology.dragonfly.global_links_per_router": 2,
    }
    shift: dict[str, Any] = {"group_shift": {"shift": 2}}
    if each.name == "bursts":
        mix = [{"weight": 80, "pattern": "uniform"}, {"weight": 20, "pattern": shift}]
        sets |= {"sweep.traffic.pattern": ["uniform", {"mix": mix}], "sweep.traffic.batch.per_terminal": [5]}
    elif each.name == "transients":
        times: dict[str, Any] = {"from": "400cycles"}
        sets |= {"measure.warmup": "300cycles", "measure.window": "500cycles", "sweep.seed": [1]}
        phases = [times | {"pattern": pattern} for pattern in (shift, "uniform", {"group_shift": {"shift": 4}})]
        sets |= {"zip.traffic.phases": [[phase] for phase in phases]}
    else:
        sets |= {"measure.warmup": "200cycles", "measure.window": "300cycles"}
    if each.name in ("uniform", "adv2", "advh", "embedded", "triggers", "scarce", "patterns", "tcep"):
        sets |= {"sweep.traffic.load": [0.025]}
    if each.name in ("embedded", "triggers", "scarce", "offsets"):
        sets |= {"sweep.traffic.pattern": ["uniform", shift] if each.name != "offsets" else [shift]}
    if each.scenario:
        return small_sweeps(each, sets, shift)
    sets |= beyond_the_paper(shift).get(each.name, {})
    if each.name == "failures":
        sets |= {"traffic.pattern": shift, "sweep.faults": [[], [{"link": [1, 2], "at": "100cycles"}]]}
    if each.name == "saturation":
        sets |= {"sweep.seed": [1]}
    return dataclasses.replace(each, quick=(sets,))


def test_every_experiment_runs_is_drawn_and_judged_and_is_not_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All experiments run on tiny networks. A second call runs only damaged points again."""
    paper_checks.save_few_pictures(monkeypatch)
    small = dataclasses.replace(PAPER, experiments=[tiny(each) for each in PAPER.experiments])
    done = reproduce(small, out=tmp_path)
    assert [each.figure.name for each in done.shown if each.absent] == ["7a", "7b"], "bursts of other sizes"
    assert {row.finding.answer for row in done.rows if row.rule.needs} <= {"met", "missed", "not run"}
    claim = next(row for row in done.rows if row.claim.id == "O-029")
    assert claim.verdict == "not run because no burst of these sizes was run"
    page = (tmp_path / "report.html").read_text()
    assert "phits per node and cycle" in page
    assert "342 terminals" in page
    assert re.search(r"<figcaption>[^\n]* In this reproduction: \d+ routers \(h = 3\) instead of 876", page)
    frame = small.frame(next(results for each, results in done.ran if each.name == "transients"))
    assert set(frame["then"]) == {"ADV+2", "UN", "ADV+4"}
    assert all(len(bins) > 10 for bins in frame["sent_cycle"])
    damaged = done.ran[0][1]
    first, second = (damaged.folder(row) / "summary.json" for row in range(2))
    before = second.stat().st_mtime_ns
    first.write_text(first.read_text()[:100])
    again = reproduce(
        dataclasses.replace(small, experiments=small.experiments[:1], figures=PAPER.chosen(["cost"])), out=tmp_path
    )
    assert second.stat().st_mtime_ns == before
    assert json.loads(first.read_text()) == again.ran[0][1].summaries[0]


def test_the_command_draws_what_needs_no_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "ofar", "--only", "cost", "--out", str(tmp_path / "out"), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert sum(document["count"].values()) == len(document["claims"]) == 40
    table = pl.read_csv(tmp_path / "out" / "figures" / "figcost.csv")
    h16 = table.row(by_predicate=pl.col("h") == 16, named=True)
    assert (h16["routers"], h16["terminals"]) == (16416, 262656)
    assert h16["added_global_wires_share"] == pytest.approx(513 / 131328)
    page = (tmp_path / "out" / "report-cost.html").read_text()
    assert "weft reproduce ofar --quick --only cost" in page


@pytest.mark.parametrize("each", PAPER.experiments, ids=lambda each: each.name)
def test_scenarios_are_sound_in_both_lengths(each: Experiment) -> None:
    for point in paper_checks.check_scenarios(PAPER, each):
        assert point.resolved["topology"]["dragonfly"]["global_links_per_router"] == 6, "that of the paper"


def test_runs_that_tell_a_knee_may_drain() -> None:
    """Runs that determine the load of saturation (the knee) have a drain.

    Without it, a run that stops with packets in flight would count as saturated at each load.
    """
    (knees,) = (each for each in PAPER.experiments if each.name == "knees")
    for quick in (True, False):
        for _, sets in knees.sweeps(quick=quick):
            points = weft.load(PAPER.path(knees.file), overrides=sets).points
            assert {point.resolved["measure"]["drain_limit"] for point in points} == {"3000cycles"}


def test_a_quick_run_has_a_smaller_network() -> None:
    assert QUICK_H < 6
    assert paper("ofar") is PAPER


def test_readings_tell_which_trigger_meets_which_claim() -> None:
    """The findings name the triggers of OFAR with which a claim is met.

    In the changed frames, with one trigger, OFAR-L accepts less than the bound under ADV+6, and OFAR less uniform
    traffic than MIN.
    """
    lost = (pl.col("trigger") == "unavailable") & (pl.col("mechanism") == OFAR)
    slow = changed("read_uniform", paper_checks.scaled_where(lost, "accepted_load", 0.8))
    finding = judged(slow)["O-012"].finding
    assert finding.answer == "met", "the trigger of the figures is granted"
    text = "met with the trigger granted, met with the trigger granted or full, missed with the trigger unavailable"
    assert finding.measured.endswith(text)
    granted = (pl.col("trigger") == "granted") & (pl.col("mechanism") == OFAR_L)
    falls = changed("read_adversarial", paper_checks.scaled_where(granted, "accepted_load", 0.6))
    (figure,) = PAPER.chosen(["readings"])
    assert figure.rows
    table = figure.rows(falls).filter(claim="O-018")
    assert table.height == 3, "a row for each reading of OFAR-L"
    assert [each.split(":")[0] for each in table["granted"]] == ["missed"] * 3
    assert [each.split(":")[0] for each in table["granted or full"]] == ["met"] * 3
    assert figure.remark
    assert "0.100 with the trigger granted and 0.000 ring hops per packet" in figure.remark(falls)
    # in a network of another size, claims that state numbers for the paper's size have no verdict
    small = changed("uniform", lambda rows: rows.with_columns(h=pl.lit(3, pl.Int64)))
    assert {judged(small)[each].finding.answer for each in ("O-013", "O-014")} == {"not run"}
