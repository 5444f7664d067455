"""Tests damaged results: a file that is missing, cut off, changed or of another version causes one clear error."""

from __future__ import annotations

import json
import random
import shutil
from typing import TYPE_CHECKING

import pytest

import weft
from weft._engine import RESULT_MODEL_VERSION
from weft.api.results import Results
from weft.cli import main
from weft.report.data import facts
from weft.report.sources import Sources
from weft.results import notes, tables
from weft.results.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from weft.api.sweep import Sweep
    from weft.runs.execute import Status

KEPT = {"measure.series": "{every: 250cycles, of: class}", "measure.transient": "{bin: 250cycles}"}


@pytest.fixture
def sweep(small: Path) -> Sweep:
    """Return a sweep of twelve points with all recordings."""
    return weft.load(small, overrides=KEPT)


@pytest.fixture
def whole(sweep: Sweep, tmp_path: Path, copies: Path) -> Results:
    """Return results of the sweep.

    The results are a copy of one run that all tests share, so the sweep does not run its points again.
    """
    shutil.copytree(copies, tmp_path / "whole")
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
        ("summary.json", lambda path: path.write_text("[1, 2]"), "summary.json is damaged: it has no keys"),
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
    opened = weft.open_results(whole.root)
    assert (len(opened), opened.missing) == (11, 0)
    ((key, coordinates, reason),) = opened.damaged
    assert (key, coordinates) == (whole.points[3]["hash"], whole.points[3]["coordinates"])
    assert words in reason
    assert opened.frame.equals(before.filter(before["hash"] != key))
    assert any(words in line for line in notes.lines(opened))
    assert main(["query", str(whole.root), "select count(*) from channels join points using (point)"]) == 0
    printed = capsys.readouterr()
    assert words in printed.err
    assert int(printed.out.split()[-1]) == 11 * whole.channels(0).height

    statuses: list[Status] = []
    again = sweep.run(whole.root, watch=statuses.append)
    assert statuses[0].reused == 11
    assert again.frame.equals(before)
    assert not again.damaged


def test_a_changed_number_is_noticed(whole: Results) -> None:
    path = whole.folder(0) / "summary.json"
    path.write_text(path.read_text().replace('"accepted_load": 0.0', '"accepted_load": 0.1'))
    assert "its checksum differs" in weft.open_results(whole.root).damaged[0].reason


def test_results_of_another_version_are_reported(
    small: Path, whole: Results, capsys: pytest.CaptureFixture[str]
) -> None:
    for point in range(12):
        older(whole.folder(point) / "summary.json")
    with pytest.raises(
        weft.ResultsError, match=f"result model 1, but this Weft reads {RESULT_MODEL_VERSION}"
    ) as raised:
        weft.open_results(whole.root)
    assert f"weft run {small} --set" in raised.value.help
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
        ('{"name": "x", "points": [], "title": 7}', "its title is not text or its command is not a list"),
        ('{"name": "x", "points": [], "command": 5}', "its title is not text or its command is not a list"),
    ],
)
def test_a_damaged_list_of_points_is_reported_and_mended(sweep: Sweep, whole: Results, text: str, words: str) -> None:
    (whole.root / "sweep.json").write_text(text)
    with pytest.raises(weft.ResultsError, match=words) as raised:
        weft.open_results(whole.root)
    assert "finished points stay" in raised.value.help
    statuses: list[Status] = []
    assert sweep.run(whole.root, watch=statuses.append).frame.equals(whole.frame)
    assert statuses[0].reused == 12


