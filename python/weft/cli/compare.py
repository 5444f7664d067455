"""``weft compare`` prints two result sets side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from weft.cli import DONE, arguments
from weft.errors import ResultsError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import Any

    from weft.cli.arguments import Commands
    from weft.results.choose import Chosen
    from weft.results.comparison import Comparison
    from weft.results.quantities import Quantity

ENDINGS = (".csv", ".json", ".tex", ".md")
# Maximum number of listed differences between the scenarios, and of listed places (combinations of coordinates) that
# are in only one set.
_LISTED = 8
# Sections of a scenario that can change the offered load.
_OF_TRAFFIC = ("traffic", "topology", "cycle", "flit", "grain", "link_speed", "seed")


def add(commands: Commands) -> None:
    """Add the command."""
    parser = arguments.command(
        commands,
        "compare",
        "compare two result sets: differences with their 95 % confidence intervals",
        "weft compare results/quickstart:policy=always_on results/quickstart:policy=tcep",
    )
    chosen = "folder of results, or some of its points: DIR:path=value,..."
    parser.add_argument("a", metavar="A", help=chosen)
    parser.add_argument("b", metavar="B", help="the result set to compare it with, written in the same way")
    on = "pair points by this coordinate (repeatable; default: all coordinates with common values)"
    parser.add_argument("--on", metavar="PATH", action="append", help=on)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument("--csv", action="store_true", help="print comma-separated values, a row per point and quantity")
    out = f"write FILE ({', '.join(ENDINGS)}); .tex needs the package booktabs"
    form.add_argument("--out", metavar="FILE", type=Path, help=out)


def main(options: argparse.Namespace) -> int:
    """Compare two result sets, print or write the table, and return the exit status."""
    from weft.cli import folders
    from weft.results.choose import Chosen
    from weft.results.comparison import compare

    ending = "" if options.out is None else options.out.suffix
    if options.out is not None and ending not in ENDINGS:
        what = f"{options.out}: no format has the ending {ending!r}"
        raise ResultsError.saying(what, f"end the name with {', '.join(ENDINGS)}")
    a, b = (Chosen.named(text, folders.opened) for text in (options.a, options.b))
    compared = compare(a, b, options.on)
    if options.json or ending == ".json":
        text = json.dumps(_json(compared), indent=1) + "\n"
    elif options.csv or ending == ".csv":
        text = compared.frame.write_csv()
    elif ending:
        text = _typeset(compared, ending)
    else:
        text = "\n".join(_text(compared)) + "\n"
    if options.out is None:
        print(text, end="")
    else:
        from weft.results.store import write_text

        write_text(options.out, text)
        print(options.out)
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
    from weft.text.columns import columns
    from weft.text.labels import label, setting

    sides = (("A", compared.a), ("B", compared.b))
    lines = [f"{name}: {side.name}: {side.results.title}, {len(side.points)} points" for name, side in sides]
    if compared.differ:
        rows = [[path, label(a, path), label(b, path)] for path, (a, b) in list(compared.differ.items())[:_LISTED]]
        lines += ["", *columns(["differ in", "A", "B"], rows, left=3)]
        if len(compared.differ) > _LISTED:
            lines.append(f"and {len(compared.differ) - _LISTED} more keys of the scenario")
    for quantity in compared.quantities:
        lines += ["", compared.shown(quantity).axis, *_table(compared, quantity)]
    for name, only in (("A", compared.only_a), ("B", compared.only_b)):
        if only:
            named = "; ".join(setting(place) for place in only[:_LISTED]) + ("; ..." if len(only) > _LISTED else "")
            lines += ["", f"only {name} has {len(only)}: {named}"]
    return [*lines, "", *_legend(compared)]


def _typeset(compared: Comparison, ending: str) -> str:
    """Tables of all compared quantities, for a document in LaTeX or Markdown."""
    from weft.results.headings import headings
    from weft.text.typeset import FORMS, Section

    tables = [(quantity, *_cells(compared, quantity)) for quantity in compared.quantities]
    sections = [Section(compared.shown(quantity).axis, cells) for quantity, _, cells in tables]
    words = [place for place, path in enumerate(compared.on) if any(isinstance(row[path], str) for row in tables[0][1])]
    names = f"A: {compared.a.name}; B: {compared.b.name}"
    head = [*headings(compared.on), "A", "B", "B \N{MINUS SIGN} A", "± (95 %)", "Change", ""]
    notes = [names, *_legend(compared, "±")]
    return FORMS[ending](head, sections, left=words, notes=[f"{line[:1].upper()}{line[1:]}." for line in notes])


def _cells(compared: Comparison, quantity: Quantity) -> tuple[list[dict[str, Any]], list[list[str]]]:
    """A row with the values of a quantity for each place (combination of coordinates), and the same rows as strings."""
    from weft.text.columns import number
    from weft.text.labels import label

    rows = [pair.row(quantity) for pair in compared.pairs]
    digits = compared.shown(quantity).digits + 1
    return rows, [
        [label(row[path], path) for path in compared.on]
        + [_value(row["a"], row["a_ending"], digits), _value(row["b"], row["b_ending"], digits)]
        + [_signed(row["difference"], digits), number(row["half_width"], digits)]
        + ["-" if row["relative"] is None else f"{_signed(100 * row['relative'], 1)} %"]
        + [_sign(row)]
        for row in rows
    ]


def _table(compared: Comparison, quantity: Quantity) -> list[str]:
    """Lines of a table with the values of one quantity in both sets, at each place (combination of coordinates).

    The last line counts the places at which the quantity differs significantly.
    """
    from weft.text.columns import columns

    rows, cells = _cells(compared, quantity)
    words = [place for place, path in enumerate(compared.on) if any(isinstance(row[path], str) for row in rows)]
    heads = [*compared.on, "A", "B", "B - A", "+-", "change", ""]
    lines = columns(heads, cells, left=[*words, len(heads) - 1])
    return [*lines, *_verdict(rows)]


def _sign(row: dict[str, Any]) -> str:
    """The mark at the end of a row: a star, a question mark, or the reason why the row has no comparison."""
    if row["difference"] is None or row["unequal"]:
        return row["unequal"] or ""
    if row["unjudged"]:
        return str(row["unjudged"])
    return {True: "*", False: "", None: "?"}[row["significant"]]


def _verdict(rows: Sequence[dict[str, Any]]) -> list[str]:
    judged = [row for row in rows if row["significant"] is not None]
    left_out = sum(row["unequal"] is not None or row["unjudged"] is not None for row in rows)
    if len(judged) < 2:
        return []
    higher = sum(row["significant"] and row["difference"] > 0 for row in judged)
    lower = sum(row["significant"] and row["difference"] < 0 for row in judged)
    equal = len(judged) - higher - lower
    text = f"B is higher in {higher}, lower in {lower}, and not significantly different in {equal}"
    return [f"{text}; {left_out} left out" if left_out else text]


def _legend(compared: Comparison, half: str = "+-") -> list[str]:
    """Notes with the meaning of the signs in the table, and with the source of the prices of its energies."""
    from weft.results import codes, equal_work, price_source

    rows = [row for row in compared.frame.iter_rows(named=True) if row["difference"] is not None]
    lines = [f"{half}: half width of the 95 % confidence interval of the difference; *: the difference is larger"]
    if any(row["unjudged"] for row in rows):
        lines.append(
            "not judged: the interval of a single run comes from parts of its window, and changes of this size occur "
            "between them; sweep the seed (seed: [1, 2, 3]) in both"
        )
    if any(row["significant"] is None and not row["unequal"] and not row["unjudged"] for row in rows):
        lines.append(
            "?: A or B is a single run, which has no confidence interval for this quantity; "
            "sweep the seed (seed: [1, 2, 3]) in both"
        )
    same = not any(path.partition(".")[0] in _OF_TRAFFIC for path in compared.differ)
    both = [(a, b) for pair in compared.pairs if not pair.runs_programs for a, b in zip(pair.a, pair.b, strict=False)]
    found = [*_flawed(compared), *codes.sentences(equal_work.other_windows(both if same else []))]
    lines += [*found, *codes.legend(found)]
    return [*lines, *price_source.lines([*compared.a.results.summaries, *compared.b.results.summaries])]


def _flawed(compared: Comparison) -> list[str]:
    """Lines that count the runs of A and of B by their worst flaw.

    Endings of runs that the table shows are not counted.
    """
    from weft.results import codes, comparison, soundness

    lines = []
    for name, runs in (("A", [pair.a for pair in compared.pairs]), ("B", [pair.b for pair in compared.pairs])):
        whole = {run["hash"]: run for each in runs for run in each if not comparison.ending([run])}
        for flaw, count in soundness.counted(whole.values()).items():
            verb = "run is" if count == 1 else "runs are"
            lines.append(
                codes.coded(f"{name}: {count} {verb} {flaw.words}; such runs are never called the best", flaw.code)
            )
    return lines


def _value(value: float | None, ending: str, digits: int) -> str:
    from weft.results import quantities as q
    from weft.results import soundness
    from weft.text.columns import number

    signs = {q.STALLED: soundness.STALLED_SIGN, q.SATURATED: soundness.SATURATED_SIGN}
    short = (signs | {q.NOT_COMPLETE: soundness.CUT_SIGN, "": "-"})[ending]
    return short if value is None else number(value, digits)


def _signed(value: float | None, digits: int) -> str:
    """A difference as a string with its sign. A difference that rounds to zero has no sign."""
    if value is None:
        return "-"
    return f"{value:+.{digits}f}" if round(value, digits) else f"{0:.{digits}f}"
