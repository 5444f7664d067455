"""Writes tables for documents: LaTeX with the rules of booktabs, or Markdown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weft.text.columns import folded

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

_TEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "\N{MINUS SIGN}": "$-$",
    "±": r"$\pm$",
} | {letter: f"\\{letter}" for letter in "&%$#_{}"}
# Number of characters per line of a heading in LaTeX. The lines are short, because a column is as wide as its longest
# line.
_WIDTH = 12
# Number of characters per line of a note below a table, because LaTeX does not break lines in a cell.
_NOTE = 90
# Characters that Markdown would interpret as markup; < and & would start HTML.
_MARKS = re.compile(r"([\\`*_~|$]|\](?=[(\[:]))")


@dataclass(frozen=True)
class Section:
    """A section of a table: rows that belong together, below a common title.

    Attributes
    ----------
    title : str
        Common property of the rows; empty if there is none.
    rows : sequence of sequence of str
        Cells. Cells as strings. Numbers are flush right, and an unknown number is a dash.
    """

    title: str
    rows: Sequence[Sequence[str]]


def tex(head: Sequence[str], sections: Sequence[Section], *, left: Collection[int], notes: Sequence[str] = ()) -> str:
    """Writes a table as a LaTeX ``tabular``, for a document that loads the package booktabs.

    Parameters
    ----------
    head : sequence of str
        Headings of the columns, with units in brackets. Words and unit are broken into short lines, the unit last.
    sections : sequence of Section
        The rows of the table; the title of each section is on a separate line.
    left : collection of int
        Indices of the columns with text, which are flush left.
    notes : sequence of str
        Lines below the table.
    """
    spec = "".join("l" if place in left else "r" for place in range(len(head)))
    lines = ["% needs \\usepackage{booktabs}", f"\\begin{{tabular}}{{@{{}}{spec}@{{}}}}", "\\toprule"]
    lines += map(_tex_row, _stacked(head))
    for number, section in enumerate(sections):
        lines.append("\\midrule" if number == 0 else "\\addlinespace")
        if section.title:
            lines.append(
                f"\\multicolumn{{{len(head)}}}{{@{{}}l@{{}}}}{{\\textit{{{escaped_tex(section.title)}}}}} \\\\"
            )
        lines += [_tex_row(row) for row in section.rows]
    lines.append("\\bottomrule")
    lines += [
        f"\\multicolumn{{{len(head)}}}{{@{{}}l@{{}}}}{{\\footnotesize {escaped_tex(line)}}} \\\\"
        for note in notes
        for line in folded(note, _NOTE, hyphens=False)
    ]
    return "\n".join([*lines, "\\end{tabular}", ""])


def _stacked(head: Sequence[str]) -> list[list[str]]:
    """The rows of a table's heading, for headings that are broken into several lines.

    The words of all headings end in the same row, and all units begin in the next row.

    Examples
    --------
    >>> _stacked(["Load [flits/terminal/cycle]", "Mean packet latency [cycles]"])
    [['', 'Mean packet'], ['Load', 'latency'], ['(flits/', '(cycles)'], ['terminal/', ''], ['cycle)', '']]
    """
    parts = [re.fullmatch(r"(.*?)(?: \[([^\[\]]*)\])?", each, re.DOTALL) for each in head]
    words = [folded(part[1], _WIDTH) if part else [] for part in parts]
    units = [folded(f"({part[2]})", _WIDTH) if part and part[2] else [] for part in parts]
    above, below = (max(map(len, columns), default=0) for columns in (words, units))
    columns = [
        [*[""] * (above - len(lines)), *lines, *unit, *[""] * (below - len(unit))]
        for lines, unit in zip(words, units, strict=True)
    ]
    return [list(row) for row in zip(*columns, strict=True)]


def _tex_row(cells: Sequence[str]) -> str:
    return " & ".join(map(_tex_cell, cells)) + " \\\\"


def _tex_cell(text: str) -> str:
    """The text of a cell in LaTeX. Numbers have the mathematical minus sign, and missing values are an en dash."""
    if re.fullmatch(r"[+-][\d.]+(e[+-]?\d+)?( %)?", text):
        return f"${text[0]}${escaped_tex(text[1:])}"
    # in braces, because LaTeX would read a bracket or star at the start of a row as an option of the row before
    words = "--" if text == "-" else escaped_tex(text)
    return f"{{{words}}}" if words.startswith(("[", "*")) else words


def escaped_tex(text: str) -> str:
    r"""A text in which all special characters of LaTeX are escaped.

    Examples
    --------
    >>> print(escaped_tex("always_on: 97 %"))
    always\_on: 97 \%
    """
    return "".join(_TEX.get(letter, letter) for letter in " ".join(text.split()))


def markdown(
    head: Sequence[str], sections: Sequence[Section], *, left: Collection[int], notes: Sequence[str] = ()
) -> str:
    """Writes tables in the Markdown of GitHub, one per section, each below its title in bold.

    The parameters of this function are those of `tex`.
    """
    rule = ["---" if place in left else "---:" for place in range(len(head))]
    parts = []
    for section in sections:
        title = [f"**{escaped_markdown(section.title)}**", ""] if section.title else []
        rows = [[escaped_markdown(cell) for cell in row] for row in [head, *section.rows]]
        parts.append("\n".join([*title, *map(_markdown_row, [rows[0], rule, *rows[1:]])]))
    parts += map(escaped_markdown, notes)
    return "\n\n".join(parts) + "\n"


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def escaped_markdown(text: str) -> str:
    r"""A text in which all special characters of Markdown are escaped.

    Examples
    --------
    >>> print(escaped_markdown("always_on | <b>"))
    always\_on \| &lt;b>
    """
    plain = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    return _MARKS.sub(r"\\\1", plain)


FORMS: dict[str, Callable[..., str]] = {".tex": tex, ".md": markdown}
