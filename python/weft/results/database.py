"""Runs SQL queries on the results of sweeps. DuckDB reads the Parquet files of the points directly."""

from __future__ import annotations

import re
import textwrap
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Self

import duckdb
import polars as pl

from weft.errors import ResultsError
from weft.results import of_sweep
from weft.results.choose import names
from weft.results.result_set import ASKING, ResultSet
from weft.results.rows import frame_of
from weft.results.store import replaced
from weft.text import engine_words
from weft.text.columns import WIDTH
from weft.text.meant import meant

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType

_POINT, _SET = "point", "results"
SUMMARIES = {
    "points": "a row per point: coordinates of the sweep, and measured numbers",
    "jobs": "a row per point and job",
    "flows": "a row per point and class of flows, if `measure.flows` defines classes",
    "message_classes": "a row per point and message class (`classes`)",
    "phases": "a row per point and phase, if the load changes in phases",
    "fault_episodes": "a row per point and period with failed links or routers",
    "latencies": "histograms of packet latency",
}
_FILES = (
    {"channels": "a row per point and channel: flits, cycles per power state, energy"}
    | {name: meaning for name, meaning in engine_words.RECORD_MEANINGS.items() if name not in SUMMARIES}
    | {"groups": "a row per point and group (`power.groups`): flits, cycles asleep, energy"}
    | {
        "ranks": "a row per point and rank of a program: computation, waits, messages",
        "collectives": "a row per point and collective of a program: bytes, times, bandwidths",
        "schedule": "a row per point and program of a queue: when and where it ran",
        "utilisation": "programs that ran and waited over time, at points with a queue of programs",
    }
)
TABLES = SUMMARIES | _FILES | of_sweep.TABLES
# Names that users could expect to be tables, although `weft analyse` computes these results.
_ANALYSED = ("dvfs", "recovery")
_READING = (duckdb.StatementType.SELECT, duckdb.StatementType.MULTI)  # DuckDB parses a PIVOT as several statements
# Characters of a file name that DuckDB would interpret as a pattern.
_PATTERN = r"([*?[])"


def instead_of(table: str) -> str:
    """Text on the table or command to use instead of a table that does not exist."""
    if table in _ANALYSED:
        return f"an analysis computes this table: weft analyse {table} DIR --csv"
    return meant(table, TABLES, f"the tables are {', '.join(TABLES)}")


