"""Tests parallel runs of the sweeps of papers: sweeps overlap, wait for memory, and end after errors and Ctrl-C."""

from __future__ import annotations

import _thread
import io
import json
from contextlib import contextmanager
from threading import Barrier, Event, Lock
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

import weft
from weft.errors import ResultsError, ScenarioError, WeftError, WriteError
from weft.results.store import Store
from weft.runs import memory
from weft.runs.checkpoints import Checkpoints
from weft.runs.execute import Flight, Status
from weft.runs.memory import Left
from weft_papers import registry
from weft_papers.common import side_by_side, standing
from weft_papers.common.paper_bar import PaperBar
from weft_papers.common.reproduction import sweeps as sweeps_of
from weft_papers.common.side_by_side import PlannedSweep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from weft._engine import Control, Finished, Point
    from weft.api.sweep import Sweep
    from weft.results.result_set import ResultSet
    from weft.runs.provenance import Clock
    from weft_papers.common.side_by_side import Rounds
    from weft_papers.common.standing import Standing

# A thread waits for another thread at most for this time [s]; then the test fails.
PATIENCE = 60


def sweep(*loads: float) -> Sweep:
    """Make a sweep of small points with these loads. Weft runs the point with the highest load first."""
    return weft.load(
        {
            "topology": {"hyperx": {"widths": [2, 2], "terminals_per_router": 2}},
            "links": {"default": {"latency": "2cycles", "vcs": 2, "buffer": "8flits"}},
            "routing": "dimension_order",
            "traffic": {"pattern": "uniform", "load": 0.1},
            "measure": {"warmup": "100cycles", "window": "100cycles"},
            "sweep": {"traffic.load": list(loads)},
        }
    )


def rounds(name: str, *of: Sequence[float]) -> Rounds:
    """Return a function that yields the rounds of a sweep. Each element of `of` has the loads of a round."""

    def each(done: Sequence[ResultSet]) -> Iterator[tuple[str, Sweep]]:
        for number, loads in enumerate(of):
            assert len(done) == number, "the results of a round are there before the next"
            yield f"{name}-{number}" if number else name, sweep(*loads)

    return each


class Runs:
    """Records the points that run. Before a point runs, it calls `before` with its load."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, before: Callable[[float, Control], None]) -> None:
        self.begun: list[float] = []
        self.most = 0
        self._flying, self._lock = 0, Lock()
        real = Checkpoints.run

        def run(own: Checkpoints, point: Point, clock: Clock, *how: Any) -> Finished:
            load = point.coordinates["traffic.load"]
            with self._in_flight(load):
                before(load, how[-1])
                return real(own, point, clock, *how)

        monkeypatch.setattr(Checkpoints, "run", run)

    @contextmanager
    def _in_flight(self, load: float) -> Iterator[None]:
        with self._lock:
            self.begun.append(load)
            self._flying += 1
            self.most = max(self.most, self._flying)
        try:
            yield
        finally:
            with self._lock:
                self._flying -= 1


def run(
    folder: Path,
    *sweeps: Rounds,
    jobs: int = 2,
    force_memory: bool = False,
    show: Callable[[Standing], None] | None = None,
) -> list[list[ResultSet]]:
    """Run sweeps in parallel, with their results in a folder."""
    return side_by_side.run(planned(folder, *sweeps), jobs=jobs, force_memory=force_memory, show=show)


def planned(folder: Path, *sweeps: Rounds) -> list[PlannedSweep]:
    """Return the sweeps in the form that `side_by_side.run` takes, with the folder of their results."""
    return [PlannedSweep(rounds, folder) for rounds in sweeps]


def until_stopped(control: Control) -> None:
    """Wait until the point is stopped, like a point that never ends."""
    pause = Event()
    for _ in range(PATIENCE * 100):
        if control.stopped:
            return
        pause.wait(0.01)


def test_points_of_the_next_sweep_run_beside_the_last_one_of_a_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two sweeps overlap: the last point of the first sweep ends only when a point of the next sweep runs.

    At most two points run at the same time, and results equal those of sweeps that run one after the other.
    """
    other, overlapped = Event(), []

    def before(load: float, _: Control) -> None:
        if load == 0.3:
            other.set()
        if load == 0.9:
            overlapped.append(other.wait(PATIENCE))

    runs = Runs(monkeypatch, before)
    found = run(tmp_path, rounds("one", [0.9, 0.8]), rounds("two", [0.3, 0.2]), rounds("three", [0.1]))
    assert overlapped == [True]
    assert runs.most <= 2
    assert [[each.root.name for each in of] for of in found] == [["one"], ["two"], ["three"]]
    alone = sweep(0.9, 0.8).run(tmp_path / "alone")
    for row in range(2):
        one, other_one = (each.folder(row) / "summary.json" for each in (found[0][0], alone))
        assert one.read_bytes() == other_one.read_bytes()


