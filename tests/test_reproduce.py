"""Tests the reproduction of papers, with the paper on TCEP as the example: verdicts, scoreboard, figures, command."""

from __future__ import annotations

import csv
import dataclasses
import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import paper_checks
import weft
from odd_values import ODD, check_report
from paper_checks import NOTHING
from reproduced import FULL, LOADS, ideal
from weft.cli import main
from weft.errors import ResultsError, WeftError
from weft.plot import style
from weft.results import quantities as q
from weft_papers.common import line_figures, scoreboard
from weft_papers.common.frames import BASELINE, SCHEMA
from weft_papers.common.measured import LackingError, Measured
from weft_papers.common.reproduction import reproduce
from weft_papers.common.rules import UNKNOWN, approx, constructed, exact, remains, trend, untestable
from weft_papers.registry import paper
from weft_papers.tcep import PAPER
from weft_papers.tcep.application_programs import COLUMNS
from weft_papers.tcep.mechanisms import COMBINED, DVFS, LITERAL, SLAC, TCEP, frame

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from weft_papers.common.paper import Experiment

# The paper with only an experiment that takes a fraction of a second, and a figure that needs no experiment.
SMALLEST = dataclasses.replace(
    PAPER,
    experiments=[each for each in PAPER.experiments if each.name == "root"],
    figures=PAPER.chosen(["5"]),
)


# Numbers in the identifiers (1 means T-001) of the claims that only repeat settings or arithmetic of Weft's model.
_CONSTRUCTED = {*range(1, 12), 15, 16, 19, *range(21, 25), 26, *range(48, 60), 83, 84, 86, 87, 88}


def judged(measured: Measured) -> dict[str, scoreboard.Row]:
    """Judge all claims from measurements, and return the rows of the scoreboard by identifier of the claim."""
    return paper_checks.judged(PAPER, measured)


def changed(experiment: str, change: Callable[[pl.DataFrame], pl.DataFrame]) -> Measured:
    """Return the paper's numbers with a change in the frame of one experiment."""
    return paper_checks.changed(ideal(), experiment, change)


def scaled(column: str, factor: float, mechanism: str = TCEP) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Make a function that multiplies a column by a factor in the rows of a mechanism."""
    return paper_checks.scaled_where(pl.col("mechanism") == mechanism, column, factor)


def carrying(most: float, mechanism: str = TCEP) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Make a function that limits the accepted load of a mechanism to `most`.

    At higher loads the mechanism is saturated.
    """
    ours, load = pl.col("mechanism") == mechanism, pl.col("load")
    return lambda rows: rows.with_columns(
        accepted_load=pl.when(ours).then(pl.min_horizontal(load, most)).otherwise(pl.col("accepted_load")),
        saturated=pl.when(ours).then(load > most).otherwise(pl.col("saturated")),
    )


def panel(name: str, measured: Measured) -> tuple[Figure, Axes]:
    """Draw a figure, and return it with its first panel."""
    (figure,) = PAPER.chosen([name])
    drawing = line_figures.drawn(figure, measured)
    return drawing, drawing.axes[0]


def lines(axes: Axes) -> dict[str, list[float]]:
    """Return the vertical values of the lines of a panel, by their legend entries."""
    return {str(line.get_label()): list(np.asarray(line.get_ydata(), float)) for line in axes.get_lines()}


def test_every_claim_has_a_rule_and_every_rule_a_claim() -> None:
    paper_checks.check_rules(PAPER, (f"T-{number:03}" for number in range(1, 92)))
    fewer = dataclasses.replace(PAPER, rules={key: rule for key, rule in PAPER.rules.items() if key != "T-033"})
    with pytest.raises(WeftError, match="T-033"):
        scoreboard.judge(fewer, NOTHING)


def test_what_rules_and_figures_need_exists() -> None:
    paper_checks.check_needs(PAPER)
    assert all(PAPER.path(each.file).is_file() for each in PAPER.experiments)
    assert [each.name for each in PAPER.needed(PAPER.chosen(["9b", "10b"]))] == ["tornado"]


@pytest.mark.parametrize(("found", "answer"), [(0.9, "met"), (1.1, "met"), (0.899, "missed"), (1.101, "missed")])
def test_an_approximate_claim_is_met_within_a_tenth(found: float, answer: str) -> None:
    assert approx(1.0, lambda _: found).judge(NOTHING).answer == answer
    assert approx(-1.0, lambda _: -found).judge(NOTHING).answer == answer


def test_a_latency_is_met_within_a_twentieth() -> None:
    assert approx(23.3, lambda _: 24.4, within=0.05).judge(NOTHING).answer == "met"
    assert approx(23.3, lambda _: 24.5, within=0.05).judge(NOTHING).answer == "missed"