class Database:
    """Tables of one or more result sets, which a query can read; no query can change files.

    Parameters
    ----------
    sets : sequence of ResultSet
        The result sets to query. If there are several, the tables have a column ``results`` with the name of the set.

    Attributes
    ----------
    damage : list of str
        Damaged files that were left out of the tables made so far, each with its fault.
    """

    def __init__(self, sets: Sequence[ResultSet]) -> None:
        if not any(map(len, sets)):
            what = f"{' and '.join(str(results.root) for results in sets)}: no finished point"
            raise ResultsError.saying(what, "`weft status` shows the progress of the sweep")
        for results in sets:
            _check_text(results.root)
        self._sets = dict(zip(names(sets, brief=True), sets, strict=True))
        self._connection = duckdb.connect()
        self._connection.execute("set python_enable_replacements = false; set autoinstall_known_extensions = false")
        self._made: set[str] = set()
        self.damage: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    @property
    def coordinates(self) -> list[str]:
        """Paths of the swept values of all sets."""
        return list(dict.fromkeys(path for results in self._sets.values() for path in results.coordinates))

    def summaries(self) -> Iterator[tuple[str | None, int, dict[str, Any]]]:
        """Yields for each point the name of its set (``None`` if there is only one), its row number and its summary."""
        for key, results in self._sets.items():
            for point, summary in enumerate(results.summaries):
                yield key if len(self._sets) > 1 else None, point, summary

    def rows(self, sql: str) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
        """Runs a query, and returns the names of the columns and the rows of its answer.

        Raises
        ------
        ResultsError
            If the text is not a query, or if the query fails.
        """
        with self._reported(sql):
            answer = self._connection.execute(self._checked(sql))
            return [column[0] for column in answer.description or ()], self._fetched(answer, sql)

    def frame(self, sql: str) -> pl.DataFrame:
        """Runs a query, and returns its answer as a frame.

        Raises
        ------
        ResultsError
            As for `rows`.
        """
        with TemporaryDirectory(prefix="weft-") as scratch:
            self.write(sql, path := Path(scratch) / "answer.parquet")
            return pl.read_parquet(path)

    def write(self, sql: str, path: Path) -> None:
        """Run a query and write its answer; the ending ``.csv``, ``.json`` or ``.parquet`` selects the format.

        Raises
        ------
        ResultsError
            As for `rows`, or if `path` has another ending.
        WriteError
            If the file can't be written.
        """
        options = {".csv": "format csv, header", ".json": "format json, array", ".parquet": "format parquet"}
        _check_text(path)
        if path.suffix not in options:
            what = f"{path}: no format has the ending {path.suffix!r}"
            raise ResultsError.saying(what, f"end the name with {', '.join(options)}")
        with replaced(path) as partial, self._reported(sql):
            partial.touch()  # an error of the folder is raised here, not reported as an error of the query
            text = self._checked(sql).rstrip().rstrip(";")
            self._connection.execute(f"copy ({text}\n) to {_quoted(str(partial))} ({options[path.suffix]})")

    def add(self, name: str, frame: pl.DataFrame) -> None:
        """Make a table from a frame, so that later queries can use it."""
        self._add_frame(name, frame)

    def columns(self) -> dict[str, list[tuple[str, str]]]:
        """Names and types of the columns of each table that has rows."""
        self._add(" ".join(TABLES))
        return {
            name: [(str(row[0]), str(row[1])) for row in self._connection.execute(f"describe {name}").fetchall()]
            for name in TABLES
            if name in self._made
        }

    def _checked(self, sql: str) -> str:
        """Check that a query is one statement that writes nothing, and make the tables that it needs."""
        try:
            sql.encode()
        except UnicodeEncodeError as problem:
            raise ResultsError.saying(f"{sql!r} is not UTF-8 text", "write the query again, as UTF-8 text") from problem
        statements = duckdb.extract_statements(sql)
        if len(statements) != 1 or statements[0].type not in _READING:
            raise ResultsError.saying(f"{sql!r} is not a single read-only query", 'write one "select ..."')
        self._add(sql)
        return sql

    def _fetched(self, answer: duckdb.DuckDBPyConnection, sql: str) -> Iterator[tuple[Any, ...]]:
        with self._reported(sql):
            while some := answer.fetchmany(10_000):
                yield from some

    @contextmanager
    def _reported(self, sql: str) -> Iterator[None]:
        """Turn an error of DuckDB into a `ResultsError` that names the tables and columns of Weft."""
        try:
            yield
        except duckdb.Error as problem:
            shown = re.sub(r"\nDid you mean \"\w+\"\?", "", str(problem).strip())  # DuckDB suggests its own tables
            if name := next(
                (name for name in of_sweep.TABLES if name not in self._made and _mentions(sql, name)), None
            ):
                remedy = "\n".join(dict.fromkeys(of_sweep.asking(name, each) for each in self._sets.values()))
                what = f"{' and '.join(str(each.root) for each in self._sets.values())}: there is no table {name}"
                raise ResultsError.saying(what, remedy) from problem
            what = f"the query can't run: {shown}"
            raise ResultsError.saying(what, self._help(sql)) from problem

    def _help(self, sql: str) -> str:
        absent = [name for name in ASKING if _mentions(sql, name) and not self._files(name)]
        if absent:
            again = next(iter(self._sets.values())).recording(*(ASKING[name] for name in absent))
            return f"no point recorded {' or '.join(absent)}: {again}"
        if analysed := [name for name in _ANALYSED if _mentions(sql, name)]:
            return instead_of(analysed[0])
        known = self.columns()
        dotted = {column for columns in known.values() for column, _ in columns if "." in column and _bare(sql, column)}
        quotes = [f"write {', '.join(map(quoted, sorted(dotted)))}, in double quotes"] if dotted else []
        lines = [*quotes, f"tables: {', '.join(known)}"]
        for name in (name for name in known if _mentions(sql, name)):
            listed = ", ".join(quoted(column) for column, _ in known[name])
            lines.append(textwrap.fill(f"{name}: {listed}", WIDTH, initial_indent="  ", subsequent_indent="    "))
        return "\n".join(lines)

    def _add(self, sql: str) -> None:
        """Make the tables that a query names, if they exist."""
        for name in TABLES:
            if name in self._made or not _mentions(sql, name):
                continue
            if name in of_sweep.TABLES:
                if (frame := self._of_sweeps(name)).is_empty():
                    continue
                self._add_frame(name, frame)
            elif name in SUMMARIES:
                if (frame := self._summaries(name)).is_empty():
                    continue
                self._add_frame(name, frame)
            elif found := self._files(name):
                self._add_view(name, found)
            else:
                continue
            self._made.add(name)

    def _of_sweeps(self, name: str) -> pl.DataFrame:
        """A table of whole sweeps, combined from all sets that have it; empty if no set has it."""
        frames = [(key, of_sweep.frame(name, results)) for key, results in self._sets.items()]
        known = [(key, frame) for key, frame in frames if frame is not None]
        named = [
            frame.select(pl.lit(key).alias(_SET), pl.all()) if len(self._sets) > 1 else frame for key, frame in known
        ]
        return pl.concat(named, how="diagonal_relaxed") if named else pl.DataFrame()

    def _files(self, name: str) -> list[tuple[str, str, int]]:
        """The undamaged files of a table, each with the name of its result set and the index of its point."""
        found, damaged = [], None
        for key, results in self._sets.items():
            for point in range(len(results)):
                try:
                    if (path := results.file(point, f"{name}.parquet")).is_file():
                        found.append((str(path), key, point))
                except ResultsError as problem:
                    self.damage += [problem.what] if problem.what not in self.damage else []
                    damaged = problem
        if damaged and not found:
            raise damaged
        return found

    def _add_view(self, name: str, found: Sequence[tuple[str, str, int]]) -> None:
        """Make a view over the files of a table. The name of a file identifies the point to which its rows belong."""
        rows = ", ".join(f"({_quoted(path)}, {_quoted(key)}, {point})" for path, key, point in found)
        files = ", ".join(_quoted(re.sub(_PATTERN, r"[\1]", path)) for path, _, _ in found)
        own = f"{_SET}, {_POINT}" if len(self._sets) > 1 else _POINT
        try:
            self._connection.execute(
                f"create view {name} as select {own}, kept.* exclude (filename) "
                f"from read_parquet([{files}], filename = true, union_by_name = true) kept "
                f"join (values {rows}) files(file, {_SET}, {_POINT}) on file = filename"
            )
        except duckdb.Error as problem:  # files of old versions have no checksum and are possibly damaged
            what = f"{name} can't be read: {str(problem).partition(chr(10))[0]}"
            raise ResultsError.saying(what, "remove the folder of that point and run the sweep again") from problem

    def _add_frame(self, name: str, frame: pl.DataFrame) -> None:
        with TemporaryDirectory(prefix="weft-") as scratch:  # DuckDB reads files without further packages
            path = Path(scratch) / f"{name}.parquet"
            frame.write_parquet(path)
            self._connection.execute(f"create table {name} as from read_parquet({_quoted(str(path))})")

    def _summaries(self, name: str) -> pl.DataFrame:
        many = len(self._sets) > 1
        if name == "latencies":
            return pl.concat(
                results.latencies(point).select(
                    *([pl.lit(key).alias(_SET)] if many else []), pl.lit(point).alias(_POINT), pl.all()
                )
                for key, results in self._sets.items()
                for point in range(len(results))
            )

        def rows(results: ResultSet) -> list[tuple[int, dict[str, Any]]]:
            return {
                "points": results.rows,
                "jobs": results.job_rows,
                "flows": results.flow_rows,
                "message_classes": results.message_class_rows,
                "phases": results.phase_rows,
                "fault_episodes": results.episode_rows,
            }[name]

        return frame_of(
            [
                ({_SET: key} if many else {}) | {_POINT: point} | dict(row)
                for key, results in self._sets.items()
                for point, row in rows(results)
            ]
        )


def _check_text(path: Path) -> None:
    """Refuse the name of a file that DuckDB cannot open, because the name is not valid UTF-8."""
    try:
        str(path).encode()
    except UnicodeEncodeError as problem:
        what = f"{path}: the name is not UTF-8, but DuckDB opens only files with such names"
        raise ResultsError.saying(what, "rename the folder or the file") from problem


def _bare(sql: str, column: str) -> bool:
    """Whether a query names a column without quotes, although the name needs them."""
    return re.search(rf'(?<!["\w.]){re.escape(column)}(?!["\w.])', sql) is not None


def quoted(column: str) -> str:
    """The name of a column in the form that a query needs, with quotes if necessary."""
    return column if re.fullmatch(r"[a-z_][a-z0-9_]*", column) else f'"{column}"'


def _quoted(text: str) -> str:
    """A string as an SQL string, in single quotes."""
    return "'" + text.replace("'", "''") + "'"


def _mentions(sql: str, name: str) -> bool:
    return re.search(rf"\b{name}\b", sql, re.IGNORECASE) is not None
