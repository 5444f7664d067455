"""``weft compare``: two result sets side by side."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from weft.cli import DONE, arguments

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import Any

    from weft.cli.arguments import Commands
    from weft.results.choose import Chosen
    from weft.results.comparison import Comparison
    from weft.results.quantities import Quantity

# At most so many differences between the scenarios, and places of only one set, are listed.
_LISTED = 8


def add(commands: Commands) -> None:
    """Add the command."""
    parser = arguments.command(
        commands,
        "compare",
        "line two result sets up: differences against their 95 % confidence intervals",
        "weft compare results/quickstart:policy=always_on results/quickstart:policy=tcep",
    )
    chosen = "folder of results, or some of its points: DIR:path=value,..."
    parser.add_argument("a", metavar="A", help=chosen)
    parser.add_argument("b", metavar="B", help="the result set to compare it with, written in the same way")
    on = "pair points by this coordinate (repeatable; default: all that have values in common)"
    parser.add_argument("--on", metavar="PATH", action="append", help=on)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument("--csv", action="store_true", help="print comma-separated values, a row per point and quantity")


def main(options: argparse.Namespace) -> int:
    """Compare; returns the exit status."""
    from weft.cli import folders
    from weft.results.choose import Chosen
    from weft.results.comparison import compare

    a, b = (Chosen.named(text, folders.opened) for text in (options.a, options.b))
    compared = compare(a, b, options.on)
    if options.json:
        print(json.dumps(_json(compared), indent=1))
    elif options.csv:
        print(compared.frame.write_csv(), end="")
    else:
        print("\n".join(_text(compared)))
    return DONE


def _json(compared: Comparison) -> dict[str, Any]:
    def side(chosen: Chosen) -> dict[str, Any]:
        return {"name": chosen.results.name, "folder": str(chosen.results.root), "chosen": chosen.fixed}

    return {
        "a": side(compared.a),
        "b": side(compared.b),
        "on": compared.on,
        "differ": compared.differ,
        "only_a": compared.only_a,
        "only_b": compared.only_b,
        "rows": compared.frame.to_dicts(),
    }


def _text(compared: Comparison) -> list[str]:
    from weft.results.comparison import COMPARED
    from weft.text.columns import columns
    from weft.text.labels import label, setting

    sides = (("A", compared.a), ("B", compared.b))
    lines = [f"{name}: {side.name}: {side.results.title}, {len(side.points)} points" for name, side in sides]
    if compared.differ:
        rows = [[path, label(a, path), label(b, path)] for path, (a, b) in list(compared.differ.items())[:_LISTED]]
        lines += ["", *columns(["differ in", "A", "B"], rows, left=3)]
        if len(compared.differ) > _LISTED:
            lines.append(f"and in {len(compared.differ) - _LISTED} more keys of the scenario")
    for quantity in COMPARED:
        lines += ["", quantity.axis, *_table(compared, quantity)]
    for name, only in (("A", compared.only_a), ("B", compared.only_b)):
        if only:
            named = "; ".join(setting(place) for place in only[:_LISTED]) + ("; ..." if len(only) > _LISTED else "")
            lines += ["", f"only {name} has {len(only)}: {named}"]
    return [*lines, "", *_legend(compared)]


def _table(compared: Comparison, quantity: Quantity) -> list[str]:
    """A quantity at each place (combination of coordinates), and how often it differs."""
    from weft.text.columns import columns, number
    from weft.text.labels import label

    rows = [pair.row(quantity) for pair in compared.pairs]
    digits = quantity.digits + 1
    cells = [
        [label(row[path], path) for path in compared.on]
        + [_value(row["a"], row["a_ending"], digits), _value(row["b"], row["b_ending"], digits)]
        + [_signed(row["difference"], digits), number(row["half_width"], digits)]
        + ["-" if row["relative"] is None else f"{_signed(100 * row['relative'], 1)} %"]
        + [{True: "*", False: "", None: "?" if row["difference"] is not None else ""}[row["significant"]]]
        for row in rows
    ]
    words = [place for place, path in enumerate(compared.on) if any(isinstance(row[path], str) for row in rows)]
    lines = columns([*compared.on, "A", "B", "B - A", "+-", "change", ""], cells, left=words)
    return [*lines, *_verdict(rows)]


def _verdict(rows: Sequence[dict[str, Any]]) -> list[str]:
    judged = [row for row in rows if row["significant"] is not None]
    if len(judged) < 2:
        return []
    higher = sum(row["significant"] and row["difference"] > 0 for row in judged)
    lower = sum(row["significant"] and row["difference"] < 0 for row in judged)
    return [f"B is higher in {higher}, lower in {lower}, and not told apart in {len(judged) - higher - lower}"]


def _legend(compared: Comparison) -> list[str]:
    """The meaning of the signs that the table uses."""
    rows = [row for row in compared.frame.iter_rows(named=True) if row["difference"] is not None]
    lines = ["+-: half width of the 95 % confidence interval of the difference; *: the difference is larger"]
    if any(row["significant"] is None for row in rows):
        lines.append("?: one run has no confidence interval for this; sweep the seed (seed: [1, 2, 3]) in both")
    return lines


def _value(value: float | None, ending: str, digits: int) -> str:
    from weft.results import quantities as q
    from weft.text.columns import number

    short = {q.STALLED: "stall", q.SATURATED: "sat", "": "-"}[ending]
    return short if value is None else number(value, digits)


def _signed(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{round(value, digits) + 0.0:+.{digits}f}"  # + 0.0: no negative zero
