"""Tests sweeps on executors (objects like those of `concurrent.futures`), and claims, with which a worker reserves a
point."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import weft
from test_resume import PATIENCE, finished, wait_until
from test_slurm import check_same, status_of
from weft.cli import main
from weft.results.store import Store
from weft.runs import arrays, orders, worker
from weft.runs.beacon import Beacon
from weft.runs.execute import Status
from weft.runs.orders import Order
from weft.runs.point_claims import Claims, run_twice

if TYPE_CHECKING:
    from concurrent.futures import Executor

LOOK = Status(total=1, done=0, reused=0, running=0.0)
SLOW = {"measure.window": "60000cycles"}
# A script as a user could write it. It runs a sweep on several processes of this machine.
SCRIPT = """
import sys, weft
from concurrent.futures import ProcessPoolExecutor
if __name__ == "__main__":
    with ProcessPoolExecutor(2) as pool:
        weft.load(sys.argv[1], overrides={"measure.window": sys.argv[3]}).run(sys.argv[2], executor=pool)
"""


def wait(reached: Any) -> None:
    until = time.monotonic() + PATIENCE
    while not reached():
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_an_executor_gives_the_results_of_a_local_run(small: Path, tmp_path: Path, kind: type[Executor]) -> None:
    statuses: list[Status] = []
    with kind(2) as executor:  # type: ignore[call-arg]
        results = weft.load(small).run(tmp_path / "out", executor=executor, watch=statuses.append)
        check_same(results, weft.load(small).run(tmp_path / "reference"))
        assert (statuses[0].done, statuses[-1].done, statuses[-1].total) == (0, 12, 12)
        before = finished(tmp_path / "out")
        weft.load(small).run(tmp_path / "out", executor=executor)
        assert finished(tmp_path / "out") == before
        weft.load(small).run(tmp_path / "out", executor=executor, force=True)
    assert not set(before.items()) & set(finished(tmp_path / "out").items())
    assert not (tmp_path / "out" / "jobs").exists()
    assert not list((tmp_path / "out" / ".claims").iterdir())


def test_a_search_on_an_executor_finds_what_a_local_one_finds(small: Path, tmp_path: Path) -> None:
    sweep = weft.load(small, overrides={"traffic.pattern": "tornado"})
    with ProcessPoolExecutor(2) as executor:
        found = sweep.saturation(tmp_path / "out", tolerance=0.1, seeds=2, executor=executor)
        with pytest.raises(weft.WeftError, match="remove jobs"):
            sweep.saturation(tmp_path / "out", tolerance=0.1, executor=executor, jobs=2)
    assert found.equals(sweep.saturation(tmp_path / "here", tolerance=0.1, seeds=2))
    check_same(weft.open_results(tmp_path / "out"), weft.open_results(tmp_path / "here"))
    assert not (tmp_path / "out" / "jobs").exists()


def test_dask_gives_the_results_of_a_local_run(small: Path, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        results = weft.load(small).run(tmp_path / "out", executor=client.get_executor())
    check_same(results, weft.load(small).run(tmp_path / "reference"))


def test_scenarios_of_memory_travel_with_their_files(tmp_path: Path) -> None:
    numpy = pytest.importorskip("numpy")
    scenario = {
        "topology": {"hyperx": {"widths": [4], "terminals_per_router": 1}},
        "links": {"default": {"latency": "1cycle", "vcs": 2, "buffer": "8flits"}},
        "routing": "minimal",
        "traffic": {"load": 0.1},
        "measure": {"warmup": "100cycles", "window": "100cycles"},
    }
    matrix = numpy.ones((4, 4)) - numpy.eye(4)
    with ProcessPoolExecutor(1) as executor:
        results = weft.load(scenario, matrix=matrix).run(tmp_path / "out", executor=executor)
    check_same(results, weft.load(scenario, matrix=matrix).run(tmp_path / "reference"))


def test_what_is_no_executor_is_refused(small: Path, tmp_path: Path) -> None:
    with pytest.raises(weft.WeftError, match="get_executor"):
        weft.load(small).run(tmp_path / "out", executor=4)  # type: ignore[arg-type]
    with ThreadPoolExecutor(1) as executor, pytest.raises(weft.WeftError, match="remove jobs"):
        weft.load(small).run(tmp_path / "out", executor=executor, jobs=2)
    with pytest.raises(weft.WeftError, match="the executor failed: RuntimeError: cannot schedule"):
        weft.load(small).run(tmp_path / "out", executor=executor)
    assert not (tmp_path / "out" / "jobs").exists()


def test_a_worker_that_does_not_see_the_folder_says_so(small: Path, tmp_path: Path) -> None:
    class Elsewhere(ThreadPoolExecutor):
        def submit(self, task: Any, order: Order, *rest: Any) -> Any:  # type: ignore[override]
            return super().submit(task, Order(str(tmp_path / "elsewhere"), order.id), *rest)

    with (
        Elsewhere(1) as executor,
        pytest.raises(weft.WeftError, match=r"does not see the folder .*elsewhere") as raised,
    ):
        weft.load(small).run(tmp_path / "out", executor=executor)
    assert "that all machines see" in raised.value.help


def test_a_worker_that_dies_is_reported_and_finished_points_stay(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with ProcessPoolExecutor(1) as executor:
        pid = executor.submit(os.getpid).result()

        def kill() -> None:
            wait(lambda: len(finished(out)) >= 2)
            os.kill(pid, signal.SIGKILL)

        thread = threading.Thread(target=kill)
        thread.start()
        with pytest.raises(weft.WeftError, match="the executor failed: BrokenProcessPool"):
            weft.load(small, overrides=SLOW).run(out, executor=executor)
        thread.join()
    kept = finished(out)
    assert 2 <= len(kept) < 12
    with ProcessPoolExecutor(1) as executor:
        weft.load(small, overrides=SLOW).run(out, executor=executor)
    assert kept.items() <= finished(out).items()
    assert run_twice(out) == []


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_run_keeps_what_is_finished(small: Path, tmp_path: Path, how: signal.Signals) -> None:
    """An interrupted run keeps its finished points.

    Ctrl-C also ends the workers. If the run is killed, its workers first finish their points.
    """
    out, script = tmp_path / "out", tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    command = [sys.executable, str(script), str(small), str(out), "60000cycles"]
    environment = os.environ | {"PYTHONPATH": str(Path(weft.__file__).parent.parent)}
    with subprocess.Popen(
        command, stderr=subprocess.DEVNULL, text=True, env=environment, start_new_session=True
    ) as process:
        wait_until(process, lambda: len(finished(out)) >= 2)
        process.send_signal(how)
        process.wait(PATIENCE)
    kept = finished(out)
    assert 2 <= len(kept) < 12
    assert all(Store(out).sound(point) for point in kept)
    if how == signal.SIGINT:
        assert not (out / "jobs").exists()
    weft.load(small, overrides=SLOW).run(out, executor=(pool := ThreadPoolExecutor(2)))
    pool.shutdown()
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # the processes of a killed pool would wait forever
    assert kept.items() <= finished(out).items()
    assert not (out / "jobs").exists(), "what a killed run has left is removed"


def test_weft_cancel_ends_workers(small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"

    def cancel() -> None:
        wait(lambda: len(finished(out)) >= 1)
        assert arrays.cancel(out).others == 1

    (thread := threading.Thread(target=cancel)).start()
    with ThreadPoolExecutor(1) as executor, pytest.raises(weft.WeftError, match="the run was cancelled"):
        weft.load(small, overrides={"measure.window": "200000cycles"}).run(out, executor=executor)
    thread.join()
    assert main(["cancel", str(out)]) == 0
    assert "nothing to cancel" in capsys.readouterr().out


def order_of(small: Path, root: Path) -> tuple[Order, list[str]]:
    sweep = weft.load(small)
    Store(root).write_manifest(sweep.named, sweep.points)
    (order := Order(str(root), "one")).write(sweep.scenario, [sweep.sets])
    return order, [point.hash for point in sweep.points]


def test_a_withdrawn_order_begins_no_further_point(small: Path, tmp_path: Path) -> None:
    """After the order of a worker is withdrawn, no further point begins, even if points are shorter than the time
    between two checks of the order."""
    sweep = weft.load(small)
    order = Order(str(tmp_path), "gone")
    order.write(sweep.scenario, [()], "nobody")
    hashes = [point.hash for point in sweep.points]
    assert order.points(hashes)  # this process now knows the points
    order.remove()
    done = worker.work(order, hashes)
    assert (done.withdrawn, done.ran) == (True, [])


def test_two_workers_share_points(small: Path, tmp_path: Path) -> None:
    order, points = order_of(small, tmp_path)
    done = [worker.Done(), worker.Done()]
    threads = [threading.Thread(target=worker.work, args=(order, points), kwargs={"done": each}) for each in done]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done[0].ran + done[1].ran) == sorted(points)
    assert run_twice(tmp_path) == []


def test_a_claim_of_a_dead_run_is_overruled_by_one_only(tmp_path: Path) -> None:
    store = Store(tmp_path)
    claims = []
    for number in range(8):
        (beacon := Beacon(store))(LOOK)
        claims.append(Claims(tmp_path, beacon.name, f"job {number}"))
    draw = random.Random(5)
    for number in range(50):
        point = f"{number:016x}"
        assert Claims(tmp_path, ".running.dead.json").take(point), "a run that died with the claim"
        with ThreadPoolExecutor(len(claims)) as pool:
            futures = [pool.submit(claim.take, point) for claim in draw.sample(claims, len(claims))]
        assert sorted(future.result() for future in futures) == [False] * 7 + [True]


def test_a_job_that_was_begun_twice_leaves_points_to_its_living_run(tmp_path: Path) -> None:
    """If Slurm's controller is killed before it records that a job has begun, Slurm starts the job a second time."""
    names = []
    for _ in range(2):
        (beacon := Beacon(Store(tmp_path)))(LOOK)
        names.append(beacon.name)
    assert Claims(tmp_path, names[0], "7_1").take("abc")
    assert not Claims(tmp_path, names[1], "7_1").take("abc")
    (tmp_path / names[0]).unlink()
    assert Claims(tmp_path, names[1], "7_1").take("abc")


