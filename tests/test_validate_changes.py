"""Tests rows of other simulators (peers) in which the traffic pattern changes: how Weft reads, runs, compares and
prints them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from conftest import GOLDEN
from weft.cli import main
from weft.results.response import Response, merged
from weft_peers.validate import run_cases, verdict_table
from weft_peers.validate.case import Case, Change, Numbers
from weft_peers.validate.golden import chosen, read
from weft_peers.validate.judge import Ours, judge
from weft_peers.validate.settling_order import in_order

if TYPE_CHECKING:
    from pathlib import Path

    from weft_peers.validate.judge import Verdict

FILE = GOLDEN / "fogsim.csv"
BIN = 50
# Middles of 4 bins before the change and 20 bins after the change [cycles].
TIMES = [BIN * (number + 0.5) for number in range(-4, 20)]


def settling(bins_off: int, *, before: float = 100.0, after: float = 200.0) -> Response:
    """Make latencies by time of sending: `before` before the change, then `after` + 100 for `bins_off` bins, then
    `after`."""
    return Response(TIMES, [before] * 4 + [after + 100] * bins_off + [after] * (20 - bins_off))


def row(name: str, theirs: int, *, of: str = "one change", band: float = 0.0) -> Case:
    """Make the case of a row in which the peer's latency has settled after `theirs` bins."""
    return Case(
        line=2,
        peer="Peer",
        name=name,
        load=0.5,
        theirs=Numbers(None, None, None),
        must_match="order",
        why="",
        band=band,
        scenario={},
        change=Change(of, 3000, BIN, settling(theirs)),
    )


def judged(case: Case, ours: Response | None) -> Verdict:
    """Return the verdict on a single row, before the order of rows is compared."""
    return judge(case, Ours([Numbers(150.0, 2.0, 0.5)] * 5, bound=1.0, response=ours))


def ordered(*bins_off: tuple[int, int]) -> list[Verdict]:
    """Make the verdicts on rows a, b, ... with the same change.

    A pair of `bins_off` has the numbers of bins after which the row settles in the peer and in Weft.
    """
    names = "abcdef"
    return in_order([judged(row(names[k], theirs), settling(ours)) for k, (theirs, ours) in enumerate(bins_off)])


def test_a_response_settles_with_its_last_bin_that_is_more_than_a_tenth_off() -> None:
    found = settling(3)
    assert (found.before, found.final, found.peak) == (100.0, 200.0, 300.0)
    assert found.adapted == 125.0, "the middle of the third bin"
    assert settling(0).adapted == 0.0
    # the final latency is the mean of the last quarter, here 5 of 20 bins. If the last bin has a latency of 310, it is
    # 222, and 200 is 9.9 % below it
    late = Response(TIMES, [100.0] * 4 + [200.0] * 19 + [310.0])
    assert late.final == 222.0
    assert late.adapted == TIMES[-1]


def test_seeds_are_merged_by_their_packets_and_bins_without_packets_are_left_out() -> None:
    """Latencies of a bin are means over the packets of all seeds: (100 cycles x 1 packet + 200 cycles x 3 packets) / 4
    = 175 cycles."""
    bins = pl.DataFrame(
        {
            "time": [-25.0, 25.0, 25.0, 75.0, 125.0],
            "packets": [1, 1, 3, 0, 1],
            "latency": [90.0, 100.0, 200.0, float("nan"), 110.0],
        }
    )
    assert merged(bins, -25, 75) == Response([-25.0, 25.0], [90.0, 175.0])
    assert merged(bins, -25, 75).is_complete
    assert not merged(bins, 25, 75).is_complete


@pytest.mark.parametrize(
    ("bins_off", "fail"),
    [
        (((0, 0), (1, 0)), ""),  # rows that settle one bin apart settle together
        (((0, 0), (1, 2)), "ab"),  # 75 cycles apart in Weft, 25 in the peer
        (((0, 0), (4, 2)), ""),  # b settles after a in both simulators, though not by the same time
        (((0, 4), (4, 0)), "ab"),  # the opposite order
        (((0, 0), (4, 4), (0, 9)), "abc"),  # c settles together with a in the peer, after both in Weft
        (((0, 1), (4, 4), (0, 0)), ""),
    ],
)
def test_rows_of_a_change_settle_in_the_order_of_the_peer(bins_off: tuple[tuple[int, int], ...], fail: str) -> None:
    verdicts = ordered(*bins_off)
    assert "".join(verdict.case.name for verdict in verdicts if verdict.answer == "fails") == fail


