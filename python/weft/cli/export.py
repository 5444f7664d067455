"""``weft export`` writes a table of results as one file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from weft.cli import DONE, arguments
from weft.errors import ResultsError

if TYPE_CHECKING:
    import argparse

    from weft.cli.arguments import Commands
    from weft.results.database import Database

# Name of the table with means over the seeds.
_MEANS = "means_over_the_seeds"
# Name of the table with SI units.
_IN_SI = "table_in_si_units"
ENDINGS = (".csv", ".json", ".parquet", ".tex", ".md")


def add(commands: Commands) -> None:
    """Add the command."""
    parser = arguments.command(
        commands,
        "export",
        "write a table of results to a file: CSV, JSON, Parquet, LaTeX or Markdown",
        "weft export results/quickstart --table channels --out channels.csv",
    )
    parser.add_argument("folders", metavar="DIR", nargs="+", help="folders of results")
    which = "table to write, from the list of `weft query DIR` (default: points)"
    parser.add_argument("--table", metavar="TABLE", default="points", help=which)
    columns = "only these columns, in this order (default: all; in .tex and .md the most important ones)"
    parser.add_argument("--columns", metavar="NAME,...", help=columns)
    averaged = "`points`, `jobs`, `flows` and `phases`"
    each = f"write a row per seed; otherwise the rows of {averaged} are means over the seeds"
    parser.add_argument("--each-seed", action="store_true", help=each)
    arguments.add_units(parser)
    out = f"file to write: {', '.join(ENDINGS)} (default: CSV on standard output); .tex needs the package booktabs"
    parser.add_argument("--out", metavar="FILE", type=Path, help=out)


def main(options: argparse.Namespace) -> int:
    """Print or write the table and return the exit status."""
    from weft.cli import folders
    from weft.cli.query import show
    from weft.results import si_units
    from weft.results.database import Database, quoted
    from weft.text.typeset import FORMS

    sql = _query(options.table)
    ending = "" if options.out is None else options.out.suffix
    if ending and ending not in ENDINGS:
        what = f"{options.out}: no format has the ending {ending!r}"
        raise ResultsError.saying(what, f"end the name with {', '.join(ENDINGS)}")
    with Database([folders.opened(folder) for folder in options.folders]) as database:
        if options.units == si_units.SI:
            sql = _in_si(database, options.table, sql)
        averaged = not options.each_seed and _are_averaged(database, options.table, sql)
        if averaged and ending not in FORMS:
            sql = _averaged(database, sql)
        columns = _columns(database, options.table, sql, options.columns)
        if ending in FORMS:
            from weft.results.store import write_text
            from weft.results.typeset_table import typeset

            write_text(
                options.out,
                typeset(
                    database,
                    options.table,
                    sql,
                    columns,
                    ending,
                    averaged=averaged,
                    units=options.units or si_units.CYCLES,
                ),
            )
            print(options.out)
            return DONE
        if columns:
            sql = f"select {', '.join(map(quoted, columns))} from ({sql})"
        show(database, sql, "csv", options.out)
    return DONE


def _in_si(database: Database, table: str, sql: str) -> str:
    """SQL query for a table with added columns that have latencies in us and loads in Gb/s per terminal."""
    from weft.results import over_seeds, si_units

    if table not in over_seeds.TABLES:
        remedy = f"remove it; the tables with SI units are {', '.join(over_seeds.TABLES)}"
        raise ResultsError.saying(f"--units si: the table {table} has no latencies and loads of points", remedy)
    summaries = {(name, point): summary for name, point, summary in database.summaries()}
    si_units.check(summaries.values())
    head, rows = database.rows(sql)
    records = [dict(zip(head, row, strict=True)) for row in rows]
    of_point = [summaries[record.get("results"), record["point"]] for record in records]
    import polars as pl

    frame = pl.DataFrame(
        [record | si_units.of_part(record, summary) for record, summary in zip(records, of_point, strict=True)],
        infer_schema_length=None,
    )
    database.add(_IN_SI, frame)
    return f"select * from {_IN_SI}"


def _are_averaged(database: Database, table: str, sql: str) -> bool:
    """Whether some rows of a table differ only in their seed, so that means over the seeds exist."""
    from weft.results import over_seeds

    if table not in over_seeds.TABLES:
        return False
    head, rows = database.rows(sql)
    return over_seeds.are_several([dict(zip(head, row, strict=True)) for row in rows], database.coordinates)


def _averaged(database: Database, sql: str) -> str:
    """SQL query for means over the seeds, with confidence intervals, computed from the rows of the query `sql`."""
    from weft.results import over_seeds

    head, rows = database.rows(sql)
    records = [dict(zip(head, row, strict=True)) for row in rows]
    database.add(_MEANS, over_seeds.frame(head, records, database.coordinates))
    return f"select * from {_MEANS}"


def _columns(database: Database, table: str, sql: str, asked: str | None) -> list[str]:
    """Names of the requested columns; an empty list means all columns.

    Raises
    ------
    ResultsError
        If the table lacks a requested column.
    """
    if asked is None:
        return []
    known = database.rows(sql)[0]
    columns = [each.strip() for each in asked.split(",") if each.strip()]
    if absent := [each for each in columns if each not in known]:
        what = f"--columns: the table {table} has no column {absent[0]!r}"
        raise ResultsError.saying(what, f"its columns are {', '.join(known)}")
    if not columns:
        raise ResultsError.saying("--columns names no column", f"the columns of {table} are {', '.join(known)}")
    return columns


def _query(table: str) -> str:
    """SQL query for all rows of a table.

    The query sets an order of the rows, because several threads read the files of a table, in no fixed order.

    Raises
    ------
    ResultsError
        If no table has this name.
    """
    from weft.results.database import SUMMARIES, TABLES, instead_of
    from weft.results.of_sweep import TABLES as OF_SWEEPS

    if table not in TABLES:
        raise ResultsError.saying(f"--table: there is no table {table!r}", instead_of(table))
    if table == "link_states":  # this table is ordered by channel and time, not by state
        return "select * exclude (state), state from link_states order by all"
    return f"select * from {table}{'' if table in SUMMARIES | OF_SWEEPS else ' order by all'}"