def test_points_whose_folders_are_gone_are_missing(whole: Results, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(whole.root / "points")
    opened = weft.open_results(whole.root)
    assert (len(opened), opened.missing, opened.damaged) == (0, 12, [])
    with pytest.raises(weft.ResultsError, match="no point is finished"):
        opened.channels(0)
    assert main(["query", str(whole.root), "select * from points"]) == 2
    assert "no finished point" in capsys.readouterr().err


def test_a_table_that_is_damaged_inside_is_reported_and_left_out(
    sweep: Sweep, whole: Results, capsys: pytest.CaptureFixture[str]
) -> None:
    """A byte of a table is changed, so that the file has the same size.

    Weft detects the damage when it reads the file, omits the point from queries, and runs the point again.
    """
    sql = "select * from channels order by all"
    before = whole.query("select * from channels where point <> 3 order by all")
    path = whole.folder(3) / "channels.parquet"
    text = bytearray(path.read_bytes())
    text[len(text) // 2] ^= 1
    path.write_bytes(text)
    opened = weft.open_results(whole.root)
    with pytest.raises(weft.ResultsError, match=r"channels.parquet was changed: its checksum differs"):
        opened.channels(3)
    with pytest.warns(UserWarning, match=r"omitted: .*channels.parquet was changed"):
        assert opened.query(sql).equals(before)
    for words in (["query", str(whole.root), sql], ["export", str(whole.root), "--table", "channels"]):
        assert main(words) == 0
        assert capsys.readouterr().err.count("warning: omitted: ") == 1
    statuses: list[Status] = []
    again = sweep.run(whole.root, watch=statuses.append)
    assert statuses[0].reused == 11
    assert again.query("select * from channels where point <> 3 order by all").equals(before)
    assert again.channels(3).height == whole.channels(0).height


def test_where_all_files_of_a_table_are_damaged_the_first_is_reported(whole: Results) -> None:
    for point in range(len(whole)):
        path = whole.folder(point) / "channels.parquet"
        path.write_bytes(b"\0" * path.stat().st_size)
    with pytest.raises(weft.ResultsError, match=r"channels.parquet was changed"):
        whole.query("select sum(flits) from channels")


def test_a_scenario_without_keys_is_reported(whole: Results, tmp_path: Path) -> None:
    """A scenario file has the same size but other contents, and no checksum, as in results of older versions."""
    path = whole.folder(0) / "scenario.yaml"
    path.write_text("{}".ljust(path.stat().st_size))
    run = path.with_name("run.json")
    run.write_text(json.dumps(json.loads(run.read_text()) | {"file_crc32": None}))
    opened = weft.open_results(whole.root)
    with pytest.raises(weft.ResultsError, match=r"scenario.yaml can't be read: the file has no topology, links"):
        opened.scenario(0)
    assert main(["report", str(whole.root), "--out", str(tmp_path / "page.html")]) == 0


def test_a_summary_that_does_not_say_how_it_ended_is_damaged(whole: Results) -> None:
    path = whole.folder(0) / "summary.json"
    path.write_text(json.dumps({"result_model": RESULT_MODEL_VERSION}))
    path.with_name("run.json").unlink()
    (damaged,) = weft.open_results(whole.root).damaged
    assert "does not have the ending of the run" in damaged.reason


def test_run_json_without_keys_is_coped_with(whole: Results) -> None:
    kept = facts(Sources([whole]))["provenance"]
    assert {"machine", "system", "threads", "started", "computed in", "speed"} <= {name for name, _ in kept}
    for point in range(len(whole)):
        (whole.folder(point) / "run.json").write_text("{}")
    shown = facts(Sources([weft.open_results(whole.root)]))["provenance"]
    assert [name for name, _ in shown] == ["Weft", "result model", "seed", "command"]
    (whole.folder(0) / "run.json").write_text('{"machine": {"cpu": "Abacus"}, "seconds": 2}')
    shown = facts(Sources([weft.open_results(whole.root)]))["provenance"]
    assert shown[4:] == [("machine", "Abacus"), ("computed in", "2 s in total, the longest point 2 s")]


def test_a_report_counts_and_names_damaged_points(
    whole: Results, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cut(whole.folder(3) / "channels.parquet")
    assert main(["report", str(whole.root), "--out", str(tmp_path / "page.html")]) == 0
    assert "warning: 1 damaged point is left out" in capsys.readouterr().err
    first = facts(Sources([weft.open_results(whole.root)]))["sentences"][0]
    assert first == "12 points: 1 is saturated, 1 is damaged."


def use_all(root: Path) -> None:
    """Call all functions that read results. A damaged file may raise only errors of Weft."""
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
    tables.loads(results)
    tables.jobs(results)
    notes.lines(results)
    for name in ("points", "channels", "series"):
        results.query(f"select * from {name}")


@pytest.mark.filterwarnings("ignore:omitted")
@pytest.mark.parametrize("seed", range(30))
def test_no_damage_gives_anything_but_an_error_of_weft(sweep: Sweep, tmp_path: Path, seed: int, copies: Path) -> None:
    """If a random file of the results is cut off, emptied, overwritten in part or removed, Weft raises only its own
    errors."""
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
        shown = problem.help
    else:
        shown = "nothing to mend"
    assert shown
    main(["status", str(root)])
    assert len(sweep.run(root)) == 12


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the sweep once, and return the folder of its results, which the tests copy."""
    from conftest import SMALL

    root = tmp_path_factory.mktemp("copies")
    (root / "small.yaml").write_text(SMALL, encoding="utf-8")
    return weft.load(root / "small.yaml", overrides=KEPT).run(root / "out").root
