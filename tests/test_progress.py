"""Tests estimates of the run times of points, and the display of progress."""

from __future__ import annotations

import io
from threading import Condition
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from rich.console import Console

import weft
from weft.runs import progress
from weft.runs.checkpoints import Checkpoints
from weft.runs.durations import may_end_earlier
from weft.runs.estimate import Estimate
from weft.runs.execute import Flight, Status, _Board
from weft.runs.progress import Bar, flight_words, words
from weft.text.columns import clock

if TYPE_CHECKING:
    from pathlib import Path

    from weft._engine import Finished, Point

# A test fails if one of its threads waits for another thread longer than this [s].
PATIENCE = 60


def point(load: float, size: str = "small") -> Point:
    """Make a point that has only the properties that an estimate reads."""
    return cast("Point", SimpleNamespace(resolved={"topology": size, "seed": 1, "traffic": {"load": load}}))


def status(**changes: object) -> Status:
    flying = [Flight("a", "uniform, 0.4", 0.43, 4300, 10.0, 13.0), Flight("b", "uniform, 0.5", 0.2, 2000, 10.0, 40.0)]
    shown: dict[str, object] = {
        "total": 12, "done": 5, "reused": 2, "running": 0.63, "flying": flying, "left_seconds": 90.0
    }  # fmt: skip
    return Status(**(shown | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(("points", "most"), [(1, 5988.0), (2, None)])
def test_what_points_take_that_wait_is_in_no_longest_time_before_any_has_run(points: int, most: float | None) -> None:
    """The first 60,000 of at most 30,000,000 cycles of a point took 12 s, so the rest takes at most 5,988 s.

    The longest time of the sweep is unknown if further points wait, because no point has finished.
    """
    resolved = {"topology": "t", "seed": 1, "traffic": {"load": 0.1}, "measure": {"warmup": "auto"}}
    slow = [cast("Point", SimpleNamespace(resolved=resolved, hash=str(n), coordinates={})) for n in range(points)]
    board = _Board(slow, reused=0, workers=1)
    board.controls[0] = cast("Any", SimpleNamespace(cycle=60_000, cycles=30_000_000))
    board.begin(0, cast("Any", SimpleNamespace(seconds=12.0)))
    shown = board.status()
    assert shown.flying[0].most_left_seconds == pytest.approx(5988)
    assert shown.most_left_seconds == (None if most is None else pytest.approx(most))


def test_a_limit_of_a_program_is_no_time_that_is_left() -> None:
    """A program ends long before its limit of 10^11 cycles, so the limit gives no estimate of the remaining time.

    Finished points of the same kind give an estimate.
    """
    measure = {"stop": {"complete": {"max_window": "100000000000cycles"}}}
    resolved = {"topology": "t", "seed": 1, "traffic": {}, "measure": measure}
    programs = [cast("Point", SimpleNamespace(resolved=resolved, hash=str(n), coordinates={})) for n in range(2)]
    assert may_end_earlier(programs[0])
    board = _Board(programs, reused=0, workers=1)
    board.controls[0] = cast("Any", SimpleNamespace(cycle=750_000, cycles=10**11))
    board.begin(0, cast("Any", SimpleNamespace(seconds=10.0)))
    for _ in range(3):
        shown = board.status()
    assert (shown.left_seconds, shown.most_left_seconds) == (None, None)
    assert words(shown, 10.0) == "0 of 2 points"
    assert flight_words(shown.flying[0]) == "750000 cycles at 75 kcycles/s"
    board.end(0, done=True)
    board.controls[1] = cast("Any", SimpleNamespace(cycle=0, cycles=10**11))
    board.begin(1, cast("Any", SimpleNamespace(seconds=4.0)))
    assert board.status().left_seconds == pytest.approx(6.0), "as long as the other, 10 s"


def test_points_are_weighed_by_their_load() -> None:
    """The estimated time of a point grows with its load.

    A load of 0.9 has the weight 1.0 (0.1 is the idle network), and a load of 0.4 half of it.
    """
    estimate = Estimate([point(0.9), point(0.4), point(0.4)])
    assert estimate.all_left([], workers=1) is None, "nothing is known yet"
    estimate.begin(0)
    estimate.learn(0, 20.0)
    assert estimate.all_left([], workers=1) == pytest.approx(20.0), "two of 10 s"
    assert estimate.all_left([], workers=2) == pytest.approx(10.0)
    estimate.begin(1)
    assert estimate.left(1, fraction=0.0, seconds=4.0) == pytest.approx(6.0)
    # point 1 is halfway after 4 s, so its own pace gives 8 s and the other point 10 s; halfway, both count equally: 9
    # s, of which 5 s are left
    assert estimate.left(1, fraction=0.5, seconds=4.0) == pytest.approx(5.0)
    assert estimate.all_left([(1, 0.5, 4.0)], workers=2) == pytest.approx((5 + 10) / 2)
    assert estimate.left(1, fraction=1.0, seconds=9.0) == pytest.approx(1.0), "deliveries end when those of others did"


def test_points_of_another_kind_have_a_price_of_their_own() -> None:
    estimate = Estimate([point(0.9), point(0.9, "large"), point(0.9, "large"), point(0.9, "other")])
    for place, seconds in ((0, 1.0), (1, 99.0)):
        estimate.begin(place)
        estimate.learn(place, seconds)
    # for one point, the estimate is the time of the other large point; for the point of an unknown kind, it is the mean
    assert estimate.all_left([], workers=1) == pytest.approx(99 + (1 + 99) / 2)


def test_the_first_points_tell_by_their_own_pace() -> None:
    estimate = Estimate([point(0.9), point(0.4)])
    estimate.begin(0)
    assert estimate.all_left([(0, 0.01, 5.0)], workers=1) is None, "one percent says little"
    assert estimate.all_left([(0, 0.5, 5.0)], workers=1) == pytest.approx(5 + 5)


def test_the_longest_point_is_waited_for() -> None:
    estimate = Estimate([point(0.9), point(0.9)])
    for place in (0, 1):
        estimate.begin(place)
    assert estimate.all_left([(0, 0.5, 30.0), (1, 0.5, 2.0)], workers=16) == pytest.approx(30.0)


def test_what_is_said_of_a_sweep_and_of_a_point() -> None:
    # 5 points are done, of which 2 were reused, and the running points are 0.63 of a point: 3.63 points in 30 s
    assert words(status(), 30.0) == "5 of 12 points, 7.26 per minute, 1:30 left"
    assert words(status(left_seconds=None, done=2, running=1.0), 30.0) == "2 of 12 points, 2 per minute, 4:30 left"
    assert words(status(left_seconds=None, done=2, running=0.0), 30.0) == "2 of 12 points"
    more = status(left_seconds=None, done=12, running=0.1)
    assert words(more, 30.0) == "12 of 12 points, 20.2 per minute", "a search that runs more points than it had planned"
    assert flight_words(Flight("a", "", 0.43, 4300, 10.0, 13.0)) == "43 %, 4300 cycles at 0.43 kcycles/s, 0:13 left"
    assert (
        flight_words(Flight("a", "", 1.0, 10000, 75.0, None))
        == "10000 cycles, delivering the last packets, 1:15 so far"
    )
    assert [clock(seconds) for seconds in (3.21, 9.99, 59.7, 75, 3661)] == [
        "3.2 s",
        "10.0 s",
        "1:00",
        "1:15",
        "1:01:01",
    ]


def test_a_file_gets_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the output is a file, the progress is written as lines: after 10 s, then after 15 s and 22.5 s more and so on,
    at last every minute, and at the end."""
    now = [0.0]
    monkeypatch.setattr(progress, "perf_counter", lambda: now[0])
    shown = io.StringIO()
    with Bar("fig [7]", Console(file=shown, width=80)) as bar:
        for _ in range(6000):
            bar(status())
            now[0] += 0.1
    lines = shown.getvalue().splitlines()
    assert lines[0] == "fig [7]: 2 of 12 done before"
    assert lines[1].startswith("fig [7]: 5 of 12 points, ")
    assert lines[1].endswith(
        "1:30 left; 2 running, the longest: uniform, 0.5, 20 %, 2000 cycles at 0.2 kcycles/s, 0:40 left"
    )
    assert lines[-1] == "fig [7]: 5 of 12 points in 10:00"
    # lines appear at 10, 25, 47.5, 81.25 and 131.9 s, then each minute up to 600 s
    assert len(lines) == 1 + 5 + (600 - 132) // 60 + 1


def test_a_terminal_shows_a_bar_per_point() -> None:
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=120, _environ={"TERM": "xterm"})
    with Bar("sweep", console) as bar:
        bar(status())
        bar._bars.progress.refresh()  # type: ignore[union-attr]
        flights = [task.description for task in bar._bars.progress.tasks]  # type: ignore[union-attr]
        bar(status(flying=[Flight("b", "uniform, 0.5", 0.5, 5000, 20.0, 20.0)]))
        left = [task.description for task in bar._bars.progress.tasks]  # type: ignore[union-attr]
    assert flights == ["sweep", "  uniform, 0.4", "  uniform, 0.5"]
    assert left == ["sweep", "  uniform, 0.5"], "a finished one goes"
    assert "43 %, 4300 cycles at 0.43 kcycles/s, 0:13 left" in shown.getvalue()


def test_a_run_tells_of_its_points_in_flight(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run reports its points in flight, and the progress of each.

    In the test, each point waits until the run has reported it three times: before its first cycle, together with
    another point, and after its last cycle.
    """
    statuses: list[Status] = []
    shown, usual = Condition(), Checkpoints.run

    def watch(status: Status) -> None:
        with shown:
            statuses.append(status)
            shown.notify_all()

    def run(own: Checkpoints, point: Point, *how: Any) -> Finished:
        def seen(ended: bool) -> bool:
            flights = [flight for each in statuses for flight in each.flying if flight.hash == point.hash]
            return any(flight.cycles > 0 or not ended for flight in flights) and any(
                len(each.flying) == 2 for each in statuses
            )

        with shown:
            assert shown.wait_for(lambda: seen(ended=False), PATIENCE)
        finished = usual(own, point, *how)
        with shown:
            assert shown.wait_for(lambda: seen(ended=True), PATIENCE)
        return finished

    monkeypatch.setattr(Checkpoints, "run", run)
    sweep = weft.load(small)
    sweep.run(tmp_path, jobs=2, watch=watch)
    flights = [flight for each in statuses for flight in each.flying]
    assert max(len(each.flying) for each in statuses) == 2
    assert {flight.hash for flight in flights} <= {point.hash for point in sweep.points}
    assert "tornado, dimension_order, 0.4" in {flight.words for flight in flights}
    assert all(each.running == sum(flight.fraction for flight in each.flying) for each in statuses)
    # the fraction counts 500 cycles of warm-up and 500 of the window, but not the cycles that deliver the last packets
    done = [min(1, flight.cycles / 1000) for flight in flights]
    assert [flight.fraction for flight in flights] == pytest.approx(done)
    assert {0, 1} <= set(done)
    assert any(each.left_seconds for each in statuses)
    assert (statuses[-1].done, statuses[-1].flying) == (12, [])
