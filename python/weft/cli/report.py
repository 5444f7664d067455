"""``weft report`` writes results as one HTML file that a browser opens from disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.cli import DONE, arguments

if TYPE_CHECKING:
    import argparse

    from weft.cli.arguments import Commands


def add(commands: Commands) -> None:
    """Add the command."""
    parser = arguments.command(
        commands,
        "report",
        "write results as one HTML file, which a browser opens without internet access",
        "weft report results/quickstart --out quickstart.html",
    )
    parser.add_argument("results", metavar="RESULTS", nargs="+", help="folder of results; several share the charts")
    parser.add_argument(
        "--out", metavar="FILE", type=arguments.page, help="page to write (default: report.html in the first folder)"
    )
    arguments.add_units(parser)


def main(options: argparse.Namespace) -> int:
    """Write the page and return the exit status."""
    from weft import report
    from weft.cli import folders

    results = [folders.opened(folder) for folder in options.results]
    path = options.out or results[0].root / "report.html"
    report.write(results, path, units=options.units)
    print(f"report   {path}")
    return DONE