def test_an_exact_claim_is_met_to_its_digits() -> None:
    assert exact(1.2, lambda _: 1.24, digits=1).judge(NOTHING).answer == "met"
    assert exact(1.2, lambda _: 1.26, digits=1).judge(NOTHING).answer == "missed"
    finding = exact("1 us", lambda _: "2 us").judge(NOTHING)
    assert (finding.because, finding.cause) == ("2 us is not 1 us", UNKNOWN)


def test_the_other_answers() -> None:
    assert trend("rises", lambda _: (True, "1 to 2")).judge(NOTHING).measured == "1 to 2"
    assert untestable("nobody knows").judge(NOTHING).answer == "untestable"

    def lacking(_: Measured) -> float:
        raise LackingError("no load near 0.05 was run")

    one = {"T-001": approx(1.0, lacking)} | {f"T-{number:03}": untestable("") for number in range(2, 92)}
    row, *_ = scoreboard.judge(dataclasses.replace(PAPER, rules=one), NOTHING)
    assert row.verdict == "not run because no load near 0.05 was run"


def test_numbers_as_printed_meet_every_claim_that_can_be_met() -> None:
    answers = {key: row.finding.answer for key, row in judged(ideal()).items()}
    missed = {key for key, answer in answers.items() if answer == "missed"}
    assert missed - {"T-012", "T-013", "T-014"} == {"T-018", "T-060"}, "which our own counts and the bound contradict"
    assert "not run" not in answers.values()


@pytest.mark.parametrize(
    ("claim", "experiment", "change"),
    [
        ("T-028", "uniform", scaled(q.LATENCY.column, 1.06)),
        ("T-029", "uniform", scaled(q.LATENCY.column, 0.94, SLAC)),
        ("T-030", "uniform", scaled("hops_mean", 1.1)),
        ("T-031", "uniform", carrying(0.8)),
        ("T-032", "from_few", scaled("links_on_mean", 0.98)),
        ("T-033", "tornado", carrying(0.2, SLAC)),
        ("T-034", "bit_reverse", carrying(0.2, SLAC)),
        ("T-035", "bit_reverse", carrying(0.2, SLAC)),
        ("T-036", "tornado", carrying(0.45)),
        ("T-037", "tornado", scaled(q.LATENCY.column, 2.0, SLAC)),
        ("T-038", "uniform", scaled("energy_network_per_bit_pj", 1.3)),
        ("T-039", "tornado", scaled("energy_network_per_bit_pj", 0.9, SLAC)),
        ("T-040", "bit_reverse", scaled("energy_network_per_bit_pj", 2.5)),
        ("T-041", "uniform", scaled("energy_network_per_bit_pj", 3.6)),
        ("T-042", "least", scaled("links_on_mean", 1.01)),
        ("T-043", "bursty", scaled(q.LATENCY.column, 0.8, SLAC)),
        ("T-044", "bursty", scaled(q.LATENCY.column, 1.2)),
        ("T-045", "bursty", scaled("energy_network_per_bit_pj", 2.0, SLAC)),
        ("T-046", "bound_uniform", scaled("links_on_mean", 1.1)),
        ("T-047", "bound_uniform", scaled("load", 0.8)),
        ("T-078", "jobs_uniform", scaled("energy_network_j", 1.2, SLAC)),
        ("T-079", "jobs_permutation", scaled("energy_network_j", 1.2, SLAC)),
        ("T-080", "jobs_uniform", scaled("completion_cycles", 1.2, SLAC)),
        ("T-081", "jobs_permutation", scaled("completion_cycles", 1.2, SLAC)),
        ("T-082", "jobs_permutation", scaled("energy_network_j", 1.2, SLAC)),
    ],
)
def test_a_number_that_is_off_misses_its_claim(
    claim: str, experiment: str, change: Callable[[pl.DataFrame], pl.DataFrame]
) -> None:
    finding = PAPER.rules[claim].judge(changed(experiment, change))
    assert finding.answer == "missed", finding.measured
    known = {
        "T-032": "near the knee",
        "T-035": "so the factor is 6.0",
        "T-038": "fewest links",
        "T-043": "SLaC's stages",
        "T-047": "rounded up",
        "T-081": "hottest link",
    }
    assert known.get(claim, UNKNOWN) in finding.cause
    shown = finding.because
    assert re.search(r"\d", shown), "what was measured"
    required = ("is allowed", "; required: ", " is not ", ", but it must be ")
    assert any(words in shown for words in required), "and the required value"


def test_a_miss_names_the_mechanism_which_misses() -> None:
    for mechanism in (TCEP, SLAC):
        finding = judged(changed("uniform", carrying(0.8, mechanism)))["T-031"].finding
        assert finding.answer == "missed"
        assert UNKNOWN in finding.cause
        assert finding.because.startswith(mechanism)


