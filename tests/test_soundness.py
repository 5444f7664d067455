"""Tests rankings of points: saturated, stalled, unsettled and empty points are never best, and a line says why."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import weft
from conftest import made
from weft.cli import main
from weft.plot import draw
from weft.plot.appearance import Appearance
from weft.plot.choice import Choice
from weft.report import answer
from weft.report.data import collect
from weft.report.sources import Sources
from weft.results import codes, collapse, notes, soundness, tables
from weft.results.choose import Chosen
from weft.results.comparison import compare

if TYPE_CHECKING:
    from pathlib import Path

    from weft.api.results import Results

# A network that collapses: links go off after an idle time that is shorter than the time in which they change their
# state. Packets that wait for such links block the links before them.
COLLAPSE = """\
name: collapse
topology: {fat_tree: {k: 4}}
routing: up_down
traffic: {pattern: uniform, packet: 4flits, load: 0.05}
measure: {warmup: 5000cycles, window: 10000cycles}
sweep: {power.policy: [always_on, {idle_timeout: {idle: 200cycles, transition: 2000cycles}}]}
"""

# Measured values of a point that would be best in all quantities, if a flaw did not exclude it.
WONDER: dict[str, Any] = {
    "accepted_load": 0.9,
    "packet_latency_mean_cycles": 1.0,
    "energy_per_bit_pj": 1.0,
    "energy_total_j": 1.0,
    "energy_always_on_j": 10.0,
    "packets": 100,
}
PLAIN = WONDER | {
    "accepted_load": 0.1,
    "packet_latency_mean_cycles": 20.0,
    "energy_per_bit_pj": 10.0,
    "energy_total_j": 9.0,
}


def _phase(number: int, saturated: bool | None) -> dict[str, Any]:
    return {
        "phase": number,
        "start_cycle": 0,
        "from_cycle": 0,
        "packets": 9,
        "saturated": saturated,
        "accepted_load": 0.5,
        "load": 0.9,
    }


UNJUDGED = "not judged (the run is too short to tell whether the network is saturated)"
FLAWS: dict[str, dict[str, Any]] = {
    "saturated": {"saturated": True, "ending": "saturated"},
    "stalled": {"ending": "stalled"},
    "interrupted": {"ending": "interrupted"},
    "not complete (cut off at the end of the longest window)": {"ending": "not_complete"},
    "saturated in a phase of the load": {"phases": [_phase(1, None), _phase(2, True)]},
    "without a measured packet": {"packets": 0},
    UNJUDGED: {"saturated": None},
    "not settled (power states)": {"power_settled": False},
    "not settled (power states) after a short warm-up": {
        "warnings": [{"path": "measure.warmup", "what": "a warm-up of 9 cycles is too short", "help": "write `auto`"}]
    },
    "not settled (replies)": {
        "warnings": [
            {
                "path": "measure.warmup",
                "code": "warmup_without_replies",
                "what": "a warm-up of 9 cycles is not longer than the turnaround",
                "help": "write `measure.warmup: 90cycles` or more",
            }
        ]
    },
    "with fewer than 30 packets": {"packets": 2},
    "not settled (the load is at or above the limit of the paths)": {
        "below_path_bound": False,
        "path_bound_share": 1.0,
        "path_bound_load": 0.2,
        "offered_load": 0.2,
    },
    "not settled (began with a backlog)": {
        "backlog_before_packets": 500,
        "offered_load": 0.1,
        "accepted_load": 0.9,
        "packets": 1000,
        "warmup_cycles": 9000,
        "window_cycles": 1000,
    },
    "not settled (queues)": {
        "queues_settled": False,
        "queueing_mean_cycles": 5000.0,
        "queue_memory_cycles": 1e8,
        "warmup_cycles": 9000,
        "window_cycles": 1000,
    },
    "measured over a part of a period of the policy": {"whole_periods": False},
    "not settled (latencies)": {"warmup_settled": False, "power_settled": True},
    soundness.DROPPING.words: {"dropped_packets": 50},
}


def points(root: Path, flawed: dict[str, Any]) -> Results:
    """Make results of a sound point, and of a flawed point with better numbers in all quantities."""
    return made(root, [({"traffic.load": 0.1}, PLAIN), ({"traffic.load": 0.2}, WONDER | flawed)])


def test_a_sound_point_is_praised(tmp_path: Path) -> None:
    text = " ".join(answer.sentences(Sources([points(tmp_path / "sound", {})])))
    assert text.startswith("2 points, none saturated. Lowest mean packet latency: 1 cycles (load 0.2).")
    assert "90.0 % less energy at best: 1 J instead of 10 J for the same flits (load 0.2)." in text


@pytest.mark.parametrize("words", FLAWS)
def test_a_flawed_point_is_best_in_nothing(tmp_path: Path, words: str) -> None:
    results = points(tmp_path / "flawed", FLAWS[words])
    words = words.partition(" after")[0]
    assert results.flaws == [None, words]
    first, left_out, *rest = answer.sentences(Sources([results]))
    assert first == f"2 points: 1 is {words}."
    assert left_out.endswith("exclude these points.")
    best = [each for each in rest if each.startswith(("Lowest", "Highest", "Least", "Compared with"))]
    assert len(best) == 4
    assert not any("load 0.2" in sentence for sentence in best), best
    assert "10.0 % less energy at best: 9 J instead of 10 J for the same flits (load 0.1)." in best[-1]
    (row,) = answer.curves(Sources([results]))
    saturated = words.startswith("saturated")
    assert row["accepted"] == (0.9 if saturated else 0.1)
    assert row["accepted_flaw"] == (
        f"{words} (load 0.2)" if saturated else f"excluding 0.9 at load 0.2, which is {words}"
    )


@pytest.mark.parametrize("words", FLAWS)
def test_without_a_sound_point_nothing_is_praised(tmp_path: Path, words: str) -> None:
    results = made(tmp_path / "flawed", [({}, WONDER | FLAWS[words])])
    shown = answer.sentences(Sources([results]))
    assert shown[1].startswith("Therefore Weft names no point as the best in any quantity")
    assert not any(word in " ".join(shown) for word in ("Lowest", "Highest", "Least", "less energy"))


@pytest.mark.parametrize("words", FLAWS)
def test_no_ring_marks_a_flawed_point(tmp_path: Path, words: str) -> None:
    runs = [
        ({"power.policy": policy, "traffic.load": load}, (flawed if policy == "b" and load == 0.2 else PLAIN))
        for flawed in [WONDER | FLAWS[words]]
        for policy in ("a", "b")
        for load in (0.1, 0.2)
    ]
    drawing = draw.figure("energy_delay", Choice.of([made(tmp_path / "flawed", runs)]))
    lines = {str(line.get_label()): line for line in drawing.axes[0].get_lines()}
    rings = lines["_best"]
    crossed = ("not settled", "not judged", "dropping", "with fewer", "measured over a part")
    assert ("_unsettled" in lines) == words.startswith(crossed)
    # both points of the load at which both are sound have rings; at the other load, no point remains for a comparison
    assert np.asarray(rings.get_xdata()).tolist() == [20.0, 20.0]
    values = [text.get_text() for text in drawing.legends[0].get_texts()]
    over = words.startswith(("saturated", "stalled"))
    assert ("1 saturated point not shown: the latency has no limit" in values) == over


def test_what_is_not_judged_is_marked_and_nowhere_carried(tmp_path: Path) -> None:
    """If Weft cannot judge a point, figure, table and report mark it, and do not say that its load is carried."""
    why = {"path": "measure.window", "what": "bursts alone may change the load by 40 %", "help": "write a longer one"}
    results = points(tmp_path / "short", FLAWS[UNJUDGED] | {"warnings": [why]})
    drawing = draw.figure("load", Choice.of([results]))
    assert "not judged" in [text.get_text() for text in drawing.legends[0].get_texts()]
    table = tables.loads(results)
    assert "?: the run is too short to tell whether the network is saturated" in table
    assert "0.900?" in table
    shown = f"not judged: {why['what']}; {why['help']} [not_judged] (load 0.2)"
    assert shown in [line.replace("traffic.load = ", "load ") for line in notes.lines(results)]
    assert any("40 %; write a longer one" in sentence for sentence in answer.sentences(Sources([results])))
    (row,) = answer.curves(Sources([results]))
    assert (row["saturation"], row["steady_load"]) == ("not up to 0.1, not judged from 0.2 on", 0.1)


def test_the_load_of_a_closed_loop_follows_the_network(tmp_path: Path) -> None:
    results = made(
        tmp_path / "closed", [({"traffic.load": load}, PLAIN | {"closed_loop": True}) for load in (0.1, 0.9)]
    )
    (row,) = answer.curves(Sources([results]))
    assert row["saturation"] == "never: in a closed loop the load follows the network"


def test_a_cross_marks_what_had_not_settled(tmp_path: Path) -> None:
    drawing = draw.figure("load", Choice.of([points(tmp_path / "late", FLAWS["not settled (power states)"])]))
    assert "not settled" in [text.get_text() for text in drawing.legends[0].get_texts()]
    for axes in drawing.axes:
        (crosses,) = [line for line in axes.get_lines() if line.get_label() == "_unsettled"]
        assert len(np.asarray(crosses.get_xdata())) == 1


@pytest.mark.parametrize("words", FLAWS)
def test_a_comparison_leaves_flawed_points_out(tmp_path: Path, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    interval = {"packet_latency_ci95_cycles": 0.1}
    a = made(tmp_path / "a", [({"traffic.load": load}, PLAIN | interval) for load in (0.1, 0.2, 0.3)])
    wonder = WONDER | interval | FLAWS[words]
    b = made(tmp_path / "b", [({"traffic.load": 0.1}, PLAIN | interval), ({"traffic.load": 0.2}, wonder)])
    compared = compare(Chosen.all_of(a), Chosen.all_of(b))
    for row in compared.frame.filter(compared.frame["traffic.load"] == 0.2).iter_rows(named=True):
        known = words.startswith("saturated") or words == soundness.DROPPING.words
        judged = row["quantity"] == "accepted_load" and known
        assert (row["relative"] is not None) == judged, row
        assert (row["unequal"] is None) == judged
        assert row["significant"] is None, "no interval is known, or there is nothing to judge"
    assert main(["compare", str(a.root), str(b.root)]) == 0
    assert words.partition(" after")[0] in capsys.readouterr().out


def test_the_sign_of_a_point_is_that_of_every_table_and_figure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The mark of a flaw is in tables of jobs, in exports and in the names of points.

    CSV files have the flaw as text.
    """
    job = {"job": "a", "terminals": 2, "offered_load": 0.1, "accepted_load": 0.1, "packet_latency_mean_cycles": 20.0}
    job |= {"packet_latency_p99_cycles": 30, "hops_mean": 1.5, "completion_cycles": None}
    jobs = [job | {"batch_packets": None}, job | {"job": "b", "batch_packets": None}]
    signs = {
        "not settled (queues)": "~",
        "not judged (the run is too short to tell whether the network is saturated)": "?",
        soundness.DROPPING.words: "#",
        "with fewer than 30 packets": "*",
        soundness.PART_OF_PERIOD.words: "^",
        "not complete (cut off at the end of the longest window)": "cut",
        "stalled": "stall",
        "saturated": "sat",
    }
    runs = [({"traffic.load": 0.1 * n}, WONDER | FLAWS[words] | {"jobs": jobs}) for n, words in enumerate(signs, 1)]
    results = made(tmp_path / "flawed", [({"traffic.load": 0.05}, PLAIN | {"jobs": jobs}), *runs])
    assert results.frame["flaw"].to_list() == [None, *signs]
    assert results.jobs["flaw"].to_list() == [None, None, *(words for words in signs for _ in range(2))]
    head, _, _, *lines = tables.jobs(results)
    for sign, meaning in (soundness.ENDED | soundness.MARKS).items():
        assert f"; {sign}: {meaning}" in head
    for line, sign in zip(lines[2::2], signs.values(), strict=True):
        assert f"20.0{sign}" in line if sign in "~?#*^" else sign in line, line
    for table, ending in (("points", "md"), ("jobs", "md"), ("points", "tex"), ("jobs", "tex")):
        out = tmp_path / f"t.{ending}"
        assert main(["export", str(results.root), "--table", table, "--out", str(out)]) == 0
        text = out.read_text(encoding="utf-8")
        tilde = r"\~" if ending == "md" else r"\textasciitilde{}"
        assert all(
            f"{sign}: {meaning}" in text.replace(tilde, "~").replace(r"\*", "*").replace(r"\textasciicircum{}", "^")
            for sign, meaning in soundness.MARKS.items()
        ), text
        assert all(words in text for words in ("sat: saturated", "stall: packets, or ranks", f".0{tilde}", ".0?"))
    assert main(["export", str(results.root), "--table", "jobs"]) == 0
    assert "not settled (queues)" in capsys.readouterr().out
    names = [spot.label for spot in Choice.of([results]).spots()]
    assert [name.partition(" (")[2] for name in names] == [
        "",
        "not settled)",
        "not judged)",
        "packets dropped)",
        "few packets)",
        "part of a period)",
        "not complete)",
        "stalled)",
        "saturated)",
    ]


