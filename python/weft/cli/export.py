"""``weft export``: a table of results as one file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from weft.cli import DONE, arguments
from weft.errors import ResultsError
from weft.text.meant import meant

if TYPE_CHECKING:
    import argparse

    from weft.cli.arguments import Commands


def add(commands: Commands) -> None:
    """Add the command."""
    parser = arguments.command(
        commands,
        "export",
        "write a table of results as one file: CSV, JSON or Parquet",
        "weft export results/quickstart --table channels --out channels.csv",
    )
    parser.add_argument("folders", metavar="DIR", nargs="+", help="folders of results")
    which = "the table, one of those that `weft query DIR` lists (default: points)"
    parser.add_argument("--table", metavar="TABLE", default="points", help=which)
    out = "where to; .csv, .json or .parquet (default: CSV on standard output)"
    parser.add_argument("--out", metavar="FILE", type=Path, help=out)


def main(options: argparse.Namespace) -> int:
    """Write; returns the exit status."""
    from weft.cli import folders
    from weft.cli.query import show
    from weft.results.database import Database

    sql = _query(options.table)
    with Database([folders.opened(folder) for folder in options.folders]) as database:
        show(database, sql, "csv", options.out)
    return DONE


def _query(table: str) -> str:
    """The query for all rows of a table. Several threads scan the files of a table, so the query sets an order.

    Raises
    ------
    ResultsError
        If there is no such table.
    """
    from weft.results.database import SUMMARIES, TABLES

    if table not in TABLES:
        remedy = meant(table, TABLES, f"the tables are {', '.join(TABLES)}")
        raise ResultsError.saying(f"--table: there is no table {table!r}", remedy)
    if table == "link_states":  # by channel and time, not by state
        return "select * exclude (state), state from link_states order by all"
    return f"select * from {table}{'' if table in SUMMARIES else ' order by all'}"