def test_a_miss_says_what_was_measured_where_and_what_was_asked() -> None:
    """Only the tornado part of claim T-036 (equal throughput) fails: TCEP accepts 0.45, the baseline 0.57."""
    off = changed("tornado", carrying(0.45))
    row = judged(off)["T-036"]
    assert "tornado 0.789" in row.finding.because
    assert "bit reverse" in row.finding.measured
    assert "bit reverse" not in row.finding.because.partition("; required")[0]
    assert row.verdict.startswith("missed because tornado 0.789 of the baseline's")
    assert row.verdict.endswith(f"; {UNKNOWN}")
    row = judged(changed("uniform", scaled(q.LATENCY.column, 1.1)))["T-028"]
    text = "41.58 cycles; at load 0.01, which is 10.0% off 37.8 cycles, but only 5% is allowed"
    assert row.verdict == f"missed because {text}; {UNKNOWN}"
    assert row.document()["because"] == text
    assert any(line.endswith(row.verdict) for line in scoreboard.table([row]))
    known = approx(1.0, lambda _: 2.0, cause="the paper counts 2 ends").judge(NOTHING)
    assert dataclasses.replace(row, finding=known).verdict.endswith("is allowed; the paper counts 2 ends")


def test_every_row_has_what_is_printed_and_a_verdict_with_its_reason() -> None:
    for measured in (NOTHING, ideal(), changed("tornado", scaled("accepted_load", 0.5))):
        for row in judged(measured).values():
            shown = row.document()
            assert shown["printed"]
            assert shown["rule"]
            assert shown["measured"] or shown["answer"] in ("not run", "not testable"), shown
            if shown["answer"] in ("missed", "not testable", "not run"):
                assert shown["verdict"].startswith(f"{shown['answer']} because {shown['because']}")
                assert shown["because"]
            else:
                assert shown["verdict"] == shown["answer"]


def test_what_was_not_run_is_said() -> None:
    rows = judged(Measured({"uniform": ideal()["uniform"]}))
    assert rows["T-028"].finding.answer == "met"
    assert (
        rows["T-035"].verdict
        == "not run because the points of tornado.yaml and bit_reverse.yaml are missing: run them without --only"
    )
    assert rows["T-049"].finding.answer == "by construction", "theory needs no run"
    alone = ideal()["uniform"].filter(pl.col("mechanism") != SLAC)
    assert judged(Measured({"uniform": alone}))["T-029"].verdict == "not run because SLaC was not run"


def test_what_the_model_repeats_is_counted_apart() -> None:
    rows = judged(NOTHING)
    apart = {key for key, row in rows.items() if row.finding.answer == "by construction"}
    assert apart == {f"T-{number:03}" for number in _CONSTRUCTED}
    assert scoreboard.count([*rows.values()])["by construction"] == len(apart)
    assert constructed(exact(1.0, lambda _: 2.0)).judge(NOTHING).answer == "missed"


def test_throughput_is_the_last_load_below_saturation_with_other_definitions_beside_it() -> None:
    """SLaC's last load below saturation is 0.125.

    SLaC also accepts 0.125 at load 0.15, and 0.2 at load 1. The baseline's last load below saturation is 0.57.
    """
    more = pl.when((pl.col("mechanism") == SLAC) & (pl.col("load") == 1)).then(0.2).otherwise(pl.col("accepted_load"))
    row = judged(changed("tornado", lambda rows: rows.with_columns(more.alias("accepted_load"))))["T-033"]
    assert row.finding.value == pytest.approx(0.125 / 0.57)
    shown = row.finding.measured
    assert shown.startswith("21.9 %; last loads below saturation 0.125 and 0.57; ")
    assert f"ratio of the loads accepted at the next load {0.125 / 0.57:.3f}, ratio of the highest" in shown
    assert f"ratio of the highest accepted loads {0.2 / 0.57:.3f}" in shown
    none = judged(changed("tornado", lambda rows: rows.filter(pl.col("load") > 0.125)))["T-033"]
    assert none.verdict == "not run because SLaC is saturated at load 0.15, the lowest load that was run"
    apart = judged(changed("tornado", lambda rows: rows.filter(~pl.col("load").is_in([0.15, 0.2]))))["T-033"]
    assert apart.verdict.endswith("SLaC saturates between load 0.125 and load 0.22, the next load that was run")


@pytest.mark.parametrize(("left", "answer"), [(0.19, "met"), (0.25, "met"), (0.189, "missed"), (0.251, "missed")])
def test_a_loss_is_judged_by_what_remains_within_three_points(left: float, answer: str) -> None:
    assert remains(0.22, lambda _: (left, "")).judge(NOTHING).answer == answer


def from_all_on(rows: pl.DataFrame) -> pl.DataFrame:
    """Change rows so that TCEP starts with all links on at the higher loads."""
    begun = (pl.col("mechanism") == TCEP) & (pl.col("load") >= 0.45)
    policy = pl.when(begun).then(pl.lit(json.dumps({"tcep": {"initial": "all_on"}}))).otherwise(pl.col("policy"))
    return rows.with_columns(policy.alias("policy"))


