"""Tests the reproduction of the paper of Andujar et al. on torus networks: networks, generated applications, verdicts
and figures."""

from __future__ import annotations

import dataclasses

import polars as pl
import pytest
import yaml

import paper_checks
import weft
from reproduced_torus import ideal
from weft import _engine
from weft_papers.common.measured import LackingError, Measured
from weft_papers.common.paper import Experiment
from weft_papers.common.reproduction import sweeps
from weft_papers.common.rules import UNKNOWN
from weft_papers.common.shared_programs import SCALES
from weft_papers.torus import PAPER, applications, causes
from weft_papers.torus.applications import APPLICATIONS, GRAPH500, MPIRA, NAMD, SETS, SIZES
from weft_papers.torus.network_runs import (
    ALLOCATOR,
    COMPARED,
    IDLE,
    LOADS,
    NETWORKS,
    REFERENCE,
    SETS_64,
    SETS_256,
    SINGLE_64,
    SINGLE_256,
    fabric,
    topology,
)

GIVEN = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15}
# Numbers in the identifiers of claims about values that other papers measured.
UNTESTABLE = {11, 12}
DRAWN = [each.name for each in PAPER.figures if each.draw]


def test_every_claim_has_a_rule_and_every_rule_a_claim() -> None:
    paper_checks.check_rules(PAPER, (f"R-{number:03}" for number in range(1, 69)))


def test_what_rules_and_figures_need_exists() -> None:
    paper_checks.check_needs(PAPER)


def test_numbers_as_printed_meet_every_claim() -> None:
    rows = paper_checks.judged(PAPER, ideal())
    answers = {key: row.finding.answer for key, row in rows.items()}
    assert {key: row.verdict for key, row in rows.items() if row.finding.answer == "missed"} == {}
    for answer, numbers in (("by construction", GIVEN), ("untestable", UNTESTABLE)):
        assert {key for key, each in answers.items() if each == answer} == {f"R-{number:03}" for number in numbers}


def at(work: str, network: str, *, saves: bool = False, scale: float = 1.0) -> pl.Expr:
    """Return a condition for the rows of an application or a set of applications on a network."""
    own = (pl.col("work") == work) & (pl.col("network") == network)
    return own & (pl.col("saves") == saves) & (pl.col("scale") == scale)


@pytest.mark.parametrize(
    ("claim", "experiment", "where", "column", "factor"),
    [
        ("R-016", SINGLE_64, at(NAMD, "2D-4X", scale=0.5), "runtime_s", 1.04),
        ("R-019", SINGLE_64, at(NAMD, "1D-16X", saves=True, scale=2.0), "w_net", 1.2),
        ("R-032", SINGLE_64, at(MPIRA, "2D-4X"), "runtime_s", 1.01),
        ("R-033", SINGLE_64, at(MPIRA, "1D-16X"), "runtime_s", 1.02),
        ("R-034", SINGLE_64, at(NAMD, "1D-16X"), "runtime_s", 1.04),
        ("R-035", SINGLE_64, at(NAMD, "2D-4X", saves=True), "runtime_s", 1.04),
        ("R-036", SINGLE_64, at(GRAPH500, "1D-16X"), "runtime_s", 1.2),
        ("R-037", SINGLE_64, at(GRAPH500, "2D-4X"), "runtime_s", 1.05),
        ("R-038", SINGLE_64, at(GRAPH500, "2D-4X", saves=True), "w_net", 1.2),
        ("R-039", SINGLE_64, at(GRAPH500, "2D-4X"), "busy", 1.1),
        ("R-040", SINGLE_64, at(GRAPH500, "1D-16X"), "runtime_s", 0.5),
        ("R-041", SINGLE_64, at(NAMD, "2D-4X"), "w_net", 0.1),
        ("R-042", SINGLE_64, at(NAMD, "2D-4X"), "w_net", 0.1),
        ("R-043", SINGLE_256, at(GRAPH500, "3D-4X"), "runtime_s", 1.05),
        ("R-044", SINGLE_256, at(MPIRA, "3D-4X", saves=True), "runtime_s", 1.05),
        ("R-045", SINGLE_256, at(MPIRA, "3D-4X", saves=True), "w_net", 0.9),
        ("R-046", SINGLE_256, at(MPIRA, "3D-4X", saves=True), "w_net", 2.0),
        ("R-047", SINGLE_256, at(GRAPH500, "3D-4X"), "runtime_s", 1.2),
        ("R-048", SETS_64, at("A", "1D-16X"), "runtime_s", 1.05),
        ("R-049", SETS_64, at("A", "2D-4X", saves=True), "runtime_s", 1.05),
        ("R-050", SETS_64, at("B", "1D-16X"), "runtime_s", 1.2),
        ("R-051", SETS_64, at("C", "1D-16X"), "runtime_s", 1.2),
        ("R-052", SETS_64, at("B", "2D-4X"), "runtime_s", 1.1),
        ("R-053", SETS_64, at("C", "2D-4X"), "runtime_s", 1.1),
        ("R-054", SETS_64, at("C", "2D-4X", saves=True), "w_net", 1.3),
        ("R-055", SETS_64, at("B", "2D-4X", saves=True), "busy", 1.1),
        ("R-056", SETS_64, at("C", "2D-4X", saves=True), "busy", 1.1),
        ("R-057", SETS_64, at("C", "1D-16X", saves=True), "w_net", 0.1),
        ("R-058", SETS_256, at("A", "3D-4X"), "runtime_s", 1.05),
        ("R-059", SETS_256, at("C", "3D-4X", saves=True), "w_net", 1.2),
        ("R-060", SETS_256, at("B", "3D-4X", saves=True), "busy", 1.1),
        ("R-061", SETS_256, at("B", "3D-4X"), "runtime_s", 0.9),
        ("R-062", SINGLE_256, at(MPIRA, "3D-4X", saves=True), "w_net", 2.0),
        ("R-063", SINGLE_64, at(GRAPH500, "2D-4X"), "runtime_s", 0.8),
        ("R-066", SINGLE_256, at(MPIRA, "3D-4X", saves=True), "runtime_s", 1.04),
        ("R-067", SINGLE_64, at(GRAPH500, "3D-1X"), "busy", 5),
        ("R-068", SINGLE_64, at(GRAPH500, "1D-16X"), "runtime_s", 1.2),
    ],
)
def test_a_number_that_is_off_misses_its_claim(
    claim: str, experiment: str, where: pl.Expr, column: str, factor: float
) -> None:
    change = paper_checks.scaled_where(where, column, factor)
    finding = PAPER.rules[claim].judge(paper_checks.changed(ideal(), experiment, change))
    assert finding.answer == "missed", finding.measured
    assert finding.measured.startswith("generated: ")
    assert finding.cause == causes.CAUSES_OF.get(claim, UNKNOWN)


