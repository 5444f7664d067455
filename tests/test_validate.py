"""Tests `weft validate`, which compares Weft with other simulators ("peers"): conversion of rows, and verdicts."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import weft
from conftest import GOLDEN
from weft.cli import main
from weft_peers.validate import run_cases, verdict_table
from weft_peers.validate.case import Case, MustMatch, Numbers
from weft_peers.validate.golden import read
from weft_peers.validate.judge import Ours, chance_of_draws, judge

if TYPE_CHECKING:
    from pathlib import Path


def a_case(must_match: MustMatch, *, band: float = 0.05, oblivious: bool = True) -> Case:
    """Make the case of a row in which the peer measured a latency of 100 cycles, 2 hops and an accepted load of 0.4."""
    return Case(
        line=2,
        peer="Peer",
        name="made_up",
        load=0.5,
        theirs=Numbers(100.0, 2.0, 0.4),
        must_match=must_match,
        why="",
        band=band,
        scenario={},
        oblivious=oblivious,
    )


def ours(latency: float = 100.0, hops: float = 2.0, accepted: float = 0.4, *, spread: float = 0.0) -> Ours:
    """Make five runs of Weft with the given means. Only the latency varies, with a standard deviation of `spread`."""
    steps = [-1.0, -1.0, 0.0, 1.0, 1.0]  # standard deviation 1: the sum of the squares is 4 = n - 1
    return Ours([Numbers(latency + spread * step, hops, accepted) for step in steps], bound=0.45)


@pytest.mark.parametrize(
    ("runs", "answer"),
    [
        (ours(), "agrees"),
        (ours(104.9), "agrees"),
        (ours(105.1), "fails"),
        # 3 sigma of the difference between one run and the mean of five runs: 3 * 2 * sqrt(1 + 1/5) = 6.57 cycles.
        (ours(106.5, spread=2.0), "agrees"),
        (ours(106.6, spread=2.0), "fails"),
        (ours(hops=2.2), "fails"),
        (ours(accepted=0.3), "fails"),
    ],
)
def test_latency_rows_compare_three_numbers(runs: Ours, answer: str) -> None:
    assert judge(a_case("latency"), runs).answer == answer


def test_accepted_rows_look_at_nothing_else() -> None:
    assert judge(a_case("accepted"), ours(latency=1e6, hops=9, accepted=0.419)).answer == "agrees"
    assert judge(a_case("accepted"), ours(accepted=0.379)).answer == "fails"


def test_order_rows_are_between_peer_and_load() -> None:
    assert judge(a_case("order"), ours(accepted=0.5)).answer == "agrees"
    assert judge(a_case("order"), ours(accepted=0.501)).answer == "fails"
    assert judge(a_case("order"), ours(accepted=0.379)).answer == "fails"


def test_few_packets_scatter_by_the_draws_of_their_sources() -> None:
    """If terminals create packets with a probability near 0 in each cycle, a number of 64 packets has a standard
    deviation of sqrt(64) = 8, which is an eighth of it.

    An eighth of the load 0.4 is 0.05. 3 sigma of the difference between one run and the mean of five runs are therefore
    3 * 0.05 * sqrt(1 + 1/5).
    """
    chance = chance_of_draws(0.4, 64, 0.0)
    assert chance == pytest.approx(0.05)
    assert chance_of_draws(0.4, 64, 0.75) == pytest.approx(0.025), "draws that are nearly sure scatter less"
    assert chance_of_draws(0.0, 0, 0.0) == 0.0
    allowed = 3 * 0.05 * 1.2**0.5
    for must_match in ("order", "latency"):
        within, beyond = (replace(ours(accepted=0.4 - share * allowed), chance=chance) for share in (0.99, 1.01))
        assert judge(a_case(must_match), within).answer == "agrees"
        assert judge(a_case(must_match), beyond).answer == "fails"
    saturated = replace(ours(accepted=0.379), chance=chance)
    assert judge(a_case("accepted"), saturated).answer == "fails", "a saturated row has its band only"


def test_a_burst_and_a_saturated_row_are_not_judged_by_the_draws_of_packets() -> None:
    """The accepted load of a burst or in saturation does not depend on random creation: a burst has a fixed number of
    packets, and in saturation the links determine the load."""
    cases = {case.name: case for case in read(GOLDEN / "fogsim.csv")}
    steady, burst = cases["v1-h2-VAL-UN-10-s1"], cases["v1-burst200-h2-PB-UN-100-s1"]
    summary = {"saturated": False, "accepted_load": 0.0125, "packets": 4500, "packet_flits": 1}
    assert run_cases._chance(steady, [summary]) == chance_of_draws(0.0125, 4500, 0.0125)
    assert run_cases._chance(steady, [summary | {"saturated": True}]) == 0.0
    assert run_cases._chance(burst, [summary]) == 0.0


def test_the_bound_holds_for_the_terminal_that_gets_least() -> None:
    """The bound limits only the terminal that sends least.

    Beyond the bound, sources whose packets do not cross the fullest channel still send more.

    The mean accepted load can therefore exceed the bound.
    """
    within, beyond = (replace(ours(accepted=0.48), least=[least] * 5) for least in (0.45, 0.451))
    assert judge(a_case("order"), within).answer == "agrees"
    assert judge(a_case("order"), beyond).reasons == ("every terminal sends at least 0.4510, above the bound 0.4500",)
    assert judge(a_case("order", oblivious=False), beyond).answer == "agrees", "detours go beyond it"
    assert judge(a_case("order"), replace(beyond, bound=None)).answer == "agrees", "no terminal sends"


def as_case(scenario: dict[str, Any], peer_accepts: float) -> Case:
    """Make the case of a row with this scenario and the criterion ``order``."""
    load = scenario["traffic"]["load"]
    theirs = Numbers(None, None, peer_accepts)
    return replace(a_case("order"), scenario=scenario, load=load, theirs=theirs)


def test_transpose_accepts_more_than_the_bound_and_agrees() -> None:
    """Under transpose in an 8 x 8 torus, terminals on the diagonal send to themselves, and the fullest channel carries
    the traffic of only 3.5 of 64 terminals.

    Therefore the mean accepted load exceeds the bound.
    """
    transpose = {
        "topology": {"torus": {"widths": [8, 8], "terminals_per_router": 1}},
        "links": {"default": {"latency": "1cycle", "vcs": 4, "buffer": "16flits"}},
        "routing": "dimension_order",
        "traffic": {"pattern": "transpose", "load": 0.4, "packet": "1flit"},
        "measure": {"warmup": "1000cycles", "window": "3000cycles", "drain_limit": "1cycle"},
    }
    (verdict,) = run_cases.validate([as_case(transpose, 0.2913)], seeds=2, jobs=1)
    assert verdict.accepted.ours is not None
    assert verdict.accepted.ours > 1 / 3.5
    assert (verdict.answer, verdict.reasons) == ("agrees", ())


@pytest.mark.parametrize("load", [0.0, 0.01])
@pytest.mark.parametrize("routing", [{"dragonfly_valiant": {"intermediate": "router"}}, "dragonfly_ugal"])
def test_rows_without_a_bound_and_with_a_sampled_one_are_judged(load: float, routing: Any) -> None:
    """Rows without an exact bound have a verdict.

    At load 0 no terminal sends, so the channels give no bound of the load. A dragonfly of 5,256 terminals has too many
    paths, so its bound is only estimated from a sample.
    """
    large = {
        "topology": {
            "dragonfly": {
                "terminals_per_router": 6,
                "routers_per_group": 12,
                "global_links_per_router": 6,
                "groups": 73,
            }
        },
        "links": {
            "local": {"latency": "2cycles", "vcs": 5, "buffer": "32flits"},
            "global": {"latency": "4cycles", "vcs": 5, "buffer": "32flits"},
        },
        "routing": routing,
        "traffic": {"pattern": "uniform", "load": load, "packet": "1flit"},
        "measure": {"warmup": "20cycles", "window": "60cycles"},
    }
    (verdict,) = run_cases.validate([as_case(large, 0.9 * load)], seeds=1, jobs=1)
    assert verdict.answer == "agrees", verdict.reasons


def test_a_row_that_can_not_be_run_fails_unless_it_is_info() -> None:
    case = replace(a_case("latency"), scenario=None, refusal="no such topology")
    verdict = judge(case, None)
    assert verdict.answer == "fails"
    assert verdict.reasons == ("not expressible: no such topology",)
    assert judge(replace(case, must_match="info"), None).answer == "info"


def test_a_stuck_run_fails() -> None:
    assert judge(a_case("latency"), replace(ours(), stalled=1)).answer == "fails"


def test_a_run_without_latency_fails() -> None:
    silent = Ours([Numbers(None, None, 0.4)] * 5, bound=1.0)
    assert judge(a_case("latency"), silent).answer == "fails"


def test_the_report_counts_and_explains() -> None:
    verdicts = [judge(a_case("latency"), ours()), judge(a_case("accepted"), ours(accepted=0.3))]
    shown = verdict_table.text(verdicts)
    assert "latency 1 of 1, accepted 0 of 1; 1 failed" in shown
    assert "line 2, Peer made_up 0.5 (accepted): accepted load differs by -0.1 (-25.0%)" in shown
    document: dict[str, Any] = json.loads(json.dumps(verdict_table.document(verdicts)))
    assert document["failed"] is True
    assert document["count"] == {"agrees": 1, "fails": 1}
    assert document["rows"][0]["latency"] == {"peer": 100.0, "weft": 100.0, "sigma": 0.0, "tolerance": 5.0}


def test_hops_are_links_for_all_peers() -> None:
    assert read(GOLDEN / "booksim.csv")[0].theirs.hops == 0.0, "one router visited is no link crossed"
    assert read(GOLDEN / "caminos.csv")[0].theirs.hops == 1.75986
    assert read(GOLDEN / "fogsim.csv")[0].theirs.hops == 2.5213


@pytest.mark.parametrize("name", ["booksim.csv", "caminos.csv", "fogsim.csv"])
def test_every_row_is_a_sound_scenario_or_says_what_is_missing(name: str) -> None:
    missing = set()
    for case in read(GOLDEN / name):
        if case.scenario is None:
            missing.add(case.refusal)
        else:
            weft.Scenario.from_dict(case.scenario).points()
    kinds = {"allocator for max_size", "allocator for wavefront", "like par", "like graphshort"}
    kinds |= {"PAR misroutes like OFAR", "trigger of OFAR", "restriction of OFAR"}
    assert all(any(kind in words for kind in kinds) for words in missing), missing


def test_validate_end_to_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "rows.csv"
    rows = (GOLDEN / "booksim.csv").read_text().splitlines()
    chosen = [rows[0], *(row for row in rows if row.startswith("xbar8_uniform_v4_1f,") and ",0.1,6" in row)]
    chosen.append(chosen[1].replace("xbar8_uniform_v4_1f,fly", "made_up,qtree"))
    file.write_text("\n".join(chosen) + "\n", encoding="utf-8")
    assert main(["validate", str(file), "--filter", "xbar"]) == 0
    assert "latency 1 of 1; 0 failed" in capsys.readouterr().out
    assert main(["validate", str(file), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert [row["answer"] for row in document["rows"]] == ["agrees", "fails"]
    assert document["rows"][1]["reasons"] == ["not expressible: Weft has no topology for qtree"]


FOGSIM = [
    "v1-h2-MIN-ADV+2-30-s1",
    "v1-h2-VAL-UN-10-s1",
    "v1-h2-PB-UN-10-s1",
    "v1-h2-OFAR-UN-10-s1",
    "v1-h2-OFAR-E-ADV+2-10-s1",
    "v5-h2-MIN-UN-80-s1",
    "v5-h2-VAL-LADV+1-10-s1",
    "v1-burst200-h2-VAL-MIX1-100-s1",
]


def test_rows_of_fogsim_agree() -> None:
    """Rows of the simulator FOGSim agree with Weft.

    The test runs rows that together have each routing, each version of FOGSim, each criterion, and a burst.
    """
    cases = [case for case in read(GOLDEN / "fogsim.csv") if case.name in FOGSIM]
    assert len(cases) == len(FOGSIM)
    verdicts = run_cases.validate(cases, seeds=5, jobs=None)
    assert [verdict.reasons for verdict in verdicts if verdict.answer != "agrees"] == []


def test_loads_of_fogsim_are_of_packets_that_take_eight_cycles() -> None:
    """Weft runs FOGSim's packets of 8 phits as packets of one flit, on links that carry 1/8 flit per cycle.

    Therefore FOGSim's loads [phits/node/cycle] are divided by 8. The accepted load of a burst is the mean from its
    start until its last packet arrives.
    """
    cases = {case.name: case for case in read(GOLDEN / "fogsim.csv")}
    steady, burst = cases["v1-h2-MIN-ADV+1-5-s1"], cases["v1-burst200-h2-PB-UN-100-s1"]
    assert steady.load == 0.05 / 8
    assert steady.theirs.accepted == 0.0495333 / 8
    assert burst.theirs.accepted == 200 / 2797
    assert burst.theirs.latency is None


@pytest.mark.parametrize(
    ("text", "words"),
    [("a,b\n1,2\n", "does not have the columns"), ("", "does not have the columns"), (None, "can't be read")],
)
def test_a_bad_file_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None, words: str
) -> None:
    file = tmp_path / "rows.csv"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    assert main(["validate", str(file)]) == 2
    assert words in capsys.readouterr().err


def test_a_bad_row_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "rows.csv"
    rows = (GOLDEN / "booksim.csv").read_text().splitlines()[:2]
    file.write_text("\n".join(rows).replace(",0.3,", ",fast,"), encoding="utf-8")
    assert main(["validate", str(file)]) == 2
    assert f"{file}:2: " in capsys.readouterr().err


def test_a_row_without_a_known_bound_is_judged_by_what_was_offered() -> None:
    """The bound is unknown if no terminal sends at the beginning of the run, or if the network has too many paths.

    The accepted load is then compared only with the offered load.
    """
    unknown = replace(ours(accepted=0.4), bound=None)
    assert judge(a_case("order"), unknown).answer == "agrees"


def test_the_bound_of_a_row_with_too_many_paths_is_the_upper_end_of_its_interval() -> None:
    dragonfly = {"routers_per_group": 10, "terminals_per_router": 5, "global_links_per_router": 5}
    links = {"default": {"latency": "10cycles", "vcs": 8, "buffer": "64flits"}}
    large = {"topology": {"dragonfly": dragonfly}, "links": links, "routing": "dragonfly_valiant"}
    case = replace(a_case("order"), scenario=large | {"traffic": {"pattern": "uniform", "load": 0.1}})
    points, bound = run_cases._expand(case, 5)
    low, high = points[0].imply()["sampled"]["channel_load_bound_interval"]
    assert bound == high
    assert low < high