def test_where_links_start_all_on_is_said() -> None:
    (figure,) = PAPER.chosen(["10a"])
    assert figure.remark
    text = "TCEP starts with all links on from load 0.45 on, with the fewest below."
    kept = pl.col("mechanism") != LITERAL
    assert figure.remark(changed("uniform", lambda rows: from_all_on(rows).filter(kept))) == text
    assert figure.remark(changed("uniform", lambda rows: rows.filter(kept))) == ""


def literal(rows: pl.DataFrame) -> pl.DataFrame:
    """Add a row of SLaC with the literal interpretation of its low threshold, at one load."""
    found = rows.filter(pl.col("mechanism") == SLAC, pl.col("load") == 0.2)
    found = found.with_columns(mechanism=pl.lit(LITERAL), links_on_mean=pl.lit(0.3), accepted_load=pl.lit(0.15))
    return pl.concat([rows.filter(pl.col("mechanism") != LITERAL), found])


def test_both_readings_of_slac_have_to_meet_what_its_release_decides() -> None:
    """Claims on SLaC's energy are missed if they fail only with the literal threshold, and the finding names this
    cause."""
    for claim, factor in (("T-039", 0.8), ("T-040", 0.01)):
        off = changed("tornado", scaled("energy_network_per_bit_pj", factor, LITERAL))
        finding = judged(off)[claim].finding
        assert finding.answer == "missed"
        assert finding.because.startswith(LITERAL) or f"of {LITERAL}" in finding.because
        assert "release" in finding.cause
        without = changed("tornado", lambda rows: rows.filter(pl.col("mechanism") != LITERAL))
        assert judged(without)[claim].verdict == f"not run because {LITERAL} was not run"
    (figure,) = PAPER.chosen(["slac"])
    assert figure.rows
    off = changed("tornado", scaled("energy_network_per_bit_pj", 0.8, LITERAL))
    row = figure.rows(off).row(by_predicate=pl.col("claim") == "T-039", named=True)
    assert row["stages are kept"].startswith("met")
    assert row["literal low threshold"].startswith("missed: SLaC, tornado: at most")
    few = figure.rows(off).row(by_predicate=pl.col("claim") == "T-033", named=True)
    assert few["literal low threshold"].startswith("not run"), "too few loads to tell where it saturates"


def test_a_throughput_that_the_loads_do_not_tell_apart_is_not_judged() -> None:
    """All mechanisms saturate between loads 0.8 and 1.

    The ratio of two throughputs is therefore only known to be between 0.8 and 1.25, and the claim has no verdict.
    """
    coarse = changed("uniform", lambda rows: rows.filter(~pl.col("load").is_in([0.85, 0.9, 0.95])))
    row = judged(coarse)["T-031"]
    assert row.finding.answer == "not run"
    assert "0.80 to 1.25 of the baseline's load" in row.verdict
    assert "between 0.95 and 1.05 by the loads that were run" in judged(ideal())["T-031"].finding.measured


def test_the_literal_reading_of_slac_is_reported() -> None:
    (figure,) = PAPER.chosen(["10a"])
    assert figure.remark
    shown = figure.remark(changed("uniform", literal))
    assert shown.endswith(
        "(`release: below_low`; in brackets the drawn curve): at load 0.2 30% of the links on (43%), accepted load"
        " 0.150 (0.200)."
    )
    plain, beside = judged(ideal()), judged(changed("uniform", literal))
    assert {key: row.verdict for key, row in plain.items()} == {key: row.verdict for key, row in beside.items()}, (
        "under uniform traffic nothing hangs on it"
    )


def test_points_that_had_not_settled_are_counted_and_decide_nothing_exact() -> None:
    late = pl.when(pl.col("load") < 0.15).then(pl.lit(value=False)).alias("power_settled")
    uniform = judged(changed("uniform", lambda rows: rows.with_columns(late)))
    least = judged(changed("least", lambda rows: rows.with_columns(late)))
    assert least["T-042"].verdict == "not run because the points at load 0.01 had not settled"
    assert "uniform: 14 of 53 points had not settled" in uniform["T-028"].finding.measured
    line = judged(changed("bound_uniform", lambda rows: rows.with_columns(late)))
    assert {line[key].finding.answer for key in ("T-046", "T-047")} == {"not run"}
    assert line["T-046"].verdict.endswith("the links of 1 of 6 points had not settled")
    # the claim is about links, so unsettled latencies do not matter
    slow = pl.when(pl.col("load") < 0.15).then(pl.lit(value=False)).alias("warmup_settled")
    line = judged(changed("bound_uniform", lambda rows: rows.with_columns(slow)))
    assert line["T-046"].finding.answer == "met"
    assert line["T-046"].finding.measured.endswith("(bound_uniform: 1 of 6 points had not settled)")


