"""Writes tables and numbers as plain text."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

GAP = "  "
# Number of characters per line of running text.
WIDTH = 110


def columns(head: Sequence[str], rows: Sequence[Sequence[str]], *, left: int | Collection[int] = 1) -> list[str]:
    """Lines of a table with a heading.

    `left` selects the columns that are flush left: the first `left` columns, or the columns with the listed indices.

    Below each heading is a line of dashes. A column without a heading, such as a column of notes, has no such line.
    """
    flush = range(left) if isinstance(left, int) else left
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell.ljust(width) if place in flush else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return GAP.join(padded).rstrip()

    rule = ["-" * width if cell else "" for cell, width in zip(head, widths, strict=True)]
    return [line(head), line(rule), *map(line, rows)]


def folded(text: str, width: int, *, hyphens: bool = False, cut_words: bool = False) -> list[str]:
    """Breaks a string into lines of at most `width` characters: at spaces, after slashes and, if requested, at hyphens.

    A word that is longer than a line gets a separate line. If `cut_words` is true, it is cut instead.

    Examples
    --------
    >>> folded("Load [flits/terminal/cycle]", 12)
    ['Load [flits/', 'terminal/', 'cycle]']
    """
    spaced = re.sub(r"(?<=\S)/(?=\S)", "/\0 ", " ".join(text.split()))
    lines = textwrap.wrap(spaced, width, break_long_words=cut_words, break_on_hyphens=hyphens)
    return [line.replace("/\0 ", "/").replace("\0", "") for line in lines]


def number(value: float | None, digits: int) -> str:
    """A number as a string with `digits` decimal places; a dash for ``None``.

    A small number that would be rounded to zero has two significant digits instead.

    Examples
    --------
    >>> number(13.12, 1), number(0.0009, 1), number(0.0, 1), number(None, 1)
    ('13.1', '0.0009', '0.0', '-')
    """
    if value is None:
        return "-"
    written = f"{value:.{digits}f}"
    return f"{value:.2g}" if value and not float(written) else written


def clock(seconds: float) -> str:
    """A duration as a string in the form of a clock; below ten seconds, in seconds with one decimal place.

    Examples
    --------
    >>> clock(3.21), clock(75), clock(3661)
    ('3.2 s', '1:15', '1:01:01')
    """
    if seconds < 10:
        return f"{seconds:.1f} s"
    hours, minutes = divmod(round(seconds) // 60, 60)
    return f"{hours}:{minutes:02}:{round(seconds) % 60:02}" if hours else f"{minutes}:{round(seconds) % 60:02}"