def test_percentiles_cross_out_what_is_not_settled_and_keep_their_numbers_when_small(tmp_path: Path) -> None:
    percentiles = {f"packet_latency_p{name}_cycles": 9 * 12**n for n, name in enumerate(("50", "95", "99", "99_9"))}
    late = FLAWS["not settled (queues)"]
    runs = [
        ({"routing": f"r{n}", "traffic.load": load}, PLAIN | percentiles | (late if load > 0.1 else {}))
        for n in range(8)
        for load in (0.1, 0.2)
    ]
    drawing = draw.figure("percentiles", Choice.of([made(tmp_path / "late", runs)], appearance=Appearance(width=3.5)))
    assert "not settled" in [text.get_text() for text in drawing.legends[0].get_texts()]
    assert len(drawing.axes) == 8
    drawing.savefig(BytesIO(), format="png")
    for axes in drawing.axes:
        crosses = [line for line in axes.get_lines() if line.get_label() == "_unsettled"]
        assert {tuple(np.asarray(line.get_xdata()).tolist()) for line in crosses} == {(0.2,)}
        low, high = axes.get_ylim()
        assert sum(low <= place <= high for place in axes.get_yticks()) >= 2


def test_an_axis_label_breaks_between_words_and_units(tmp_path: Path) -> None:
    drawing = draw.figure("load", Choice.of([points(tmp_path / "p", {})], appearance=Appearance(width=1.5)))
    words = [axis.get_label_text() for axes in drawing.axes for axis in (axes.xaxis, axes.yaxis)]
    lines = [line for text in words for line in text.splitlines()]
    assert "[flits/terminal/" in lines
    for line in lines:
        whole = all(part.isalpha() for part in line.split())
        assert whole or line.endswith(("/", "]")), lines


