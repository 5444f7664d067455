"""Tests that a killed run continues from its last checkpoint, and that its results equal those without a kill."""

from __future__ import annotations

import json
import random
import signal
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest

import weft
from copies import Copy
from test_resume import PATIENCE
from weft._engine import Control
from weft.cli import main
from weft.errors import ScenarioError
from weft.results.store import Store, replaced
from weft.runs import checkpoints
from weft.runs.checkpoints import Checkpoints, CheckpointWarning, Every, build
from weft.runs.provenance import Clock
from weft.runs.sweep_status import status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

# 16 routers under a policy that switches links, with an automatic warm-up and with all recordings.
SCENARIO: dict[str, Any] = {
    "topology": {"hyperx": {"widths": [4, 4], "terminals_per_router": 2}},
    "links": {"default": {"latency": "10cycles", "vcs": 6, "buffer": "32flits"}},
    "routing": "pal",
    "traffic": {"pattern": "uniform", "packet": "4flits", "load": 0.2},
    "power": {
        "policy": {"tcep": {"activation_epoch": "200cycles", "deactivation_epoch": "1000cycles", "wake": "50ns"}}
    },
    "measure": {
        "window": "60000cycles",
        "series": {"every": "100cycles"},
        "link_states": {},
        "control_packets": {},
        "transient": {"bin": "100cycles"},
        "flows": {"classes": [{"name": "hot", "to": [0, 5]}, {"name": "cold"}]},
        "occupancy": {"every": "200cycles"},
    },
}
CODE = "import sys, weft.cli; sys.exit(weft.cli.main(sys.argv[1:]))"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "long.yaml"
    path.write_text(json.dumps(SCENARIO), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Run the point without interruption, and return its files."""
    out = tmp_path_factory.mktemp("reference")
    weft.load(SCENARIO).run(out)
    return files(out)


def files(out: Path) -> dict[str, bytes]:
    """Return the contents of those files of finished points that depend only on the scenario."""
    found = out.glob("points/[!.]*/*")
    return {path.name: path.read_bytes() for path in found if path.name != "run.json"}


def start(file: Path, out: Path, *more: str) -> Copy:
    return Copy(CODE, "run", str(file), "--out", str(out), "--no-picture", *more)


def checkpoint(out: Path) -> Path | None:
    return next(out.glob("checkpoints/[!.]*"), None)


def wait_until(process: Copy, reached: Callable[[], object]) -> None:
    until = time.monotonic() + PATIENCE
    while not reached():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < until
        time.sleep(0.002)


def stop_in_the_middle(file: Path, out: Path, how: signal.Signals, *more: str) -> str:
    """Start a run, send it a signal as soon as it has a checkpoint, and return its output."""
    with start(file, out, "--checkpoint-every", "2000cycles", *more) as process:
        wait_until(process, lambda: checkpoint(out))
        process.send_signal(how)
        shown, _ = process.communicate(timeout=PATIENCE)
    assert not files(out), "the signal came too late to test anything"
    return shown


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_run_that_ends_early_goes_on_from_its_checkpoint(
    file: Path, tmp_path: Path, reference: dict[str, bytes], how: signal.Signals, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    shown = stop_in_the_middle(file, out, how, "--blocks", "3")
    assert "Traceback" not in shown
    [kept] = status(out).checkpoints
    assert kept["cycle"] >= 2000
    assert main(["status", str(out)]) == 0
    said = capfd.readouterr().out
    assert f"at cycle {kept['cycle']:,} after" in said
    assert "--checkpoint-every 2000cycles" in said, "the command that goes on writes checkpoints, too"
    # the second run continues with another number of threads, and writes no further checkpoints
    assert main(["run", str(file), "--out", str(out), "--no-picture", "--threads", "2"]) == 0
    assert "warning" not in capfd.readouterr().err
    assert files(out) == reference
    assert checkpoint(out) is None
    assert not (out / "checkpoints").exists()
    [run] = out.glob("points/*/run.json")
    provenance = json.loads(run.read_bytes())
    assert provenance["resumed"] == 1
    assert provenance["blocks"] == 3, "the blocks are those of the checkpoint"
    assert provenance["seconds"] >= kept["seconds"]


@pytest.mark.long
def test_a_run_that_is_killed_again_and_again_comes_to_its_end(
    file: Path, tmp_path: Path, reference: dict[str, bytes]
) -> None:
    """The test kills runs at random times, also while they write checkpoints, but not before they make progress."""
    out, draw, kills = tmp_path / "out", random.Random(3), 0
    while not files(out) and kills < 200:
        threads, before = str(draw.choice([1, 2])), status_of(out)
        with start(file, out, "--checkpoint-every", "1000cycles", "--threads", threads) as process:
            while process.poll() is None and status_of(out) in (0, before):
                time.sleep(0.002)
            time.sleep(draw.uniform(0, 0.03))
            process.kill()
        kills += 1
    weft.load(SCENARIO).run(out)  # run the remaining part, if the last run was killed after writing its results
    assert kills > 10
    assert files(out) == reference
    assert not list(out.rglob(".*.part"))


def status_of(out: Path) -> int:
    """Return the cycle of the last checkpoint; 0 without a checkpoint."""
    path = checkpoint(out)
    try:
        return int(json.loads(path.read_bytes().split(b"\n", 1)[0])["cycle"]) if path else 0
    except OSError:  # the checkpoint was removed in the meantime
        return 0


def interrupted(out: Path) -> Path:
    """Interrupt a run in the middle, and return its folder, which contains a checkpoint."""

    def after(_: weft.Status) -> None:
        if checkpoint(out):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        weft.load(SCENARIO).run(out, checkpoint_every="3000cycles", watch=after)
    path = checkpoint(out)
    assert path is not None
    return path


def test_a_damaged_checkpoint_is_named_and_the_point_starts_again(tmp_path: Path, reference: dict[str, bytes]) -> None:
    out, draw = tmp_path / "out", random.Random(5)
    path = interrupted(out)
    whole = path.read_bytes()
    line = whole.index(b"\n")
    damaged = [b"", b"\n", b"{}", b"[" * 5000, b"\xff" * 100, whole[: line + 1], whole[:-1], whole + b"\0"]
    for _ in range(40):
        place = draw.randrange(len(whole))
        damaged.append(whole[:place] + bytes([whole[place] ^ 1 << draw.randrange(8)]) + whole[place + 1 :])
        damaged.append(whole[: draw.randrange(len(whole))])
    [point] = weft.load(SCENARIO).points
    loaded = Checkpoints(Store(out))._load(point.hash)
    assert loaded is not None
    assert loaded[1] == [whole[line + 1 : -32]]
    for bad in damaged:
        path.write_bytes(bad)
        with pytest.warns(CheckpointWarning, match="is damaged: the point starts from the beginning"):
            assert Checkpoints(Store(out))._load(point.hash) is None
    with pytest.warns(CheckpointWarning, match="is damaged"):
        weft.load(SCENARIO).run(out)
    assert files(out) == reference
    assert not path.exists()


def test_the_checkpoint_of_another_build_stays_until_the_point_has_finished(
    tmp_path: Path, reference: dict[str, bytes]
) -> None:
    out = tmp_path / "out"
    path = interrupted(out)
    other = path.rename(path.with_name(path.name.replace(build(), "0123456789ab")))
    assert status(out).checkpoints == []

    def look(shown: weft.Status) -> None:
        assert other.exists() or shown.done == shown.total

    with pytest.warns(CheckpointWarning, match="written by another build of Weft"):
        weft.load(SCENARIO).run(out, watch=look)
    assert files(out) == reference
    assert not other.exists()


def test_a_state_that_the_engine_can_not_read_starts_again(tmp_path: Path, reference: dict[str, bytes]) -> None:
    out = tmp_path / "out"
    path = interrupted(out)
    half = path.read_bytes()[: path.stat().st_size // 2]
    path.write_bytes(half + sha256(half).digest())
    with pytest.warns(CheckpointWarning, match="starts from the beginning"):
        weft.load(SCENARIO).run(out)
    assert files(out) == reference


def test_other_points_of_the_sweep_do_not_take_the_checkpoint(tmp_path: Path) -> None:
    out = tmp_path / "out"
    path = interrupted(out)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weft.load(SCENARIO, overrides={"measure.window": "2000cycles"}).run(tmp_path / "other")
    [point] = weft.load(SCENARIO, overrides={"measure.window": "2000cycles"}).points
    renamed = path.rename(path.with_name(f"{point.hash}-{build()}.checkpoint"))
    with pytest.warns(CheckpointWarning, match="is damaged"):
        assert Checkpoints(Store(out))._load(point.hash) is None
    assert renamed.exists()


def test_workers_of_an_executor_go_on_from_checkpoints(tmp_path: Path, reference: dict[str, bytes]) -> None:
    out = tmp_path / "out"
    interrupted(out)
    with ThreadPoolExecutor(1) as executor:
        weft.load(SCENARIO).run(out, checkpoint_every="20000cycles", executor=executor)
    assert files(out) == reference
    assert checkpoint(out) is None
    [run] = out.glob("points/*/run.json")
    assert json.loads(run.read_bytes())["resumed"] == 1


def test_a_checkpoint_that_can_not_be_written_ends_no_run(tmp_path: Path, reference: dict[str, bytes]) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "checkpoints").write_text("in the way", encoding="utf-8")
    with pytest.warns(CheckpointWarning, match="no checkpoint: .* the run continues"):
        weft.load(SCENARIO).run(out, checkpoint_every="20000cycles")
    assert files(out) == reference


def test_a_checkpoint_that_is_asked_for_is_made_once() -> None:
    kept: list[bytes] = []
    [point] = weft.load(SCENARIO).points
    control = Control(kept.append)
    control.checkpoint()
    point.run(1, 0, control)
    assert len(kept) == 1
    again = point.resume(1, Control(), kept.pop)
    assert again.summary == point.run(1, 0, Control()).summary


def test_a_run_that_goes_on_holds_its_checkpoint_no_longer() -> None:
    kept: list[bytes] = []
    gone: list[bool] = []
    seen: list[bool] = []

    class Watched(bytes):
        def __del__(self) -> None:
            gone.append(True)

    [point] = weft.load(SCENARIO).points
    control = Control(kept.append)
    control.checkpoint()
    point.run(1, 0, control)
    state = [Watched(kept.pop())]
    point.resume(1, Control(lambda _: seen.append(bool(gone)), 1000), state.pop)
    assert seen[0], "when the run made its next checkpoint"


def test_a_folder_that_another_point_removes_costs_no_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Path] = []

    @contextmanager
    def raced(path: Path) -> Iterator[Path]:
        with replaced(path) as partial:
            calls.append(path)
            if len(calls) == 1:
                Checkpoints(Store(tmp_path)).remove("b" * 16)
                assert not path.parent.exists()
            yield partial

    monkeypatch.setattr(checkpoints, "replaced", raced)
    mine = Checkpoints(Store(tmp_path))
    mine._write("a" * 16, b"state", 5, Clock(1, 0))
    loaded = mine._load("a" * 16)
    assert loaded is not None
    assert loaded[1] == [b"state"]
    assert len(calls) == 2


def test_times_and_cycles_are_read_and_all_else_is_refused(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    read = {"10min": 600.0, "90s": 90.0, "1.5h": 5400.0, "2d": 172800.0, " 3 min ": 180.0}
    assert {text: Every.of(text).seconds for text in read} == read
    assert Every.of("1000cycles") == Every(cycles=1000)
    for text in [
        "",
        "10",
        "min",
        "0s",
        "0.5s",
        "-1min",
        "1e3s",
        "10ms",
        "0cycles",
        "1.5cycles",
        "9" * 30 + "cycles",
        "nan s",
    ]:
        with pytest.raises(ScenarioError, match=r"write a time such as 10min"):
            Every.of(text)
        with pytest.raises(SystemExit) as ended:
            main(["run", str(file), f"--checkpoint-every={text}"])
        assert ended.value.code == 2
        assert "10min" in capfd.readouterr().err
    with pytest.raises(ScenarioError, match="is not an interval of checkpoints"):
        weft.load(SCENARIO).run(checkpoint_every=10)  # type: ignore[arg-type]