def test_saturated_points_say_nothing_of_energy() -> None:
    """The energy of saturated points is not compared.

    A mechanism that is saturated at every load therefore has no verdict.
    """
    full = pl.when(pl.col("mechanism") == SLAC).then(pl.lit(value=True)).otherwise(pl.col("saturated"))
    for claim, experiment in (("T-040", "tornado"), ("T-045", "bursty")):
        rows = judged(changed(experiment, lambda rows: rows.with_columns(full.alias("saturated"))))
        assert rows[claim].finding.answer == "not run", claim


def test_energy_above_the_baseline_is_drawn() -> None:
    _, axes = panel("10b", changed("tornado", scaled("energy_network_per_bit_pj", 3.0, SLAC)))
    assert axes.get_ylim()[1] > max(lines(axes)["SLaC"]) > 1.15


def test_a_figure_of_which_nothing_was_run_is_absent() -> None:
    for figure in PAPER.figures:
        if figure.draw and figure.needs:
            with pytest.raises(LackingError):
                line_figures.drawn(figure, NOTHING)


def test_the_widest_gap_is_known_only_between_loads() -> None:
    rows = judged(changed("bound_uniform", lambda rows: rows.filter(pl.col("load") <= 0.41)))
    assert rows["T-046"].finding.answer == "met"
    assert rows["T-047"].finding.answer == "not run"


def test_very_low_loads_are_those_up_to_half_of_what_slac_carries() -> None:
    """SLaC carries loads up to 0.125.

    The claim on very low loads is missed if SLaC's latency exceeds TCEP's at a load up to half of 0.125, such as 0.05.
    """
    at = [(pl.col("load") == load) & (pl.col("mechanism") == SLAC) for load in (0.05, 0.1)]
    for slow, answer in zip(at, ("missed", "met"), strict=True):
        later = (pl.when(slow).then(2).otherwise(1) * pl.col(q.LATENCY.column)).alias(q.LATENCY.column)
        rows = ideal()["tornado"].with_columns(later)
        finding = judged(changed("tornado", lambda _, rows=rows: rows))["T-037"].finding  # type: ignore[misc] # what a lambda has bound
        assert finding.answer == answer, finding.measured
    shown = "tornado: SLaC's latency is that of TCEP x 0.87 at load 0.01, x 0.87 at load 0.05;"
    assert finding.measured.startswith(shown)


def test_extremes_of_few_mappings_are_not_judged() -> None:
    rows = judged(changed("jobs_permutation", lambda rows: rows.filter(pl.col("seed") < 3)))
    assert {rows[f"T-0{number}"].finding.answer for number in (79, 81, 82)} == {"not run"}
    assert rows["T-081"].verdict.endswith("3 mappings were run, but the paper has 100: a full run has them all")


def test_the_gap_of_a_smaller_network_is_not_judged() -> None:
    rows = judged(changed("bound_uniform", lambda rows: rows.with_columns(terminals=pl.lit(256.0))))
    assert {rows[key].finding.answer for key in ("T-046", "T-047")} == {"not run"}
    assert "16 were run" in rows["T-046"].verdict


def test_where_dvfs_saves_more_is_said() -> None:
    """The finding names the load from which DVFS saves more than TCEP.

    TCEP saves up to 75 %, DVFS 15 % at all loads.
    """
    row = judged(ideal())["T-041"]
    assert "tornado: DVFS up to 15.0%, TCEP up to 75.0%; DVFS saves more from load 0.57 on" in row.finding.measured


def test_a_mapping_that_one_did_not_complete_is_counted() -> None:
    lost = (pl.col("mechanism") == SLAC) & (pl.col("seed") == 0)
    time = pl.when(~lost).then(pl.col("completion_cycles")).alias("completion_cycles")
    rows = judged(changed("jobs_uniform", lambda rows: rows.with_columns(time)))
    assert rows["T-078"].finding.measured.endswith("99 of 100 mappings")
    assert rows["T-080"].finding.measured.endswith("99 of 100 mappings")


@pytest.mark.parametrize("value", ODD)
@pytest.mark.parametrize("experiment", [each.name for each in PAPER.experiments])
def test_odd_values_never_end_a_report(experiment: str, value: float | str | None) -> None:
    """Whatever numbers a mechanism has, each claim gets an answer, and each figure is drawn or reported as absent."""
    mechanisms = (BASELINE, TCEP, SLAC)
    check_report(PAPER, ideal(), experiment, mechanisms, value)


def test_a_throughput_that_no_load_reached_is_not_judged() -> None:
    low = changed("tornado", lambda rows: rows.filter(pl.col("load") < 0.5, pl.col("mechanism") != SLAC))
    assert judged(low)["T-036"].finding.answer == "not run"


