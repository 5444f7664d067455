"""``weft catalogue`` prints the hardware prices of `power.catalogue` and `weft design --catalogue`, with sources."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from weft.cli import DONE, arguments
from weft.text.columns import columns

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from weft.cli.arguments import Commands


def add(commands: Commands) -> None:
    """Add the command."""
    parser = arguments.command(
        commands,
        "catalogue",
        "print the power and price of switches, ports, cables and optics, with sources",
        "weft catalogue --speed 400Gb/s --sources",
    )
    parser.add_argument("--speed", metavar="SPEED", help="only this speed, such as 400Gb/s")
    parser.add_argument(
        "--sources",
        action="store_true",
        help="also print the source values behind each figure (their median), with the sources",
    )
    parser.add_argument("--json", action="store_true", help="print the whole catalogue as JSON")


def main(options: argparse.Namespace) -> int:
    """Print the catalogue of hardware and return the exit status."""
    from weft import _engine
    from weft.errors import WeftError

    catalogue = _engine.catalogue()
    speeds = sorted({row["speed_gbps"] for row in catalogue["rows"]})
    known = [f"{speed}Gb/s" for speed in speeds]
    if options.speed is not None and options.speed not in known:
        raise WeftError.saying(f"the catalogue has no hardware of {options.speed}", f"write {', '.join(known)}")
    if options.json:
        print(json.dumps(catalogue, indent=1))
        return DONE
    wanted = speeds if options.speed is None else [int(options.speed.removesuffix("Gb/s"))]
    figures = [each for each in catalogue["figures"] if each["speed_gbps"] in (None, *wanted)]
    print("\n".join([f"{catalogue['edition']}: medians of the rows that --sources prints", "", *_figures(figures)]))
    if options.sources:
        rows = {row["row"]: row for row in catalogue["rows"]}
        used = sorted({number for each in figures for number in each["rows"]})
        print("\n".join(["", *(_source(rows[number]) for number in used)]))
    return DONE


def _figures(figures: list[dict[str, Any]]) -> list[str]:
    """Lines of the table of figures (power or price of a part), one per figure."""
    head = ["figure", "Gb/s", "unit", "median", "least", "most", "rows"]
    cells = [
        [
            each["figure"],
            "all" if each["speed_gbps"] is None else str(each["speed_gbps"]),
            each["unit"] or "share",
            *(f"{each[key]:.4g}" for key in ("median", "least", "most")),
            ", ".join(map(str, sorted(each["rows"]))),
        ]
        for each in figures
    ]
    return columns(head, cells, left=[0, 2, 6])


def _source(row: Mapping[str, Any]) -> str:
    """A row of the catalogue as a string: number, meaning of the number, and source."""
    year = row.get("year", "undated")
    return f"{row['row']:>3}  {row['kind']} {row['speed_gbps']} Gb/s, {year}: {row['source']} ({row['note']})"
