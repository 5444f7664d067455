"""The reproduction of Zahn et al.: its networks, verdicts, figures, and the command."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
import yaml

import paper_checks
import weft
from reproduced_congestion import ideal
from weft.reproduce.common import line_figures
from weft.reproduce.common.reproduction import reproduce
from weft.reproduce.congestion import PAPER, scheme_claims
from weft.reproduce.congestion.hot_spot_runs import DRAGONFLY, FILL, NETWORKS, SMALL, TORUS, TREE
from weft.reproduce.congestion.scheme_outcomes import (
    DBBM,
    FLOW2SL,
    H2LQ,
    HIGH_LOW,
    IODET,
    NONE,
    ON_OFF,
    ONE_QUEUE,
    VOQSW,
)

if TYPE_CHECKING:
    from pathlib import Path

    from weft.reproduce.common.paper import Experiment

GIVEN = {4, 5, 6, 7, 8, 9, 10, 25, 33, 34}
DRAWN = [each.name for each in PAPER.figures if each.draw]
TABLES = [each.name for each in PAPER.figures if each.rows]


def test_every_claim_has_a_rule_and_every_rule_a_claim() -> None:
    paper_checks.check_rules(PAPER, (f"C-{number:03}" for number in range(1, 35)))


def test_what_rules_and_figures_need_exists() -> None:
    paper_checks.check_needs(PAPER)
    assert [each.name for each in PAPER.needed(PAPER.chosen(["1"]))] == [TORUS]


def test_numbers_as_printed_meet_every_claim() -> None:
    answers = {key: row.finding.answer for key, row in paper_checks.judged(PAPER, ideal()).items()}
    assert {key for key, answer in answers.items() if answer == "waits"} == {"C-031", "C-032"}
    assert {key for key, answer in answers.items() if answer == "by construction"} == {f"C-{each:03}" for each in GIVEN}
    assert {*answers.values()} == {"met", "waits", "by construction"}


def of(saving: str, *schemes: str) -> pl.Expr:
    """Rows of schemes under a policy."""
    return pl.col("scheme").is_in(schemes) & (pl.col("saving") == saving)


@pytest.mark.parametrize(
    ("claim", "experiment", "where", "column", "factor"),
    [
        ("C-011", TORUS, of(NONE, VOQSW), "accepted_load", 3),
        ("C-012", TORUS, of(ON_OFF, IODET), "energy_nj", 5),
        ("C-013", TORUS, of(ON_OFF, DBBM), "latency_us", 1.1),
        ("C-014", TORUS, of(HIGH_LOW, IODET), "energy_nj", 1.1),
        ("C-015", TORUS, of(HIGH_LOW, DBBM), "latency_us", 1.1),
        ("C-016", TORUS, of(ON_OFF, VOQSW), "energy_nj", 9),
        ("C-017", TREE, of(NONE, FLOW2SL), "accepted_load", 0.4),
        ("C-018", TREE, of(ON_OFF, FLOW2SL), "latency_us", 0.7),
        ("C-019", TREE, of(ON_OFF, FLOW2SL), "accepted_load", 0.9),
        ("C-020", TREE, of(NONE, VOQSW, DBBM, FLOW2SL), "energy_nj", 0.01),
        ("C-021", DRAGONFLY, of(HIGH_LOW, H2LQ), "accepted_load", 0.9),
        ("C-022", DRAGONFLY, of(NONE, VOQSW, DBBM, H2LQ), "latency_us", 1000),
        ("C-023", FILL, pl.col("scheme") == ONE_QUEUE, "link_use", 0.5),
        ("C-024", TREE, of(HIGH_LOW, DBBM), "energy_nj", 1.1),
        ("C-026", DRAGONFLY, of(ON_OFF, H2LQ), "energy_nj", 0.1),
        ("C-027", TREE, of(NONE, ONE_QUEUE), "latency_us", 0.5),
        ("C-028", DRAGONFLY, of(NONE, ONE_QUEUE), "energy_nj", 0.8),
        ("C-029", TREE, of(NONE, ONE_QUEUE), "accepted_load", 1.5),
        ("C-030", TORUS, pl.col("saving") == NONE, "latency_us", 0.8),
    ],
)
def test_a_number_that_is_off_misses_its_claim(
    claim: str, experiment: str, where: pl.Expr, column: str, factor: float
) -> None:
    change = paper_checks.scaled_where(where, column, factor)
    finding = PAPER.rules[claim].judge(paper_checks.changed(ideal(), experiment, change))
    assert finding.answer == "missed", finding.measured


def test_the_scenarios_have_the_parameters_that_the_board_calls_given() -> None:
    """Table I in whole cycles of 20 ns, 240 bytes per flit: 96 Gb/s; 12 lanes of 0.342 W; and the networks."""
    for network in NETWORKS:
        document = yaml.safe_load(PAPER.path(f"{network}.yaml").read_text(encoding="utf-8"))
        assert document["topology"] == scheme_claims.PAPER_NETWORKS[network]
        assert (document["cycle"], document["flit"], 240 * 8 / 20) == ("20ns", "240B", scheme_claims.LINK_GBPS)
        none, *policies = document["sweep"]["power.policy"]
        assert none == "always_on"
        for policy in policies:
            times = policy["idle_timeout"]
            assert (times["idle"], times["transition"]) == ("11.1us", f"{scheme_claims.TRANSITION_US}us")
        # a reader of YAML 1.1 takes the key `on` for true
        prices = document["power"]["prices"]
        assert prices[True]["static"] == f"{scheme_claims.LANES * scheme_claims.LANE_W:.3f}W"
        assert prices["low"]["static"] == f"{scheme_claims.LANE_W}W"
        assert document["power"]["router_price"]["static"] == f"{scheme_claims.CORE_W}W"
        assert {"dbbm": {"queues": 4}} in document["zip"]["queueing"]
        assert document["traffic"]["load"] == 0.4
    assert {"h2lq": {"standard": 6, "escape": 2}} in document["zip"]["queueing"]


def test_a_smaller_network_is_said() -> None:
    smaller = paper_checks.changed(ideal(), TORUS, lambda rows: rows.with_columns(terminals=pl.lit(240.0)))
    assert PAPER.rules["C-011"].judge(smaller).measured.endswith("; at 240 terminals, not the paper's")
    assert "terminals" not in PAPER.rules["C-011"].judge(ideal()).measured


def test_what_was_not_run_is_said() -> None:
    rows = paper_checks.judged(PAPER, paper_checks.NOTHING)
    assert rows["C-011"].verdict == "not run because it needs the points of torus.yaml: run it without --only"
    assert rows["C-001"].finding.answer == "met", "a network needs no run"


@pytest.mark.parametrize("name", DRAWN)
def test_every_figure_is_drawn_with_its_numbers_and_units(name: str) -> None:
    paper_checks.check_figure(PAPER, name, ideal())


def test_tables_have_a_line_per_scheme_and_policy() -> None:
    heights = {name: PAPER.chosen([name])[0].rows(ideal()).height for name in TABLES}  # type: ignore[misc]
    assert heights == {"table1": 4, "flows": 36, "readings": 14}


# Networks of 36, 16 and 72 nodes.
TINY = {
    "torus": {"widths": [4, 3, 3], "terminals_per_router": 1},
    "k_ary_n_tree": {"k": 4, "n": 2},
    "dragonfly": {"routers_per_group": 4, "terminals_per_router": 2, "global_links_per_router": 2},
}


def tiny(each: Experiment) -> Experiment:
    """An experiment of a second: tiny networks, 40 us after 20 us."""
    sets: dict[str, Any] = dict(each.quick[0]) | {"measure.warmup": "20us", "measure.window": "40us"}
    if each.name == FILL:
        sets = {"topology": {}, "sweep.measure.window": ["10us", "20us"], "sweep.seed": [1]}
    if "zip.topology" in sets:
        sets["zip.topology"] = [{name: TINY[name] for name in topology} for topology in sets["zip.topology"]]
    else:
        (name,) = SMALL[DRAGONFLY if each.name == FILL else each.name]
        sets["topology"] = {name: TINY[name]}
    return dataclasses.replace(each, quick=(sets,))


def test_every_experiment_runs_is_drawn_and_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of it in small."""
    monkeypatch.setattr(line_figures, "FORMATS", ("svg",))
    done = reproduce(dataclasses.replace(PAPER, experiments=[tiny(each) for each in PAPER.experiments]), out=tmp_path)
    assert not [each.figure.name for each in done.shown if each.absent]
    assert {row.finding.answer for row in done.rows if row.rule.needs} <= {"met", "missed"}
    flows = pl.read_csv(tmp_path / "figures" / "flows.csv")
    # the hot node takes what its link carries, and no cold source accepts more than it offers (0.4, plus chance)
    assert flows["hot node [flits/cycle]"].max() == pytest.approx(1, abs=0.01)
    assert flows["cold [flits/source/cycle]"].max() < 0.42  # type: ignore[operator]


@pytest.mark.parametrize("each", PAPER.experiments, ids=lambda each: each.name)
def test_scenarios_are_sound(each: Experiment) -> None:
    """The quick sweeps; those of the paper's size take minutes to check."""
    for _, sets in each.sweeps(quick=True):
        sweep = weft.load(PAPER.path(f"{each.name}.yaml"), set=sets)
        assert sweep.points
        assert sweep.name.startswith(f"congestion-{each.name}")
