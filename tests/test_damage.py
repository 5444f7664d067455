"""Files of results that are missing, cut off, changed or of another version: one clear error, the rest is usable."""

from __future__ import annotations

import random
import shutil
from typing import TYPE_CHECKING

import pytest

import weft
from weft import notes, table
from weft._engine import RESULT_MODEL_VERSION
from weft.cli import main
from weft.results import Results
from weft.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from weft.execute import Status
    from weft.sweep import Sweep

KEPT = {"measure.series": "{every: 250cycles, of: class}", "measure.transient": "{bin: 250cycles}"}


@pytest.fixture
def sweep(small: Path) -> Sweep:
    """Twelve points with everything kept."""
    return weft.load(small, set=KEPT)


@pytest.fixture
def whole(sweep: Sweep, tmp_path: Path) -> Results:
    return sweep.run(tmp_path / "whole")


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def older(path: Path) -> None:
    path.write_text(path.read_text().replace(f'"result_model": {RESULT_MODEL_VERSION}', '"result_model": 1'))


@pytest.mark.parametrize(
    "damage",
    [
        ("summary.json", cut, "summary.json is damaged"),
        ("summary.json", lambda path: path.write_bytes(b""), "summary.json is empty"),
        ("summary.json", lambda path: path.unlink(), "summary.json can't be read"),
        ("summary.json", lambda path: path.write_text("[1, 2]"), "summary.json is damaged: it holds no keys"),
        ("channels.parquet", cut, "channels.parquet was cut off"),
        ("channels.parquet", lambda path: path.unlink(), "channels.parquet is missing"),
        ("series.parquet", lambda path: path.unlink(), "series.parquet is missing"),
        ("scenario.yaml", cut, "scenario.yaml was cut off"),
        ("run.json", cut, "run.json is damaged"),
    ],
)
def test_a_damaged_point_is_named_and_left_out_and_run_again(
    sweep: Sweep, whole: Results, capsys: pytest.CaptureFixture[str], damage: tuple[str, Callable[[Path], object], str]
) -> None:
    before, (name, spoil, words) = whole.frame, damage
    spoil(whole.folder(3) / name)
    opened = weft.open(whole.root)
    assert (len(opened), opened.missing) == (11, 0)
    ((key, coordinates, reason),) = opened.damaged
    assert (key, coordinates) == (whole.points[3]["hash"], whole.points[3]["coordinates"])
    assert words in reason
    assert opened.frame.equals(before.filter(before["hash"] != key))
    assert any(words in line for line in notes.lines(opened))
    assert main(["query", str(whole.root), "select count(*) from channels join points using (point)"]) == 0
    told = capsys.readouterr()
    assert words in told.err
    assert int(told.out.split()[-1]) == 11 * whole.channels(0).height

    statuses: list[Status] = []
    again = sweep.run(whole.root, watch=statuses.append)
    assert statuses[0].reused == 11
    assert again.frame.equals(before)
    assert not again.damaged


def test_a_changed_number_is_noticed(whole: Results) -> None:
    path = whole.folder(0) / "summary.json"
    path.write_text(path.read_text().replace('"accepted_load": 0.0', '"accepted_load": 0.1'))
    assert "its checksum differs" in weft.open(whole.root).damaged[0].reason


def test_results_of_another_version_are_told(small: Path, whole: Results, capsys: pytest.CaptureFixture[str]) -> None:
    for point in range(12):
        older(whole.folder(point) / "summary.json")
    with pytest.raises(weft.ResultsError, match=f"result model 1, but this Weft reads {RESULT_MODEL_VERSION}") as told:
        weft.open(whole.root)
    assert f"weft run {small} --set" in told.value.help
    assert main(["status", str(whole.root)]) == 0
    assert "12 damaged" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ('{"name": "x", "poi', "is damaged"),
        ('{"name": "x"}', "lists no points"),
        ('{"name": "x", "points": [{"hash": "../..", "coordinates": {}}]}', "lists no points"),
        ('{"name": "x", "points": [3]}', "lists no points"),
    ],
)
def test_a_damaged_list_of_points_is_told_and_mended(sweep: Sweep, whole: Results, text: str, words: str) -> None:
    (whole.root / "sweep.json").write_text(text)
    with pytest.raises(weft.ResultsError, match=words) as told:
        weft.open(whole.root)
    assert "finished points stay" in told.value.help
    statuses: list[Status] = []
    assert sweep.run(whole.root, watch=statuses.append).frame.equals(whole.frame)
    assert statuses[0].reused == 12


def test_points_whose_folders_are_gone_are_missing(whole: Results, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(whole.root / "points")
    opened = weft.open(whole.root)
    assert (len(opened), opened.missing, opened.damaged) == (0, 12, [])
    with pytest.raises(weft.ResultsError, match="none is finished"):
        opened.channels(0)
    assert main(["query", str(whole.root), "select * from points"]) == 2
    assert "no finished point" in capsys.readouterr().err


def test_a_table_that_is_damaged_inside_is_told(whole: Results) -> None:
    """Same size, other bytes: found when it is read."""
    path = whole.folder(0) / "channels.parquet"
    path.write_bytes(b"\0" * path.stat().st_size)
    opened = weft.open(whole.root)
    with pytest.raises(weft.ResultsError, match=r"channels.parquet can't be read") as told:
        opened.channels(0)
    assert str(path.parent) in told.value.help
    with pytest.raises(weft.ResultsError, match=r"channels.parquet"):
        opened.query("select sum(flits) from channels")


def use_all(root: Path) -> None:
    """Read whatever results offer."""
    results = Results(Store(root))
    _ = (results.frame, results.jobs, results.stalls, results.command, results.coordinates)
    for point in range(len(results)):
        for read in (results.channels, results.series, results.transient, results.latencies):
            try:
                read(point)
            except weft.ResultsError:
                continue
        try:
            results.scenario(point)
            results.run_info(point)
        except weft.ResultsError:
            continue
    table.loads(results)
    table.jobs(results)
    notes.lines(results)
    for name in ("points", "channels", "series"):
        results.query(f"select * from {name}")


@pytest.mark.parametrize("seed", range(30))
def test_no_damage_gives_anything_but_an_error_of_weft(sweep: Sweep, tmp_path: Path, seed: int, copies: Path) -> None:
    """A random file is cut off, emptied, overwritten in places or removed."""
    draw = random.Random(seed)
    root = tmp_path / "copy"
    shutil.copytree(copies, root)
    files = sorted(path for path in root.rglob("*") if path.is_file())
    path = root / "sweep.json" if seed % 5 == 0 else draw.choice(files)
    text = bytearray(path.read_bytes())
    match draw.randrange(4):
        case 0:
            path.write_bytes(text[: draw.randrange(len(text))])
        case 1:
            for _ in range(draw.randint(1, 8)):
                text[draw.randrange(len(text))] = draw.randrange(256)
            path.write_bytes(text)
        case 2:
            at = draw.randrange(len(text))
            path.write_bytes(text[:at] + bytes(len(text) - at))
        case _:
            path.unlink()
    try:
        use_all(root)
    except weft.WeftError as problem:
        told = problem.help
    else:
        told = "nothing to mend"
    assert told
    main(["status", str(root)])
    assert len(sweep.run(root)) == 12


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of results to copy from."""
    from conftest import SMALL

    root = tmp_path_factory.mktemp("copies")
    (root / "small.yaml").write_text(SMALL, encoding="utf-8")
    return weft.load(root / "small.yaml", set=KEPT).run(root / "out").root
