"""Tests the generated applications with which the paper on TCEP is reproduced: programs, claims and figures."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

import polars as pl
import pytest

import paper_checks
import weft
from paper_checks import NOTHING
from reproduced import ideal
from weft_papers.common.frames import BASELINE
from weft_papers.common.measured import LackingError
from weft_papers.common.rules import change_holds
from weft_papers.tcep import PAPER, application_figures, fixed_latency
from weft_papers.tcep.application_claims import ENERGY, HOPS, LATENCY, RUN_TIME, SLOWER, SLOWEST, factors
from weft_papers.tcep.application_programs import (
    APPLICATIONS,
    BIG_FFT,
    BOX_MG,
    COLUMNS,
    EPOCHS,
    HILO,
    NEKBONE,
    RANDOM,
    RUNS,
    of_job,
)
from weft_papers.tcep.mechanisms import SLAC, TCEP, frame

if TYPE_CHECKING:
    from pathlib import Path

    from weft_papers.common.rules import Finding

CLAIMS = [f"T-{number:03}" for number in (*range(61, 78), 89, 90, 91)]


PRINTED = ideal()


def judged(claim: str, experiment: str, where: pl.Expr, column: str, factor: float) -> Finding:
    """Return the finding of a claim for the paper's numbers, with a column multiplied by a factor in some rows."""
    change = paper_checks.scaled_where(where, column, factor)
    return PAPER.rules[claim].judge(paper_checks.changed(PRINTED, experiment, change))


def test_the_printed_numbers_meet_every_claim_on_applications() -> None:
    rows = paper_checks.judged(PAPER, PRINTED)
    assert {claim: rows[claim].finding.answer for claim in CLAIMS} == dict.fromkeys(CLAIMS, "met")
    assert all(rows[claim].finding.measured.startswith("generated: ") for claim in CLAIMS)
    assert rows["T-063"].finding.measured.count("gaps x 0.5") == 2, "a part for each mapping"


@pytest.mark.parametrize(
    ("claim", "off"),
    [
        ("T-061", (RUNS, BIG_FFT, SLAC, LATENCY, 1.06)),
        ("T-062", (RUNS, BIG_FFT, TCEP, LATENCY, 1.11)),
        ("T-063", (RUNS, HILO, SLAC, HOPS, 1.03)),
        ("T-063", (RUNS, HILO, TCEP, "links_on_mean", 1.11)),
        ("T-063", (RUNS, HILO, SLAC, "links_on_mean", 1.11)),
        ("T-064", (RUNS, BOX_MG, SLAC, LATENCY, 1.1)),
        ("T-065", (RUNS, NEKBONE, SLAC, LATENCY, 1.2)),
        ("T-066", (RUNS, NEKBONE, TCEP, LATENCY, 1.2)),
        ("T-067", (RUNS, BIG_FFT, TCEP, "control_share", 1.2)),
        ("T-068", (RUNS, BOX_MG, TCEP, ENERGY, 1.05)),
        ("T-069", (RUNS, BIG_FFT, TCEP, ENERGY, 1.05)),
        ("T-070", (RUNS, NEKBONE, SLAC, ENERGY, 1.05)),
        ("T-071", (EPOCHS, NEKBONE, SLOWER, LATENCY, 1.3)),
        ("T-072", (EPOCHS, NEKBONE, SLOWEST, LATENCY, 1.3)),
        ("T-073", (EPOCHS, NEKBONE, SLOWEST, ENERGY, 1.02)),
        ("T-074", (EPOCHS, BIG_FFT, SLOWEST, RUN_TIME, 1.006)),
        ("T-075", (EPOCHS, NEKBONE, (1.0, 0.5), LATENCY, 1.3)),
        ("T-075", (EPOCHS, NEKBONE, (1.0, 0.5), LATENCY, 1.02)),
        ("T-075", (EPOCHS, NEKBONE, (1.0, 0.5), LATENCY, 0.87)),
        ("T-076", (EPOCHS, NEKBONE, (1.0, 1.5), LATENCY, 1.3)),
        ("T-077", (EPOCHS, NEKBONE, (1.0, 1.5), ENERGY, 1.03)),
        ("T-089", (RUNS, BOX_MG, SLAC, ENERGY, 1.5)),
        ("T-090", (EPOCHS, NEKBONE, SLOWEST, LATENCY, 4)),
        ("T-091", (RUNS, HILO, SLAC, LATENCY, 1.3)),
    ],
)
def test_one_length_of_gaps_that_is_off_misses_the_claim(claim: str, off: tuple[str, str, object, str, float]) -> None:
    experiment, work, which, column, factor = off
    where = (pl.col("work") == work) & (pl.col("mapping") == RANDOM) & (pl.col("scale") == 2)
    if isinstance(which, str):
        where &= pl.col("mechanism") == which
    else:
        where &= pl.col("policy").map_elements(lambda policy: factors(policy) == which, return_dtype=pl.Boolean)
    finding = judged(claim, experiment, where, column, factor)
    assert finding.answer == "missed"
    asked = PAPER.rules[claim].words
    assert finding.because.count("gaps x") == 1 + asked.count("gaps x"), "only the part that is off"
    assert "(random, gaps x 2)" in finding.because