@pytest.mark.parametrize(
    ("claim", "experiment", "column", "factor"),
    [
        ("R-064", LOADS, "packet_latency_mean_cycles", 1.3),
        ("R-065", ALLOCATOR, "accepted_load", 1.2),
    ],
)
def test_trunks_are_faster_at_low_load_and_carry_less(claim: str, experiment: str, column: str, factor: float) -> None:
    change = paper_checks.scaled_where(pl.col("network") == "2D-4X", column, factor)
    finding = PAPER.rules[claim].judge(paper_checks.changed(ideal(), experiment, change))
    assert finding.answer == "missed", finding.measured


def test_a_claim_that_compares_networks_is_judged_without_the_policy() -> None:
    slower = paper_checks.scaled_where(at(MPIRA, "2D-4X", saves=True), "runtime_s", 1.2)
    found = paper_checks.changed(ideal(), SINGLE_64, slower)
    answers = {claim: PAPER.rules[claim].judge(found).answer for claim in ("R-032", "R-035")}
    assert answers == {"R-032": "met", "R-035": "missed"}


def test_a_claim_is_judged_only_if_all_lengths_of_gaps_were_run() -> None:
    some = paper_checks.changed(ideal(), SINGLE_64, lambda rows: rows.filter(pl.col("scale") != 2.0))
    verdict = paper_checks.judged(PAPER, some)["R-016"].verdict
    assert verdict == "not run because gaps of 2 times their original length were not run: use `--full`"


def test_a_claim_on_sets_asks_for_their_figures_or_a_full_run() -> None:
    frames = {name: rows for name, rows in ideal().frames.items() if name not in (SETS_64, SETS_256)}
    rows = paper_checks.judged(PAPER, dataclasses.replace(ideal(), frames=frames, quick=True))
    words = "not run because the points of sets64.yaml are missing: run them with --only 6a 6b 6c 7a, or with --full"
    assert rows["R-048"].verdict == words
    whole = {each.name for each in PAPER.needed(PAPER.figures, quick=True)}
    assert not whole & {SETS_64, SETS_256}
    assert [each.name for each in PAPER.needed(PAPER.chosen(["6a", "7a"]), quick=True)] == [SETS_64]


@pytest.mark.parametrize("written", [{"sweep.seed": [3, 1, 2]}, {"sweep": {"seed": [3, 1, 2]}}])
def test_some_of_the_seeds_of_a_sweep_can_be_run(written: dict[str, object]) -> None:
    """A reproduction can run only the first seeds of a sweep.

    The list of seeds is in the overrides of the experiment, or in its scenario.
    """
    alone = {"zip": None, "traffic.load": 0.1, "sweep.traffic.load": [0.1]}
    small = dataclasses.replace(PAPER, experiments=[Experiment(IDLE, (alone | written,))])
    for seeds, ran in ((None, [3, 1, 2]), (2, [3, 1]), (9, [3, 1, 2])):
        ((folder, sweep),) = sweeps(small, out="here", seeds=seeds)
        assert folder.parts == ("here", "runs", IDLE)
        assert [point.coordinates["seed"] for point in sweep.points] == ran


@pytest.mark.parametrize("name", DRAWN)
def test_every_figure_is_drawn_with_its_numbers_and_units(name: str) -> None:
    paper_checks.check_figure(PAPER, name, ideal())