def test_with_one_job_a_sweep_follows_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = Runs(monkeypatch, lambda *_: None)
    run(tmp_path, rounds("one", [0.1], [0.2, 0.3]), rounds("two", [0.4]), jobs=1)
    assert runs.begun == [0.1, 0.3, 0.2, 0.4]


def test_a_round_follows_its_first_one_while_others_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    second = Event()
    waited: list[bool] = []

    def before(load: float, _: Control) -> None:
        if load == 0.2:
            second.set()
        if load == 0.9:
            waited.append(second.wait(PATIENCE))

    Runs(monkeypatch, before)
    found = run(tmp_path, rounds("long", [0.9]), rounds("two", [0.1], [0.2]))
    assert waited == [True]
    assert [each.root.name for each in found[1]] == ["two", "two-1"]


def test_ctrl_c_keeps_finished_points_and_the_same_call_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the interrupted call, the second point of each sweep never ends.

    When both second points run, the first points are done. The test then sends Ctrl-C.
    """
    both = rounds("one", [0.9, 0.8]), rounds("two", [0.3, 0.2])
    with monkeypatch.context() as patch:

        def before(load: float, control: Control) -> None:
            if load in (0.8, 0.2):
                if len(runs.begun) == 4 and runs.begun[-1] == load:
                    _thread.interrupt_main()
                until_stopped(control)

        runs = Runs(patch, before)
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path, *both)
    assert weft.open_results(tmp_path / "one").missing == 1
    again = Runs(monkeypatch, lambda *_: None)
    ((one,), (two,)) = run(tmp_path, *both)
    assert sorted(again.begun) == [0.2, 0.8], "finished points are not run again"
    assert not one.missing
    assert not two.missing


def test_a_sweep_that_has_ended_is_told_while_others_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The progress shows that the first sweep has ended while the second one runs: the only point of the second sweep
    waits for this."""
    known, waited, told = Event(), [], []

    def before(load: float, _: Control) -> None:
        if load == 0.3:
            waited.append(known.wait(PATIENCE))

    def on_end(number: int, found: list[ResultSet]) -> None:
        told.append((number, [each.root.name for each in found]))
        known.set()

    Runs(monkeypatch, before)
    both = planned(tmp_path, rounds("one", [0.9], [0.8]), rounds("two", [0.3]))
    side_by_side.run(both, jobs=2, force_memory=False, show=None, on_end=on_end)
    assert waited == [True]
    assert told == [(0, ["one", "one-1"]), (1, ["two"])]


def test_an_error_lets_what_runs_finish_and_nothing_begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three sweeps begin on two workers.

    If the first sweep fails while the other two run, these two finish, and the fourth sweep does not begin.
    """
    both, known = Barrier(3, timeout=PATIENCE), Event()
    usual = side_by_side._Sides.run

    def failing(_: Sequence[ResultSet]) -> Iterator[tuple[str, Sweep]]:
        both.wait()
        raise ScenarioError.saying("it fails", "try another")

    def run_side(sides: Any, number: int) -> Any:
        try:
            return usual(sides, number)
        finally:
            if number == 0:
                known.set()

    def before(_: float, __: Control) -> None:
        both.wait()
        assert known.wait(PATIENCE), "points end after the error"

    monkeypatch.setattr(side_by_side._Sides, "run", run_side)

    runs = Runs(monkeypatch, before)
    with pytest.raises(ScenarioError, match="it fails"):
        run(tmp_path, failing, rounds("two", [0.8], [0.5]), rounds("three", [0.3]), rounds("four", [0.1]))
    assert not weft.open_results(tmp_path / "two").missing
    assert sorted(runs.begun) == [0.3, 0.8], "nor does a second round"
    assert not (tmp_path / "four").exists()


def test_an_error_ends_no_sweep_before_the_failed_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the second sweep fails while the first one runs, the first sweep still runs its second round."""
    begun, failed = Event(), Event()

    def failing(_: Sequence[ResultSet]) -> Iterator[tuple[str, Sweep]]:
        assert begun.wait(PATIENCE)
        failed.set()
        raise ScenarioError.saying("it fails", "try another")

    def before(load: float, _: Control) -> None:
        if load == 0.9:
            begun.set()
            assert failed.wait(PATIENCE)

    runs = Runs(monkeypatch, before)
    with pytest.raises(ScenarioError, match="it fails"):
        run(tmp_path, rounds("one", [0.9], [0.8]), failing, rounds("three", [0.1]))
    assert [load for load in runs.begun if load > 0.5] == [0.9, 0.8]