def test_a_ring_is_won_only_against_points_that_deliver_the_same(tmp_path: Path) -> None:
    def rings(accepted: float) -> int:
        other = PLAIN | {"accepted_load": accepted, "packet_latency_mean_cycles": 19.0}
        runs = [({"power.policy": name}, numbers) for name, numbers in (("a", PLAIN), ("b", other))]
        drawing = draw.figure("energy_delay", Choice.of([made(tmp_path / f"at {accepted}", runs)]))
        lines = {str(line.get_label()): line for line in drawing.axes[0].get_lines()}
        return len(np.asarray(lines["_best"].get_xdata()))

    assert (rings(0.1), rings(0.2)) == (1, 0)


def test_latencies_and_energies_are_compared_at_equal_work(tmp_path: Path) -> None:
    a, b = made(tmp_path / "a", [({}, PLAIN)]), made(tmp_path / "b", [({}, PLAIN | {"accepted_load": 0.2})])
    rows = {row["quantity"]: row for row in a.compare(b).iter_rows(named=True)}
    for column in ("energy_per_bit_pj", "packet_latency_mean_cycles"):
        assert rows[column]["unequal"] == "of unequal work (accepted loads differ)"
        assert rows[column]["relative"] is None
    assert rows["accepted_load"]["relative"] == pytest.approx(1.0)