def test_a_claim_needs_every_length_of_gaps_and_every_application() -> None:
    for where, shown in (
        (pl.col("mapping") != RANDOM, "the random mapping was not run"),
        (pl.col("scale") != 2, "gaps of 2 times their original length were not run with the linear mapping"),
        (pl.col("work") != HILO, "HILO was not run with SLaC (linear, gaps x 0.5)"),
    ):
        few = paper_checks.changed(PRINTED, RUNS, lambda rows, where=where: rows.filter(where))  # type: ignore[misc] # bound
        assert paper_checks.judged(PAPER, few)["T-065"].verdict == f"not run because {shown}"
    without = dataclasses.replace(PRINTED, frames={RUNS: PRINTED[RUNS]})
    assert paper_checks.judged(PAPER, without)["T-071"].verdict.endswith("--only sensitivity varied, or with --full")


def test_a_stalled_application_is_reported_as_stalled() -> None:
    stuck = (pl.col("work") == HILO) & (pl.col("mechanism") == SLAC)
    some = paper_checks.changed(
        PRINTED, RUNS, lambda rows: rows.with_columns(stalled=stuck | pl.col("stalled"), completion_cycles=RUN_TIME)
    )
    with pytest.raises(LackingError, match=re.escape("HILO stalled with SLaC (linear, gaps x 0.5)")):
        PAPER.rules["T-065"].judge(some)
    assert PAPER.rules["T-061"].judge(some).answer == "met", "another application did not stall"
    assert application_figures.table(some).height == (len(APPLICATIONS) * 3 - 1) * 3 * 2


def test_a_full_run_needs_both_mappings_and_names_no_cause_of_a_quick_one() -> None:
    linear = paper_checks.changed(PRINTED, EPOCHS, lambda rows: rows.filter(pl.col("mapping") != RANDOM))
    assert PAPER.rules["T-071"].judge(linear).answer == "met", "a quick run asks for one mapping"
    with pytest.raises(LackingError, match="the random mapping was not run"):
        PAPER.rules["T-071"].judge(dataclasses.replace(linear, quick=False))
    slow = paper_checks.changed(PRINTED, RUNS, paper_checks.scaled_where(pl.col("mechanism") == SLAC, LATENCY, 2))
    for quick, shown in (
        (True, "HILO (linear, gaps x 1) has +162 %"),
        (False, "not isolated: tried factors in a quick run only"),
    ):
        assert shown in PAPER.rules["T-065"].judge(dataclasses.replace(slow, quick=quick)).cause


@pytest.mark.parametrize(
    ("printed", "met", "missed"),
    [
        (0.11, (0.081, 0.139), (0.079, 0.141)),
        (-0.05, (-0.021, -0.079), (-0.019, -0.081)),
        (0.02, (0.001, 0.0219), (0.0, -0.001, 0.0221)),
        (-0.02, (-0.001, -0.0219), (0.0, 0.001, -0.0221)),
    ],
)
def test_a_small_change_has_the_printed_sign_and_is_not_greater(
    printed: float, met: tuple[float, ...], missed: tuple[float, ...]
) -> None:
    assert all(change_holds(found, printed) for found in met)
    assert not any(change_holds(found, printed) for found in missed)


def test_figure_1_counts_the_latencies_of_an_iteration() -> None:
    """An iteration of Nekbone has three sums over 512 ranks, each of 9 rounds, and an exchange with neighbours: 28
    latencies.

    The network interface can send in part while the ranks compute, which hides time of the exchange.
    """
    one, three = (fixed_latency.increase(NEKBONE, 1.0, latency, quick=True) for latency in (2, 4))
    assert three == pytest.approx(3 * one, rel=1e-6)
    # times of an iteration [us]: computation for all points, and transfer of the exchanged bytes at 15 GB/s
    compute, exchange = (4 * 9) ** 3 * 14.2e-3, 2 * 55_504 / 15e3
    assert 27 / (compute + exchange + 28) <= one <= 28 / (compute + 27)
    answers = {claim: fixed_latency.RULES[claim].judge(NOTHING).answer for claim in ("T-012", "T-013", "T-014")}
    assert set(answers.values()) == {"missed"}
    assert "at gaps x 0.5" in fixed_latency.remark(NOTHING)


def test_figures_have_the_applications_by_their_injection_rate() -> None:
    (figure,) = PAPER.chosen(["13"])
    assert figure.remark
    shown = figure.remark(PRINTED)
    places = [shown.index(f" {work} ") for work in APPLICATIONS]
    assert places == sorted(places), "the printed numbers have rising rates in this order"
    rows = application_figures.table(PRINTED)
    assert rows.height == len(APPLICATIONS) * 3 * 3 * 2
    assert application_figures.epochs_table(PRINTED)["mechanism"].n_unique() == 4


def test_a_run_of_a_smaller_application_has_its_columns(tmp_path: Path) -> None:
    """The columns ``work`` (application), ``mapping`` and ``scale`` (of the gaps) come from the name of the job of a
    run."""
    small = {"ranks": 16, "iterations": 1, "tallies": "64B", "field": "64B", "time": "1us"}
    job = {
        "name": "HILO random 0.5",
        "terminals": {"random": {"count": 16}},
        "workload": {"programs": {"program": {"hilo": small}, "interface": "tcep", "eager": "1GB"}},
    }
    sets = {
        "topology": {"hyperx": {"widths": [4, 4], "terminals_per_router": 1}},
        "sweep.traffic.jobs": [[job]],
    }
    rows = frame(weft.load(PAPER.path("applications.yaml"), overrides=sets).run(tmp_path))
    assert rows["mechanism"].to_list() == [BASELINE, TCEP, SLAC]
    assert rows.select(COLUMNS.keys()).unique().row(0) == (HILO, RANDOM, 0.5)
    assert not rows["derived"].any(), "links at other rates are for open traffic"
    assert rows[RUN_TIME].null_count() == 0
    assert of_job([{"job": "ring 1"}])["work"] is None
    assert of_job([{"job": None}])["work"] is None