@pytest.mark.parametrize("name", [each.name for each in PAPER.figures if each.draw])
def test_every_figure_has_axes_with_units_and_fits_a_paper(name: str) -> None:
    drawing, _ = panel(name, ideal())
    assert drawing.get_figwidth() in (style.COLUMN, style.PAGE)
    plain = {"Inner links", "Share of active links", "Mapping, in the order of energy", "Paths, concentrated / random"}
    # horizontal axes with names of applications below the bars have no label
    plain |= {"SLaC / TCEP", "Energy per flit / baseline's", *[""] * (name in ("1", "13", "14", "sensitivity"))}
    for axes in drawing.axes:
        if axes.axison:
            # a vertical axis needs no label if its rows have names, or if it is next to such a panel
            has_names = len(axes.get_yticks()) == 0 or axes.get_yticklabels()[0].get_text()
            named = [axes.get_xlabel(), *([] if has_names else [axes.get_ylabel()])]
            assert all("[" in label or label in plain or label == "Flits/cycle" for label in named), named


@pytest.mark.parametrize("delivered", [True, False])
def test_saturated_latencies_stand_at_the_upper_edge(delivered: bool) -> None:
    """Figures show saturated points at the upper edge, even if their latency is unknown because no packet of the window
    was delivered."""
    latency = pl.when(~pl.col("saturated") | delivered).then(pl.col(q.LATENCY.column)).alias(q.LATENCY.column)
    _, axes = panel("9b", changed("tornado", lambda rows: rows.with_columns(latency)))
    found = lines(axes)
    steady = [load for load in ideal()["tornado"]["load"].unique() if load <= FULL["tornado"]]
    assert len(found["baseline"]) == len(found["TCEP"]) == len(steady)
    assert len(found["SLaC"]) == len([load for load in steady if load <= 0.125])
    top = axes.get_ylim()[1]
    edge = [line for line in axes.get_lines() if line.get_label() == "_saturated"]
    heights = [float(y) for line in edge for y in np.asarray(line.get_ydata(), float)]
    loads = ideal()["tornado"]["load"].n_unique()
    assert heights == [top] * (3 * loads - sum(len(found[name]) for name in ("baseline", "TCEP", "SLaC")))


def test_energy_is_that_of_the_baseline_at_the_same_load() -> None:
    _, axes = panel("10a", changed("uniform", scaled("energy_network_per_bit_pj", 2.0, "baseline")))
    found = lines(axes)
    assert set(found["baseline"]) == {1.0}
    assert found["TCEP"][0] == pytest.approx(0.25 / 2)
    assert found["DVFS"] == pytest.approx([0.85 / 2] * len(LOADS))


def test_the_bound_stands_beside_the_links_of_tcep() -> None:
    _, axes = panel("12", ideal())
    found = lines(axes)
    assert found["bound, uniform"][0] == pytest.approx(2 / 32), "the root network"
    assert max(found["bound, uniform"]) == pytest.approx(2 * 0.8 / 1.8, abs=1e-6)
    assert max(found["bound, adversarial"]) == pytest.approx(2 * 0.41 - 1 / 32, abs=1e-6), "32 direct channels"


def test_mappings_are_sorted_by_energy() -> None:
    _, axes = panel("15b", ideal())
    found = lines(axes)
    assert found["network energy"] == sorted(found["network energy"])
    assert found["network energy"][-1] == pytest.approx(3.7)


def test_a_figure_without_its_mechanism_says_so() -> None:
    (figure,) = PAPER.chosen(["12"])
    with pytest.raises(LackingError, match="TCEP was not run"):
        line_figures.drawn(figure, changed("bound_uniform", lambda rows: rows.filter(pl.col("mechanism") == SLAC)))


def test_frames_are_those_of_the_results(tmp_path: Path) -> None:
    """Frames have the numbers of the summaries.

    DVFS takes less energy than the baseline, because a link at the lowest rate draws 0.54 of the power.
    """
    text = PAPER.path("uniform.yaml").read_text(encoding="utf-8")
    small = {
        "topology.hyperx.widths": "[4, 4]",
        "topology.hyperx.terminals_per_router": 2,
        "measure.window": "500cycles",
    }
    alone = {
        "sweep.traffic.load": [0.05],
        "zip.routing": ["dimension_order"],
        "zip.power.policy": ["always_on"],
        "zip.measure.warmup_limit": ["20000cycles"],
    }
    results = weft.load(text, overrides=small | alone).run(tmp_path)
    rows = frame(results)
    assert rows.schema == pl.Schema(SCHEMA | COLUMNS)
    baseline, dvfs = rows.iter_rows(named=True)
    assert (baseline["mechanism"], dvfs["mechanism"]) == ("baseline", "DVFS")
    assert baseline["packet_latency_mean_cycles"] == results.summaries[0]["packet_latency_mean_cycles"]
    assert dvfs["energy_network_per_bit_pj"] / baseline["energy_network_per_bit_pj"] == pytest.approx(0.54)