def test_a_row_in_another_order_says_beside_which_and_when() -> None:
    first, second = ordered((0, 4), (4, 0))
    assert first.reasons == (
        "settles after b (175 and 0 cycles), in Peer before it (0 and 175 cycles)",
        "settles after the change (175 and 0 cycles), in Peer together with it (0 and 0 cycles)",
    )
    assert second.reasons == (
        "settles before a (0 and 175 cycles), in Peer after it (175 and 0 cycles)",
        "settles together with the change (0 and 0 cycles), in Peer after it (175 and 0 cycles)",
    )
    together, _ = ordered((0, 0), (1, 2))
    assert together.reasons == ("settles before b (0 and 75 cycles), in Peer together with it (0 and 25 cycles)",)


def test_rows_of_different_changes_are_not_compared() -> None:
    verdicts = in_order([judged(row("a", 9), settling(4)), judged(row("b", 4, of="another"), settling(9))])
    assert [verdict.reasons for verdict in verdicts] == [(), ()]
    assert "pairs that settle more than a bin apart: 0 in Peer, 0 in Weft" in verdict_table.text(verdicts)


@pytest.mark.parametrize(("theirs", "ours", "fails"), [(0, 1, False), (0, 2, True), (9, 4, False), (9, 1, True)])
def test_a_row_alone_in_its_change_is_ordered_with_the_change_itself(theirs: int, ours: int, *, fails: bool) -> None:
    """If only one row has a change, its order with the change itself is compared.

    A row that settles after one bin, at 25 cycles, settles together with the change.

    A row that settles after two bins, at 75 cycles, settles after the change.
    """
    (verdict,) = in_order([judged(row("a", theirs), settling(ours))])
    assert (verdict.answer == "fails") == fails
    assert all("the change" in reason for reason in verdict.reasons)


def test_a_row_for_information_does_not_fail_by_its_order() -> None:
    quiet = replace(row("b", 9), must_match="info")
    verdicts = in_order([judged(row("a", 0), settling(9)), judged(quiet, settling(0))])
    assert [verdict.answer for verdict in verdicts] == ["fails", "info"]


def test_levels_are_compared_where_a_row_has_a_band() -> None:
    off = settling(0, before=111.0, after=219.0)
    assert judged(row("a", 0), off).answer == "agrees", "without a band they are shown only"
    verdict = judged(row("a", 0, band=0.1), off)
    assert verdict.reasons == ("latency before the change differs by +11 (+11.0%); 10 is allowed",)
    assert "compared for rows with a band" in verdict_table.text([verdict])


def test_a_row_without_a_response_fails() -> None:
    verdict = in_order([judged(row("a", 0), None)])[0]
    assert verdict.reasons == ("no latency by sending time to compare, because packets are missing",)
    assert re.search(r"a +0.5 +order +100.0 +- +200.0 +- +0 +- +fails", verdict_table.text([verdict]))


def transients() -> dict[str, Case]:
    """Return the rows of FOGSim in which the pattern changes, by name."""
    return {case.name: case for case in read(FILE) if case.change}


def test_all_transients_of_fogsim_are_compared_with_others_of_their_change() -> None:
    cases = transients().values()
    assert len(cases) == 14
    assert {case.must_match for case in cases if case.scenario} == {"order"}
    of = [case.change.of for case in cases if case.change]
    assert sorted(of.count(each) for each in set(of)) == [2, 3, 4, 5]


def test_fogsim_settles_at_once_or_within_a_bin() -> None:
    """In FOGSim's rows, PB has a latency of 189.5 cycles in the first bin and 213.5 at the end, which is 11 % more.

    OFAR has 194.8 cycles, then 201.3.

    Latencies count as settled within 10 % of the final one. FOGSim's PB therefore needs at most one bin to adapt,
    although the column `why` of its rows says that it needs a period.
    """
    times = {name: case.change.theirs.adapted for name, case in transients().items() if case.change}
    late = {"v1-tr-to-ADV+2-h3-PB-UN-14", "v1-tr-to-ADV+2-h3-PB125-UN-14", "v1-tr-to-ADV+3-h3-PB125-ADV+2-12"}
    assert times == {name: 25.0 if name in late else 0.0 for name in times}
    change = transients()["v1-tr-to-ADV+2-h3-PB-UN-14"].change
    assert change
    assert change.theirs.before == pytest.approx((149.4 + 148.6 + 148.1 + 145.8) / 4)
    last = [210.6, 210.3, 211.7, 218.3, 218.2, 213.1, 211.3, 214.6]  # bins 1100 to 1450
    assert change.theirs.final == pytest.approx(sum(last) / 8)


