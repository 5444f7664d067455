"""Tests SQL queries on results, and the export of tables to files."""

from __future__ import annotations

import csv
import io
import json
import shutil
from typing import TYPE_CHECKING

import polars as pl
import pytest

import weft
from weft._engine import RECORDS
from weft.cli import main
from weft.results.database import Database

if TYPE_CHECKING:
    from pathlib import Path

    from weft.api.results import Results

KEPT = {"measure.series": "{every: 100cycles, of: channel}", "measure.transient": "{bin: 100cycles}"}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Run a sweep with all recordings, in a folder whose name looks like a file pattern."""
    root = tmp_path_factory.mktemp("kept")
    scenario = {
        "topology": {"hyperx": {"widths": [4, 4], "terminals_per_router": 4}},
        "traffic": {"pattern": "uniform", "load": 0.1},
        "measure": {"warmup": "500cycles", "window": "500cycles"},
        "sweep": {"traffic.load": [0.1, 0.3], "routing": ["dimension_order", {"ugal_p": {"threshold": "5flits"}}]},
    }
    return weft.load(scenario, overrides=KEPT).run(root / "it's [1] *")


def rows(database: Database, sql: str) -> list[tuple[object, ...]]:
    return list(database.rows(sql)[1])


def test_points_are_the_rows_of_the_frame(kept: Results) -> None:
    answer = kept.query("select * exclude (point) from points order by point")
    frame = kept.frame
    assert answer.columns == frame.columns
    known = [column for column in frame.columns if frame[column].dtype != pl.Null]
    assert answer.select(known).equals(frame.select(known))
    assert kept.query("select point from points")["point"].to_list() == [0, 1, 2, 3]


def test_channels_join_points(kept: Results) -> None:
    sql = """select point, "traffic.load", sum(flits) flits, max(utilisation) busiest from channels
             join points using (point) group by all order by point"""
    answer = kept.query(sql)
    for point in range(4):
        channels = kept.channels(point)
        row = answer.row(point, named=True)
        assert row["traffic.load"] == kept.frame["traffic.load"][point]
        assert (row["flits"], row["busiest"]) == (channels["flits"].sum(), channels["utilisation"].max())


@pytest.mark.parametrize("table", ["channels", "series", "transient", "latencies"])
def test_tables_of_a_point_are_its_files(kept: Results, table: str) -> None:
    of_point = getattr(kept, table)(2)
    answer = kept.query(f"select * exclude (point) from {table} where point = 2 order by all")
    assert answer.equals(of_point.sort(of_point.columns).select(answer.columns).cast(dict(answer.schema)))


def test_jobs_have_their_points(kept: Results) -> None:
    answer = kept.query("select point, job, accepted_load from jobs order by point")
    assert answer["point"].to_list() == [0, 1, 2, 3]
    assert answer["accepted_load"].to_list() == kept.jobs["accepted_load"].to_list()


def test_two_sets_have_a_column_of_their_own(kept: Results, small: Path, tmp_path: Path) -> None:
    other = weft.load(small, overrides={"traffic.load": 0.1}).run(tmp_path)
    with Database([kept, other]) as database:
        counts = rows(database, "select results, count(*) from points group by all order by 1")
        assert counts == sorted([(kept.name, 4), (other.name, 4)])
        assert rows(database, "select count(distinct results) from channels") == [(2,)]
        assert rows(database, "select count(distinct results) from series") == [(1,)], "only one of them has it"


def test_coordinates_without_quotes_are_reported(kept: Results, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", str(kept.root), "select traffic.load from points"]) == 2
    assert 'write "traffic.load", in double quotes' in capsys.readouterr().err


@pytest.mark.parametrize("sql", ["", "select ", "points", "no/such/folder"])
def test_one_word_is_no_query(kept: Results, sql: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", str(kept.root), sql]) == 2
    assert f"{sql!r} is neither a query nor a folder of results" in capsys.readouterr().err


def test_a_query_longer_than_a_file_name_is_a_query(kept: Results, capsys: pytest.CaptureFixture[str]) -> None:
    sql = f"select count(*) as points from points where load >= 0 {'and true ' * 1000}"
    assert main(["query", str(kept.root), sql, "--csv"]) == 0
    assert capsys.readouterr().out.split() == ["points", str(len(kept))]


def test_a_pivot_is_a_query(kept: Results) -> None:
    answer = kept.query('pivot points on "traffic.load" using max(accepted_load) group by routing')
    assert sorted(answer.columns) == ["0.1", "0.3", "routing"]
    assert answer.height == 2


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("select no_such from points", ['"no_such" not found', "tables: points, jobs", '"traffic.load"']),
        ("select traffic.load from points", ["points: point,", '"traffic.load"']),
        ("select * from nowhere", ["nowhere does not exist", "tables: points, jobs, latencies, channels"]),
        ("selec * from points", ["syntax error", "tables: points"]),
        ("select * from link_states", ["no point recorded link_states", "set measure.link_states={"]),
        ("drop table points", ["is not a single read-only query"]),
        ("copy points to 'x.csv'", ["is not a single read-only query"]),
        ("select 1; select 2", ["is not a single read-only query"]),
        ("-- nothing here", ["is not a single read-only query"]),
        ("select cast(routing as int) from points", ["can't run"]),
    ],
)
def test_a_wrong_query_is_refused_with_what_there_is(
    kept: Results, capsys: pytest.CaptureFixture[str], sql: str, words: list[str]
) -> None:
    assert main(["query", str(kept.root), sql]) == 2
    errors = capsys.readouterr().err
    assert all(word in errors for word in words), errors
    assert "pg_" not in errors
    assert "sqlite" not in errors


def test_without_a_query_tables_and_columns_are_listed(kept: Results, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", str(kept.root)]) == 0
    output = capsys.readouterr().out
    assert [line.partition(":")[0] for line in output.splitlines() if line[:1].isalpha() and ": " in line][:6] == [
        *("points", "jobs", "latencies", "channels", "transient", "series"),
    ]
    assert '"traffic.load" double' in " ".join(output.split())
    assert "link_states:" not in output, "no point has any"


def test_answers_as_table_csv_and_json(kept: Results, capsys: pytest.CaptureFixture[str]) -> None:
    sql = 'select routing, "traffic.load", accepted_load, saturated, name from points order by point'
    expected = kept.frame.select("routing", "traffic.load", "accepted_load", "saturated").rows()
    assert main(["query", str(kept.root), sql, "--csv"]) == 0
    read = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert read[0] == ["routing", "traffic.load", "accepted_load", "saturated", "name"]
    assert [(row[0], float(row[1]), float(row[2]), row[3] == "true") for row in read[1:]] == expected
    assert main(["query", str(kept.root), sql, "--json"]) == 0
    parsed = json.loads(capsys.readouterr().out)
    assert [tuple(row.values())[:4] for row in parsed] == expected
    assert main(["query", str(kept.root), sql]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == read[0]
    assert [float(line.rsplit(maxsplit=3)[1]) for line in lines[2:]] == pytest.approx(
        [row[2] for row in expected], rel=1e-5
    )


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_an_answer_becomes_a_file(kept: Results, tmp_path: Path, ending: str) -> None:
    out = tmp_path / "new folder" / f"answer.{ending}"
    assert main(["query", str(kept.root), "select point, accepted_load from points", "--out", str(out)]) == 0
    read: pl.DataFrame = getattr(pl, f"read_{ending}")(out)
    assert read["accepted_load"].to_list() == kept.frame["accepted_load"].to_list()


def test_export_refuses_a_table_that_does_not_exist(kept: Results, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(kept.root), "--table", "everything"]) == 2
    errors = capsys.readouterr().err
    assert "there is no table 'everything'" in errors
    files = ", ".join(name for name in RECORDS if name != "flows")  # `flows` is in the summary instead
    tables = f"points, jobs, flows, message_classes, phases, fault_episodes, latencies, channels, {files}, groups"
    assert f"the tables are {tables}" in errors


def test_export_writes_a_table(kept: Results, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "channels.csv"
    assert main(["export", str(kept.root), "--table", "channels", "--out", str(out)]) == 0
    read = pl.read_csv(out)
    assert read.height == sum(kept.channels(point).height for point in range(4))
    assert read.select("point", "channel").rows() == sorted(read.select("point", "channel").rows())
    capsys.readouterr()
    assert main(["export", str(kept.root)]) == 0
    exported = pl.read_csv(io.StringIO(capsys.readouterr().out))
    assert exported["accepted_load"].to_list() == kept.frame["accepted_load"].to_list()
    assert main(["export", str(kept.root), "--table", "link_states", "--out", str(out)]) == 2
    assert "measure.link_states" in capsys.readouterr().err
    assert main(["export", str(kept.root), "--out", str(tmp_path / "x.xlsx")]) == 2
    assert ".csv, .json, .parquet" in capsys.readouterr().err


def test_many_points_are_asked_at_once(kept: Results, tmp_path: Path) -> None:
    folder, listed = tmp_path / "many", []
    for number in range(500):
        key = f"{number:016x}"
        shutil.copytree(kept.folder(number % 4), folder / "points" / key)
        listed.append({"hash": key, "coordinates": {"number": number}})
    (folder / "sweep.json").write_text(json.dumps({"name": "many", "points": listed}), encoding="utf-8")
    answer = weft.open_results(folder).query(
        "select number, sum(flits) from channels join points using (point) group by all"
    )
    assert answer.height == 500


def test_ranks_and_collectives_of_a_program_are_tables(tmp_path: Path) -> None:
    scenario = tmp_path / "ring.yaml"
    scenario.write_text(
        "topology: {single_router: {terminals: 4}}\nrouting: dimension_order\nlinks: {default: {buffer: 64flits}}\n"
        "traffic: {packet: 4flits, workload: {programs: {"
        "program: {collective: {operation: all_reduce, ranks: 4, bytes: 1KiB}}, "
        "collectives: {algorithms: {all_reduce: {ring: {}}}}}}}\n"
    )
    results = weft.load(scenario).run(tmp_path / "ring", jobs=1)
    sent = results.query("select point, sum(sent_bytes) as bytes from ranks group by point")
    # each of 4 ranks sends a quarter of the vector (256 B) in each of 2 (4 - 1) steps
    assert sent.rows() == [(0, 4 * 6 * 256)]
    assert results.query("select operation, calls from collectives").rows() == [("all_reduce", 1)]