def test_links_that_stay_on_are_scaled_too(tmp_path: Path) -> None:
    """At load 0.02 every powered channel carries less than a quarter of its bandwidth.

    All channels therefore have the lowest rate. At this rate a channel draws 0.54 of the power.
    """
    text = PAPER.path("uniform.yaml").read_text(encoding="utf-8")
    two = {
        "topology.hyperx.widths": "[4, 4]",
        "topology.hyperx.terminals_per_router": 2,
        "measure.window": "500cycles",
        "measure.warmup": "500cycles",
        "zip.measure.warmup_limit": [None, None],
        "sweep.traffic.load": [0.02],
        "zip.routing": ["dimension_order", "pal"],
        "zip.power.policy": ["always_on", "tcep"],
    }
    rows = frame(weft.load(text, overrides=two).run(tmp_path))
    energy = dict(zip(rows["mechanism"], rows["energy_network_per_bit_pj"], strict=True))
    assert rows.filter(pl.col("derived"))["mechanism"].to_list() == [DVFS, COMBINED]
    assert energy[COMBINED] / energy[TCEP] == pytest.approx(0.54)
    assert energy[TCEP] < energy[BASELINE]


def test_what_rates_save_is_reported_with_the_loads() -> None:
    """In the ideal frames, DVFS uses 0.85 of the baseline's energy at every load, and TCEP with DVFS 0.8 of TCEP's."""
    (figure,) = PAPER.chosen(["rates"])
    assert figure.remark
    shown = figure.remark(ideal())
    assert "uniform: DVFS 15%" in shown
    loads = [load for load in LOADS if load <= FULL["tornado"]]
    tcep = sum(min(1, 0.25 + 1.2 * (load - LOADS[0])) for load in loads) / len(loads)
    both = f"TCEP {1 - tcep:.0%}, TCEP and DVFS {1 - 0.8 * tcep:.0%}"
    assert f"tornado: DVFS 15%, {both} ({len(loads)} loads, 0.01 to {loads[-1]:g})" in shown
    drawing, axes = panel("rates", ideal())
    assert [axes.get_title(loc="left") for axes in drawing.axes] == ["uniform", "tornado", "bit reverse"]
    found = lines(axes)
    assert np.array(found["TCEP and DVFS"]) == pytest.approx(0.8 * np.array(found["TCEP"]))
    assert found["DVFS"] == pytest.approx([0.85] * len(LOADS))


def test_links_are_drawn_against_latency_with_what_no_policy_can_do() -> None:
    """For a line of 8 routers with 8 terminals each, the lower bound of the share of active links is 2 l / (1 + l) at
    load l, which is a third at 0.2.

    The oracle keeps more links on.
    """
    (figure,) = PAPER.chosen(["own"])
    assert figure.remark
    assert figure.remark(ideal()).startswith("fewest links: at load 0.2 60.0% of the links, 33.0 cycles (TCEP 70.0%")
    drawing, axes = panel("own", ideal())
    assert [each.get_title(loc="left") for each in drawing.axes] == ["load 0.2", "load 0.45"]
    found = lines(axes)
    for label, shares in (("TCEP", [0.8, 0.7]), ("fewest links", [0.7, 0.6, 0.55]), ("baseline, DVFS", [1.0])):
        assert found[label] == pytest.approx(shares)
    assert found["bound"] == pytest.approx([1 / 3] * 2)
    assert 1 / 3 < found["oracle"][0] < 0.7


def test_a_number_names_all_its_parts() -> None:
    assert [each.name for each in PAPER.chosen(["9", "epochs"])] == ["9a", "9b", "9c", "epochs"]
    assert len(PAPER.chosen([])) == len(PAPER.figures)
    with pytest.raises(WeftError, match="no figure '16'") as problem:
        PAPER.chosen(["16"])
    assert "9a" in problem.value.help


