"""``weft query`` runs SQL queries on the results of sweeps."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from weft.cli import DONE, arguments
from weft.errors import ResultsError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable
    from typing import Any

    from weft.cli.arguments import Commands
    from weft.results.database import Database


def add(commands: Commands) -> None:
    """Add the command."""
    parser = arguments.command(
        commands,
        "query",
        "query results in SQL (DuckDB); without a query, list the tables and their columns",
        "weft query results/quickstart 'select policy, max(accepted_load) from points group by policy'",
    )
    parser.add_argument("words", metavar="DIR", nargs="+", help="folders of results, then the query")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--csv", action="store_const", const="csv", dest="form", help="print comma-separated values")
    form.add_argument("--json", action="store_const", const="json", dest="form", help="print a JSON list of rows")
    form.add_argument("--out", metavar="FILE", type=Path, help="write FILE (.csv, .json or .parquet)")


def main(options: argparse.Namespace) -> int:
    """Run the query or list the tables, and return the exit status."""
    from weft.cli import folders
    from weft.results.database import Database

    *named, sql = options.words
    if _is_folder(sql) or (not named and len(sql.split()) == 1):
        named, sql = options.words, ""
    elif len(sql.split()) < 2:
        what = f"{sql!r} is neither a query nor a folder of results"
        raise ResultsError.saying(what, 'write the query after the folders, e.g. "select * from points"')
    if not named:
        raise ResultsError.saying(f"no folder for the query {sql!r}", "write the folder before the query")
    with Database([folders.opened(folder) for folder in named]) as database:
        if sql:
            show(database, sql, options.form, options.out)
        else:
            print("\n".join(_listing(database)))
    return DONE


def _is_folder(word: str) -> bool:
    """Whether a word of the command line is the path of a folder.

    The result is false for an SQL query, even if the query is too long for a file name, which is an error of the
    system.
    """
    try:
        return bool(word) and Path(word).is_dir()
    except OSError:
        return False


def show(database: Database, sql: str, form: str | None, out: Path | None) -> None:
    """Print the answer to a query as a table or in another form, or write it to a file."""
    if out is not None:
        database.write(sql, out)
        print(out)
    elif form is not None:
        with TemporaryDirectory(prefix="weft-") as scratch:
            path = Path(scratch) / f"answer.{form}"
            database.write(sql, path)
            print(path.read_text(encoding="utf-8"), end="")
    else:
        print("\n".join(_table(*database.rows(sql))))
    for line in database.damage:
        print(f"warning: omitted: {line}", file=sys.stderr)


def _table(head: list[str], rows: Iterable[tuple[Any, ...]]) -> list[str]:
    """Lines of a table with floats in six significant digits and numbers flush right."""
    from weft.text.columns import columns

    kept = list(rows)
    words = {place for place in range(len(head)) if any(isinstance(row[place], str | bool) for row in kept)}
    lines = columns(head, [[_cell(value) for value in row] for row in kept], left=words)
    return lines if kept else [*lines, "(no rows)"]


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _listing(database: Database) -> list[str]:
    """Lines that list the tables with their columns, as a query names them."""
    from weft.results.database import TABLES, quoted
    from weft.text.columns import WIDTH

    lines = []
    for name, columns in database.columns().items():
        words = ", ".join(f"{quoted(column)} {kind.lower()}" for column, kind in columns)
        lines += [
            f"{name}: {TABLES[name]}",
            *textwrap.wrap(words, WIDTH, initial_indent="  ", subsequent_indent="  "),
            "",
        ]
    return [
        *lines,
        'weft query DIR "select ..."; `point` joins the tables: select * from channels join points using (point)',
    ]