def test_tables_have_the_networks_and_their_floors() -> None:
    (figure,) = PAPER.chosen(["table2"])
    assert figure.rows is not None
    rows = {row["network"]: row for row in figure.rows(ideal()).iter_rows(named=True)}
    floors = {name: rows[name]["W_net with one member of each trunk"] for name in ("2D-4X", "1D-16X", "3D-4X")}
    assert floors == pytest.approx({"2D-4X": 0.464, "1D-16X": 0.272, "3D-4X": 0.485}, abs=0.001)


@pytest.mark.parametrize("nodes", causes.CHANGES)
def test_each_change_differs_in_one_factor_from_a_quick_run(nodes: int) -> None:
    for name, change in causes.CHANGES[nodes].items():
        for work, (made,) in zip(change.works, change.jobs(name, nodes), strict=True):
            usual = applications.job(work, 512 // nodes, 1.0, quick=True)
            assert made["name"] == f"{work} with {name} 1"
            assert {key for key in made if made[key] != usual[key]} <= {"name", "workload", *change.job}
            (own,), (plain,) = (job["workload"]["programs"]["program"].values() for job in (made, usual))
            differ = {key for key in own if own[key] != plain[key]}
            assert len(differ) + len(change.sets) + len(change.job) == 1 + (name == causes.BOTH), (name, work)


@pytest.mark.parametrize(("name", "nodes", "last"), [("causes", 64, "1D-16X"), ("causes256", 256, "3D-4X")])
def test_a_table_has_every_change_beside_none(name: str, nodes: int, last: str) -> None:
    (figure,) = PAPER.chosen([name])
    assert figure.rows is not None
    rows = figure.rows(ideal())
    changes = causes.CHANGES[nodes]
    counts = {change: len(made.works) for change, made in changes.items()} | {"none": len(APPLICATIONS)}
    each = 1 + len(COMPARED[nodes])
    assert dict(rows.group_by("change").len().iter_rows()) == {name: each * count for name, count in counts.items()}
    own = rows.filter((pl.col("application") == GRAPH500) & (pl.col("network") == last))
    # printed relative run time and network power W_net, whose product is the network energy E_net
    run_time, w_net = {"1D-16X": (2.12, 0.43), "3D-4X": (1.015, 28 * 64 / (9 * 256))}[last]
    reference = REFERENCE[nodes]
    assert own[f"run time [{reference}]"].to_list() == pytest.approx([run_time] * own.height, abs=1e-3)
    assert own[f"E_net [{reference}]"].to_list() == pytest.approx([run_time * w_net] * own.height, abs=1e-2)
    with pytest.raises(LackingError, match="was not run"):
        figure.rows(Measured())


def test_a_table_has_what_switches_accept_by_the_length_of_packets() -> None:
    (figure,) = PAPER.chosen([ALLOCATOR])
    assert figure.rows is not None
    rows = figure.rows(ideal())
    found = {(row["network"], row["packet [flits]"]): row["ports of a switch"] for row in rows.iter_rows(named=True)}
    ports = {"3D-1X": 7, "2D-4X": 20, "1D-16X": 48, "4D-1X": 9, "3D-4X": 28}
    assert found == {(name, flits): of for name, of in ports.items() for flits in (1, 8)}


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_have_the_ports_that_the_power_model_counts(name: str) -> None:
    built = {
        "topology": topology(name),
        "routing": "dimension_order",
        "links": {"default": {"vcs": 4}},
        "traffic": {"pattern": "uniform", "load": 0.1, "packet": "8flits"},
    }
    (point,) = weft.load(built).points
    routers = point.network()["routers"]
    count = routers if isinstance(routers, int) else len(routers)
    assert fabric(name).switches == count


def test_programs_are_made_and_gaps_scale() -> None:
    for name in APPLICATIONS:
        made = [applications.program(name, 128, scale=scale, quick=True) for scale in SCALES]
        assert len({str(each) for each in made}) == len(SCALES)
        sizes = [_engine.make_program("p", yaml.safe_dump({"program": each})).info() for each in made]
        assert len({(each["messages"], each["bytes"]) for each in sizes}) == 1
        least, usual, most = (each["compute_ns"] for each in sizes)
        assert least == pytest.approx(usual / 2, rel=1e-3)
        assert most == pytest.approx(usual * 2, rel=1e-3)


def test_a_set_has_15_traces_of_whole_nodes() -> None:
    for jobs, members in zip(applications.sets([1.0], quick=True), SETS.values(), strict=True):
        traces = jobs[0]["workload"]["scheduler"]["traces"]
        assert len(traces) == 15 == len(members) * len(SIZES)
        assert {each["programs"]["ranks_per_terminal"] for each in traces} == {8}
        assert len({each["name"] for each in traces}) == 15
        assert sorted(each["name"].partition(" (")[0] for each in traces) == sorted(
            f"{name} {ranks}" for name in members for ranks in SIZES
        )


@pytest.mark.parametrize("name", [LOADS, IDLE, ALLOCATOR, SINGLE_64, SINGLE_256])
def test_scenarios_are_sound(name: str) -> None:
    sweep = weft.load(PAPER.path(f"{name}.yaml"))
    assert sweep.points
    assert sweep.name == f"torus-{name}"
