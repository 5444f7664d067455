"""Tests the states of ranks that run programs of messages: critical path, pictures, timeline, bounds, comparison of
policies.

The network of `ring` is a single router with four terminals. A flit crosses two terminal links and the router in 1
cycle each, and its ejection takes 1 cycle. A flit is one byte, and a cycle is one nanosecond. Therefore the last flit
of a message of n bytes has arrived n + 3 ns after its first flit can leave.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import weft
from browser import Page, browser
from test_timeline import validate
from weft.cli import main
from weft.errors import ResultsError
from weft.plot.choice import Choice
from weft.plot.draw import figure
from weft.programs import bounds
from weft.results import critical_path, of_programs, rank_grid
from weft.timeline import trace_file
from weft.timeline.tracks import RANKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weft.api.results import Results

RANKS_OF_RING, BYTES, OVERHEAD, GAP = 4, 400, 10, 50
# a ring all-reduce of m bytes on P ranks has 2 (P - 1) steps; in each step, every rank prepares a message of m / P
# bytes, waits for a message, and receives it
STEPS = 2 * (RANKS_OF_RING - 1)
TRANSFER = BYTES // RANKS_OF_RING + 3
RUN_TIME = GAP + STEPS * (2 * OVERHEAD + TRANSFER)
EXAMPLE = Path(__file__).parents[1] / "examples" / "programs_torus.yaml"


def ring(**workload: Any) -> dict[str, Any]:
    """Return the scenario of a ring all-reduce."""
    collective = {
        "operation": "all_reduce",
        "ranks": RANKS_OF_RING,
        "bytes": f"{BYTES}B",
        "gap": f"{GAP}ns",
    }
    programs = {
        "program": {"collective": collective},
        "collectives": {"algorithms": {"all_reduce": {"ring": {}}}},
        "overhead": f"{OVERHEAD}ns",
        "eager": "1MB",
    }
    return {
        "topology": {"single_router": {"terminals": RANKS_OF_RING}},
        "routing": "minimal",
        "cycle": "1ns",
        "flit": "1B",
        "traffic": {"packet": "16flits", "workload": {"programs": programs | workload}},
        "measure": {"rank_states": {}, "message_times": {}},
    }


# A ring all-reduce on a torus, with two seeds. Under one of the policies, links sleep while the ranks compute.
SLEEPY = ring() | {
    "name": "sleepy",
    "topology": {"torus": {"widths": [4], "terminals_per_router": 1}},
    "links": {"default": {"vcs": 4}},
    "routing": "dimension_order",
    "sweep": {
        "power.policy": ["always_on", {"idle_timeout": {"idle": "20cycles", "transition": "10cycles"}}],
        "seed": [1, 2],
    },
}


@pytest.fixture(scope="module")
def on_router(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return weft.load(ring()).run(tmp_path_factory.mktemp("ring") / "ring", watch=False)


@pytest.fixture(scope="module")
def sleepy(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return weft.load(SLEEPY).run(tmp_path_factory.mktemp("sleepy") / "sleepy", watch=False)


def test_the_parts_of_a_critical_path_are_those_of_the_formula(on_router: Results) -> None:
    (path,) = critical_path.of(on_router, 0)
    expected = {"compute": GAP, "overhead": STEPS * 2 * OVERHEAD, "transfer": STEPS * TRANSFER, "wait": 0}
    assert path.by_state() == expected
    assert path.cycles == RUN_TIME == on_router.summaries[0]["jobs"][0]["run_time_cycles"]
    # the steps of the critical path follow each other without gaps
    assert all(one.to_cycle == two.from_cycle for one, two in zip(path.steps, path.steps[1:], strict=False))
    # each transfer comes from the previous rank in the ring
    moved = [step for step in path.steps if step.state == critical_path.TRANSFER]
    assert len(moved) == STEPS
    assert all(step.peer == (step.rank - 1) % RANKS_OF_RING for step in moved)


def test_a_rendezvous_leads_to_the_rank_that_let_it_begin(tmp_path: Path) -> None:
    results = weft.load(ring(eager="10B")).run(tmp_path / "late", watch=False)
    (path,) = critical_path.of(results, 0)
    assert path.cycles == results.summaries[0]["jobs"][0]["run_time_cycles"]
    assert path.by_state()["wait"] == 0
    assert any(step.origin == step.rank != step.peer for step in path.steps if step.state == critical_path.TRANSFER)


def test_the_time_in_which_a_rank_does_not_compute_is_exposed(on_router: Results) -> None:
    ranks = pl.read_parquet(on_router.folder(0) / "ranks.parquet")
    assert ranks["exposed_cycles"].to_list() == [RUN_TIME - GAP] * RANKS_OF_RING
    (job,) = on_router.summaries[0]["jobs"]
    assert (job["exposed_mean_cycles"], job["exposed_max_cycles"]) == (RUN_TIME - GAP, RUN_TIME - GAP)


def test_a_cell_shows_the_state_that_fills_most_of_it(on_router: Results) -> None:
    states = on_router.recorded(0, "rank_states")
    exact = rank_grid.grid(states)
    # the exact picture has one column per cycle
    assert exact.cells.shape == (RANKS_OF_RING, RUN_TIME)
    names = np.array([*critical_path.STATES, "nothing"])
    for row in states.iter_rows(named=True):
        assert set(names[exact.cells[row["rank"], row["from_cycle"] : row["to_cycle"]]]) == {row["state"]}
    coarse = rank_grid.grid(states, columns=1, rows=2)
    assert (coarse.ranks_per_row, names[coarse.cells].tolist()) == (2, [["transfer"], ["transfer"]])


def test_a_figure_of_ranks_has_its_spans_and_the_path(on_router: Results) -> None:
    drawing = figure("rank_states", Choice.of([on_router], [0]))
    (axes,) = drawing.axes
    (line,) = [each for each in axes.get_lines() if not str(each.get_label()).startswith("_")]
    cycles = np.asarray(line.get_xdata())
    assert (cycles[0], cycles[-1]) == (0, RUN_TIME)
    assert axes.get_ylabel() == "Rank"
    assert drawing.numbers is not None
    assert drawing.numbers.height == on_router.recorded(0, "rank_states").height


def test_a_trace_has_ranks_and_an_arrow_per_message() -> None:
    recorded = trace_file.record(weft.load(ring()).points[0])
    trace: dict[str, Any] = {
        "displayTimeUnit": "ns",
        "otherData": recorded.about,
        "traceEvents": list(recorded.events()),
    }
    tracks = validate(trace)
    lines = [
        (event["cat"], event["args"]["from_cycle"], event["args"]["to_cycle"])
        for (pid, tid), slices in tracks.items()
        if pid == RANKS and tid % 2
        for event in slices
    ]
    spans = recorded.ranks.select("state", "from_cycle", "to_cycle")
    assert sorted(lines) == sorted(spans.iter_rows())
    ends = [event for event in trace["traceEvents"] if event["ph"] in "sf" and event["pid"] == RANKS]
    starts = {event["id"]: event["ts"] for event in ends if event["ph"] == "s"}
    arrivals = {event["id"]: event["ts"] for event in ends if event["ph"] == "f"}
    assert starts.keys() == arrivals.keys()
    assert len(starts) == STEPS * RANKS_OF_RING
    assert {round(1000 * (arrivals[each] - starts[each])) for each in starts} == {TRANSFER}


def test_a_program_is_explained_with_its_links(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "ring.yaml"
    file.write_text(json.dumps(ring()), encoding="utf-8")
    assert main(["explain", "program", str(file), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["paths"][0]["by_state"]["transfer"] == STEPS * TRANSFER
    assert (document["watched"], document["transfers"]) == (STEPS, STEPS)
    # the last packet of a message has 4 flits (100 = 6 * 16 + 4): it is injected after 96 flits, and then takes 4 + 3
    # cycles
    assert (document["interface_cycles"], document["network_cycles"]) == (STEPS * 96, STEPS * 7)
    assert sum(link["transfers"] for link in document["links"]) == STEPS


def test_a_record_without_room_has_no_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    short = ring() | {"measure": {"rank_states": {"max_spans": 20}}}
    results = weft.load(short).run(tmp_path / "short", watch=False)
    assert results.summaries[0]["rank_states_complete"] is False
    assert main(["explain", "program", str(tmp_path / "short")]) == 2
    assert "increase measure.rank_states.max_spans" in capsys.readouterr().err
    # the remedy works
    more = weft.load(short, overrides={"measure.rank_states.max_spans": 1000}).run(tmp_path / "more", watch=False)
    assert critical_path.of(more, 0)[0].cycles == RUN_TIME


def test_a_point_without_a_record_says_how_to_get_one(tmp_path: Path) -> None:
    plain = ring() | {"measure": {}}
    results = weft.load(plain).run(tmp_path / "plain", watch=False)
    with pytest.raises(ResultsError, match=r"rank_states"):
        critical_path.of(results, 0)


def test_no_run_is_below_its_bounds(on_router: Results, tmp_path: Path) -> None:
    (own,) = bounds.of_point(weft.load(ring()).points[0])
    # in each step a rank prepares and receives a message (two overheads), and its terminal sends m / P bytes
    assert own.compute_s == pytest.approx((GAP + 2 * STEPS * OVERHEAD) * 1e-9)
    assert own.injection_s == pytest.approx(STEPS * BYTES / RANKS_OF_RING * 1e-9)
    assert own.channels_s == pytest.approx(own.injection_s)
    # in the executor, the first byte takes the latency but no cycle of its own, so each step is one cycle shorter than
    # in the run
    assert own.ideal_s is not None
    assert own.ideal_s == pytest.approx((RUN_TIME - STEPS) * 1e-9)
    seconds = on_router.summaries[0]["solution_seconds"]
    assert seconds == pytest.approx(RUN_TIME * 1e-9)
    assert seconds >= max(own.least_s, own.ideal_s)
    for text in ("{program: {collective: {operation: all_to_all, ranks: 4, bytes: 300B}}, accepted: 1}",):
        each = ring() | {"traffic": {"packet": "16flits", "workload": f"{{programs: {text}}}"}}
        sweep = weft.load({**each, "traffic": {"packet": "16flits", "workload": {"programs": _yaml(text)}}})
        (bound,) = bounds.of_point(sweep.points[0])
        ran = sweep.run(tmp_path / "other", watch=False).summaries[0]["solution_seconds"]
        assert ran >= bound.least_s > 0


def _yaml(text: str) -> Any:
    import yaml

    return yaml.safe_load(text)


def test_a_check_and_a_run_tell_the_bounds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "ring.yaml"
    file.write_text(json.dumps(ring()), encoding="utf-8")
    assert main(["check", str(file)]) == 0
    assert "least run time of job all" in capsys.readouterr().out
    assert main(["run", str(file), "--out", str(tmp_path / "out"), "--no-picture"]) == 0
    output = capsys.readouterr().out
    assert "run time, least possible run time, and estimate without contention" in output
    # the ratio of the run time, 788 ns, to the 600 ns in which a terminal sends its bytes
    assert f"{RUN_TIME / (STEPS * BYTES / RANKS_OF_RING):.3f}" in output


def test_a_check_refuses_a_program_that_cannot_finish(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "stuck.goal").write_text("num_ranks 2\nrank 0 {\nrecv 8b from 1 tag 5\n}\nrank 1 {\ncalc 10\n}\n")
    file = tmp_path / "stuck.yaml"
    traffic = {"packet": "16flits", "workload": {"programs": {"file": "stuck.goal"}}}
    file.write_text(json.dumps(ring() | {"traffic": traffic}), encoding="utf-8")
    assert main(["check", str(file)]) == 4
    assert "waits for a message from 1 with tag 5" in capsys.readouterr().err


def test_policies_are_compared_by_time_and_energy(sleepy: Results) -> None:
    text = "\n".join(of_programs.lines(sleepy))
    assert "change compared with always_on" in text
    assert "different loads" not in text
    runs = {policy: [s for s in sleepy.summaries if s["policy"] == policy] for policy in ("always_on", "idle_timeout")}
    means = {policy: of_programs.mean_of(each, of_programs.RUN_TIME) for policy, each in runs.items()}
    times = {policy: mean.value for policy, mean in means.items() if mean is not None}
    assert times["idle_timeout"] > times["always_on"]
    change = 100 * (times["idle_timeout"] / times["always_on"] - 1)
    assert f"{change:+.2f} %" in text
    for run in sleepy.summaries:
        assert run["energy_delay_js"] == pytest.approx(run["energy_total_j"] * run["solution_seconds"])


def test_compare_judges_programs_by_their_solution(sleepy: Results, capsys: pytest.CaptureFixture[str]) -> None:
    sides = [f"{sleepy.root}:policy={policy}" for policy in ("always_on", "idle_timeout")]
    assert main(["compare", *sides, "--json"]) == 0
    rows = {row["quantity"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    assert set(rows) == {each.column for each in of_programs.ANSWERS}
    time = rows[of_programs.RUN_TIME.column]
    assert time["difference"] > 0
    assert time["unequal"] is None
    # with two seeds, the run time has an interval
    assert time["half_width"] is not None


def test_the_figure_of_solutions_joins_the_best(sleepy: Results) -> None:
    drawing = figure("solution", Choice.of([sleepy]))
    numbers = drawing.numbers
    assert numbers is not None
    assert numbers.height == 2
    # the point with the shorter run time is always on the Pareto front
    assert numbers.sort(of_programs.RUN_TIME.column)["best"][0]
    assert "[" in drawing.axes[0].get_xlabel()


@pytest.mark.parametrize("kind", ["load", "energy_delay", "power"])
def test_figures_over_load_are_refused(sleepy: Results, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plot", kind, str(sleepy.root)]) == 2
    errors = capsys.readouterr().err
    assert "every job runs a program, so there is no load for an axis" in errors
    assert "plot solution" in errors
    assert main(["plot", "solution", str(sleepy.root)]) == 0


def test_an_oracle_and_a_bill_are_refused(sleepy: Results, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mesh.yaml"
    file.write_text(json.dumps(ring() | {"topology": {"hyperx": {"widths": [4], "terminals_per_router": 1}}}))
    assert main(["analyse", "oracle", str(file)]) == 2
    assert "a job runs a program" in capsys.readouterr().err
    # the remedy works
    pattern = ["--set", "traffic.pattern=uniform", "--set", "traffic.load=0.1"]
    loaded = tmp_path / "loaded.yaml"
    loaded.write_text(json.dumps(json.loads(file.read_text()) | {"traffic": {"packet": "16flits"}, "measure": {}}))
    assert main(["analyse", "oracle", str(loaded), *pattern]) == 0
    capsys.readouterr()
    assert main(["analyse", "bill", str(sleepy.root)]) == 2
    assert "a bill needs loads, but a program has no load" in capsys.readouterr().err
    assert main(["query", str(sleepy.root), "select solution_seconds, energy_total_j from points"]) == 0


@pytest.fixture(scope="module")
def page(on_router: Results, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser() as driver:
        shown = Page(driver, on_router.report(tmp_path_factory.mktemp("page") / "report.html"))
        yield shown
        assert shown.complaints() == []


def test_a_report_shows_ranks_and_the_answer_of_programs(page: Page) -> None:
    assert "The critical path of job all is" in page.ask("document.getElementById('ranks-words').textContent")
    assert page.ask("document.getElementById('chart-ranks').layout.images.length") == 1
    # the picture has a row per rank and fills the axes
    assert page.ask("document.getElementById('chart-ranks').layout.images[0].sizey") == RANKS_OF_RING
    line = "document.getElementById('chart-ranks').data.find(({name}) => name === 'critical path')"
    assert page.ask(f"{line}.x[{line}.x.length - 1]") == RUN_TIME
    assert page.ask("document.getElementById('load-charts').hidden")
    assert not page.ask("document.getElementById('chart-solution').hidden")
    # with few points, each point has its own marker and its own name
    chart = "document.getElementById('chart-solution').data.filter(({mode}) => mode === 'markers')"
    named = page.ask(f"{chart}.map(({{name, x}}) => [name, x.length])")
    assert [count for name, count in named if name] == [1] * len(named)
    shown = page.texts(".findings li")
    assert any("Least run time" in sentence for sentence in shown)
    # computation takes 50 of the 788 cycles of the run time
    share = f"{100 * (RUN_TIME - GAP) / RUN_TIME:.3g} %"
    assert any(f"does not compute for {share} of the run time" in sentence for sentence in shown)


def test_a_message_of_a_rank_to_itself_is_no_pair_of_ranks() -> None:
    transfer = critical_path.TRANSFER
    steps = [
        critical_path.Step(transfer, 1, 0, 0, 0, 10),
        critical_path.Step(transfer, 1, 1, 1, 10, 14),
        critical_path.Step(transfer, 2, 2, 2, 14, 16),
    ]
    of = [line for line in critical_path.lines(critical_path.Path("a", steps), 1e-9) if "pairs of ranks" in line]
    assert of == ["transfers on the path, between 1 pairs of ranks, and of 2 ranks to themselves, longest first"]
    (plain,) = [
        line for line in critical_path.lines(critical_path.Path("a", steps[:1]), 1e-9) if "pairs of ranks" in line
    ]
    assert plain == "transfers on the path, between 1 pairs of ranks, longest first"