def test_equal_work_allows_for_chance() -> None:
    assert soundness.same_work((0.100, 0.103), (10**9, 10**9))
    assert not soundness.same_work((0.100, 0.104), (10**9, 10**9))
    # three standard deviations of two runs with 20,000 packets each are 3 %, in addition to the permitted 3 %
    assert soundness.same_work((0.100, 0.106), (20_000, 20_000))
    assert not soundness.same_work((0.100, 0.107), (20_000, 20_000))
    assert not soundness.same_work((0.100, 0.106), (20_000, None)), "nothing is put down to chance"
    assert not soundness.same_work((0.1, None), (9, 9))


def test_no_difference_is_reported_of_points_that_can_not_be_compared(tmp_path: Path) -> None:
    over = PLAIN | {"saturated": True, "ending": "saturated", "energy_per_bit_pj": 1.0}
    a, b = made(tmp_path / "a", [({}, PLAIN)]), made(tmp_path / "b", [({}, over)])
    rows = {row["quantity"]: row for row in a.compare(b).iter_rows(named=True)}
    assert (rows["energy_per_bit_pj"]["b"], rows["energy_per_bit_pj"]["difference"]) == (1.0, None)
    assert rows["accepted_load"]["difference"] == 0


def test_points_are_compared_phase_by_phase(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def phases(second: float) -> dict[str, Any]:
        numbers = {"packets": 1000, "saturated": False, "accepted_load": 0.1}
        return {
            "phases": [
                {"phase": number, "load": 0.1, "packet_latency_mean_cycles": latency} | numbers
                for number, latency in ((1, 20.0), (2, second))
            ]
        }

    a, b = made(tmp_path / "a", [({}, PLAIN | phases(30.0))]), made(tmp_path / "b", [({}, PLAIN | phases(36.0))])
    rows = [row for row in a.compare(b).iter_rows(named=True) if row["quantity"] == "packet_latency_mean_cycles"]
    assert [(row["phase"], row["difference"]) for row in rows] == [("all", 0.0), ("1", 0.0), ("2", 6.0)]
    assert main(["compare", str(a.root), str(b.root)]) == 0
    assert "+20.0 %" in capsys.readouterr().out


def test_a_window_that_measures_next_to_nothing_is_reported(tmp_path: Path) -> None:
    few = made(tmp_path / "few", [({}, {"packets": 2, "window_cycles": 10})])
    assert "2 packets in the window of 10 cycles: too few for a mean or a percentile" in notes.lines(few)[0]
    # of the packets created in the window, only one was delivered, but the window also delivered many earlier packets
    over = {"packets": 1, "window_cycles": 50000, "saturated": True, "offered_load": 0.9, "accepted_load": 0.25}
    assert notes.lines(made(tmp_path / "over", [({}, over)]))[0] == (
        "saturated: 1 packet of those created in the window of 50000 cycles was delivered, the others wait; "
        "0.25 of 0.9 flits/terminal/cycle were accepted [too_few_packets]"
    )
    short = made(tmp_path / "short", [({}, {"packets": 500, "window_cycles": 15})])
    assert "the window of 15 cycles is shorter than the mean latency, 20 cycles" in notes.lines(short)[0]
    assert "write `measure.window: 200cycles` or more" in notes.lines(short)[0]
    settled = {"warmup_settled": True, "warmup_cycles": 9}
    nothing = made(tmp_path / "nothing", [({}, settled | {"packets": 0, "offered_load": 0.0})])
    assert notes.lines(nothing) == ["nothing was measured: no packet was created in the window [no_packet]"], (
        "it settled nowhere"
    )


def test_a_saturated_load_below_one_that_is_carried_is_reported(tmp_path: Path) -> None:
    def of(load: float, saturated: bool) -> tuple[dict[str, Any], dict[str, Any]]:
        accepted = 0.28 if saturated else load
        numbers = {"saturated": saturated, "offered_load": load, "accepted_load": accepted}
        return {"traffic.load": load}, PLAIN | numbers | {"warmup_cycles": 1000, "window_cycles": 2000}

    mixed = made(tmp_path / "mixed", [of(0.2, False), of(0.3, True), of(0.4, False)])
    (shown,) = [line for line in notes.lines(mixed) if line.startswith("not monotonic")]
    assert "load 0.3 is saturated (0.28 of 0.3 flits/terminal/cycle accepted), and 0.4 is not" in shown
    # the remedy has four times the warm-up and four times the window of the run
    assert shown.endswith(
        "write `measure.warmup: 12000cycles` and `measure.window: 8000cycles`, or more [not_monotonic]"
    )
    usual = made(tmp_path / "usual", [of(0.2, False), of(0.3, False), of(0.4, True)])
    assert not [line for line in notes.lines(usual) if line.startswith("not monotonic")]


def test_numbers_that_had_not_settled_are_marked(tmp_path: Path) -> None:
    results = points(tmp_path / "late", FLAWS["not settled (power states)"])
    lines = tables.loads(results).splitlines()
    assert lines[0].endswith("; ~: measured before the network had settled")
    assert lines[-2].split() == ["0.1", "20.0", "0.100", "10.0"]
    assert lines[-1].split() == ["0.2", "1.0~", "0.900~", "1.0~"]


def test_a_warning_of_a_short_warm_up_is_reported_with_the_results(tmp_path: Path) -> None:
    results = points(tmp_path / "short", FLAWS["not settled (power states) after a short warm-up"])
    line = "power states not settled: a warm-up of 9 cycles is too short [power_unsettled] (traffic.load = 0.2)"
    assert notes.lines(results) == [line]
    assert f"P{line[1:]}." in answer.sentences(Sources([results]))
    assert "~: measured before the network had settled" in tables.loads(results)
    events = {"warnings": [{"path": "traffic.phases.0.from", "what": "this phase is late", "help": "-"}]}
    assert soundness.is_sound(points(tmp_path / "late", events).summaries[1])


def test_a_warm_up_before_the_first_replies_is_reported_with_the_results(tmp_path: Path) -> None:
    results = points(tmp_path / "early", FLAWS["not settled (replies)"])
    line = "replies not settled: a warm-up of 9 cycles is not longer than the turnaround"
    assert notes.lines(results) == [f"{line} [replies_unsettled] (traffic.load = 0.2)"]


def test_what_measured_nothing_is_said_in_words(tmp_path: Path) -> None:
    of_batch = {"job": "exchange", "packets": 0, "offered_load": 0.0, "completion_cycles": 565}
    silent = {"job": "silent", "packets": 0, "offered_load": 0.0, "completion_cycles": None}
    stuck = {"job": "stuck", "packets": 0, "offered_load": 0.3, "completion_cycles": None}
    times = {"warmup_cycles": 6490, "window_cycles": 1000}
    phases = [
        {"phase": 1, "start_cycle": 0, "packets": 0},
        {"phase": 2, "start_cycle": 6000, "from_cycle": 6490, "packets": 5, "saturated": False},
        {"phase": 3, "start_cycle": 8000, "packets": 0},
    ]
    jobs = [of_batch, silent, stuck, {"job": "solver", "packets": 7}]
    results = made(tmp_path / "silent", [({}, times | {"jobs": jobs, "phases": phases})])
    lines = [
        (
            (
                "job exchange has no measured packet: its batch was complete in cycle 565, before the window began in "
                "cycle 6490"
            ),
            "job_without_packets",
        ),
        ("job silent has no measured packet: it created no packet in the window", "job_without_packets"),
        (
            "job stuck has no measured packet: none of the packets that it created in the window was delivered",
            "job_without_packets",
        ),
        (
            "phase 1 of the load has no measured packet: it ends in cycle 6000, and the window begins in cycle 6490",
            "phase_without_packets",
        ),
        (
            "phase 3 of the load has no measured packet: it begins in cycle 8000, and the window ends in cycle 7490",
            "phase_without_packets",
        ),
        (
            (
                "settled: not judged, because the load changes at given times; the scenario sets the warm-up to 6490 "
                "cycles"
            ),
            "warmup_not_judged",
        ),
    ]
    assert notes.lines(results) == [codes.coded(text, code) for text, code in lines]
    empty = made(tmp_path / "empty", [({}, {"packets": 0, "offered_load": 0.0})])
    assert notes.lines(empty) == ["nothing was measured: no packet was created in the window [no_packet]"]


@pytest.fixture(scope="module")
def collapsed(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Run points at a load that the network carries with always-on links, but not with links that go off too soon."""
    return weft.load(COLLAPSE).run(tmp_path_factory.mktemp("collapse") / "collapse")


def test_a_collapse_is_explained_and_not_praised(collapsed: Results) -> None:
    awake, asleep = collapsed.summaries
    assert asleep["saturated"]
    assert not awake["saturated"]
    assert 1 - asleep["energy_total_j"] / asleep["energy_always_on_j"] > 0.001, "it would be the greatest saving"
    shown = answer.sentences(Sources([collapsed]))
    (sentence,) = codes.sentences(collapsed.sweep_diagnoses)
    assert f"{sentence}." in shown
    assert sentence in notes.lines(collapsed)
    for words in (
        "Collapse at power.policy = idle_timeout(idle 200cycles, transition 2000cycles)",
        "packets wait for links that are not on, and block the packets behind them; the next links therefore get",
        "Under always_on, which switches no link, the network carries the same load",
        f"`weft plot residency {collapsed.root}`",
    ):
        assert words in sentence
    assert not any("less energy" in each for each in shown)


def test_the_figure_that_a_collapse_names_is_there(
    collapsed: Results, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (sentence,) = codes.sentences(collapsed.sweep_diagnoses)
    command = sentence.split("`")[1].split()
    assert command.pop(0) == "weft"
    assert main([*command, "--out", str(tmp_path / "states.svg")]) == 0
    assert (tmp_path / "states.svg").stat().st_size > 5000
    capsys.readouterr()


def test_saturation_with_busy_channels_is_no_collapse(recorded: Results) -> None:
    assert any(map(soundness.is_over, recorded.summaries))
    assert recorded.sweep_diagnoses == []


BY_THE_CLOCK = {"timetable": {"off": [{"from": "0ns", "until": "3us"}], "period": "10us"}}


def test_what_is_said_of_dark_links_is_true_of_the_policy_and_of_the_load(tmp_path: Path) -> None:
    """Text on dark links fits the load and the policy.

    In these numbers, the network accepts more than is offered in the whole window, but a phase is saturated.

    Under one policy, links go off at fixed times, not because they are idle.
    """
    dark = {"links_on_share": 0.5, "links_off_share": 0.4, "links_shadow_share": 0.0, "link_transitions": 9}
    numbers = (
        PLAIN | dark | {"offered_load": 0.085, "accepted_load": 0.08506, "link_classes": [{"utilisation_max": 0.1}]}
    )
    late = numbers | {"phases": [_phase(1, False), _phase(2, True)]}
    (shown,) = (
        each["what"] for each in collapse.diagnoses(made(tmp_path / "phase", [({"power.policy": BY_THE_CLOCK}, late)]))
    )
    assert "phase 2 of the load: 0.5 of 0.9 flits/terminal/cycle are accepted although" in shown
    assert shown.endswith(": links that are not on accept no new packets")
    assert "sleep" not in shown
    undrained = numbers | {"saturated": True, "ending": "saturated"}
    (shown,) = (
        each["what"]
        for each in collapse.diagnoses(made(tmp_path / "drain", [({"power.policy": BY_THE_CLOCK}, undrained)]))
    )
    assert "packets of the window are not delivered within `measure.drain_limit` although" in shown
    assert "0.08506 of" not in shown
    # under the policy `trunk`, heads use another link of the trunk, so no packet waits for a sleeping link
    (shown,) = (
        each["what"]
        for each in collapse.diagnoses(made(tmp_path / "trunk", [({"power.policy": {"trunk": {}}}, undrained)]))
    )
    assert shown.endswith(": links that are not on accept no new packets")
    assert "wait" not in shown


def _compared(root: Path, a: dict[str, Any], b: dict[str, Any], **point: Any) -> dict[str, dict[str, Any]]:
    """Compare two single runs whose confidence intervals overlap, and return the rows of the comparison by quantity."""
    known = PLAIN | {"packet_latency_ci95_cycles": 500.0}
    sets = [made(root / name, [(point, known | each)]) for name, each in (("a", a), ("b", b))]
    return {row["quantity"]: row for row in sets[0].compare(sets[1]).iter_rows(named=True) if row.get("phase") != "1"}


def test_changes_at_set_times_are_no_chance(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slow = {"packet_latency_mean_cycles": 220.0}
    latency = _compared(tmp_path / "steady", {}, slow)["packet_latency_mean_cycles"]
    assert (latency["relative"], latency["significant"], latency["unjudged"]) == (10.0, False, None)
    phases = {"phases": [_phase(1, False) | {"packets": 100}]}
    many: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({}, phases),
        ({"power.policy": BY_THE_CLOCK}, {}),
        ({"faults": [{"link": [0, 5], "at": "40us"}]}, {}),
    ]
    for number, (point, numbers) in enumerate(many):
        row = _compared(tmp_path / str(number), numbers, slow | numbers, **point)["packet_latency_mean_cycles"]
        assert (row["difference"], row["relative"], row["significant"]) == (200.0, 10.0, None)
        assert row["unjudged"].startswith("not judged: the ")
        assert row["unjudged"].endswith(" changed in the window, which is not chance")
    assert main(["compare", str(tmp_path / "1" / "a"), str(tmp_path / "1" / "b")]) == 0
    output = capsys.readouterr().out
    assert "+1000.0 %  not judged: the links that are on changed in the window, which is not chance" in output
    assert "not significantly different" not in output
    assert "sweep the seed (seed: [1, 2, 3]) in both" in output
    # the column of notes in the table has no heading and no rule
    assert not any(line.endswith("  -") for line in output.splitlines())


def test_several_seeds_tell_chance_from_changes(tmp_path: Path) -> None:
    sets = [
        made(
            tmp_path / name,
            [
                ({"power.policy": BY_THE_CLOCK, "seed": seed}, PLAIN | {"packet_latency_mean_cycles": latency + seed})
                for seed in (1, 2, 3)
            ],
        )
        for name, latency in (("a", 20.0), ("b", 220.0))
    ]
    rows = {row["quantity"]: row for row in sets[0].compare(sets[1]).iter_rows(named=True)}
    assert rows["packet_latency_mean_cycles"]["significant"] is True
    assert rows["packet_latency_mean_cycles"]["unjudged"] is None


def test_a_saving_is_against_links_always_on_that_were_measured_and_deliver_the_same(tmp_path: Path) -> None:
    """If requests wait for links that wake, fewer flits are delivered than with always-on links.

    Therefore the energy of only these flits on always-on links must not be the reference for a saving.
    """
    on = PLAIN | {"energy_total_j": 10.0, "energy_total_fj": "10", "energy_always_on_fj": "10", "links_on_mean": 1.0}
    asleep = PLAIN | {"energy_total_fj": "9", "energy_always_on_fj": "10", "links_on_mean": 0.5}
    powers = ({"power_mean_w": 100.0}, {"power_mean_w": 80.0})

    def note(name: str, **changed: Any) -> str:
        runs = [({"power.policy": "on"}, on | powers[0]), ({"power.policy": "off"}, asleep | powers[1] | changed)]
        return " ".join(answer.sentences(Sources([made(tmp_path / name, runs)])))

    same = note("same")
    assert "Compared with links that are always on, 20.0 % less power at best, at the same traffic (off): 80 W " in same
    assert "for the same flits" not in same
    less = note("less", accepted_load=0.02)
    assert "Compared with" not in less
    unknown = "The saving of off compared with on is unknown. Not compared, of 1 pairs of points: 1 of unequal work"
    assert unknown in less


@pytest.mark.parametrize(("point", "numbers"), [({"faults": [{"router": 3}]}, {}), ({}, {"closed_loop": True})])
def test_what_failed_and_loads_that_follow_the_network_are_no_saving(
    tmp_path: Path, point: dict[str, Any], numbers: dict[str, Any]
) -> None:
    shown = answer.sentences(Sources([made(tmp_path / "alone", [(point, PLAIN | numbers)])]))
    assert not any(each.startswith("Compared with") for each in shown)
    assert any(each.startswith("The savings of 1 point are unknown: ") for each in shown)


def test_points_that_chance_alone_tells_apart_are_named_together(tmp_path: Path) -> None:
    runs = [
        ({"traffic.load": load}, PLAIN | {"accepted_load": accepted, "packets": 10_000})
        for load, accepted in ((0.1, 0.1), (0.15, 0.1520), (0.16, 0.1523))
    ]
    text = " ".join(answer.sentences(Sources([made(tmp_path / "near", runs)])))
    assert (
        "saturation: 0.1523 flits/terminal/cycle (load 0.16), and the same within chance at 1 more: load 0.15." in text
    )


def test_the_load_of_a_phase_is_the_number_that_was_set(tmp_path: Path) -> None:
    """The table of phases has the load that the scenario sets for a phase, without rounding errors of a sum over
    terminals."""
    phases = [_phase(1, None) | {"load": 0.29999999999999993}]
    assert made(tmp_path / "phases", [({}, PLAIN | {"phases": phases})]).phases["load"].to_list() == [0.3]


def test_a_page_carries_the_flaws(tmp_path: Path) -> None:
    held = collect(Sources([points(tmp_path / "late", FLAWS["saturated in a phase of the load"])]))
    assert held["points"]["columns"]["flaw"] == [None, "saturated in a phase of the load"]
    (curve,) = held["curves"]
    assert (curve["over"], curve["flaw"]) == ([False, True], ["", "saturated in a phase of the load"])


def test_a_wrong_label_lists_each_label_once(tmp_path: Path) -> None:
    choice = Choice.of([points(tmp_path / "labels", {})], appearance=Appearance(labels={"nothing": "x"}))
    with pytest.raises(weft.WeftError, match="the figure has no label 'nothing'") as caught:
        draw.figure("load", choice)
    listed = caught.value.help.removeprefix("its labels are: ").split("; ")
    assert len(listed) == len(set(listed)) > 2