def test_the_scenario_of_a_transient_changes_at_the_end_of_the_warm_up() -> None:
    scenario = transients()["v1-tr-to-ADV+2-h3-PB-UN-14"].scenario
    assert scenario
    assert scenario["traffic"]["pattern"] == {"uniform": {"include_self": False}}
    assert scenario["traffic"]["phases"] == [{"from": "3000cycles", "pattern": {"group_shift": {"shift": 2}}}]
    assert scenario["measure"] == {
        "warmup": "3000cycles",
        "window": "3000cycles",
        "transient": {"bin": "50cycles"},
    }
    assert scenario["links"]["terminal"]["vcs"] == 3, "packets under uniform traffic are in all queues of a source"
    both = transients()["v1-tr-to-ADV+3-h3-PB-ADV+2-12"].scenario
    assert both
    assert both["links"]["terminal"]["vcs"] == 1, "those to one group are in one"


def changed_file(tmp_path: Path, old: str, new: str) -> Path:
    """Write a file with only the row of OFAR at h = 2, in which `old` is replaced by `new`."""
    head, *rows = FILE.read_text(encoding="utf-8").splitlines()
    found = next(each for each in rows if each.startswith("v1-tr-to-ADV+2-h2-OFAR"))
    assert old in found
    file = tmp_path / "rows.csv"
    file.write_text("\n".join([head, found.replace(old, new)]) + "\n", encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("|-150:114.4:0.018", "", "bins of equal width before and after 0"),
        ("-200:116.2:0.028|-150:114.4:0.018|-100:118.7:0.029|-50:119.9:0.031|", "", "bins of equal width"),
        ("-150:114.4:0.018", "-150:114.4", "cycle:latency:share, such as -50:125.4:0.029, not '-150:114.4'"),
        (";window=3000", ";window=1400", "bins up to 1500 cycles after the change exceed the window"),
    ],
)
def test_bins_that_are_none_of_a_change_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, words: str
) -> None:
    assert main(["validate", str(changed_file(tmp_path, old, new))]) == 2
    errors = capsys.readouterr().err
    assert words in errors
    assert "rows.csv:2: " in errors


def test_bins_that_do_not_begin_with_the_change_are_not_expressible(tmp_path: Path) -> None:
    (case,) = read(changed_file(tmp_path, ";warmup=3000", ";warmup=3010"))
    assert case.scenario is None
    assert case.refusal == "no bin of 50 cycles begins with the change at 3010"


def test_a_filter_takes_all_rows_of_a_change() -> None:
    names = [case.name for case in chosen(read(FILE), re.compile("tr-to-ADV.2-h2-OFAR"))]
    assert names == ["v1-tr-to-ADV+2-h2-PB125-UN-10", "v1-tr-to-ADV+2-h2-OFAR-UN-10"]
    steady = chosen(read(FILE), re.compile("v1-h2-VAL-UN-10-s1"))
    assert [case.name for case in steady] == ["v1-h2-VAL-UN-10-s1"]


def test_packets_that_do_not_come_leave_nothing_to_compare() -> None:
    """If Weft's packets do not arrive, nothing can be compared.

    Terminals send 16 times the load that their groups can forward, and the run ends before the packets arrive.

    The comparison then has no latencies of Weft.
    """
    case = transients()["v1-tr-to-ADV+2-h2-PB125-UN-10"]
    assert case.scenario
    scenario: dict[str, Any] = case.scenario | {
        "traffic": case.scenario["traffic"] | {"load": 0.125},
        "measure": case.scenario["measure"] | {"drain_limit": "1cycle"},
    }
    (verdict,) = run_cases.validate([replace(case, scenario=scenario)], seeds=5, jobs=1)
    assert verdict.reasons == ("no latency by sending time to compare, because packets are missing",)


def test_transients_of_fogsim_at_h_2_agree(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", str(FILE), "--filter", "tr-to-ADV.2-h2-OFAR", "--json"]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    pb, ofar = document["rows"]
    assert (pb["name"], ofar["name"]) == ("v1-tr-to-ADV+2-h2-PB125-UN-10", "v1-tr-to-ADV+2-h2-OFAR-UN-10")
    assert ofar["latency"]["peer"] is None
    change = ofar["change"]
    assert (change["cycle"], change["bin_cycles"]) == (3000, 50)
    assert change["settled"] == {"peer": 0.0, "weft": 0.0}
    # the tolerance is needed, because both simulators have 5 seeds with only about 900 packets before the change
    assert change["before"]["weft"] == pytest.approx(change["before"]["peer"], rel=0.05)
    assert change["after"]["weft"] == pytest.approx(change["after"]["peer"], rel=0.05)
