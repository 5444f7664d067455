"""``weft export``: a table of results as one file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from weft._engine import RECORDS
from weft.cli import DONE, arguments

if TYPE_CHECKING:
    import argparse

    from weft.cli.arguments import Commands

# What is asked for each; tables of files are scanned by several threads and need an order.
_TABLES = {name: f"select * from {name}" for name in ("points", "jobs", "latencies")}
_TABLES |= {name: f"select * from {name} order by all" for name in ("channels", *RECORDS)}
_TABLES["link_states"] = "select * exclude (state), state from link_states order by all"


def add(commands: Commands) -> None:
    """Add the command."""
    parser = arguments.command(
        commands,
        "export",
        "write a table of results as one file: CSV, JSON or Parquet",
        "weft export results/quickstart --table channels --out channels.csv",
    )
    parser.add_argument("folders", metavar="DIR", nargs="+", help="folders of results")
    parser.add_argument("--table", choices=_TABLES, default="points", help="which (default: points)")
    out = "where to; .csv, .json or .parquet (default: CSV on standard output)"
    parser.add_argument("--out", metavar="FILE", type=Path, help=out)


def main(options: argparse.Namespace) -> int:
    """Write; returns the exit status."""
    from weft.cli import folders
    from weft.cli.query import show
    from weft.results.database import Database

    with Database([folders.opened(folder) for folder in options.folders]) as database:
        show(database, _TABLES[options.table], "csv", options.out)
    return DONE