def test_a_point_that_two_runs_have_run_is_reported(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run on another machine that has shown no sign of life for a long time counts as dead, so another run takes its
    points.

    If the first run was alive after all, it records that a second run took its point.
    """
    order, points = order_of(small, tmp_path)
    (silent := Beacon(Store(tmp_path)))(LOOK)
    path = tmp_path / silent.name
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | {"host": "elsewhere"}), encoding="utf-8")
    claims = Claims(tmp_path, silent.name)
    assert claims.take(points[0])
    assert worker.work(order, points[:1], patience_seconds=0).left == points[:1]
    os.utime(path, (time.time() - 100, time.time() - 100))
    assert worker.work(order, points[:1]).ran == points[:1]
    claims.finished(points[0], same=True)
    (note,) = run_twice(tmp_path)
    assert (note["hash"], note["same"]) == (points[0], True)
    assert len(status_of(tmp_path, capsys)["run_twice"]) == 1
    main(["status", str(tmp_path)])
    assert "1 points were run twice" in capsys.readouterr().out


def test_another_version_on_a_worker_is_refused(small: Path, tmp_path: Path) -> None:
    order, points = order_of(small, tmp_path)
    path = order.folder / "order.json"
    said = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(said | {"result_model": -1}), encoding="utf-8")
    with pytest.raises(weft.WeftError, match="another version of Weft"):
        order.points(points)
    path.write_text(json.dumps(said), encoding="utf-8")
    orders._expanded.cache_clear()
    with pytest.raises(weft.ResultsError, match="has no point"):
        order.points(["0" * 16])