def test_a_full_disk_stops_all_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = Event()

    def before(load: float, control: Control) -> None:
        if load == 0.9:
            assert other.wait(PATIENCE)
            raise WriteError.saying("the disk is full", "free some space")
        other.set()
        until_stopped(control)

    Runs(monkeypatch, before)
    with pytest.raises(WriteError, match="the disk is full"):
        run(tmp_path, rounds("one", [0.9]), rounds("two", [0.8]))
    assert weft.open_results(tmp_path / "two").missing


def test_sweeps_too_large_together_run_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = memory.estimates(sweep(0.1).points)[0]
    runs = Runs(monkeypatch, lambda *_: None)
    both = rounds("one", [0.9]), rounds("two", [0.8])
    monkeypatch.setattr(memory, "left", lambda: Left(size * 3 // 2, "the machine", counts_reserved=True))
    run(tmp_path / "fits", *both)
    assert runs.most == 1
    monkeypatch.setattr(memory, "left", lambda: Left(size // 2, "the machine", counts_reserved=True))
    with pytest.raises(ScenarioError, match="a point needs about"):
        run(tmp_path / "refused", *both)
    assert not list((tmp_path / "refused").glob("*/points"))
    run(tmp_path / "forced", *both, force_memory=True)


def test_sweeps_that_wait_for_memory_continue_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second sweep does not fit into memory while the first one runs.

    The third sweep would fit, but begins after the second.
    """
    size = memory.estimates(sweep(0.1).points)[0]
    begun, waits = Event(), Event()

    def left() -> Left:
        if begun.is_set():
            waits.set()  # Weft checks if the second sweep fits
        return Left(size * 5 // 2, "the machine", counts_reserved=True)

    def after(event: Event, name: str, *loads: float) -> Rounds:
        def each(_: Sequence[ResultSet]) -> Iterator[tuple[str, Sweep]]:
            assert event.wait(PATIENCE)
            yield name, sweep(*loads)

        return each

    def before(load: float, _: Control) -> None:
        if load == 0.9:
            begun.set()
            assert waits.wait(PATIENCE)
            Event().wait(0.3)  # the third sweep would begin meanwhile

    runs = Runs(monkeypatch, before)
    monkeypatch.setattr(memory, "left", left)
    run(tmp_path, rounds("one", [0.9]), after(begun, "two", 0.8, 0.7), after(waits, "three", 0.3), jobs=3)
    assert runs.begun[0] == 0.9
    assert runs.begun.index(0.3) > runs.begun.index(0.8)


def test_the_standing_counts_points_and_sweeps(tmp_path: Path) -> None:
    said: list[Standing] = []
    run(tmp_path, rounds("one", [0.9, 0.8], [0.7]), rounds("two", [0.3]), show=said.append)
    last = said[-1]
    assert (last.sweeps, last.begun, last.done) == (2, 2, 2)
    assert (last.status.total, last.status.done, last.status.reused, last.status.flying) == (4, 4, 0, [])
    ended = sorted((each.name, each.status.done) for each in (end for one in said for end in one.ended))
    assert ended == [("one (1 of 2)", 2), ("one-1 (1 of 2)", 1), ("two (2 of 2)", 1)]
    run(tmp_path, rounds("one", [0.9, 0.8], [0.7]), rounds("two", [0.3]), show=said.append)
    assert said[-1].status.reused == 4


def flight(left: float | None, most: float | None = None) -> Flight:
    return Flight("a", "uniform", 0.5, 500, 10.0, left, most)


def status(total: int, done: int, *flying: Flight, left: float | None = None) -> Status:
    return Status(total, done, 0, 0.5 * len(flying), list(flying), left)


def test_time_left_of_sweeps_that_share_workers() -> None:
    """If only two points of 20 s and 30 s are left, two workers need 30 s.

    If points with 50 s of work wait in addition, the two workers need (20 + 30 + 50) / 2 = 50 s.
    """
    tails = [status(4, 3, flight(20.0), left=20.0), status(4, 3, flight(30.0), left=30.0)]
    assert standing.joined(tails, 2).left_seconds == 30.0
    waiting = status(10, 0, left=25.0)  # 50 s of work, which two workers do in 25 s
    assert standing.joined([*tails, waiting], 2).left_seconds == 50.0
    assert standing.joined([*tails, status(10, 0)], 2).left_seconds is None, "nothing is known of the third"
    assert standing.joined([status(4, 4)], 2).left_seconds is None, "nothing is left"
    slow = [status(4, 3, flight(20.0, 100.0), left=20.0), status(4, 3, flight(30.0), left=30.0)]
    assert standing.joined(slow, 2).most_left_seconds == 100.0


def test_a_file_gets_a_line_per_sweep_that_has_ended() -> None:
    shown = io.StringIO()
    ended = standing.EndedSweep("uniform-3 (5 of 34)", status(4, 4), 55.0)
    with PaperBar("ofar", Console(file=shown, width=80)) as bar:
        bar(standing.Standing(34, 6, 5, status(24, 20, flight(20.0)), [ended]))
        bar(standing.Standing(34, 6, 6, status(24, 24), []))
    first, last = shown.getvalue().splitlines()
    assert first == "uniform-3 (5 of 34): 4 of 4 points in 0:55"
    assert last.startswith("ofar, 6 of 34 sweeps begun, 6 done: 24 of 24 points in ")


def test_a_terminal_shows_one_bar_with_points_of_several_sweeps() -> None:
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=160, _environ={"TERM": "xterm"})
    board = standing.Standings(34, 2)
    for number, name in enumerate(("uniform (1 of 34)", "adv2 (2 of 34)")):
        board.tell(number, name, status(4, 2, flight(20.0), left=20.0))
    now = board.standing()
    assert now
    with PaperBar("ofar", console) as bar:
        bar(now)
        tasks = [task.description for task in bar._bar._bars.progress.tasks]  # type: ignore[union-attr]
    head = "ofar, 2 of 34 sweeps begun, 0 done"
    assert tasks == [head, "  uniform (1 of 34): uniform", "  adv2 (2 of 34): uniform"]


def test_each_folder_tells_how_far_its_sweep_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While two sweeps run, the progress file in the folder of a sweep lists only the points of this sweep."""
    from weft.runs import beacon

    said: list[list[int]] = []
    begun = {0.9: Event(), 0.8: Event()}
    seen = Event()

    def before(load: float, _: Control) -> None:
        begun[load].set()
        seen.wait(PATIENCE)

    def show(_: Standing) -> None:
        if all(each.is_set() for each in begun.values()) and not seen.is_set():
            found = [beacon.at_work(tmp_path / name) for name in ("one", "two")]
            said.append([who["total"] for each in found for who in each])
            seen.set()

    Runs(monkeypatch, before)
    run(tmp_path, rounds("one", [0.9]), rounds("two", [0.8]), show=show)
    assert said == [[1, 1]]
    assert json.loads((tmp_path / "one" / "sweep.json").read_text())["points"]
    assert beacon.at_work(tmp_path / "one") == []


def test_jobs_that_are_no_number_are_refused(tmp_path: Path) -> None:
    from weft_papers.common.reproduction import reproduce
    from weft_papers.tcep import PAPER

    with pytest.raises(WeftError, match="jobs"):
        reproduce(PAPER, out=tmp_path / "out", jobs=0)
    assert not (tmp_path / "out").exists()


def test_a_folder_with_other_results_is_refused_before_any_point_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep(0.1, 0.2).run(tmp_path / "b", watch=False)
    runs = Runs(monkeypatch, lambda *_: None)
    sweeps = [rounds("a", [0.3]), rounds("b", [0.4])]
    with pytest.raises(ResultsError, match="holds the results of another sweep"):
        side_by_side.run(planned(tmp_path, *sweeps), jobs=2, force_memory=False, show=None)
    assert runs.begun == []
    (tmp_path / "b").rename(tmp_path / "c")
    found = side_by_side.run(planned(tmp_path, *sweeps), jobs=2, force_memory=False, show=None)
    assert [len(results.points) for (results,) in found] == [1, 1]


def test_results_of_a_paper_do_not_depend_on_the_folder_of_the_installation(tmp_path: Path) -> None:
    ((folder, each),) = sweeps_of(registry.paper("torus"), only=["allocator"], out=tmp_path)
    Store(folder).write_manifest(each.named, each.points)
    assert json.loads((folder / "sweep.json").read_text(encoding="utf-8"))["owner"] == [each.named.folder, None]