def test_the_command_writes_figures_scoreboard_and_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert main(["reproduce", "tcep", "--only", "3", "5", "--out", str(out), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document == json.loads((out / "scoreboard-3-5.json").read_text())
    assert sum(document["count"].values()) == len(document["claims"]) == 91
    assert {path.name for path in (out / "figures").iterdir()} == {
        f"fig{n}.{f}" for n in (3, 5) for f in (*line_figures.FORMATS, "csv")
    }
    assert (out / "figures" / "fig5.csv").read_text().startswith("choice,utilisation_flits_per_cycle\nbefore,")
    with (out / "scoreboard-3-5.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == [claim["id"] for claim in document["claims"]]
    page = (out / "report-3-5.html").read_text()
    assert f"<code>weft reproduce tcep --quick --only 3 5 --out {out}</code>" in page
    assert page.count('<img src="data:image/svg+xml;base64,') == 2
    assert all(row["id"] in page for row in rows)
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")


def test_the_command_prints_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "tcep", "--only", "6", "--out", str(tmp_path / "out")]) == 0
    output = capsys.readouterr().out
    assert "T-022" in output
    assert f"report   {tmp_path / 'out' / 'report-6.html'}" in output


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["nobody"], "there is no paper 'nobody'"),
        (["tcep", "--only", "99"], "tcep has no figure '99'"),
        (["tcep", "--only", "3", "--out", "{file}"], "is a file, but the reproduction needs a folder of this name"),
        (["tcep", "--only", "3", "--out", "{file}/below"], "but the reproduction needs a folder of this name"),
        (["tcep", "--only", "3", "--out", "/proc/nope"], "can't be written"),
        (["tcep", "--only", "3", "--out", "{figures}"], "figures is not a folder"),
        (["tcep", "--only", "3", "--out", "{report}"], "report-3.html is a folder"),
        (["tcep", "--only", "3", "--out", "{sweep}"], "contains the results of a sweep"),
    ],
)
def test_bad_input_is_refused(
    arguments: list[str], what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "sweep").mkdir()
    (tmp_path / "sweep" / "sweep.json").write_text("{}")
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "figures").touch()
    (tmp_path / "report" / "report-3.html").mkdir(parents=True)
    places = {name: tmp_path / name for name in ("file", "sweep", "figures", "report")}
    assert main(["reproduce", *(each.format(**places) for each in arguments)]) == 2
    errors = capsys.readouterr().err
    assert what in errors
    assert "= help:" in errors
    assert "Traceback" not in errors


def test_quick_and_full_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["reproduce", "tcep", "--quick", "--full"])
    assert ended.value.code == 2
    assert "not allowed with" in capsys.readouterr().err


def test_only_what_is_missing_or_damaged_is_run_again(tmp_path: Path) -> None:
    """A second run repeats only missing or damaged points.

    In the test, one summary is cut off and one point's folder is empty.
    """
    first = reproduce(SMALLEST, out=tmp_path)
    (_, results), *_ = first.ran
    assert len(results) == 2
    files = [results.folder(row) / "summary.json" for row in range(2)]
    before = [path.stat().st_mtime_ns for path in files]
    files[0].write_text(files[0].read_text()[:100])
    (results.root / "points" / "half").mkdir()
    again = reproduce(SMALLEST, out=tmp_path)
    assert files[1].stat().st_mtime_ns == before[1]
    assert again.ran[0][1].summaries == results.summaries
    claim = next(row for row in again.rows if row.claim.id == "T-025")
    assert claim.finding.measured == "4 (2 in the full network)"


def test_a_folder_of_another_sweep_is_not_taken(tmp_path: Path, small: Path) -> None:
    weft.load(small, overrides={"sweep.traffic.load": [0.05]}).run(tmp_path / "runs" / "root")
    with pytest.raises(ResultsError, match="another sweep"):
        reproduce(SMALLEST, out=tmp_path)


def test_papers_are_listed_without_loading_them() -> None:
    assert paper("tcep") is PAPER
    with pytest.raises(WeftError, match="no paper") as problem:
        paper("other")
    assert "ISCA 2018" in problem.value.help


@pytest.mark.parametrize("each", PAPER.experiments, ids=lambda each: each.name)
def test_scenarios_are_sound_in_both_lengths(each: Experiment) -> None:
    paper_checks.check_scenarios(PAPER, each)


def test_the_quick_run_varies_what_the_full_one_does() -> None:
    (each,) = (each for each in PAPER.experiments if each.name == "epochs")
    whole, parts = (
        [
            point.resolved["power"]["policy"]
            for _, sets in each.sweeps(quick=quick)
            for point in weft.load(PAPER.path("epochs.yaml"), overrides=sets).points
        ]
        for quick in (False, True)
    )
    assert all(policy in parts for policy in whole)
    assert parts[0] == whole[0], "the default comes first"


def _loads(experiment: Experiment, sets: Mapping[str, Any]) -> Counter[tuple[str, float | None]]:
    """Return the number of runs of each policy at each load."""
    points = weft.load(PAPER.path(experiment.file), overrides=sets).points
    policies = (next(iter(point.resolved["power"]["policy"].items())) for point in points)
    # runs of TCEP with different initial links have one name; runs of SLaC with the literal threshold have a separate
    # name
    names = ("literal" if keys.get("release") == "below_low" else name for name, keys in policies)
    return Counter(zip(names, (point.coordinates.get("traffic.load") for point in points), strict=True))


def test_the_full_run_has_every_load_of_its_scenario_once() -> None:
    for each in (each for each in PAPER.experiments if not each.scenario and "sweep.traffic.jobs" not in each.full[0]):
        parts = sum((_loads(each, sets) for _, sets in each.sweeps(quick=False)), Counter())
        found, whole = (
            Counter({key: count for key, count in loads.items() if key[0] != "literal"})
            for loads in (parts, _loads(each, {}))
        )
        assert found == whole, each.name
